"""The largest step that a method bears on the damped knee."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import physics as ph

from .claim import Measurement, claim
from .knee import knee_model, released

DURATION = 10.0
DAMPING = 0.5  # N m s/rad: a quarter of critical for this shank
DAMPINGS = (0.1, 0.2, DAMPING, 1.0)
STEPS = tuple(0.002 * 1.05**power for power in range(120))  # 2 ms to 0.66 s


def lowest_potential(model: Any) -> float:
    """Least potential energy over the joint's range, as the datum that energies are counted from."""
    lower, upper = np.ravel(model.joints[0].range)
    return min(ph.energy(model, model.state(q=[q])).potential for q in np.linspace(lower, upper, 400))


def stays_bounded(model: Any, state: Any, integrator: str, dt: float) -> bool:
    """Whether the energy never rises above twice the start's within DURATION."""
    datum = lowest_potential(model)
    try:
        result = ph.simulate(
            model, state, duration=dt * math.ceil(DURATION / dt - 1e-9), dt=dt, integrator=integrator
        )
    except ph.DivergedError:
        return False
    above = result.energy[:, 2] - datum
    return bool(np.all(above <= 2.0 * above[0]))


def largest_step(integrator: str, damping: float) -> float:
    """The last step of a grid (5 % apart) up to which every step keeps the energy bounded, in ms."""
    model = knee_model(4, damping)
    state = released(model, 4)
    largest = 0.0
    for dt in STEPS:
        if not stays_bounded(model, state, integrator, dt):
            break
        largest = dt
    return 1000.0 * largest


def measured(integrator: str) -> Measurement:
    steps = {damping: largest_step(integrator, damping) for damping in DAMPINGS}
    return Measurement(steps[DAMPING], {f"at {damping:g} N m s/rad": step for damping, step in steps.items()})


STATEMENT = (
    f"largest step of {{}} Euler on the cubic knee damped by {DAMPING:g} N m s/rad: 10 s with the energy "
    "never above twice the start's (the paper states 20 to 100 ms for its examples, damping not given)"
)
SOURCE = "Lee & Terzopoulos 2008, sec. 7"


@claim(
    "steps.knee_forward_euler",
    STATEMENT.format("forward"),
    unit="ms",
    source=SOURCE,
    at_least=20.0,
    cost="slow",
)
def knee_forward_euler() -> Measurement:
    return measured("forward_euler")


@claim(
    "steps.knee_symplectic_euler",
    STATEMENT.format("symplectic"),
    unit="ms",
    source=SOURCE,
    at_least=100.0,
    cost="slow",
)
def knee_symplectic_euler() -> Measurement:
    return measured("symplectic_euler")
