"""A soft body: nodes with tetrahedra and springs between them, and the bodies to which some of them are attached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..forces.base import checked_name
from ..geometry.immutable import ReadOnlyArrays
from ..validation import bounded, finite_array, float_array, is_sequence, listed, number, whole_number
from .embedding import Embedding, embedded, shape_gradients
from .ground import NodeGround, make_node_ground
from .surface import SurfaceLaw

# A tetrahedron with less volume than this share of its longest edge cubed is flat.
FLAT = 1e-9
LAWS = ("corotated", "neo_hookean")


@dataclass(frozen=True, eq=False)
class SoftBody(ReadOnlyArrays):
    """Nodes in the world while the model is in its default state (`Model.state()`), and what holds them together.

    Attributes:
        name: unique among soft bodies.
        nodes: places (n, 3) [m], where nothing is strained.
        tets: nodes of each tetrahedron (m, 4). springs: of each spring (s, 2).
        tensile, rest: of each spring the force EA [N] at double length, and its length at rest [m].
        young: [Pa]. poisson: ratio, below 0.5.
        density: of tetrahedra [kg/m^3]; without any, of springs [kg/m].
        mass_damping: [1/s]. stiffness_damping: [s].
        attached: body of each attached node, by the node's number; None: it is fixed in the world.
        ground: what nodes touch, or None.
        surface: of a flexible surface, whose control points the nodes are, or None.
        law: of the tetrahedra, "corotated" or "neo_hookean".
    """

    name: str
    nodes: FloatArray
    tets: IntArray
    springs: IntArray
    tensile: FloatArray
    rest: FloatArray
    young: float
    poisson: float
    density: float
    mass_damping: float
    stiffness_damping: float
    attached: Mapping[int, str | None]
    ground: NodeGround | None = None
    surface: SurfaceLaw | None = None
    law: str = LAWS[0]

    @property
    def masses(self) -> FloatArray:
        """Lumped mass of each node (n,) [kg]."""
        if self.surface is not None:
            total: FloatArray = self.surface.matrices[0].sum(axis=1)
            return total
        result = np.zeros(len(self.nodes))
        if len(self.tets):
            np.add.at(
                result, self.tets, 0.25 * self.density * shape_gradients(self.nodes, self.tets)[1][:, None]
            )
        else:
            np.add.at(result, self.springs, 0.5 * self.density * self.rest[:, None])
        return result

    def embed(self, vertices: Any) -> Embedding:
        """Places of the vertices (k, 3) of a finer mesh, in the world as `nodes`, within the tetrahedra.

        Raises:
            ModelError: vertices are no such numbers, or there is no tetrahedron.
        """
        return embedded(self.nodes, self.tets, vertices, f"soft body {self.name!r}")

    @property
    def key(self) -> str:
        """The list of a model's description that has it."""
        return "soft_bodies" if self.surface is None else "flexible_surfaces"

    def momenta(self, rates: FloatArray) -> FloatArray:
        """Linear momentum (..., n, 3) [kg m/s] of each node, by velocities (..., n, 3)."""
        result: FloatArray = self.masses[:, None] * rates
        if self.surface is not None:
            result = self.surface.matrices[0] @ rates
        return result

    def to_dict(self) -> dict[str, Any]:
        """JSON-able arguments of `ModelBuilder.add_soft_body`, or of `add_flexible_surface`."""
        if self.surface is not None:
            damping = [self.mass_damping, self.stiffness_damping]
            return {"name": self.name, **self.surface.to_dict(), "damping": damping}
        described: dict[str, Any] = {"name": self.name, "nodes": self.nodes.tolist(), "density": self.density}
        if len(self.tets):
            described |= {"tets": self.tets.tolist(), "young": self.young, "poisson": self.poisson}
        if len(self.springs):
            parts = zip(self.springs.tolist(), self.tensile.tolist(), self.rest.tolist())
            described["springs"] = [[*ends, tensile, rest] for ends, tensile, rest in parts]
        if self.law != LAWS[0]:
            described["law"] = self.law
        described["damping"] = [self.mass_damping, self.stiffness_damping]
        if self.attached:
            described["attached"] = [[node, body] for node, body in self.attached.items()]
        if self.ground is not None:
            described["ground"] = self.ground.to_dict()
        return described


def make_soft_body(
    name: Any,
    nodes: Any,
    tets: Any,
    springs: Any,
    young: Any,
    poisson: Any,
    density: Any,
    damping: Any,
    attached: Any,
    ground: Any,
    law: Any,
    bodies: Mapping[Any, int],
) -> SoftBody:
    """A checked soft body; ModelError for an invalid argument (see `ModelBuilder.add_soft_body`)."""
    what = f"soft body {checked_name(name, 'soft body')!r}"
    places = float_array(nodes, f"nodes of {what}")
    if places.ndim != 2 or not len(places):
        raise ModelError(f"nodes of {what} must have shape (n, 3), got {places.shape}")
    places = bounded(finite_array(places, (len(places), 3), f"nodes of {what}"), f"nodes of {what}")
    corners = _corners(tets, places, what)
    ends, tensile, rest = _springs(springs, len(places), what)
    loose = np.setdiff1d(np.arange(len(places)), np.concatenate([corners.ravel(), ends.ravel()]))
    if len(loose):
        raise ModelError(f"node {loose[0]} of {what} is loose: no tetrahedron or spring has it")
    stiff = number(0.0 if young is None else young, f"young of {what}", positive=bool(len(corners)))
    ratio = number(poisson, f"poisson of {what}")
    if not -1.0 < ratio < 0.5:
        raise ModelError(f"poisson of {what} must be greater than -1 and less than 0.5, got {ratio:g}")
    if not isinstance(law, str) or law not in LAWS:
        raise ModelError(f"law of {what} must be {' or '.join(LAWS)}, got {law!r:.80}")
    drag, loss = _dampings(damping, what)
    body = SoftBody(
        name,
        places,
        corners,
        ends,
        tensile,
        rest,
        stiff,
        ratio,
        number(density, f"density of {what}", positive=True),
        drag,
        loss,
        _attached(attached, len(places), bodies, what),
        make_node_ground(ground, what),
        law=law,
    )
    if not (body.masses > 0.0).all():
        raise ModelError(f"node {int(np.argmin(body.masses))} of {what} has no mass: no tetrahedron has it")
    return body


def _dampings(damping: Any, what: str) -> tuple[float, float]:
    pair = damping if is_sequence(damping) else (0.0, damping)
    if len(pair) != 2:
        raise ModelError(
            f"damping of {what} must be a number, or one of mass and one of stiffness, got {damping!r:.80}"
        )
    return (
        number(pair[0], f"mass damping of {what}", not_negative=True),
        number(pair[1], f"stiffness damping of {what}", not_negative=True),
    )


def make_flexible_surface(name: Any, law: SurfaceLaw, damping: Any, parent: FloatArray) -> SoftBody:
    """The soft body of a flexible surface's control points; parent: pose (4, 4) of its carrier in default state."""
    pose = parent @ law.pose
    nodes = law.points @ pose[:3, :3].T + pose[:3, 3]
    drag, loss = _dampings(damping, f"flexible surface {name!r}")
    none = np.zeros(0)
    return SoftBody(
        name,
        bounded(nodes, f"control points of flexible surface {name!r}"),
        np.zeros((0, 4), dtype=np.int64),
        np.zeros((0, 2), dtype=np.int64),
        none,
        none,
        0.0,
        0.0,
        law.density,
        drag,
        loss,
        {int(k): law.parent for k in np.flatnonzero(law.fixed)},
        None,
        law,
    )


def _numbers(value: Any, count: int, width: int, name: str) -> IntArray:
    """Whole numbers (k, width) from 0 to count - 1, those of a row different; ModelError otherwise."""
    array = float_array(value, name)
    if array.ndim != 2 or array.shape[1] != width:
        raise ModelError(f"{name} must have shape (k, {width}), got {array.shape}")
    wrong = (array != np.floor(array)) | (array < 0) | (array >= count)
    if wrong.any():
        k = int(np.argmax(wrong.any(axis=1)))
        raise ModelError(f"{name} number {k} must have numbers of the {count} nodes, got {array[k].tolist()}")
    rows = np.sort(array, axis=1)
    if (rows[:, 1:] == rows[:, :-1]).any():
        k = int(np.argmax((rows[:, 1:] == rows[:, :-1]).any(axis=1)))
        raise ModelError(f"{name} number {k} has a node twice: {array[k].astype(int).tolist()}")
    return array.astype(np.int64)


def _corners(tets: Any, nodes: FloatArray, what: str) -> IntArray:
    if tets is None or (is_sequence(tets) and not len(tets)):
        return np.zeros((0, 4), dtype=np.int64)
    corners = _numbers(tets, len(nodes), 4, f"tets of {what}")
    found, points = shape_gradients(nodes, corners)[1], nodes[corners]
    longest = np.max(np.linalg.norm(points[:, :, None] - points[:, None], axis=-1), axis=(1, 2))
    flat = ~(np.abs(found) > FLAT * longest**3)
    for bad, word in ((flat, "flat"), (found < 0.0, "inverted: swap two of its nodes")):
        if bad.any():
            k = int(np.argmax(bad))
            raise ModelError(f"tetrahedron {k} of {what} is {word}: volume {found[k]:.3g} m^3")
    return corners


def _springs(springs: Any, count: int, what: str) -> tuple[IntArray, FloatArray, FloatArray]:
    if springs is None or (is_sequence(springs) and not len(springs)):
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0)
    table = float_array(springs, f"springs of {what}")
    if table.ndim != 2 or table.shape[1] != 4:
        raise ModelError(f"springs of {what} must be rows of (node, node, EA, rest), got shape {table.shape}")
    for column, word in ((2, "EA"), (3, "rest length")):
        for k, value in enumerate(table[:, column].tolist()):
            number(value, f"{word} of spring {k} of {what}", positive=True)
    return _numbers(table[:, :2], count, 2, f"springs of {what}"), table[:, 2].copy(), table[:, 3].copy()


def _attached(attached: Any, count: int, bodies: Mapping[Any, int], what: str) -> dict[int, str | None]:
    """The names of bodies by nodes, in the nodes' order, from a mapping or pairs."""
    pairs = (
        attached.items() if isinstance(attached, Mapping) else listed(attached or (), f"attached of {what}")
    )
    result: dict[int, str | None] = {}
    for pair in pairs:
        if not is_sequence(pair) or len(pair) != 2:
            raise ModelError(f"attached of {what} must be nodes with bodies, got {pair!r:.80}")
        node = whole_number(pair[0], f"attached node of {what}", 0, count - 1)
        body = getattr(pair[1], "name", pair[1])
        if body is not None and (not isinstance(body, str) or body not in bodies):
            raise ModelError(
                f"node {node} of {what} is attached to body {body!r:.80}, which is missing: add it first"
            )
        if node in result:
            raise ModelError(f"node {node} of {what} is attached to both {result[node]!r} and {body!r}")
        result[node] = body
    return dict(sorted(result.items()))
