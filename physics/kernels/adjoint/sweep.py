"""The gradient of a loss along a recorded motion of backward Euler or SDIRK2, from its end to its beginning."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, shared
from ..dynamics.rnea import inverse_dynamics
from ..muscles.states import advance_states, has_states
from ..stepping.feedback import hold_feedback
from ..stepping.implicit import GAMMA
from ..stepping.motion import follow
from ..stepping.rollout import CHART_LIMIT, change_charts, copy
from . import layout as adjoint
from .charts import pull_charts
from .contacts import end_turns, pull_contacts, repeat_turns
from .feedback import pull_feedback
from .layout import HIDING
from .projection import (
    begin_projection,
    find_pushes,
    forget_prescribed,
    recall_stages,
    take_turning,
)
from .rows import BY_PLACE, BY_SPEED, FOUND, GIVEN, JACOBIAN, force_on, prepare_stage
from .stage import Run, give_forces, take_stage


@shared
def first_stage(h: float, q: Array, qd: Array, vectors: Array) -> None:
    """The first stage of an SDIRK2 step, and the accelerations of both, from its two ends.

    The end is x1 = x0 + h ((1 - gamma) f1 + gamma f2), and f2 the slope at the end itself.
    """
    begun_q, begun_qd = vectors[adjoint.BEGUN_Q], vectors[adjoint.BEGUN_QD]
    for d in range(q.shape[0]):
        speed = ((q[d] - begun_q[d]) / h - GAMMA * qd[d]) / (1.0 - GAMMA)
        push = (speed - begun_qd[d]) / (GAMMA * h)
        vectors[adjoint.FIRST_QD, d], vectors[adjoint.FIRST_QDD, d] = speed, push
        vectors[adjoint.FIRST_Q, d] = begun_q[d] + GAMMA * h * speed
        vectors[adjoint.LAST_QDD, d] = ((qd[d] - begun_qd[d]) / h - (1.0 - GAMMA) * push) / GAMMA


@shared
def begin_second(run: Run, t: float, h: float, first: tuple[Array, Array, Array]) -> None:
    """The known part of muscle states in the second stage of an SDIRK2 step, by their rates at the end of the first."""
    arrays, tables, _, _, _, (_, _, _, vectors, _, _), (work, dof, flags) = run
    (q, qd, qdd), found = first, vectors[adjoint.FOUND_FORCE]
    give_forces(arrays, tables, t + GAMMA * h, GAMMA * h, vectors)
    copy(vectors[adjoint.GIVEN_FORCE], found)
    inverse_dynamics(arrays, q, qd, qdd, found, work, dof, flags)
    start, width = vectors[adjoint.BEGUN_STATES], tables[at.VALUES].shape[1]
    advance_states(
        arrays[at.MODEL_DATA], found, start, width, (1.0 - GAMMA) * h, vectors[adjoint.BASE_STATES]
    )


@shared
def pull_two_stages(
    run: Run, rows: Array, nodes: Array, t: float, h: float, q: Array, qd: Array, by_tau: Array, notes: Array
) -> bool:
    """An SDIRK2 step from time t on. The known part of its second stage has (1 - gamma) h times the slopes of the
    first, q' and q'', and for states x that begin with x0 and end it with x1, x0 + (1 - gamma) / gamma (x1 - x0).
    """
    lent = run[5]
    vectors, nv = lent[3], q.shape[0]
    first = vectors[adjoint.FIRST_Q, :nv], vectors[adjoint.FIRST_QD, :nv], vectors[adjoint.FIRST_QDD, :nv]
    by_states, known = vectors[adjoint.BY_STATES], vectors[adjoint.KNOWN_STATES]
    states = has_states(run[0])
    by_q, by_qd, by_qdd = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.BY_QDD]
    if rows is None:
        first_stage(h, q, qd, vectors)
    last = q, qd, vectors[adjoint.LAST_QDD, :nv]
    if rows is not None:
        prepare_stage(run[0], rows, GAMMA * h, 1, (q, qd), True, run[6])
    if states:
        begin_second(run, t, h, first)
    if not take_stage(run, rows, nodes, True, t + h, GAMMA * h, last, by_tau[1], notes[1]):
        return False
    for d in range(nv):
        vectors[adjoint.KNOWN_Q, d], vectors[adjoint.KNOWN_QD, d] = by_q[d], by_qd[d]
        by_qdd[d] = (1.0 - GAMMA) * h * by_qd[d]
        by_qd[d] = (1.0 - GAMMA) * h * by_q[d]
        by_q[d] = 0.0
    if states:
        copy(vectors[adjoint.BEGUN_STATES], vectors[adjoint.BASE_STATES])
        for j in range(by_states.shape[0]):
            known[j] = (2.0 - 1.0 / GAMMA) * by_states[j]
            by_states[j] *= 1.0 / GAMMA - 1.0
    if rows is not None:
        prepare_stage(run[0], rows, GAMMA * h, 0, (first[0], first[1]), False, run[6])
    if not take_stage(run, rows, nodes, True, t + GAMMA * h, GAMMA * h, first, by_tau[0], notes[0]):
        return False
    for d in range(nv):
        by_q[d] += vectors[adjoint.KNOWN_Q, d]
        by_qd[d] += vectors[adjoint.KNOWN_QD, d]
        by_qdd[d] = 0.0
    if states:
        for j in range(by_states.shape[0]):
            by_states[j] += known[j]
    return True


@shared
def pull_stop(run: Run, t: float, h: float, stop: Array, by_tau: Array, notes: Array) -> bool:
    """The impulses of hard limits at the end of a step, which leave BY_Q, BY_QD by its end without them, and
    STOPPED_Q by the coordinates before it.

    With the limits' set a, velocities v that the step would have reached, and q0 before it, the end is
    v1 = v + w, q1 = q0 + h v1, M(q0) w = E_a l and v1_a = (bound - q0_a) / h. For m = v1' + h q1', the derivatives by
    v1, a solution of M y = m - E_a z with y_a = 0 gives those by v, m - E_a z, by q0_a, -z / h, and by all on which M
    depends, -y^T d(M w): a stage of length 0 (see `HIDING`).
    """
    (_, _, mass), _, _, vectors, _, _ = run[5]
    dof, nv = run[6][at.DOF], stop.shape[1]
    by_q, by_qd, by_qdd = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.BY_QDD]
    whole, z, y = vectors[adjoint.KNOWN_QD], vectors[adjoint.KNOWN_Q], vectors[adjoint.ANSWER]
    push, still = vectors[adjoint.LAST_QDD, :nv], vectors[adjoint.FIRST_QD, :nv]
    for d in range(nv):
        whole[d], z[d] = by_qd[d] + h * by_q[d], 0.0
        push[d], still[d] = HIDING * (vectors[adjoint.END_QD, d] - stop[adjoint.TRIAL_QD, d]), 0.0
        by_qd[d], by_qdd[d] = 0.0, whole[d] / HIDING
        dof[d, at.HELD] += stop[adjoint.STOPPED, d]
    begun = vectors[adjoint.BEGUN_Q, :nv]
    found = take_stage(run, None, None, True, t, 0.0, (begun, still, push), by_tau, notes)
    for d in range(nv):
        if stop[adjoint.STOPPED, d] != 0.0:
            z[d] = whole[d]
            for e in range(nv):
                z[d] -= mass[d, e] * HIDING * y[e]
        dof[d, at.HELD] -= stop[adjoint.STOPPED, d]
        vectors[adjoint.STOPPED_Q, d] = by_q[d] - z[d] / h
        by_q[d], by_qd[d], by_qdd[d] = 0.0, whole[d] - z[d], 0.0
        vectors[adjoint.END_Q, d] = stop[adjoint.TRIAL_Q, d]
        vectors[adjoint.END_QD, d] = stop[adjoint.TRIAL_QD, d]
    return found


@shared
def pull_projection(
    run: Run, rows: Array, t: float, q1: Array, v1: Array, by_tau: Array, notes: Array
) -> bool:
    """The end (q1, v1) of a step whose stages end at END_Q, END_QD (see `projection`); notes (3, NOTES, nv): of the
    two stages of length 0, and of the end.
    """
    arrays, _, _, extra, _, (slopes, leading, _, vectors, _, _), spaces = run
    (_, _, _, jacobian, ahead, swung, _, _, _, own), dof, nv = rows, spaces[at.DOF], q1.shape[0]
    by_q, by_qd, by_qdd = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.BY_QDD]
    q, v = vectors[adjoint.END_Q, :nv], vectors[adjoint.END_QD, :nv]
    n, m = vectors[adjoint.KNOWN_Q], vectors[adjoint.KNOWN_QD]
    still, far, fast = (
        vectors[adjoint.FIRST_QD, :nv],
        vectors[adjoint.FIRST_Q, :nv],
        vectors[adjoint.LAST_QDD, :nv],
    )
    begin_projection(arrays, rows, (q, v), (q1, v1), spaces)
    for d in range(nv):
        n[d], m[d], far[d], fast[d] = by_q[d], by_qd[d], HIDING * (q1[d] - q[d]), HIDING * (v1[d] - v[d])
        by_q[d], by_qd[d], by_qdd[d], still[d] = 0.0, 0.0, m[d] / HIDING, 0.0
    found = take_stage(run, rows, None, True, t, 0.0, (q, still, fast), by_tau, notes[0])
    copy(own[FOUND], own[BY_SPEED])
    copy(vectors[adjoint.ANSWER, :nv], own[BY_SPEED])
    for d in range(nv):
        n[d] -= HIDING * force_on(d, swung, own[FOUND, nv:])
        m[d] -= HIDING * force_on(d, ahead, own[FOUND, nv:])
        by_qdd[d] = n[d] / HIDING
    found = found and take_stage(run, rows, None, False, t, 0.0, (q, still, far), by_tau, notes[1])
    copy(own[FOUND], own[BY_PLACE])
    copy(vectors[adjoint.ANSWER, :nv], own[BY_PLACE])
    for d in range(nv):
        n[d] -= HIDING * force_on(d, ahead, own[FOUND, nv:])
        by_qdd[d] = 0.0
    find_pushes(rows, leading, slopes[2], (far, fast), dof)
    take_turning(arrays, rows, (q, v), by_q, spaces)
    if extra.shape[0] > 0:
        for d in range(nv):
            notes[2, 0, d], notes[2, 1, d], notes[2, 2, d], notes[2, 3, d] = q1[d], v1[d], 0.0, 0.0
        for k in range(extra.shape[0]):
            d = extra[k]
            notes[0, 3, d] += force_on(d, jacobian, own[BY_SPEED, nv:])
            notes[1, 3, d] += force_on(d, jacobian, own[BY_PLACE, nv:])
            notes[1, 0, d] += by_q[d]
            notes[2, 0, d], notes[2, 1, d] = n[d], m[d]
            by_q[d] = n[d] = m[d] = 0.0
    for d in range(nv):
        by_q[d] += n[d]
        by_qd[d] += m[d]
    return found


@shared
def pull_end(
    run: Run,
    rows: Array,
    stages: Array,
    t: float,
    h: float,
    end: tuple[Array, Array],
    by_tau: Array,
    notes: Array,
) -> bool:
    """The end (q1, v1) of a step of a model with constraints or motions; see `recall_stages`."""
    vectors, dof, found = run[5][3], run[6][at.DOF], True
    recall_stages(rows, stages, t, h, vectors, dof)
    if rows[JACOBIAN].shape[0] > 0:
        found = pull_projection(run, rows, t, end[0], end[1], by_tau, notes)
        recall_stages(rows, stages, t, h, vectors, dof)
    return found


@shared
def pull_stages(
    run: Run,
    rows: Array,
    nodes: Array,
    integrator: int,
    t: float,
    h: float,
    nv: int,
    by_tau: Array,
    notes: Array,
) -> bool:
    """The stages of a step from time t on, which end at END_Q, END_QD (nv,)."""
    vectors = run[5][3]
    q, qd, push = vectors[adjoint.END_Q, :nv], vectors[adjoint.END_QD, :nv], vectors[adjoint.LAST_QDD, :nv]
    if integrator == at.SDIRK2:
        return pull_two_stages(run, rows, nodes, t, h, q, qd, by_tau, notes)
    if rows is not None:
        prepare_stage(run[0], rows, h, 0, (q, qd), True, run[6])
    else:
        for d in range(nv):
            push[d] = (qd[d] - vectors[adjoint.BEGUN_QD, d]) / h
    return take_stage(run, rows, nodes, True, t + h, h, (q, qd, push), by_tau[0], notes[0])


@entry
def sweep_back(
    run: Run,
    rows: Array,
    nodes: Array,
    touching: Array,
    integrator: int,
    now: tuple[float, float, int],
    motion: tuple[Array, Array, Array, Array],
    stops: tuple[Array, Array],
    slopes: tuple[Array, Array, Array],
    found: tuple[Array, Array, Array],
    chart: Array,
) -> None:
    """Add the gradients of a loss along n steps; now is the time at which the run begins, the length of a step, and the
    number of the first step.

    motion: q and q' (n + 1, nv) at the steps' ends, before changes of charts, states of muscles (n + 1, states), and
    where there are rows what `recall_stages` takes for the step before each (n + 1, stages, nv + r).
    rows: None, or `rows.Rows` where the model has constraints or coordinates are prescribed. nodes: None, or
    `nodes.NodesBack` where it has soft bodies, whose free nodes follow in all (nv,) but those by forces and inputs.
    touching: None, or `contacts.Touching` where it has contacts.
    stops: the number of a step's row in the second, (m, STOP_ROWS, nv), or -1 (n,); empty where nothing stops. slopes:
    derivatives of the loss by q, q' and states of muscles. BY_Q, BY_QD and BY_STATES in the workspace `lent` have those
    by the state after the last step, of all that follows, and get those by the state at the beginning. Of found, by_tau
    (n, stages, nv + inputs) gets those by forces and inputs at each stage; notes (n, stages, NOTES, nv) and stop_notes
    (m, NOTES, nv), or (..., 0, 0) without coordinates behind joints, get those of `stage.note_stage`; and sums those by
    the model (see `layout`). chart (nb,) is a workspace.
    Where a step fails, flags tell why.
    """
    arrays, tables, _, _, _, lent, spaces = run
    (start, h, first), (q, qd, states, stages), dof, vectors = now, motion, spaces[at.DOF], lent[3]
    (by_tau, notes, stop_notes), (numbers, stopped) = found, stops
    nv, width = q.shape[1], by_tau.shape[2]
    by_q, by_qd = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD]
    begun_q, begun_qd = vectors[adjoint.BEGUN_Q, :nv], vectors[adjoint.BEGUN_QD, :nv]
    push, end_q, end_qd = (
        vectors[adjoint.LAST_QDD, :nv],
        vectors[adjoint.END_Q, :nv],
        vectors[adjoint.END_QD, :nv],
    )
    for k in range(q.shape[0] - 2, -1, -1):
        t = start + (first + k) * h
        if rows is not None:
            follow(rows[GIVEN][2], t, h, t + h, end_q, end_qd, dof)
        pull_charts(arrays, dof, CHART_LIMIT, q[k + 1], qd[k + 1], by_q, by_qd)
        for d in range(nv):
            by_q[d] += slopes[0][k + 1, d]
            by_qd[d] += slopes[1][k + 1, d]
        for j in range(states.shape[1]):
            vectors[adjoint.BY_STATES, width + j] += slopes[2][k + 1, j]
        copy(q[k], begun_q)
        copy(qd[k], begun_qd)
        for j in range(states.shape[1]):
            vectors[adjoint.BEGUN_STATES, width + j] = states[k, j]
            vectors[adjoint.BASE_STATES, width + j] = states[k, j]
        if first + k > 0:  # a run keeps the chart in which it begins
            change_charts(arrays, dof, CHART_LIMIT, 0.0, begun_q, begun_qd, push, chart)
        hold_feedback(tables, arrays, begun_q, begun_qd, spaces)
        copy(q[k + 1], end_q)
        copy(qd[k + 1], end_qd)
        stop = numbers[k] if numbers.shape[0] > 0 else -1
        if touching is not None:
            last = repeat_turns(run, touching, integrator, (t, float(first + k)), h)
            if spaces[at.FLAGS][at.STATUS] != at.OK:
                return
            for turn in range(last, -1, -1):
                way = turn, last
                if not pull_contacts(run, touching, integrator, t, h, qd[k + 1], way, by_tau[k]):
                    return
                if turn > 0 and not pull_stages(run, rows, nodes, integrator, t, h, nv, by_tau[k], notes[k]):
                    return
            stop = last
        elif rows is None:
            if stop >= 0 and not pull_stop(run, t, h, stopped[stop], by_tau[k, 0], stop_notes[stop]):
                return
        else:
            end, end_notes = (q[k + 1], qd[k + 1]), notes[k, by_tau.shape[1] :]
            if not pull_end(run, rows, stages[k + 1], t, h, end, by_tau[k, 0], end_notes):
                return
        if not pull_stages(run, rows, nodes, integrator, t, h, nv, by_tau[k], notes[k]):
            return
        if stop >= 0:
            for d in range(nv):
                by_q[d] += vectors[adjoint.STOPPED_Q, d]
        times = t + GAMMA * h, t + h
        pull_feedback(tables, arrays, times, by_tau[k], (begun_q, begun_qd), lent, run[4][0], spaces)
        if touching is not None:
            end_turns(stop, touching, by_q, by_qd)
        if rows is not None:
            forget_prescribed(rows, by_q, by_qd)
    for d in range(nv):
        by_q[d] += slopes[0][0, d]
        by_qd[d] += slopes[1][0, d]
    if rows is not None:
        if first == 0 and rows[JACOBIAN].shape[0] > 0:  # a simulation begins on the constraints
            copy(q[0], end_q)
            copy(qd[0], end_qd)
            end_notes = notes[by_tau.shape[0], by_tau.shape[1] :]
            pull_projection(run, rows, start, q[0], qd[0], by_tau[0, 0], end_notes)
        forget_prescribed(rows, by_q, by_qd)
