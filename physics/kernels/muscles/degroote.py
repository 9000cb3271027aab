"""Curves of De Groote et al. 2016 as OpenSim has them, normalized, each with its derivatives."""

import math

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import hill_layout as hill

TENDON_SCALE = 0.2  # force of the tendon at slack length before it is shifted to 0
# of the force-velocity curve
SLOPE, RATE, SHIFT, LEVEL = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
STEEPEST = 300.0  # exponent of the tendon, whose force is constant beyond it: exp(709) is no longer finite
FASTEST = 6.0  # argument of the inverse curve, 25 largest speeds, beyond which it is linear


@inline
def bell(x: float, height: float, middle: float, width: float, skew: float) -> tuple[float, float]:
    """height exp(-(x - middle)^2 / (2 (width + skew x)^2)) and its slope."""
    spread = width + skew * x
    away = (x - middle) / spread
    value = height * math.exp(-0.5 * away * away)
    return value, -value * away * (1.0 - skew * away) / spread


@shared
def degroote_active(data: Array, law: int, length: float) -> tuple[float, float]:
    """Active force-length factor and its slope."""
    scale = data[law + hill.ACTIVE_WIDTH]
    x = (length - 1.0) / scale + 1.0
    a, da = bell(x, 0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465)
    b, db = bell(x, 0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188)
    c, dc = bell(x, 0.1, 1.0, 0.353553390593274, 0.0)
    return a + b + c, (da + db + dc) / scale


@shared
def degroote_passive(data: Array, law: int, length: float) -> tuple[float, float, float]:
    """Passive force of the fibre, its slope and its integral."""
    rate, scale = data[law + hill.PASSIVE_RATE], data[law + hill.PASSIVE_SCALE]
    rise, offset = math.exp(rate * (length - 1.0)), data[law + hill.PASSIVE_OFFSET]
    return scale * (rise - offset), scale * rate * rise, scale * (rise / rate - offset * length)


@shared
def degroote_tendon(data: Array, law: int, length: float) -> tuple[float, float, float]:
    """Force of the tendon, its slope and its integral; 0 where it is slack."""
    if length <= 1.0:
        return 0.0, 0.0, 0.0
    rate = data[law + hill.TENDON_RATE]
    value = TENDON_SCALE * math.expm1(min(rate * (length - 1.0), STEEPEST))
    return value, rate * (value + TENDON_SCALE), value / rate - TENDON_SCALE * (length - 1.0)


@shared
def degroote_speed(
    data: Array, law: int, activation: float, isometric: float, force: float
) -> tuple[float, float, float, float]:
    """As `thelen.thelen_speed`."""
    factor = force / isometric
    x = (factor - LEVEL) / SLOPE
    inner = min(max(x, -FASTEST), FASTEST)
    steep = math.cosh(inner)
    speed = (math.sinh(inner) + steep * (x - inner) - SHIFT) / RATE
    by_force = steep / (SLOPE * RATE * isometric)
    return speed, by_force, -by_force * factor, 0.0


@shared
def degroote_force(
    data: Array, law: int, activation: float, isometric: float, speed: float
) -> tuple[float, float, float, float]:
    """As `thelen.thelen_force`."""
    x = RATE * speed + SHIFT
    factor = SLOPE * math.asinh(x) + LEVEL
    return isometric * factor, isometric * SLOPE * RATE / math.sqrt(x * x + 1.0), factor, 0.0


@shared
def degroote_activation(
    data: Array, law: int, away: float, activation: float, moves: float
) -> tuple[float, float, float]:
    """Rate of the activation for an excitation that is `away` from it, and its slopes by both; `moves` is 0 where the
    activation is clamped.
    """
    level = math.tanh(data[law + hill.SMOOTHING] * away)
    pace = 0.5 + 1.5 * activation
    up, down = 1.0 / (data[law + hill.ACTIVATION_TIME] * pace), pace / data[law + hill.DEACTIVATION_TIME]
    rate = 0.5 * (1.0 + level) * up + 0.5 * (1.0 - level) * down
    turning = 0.5 * data[law + hill.SMOOTHING] * (1.0 - level * level) * (up - down)
    faster = 0.75 * moves * ((1.0 - level) * down - (1.0 + level) * up) / pace
    return rate * away, turning * away + rate, (faster - turning) * away - rate
