"""Passive cords: a force along the path by its length and speed, as functions (see `hill_layout`)."""

from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..joints.functions import evaluate_function
from . import hill_layout as hill


@shared
def cord_force(
    laws: Array, law: int, length: float, speed: float
) -> tuple[float, float, float, float, float]:
    """Force along the path, its slopes by length and speed, the part of it that stores energy, and that energy."""
    energy, elastic, stiffness = evaluate_function(laws, law + int(laws[law + hill.CORD_ELASTIC]), length)
    force, by_length, by_speed = elastic, stiffness, 0.0
    if laws[law + hill.CORD_VISCOSITY] > 0.0 and (speed > 0.0 or laws[law + hill.CORD_ONE_WAY] == 0.0):
        value, slope, _ = evaluate_function(laws, law + int(laws[law + hill.CORD_VISCOSITY]), length)
        force += value * speed
        by_length += slope * speed
        by_speed += value
    if laws[law + hill.CORD_DAMPER] > 0.0:
        value, slope, _ = evaluate_function(laws, law + int(laws[law + hill.CORD_DAMPER]), speed)
        force += value
        by_speed += slope
    return force, by_length, by_speed, elastic, energy
