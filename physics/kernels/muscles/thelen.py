"""Curves of Thelen's muscle in closed form, normalized, each with its derivatives (Thelen 2003, eqs. 1-7).

The inverse force-velocity curve is extrapolated linearly, as in OpenSim.
"""

import math

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import hill_layout as hill

TOE_FORCE = 0.33
TOE_SHAPE = 3.0
TOE_END = 99.0 * math.exp(3.0) / (166.0 * math.exp(3.0) - 67.0)  # of the strain at the largest force


@inline
def thelen_active(data: Array, law: int, length: float) -> tuple[float, float]:
    """Active force-length factor and its slope (eq. 4)."""
    shape = data[law + hill.ACTIVE_SHAPE]
    value = math.exp(-(length - 1.0) * (length - 1.0) / shape)
    return value, -2.0 * (length - 1.0) / shape * value


@inline
def thelen_passive(data: Array, law: int, length: float) -> tuple[float, float]:
    """Passive force of the fibre and its slope (eq. 3)."""
    if length <= 1.0:
        return 0.0, 0.0
    shape = data[law + hill.PASSIVE_SHAPE]
    rate = shape / data[law + hill.PASSIVE_STRAIN]
    whole = math.expm1(shape)
    value = math.expm1(rate * (length - 1.0)) / whole
    return value, rate * (value + 1.0 / whole)


@inline
def thelen_passive_integral(data: Array, law: int, length: float) -> float:
    if length <= 1.0:
        return 0.0
    shape = data[law + hill.PASSIVE_SHAPE]
    rate = shape / data[law + hill.PASSIVE_STRAIN]
    strain = length - 1.0
    return (math.expm1(rate * strain) / rate - strain) / math.expm1(shape)


@inline
def thelen_tendon(data: Array, law: int, length: float) -> tuple[float, float]:
    """Force of the tendon and its slope, exponential in the toe and linear beyond it (eq. 5)."""
    strain = length - 1.0
    if strain <= 0.0:
        return 0.0, 0.0
    toe = TOE_END * data[law + hill.TENDON_STRAIN]
    if strain > toe:
        stiffness = (1.0 - TOE_FORCE) / (data[law + hill.TENDON_STRAIN] - toe)
        return stiffness * (strain - toe) + TOE_FORCE, stiffness
    scale = TOE_FORCE / math.expm1(TOE_SHAPE)
    value = scale * math.expm1(TOE_SHAPE * strain / toe)
    return value, TOE_SHAPE / toe * (value + scale)


@inline
def thelen_tendon_integral(data: Array, law: int, length: float) -> float:
    strain = length - 1.0
    if strain <= 0.0:
        return 0.0
    toe = TOE_END * data[law + hill.TENDON_STRAIN]
    inside = min(strain, toe)
    scale = TOE_FORCE / math.expm1(TOE_SHAPE)
    energy: float = scale * (toe / TOE_SHAPE * math.expm1(TOE_SHAPE * inside / toe) - inside)
    if strain > toe:
        stiffness = (1.0 - TOE_FORCE) / (data[law + hill.TENDON_STRAIN] - toe)
        energy += (TOE_FORCE + 0.5 * stiffness * (strain - toe)) * (strain - toe)
    return energy


@inline
def eccentric_rate(data: Array, law: int) -> float:
    return (2.0 + 2.0 / data[law + hill.CONCENTRIC_SHAPE]) / (data[law + hill.MAX_ECCENTRIC] - 1.0)


@inline
def inverse_velocity(data: Array, law: int, ratio: float) -> tuple[float, float]:
    """Fibre speed over (0.25 + 0.75 a) and its slope, at a ratio of active to isometric force (eqs. 6, 7)."""
    shape, most = data[law + hill.CONCENTRIC_SHAPE], data[law + hill.MAX_ECCENTRIC]
    if ratio <= 0.0:
        slope = 1.0 + 1.0 / shape
        return -1.0 + slope * ratio, slope
    if ratio <= 1.0:
        below = 1.0 + ratio / shape
        return (ratio - 1.0) / below, (1.0 + 1.0 / shape) / (below * below)
    rate = eccentric_rate(data, law)
    last = min(ratio, data[law + hill.ECCENTRIC_SHARE] * most)
    slope = (most - 1.0) / (rate * (most - last) * (most - last))
    return (last - 1.0) / (rate * (most - last)) + slope * (ratio - last), slope


@shared
def thelen_speed(
    data: Array, law: int, activation: float, isometric: float, force: float
) -> tuple[float, float, float, float]:
    """Fibre speed (1: the largest one) at an active force, and its derivatives by force, isometric force and
    activation.
    """
    factor = 0.25 + 0.75 * activation
    ratio = force / isometric
    speed, slope = inverse_velocity(data, law, ratio)
    by_force = factor * slope / isometric
    return factor * speed, by_force, -by_force * ratio, 0.75 * speed


@shared
def thelen_force(
    data: Array, law: int, activation: float, isometric: float, speed: float
) -> tuple[float, float, float, float]:
    """Active force at a fibre speed, and its derivatives by speed, isometric force and activation."""
    shape, most = data[law + hill.CONCENTRIC_SHAPE], data[law + hill.MAX_ECCENTRIC]
    factor = 0.25 + 0.75 * activation
    wanted = speed / factor
    if wanted <= -1.0:
        ratio = (wanted + 1.0) / (1.0 + 1.0 / shape)
    elif wanted <= 0.0:
        ratio = (1.0 + wanted) / (1.0 - wanted / shape)
    else:
        rate = eccentric_rate(data, law)
        ratio = (1.0 + rate * most * wanted) / (1.0 + rate * wanted)
        last = data[law + hill.ECCENTRIC_SHARE] * most
        if ratio > last:
            end, slope = inverse_velocity(data, law, last)
            ratio = last + (wanted - end) / slope
    _, slope = inverse_velocity(data, law, ratio)
    by_speed = isometric / (slope * factor)
    return isometric * ratio, by_speed, ratio, -0.75 * by_speed * wanted
