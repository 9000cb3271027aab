"""Fixed-step methods for models with constraints, hard limits, contacts or given motions, run in the kernel."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..constraints.packing import System, make_system
from ..kernels import constraint_layout as rows
from ..model import State
from ..packing import Workspace
from ..result import Result
from .base import Problem, Recording

MEMORY_WIDTH = 4  # as in ``kernels.unilateral``, which must not be imported before it is needed

# A stretch lasts about this long [s]: progress stays lively, and the calls cost nothing beside it.
STRETCH = 0.05


def needs_constraints(problem: Problem) -> bool:
    """Whether a problem is more than a tree with tables of forces."""
    model = problem.model
    return bool(model.constraints) or model.has_hard_limits or len(problem.motions[0]) > 0


def integrate_constrained(problem: Problem, name: str, number: int, state: State) -> Result:
    """Run a problem with the fixed-step method of this name and number; how it is cut into calls does not change a
    bit of the result.
    """
    from ..kernels.stepper import advance

    model = problem.model
    q, qd, chart = np.array(state.q), np.array(state.qd), np.array(state.chart)
    steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
    recording = Recording(problem, q, qd, {"integrator": name, "dt": problem.dt, "steps": steps})
    forces = np.zeros((len(problem.samples), model.num_constraint_rows))
    efforts = np.zeros((len(problem.samples), model.num_coordinates))
    recording.forces, recording.efforts = forces, efforts
    workspace = model.workspace()
    spaces = workspace.clear()
    counters = np.array([0, 1], dtype=np.int64)
    system = make_system(model.num_constraint_rows + model.num_limits, model.num_coordinates)
    memory = np.zeros((model.num_limits, MEMORY_WIDTH))
    note_start(problem, q, qd, workspace, system, (forces, efforts))
    recording.q[0], recording.qd[0] = q, qd
    stretch = 1  # the first call may compile
    while counters[0] < steps:
        began = time.perf_counter()
        advance(
            model.arrays,
            model.constraint_arrays,
            np.zeros(0),
            problem.motions,
            problem.tau,
            number,
            problem.start,
            problem.dt,
            int(min(stretch, steps - counters[0])),
            counters,
            problem.samples,
            (q, qd, chart),
            (recording.q, recording.qd, forces, efforts),
            workspace.stage,
            np.zeros(model.num_coordinates),
            system,
            memory,
            spaces,
        )
        recording.check(spaces[2], problem.start + problem.dt * int(counters[0]), int(counters[1]))
        recording.report(counters[0] / steps, int(counters[1]))
        spent = max(time.perf_counter() - began, 1e-6)
        stretch = int(min(max(stretch * STRETCH / spent, 1), 8 * stretch))
    recording.info["chart_changes"] = int((chart - state.chart).sum())
    recording.info["constraints"] = statistics(system)
    return recording.result(int(counters[1]))


def note_start(
    problem: Problem,
    q: FloatArray,
    qd: FloatArray,
    workspace: Workspace,
    system: System,
    records: tuple[FloatArray, FloatArray],
) -> None:
    """Put held coordinates where they start, and note in the first sample what they and the equalities take there."""
    from ..kernels.stepper import evaluate

    model = problem.model
    spaces, tau = workspace.clear(), model.with_inputs(None)
    evaluate(
        model.arrays,
        model.constraint_arrays,
        problem.motions,
        problem.tau,
        problem.start,
        q,
        qd,
        tau,
        np.zeros_like(q),
        records[1][0],
        system,
        spaces,
    )
    records[0][0] = system[rows.SYSTEM_IMPULSE][: model.num_constraint_rows]
    workspace.clear()


class ConstrainedSlope:
    """Accelerations of models with constraints or given motions, for adaptive methods: the state is brought onto the
    constraints wherever it is looked at.
    """

    def __init__(self, problem: Problem, spaces: Any) -> None:
        from ..kernels.stepper import slope_on_constraints

        model = problem.model
        self.kernel = slope_on_constraints
        self.problem = problem
        self.system = make_system(model.num_constraint_rows, model.num_coordinates)
        self.spaces = spaces
        self.tau = model.with_inputs(None)
        self.effort = np.zeros(model.num_coordinates)

    def __call__(self, t: float, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """Accelerations qdd at the state that q and qd become."""
        problem = self.problem
        self.kernel(
            problem.model.arrays,
            problem.model.constraint_arrays,
            problem.motions,
            problem.tau,
            t,
            q,
            qd,
            self.tau,
            qdd,
            self.effort,
            self.system,
            self.spaces,
        )

    def settle(self, recording: Recording, written: int) -> None:
        """Bring recorded samples onto the constraints, and note the forces there."""
        model = self.problem.model
        recording.forces = np.zeros((len(recording.q), model.num_constraint_rows))
        recording.efforts = np.zeros_like(recording.q)
        qdd = np.zeros(model.num_coordinates)
        for k in range(written):
            self(float(self.problem.samples[k]), recording.q[k], recording.qd[k], qdd)
            recording.forces[k] = self.system[rows.SYSTEM_IMPULSE][: model.num_constraint_rows]
            recording.efforts[k] = self.effort
        recording.info["constraints"] = statistics(self.system)


def statistics(system: Any) -> dict[str, float]:
    """What the solver met on the way."""
    values: FloatArray = system[rows.SYSTEM_STATISTICS]
    return {
        "residual": float(values[rows.RESIDUAL]),
        "most_rows": int(values[rows.MOST_ROWS]),
        "steps_with_contact": int(values[rows.UNILATERAL_STEPS]),
        "drift": float(values[rows.DRIFT]),
        "drift_left": float(values[rows.DRIFT_LEFT]),
        "steps_unmet": int(values[rows.UNMET]),
    }
