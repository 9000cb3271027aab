"""Symplectic Euler, forward Euler and explicit Runge-Kutta methods, run in the kernel in batches of steps."""

from __future__ import annotations

from typing import Any

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..kernels import layout
from ..model.result import Result
from .base import Method, Problem, Recording, carry, watch_closely
from .constrained import integrate_constrained, needs_constraints
from .limit_steps import LARGEST, look_ahead
from .stretches import run_in_stretches


def integrate_fixed_step(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with a fixed-step method; batches do not affect the result's bits."""
    if needs_constraints(problem):
        return integrate_constrained(problem, method, state)

    workspace = problem.model.workspace()
    spaces = workspace.clear()
    prepare_checks(problem, method, state, spaces)
    carry(problem.model, state, workspace.stage[layout.TAU])
    scheme, tables = method.scheme, problem.tables()

    def advance(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        kernels.stepping.rollout.rollout(
            problem.model.arrays,
            scheme,
            tables,
            problem.start,
            problem.dt,
            count,
            (counters, problem.samples, recording.rows, recording.qd),
            (q, qd, chart),
            workspace.stage,
            spaces,
        )

    return run_in_stretches(problem, method.name, state, advance, spaces)


def prepare_checks(problem: Problem, method: Method, state: State, spaces: Any) -> None:
    """Write what the checks of steps begin with into the row of the workspace that has them."""
    watch_closely(problem, state, spaces, behind=float(method.name.endswith("euler")))
    look_ahead(problem, method, state, spaces[0])


METHODS = (
    Method(
        "symplectic_euler",
        1,
        "Euler's method with the new velocities, which lag half a step and are predicted by that for the forces; "
        "springs at limits may be as stiff as they like",
        integrate_fixed_step,
        layout.SYMPLECTIC_EULER,
    ),
    Method(
        "textbook_symplectic_euler",
        1,
        "The same without predicting velocities by half a step for the forces, for comparison",
        integrate_fixed_step,
        layout.TEXTBOOK_EULER,
    ),
    Method(
        "forward_euler",
        1,
        "Euler's method with the old velocities, for comparison: motion gains energy",
        integrate_fixed_step,
        layout.FORWARD_EULER,
    ),
    Method(
        "rk4",
        4,
        "The classical method of Runge and Kutta, for smooth motion",
        integrate_fixed_step,
        layout.RUNGE_KUTTA,
        stages=((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)),
        stable=LARGEST,
    ),
)
