"""Schutte's muscle (1993) as OpenSim has it, normalized: forces and speeds, each with its derivatives."""

import math

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..joints.functions import evaluate_function
from . import hill_layout as hill

HILL = 0.15  # curvature of the force-velocity curve of a fibre that shortens
LENGTHENED = 1.4  # its limit while the fibre lengthens
BEND = 0.13 * HILL / (HILL + 1.0)  # speed over which it rises
RATE, LOW = 8.0, math.exp(-4.0)  # of the passive force where the law has no curve of it


@inline
def schutte_active(data: Array, law: int, length: float) -> tuple[float, float]:
    """Active force-length factor and its slope."""
    _, value, slope = evaluate_function(data, law + int(data[law + hill.ACTIVE_CURVE]), length)
    return (value, slope) if value > 0.0 else (0.0, 0.0)


@inline
def schutte_passive(data: Array, law: int, length: float) -> tuple[float, float, float]:
    """Passive force of the fibre, its slope and its integral."""
    if data[law + hill.PASSIVE_CURVE] == 0.0:
        value = LOW * math.exp(RATE * (length - 1.0))
        return value, RATE * value, value / RATE
    area, value, slope = evaluate_function(data, law + int(data[law + hill.PASSIVE_CURVE]), length)
    return value, slope, area


@inline
def schutte_tendon(data: Array, law: int, length: float) -> tuple[float, float, float]:
    """Force of the tendon, its slope and its integral; 0 where it is slack."""
    if length < 1.0:
        return 0.0, 0.0, 0.0
    area, value, slope = evaluate_function(data, law + int(data[law + hill.TENDON_CURVE]), length - 1.0)
    return value, slope, area


@shared
def schutte_force(speed: float) -> tuple[float, float]:
    """Active force over the isometric one and its slope, at a normalized speed; 0 below -1."""
    if speed < -1.0:
        return 0.0, 0.0
    if speed < 0.0:
        return HILL * (1.0 + speed) / (HILL - speed), HILL * (1.0 + HILL) / (HILL - speed) ** 2
    return (LENGTHENED * speed + BEND) / (speed + BEND), (LENGTHENED - 1.0) * BEND / (speed + BEND) ** 2


@shared
def schutte_speed(data: Array, law: int, isometric: float, force: float) -> tuple[float, float, float, float]:
    """As `thelen.thelen_speed`; a fibre does not push, whatever its passive force."""
    damping, pull = data[law + hill.DAMPING], max(force, 0.0)
    if pull < isometric:
        sum_ = HILL + (pull + HILL * isometric) / damping
        rest = HILL * (pull - isometric) / damping
        speed = 2.0 * rest / (sum_ + math.sqrt(sum_ * sum_ - 4.0 * rest))
    else:
        sum_ = (LENGTHENED * isometric - pull) / damping + BEND
        rest = BEND * (pull - isometric) / damping
        root = math.sqrt(sum_ * sum_ + 4.0 * rest)
        speed = 2.0 * rest / (sum_ + root) if sum_ > 0.0 else 0.5 * (root - sum_)
    factor, slope = schutte_force(speed)
    by_force = 1.0 / (isometric * slope + damping)
    return speed, by_force if force > 0.0 else 0.0, -factor * by_force, 0.0


@inline
def schutte_activation(data: Array, law: int, excitation: float, away: float) -> tuple[float, float, float]:
    """Rate of the activation for an excitation that is `away` above it, and its slopes by both."""
    pace, turn = 1.0 / data[law + hill.DEACTIVATION_TIME], 0.0
    if away > 0.0:
        turn = 1.0 / data[law + hill.ACTIVATION_TIME] - pace
        pace += turn * excitation
    return pace * away, turn * away + pace, -pace
