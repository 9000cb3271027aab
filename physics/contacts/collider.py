"""Shapes of bodies that keep out of each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import registry
from .._typing import FloatArray, IntArray
from ..bodies.body import Body
from ..errors import ModelError
from ..forces.base import POSE, ForceElement
from ..kernels.contact import collider_layout as layout
from ..validation import NOT_NEGATIVE, SHARE, instance, listed
from .cores import Core, record, welded
from .meshes import TriangleMesh, mesh_record
from .obstacles import Box, Capsule, HeightField, Obstacle, Plane, Sphere
from .shapes import Convex

#: every shape of a collider by its ``type``
SHAPES: dict[str, type[Obstacle]] = registry.by_type(
    Plane, Sphere, Capsule, Box, Convex, TriangleMesh, HeightField
)
# bits of a whole number that a float holds exactly
MOST_GROUPS = 52
# Contacts for which there is room: so many neighbours a shape, which are shared by two, and some more.
NEIGHBOURS, SPARE = 8, 64


def _shape(value: Any, name: str) -> Obstacle:
    shape = registry.from_dict(value, SHAPES, "a shape") if isinstance(value, Mapping) else value
    if not isinstance(shape, Obstacle) or shape.type not in SHAPES:
        raise ModelError(f"{name} must be one of {', '.join(SHAPES)}, got {shape!r:.80}")
    return shape


def _names(values: Any, what: str) -> tuple[str, ...]:
    """Checked names of groups."""
    if isinstance(values, str):
        raise ModelError(f"{what} must be a list of names, got {values!r}")
    names = tuple(listed(values, what))
    for name in names:
        if not instance(name, str, f"a name in {what}"):
            raise ModelError(f"names in {what} must not be empty, got {name!r}")
    return names


@dataclass(frozen=True, eq=False)
class Collider(ForceElement):
    """A shape of a body, or of the ground, that other shapes cannot enter.

    Attributes:
        name: unique among the model's colliders.
        body: index of the body, -1 for the ground. pose: of the shape in the body frame (4, 4).
        shape: one of `SHAPES`.
        friction: Coulomb's coefficient; that of two colliders is the geometric mean.
        restitution: ratio of separation to approach speed, 0 to 1; that of two colliders is the greater one.
        margin: the surface is so far outside of the shape [m], not negative.
        groups: names; two colliders touch if they have one in common.
        ignores: names of groups that it does not touch.
    """

    shape: Obstacle = field(metadata={"check": _shape})
    pose: FloatArray = field(metadata=POSE)
    friction: float = field(metadata=NOT_NEGATIVE)
    restitution: float = field(metadata=SHARE)
    margin: float = field(metadata=NOT_NEGATIVE)
    groups: tuple[str, ...] = field(metadata={"check": _names})
    ignores: tuple[str, ...] = field(default=(), metadata={"check": _names})
    what: ClassVar[str] = "collider"


def group_bits(colliders: Iterable[Collider]) -> dict[str, int]:
    """A bit for each group; ModelError if there are too many."""
    names = sorted({group for each in colliders for group in (*each.groups, *each.ignores)})
    if len(names) > MOST_GROUPS:
        raise ModelError(f"colliders may have {MOST_GROUPS} groups, got {len(names)}")
    return {name: 1 << k for k, name in enumerate(names)}


class ColliderArrays:
    """The constant arrays of a model's colliders (``kernels.contact.collider_layout``), read-only.

    Attributes:
        ints, floats, shapes: of the colliders. joined: (n, 2) first rigid bodies of pairs that equalities join.
        constant: all four.
        most_contacts: how many contacts of colliders there is room for. corners: the most corners of a polygon.
    """

    def __init__(
        self,
        colliders: Sequence[Collider],
        bodies: Sequence[Body],
        body_frames: Sequence[FloatArray],
        joined: Iterable[tuple[int, int]],
    ) -> None:
        """joined: pairs of bodies that constraints join as joints do."""
        bits = group_bits(colliders)
        parents = np.array([body.parent for body in bodies])
        welds, carriers = welded(parents, [body.joint.num_coordinates == 0 for body in bodies])
        welds, carriers = np.append(welds, -1), np.append(carriers, -2)
        cores = [collider.shape.core() for collider in colliders]
        records: list[FloatArray] = []
        ints: list[list[int]] = []
        floats: list[list[float]] = []
        size = 0
        for collider, core in zip(colliders, cores):
            body = collider.body
            pose = collider.pose if body < 0 else body_frames[body] @ collider.pose
            own, others = (
                sum(bits[name] for name in set(names)) for names in (collider.groups, collider.ignores)
            )
            ints.append([body, int(welds[body]), int(carriers[body]), own, core.kind, size, others])
            radius = core.radius + collider.margin
            lengths = _lengths(core, radius, core.vertices @ pose[:3, :3].T + pose[:3, 3])
            floats.append([radius, collider.friction, collider.restitution, *lengths])
            records.append(_packed(core, pose, size))
            size += len(records[-1])
        self.ints: IntArray = np.array(ints, dtype=np.int64).reshape(-1, layout.SOLID_INTS)
        self.floats: FloatArray = np.array(floats).reshape(-1, layout.SOLID_FLOATS)
        self.shapes: FloatArray = np.concatenate([*records, np.zeros(0)])
        pairs = [(int(welds[a]), int(welds[b])) for a, b in joined]
        self.joined: IntArray = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.constant = self.ints, self.floats, self.shapes, self.joined
        for array in self.constant:
            array.flags.writeable = False
        points = [core.most_points for core in cores]
        among = len(colliders) * (len(colliders) - 1) // 2 * max(points, default=0)
        self.most_contacts = min(among, NEIGHBOURS * sum(points) + SPARE)
        sides = max((len(loop) for core in cores for loop in core.loops), default=2)
        self.corners = max([2 * sides + 16, *(len(core.vertices) + 4 for core in cores)])

    def workspace(self) -> tuple[Any, ...]:
        """The arrays for the kernels, with new ones for what they write."""
        count = len(self.ints)
        order = np.full((count + 1, layout.ORDER_WIDTH), -1, dtype=np.int64)
        order[:count, layout.SORTED] = np.arange(count)
        order[count] = 0
        slots = np.zeros((self.most_contacts, 3), dtype=np.int64)
        slots[:, layout.SLOT_NEXT] = np.append(np.arange(1, self.most_contacts), -1)[: self.most_contacts]
        order[count, layout.UNUSED] = 0 if self.most_contacts else -1
        return (
            self.ints,
            self.floats,
            self.shapes,
            self.shapes.copy(),
            np.zeros((count, layout.BOUNDS_WIDTH)),
            order,
            slots,
            np.zeros((self.most_contacts, 3)),
            self.joined,
            np.zeros((4 * self.corners, layout.SPACE_WIDTH)),
        )


def _packed(core: Core, pose: FloatArray, offset: int) -> FloatArray:
    if core.triangles is None:
        return record(core, pose, offset)
    return mesh_record(core.vertices @ pose[:3, :3].T + pose[:3, 3], core.triangles, offset)


def _lengths(core: Core, radius: float, vertices: FloatArray) -> list[float]:
    """Size of a shape, its farthest point from the origin of its link, the least reach of its detection, and the
    corners of its bounds in the link frame [m].
    """
    if not len(vertices):
        return [np.inf, 0.0, 0.0, *[-np.inf] * 3, *[np.inf] * 3]
    extents = 0.5 * np.ptp(core.vertices, axis=0)
    size = float(
        extents.min() if core.loops else max(core.radius, 0.0 if core.triangles is None else extents.max())
    )
    farthest = float(np.linalg.norm(vertices, axis=1).max()) + radius
    return [size, farthest, 5e-4 * farthest + 5e-7, *vertices.min(axis=0), *vertices.max(axis=0)]
