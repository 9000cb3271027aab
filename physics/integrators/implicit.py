"""Implicit methods with a fixed step, for stiff models; run in the kernel in batches of steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..constraints.packing import System
from ..dynamics.workspace import constraint_space
from ..joints.packing import TangentSpace
from ..kernels import layout
from ..model.model import Model
from ..model.result import Result
from .base import Method, Problem, Recording, carry, watch_closely
from .consistency import refuse_torn
from .constrained import needs_constraints, note_start, settler, statistics, with_room
from .stretches import run_in_stretches

FEWEST_SPARSE = 8  # coordinates from which a tree's own factors are faster than dense ones


def branch_rows(model: Model) -> int:
    """Rows of ``kernels.dynamics.branches``, none where a model needs dense factors."""
    body_int, _, _, data, _ = model.arrays
    counts = data[[layout.LIMIT_COUNT, layout.ELEMENT_COUNT, layout.MUSCLE_COUNT]]
    largest = body_int[:, layout.DOF_COUNT].max(initial=0)
    if counts.any() or largest > kernels.dynamics.branches.MOST_IN_JOINT:
        return 0
    return model.num_coordinates + len(body_int) if model.num_coordinates >= FEWEST_SPARSE else 0


def implicit_workspace(model: Model, rows: int = 0, *, dense: bool = True) -> tuple[Any, ...]:
    """Slopes, system, pivots, vectors, notes, tangents and branches of ``kernels.stepping.implicit`` for constraint
    rows; dense: whether to factorize the whole matrix, whatever the model.
    """
    stage = kernels.stepping.implicit_stage
    nv = model.num_coordinates
    size = nv + rows
    return (
        (np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv))),
        np.zeros((size, size)),
        np.zeros(size, dtype=np.int64),
        np.zeros((stage.IMPLICIT_VECTORS, nv + max(model.num_inputs + len(model.carried(None)), rows))),
        np.zeros(stage.IMPLICIT_NOTES),
        TangentSpace(model.arrays[0]).arrays,
        np.zeros((0 if dense else branch_rows(model), kernels.dynamics.branches.BRANCH_WIDTH)),
    )


def integrate_implicit(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with an implicit method.

    ``info`` counts "newton_iterations", "matrices" (evaluations of the derivatives), "divided" (steps taken in 2 to 32
    parts, because they did not converge or gained energy), "repeated" (those whose stages and impulses were solved in
    turn), and "substitutes" (linearly implicit ones in place of the shortest parts without convergence).
    """
    model, stage = problem.model, kernels.stepping.implicit_stage
    workspace, constrained = model.workspace(), needs_constraints(problem)
    spaces = workspace.clear()
    watch_closely(problem, state, spaces, damps=True)
    rows = model.num_constraint_rows if constrained else 0
    implicit = implicit_workspace(model, rows, dense=constrained)
    carry(model, state, implicit[3][stage.GIVEN_FORCE])
    system, memory, contacts, effort = constraint_space(model, local=True)
    settle, tables = settler(problem) if constrained else None, problem.tables()
    nv, stages = model.num_coordinates, method.order or 1  # methods have as many stages as their order
    room = problem.whole and constrained
    rates = np.zeros((len(problem.samples), nv + stages * (nv + rows))) if room else None

    def advance(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        nonlocal system
        if constrained and counters[0] == 0:
            note_start(problem, tables, q, qd, workspace, system, recording)
        written = int(counters[1])
        record_qd = recording.qd if rates is None else rates

        def advance_in(system: System) -> None:
            more = None
            if constrained:
                records = (recording.forces, recording.efforts)
                more = (model.constraint_arrays, system, problem.motions, contacts, memory, effort, *records)
            kernels.stepping.implicit_rollout.implicit_rollout(
                model.arrays,
                more,
                method.number,
                tables,
                problem.start,
                problem.dt,
                count,
                (counters, problem.samples, recording.rows, record_qd),
                (q, qd, chart),
                implicit,
                spaces,
            )

        changed = counters, q, qd, chart, implicit, effort, memory, contacts, spaces
        system = with_room(model, system, advance_in, changed)
        if rates is not None:
            recording.stages = rates[:, nv:].reshape(len(rates), stages, nv + rows)
            recording.qd[written : counters[1]] = rates[written : counters[1], :nv]
        recording.info["newton_iterations"] = int(implicit[4][stage.ITERATIONS])
        recording.info["matrices"] = int(implicit[4][stage.MATRICES])
        recording.info["substitutes"] = int(implicit[4][stage.SUBSTITUTES])
        recording.info["divided"] = int(implicit[4][stage.DIVIDED])
        recording.info["repeated"] = int(implicit[4][stage.REPEATED])
        if settle is not None:
            settle(written, int(counters[1]), recording, problem.start)
            recording.info["constraints"] = statistics(model, system)
            refuse_torn(problem, system, counters, recording)

    return run_in_stretches(problem, method.name, state, advance, spaces)


METHODS = (
    Method(
        "linearly_implicit_euler",
        1,
        "Implicit Euler with one linear system a step, for stiff springs; motion is damped",
        integrate_implicit,
        layout.LINEARLY_IMPLICIT_EULER,
    ),
    Method(
        "spring_implicit_euler",
        1,
        "The same with gravity and inertial forces explicit (Wang 2022), for comparison",
        integrate_implicit,
        layout.SPRING_IMPLICIT_EULER,
    ),
    Method(
        "bdf1",
        1,
        "Implicit Euler with Newton's iteration, for very stiff springs; motion is damped most",
        integrate_implicit,
        layout.BACKWARD_EULER,
    ),
    Method(
        "sdirk2",
        2,
        "Two implicit stages, L-stable, for stiff springs where motion is not to be damped",
        integrate_implicit,
        layout.SDIRK2,
    ),
)
