"""Fixed-step methods for models with constraints, hard limits, contacts or prescribed motions, run in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..constraints.packing import System, make_system
from ..dynamics.workspace import constraint_space, contact_name, enlarged, most_rows
from ..joints.packing import Workspace
from ..kernels import layout
from ..kernels.constraints import layout as rows
from ..model.model import Model
from ..model.result import Result
from .base import Method, Problem, Recording, carry, watch_closely
from .consistency import refuse_torn
from .limit_steps import look_ahead
from .stretches import run_in_stretches

SYMPLECTIC = (layout.SYMPLECTIC_EULER, layout.TEXTBOOK_EULER)


def needs_constraints(problem: Problem) -> bool:
    """Whether a problem has constraints, contacts, hard limits or prescribed motions."""
    model = problem.model
    return (
        bool(model.constraints)
        or bool(model.contact_names)
        or model.has_hard_limits
        or len(problem.motions[0]) > 0
    )


def integrate_constrained(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with an explicit fixed-step method; batches do not affect the result's bits."""
    model = problem.model
    workspace = model.workspace()
    spaces = workspace.clear()
    watch_closely(problem, state, spaces, behind=float(method.name.endswith("euler")))
    look_ahead(problem, method, state, spaces[0])
    carry(model, state, workspace.stage[layout.TAU])
    system, memory, contacts, effort = constraint_space(model, local=True)
    tables = problem.tables()
    parts = (model.arrays, model.constraint_arrays, contacts, problem.motions, tables)
    settle, scheme = settler(problem), method.scheme

    def run_steps(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        nonlocal system
        if counters[0] == 0:
            note_start(problem, tables, q, qd, workspace, system, recording)
        written = int(counters[1])

        def advance(system: System) -> None:
            kernels.stepping.stepper.advance(
                parts,
                scheme,
                0.5 if method.number in SYMPLECTIC else 0.0,
                problem.start,
                problem.dt,
                count,
                counters,
                problem.samples,
                (q, qd, chart),
                (recording.rows, recording.qd, recording.forces, recording.efforts),
                (workspace.stage, effort, system, memory, spaces),
            )

        changed = counters, q, qd, chart, workspace.stage, effort, memory, contacts, spaces
        system = with_room(model, system, advance, changed)
        settle(written, int(counters[1]), recording, problem.start)
        recording.info["constraints"] = statistics(model, system)
        refuse_torn(problem, system, counters, recording)

    return run_in_stretches(problem, method.name, state, run_steps, spaces)


def with_room(model: Model, system: System, run: Callable[[System], None], changed: Any) -> System:
    """Call run(system); if its rows do not fit, again with a larger system, from the same state of the arrays (or
    tuples of arrays) that it changes. Returns the last system.
    """
    flags, before = changed[-1][layout.FLAGS], None
    if min(len(system[rows.SYSTEM_ROWS]), len(system[rows.SYSTEM_MATRIX])) < most_rows(model):
        before = [array.copy() for array in _writable((*changed, system[rows.SYSTEM_STATISTICS]))]
    run(system)
    while before is not None and flags[layout.STATUS] == layout.TOO_MANY_CONTACTS:
        larger = enlarged(model, system)
        if larger is system:  # colliders have no more room
            break
        system = larger
        for array, kept in zip(_writable((*changed, system[rows.SYSTEM_STATISTICS])), before, strict=True):
            array[...] = kept
        run(system)
    return system


def _writable(arrays: Any) -> Iterator[FloatArray]:
    for array in arrays:
        if isinstance(array, tuple):
            yield from _writable(array)
        elif array.flags.writeable:
            yield array


def settler(problem: Problem) -> Callable[[int, int, Recording, float], None]:
    """A function that projects a range of samples between steps onto the equality constraints.

    Its last argument is a time at which a step begins.
    """
    model = problem.model
    if not model.num_constraint_rows:
        return lambda first, last, recording, begun: None
    parts = (model.arrays, model.constraint_arrays, problem.motions, problem.tables())
    tau = np.concatenate([model.with_inputs(None), model.carried(None)])
    system = make_system(model.arrays, model.constraint_arrays, local=True)
    vectors = (tau, np.zeros(model.num_coordinates), np.zeros(model.num_coordinates))
    work = (system, model.workspace().clear())

    def settle(first: int, last: int, recording: Recording, begun: float) -> None:
        records = (recording.rows, recording.qd)
        if last > first:
            kernels.stepping.evaluate.settle_samples(
                parts, begun, problem.dt, problem.samples, (first, last), records, vectors, work
            )

    return settle


def note_start(
    problem: Problem,
    tables: Any,
    q: FloatArray,
    qd: FloatArray,
    workspace: Workspace,
    system: System,
    recording: Recording,
) -> None:
    """Set prescribed coordinates to their start; record their forces and those of equalities in the first sample."""
    model = problem.model
    states = None if recording.muscle_states is None else recording.muscle_states[0]
    recording.forces = np.zeros((len(problem.samples), model.num_constraint_rows))
    recording.efforts = np.zeros((len(problem.samples), model.num_coordinates))
    if model.feedback_laws:
        spaces = workspace.clear()
        kernels.stepping.motion.hold(problem.motions, problem.start, 0.0, q, qd, spaces[layout.DOF])
        kernels.stepping.feedback.hold_feedback(tables, model.arrays, q, qd, spaces)
    kernels.stepping.evaluate.evaluate(
        model.arrays,
        model.constraint_arrays,
        problem.motions,
        tables,
        problem.start,
        q,
        qd,
        (
            np.concatenate([model.with_inputs(None), model.carried(states)]),
            np.zeros_like(q),
            recording.efforts[0],
        ),
        system,
        workspace.clear(),
    )
    recording.forces[0] = system[rows.SYSTEM_IMPULSE][: model.num_constraint_rows]
    recording.q[0], recording.qd[0] = q, qd
    workspace.clear()


def statistics(model: Model, system: Any) -> dict[str, Any]:
    """Statistics of the solver; "deepest" names the contact, or the two colliders, with the largest overlap [m]."""
    values: FloatArray = system[rows.SYSTEM_STATISTICS]
    return {
        "residual": float(values[rows.RESIDUAL]),
        "most_rows": int(values[rows.MOST_ROWS]),
        "steps_with_contact": int(values[rows.UNILATERAL_STEPS]),
        "drift": float(values[rows.DRIFT]),
        "drift_left": float(values[rows.DRIFT_LEFT]),
        "steps_unmet": int(values[rows.UNMET]),
        "overlap": float(values[rows.OVERLAP]),
        "deepest": contact_name(model, values[rows.DEEPEST]) if values[rows.OVERLAP] > 0.0 else "",
    }
