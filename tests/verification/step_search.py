"""The largest stable step of a method: ten seconds with the energy never above twice the initial."""

import math
from typing import Any

import numpy as np

import physics as ph

DURATION = 10.0
STEPS = tuple(0.002 * 1.05**power for power in range(-43, 120))  # 0.25 ms to 0.66 s


def stays_bounded(model: Any, state: Any, datum: float, integrator: str, dt: float) -> bool:
    """Whether the energy above the datum never exceeds twice the initial one within DURATION."""
    steps = math.ceil(DURATION / dt)
    try:
        result = ph.simulate(model, state, duration=steps * dt, dt=dt, integrator=integrator)
    except ph.DivergedError:
        return False
    above = result.energy[:, 2] - datum
    return bool(np.all(above <= 2.0 * above[0]))


def largest_step(model: Any, state: Any, datum: float, integrator: str) -> float:
    """The last step of a grid (5 % apart) up to which every step keeps the energy bounded, in ms; 0 if none does."""
    largest = 0.0
    for dt in STEPS:
        if not stays_bounded(model, state, datum, integrator, dt):
            break
        largest = dt
    return 1000.0 * largest
