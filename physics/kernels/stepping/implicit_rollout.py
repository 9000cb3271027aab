"""Implicit integration of many steps in one call; steps with a bounce are split."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, inline, shared
from ..constraints import layout as con
from ..contact.constrained_step import note_contradiction
from ..muscles.states import begin_states, record_states
from . import implicit_stage as newton
from .bundles import Implicit, Log, More, Spaces, State, Tables
from .feedback import hold_feedback
from .implicit import implicit_step, take_hold
from .implicit_impulses import ACCEPTED, AGAIN, FAILED, settle, take_turn
from .motion import catch
from .parts import MOST_BOUNCES, PARTS, add_share, bounces, keep, part_before, take_means, write
from .rollout import CHART_LIMIT, change_charts, copy, has_charts, table_force
from .step_checks import check_step, energy_leaps, note_efforts
from .stepper import record_forces
from .stopping import until_bounce


@inline
def shorter_helps(flags: Array) -> bool:
    """Whether a step failed in a way that a shorter one may not."""
    status = flags[at.STATUS]
    return bool(status == at.NOT_CONVERGED or status == at.SINGULAR or status == at.NOT_FINITE)


@shared
def tree_parts(
    arrays: Array,
    more: More,
    integrator: int,
    tables: Tables,
    now: tuple[float, float],
    dt: float,
    state: State,
    implicit: Implicit,
    spaces: Spaces,
    log: Log,
) -> None:
    """One step of a model that has only a tree; where Newton's iteration fails, in parts, down to a 32nd of the step.

    now is the time and the number of steps done.
    """
    _, _, _, vectors, notes, _, _ = implicit
    (_, dof, flags), data, (q, qd), (t, steps) = spaces, arrays[at.MODEL_DATA], state, now
    width, nv, given = tables[at.VALUES].shape[1], q.shape[0], vectors[newton.GIVEN_FORCE]
    last_q, last_qd = vectors[newton.LAST_Q, :nv], vectors[newton.LAST_QD, :nv]
    done, size, halved = 0, PARTS, False
    while done < PARTS:
        copy(q, last_q)
        copy(qd, last_qd)
        begin_states(data, width, given, vectors[newton.LAST_Q])
        start, span, gone = t + dt * done / PARTS, dt * size / PARTS, steps + done / PARTS
        at_start, least = (start, gone), size == 1
        way = implicit_step(
            arrays, more, integrator, tables, at_start, size / PARTS, span, least, q, qd, implicit, spaces
        )
        leaps = not least and flags[at.STATUS] == at.OK
        leaps = leaps and energy_leaps(arrays, size / PARTS, dt, given, (last_q, last_qd), state, spaces)
        if flags[at.STATUS] == at.OK and not leaps:
            write(log, start, span, dt, way, (last_q, last_qd), state, dof)
            done += size
            size = min(2 * size, PARTS - done)
        elif least or not (leaps or shorter_helps(flags)):
            return
        else:
            notes[newton.DIVIDED] += 0.0 if halved else 1.0
            size, halved = size // 2, True
            copy(last_q, q)
            copy(last_qd, qd)
            begin_states(data, width, vectors[newton.LAST_Q], given)
            notes[newton.HISTORY] = 0.0
            flags[at.STATUS] = at.OK


@shared
def implicit_parts(
    arrays: Array,
    more: More,
    integrator: int,
    tables: Tables,
    cut: bool,
    now: tuple[float, float],
    dt: float,
    state: State,
    implicit: Implicit,
    spaces: Spaces,
    log: Log,
) -> int:
    """One step with impulses and projection onto the equalities; where something bounces in it and `cut`, in parts,
    with the bounce in a short one; in parts as well where stages, or they and impulses, do not converge. Returns the
    number of rows.

    now is the time and the number of steps done. Forces of rows and on prescribed coordinates are means over the step.
    Samples go to log, see `parts.write`.
    """
    constraints, system, motion, _, memory, effort, _, _ = more
    _, _, _, vectors, notes, _, _ = implicit
    (_, dof, flags), data, (q, qd), (t, steps) = spaces, arrays[at.MODEL_DATA], state, now
    width, nv, given = tables[at.VALUES].shape[1], q.shape[0], vectors[newton.GIVEN_FORCE]
    last_q, last_qd, mean = (
        vectors[newton.LAST_Q, :nv],
        vectors[newton.LAST_QD, :nv],
        vectors[newton.MEAN_EFFORT, :nv],
    )
    done, size, found, cuts, parted, count = 0, PARTS, 0, False, False, 0
    again, halved = False, False
    # where given motions contradict constraints, shorter steps only hide it
    whole = motion[0].shape[0] > 0 and constraints[con.CON_INT].shape[0] > 0
    notes[newton.TURNS] = 0.0
    while done < PARTS and flags[at.STATUS] == at.OK:
        copy(q, last_q)
        copy(qd, last_qd)
        begin_states(data, width, given, vectors[newton.LAST_Q])
        if cut:
            keep(memory, False)
        start, span, gone = t + dt * done / PARTS, dt * size / PARTS, steps + done / PARTS
        if not again:
            catch(motion, start, q, qd)
        take_hold(motion, integrator, start, span, q, qd, notes, dof)
        at_start, until = (start, gone), math.inf
        least = size == 1 or whole
        way = implicit_step(
            arrays, more, integrator, tables, at_start, size / PARTS, span, least, q, qd, implicit, spaces
        )
        turn, own = FAILED, way
        if flags[at.STATUS] == at.OK:
            course = -1.0 if integrator == at.SDIRK2 else 0.5, dt
            count, own = settle(arrays, more, tables, start, span, course, q, qd, implicit, spaces)
            if cut and found < MOST_BOUNCES:
                until = until_bounce(count, span, last_qd, system)
            turn = ACCEPTED
            if until == math.inf and flags[at.STATUS] == at.OK:
                turn = take_turn(arrays[at.BODY_INT], span, own, qd, implicit, dof)
            if turn == ACCEPTED:
                if notes[newton.TURNS] > 0.0:  # without the impulses' forces
                    table_force(tables, start + span, given[:width])
                if not least and energy_leaps(
                    arrays, size / PARTS, dt, given, (last_q, last_qd), state, spaces
                ):
                    turn = FAILED
        elif least or not shorter_helps(flags):
            break
        if until < math.inf and size > 1:
            size, cuts = part_before(until, span, size), True
        elif turn == FAILED and not least:
            notes[newton.DIVIDED] += 0.0 if halved else 1.0
            size, halved = size // 2, True
        elif turn != AGAIN:
            found += 1 if until < math.inf else 0
            write(log, start, span, dt, min(way, own), (last_q, last_qd), state, dof)
            parted |= size < PARTS
            if parted:
                add_share(size / PARTS, done == 0, effort, mean, system)
            done += size
            if cuts and size > 1:
                size = 1
            else:
                size = min(2 * size, PARTS - done) if halved else PARTS - done
            cuts, again = False, False
            notes[newton.TURNS] = 0.0
            continue
        copy(last_q, q)
        copy(last_qd, qd)
        begin_states(data, width, vectors[newton.LAST_Q], given)
        if cut:
            keep(memory, True)
        if turn != AGAIN:
            notes[newton.TURNS], notes[newton.HISTORY] = 0.0, 0.0
        flags[at.STATUS] = at.OK
        again = True
    if parted:
        take_means(effort, mean, system)
    return count


@inline
def record_stages(implicit: Implicit, nv: int, row: Array) -> None:
    """Accelerations of a step's stages and forces of rows in them, newest first, behind the velocities (nv,) in a
    sample's row, as far as it has room.
    """
    _, _, pivots, vectors, _, _, _ = implicit
    n = pivots.shape[0]
    for i in range((row.shape[0] - nv) // n):
        for d in range(n):
            row[nv + i * n + d] = vectors[newton.NEWEST + i, d]


@entry
def implicit_rollout(
    arrays: Array,
    more: More,
    integrator: int,
    tables: Tables,
    start: float,
    dt: float,
    num_steps: int,
    log: Log,
    state: tuple[Array, Array, Array],
    implicit: Implicit,
    spaces: Spaces,
) -> None:
    """As `rollout.rollout`; data kept between steps is in implicit, so that the result does not depend on how a run is
    divided into calls. more is None where a model has only a tree.
    """
    _, _, _, vectors, notes, _, _ = implicit
    counters, samples, record_q, record_rate = log
    (q, qd, chart), (_, dof, flags), data = state, spaces, arrays[at.MODEL_DATA]
    nv, given = q.shape[0], vectors[newton.GIVEN_FORCE]
    begun_q, begun_qd, qdd = (
        vectors[newton.BEGUN_Q, :nv],
        vectors[newton.BEGUN_QD, :nv],
        vectors[newton.ACCELERATIONS, :nv],
    )
    charts, width, cut = has_charts(arrays), tables[at.VALUES].shape[1], False
    if more is not None:
        _, system, _, contacts, _, effort, record_force, record_effort = more
        cut = bounces(arrays, contacts)
    for _ in range(num_steps):
        t, written, count = start + counters[at.DONE] * dt, counters[at.WRITTEN], 0
        copy(q, begun_q)
        copy(qd, begun_qd)
        hold_feedback(tables, arrays, q, qd, spaces)
        begin_states(data, width, given, vectors[newton.BEGUN_Q])
        now = t, float(counters[at.DONE])
        if more is not None:
            count = implicit_parts(
                arrays, more, integrator, tables, cut, now, dt, (q, qd), implicit, spaces, log
            )
            note_efforts(effort, dof)
            note_contradiction(system, flags)
        else:
            tree_parts(arrays, more, integrator, tables, now, dt, (q, qd), implicit, spaces, log)
        if flags[at.STATUS] == at.OK:
            check_step(arrays, charts, width, dt, given, q, qd, spaces)
        if flags[at.STATUS] != at.OK:
            copy(begun_q, q)
            copy(begun_qd, qd)
            counters[at.WRITTEN] = written
            return
        if counters[at.WRITTEN] > written:
            end, begun = counters[at.WRITTEN], vectors[newton.BEGUN_Q]
            record_states(data, width, written, end, samples, t, dt, begun, given, record_q)
            if more is not None:
                record_forces(written, end, count, system, effort, record_force, record_effort)
                record_stages(implicit, nv, record_rate[end - 1])
        if charts and change_charts(arrays, dof, CHART_LIMIT, 0.0, q, qd, qdd, chart) > 0:
            notes[newton.KNOWN], notes[newton.HISTORY] = 0.0, 0.0
        counters[at.DONE] += 1
