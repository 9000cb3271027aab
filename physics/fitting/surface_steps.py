"""Gauss-Newton on the control values of a surface, and on the places of poses that may slide."""

from collections.abc import Callable

import numpy as np

from .._typing import FloatArray
from .surface_places import anywhere, loosened, project
from .surface_system import Problem

DAMPING_START = 1e-6
DAMPING_GIVE_UP = 1e6
# With sliding poses the iteration continues while a step gains this share of the objective plus this much (mean rad^2).
SETTLED = 5e-4
SETTLED_BELOW = 1e-11
STEPS_A_TRIAL = 2  # projection steps: places change little there


def minimize(
    problem: Problem,
    values: FloatArray,
    q: FloatArray,
    sliding: bool,
    tolerance: float,
    max_iterations: int,
    report: Callable[[int, float], None],
) -> tuple[FloatArray, FloatArray, list[float], bool]:
    """Control values and places at a minimum, the size of every step, and whether the last was below the tolerance.

    Each trial projects sliding poses anew, so that the objective never rises.
    """
    q = anywhere(problem, values, project(problem, values, q)) if sliding else q
    value, damping = problem.value(values, q), 0.0
    steps: list[float] = []
    for iteration in range(max_iterations):
        report(iteration, value)
        system = problem.system(values, q, loosened(problem, values, q) if sliding else None)
        while True:
            try:
                change = system.solve(damping)
            except np.linalg.LinAlgError:
                change = None
            if change is not None:
                step = float(np.abs(change).max())
                moved = values + change * problem.units
                places = project(problem, moved, q, STEPS_A_TRIAL) if sliding else q
                lowered = problem.value(moved, places)
                # near the minimum the objective is flat to round-off: accept small steps regardless
                if lowered <= value or step < 1e-8:
                    break
            damping = max(10.0 * damping, DAMPING_START)
            if damping > DAMPING_GIVE_UP:
                return values, q, steps, False
        gain = value - lowered
        values, q, value = moved, places, lowered
        damping = damping / 10.0 if damping > DAMPING_START else 0.0
        steps.append(step)
        if sliding and gain < SETTLED * value + SETTLED_BELOW:
            # poses may be stuck at a local minimum of the distance
            q = anywhere(problem, values, q)
            last, value = value, problem.value(values, q)
            if last - value < SETTLED * value + SETTLED_BELOW:
                return values, q, steps, True
        elif step < tolerance:
            return values, q, steps, True
    return values, q, steps, False
