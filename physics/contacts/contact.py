"""Points of a body that may touch an obstacle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..forces.base import body_pair, link_points
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..joints.curve_packing import kernel_poses
from ..kernels.contact.layout import PAIR_WIDTH
from ..registry import described
from ..validation import finite, number
from .obstacles import Obstacle, obstacle_from_dict


@dataclass(frozen=True, eq=False)
class Contact(ReadOnlyArrays):
    """Points of a body, each with a radius, that an obstacle keeps outside, with friction.

    Vertices of a mesh have radius 0; a sphere is one point, a capsule's ends are two.

    Attributes:
        name: unique among the model's contacts.
        body: index of the body with the points. other: of the body with the obstacle, -1 for the world.
        points: in the body frame (n, 3) [m]. radii: (n,) [m], not negative.
        obstacle: its shape. pose: of the obstacle in the frame of `other` (4, 4).
        friction: Coulomb's coefficient of this pair of surfaces, not negative.
        restitution: ratio of separation to approach speed, 0 to 1.
    """

    name: str
    body: int
    points: FloatArray
    radii: FloatArray
    other: int
    obstacle: Obstacle
    pose: FloatArray
    friction: float
    restitution: float

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON-able description; names are those of the model's bodies."""
        other = None if self.other < 0 else names[self.other]
        values = described(self) | {"body": names[self.body], "other": other}
        return values | {"radius": values.pop("radii")}


def make_contact(name: str, bodies: Mapping[str, int], values: Mapping[str, Any]) -> Contact:
    """The contact of checked values.

    Args:
        name: checked.
        bodies: indices of the bodies by name.
        values: arguments of `ModelBuilder.add_contact` without the name; radius is a number or one for each point,
            pose None for the frame of `other`, obstacle an `Obstacle` or its ``to_dict()``.

    Raises:
        ModelError: an invalid value; names the contact, the key and the value.
    """
    of = f"of contact {name!r}"
    body, other = body_pair(values, bodies, of, "points and obstacle")
    points = finite(values["points"], f"points {of}")
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ModelError(f"points {of} must have shape (n, 3) with n at least 1, got {points.shape}")
    radii = finite(values["radius"], f"radius {of}")
    if radii.ndim and radii.shape != (len(points),):
        raise ModelError(f"radius {of} must be one number or {len(points)}, got shape {radii.shape}")
    if radii.min() < 0.0:
        raise ModelError(f"radius {of} must not be negative, got {radii.min():g}")
    obstacle = values["obstacle"]
    if isinstance(obstacle, Mapping):
        obstacle = obstacle_from_dict(obstacle)
    if not isinstance(obstacle, Obstacle):
        raise ModelError(f"obstacle {of} must be an obstacle, got {obstacle!r:.80}")
    pose = lie.frame_or_identity(values["pose"], f"pose {of}")
    friction = number(values["friction"], f"friction {of}", not_negative=True)
    restitution = number(values["restitution"], f"restitution {of}", not_negative=True, most=1.0)
    radii = np.broadcast_to(radii, len(points)).copy()
    return Contact(name, body, points, radii, other, obstacle, pose, friction, restitution).lock()


def pack_contacts(contacts: Sequence[Contact], body_frames: Sequence[FloatArray]) -> FloatArray:
    """The array of ``kernels.contact``; body_frames are the poses (4, 4) of body frames in their link frames.

    Pairs are numbered in the order of contacts and of their points.
    """
    pairs: list[FloatArray] = []
    records: list[FloatArray] = []
    size = 1 + PAIR_WIDTH * sum(len(contact.points) for contact in contacts)
    for contact in contacts:
        rows = np.empty((len(contact.points), PAIR_WIDTH))
        rows[:, 0] = contact.body
        rows[:, 1:4] = link_points(contact.points, contact.body, body_frames)
        rows[:, 4] = contact.radii
        rows[:, 5:] = [contact.other, size, contact.friction, contact.restitution]
        pose = contact.pose if contact.other < 0 else body_frames[contact.other] @ contact.pose
        record = np.concatenate(
            [[contact.obstacle.kind], kernel_poses(pose[None])[0], contact.obstacle.parameters()]
        )
        pairs.append(rows.ravel())
        records.append(record)
        size += len(record)
    packed = np.concatenate([[float(sum(map(len, pairs)) // PAIR_WIDTH)], *pairs, *records])
    packed.flags.writeable = False
    return packed
