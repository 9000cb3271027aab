"""OpenSim's ligaments, path springs and forces between two points, as cords."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import ModelError
from ..joints import CubicSpline, Linear
from ..muscles.cord import Cord
from .opensim_expressions import resolved
from .opensim_functions import SMOOTH_STEP, read_function, scaled, stretched
from .opensim_tables import cut, joined
from .opensim_xml import Node

BETWEEN_POINTS = "ExpressionBasedPointToPointForce"  # the kind without a path
LONGEST = 10.0  # m: tables of expressions reach from 0 to it
DAMPED = 0.01  # strain over which the damping of a Blankevoort1991Ligament is faded in
# OpenSim's default curve
LIGAMENT_X = (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0)
LIGAMENT_Y = (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0)


def cord_law(node: Node) -> Cord | None:
    """The law of a force along a path; None for muscles and unknown kinds.

    Raises:
        FormatError: it is invalid.
    """
    make = CORDS.get(node.tag)
    try:
        return None if make is None else make(node)
    except ModelError as error:
        raise node.error(f"{error}") from error


def sized(law: Cord, length: float, force: float) -> Cord:
    """The law of a cord whose lengths and speeds, and whose forces, are larger by these factors."""
    resized = partial(stretched, factor=length)
    viscosity = law.viscosity and scaled(resized(law.viscosity), force / length)
    damper = law.damper and scaled(resized(law.damper), force)
    return Cord(scaled(resized(law.elastic), force), viscosity, damper, law.lengthening_only)


def _number(node: Node, name: str, default: float, *, positive: bool = False) -> float:
    value = node.number(name, default)
    if value < 0.0 or (positive and value == 0.0):
        raise node.error(f"{name} must {'be positive' if positive else 'not be negative'}, got {value:g}")
    return value


def _spring(node: Node) -> Cord:
    """Stiffness times stretch, times 1 + dissipation times speed."""
    rest, stiffness = _number(node, "resting_length", np.nan), _number(node, "stiffness", np.nan)
    dissipation = _number(node, "dissipation", np.nan)
    force = cut(Linear(stiffness, -stiffness * rest), rest, node.path)
    return Cord(force, scaled(force, dissipation) if dissipation else None)


def _ligament(node: Node) -> Cord:
    """A multiple of a curve of the length over the resting length; slack below that."""
    rest, scale = _number(node, "resting_length", 0.0, positive=True), node.number("pcsa_force", 0.0)
    curve = read_function(node, "force_length_curve") or CubicSpline(LIGAMENT_X, LIGAMENT_Y)
    return Cord(cut(stretched(scaled(curve, scale), rest), rest, node.path))


def _blankevoort(node: Node) -> Cord:
    """Quadratic in the strain up to the transition, linear beyond; damped while it lengthens (Blankevoort 1991)."""
    slack = _number(node, "slack_length", 0.0, positive=True)
    stiffness = _number(node, "linear_stiffness", 1.0)
    toe, damping = _number(node, "transition_strain", 0.06), _number(node, "damping_coefficient", 0.003)
    firm, full = slack * (1.0 + toe), slack * (1.0 + DAMPED)
    bend = 0.5 * stiffness / max(toe, 1e-300) / slack**2
    line = [0.5 * stiffness * toe, stiffness / slack]
    elastic = joined([(0.0, 0.0, [0.0]), (slack, slack, [0.0, 0.0, bend]), (firm, firm, line)], 2.0 * firm)
    fade = damping / slack * SMOOTH_STEP / (DAMPED * slack) ** np.arange(6)
    rates = [(0.0, 0.0, [0.0]), (slack, slack, fade), (full, full, [damping / slack])]
    return Cord(elastic, joined(rates, 2.0 * full) if damping else None, lengthening_only=True)


def _path_expression(node: Node) -> Cord:
    """An expression of the stretch s, which may be kept from being negative, and of ldot."""
    rest, clamped = _number(node, "resting_length", 0.0), node.truth("clamp_stretch", True)
    stretch = f"length-{rest!r}" if rest else "length"
    if rest and clamped:
        stretch = f"max(0,{stretch})"
    return _expression(node, "length", "ldot", f";s={stretch}")


def _expression(node: Node, value: str, rate: str, definition: str = "") -> Cord:
    text = node.text("expression", "0.0") + definition
    elastic, viscosity, damper = resolved(text, value, rate, (1e-6 * LONGEST, LONGEST), node.path)
    return Cord(elastic or Linear(0.0, 0.0), viscosity, damper)


CORDS: dict[str, Callable[[Node], Cord]] = {
    "PathSpring": _spring,
    "Ligament": _ligament,
    "Blankevoort1991Ligament": _blankevoort,
    "ExpressionBasedPathForce": _path_expression,
    BETWEEN_POINTS: lambda node: _expression(node, "d", "ddot"),
}
