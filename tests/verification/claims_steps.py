"""The largest step that a method bears on the damped knee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import physics as ph

from .claim import Measurement, claim
from .knee import knee_model, released

DURATION = 10.0
# Share of the critical damping of the small swing about rest. It does not depend on how the joint is
# parameterized, as a coefficient in N m s per unit of q would.
DAMPING_RATIO = 0.25
DAMPING_RATIOS = (0.05, 0.1, DAMPING_RATIO, 0.5)
STEPS = tuple(0.002 * 1.05**power for power in range(120))  # 2 ms to 0.66 s


@dataclass(frozen=True)
class Rest:
    """Where the knee hangs at rest."""

    potential: float
    critical_damping: float


def rest(model: Any) -> Rest:
    """The lowest point of the potential energy over the joint's range, and 2 sqrt(k M) there."""
    lower, upper = np.ravel(model.joints[0].range)
    places = np.linspace(lower, upper, 401)
    potential = np.array([ph.energy(model, model.state(q=[q])).potential for q in places])
    lowest = int(np.clip(np.argmin(potential), 1, len(places) - 2))
    curvature = np.diff(potential[lowest - 1 : lowest + 2], 2)[0] / (places[1] - places[0]) ** 2
    mass = ph.mass_matrix(model, model.state(q=[places[lowest]]))[0, 0]
    return Rest(float(potential[lowest]), float(2.0 * math.sqrt(curvature * mass)))


def stays_bounded(model: Any, state: Any, datum: float, integrator: str, dt: float) -> bool:
    """Whether the energy above the datum never exceeds twice the start's within DURATION."""
    steps = math.ceil(DURATION / dt)
    try:
        result = ph.simulate(model, state, duration=steps * dt, dt=dt, integrator=integrator)
    except ph.DivergedError:
        return False
    above = result.energy[:, 2] - datum
    return bool(np.all(above <= 2.0 * above[0]))


def largest_step(integrator: str, ratio: float) -> float:
    """The last step of a grid (5 % apart) up to which every step keeps the energy bounded, in ms."""
    at_rest = rest(knee_model(4))
    model = knee_model(4, damping=ratio * at_rest.critical_damping)
    state = released(model, 4)
    largest = 0.0
    for dt in STEPS:
        if not stays_bounded(model, state, at_rest.potential, integrator, dt):
            break
        largest = dt
    return 1000.0 * largest


def measured(integrator: str) -> Measurement:
    steps = {ratio: largest_step(integrator, ratio) for ratio in DAMPING_RATIOS}
    return Measurement(
        steps[DAMPING_RATIO], {f"at {ratio:g} of critical": step for ratio, step in steps.items()}
    )


STATEMENT = (
    f"largest step of {{}} Euler on the cubic knee, damped by {DAMPING_RATIO:g} of critical: 10 s with the energy "
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
