"""Symplectic Euler, forward Euler and the classical Runge-Kutta method, run in the kernel in batches of steps."""

from __future__ import annotations

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..kernels import layout
from ..model.result import Result
from .base import Problem, Recording, carry, watch_closely
from .constrained import integrate_constrained, needs_constraints
from .limit_steps import look_ahead
from .stretches import run_in_stretches

KERNEL_NUMBERS = {
    "symplectic_euler": layout.SYMPLECTIC_EULER,
    "forward_euler": layout.FORWARD_EULER,
    "rk4": layout.RUNGE_KUTTA_4,
}


def integrate_fixed_step(problem: Problem, name: str, state: State) -> Result:
    """Run a problem with a fixed-step method; batches do not affect the result's bits."""
    if needs_constraints(problem):
        return integrate_constrained(problem, name, KERNEL_NUMBERS[name], state)

    workspace = problem.model.workspace()
    spaces = workspace.clear()
    watch_closely(problem, state, spaces, behind=float(name.endswith("euler")))
    look_ahead(problem, name, state, spaces[0])
    carry(problem.model, state, workspace.stage[layout.TAU])

    def advance(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        kernels.stepping.rollout.rollout(
            problem.model.arrays,
            KERNEL_NUMBERS[name],
            problem.tau,
            problem.start,
            problem.dt,
            count,
            (counters, problem.samples, recording.rows, recording.qd),
            (q, qd, chart),
            workspace.stage,
            spaces,
        )

    return run_in_stretches(problem, name, state, advance, spaces)
