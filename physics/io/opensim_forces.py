"""OpenSim's forces on coordinates, as laws of the joints' coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bodies.laws import check_dampers, check_elastic, check_viscosities
from ..errors import FormatError, ModelError
from ..joints import Function
from .opensim_expressions import resolved
from .opensim_functions import SMOOTH_STEP, scaled
from .opensim_joints import ReadJoint
from .opensim_notes import Notes
from .opensim_parts import OpenSimCoordinate
from .opensim_tables import joined, summed
from .opensim_xml import Node

NO_TRANSITION = 1e-9  # rad or m, in place of 0
LAWS = {"elastic": check_elastic, "viscosity": check_viscosities, "damper": check_dampers}


@dataclass(frozen=True)
class Laws:
    """Laws of a coordinate, and a linear spring and damper."""

    elastic: Function | None = None
    viscosity: Function | None = None
    damper: Function | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


def coordinate_forces(nodes: Sequence[Node]) -> dict[str, list[Node]]:
    """The forces among these that act on coordinates, by the names of these."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        if node.tag in KINDS and not node.truth("appliesForce", True):
            node.forget()
        elif node.tag in KINDS:
            found.setdefault(node.text("coordinate").rsplit("/", 1)[-1], []).append(node)
    return found


def tell_left(forces: dict[str, list[Node]], notes: Notes) -> None:
    """Warn about forces of which `laws` has found no coordinate."""
    for name, nodes in forces.items():
        for node in nodes:
            notes.warn(f"it applies no force: there is no coordinate {name!r}", node.path)
            node.forget()


def laws(read: ReadJoint, forces: dict[str, list[Node]], notes: Notes) -> dict[str, Any]:
    """Arguments of `ModelBuilder.add_body` for the forces on a joint's coordinates, which are taken from `forces`."""
    count = read.joint.num_coordinates
    linear: dict[str, Any] = {name: np.zeros(count) for name in ("stiffness", "rest", "damping")}
    options: dict[str, Any] = {name: [None] * count for name in LAWS}
    for coordinate in read.coordinates:
        k = read.joint.coordinate_names.index(coordinate.coordinate)
        own: list[Laws] = []
        for node in forces.pop(coordinate.name, ()):
            try:
                own.append(KINDS[node.tag](node, coordinate))
            except FormatError as error:
                notes.warn(f"it applies no force: {error}", node.path)
            node.forget()
        linear["stiffness"][k] = stiffness = sum(law.stiffness for law in own)
        linear["damping"][k] = sum(law.damping for law in own)
        linear["rest"][k] = sum(law.stiffness * law.rest for law in own) / (stiffness or 1.0)
        for name, check in LAWS.items():
            functions = [law for each in own if (law := getattr(each, name)) is not None]
            try:
                whole = summed(functions, *_span(coordinate), coordinate.name)
                check((whole,), f"a force's {name}")
                options[name][k] = whole
            except (FormatError, ModelError) as error:
                notes.warn(f"a part of its forces is not applied: {error}", coordinate.name)
    given = {name: values for name, values in linear.items() if values.any()}
    return given | {name: values for name, values in options.items() if any(values)}


def _span(coordinate: OpenSimCoordinate) -> tuple[float, float]:
    """Where tables of its forces reach: its range, and a turn to each side or ten metres."""
    wide = 10.0 if coordinate.motion == "translational" else 2.0 * np.pi
    return min(coordinate.range[0], -wide), max(coordinate.range[1], wide)


def _spring(node: Node, coordinate: OpenSimCoordinate) -> Laws:
    stiffness, rest, damping = (node.number(name, 0.0) for name in ("stiffness", "rest_length", "viscosity"))
    if min(stiffness, damping) < 0.0:
        raise node.error("stiffness and viscosity must not be negative")
    return Laws(stiffness=stiffness, rest=rest, damping=damping)


def _limit(node: Node, coordinate: OpenSimCoordinate) -> Laws:
    """Stiffness times excess on both sides, and damping, faded in by a smooth step; degrees for angles."""
    unit = np.pi / 180.0 if coordinate.motion == "rotational" else 1.0
    low, high = (node.number(f"{end}_limit", 0.0) * unit for end in ("lower", "upper"))
    soft = max(node.number("transition", 0.1) * unit, NO_TRANSITION)
    damping = node.number("damping", 0.001) / unit
    node.child("compute_dissipation_energy")
    if low > high:
        raise node.error(f"the limits of this force are reversed: {low:g} to {high:g}")
    below, above = (node.number(f"{end}_stiffness", 1.0) / unit for end in ("lower", "upper"))
    spring = _faded(low, high, soft, [0.0, below], [0.0, above])
    return Laws(spring, _faded(low, high, soft, [damping], [damping]) if damping else None)


def _faded(low: float, high: float, soft: float, below: Sequence[float], above: Sequence[float]) -> Function:
    """Polynomials of the distance beyond each limit, faded in over the length soft; 0 between the limits."""
    step = SMOOTH_STEP / soft ** np.arange(6)
    opposite = SMOOTH_STEP / (-soft) ** np.arange(6)
    parts = [
        (low - 2.0 * soft, low, below),
        (low - soft, low, np.convolve(below, opposite)),
        (low, low, np.zeros(1)),
        (high, high, np.convolve(above, step)),
        (high + soft, high, above),
    ]
    return joined(parts, high + 2.0 * soft)


def _expression(node: Node, coordinate: OpenSimCoordinate) -> Laws:
    parts = resolved(node.text("expression", "0.0"), "q", "qdot", _span(coordinate), node.path)
    elastic, viscosity, damper = (None if part is None else scaled(part, -1.0) for part in parts)
    return Laws(elastic, viscosity, damper)


KINDS: dict[str, Callable[[Node, OpenSimCoordinate], Laws]] = {
    "SpringGeneralizedForce": _spring,
    "CoordinateLimitForce": _limit,
    "ExpressionBasedCoordinateForce": _expression,
}
