"""Symplectic Euler, forward Euler and the classical Runge-Kutta method, run in the kernel a stretch at a time."""

from __future__ import annotations

import time

import numpy as np

from ..kernels import layout
from ..model import State
from ..result import Result
from .base import Problem, Recording

KERNEL_NUMBERS = {
    "symplectic_euler": layout.SYMPLECTIC_EULER,
    "forward_euler": layout.FORWARD_EULER,
    "rk4": layout.RUNGE_KUTTA_4,
}
# A stretch lasts about this long [s]: progress stays lively, and the calls cost nothing beside it.
STRETCH = 0.05


def integrate_fixed_step(problem: Problem, name: str, state: State) -> Result:
    """Run a problem with one of the fixed-step methods; how it is cut into calls does not change a bit of the
    result.
    """
    from ..kernels.rollout import rollout

    model = problem.model
    q, qd, chart = np.array(state.q), np.array(state.qd), np.array(state.chart)
    steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
    recording = Recording(problem, q, qd, {"integrator": name, "dt": problem.dt, "steps": steps})
    workspace = model.workspace()
    spaces = workspace.clear()
    counters = np.array([0, 1], dtype=np.int64)
    stretch = 1  # the first call may compile
    while counters[0] < steps:
        began = time.perf_counter()
        rollout(
            model.arrays,
            KERNEL_NUMBERS[name],
            *problem.tau,
            problem.start,
            problem.dt,
            int(min(stretch, steps - counters[0])),
            counters,
            problem.samples,
            q,
            qd,
            chart,
            recording.q,
            recording.qd,
            workspace.stage,
            workspace.limits,
            spaces,
        )
        recording.check(spaces[2], problem.start + problem.dt * int(counters[0]), int(counters[1]))
        recording.report(counters[0] / steps, int(counters[1]))
        spent = max(time.perf_counter() - began, 1e-6)
        stretch = int(min(max(stretch * STRETCH / spent, 1), 8 * stretch))
    recording.info["chart_changes"] = int((chart - state.chart).sum())
    return recording.result(int(counters[1]))
