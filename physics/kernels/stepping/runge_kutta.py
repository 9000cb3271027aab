"""Explicit Runge-Kutta methods for models with constraints, hard limits, contacts or prescribed motions."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from ..contact.constrained_step import project, project_velocities
from ..muscles.states import (
    BEGUN,
    begin_states,
    finish_states,
    has_stiffened,
    prepare_states,
    sum_states,
    watch_states,
)
from .bundles import Log, Parts, Workspace
from .evaluate import evaluate_here
from .motion import catch, finish_held, follow, hold
from .parts import PARTS, add_share, keep, met, take_means, write
from .resting import come_to_rest, hold_resting, let_move, release_pulled
from .rollout import CUBIC, JUMP, PARABOLA, copy, prepare_stage, stage_of
from .stopping import stop_within, unilateral


@shared
def runge_kutta_stages(
    parts: Parts, scheme: Array, t: float, dt: float, q: Array, qd: Array, workspace: Workspace
) -> tuple[int, int]:
    """All stages, and q and qd at the step's end; returns number and rank of the equalities of the last stage.

    Coordinates at rest on limits are prescribed.
    """
    arrays, constraints, _, motion, tables = parts
    stage, effort, system, memory, spaces = workspace
    data, dof = arrays[at.MODEL_DATA], spaces[at.DOF]
    nv = q.shape[0]
    stage_q, stage_qd = stage[at.STAGE_Q, :nv], stage[at.STAGE_QD, :nv]
    tau, qdd, sum_qd, sum_qdd = (
        stage[at.TAU],
        stage[at.STAGE_QDD, :nv],
        stage[at.SUM_QD, :nv],
        stage[at.SUM_QDD, :nv],
    )
    loads, first, found = (tau, qdd, effort), tables[at.VALUES].shape[1], (0, 0)
    states, k = data[at.MUSCLE_STATES] > 0.0, 0
    if states:
        watch_states(data, first, dt, stage)
    while k < int(scheme[at.SCHEME_STAGES]):
        time, weight = stage_of(scheme, k)
        offset = time * dt
        prepare_stage(at.RUNGE_KUTTA, k, offset, dt, q, qd, stage)
        # as prescribed at the step's beginning: the end of a motion does not affect this step
        follow(motion, t, dt, t + offset, stage_q, stage_qd, dof)
        if states:
            prepare_states(data, first, k, offset, stage)
        if k == 0:
            hold_resting(data, memory, dof)
        found = evaluate_here(
            arrays, constraints, tables, t + offset, stage_q, stage_qd, loads, system, spaces
        )
        while k == 0 and release_pulled(data, q, effort, memory, dof):
            found = evaluate_here(arrays, constraints, tables, t, stage_q, stage_qd, loads, system, spaces)
        if states and has_stiffened(data, first, k, stage):
            k = 0
            continue
        if states:
            sum_states(data, first, k, weight, stage)
        for d in range(nv):
            sum_qd[d] = weight * stage_qd[d] + (sum_qd[d] if k > 0 else 0.0)
            sum_qdd[d] = weight * qdd[d] + (sum_qdd[d] if k > 0 else 0.0)
        k += 1
    share = dt / scheme[at.SCHEME_WHOLE]
    for d in range(nv):
        q[d] += share * sum_qd[d]
        qd[d] += share * sum_qdd[d]
    finish_held(motion, t, dt, q, qd)
    if states:
        finish_states(data, first, scheme, dt, stage)
    return found


@shared
def runge_kutta_step(
    parts: Parts, scheme: Array, t: float, dt: float, whole: float, q: Array, qd: Array, workspace: Workspace
) -> tuple[int, int]:
    """One step of a Runge-Kutta method on accelerations with equalities, projected onto them at its end.

    Where the velocities at its end would pass a limit or a contact, the step is that of `stop_within`. It may be a part
    of one that takes `whole`. Returns the number of rows, and the interpolation of samples in it.
    """
    arrays, constraints, _, motion, tables = parts
    stage, effort, system, memory, spaces = workspace
    data, dof, nv = arrays[at.MODEL_DATA], spaces[at.DOF], q.shape[0]
    loads, trial = (stage[at.TAU], stage[at.STAGE_QDD, :nv], effort), stage[at.SUM_QD, :nv]
    found = runge_kutta_stages(parts, scheme, t, dt, q, qd, workspace)
    if memory.shape[0] > 0 or unilateral(constraints):
        last_q, last_qd = stage[at.LAST_Q, :nv], stage[at.LAST_QD, :nv]
        hold(motion, t, 0.0, last_q, last_qd, dof)
        let_move(data, memory, effort, dof)
        found = evaluate_here(arrays, constraints, tables, t, last_q, last_qd, loads, system, spaces)
        copy(qd, trial)
        count, struck = stop_within(
            parts, found, t, dt, (-1.0, whole), (last_q, last_qd), trial, q, qd, workspace
        )
        if count > 0:
            come_to_rest(data, dt, q, qd, memory)
            return count, JUMP if struck else PARABOLA
        follow(motion, t, dt, t + dt, q, qd, dof)
        hold_resting(data, memory, dof)
        found = evaluate_here(arrays, constraints, tables, t + dt, q, qd, loads, system, spaces)
    count = constraints[con.CON_INT].shape[0]
    if found[con.COUNT] > 0:
        count = project(arrays, constraints, found, 0.0, q, qd, system, spaces)
        project_velocities(arrays, constraints, found, q, qd, system, spaces)
    let_move(data, memory, effort, dof)
    return count, CUBIC


@shared
def runge_kutta_parts(
    parts: Parts, scheme: Array, t: float, dt: float, q: Array, qd: Array, workspace: Workspace, log: Log
) -> int:
    """One step, split where a limit or a contact is met in it, so that the impact is near its instant.

    Forces of rows and on prescribed coordinates are then means over the step. Samples go to log, see `write`; returns
    the number of rows.
    """
    arrays, _, _, motion, tables = parts
    stage, effort, system, memory, spaces = workspace
    nv = q.shape[0]
    last_q, last_qd, mean = stage[at.LAST_Q, :nv], stage[at.LAST_QD, :nv], stage[at.MEAN_EFFORT, :nv]
    done, size, count, found, again = 0, PARTS, 0, False, False
    while done < PARTS and spaces[at.FLAGS][at.STATUS] == at.OK:
        copy(q, last_q)
        copy(qd, last_qd)
        keep(memory, False)
        start, span = t + dt * done / PARTS, dt * size / PARTS
        if not again:
            catch(motion, start, q, qd)
        count, way = runge_kutta_step(parts, scheme, start, span, dt, q, qd, workspace)
        if not found and size > 1 and met(memory):
            copy(last_q, q)
            copy(last_qd, qd)
            begin_states(arrays[at.MODEL_DATA], tables[at.VALUES].shape[1], stage[BEGUN], stage[at.TAU])
            keep(memory, True)
            spaces[at.FLAGS][at.STATUS] = at.OK
            size, again = size // 2, True
            continue
        found |= size == 1
        write(log, start, span, dt, way, (last_q, last_qd), (q, qd), spaces[at.DOF])
        if size < PARTS:
            add_share(size / PARTS, done == 0, effort, mean, system)
        done, again = done + size, False
        while done % (2 * size) == 0 and done + 2 * size <= PARTS:
            size *= 2
    if size < PARTS or found:
        take_means(effort, mean, system)
    return count
