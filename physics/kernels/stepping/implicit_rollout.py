"""Implicit integration of a whole stretch of time in one call, with steps in parts where something bounces."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.spatial import Array
from ..compiler.jit import entry, shared
from ..contact.constrained_step import note_contradiction
from ..muscles.states import begin_states, record_states
from .implicit import implicit_step, settle, take_hold
from .implicit_stage import (
    ACCELERATIONS,
    BEGUN_Q,
    BEGUN_QD,
    GIVEN_FORCE,
    HISTORY,
    KNOWN,
    LAST_Q,
    LAST_QD,
    MEAN_EFFORT,
)
from .motion import catch
from .parts import MOST_BOUNCES, PARTS, add_share, bounces, keep, part_before, take_means, write
from .rollout import CHART_LIMIT, change_charts, copy, has_charts
from .stepper import record_forces
from .stopping import until_bounce
from .watch import check_step, note_efforts


@shared
def implicit_parts(
    arrays: Array,
    more: Array,
    integrator: int,
    table: Array,
    cut: bool,
    t: float,
    steps: float,
    dt: float,
    q: Array,
    qd: Array,
    implicit: Array,
    spaces: Array,
    log: Array,
) -> int:
    """One step with impulses, back onto the equalities; where something bounces in it and it may be cut, in parts of
    which a short one holds the bounce. Returns how many rows there are.

    steps is how many are done before, table is (times, values) of the given forces, for more see `implicit_rollout`.
    Forces of rows and held coordinates are means over the step. Samples go to log as they are
    passed, see `parts.write`.
    """
    _, system, motion, _, memory, effort, _, _ = more
    vectors, notes, width, nv = implicit[3], implicit[4], table[1].shape[1], q.shape[0]
    last_q, last_qd, mean = vectors[LAST_Q, :nv], vectors[LAST_QD, :nv], vectors[MEAN_EFFORT, :nv]
    done, size, found, cuts, parted, count = 0, PARTS, 0, False, False, 0
    again = False
    while done < PARTS and spaces[2][at.STATUS] == at.OK:
        copy(q, last_q)
        copy(qd, last_qd)
        begin_states(arrays[3], width, vectors[GIVEN_FORCE], vectors[LAST_Q])
        if cut:
            keep(memory, False)
        start, span, gone = t + dt * done / PARTS, dt * size / PARTS, steps + done / PARTS
        if not again:
            catch(motion, start, q, qd)
        take_hold(motion, integrator, start, span, q, qd, notes, spaces[1])
        way = implicit_step(
            arrays, more, integrator, table, start, gone, size / PARTS, span, q, qd, implicit, spaces
        )
        if spaces[2][at.STATUS] != at.OK:
            break
        course = -1.0 if integrator == at.SDIRK2 else 0.5, dt
        count, own = settle(arrays, more, table, start, span, course, q, qd, implicit, spaces)
        if cut and found < MOST_BOUNCES:
            until = until_bounce(count, span, last_qd, system)
            if until < math.inf and size > 1:
                copy(last_q, q)
                copy(last_qd, qd)
                begin_states(arrays[3], width, vectors[LAST_Q], vectors[GIVEN_FORCE])
                keep(memory, True)
                notes[HISTORY] = 0.0
                spaces[2][at.STATUS] = at.OK
                size, cuts, again = part_before(until, span, size), True, True
                continue
            found += 1 if until < math.inf else 0
        write(log, start, span, dt, min(way, own), last_q, last_qd, q, qd, spaces[1])
        parted |= size < PARTS
        if parted:
            add_share(size / PARTS, done == 0, effort, mean, system)
        done += size
        size = 1 if cuts and size > 1 else PARTS - done
        cuts, again = False, False
    if parted:
        take_means(effort, mean, system)
    return count


@entry
def implicit_rollout(
    arrays: Array,
    integrator: int,
    times: Array,
    values: Array,
    start: float,
    dt: float,
    num_steps: int,
    counters: Array,
    samples: Array,
    q: Array,
    qd: Array,
    chart: Array,
    record_q: Array,
    record_qd: Array,
    implicit: Array,
    more: Array,
    spaces: Array,
) -> None:
    """As `rollout.rollout`; implicit is (slopes, system, pivots, vectors, notes, tangents), see `newton`: what is kept
    from step to step is in it, so that the result does not depend on how a run is cut into calls.

    more is None, or of a model with more than a tree (constraints, system, motion, contacts, memory, effort, records of
    the rows' forces, and of the held coordinates'), see `stepper.advance`.
    """
    vectors, notes, dof, flags, nv = implicit[3], implicit[4], spaces[1], spaces[2], q.shape[0]
    begun_q, begun_qd, qdd = vectors[BEGUN_Q, :nv], vectors[BEGUN_QD, :nv], vectors[ACCELERATIONS, :nv]
    charts, width, table = has_charts(arrays), values.shape[1], (times, values)
    cut = bounces(arrays[3], more[3][0]) if more is not None else False
    log = counters, samples, record_q, record_qd
    for _ in range(num_steps):
        t, written, count = start + counters[0] * dt, counters[1], 0
        copy(q, begun_q)
        copy(qd, begun_qd)
        begin_states(arrays[3], width, vectors[GIVEN_FORCE], vectors[BEGUN_Q])
        if more is not None:
            count = implicit_parts(
                arrays, more, integrator, table, cut, t, counters[0], dt, q, qd, implicit, spaces, log
            )
            note_efforts(more[5], dof)
            note_contradiction(more[1], flags)
        else:
            copy(q, vectors[LAST_Q, :nv])
            copy(qd, vectors[LAST_QD, :nv])
            begin_states(arrays[3], width, vectors[GIVEN_FORCE], vectors[LAST_Q])
            way = implicit_step(
                arrays, more, integrator, table, t, counters[0], 1.0, dt, q, qd, implicit, spaces
            )
            write(log, t, dt, dt, way, begun_q, begun_qd, q, qd, dof)
        if flags[at.STATUS] == at.OK:
            check_step(arrays, charts, width, dt, vectors[GIVEN_FORCE], q, qd, spaces)
        if flags[at.STATUS] != at.OK:
            copy(begun_q, q)
            copy(begun_qd, qd)
            counters[1] = written
            return
        if counters[1] > written:
            begun, found = vectors[BEGUN_Q], vectors[GIVEN_FORCE]
            record_states(arrays[3], width, written, counters[1], samples, t, dt, begun, found, record_q)
            if more is not None:
                record_forces(written, counters, count, more[1], more[5], more[6], more[7])
        if charts and change_charts(arrays, dof, CHART_LIMIT, 0.0, q, qd, qdd, chart) > 0:
            notes[KNOWN], notes[HISTORY] = 0.0, 0.0
        counters[0] += 1
