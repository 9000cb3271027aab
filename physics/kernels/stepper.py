"""Steps of models with constraints, hard limits, contacts or given motions; `rollout` is for all others."""

from __future__ import annotations

import math

from ._jit import inline, jit
from .constrained import (
    constrain_velocities,
    foresee,
    project,
)
from .constraint_layout import (
    EQUALITY,
    ROW_FORCE,
    SPAN_END,
    SPAN_FIRST,
    SYSTEM_IMPULSE,
    SYSTEM_JACOBIAN,
    SYSTEM_KINDS,
    SYSTEM_RESPONSE,
    SYSTEM_ROWS,
    SYSTEM_SPANS,
    TANGENT,
)
from .evaluate import evaluate
from .layout import (
    FORWARD_EULER,
    HELD,
    KIND,
    MUSCLE_STATES,
    OK,
    ROTATION_VECTOR,
    RUNGE_KUTTA_4,
    STATUS,
    SYMPLECTIC_EULER,
)
from .motion import catch, finish_held, hold
from .muscle_states import FIRST, begin_states, finish_states, record_states
from .response import held_efforts, speed_along
from .rollout import (
    CHART_LIMIT,
    change_charts,
    copy,
    derivative,
    prepare_stage,
    record_samples,
)
from .runge_kutta import runge_kutta_parts
from .spatial import Array
from .watch import check_step


@inline
def euler_step(
    arrays: Array,
    constraints: Array,
    contacts: Array,
    motion: Array,
    tables: Array,
    integrator: int,
    t: float,
    dt: float,
    q: Array,
    qd: Array,
    stage: Array,
    effort: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> int:
    """One step of forward or symplectic Euler with impulses of all constraints; returns how many rows they have."""
    dof = spaces[1]
    nv = q.shape[0]
    tau, qdd, last_qd = stage[5], stage[2, :nv], stage[7, :nv]
    catch(motion, t, q, qd)
    hold(motion, t, dt, q, qd, dof)
    prepare_stage(integrator, 0, dt, q, qd, stage)
    derivative(arrays, tables[0], tables[1], t, stage[0, :nv], stage[1, :nv], qd, tau, qdd, spaces)
    copy(qd, last_qd)
    for d in range(q.shape[0]):
        qd[d] += dt * qdd[d]
    if arrays[3][MUSCLE_STATES] > 0.0:
        finish_states(arrays[3], tables[1].shape[1], integrator, dt, stage)
    ahead = dt if integrator == FORWARD_EULER else 0.0
    count, found = constrain_velocities(
        arrays, constraints, contacts, dt, ahead, q, qd, last_qd, system, memory, spaces
    )
    impulse, rows = system[SYSTEM_IMPULSE], system[SYSTEM_ROWS]
    for k in range(count):
        rows[k, ROW_FORCE] = impulse[k] / dt
    for d in range(q.shape[0]):
        q[d] += dt * (qd[d] if integrator == SYMPLECTIC_EULER else last_qd[d])
    finish_held(motion, t, dt, q, qd)
    if found[0] > 0:
        pace = 0.0
        if integrator == SYMPLECTIC_EULER:
            pace = 1.0 / dt
            foresee(constraints, count, found, dt, q, qd, system, dof)
        project(arrays, constraints, found, pace, q, qd, system, spaces)
    held_efforts(count, dof, system, effort)
    for k in range(count):  # what the next step sees half a step ahead: smooth forces, no impacts
        if system[SYSTEM_KINDS][k] == EQUALITY:
            for d in range(system[SYSTEM_SPANS][k, SPAN_FIRST], system[SYSTEM_SPANS][k, SPAN_END]):
                if dof[d, HELD] == 0.0:
                    qdd[d] += rows[k, ROW_FORCE] * system[SYSTEM_RESPONSE][k, d]
    return count


@jit
def strike(
    arrays: Array,
    constraints: Array,
    contacts: Array,
    motion: Array,
    tables: Array,
    t: float,
    dt: float,
    q: Array,
    qd: Array,
    stage: Array,
    effort: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> float:
    """Impulses of all that would be passed within dt at (t, q, qd): an impact. Returns the least speed with which a
    limit or a contact that took part is left, infinity where none did.
    """
    qdd, last_qd = stage[2, : q.shape[0]], stage[7, : q.shape[0]]
    evaluate(arrays, constraints, motion, tables, t, q, qd, stage[5], qdd, effort, system, spaces)
    copy(qd, last_qd)
    count, _ = constrain_velocities(
        arrays, constraints, contacts, dt, 0.0, q, qd, last_qd, system, memory, spaces
    )
    least = math.inf
    for k in range(count):
        kind = system[SYSTEM_KINDS][k]
        if system[SYSTEM_IMPULSE][k] != 0.0 and kind != EQUALITY and kind != TANGENT:
            least = min(least, speed_along(system[SYSTEM_JACOBIAN][k], qd))
    return least


@jit
def record_forces(
    before: int,
    counters: Array,
    count: int,
    system: Array,
    effort: Array,
    record_force: Array,
    record_effort: Array,
) -> None:
    """Write what constraints and held coordinates took in the step, for the samples that fell into it."""
    rows = system[SYSTEM_ROWS]
    for sample in range(before, counters[1]):
        for k in range(min(count, record_force.shape[1])):
            record_force[sample, k] = rows[k, ROW_FORCE]
        copy(effort, record_effort[sample])


@jit
def advance(
    arrays: Array,
    constraints: Array,
    contacts: Array,
    motion: Array,
    tables: Array,
    integrator: int,
    start: float,
    dt: float,
    num_steps: int,
    counters: Array,
    samples: Array,
    state: Array,
    records: Array,
    stage: Array,
    effort: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> None:
    """As `rollout`, for models that have more than a tree: advance state = (q, qd, chart) in place by up to
    num_steps.

    tables is (times, values) of the generalized forces, motion the held coordinates (`motion`), records (q, qd,
    forces of the constraints' rows, forces of held coordinates), effort (nv,) a workspace, system and memory those
    of the rows.
    """
    q, qd, chart = state
    record_q, record_qd, record_force, record_effort = records
    flags = spaces[2]
    nv = q.shape[0]
    qdd, last_q, last_qd = stage[2, :nv], stage[8, :nv], stage[9, :nv]
    has_charts = False
    for b in range(arrays[2].shape[0]):
        has_charts |= arrays[2][b, KIND] == ROTATION_VECTOR
    for _ in range(num_steps):
        t = start + counters[0] * dt
        copy(q, last_q)
        copy(qd, last_qd)
        if arrays[3][MUSCLE_STATES] > 0.0:
            begin_states(arrays[3], tables[1].shape[1], stage[5], stage[FIRST])
        if integrator == RUNGE_KUTTA_4:
            count = runge_kutta_parts(
                arrays,
                constraints,
                contacts,
                motion,
                tables,
                t,
                dt,
                q,
                qd,
                stage,
                effort,
                system,
                memory,
                spaces,
            )
        else:
            count = euler_step(
                arrays,
                constraints,
                contacts,
                motion,
                tables,
                integrator,
                t,
                dt,
                q,
                qd,
                stage,
                effort,
                system,
                memory,
                spaces,
            )
        if flags[STATUS] == OK:
            check_step(arrays, has_charts, dt, stage[5], q, qd, spaces)
        if flags[STATUS] != OK:
            copy(last_q, q)
            copy(last_qd, qd)
            return
        before = counters[1]
        if before < samples.shape[0] and samples[before] <= t + dt * (1.0 + 1e-9):
            record_samples(t, dt, samples, counters, last_q, last_qd, q, qd, record_q, record_qd)
            if arrays[3][MUSCLE_STATES] > 0.0:
                ends = stage[FIRST], stage[5]
                record_states(
                    arrays[3],
                    tables[1].shape[1],
                    before,
                    counters[1],
                    samples,
                    t,
                    dt,
                    ends[0],
                    ends[1],
                    record_q,
                )
            record_forces(before, counters, count, system, effort, record_force, record_effort)
        if has_charts:
            change_charts(arrays, spaces[1], CHART_LIMIT, q, qd, qdd, chart)
        counters[0] += 1
