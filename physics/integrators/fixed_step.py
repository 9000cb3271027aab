"""Symplectic Euler, forward Euler and the classical Runge-Kutta method, run in the kernel a stretch at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..kernels import layout
from ..model import State
from ..result import Result
from .base import Problem, Recording
from .constrained import STRETCH, integrate_constrained, needs_constraints

KERNEL_NUMBERS = {
    "symplectic_euler": layout.SYMPLECTIC_EULER,
    "forward_euler": layout.FORWARD_EULER,
    "rk4": layout.RUNGE_KUTTA_4,
}


Advance = Callable[[int, IntArray, FloatArray, FloatArray, IntArray, Recording], None]


def integrate_fixed_step(problem: Problem, name: str, state: State) -> Result:
    """Run a problem with one of the fixed-step methods; how it is cut into calls does not change a bit of the
    result.
    """
    if needs_constraints(problem):
        return integrate_constrained(problem, name, KERNEL_NUMBERS[name], state)
    from ..kernels.rollout import rollout

    workspace = problem.model.workspace()
    spaces = workspace.clear()

    def advance(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        rollout(
            problem.model.arrays,
            KERNEL_NUMBERS[name],
            *problem.tau,
            problem.start,
            problem.dt,
            count,
            counters,
            problem.samples,
            q,
            qd,
            chart,
            recording.q,
            recording.qd,
            workspace.stage,
            spaces,
        )

    return run_in_stretches(problem, name, state, advance, spaces[2])


def run_in_stretches(problem: Problem, name: str, state: State, advance: Advance, flags: Any) -> Result:
    """Let a kernel advance a number of steps at a time, as many as keep progress lively.

    advance is told how many, and gets what it changes: counters (steps done, samples written), q, qd, chart, and the
    recording; flags are the kernel's.
    """
    q, qd, chart = np.array(state.q), np.array(state.qd), np.array(state.chart)
    steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
    recording = Recording(problem, q, qd, {"integrator": name, "dt": problem.dt, "steps": steps})
    counters = np.array([0, 1], dtype=np.int64)
    stretch = 1  # the first call may compile
    while counters[0] < steps:
        began = time.perf_counter()
        advance(int(min(stretch, steps - counters[0])), counters, q, qd, chart, recording)
        recording.check(flags, problem.start + problem.dt * int(counters[0]), int(counters[1]))
        recording.report(counters[0] / steps, int(counters[1]))
        spent = max(time.perf_counter() - began, 1e-6)
        stretch = int(min(max(stretch * STRETCH / spent, 1), 8 * stretch))
    recording.info["chart_changes"] = int((chart - state.chart).sum())
    return recording.result(int(counters[1]))
