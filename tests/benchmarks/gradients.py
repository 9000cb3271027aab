"""Gradients of a motion against the simulation of it by the same implicit method."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph

from .timing import Contestant
from .trees import PARENTS, Tree

INTEGRATOR, STEP = "sdirk2", 1e-3


@cache
def figure() -> tuple[Any, Any]:
    """The human figure of the trees, and its start."""
    model = Tree(PARENTS["humanoid"]).model()
    return model, model.state(q=0.1 * np.random.default_rng(5).standard_normal(model.num_coordinates))


def simulation() -> Contestant:
    """The motion alone, with a sample a step."""
    model, state = figure()

    def run(steps: int) -> Any:
        return ph.simulate(model, state, steps * STEP, STEP, INTEGRATOR)

    return Contestant("simulation", run)


def gradient(rows: int) -> Contestant:
    """The gradient by all torques at `rows` rows of a table: a number for each of these and each coordinate."""
    model, state = figure()
    torques = [ph.Parameter("torque", name) for name in model.coordinate_names]
    wanted = ph.objectives.Reach(model.body_names[-1], (0.1, 0.2, 0.3))

    def run(steps: int) -> Any:
        table = ph.Table(np.linspace(0.0, steps * STEP, rows), np.zeros((rows, model.num_coordinates)))
        tau = table if rows > 1 else None
        return ph.gradient(
            model,
            state,
            steps * STEP,
            STEP,
            integrator=INTEGRATOR,
            objective=wanted,
            parameters=torques,
            tau=tau,
        )

    return Contestant(f"gradient by {rows * model.num_coordinates}", run)
