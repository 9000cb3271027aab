"""Steps of models with constraints, hard limits, contacts or prescribed motions; `rollout` is for all others."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, inline, shared
from ..constraints import layout as con
from ..constraints.loops import add_total
from ..constraints.response import add_response, held_efforts, speed_along
from ..contact.constrained_step import (
    constrain_velocities,
    foresee,
    note_contradiction,
    project,
    turns_corner,
)
from ..muscles.states import BEGUN, FIRST, begin_states, finish_states, record_states, set_implicit
from .bundles import Log, Parts, Workspace
from .evaluate import evaluate
from .feedback import hold_feedback
from .motion import catch, finish_held, hold, jumps_within, note_lag
from .parts import MOST_BOUNCES, PARTS, add_share, bounces, keep, part_before, take_means, write
from .rollout import (
    CHART_LIMIT,
    JUMP,
    PARABOLA,
    change_charts,
    copy,
    derivative,
    has_charts,
    is_symplectic,
    look_ahead_at_limits,
    prepare_stage,
)
from .runge_kutta import runge_kutta_parts
from .step_checks import check_step, note_efforts
from .stopping import has_struck, until_bounce


@inline
def kick_off(kick: float, dt: float, jumps: bool, alone: bool, qd: Array, stage: Array, dof: Array) -> None:
    """Advance velocities by accelerations: prescribed ones over the step's time, others over `kick`.

    Where prescribed velocities jump, accelerations are impulses over the step's time, and their effect must not depend
    on that time. The rest, kick - dt, then uses the accelerations of the step before. Where the jump is alone, the next
    step's prediction uses these too; along a table with a corner in every step the jumps are the acceleration.
    """
    for d in range(qd.shape[0]):
        qd[d] += (kick if dof[d, at.HELD] == 0.0 and not jumps else dt) * stage[at.STAGE_QDD, d]
        if jumps and dof[d, at.HELD] == 0.0:
            qd[d] += (kick - dt) * stage[at.SUM_QDD, d]
        if alone:
            stage[at.STAGE_QDD, d] = stage[at.SUM_QDD, d]


@inline
def add_forces(count: int, share: float, system: Array, dof: Array, qdd: Array) -> None:
    """Add a share of the rows' forces to the accelerations with which the next step predicts velocities."""
    rows = system[con.SYSTEM_ROWS]
    for k in range(count):
        if rows[k, con.ROW_FORCE] != 0.0:
            add_response(k, share * rows[k, con.ROW_FORCE], False, dof, system[con.SYSTEM_RESPONSE], qdd)


@inline
def euler_step(
    parts: Parts,
    scheme: Array,
    t: float,
    dt: float,
    shorter: tuple[float, float],
    q: Array,
    qd: Array,
    workspace: Workspace,
) -> tuple[int, int]:
    """One step of forward or symplectic Euler with impulses of all constraints; returns the number of rows, and the
    interpolation of samples in it.

    shorter is by how much the part before and this one are shorter than a whole step: symplectic Euler's velocities lag
    half a step and advance by half of either.
    """
    arrays, constraints, contacts, motion, tables = parts
    stage, effort, system, memory, spaces = workspace
    work, dof, _ = spaces
    data, nv, width = arrays[at.MODEL_DATA], q.shape[0], tables[at.VALUES].shape[1]
    tau, qdd, last_qd = stage[at.TAU], stage[at.STAGE_QDD, :nv], stage[at.LAST_QD, :nv]
    short_before, short = shorter
    integrator = int(scheme[at.SCHEME_NUMBER])
    before = dt + short - short_before if is_symplectic(integrator) else dt
    kick = 0.5 * (before + dt)
    course = 0.5 * before / kick, dt + short
    hold(motion, t, dt, q, qd, dof)
    note_lag(motion, t, dt, dof)
    jumps = jumps_within(motion, t, dt)
    last = work[arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS]
    alone = jumps and (last[at.LEAPT] == 0.0 or short_before > 0.0 or short > 0.0)
    prepare_stage(integrator, 0, 0.0, before, q, qd, stage)
    look_ahead_at_limits(arrays, integrator, max(kick, dt), work)
    set_implicit(data, tau, width, dt)
    derivative(arrays, tables, t, stage[at.STAGE_Q, :nv], stage[at.STAGE_QD, :nv], qd, tau, qdd, spaces)
    look_ahead_at_limits(arrays, integrator, 0.0, work)
    copy(qd, last_qd)
    kick_off(kick, dt, jumps, alone, qd, stage, dof)
    if data[at.MUSCLE_STATES] > 0.0:
        finish_states(data, width, scheme, dt, stage)
    count, found = constrain_velocities(
        arrays, constraints, contacts, dt, course, q, qd, last_qd, system, memory, spaces
    )
    impulse, rows = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ROWS]
    struck = has_struck(count, last_qd, system)
    touches = False  # after contact the new velocities advance coordinates, with either method
    for k in range(count):
        rows[k, con.ROW_FORCE] = impulse[k] / dt
        touches |= system[con.SYSTEM_KINDS][k] != con.EQUALITY and impulse[k] != 0.0
    for d in range(q.shape[0]):
        q[d] += dt * (qd[d] if touches or is_symplectic(integrator) else last_qd[d])
    finish_held(motion, t, dt, q, qd)
    if found[con.COUNT] > 0:
        pace = 0.0
        if is_symplectic(integrator):
            pace = 1.0 / dt
            foresee(arrays[at.BODY_INT], constraints, count, found, dt, q, qd, system, dof)
            if turns_corner(arrays, constraints, count, dt, q, qd, system, spaces):
                pace = 0.0
        project(arrays, constraints, found, pace, q, qd, system, spaces)
    held_efforts(count, rows, dof, system[con.SYSTEM_RESPONSE], effort)
    smooth = not struck and not alone  # no impacts
    if smooth and not add_total(system, 1.0 / kick, qdd):
        add_forces(count, dt / kick, system, dof, qdd)
    return count, JUMP if struck else PARABOLA


@inline
def put_back(parts: Parts, q: Array, qd: Array, workspace: Workspace) -> None:
    """Restore the state from `put_by`."""
    (arrays, _, _, _, tables), (stage, _, _, memory, spaces), nv = parts, workspace, q.shape[0]
    copy(stage[at.LAST_Q, :nv], q)
    copy(stage[at.SUM_QD, :nv], qd)
    copy(stage[at.SUM_QDD, :nv], stage[at.STAGE_QDD, :nv])
    begin_states(arrays[at.MODEL_DATA], tables[at.VALUES].shape[1], stage[BEGUN], stage[at.TAU])
    keep(memory, True)
    spaces[at.FLAGS][at.STATUS] = at.OK


@inline
def put_by(parts: Parts, all_of_it: bool, q: Array, qd: Array, workspace: Workspace) -> None:
    """Save the state before a part of a step; all of it if the part may be repeated."""
    (arrays, _, _, _, tables), (stage, _, _, memory, _), nv = parts, workspace, q.shape[0]
    copy(q, stage[at.LAST_Q, :nv])
    copy(qd, stage[at.SUM_QD, :nv])
    copy(stage[at.STAGE_QDD, :nv], stage[at.SUM_QDD, :nv])
    if not all_of_it:
        return
    begin_states(arrays[at.MODEL_DATA], tables[at.VALUES].shape[1], stage[at.TAU], stage[BEGUN])
    keep(memory, False)


@inline
def euler_parts(
    parts: Parts,
    scheme: Array,
    cut: bool,
    t: float,
    dt: float,
    q: Array,
    qd: Array,
    workspace: Workspace,
    log: Log,
) -> int:
    """One step of `euler_step`; where something bounces in it and `cut`, in parts, with the bounce in a short one.
    Impulses then use places and speeds at the impact, and energy is conserved.

    Forces of rows and on prescribed coordinates are means over the step. Samples go to log, see `write`; returns the
    number of rows.
    """
    arrays, _, _, motion, _ = parts
    stage, effort, system, _, (work, dof, flags) = workspace
    nv, last = q.shape[0], work[arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS]
    mean, last_qd = stage[at.MEAN_EFFORT, :nv], stage[at.LAST_QD, :nv]
    done, size, found, before, parted, count = 0, PARTS, 0, False, False, 0
    again = False
    while done < PARTS and flags[at.STATUS] == at.OK:
        put_by(parts, cut, q, qd, workspace)
        start, span = t + dt * done / PARTS, dt * size / PARTS
        short = dt - span
        if not again:
            catch(motion, start, q, qd)
        count, way = euler_step(parts, scheme, start, span, (last[at.SHORTER], short), q, qd, workspace)
        if cut and found < MOST_BOUNCES:
            until = until_bounce(count, span, last_qd, system)
            if until < math.inf and size > 1:
                put_back(parts, q, qd, workspace)
                size, before, again = part_before(until, span, size), True, True
                continue
            found += 1 if until < math.inf else 0
        last[at.SHORTER] = short
        last[at.LEAPT] = 1.0 if jumps_within(motion, start, span) else 0.0
        write(log, start, span, dt, way, (stage[at.LAST_Q, :nv], stage[at.SUM_QD, :nv]), (q, qd), dof)
        parted |= size < PARTS
        if parted:
            add_share(size / PARTS, done == 0, effort, mean, system)
        done += size
        size = 1 if before and size > 1 else PARTS - done
        before, again = False, False
    if parted:
        take_means(effort, mean, system)
    return count


@entry
def strike(parts: Parts, t: float, dt: float, q: Array, qd: Array, workspace: Workspace) -> float:
    """Impulses of everything that would be passed within dt at (t, q, qd): an impact. Returns the least rebound speed
    of the limits and contacts with an impulse, infinity where none has.
    """
    arrays, constraints, contacts, motion, tables = parts
    stage, effort, system, memory, spaces = workspace
    qdd, last_qd = stage[at.STAGE_QDD, : q.shape[0]], stage[at.LAST_QD, : q.shape[0]]
    evaluate(arrays, constraints, motion, tables, t, q, qd, (stage[at.TAU], qdd, effort), system, spaces)
    copy(qd, last_qd)
    count, _ = constrain_velocities(
        arrays, constraints, contacts, dt, (0.5, dt), q, qd, last_qd, system, memory, spaces
    )
    least = math.inf
    for k in range(count):
        kind = system[con.SYSTEM_KINDS][k]
        if system[con.SYSTEM_IMPULSE][k] != 0.0 and kind != con.EQUALITY and kind != con.TANGENT:
            # includes prescribed coordinates, which impulses do not change
            speed, jacobian = system[con.SYSTEM_ROWS][k, con.ROW_FREE], system[con.SYSTEM_JACOBIAN]
            speed += speed_along(k, qd, jacobian) - speed_along(k, last_qd, jacobian)
            least = min(least, speed)
    return least


@shared
def record_forces(
    before: int,
    written: int,
    count: int,
    system: Array,
    effort: Array,
    record_force: Array,
    record_effort: Array,
) -> None:
    """Write the forces of rows and on prescribed coordinates in the step, for the samples in it."""
    rows = system[con.SYSTEM_ROWS]
    for sample in range(before, written):
        for k in range(min(count, record_force.shape[1])):
            record_force[sample, k] = rows[k, con.ROW_FORCE]
        copy(effort, record_effort[sample])


@shared
def record(
    parts: Parts,
    t: float,
    dt: float,
    count: int,
    before: int,
    counters: Array,
    samples: Array,
    records: Array,
    workspace: Workspace,
) -> None:
    """Write muscle states and the forces of the step for the samples from `before` on, after their coordinates."""
    arrays, _, _, _, tables = parts
    stage, effort, system, _, _ = workspace
    record_q, _, record_force, record_effort = records
    data, first, written = arrays[at.MODEL_DATA], tables[at.VALUES].shape[1], counters[at.WRITTEN]
    if data[at.MUSCLE_STATES] > 0.0:
        record_states(data, first, before, written, samples, t, dt, stage[FIRST], stage[at.TAU], record_q)
    record_forces(before, written, count, system, effort, record_force, record_effort)


@entry
def advance(
    parts: Parts,
    scheme: Array,
    lag: float,
    start: float,
    dt: float,
    num_steps: int,
    counters: Array,
    samples: Array,
    state: tuple[Array, Array, Array],
    records: tuple[Array, Array, Array, Array],
    workspace: Workspace,
) -> None:
    """As `rollout`, for models with more than a tree: advance state = (q, qd, chart) in place by up to num_steps steps.

    lag: of velocities, as a share of a step: half for symplectic Euler, 0 where its steps alternate with flights.
    records is (q, qd, forces of the constraints' rows, forces on prescribed coordinates).
    """
    arrays, _, contacts, _, tables = parts
    stage, effort, system, _, spaces = workspace
    (work, dof, flags), data, first = spaces, arrays[at.MODEL_DATA], tables[at.VALUES].shape[1]
    q, qd, chart = state
    nv = q.shape[0]
    last_q, last_qd = stage[at.BEGUN_Q, :nv], stage[at.BEGUN_QD, :nv]
    charts, cut = has_charts(arrays), bounces(arrays, contacts)
    record_q, record_qd, _, _ = records
    log = counters, samples, record_q, record_qd
    for _ in range(num_steps):
        t, written = start + counters[at.DONE] * dt, counters[at.WRITTEN]
        copy(q, last_q)
        copy(qd, last_qd)
        hold_feedback(tables, arrays, q, qd, spaces)
        if data[at.MUSCLE_STATES] > 0.0:
            begin_states(data, first, stage[at.TAU], stage[FIRST])
        if scheme[at.SCHEME_NUMBER] == at.RUNGE_KUTTA:
            count = runge_kutta_parts(parts, scheme, t, dt, q, qd, workspace, log)
        else:
            count = euler_parts(parts, scheme, cut, t, dt, q, qd, workspace, log)
        note_contradiction(system, flags)
        if flags[at.STATUS] == at.OK:
            note_efforts(effort, dof)
            check_step(arrays, charts, first, dt, stage[at.TAU], q, qd, spaces)
        if flags[at.STATUS] != at.OK:
            copy(last_q, q)
            copy(last_qd, qd)
            counters[at.WRITTEN] = written
            return
        if counters[at.WRITTEN] > written:
            record(parts, t, dt, count, written, counters, samples, records, workspace)
        if charts:
            shorter = work[arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS, at.SHORTER]
            change_charts(
                arrays, dof, CHART_LIMIT, lag * (dt - shorter), q, qd, stage[at.STAGE_QDD, :nv], chart
            )
        counters[at.DONE] += 1
