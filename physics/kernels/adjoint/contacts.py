"""Steps that end with impulses of contacts and hard limits, backwards (see `contact_rows` for their equations).

Where a step's stages and impulses are solved in turns (see `stepping.implicit_impulses`), turn j has stages with the
forces M E / h of the effect E = v1 - v of the impulses before, and begins its own with the velocities that these stages
end with, less E. So each turn goes backwards as a step, the last one first; only its end is that of the step.
"""

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..contact.constrained_step import constrain_velocities
from ..dynamics.coupled import owner_of
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..muscles.states import begin_states, set_implicit
from ..stepping import implicit_stage as newton
from ..stepping.evaluate import evaluate_here
from ..stepping.implicit import newton_step
from ..stepping.implicit_impulses import ACCEPTED, FAILED, MOST_TURNS, forget_singular, settle, take_turn
from ..stepping.rollout import copy
from . import layout as adjoint
from .contact_rows import (
    ANSWER,
    BY_FREE,
    BY_PUSH,
    BY_PUSHES,
    EDGE,
    EFFECT,
    FOUND_AGAIN,
    OF_IMPULSE,
    ROUGH,
    SUM_Q,
    SUM_QD,
    TRIAL_Q,
    TRIAL_QD,
    Touching,
    fill_matrix,
    find_states,
    note_edges,
    solve_refined,
    weigh_rows,
)
from .contact_slopes import contact_slopes
from .layout import HIDING
from .parameters import take_bodies
from .stage import Lent, Run, give_forces, take_differences

TURNS = MOST_TURNS + 2


@shared
def repeat_turns(run: Run, touching: Touching, integrator: int, now: tuple[float, float], h: float) -> int:
    """Repeat the step from BEGUN_Q, BEGUN_QD as `stepping.implicit_rollout.implicit_parts` does, where it was not
    divided: returns the number of its last turn, with the trials and effects of all; -1 where the step ends without
    impulses, or with a flag where it fails. now is the time and the number of steps done.
    """
    arrays, tables, _, _, _, lent, (_, dof, flags) = run
    more, implicit, turns = touching[0], touching[1], touching[8]
    _, _, _, stages, notes, _, _ = implicit
    data, width, nv, vectors = arrays[at.MODEL_DATA], tables[at.VALUES].shape[1], dof.shape[0], lent[3]
    q, qd = vectors[adjoint.FIRST_Q, :nv], vectors[adjoint.FIRST_QD, :nv]
    course = -1.0 if integrator == at.SDIRK2 else 0.5, h
    flags[at.STATUS], notes[newton.TURNS], turn = at.OK, 0.0, 0
    while turn < TURNS:
        copy(vectors[adjoint.BEGUN_Q, :nv], q)
        copy(vectors[adjoint.BEGUN_QD, :nv], qd)
        copy(q, stages[newton.LAST_Q, :nv])
        copy(qd, stages[newton.LAST_QD, :nv])
        begin_states(data, width, vectors[adjoint.BEGUN_STATES], stages[newton.GIVEN_FORCE])
        begin_states(data, width, vectors[adjoint.BEGUN_STATES], stages[newton.LAST_Q])
        newton_step(arrays, more, integrator, tables, now, 1.0, h, q, qd, implicit, run[6])
        if flags[at.STATUS] != at.OK:
            break
        copy(q, turns[turn, TRIAL_Q])
        copy(qd, turns[turn, TRIAL_QD])
        count, way = settle(arrays, more, tables, now[0], h, course, q, qd, implicit, run[6])
        copy(stages[newton.EFFECT, :nv], turns[turn, EFFECT])
        if flags[at.STATUS] != at.OK:
            break
        done = take_turn(arrays[at.BODY_INT], h, way, qd, implicit, dof)
        if done == ACCEPTED:
            notes[newton.TURNS] = 0.0
            return turn if count > 0 else -1
        if done == FAILED:
            flags[at.STATUS] = at.NOT_CONVERGED
            break
        turn += 1
    notes[newton.TURNS] = 0.0
    return -1


@shared
def find_impulses(
    run: Run, touching: Touching, integrator: int, t: float, h: float, free: Array, v1: Array
) -> int:
    """The rows of a step from BEGUN_Q, BEGUN_QD and their impulses, which lead from velocities to v1; returns their
    number.
    """
    arrays, tables, _, _, _, lent, spaces = run
    constraints, system, _, contacts, memory, effort, _, _ = touching[0]
    stages, nv, vectors, width = touching[1][3], free.shape[0], lent[3], tables[at.VALUES].shape[1]
    q0, qd0 = vectors[adjoint.BEGUN_Q, :nv], vectors[adjoint.BEGUN_QD, :nv]
    tau, qdd = stages[newton.FOUND_FORCE], stages[newton.CORRECTION, :nv]
    begin_states(arrays[at.MODEL_DATA], width, vectors[adjoint.BEGUN_STATES], tau)
    set_implicit(arrays[at.MODEL_DATA], tau, width, 0.0)
    evaluate_here(arrays, constraints, tables, t, q0, qd0, (tau, qdd, effort), system, spaces)
    forget_singular(constraints, spaces[at.FLAGS])
    copy(free, v1)
    course = -1.0 if integrator == at.SDIRK2 else 0.5, h
    count, _ = constrain_velocities(
        arrays, constraints, contacts, h, course, q0, v1, qd0, system, memory, spaces
    )
    return int(count)


@shared
def take_slopes(
    run: Run, touching: Touching, count: int, capped: bool, q: Array, v1: Array, by_q: Array
) -> None:
    """Add d(y^T J^T p - z^T J v1)/dq, with z^T J v more of speeds that depend on v; notes a contact without it."""
    arrays, _, _, _, _, lent, spaces = run
    (_, system, _, contacts, _, _, _, _), _, _, _, _, vectors, shape, notes, _ = touching
    nv = v1.shape[0]
    for way in range(3 if capped else 2):
        speed = vectors[ANSWER, :nv]
        if way > 0:
            speed = v1 if way == 1 else lent[3][adjoint.END_QD, :nv]
        rough = contact_slopes(
            arrays,
            contacts,
            count,
            vectors[OF_IMPULSE + way],
            (q, speed),
            lent[4],
            system,
            shape,
            by_q,
            spaces,
        )
        if rough >= 0:
            notes[ROUGH] = rough + 1.0


@shared
def begin_turn(
    h: float, turn: int, last: int, mass: Array, by_tau: Array, touching: Touching, lent: Lent
) -> None:
    """m' of a turn into ANSWER: of the last one by the step's end, m + h n; of others by the effect of their impulses
    on the next one, E = v1 - v: those by its forces M E / h in the stages, less those by v there.
    """
    own, vectors, nv = touching[5], lent[3], mass.shape[0]
    by_q, by_qd, sums = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.STOPPED_Q]
    for d in range(nv):
        if turn == last:
            own[SUM_Q, d] = own[SUM_QD, d] = own[BY_PUSH, d] = own[BY_PUSHES, d] = 0.0
            own[ANSWER, d], sums[d], own[BY_FREE, d] = by_qd[d] + h * by_q[d], by_q[d], 0.0
        else:
            total = 0.0
            for j in range(by_tau.shape[0]):
                total += by_tau[j, d]
            own[BY_PUSH, d], own[BY_PUSHES, d] = total - own[BY_PUSHES, d], total
            own[SUM_Q, d] += by_q[d]
            own[SUM_QD, d] += by_qd[d]
            own[BY_FREE, d] *= -1.0
    if turn < last:
        for d in range(nv):
            for e in range(nv):
                own[BY_FREE, d] += mass[d, e] * own[BY_PUSH, e] / h
            own[ANSWER, d] = own[BY_FREE, d]


@shared
def pull_contacts(
    run: Run,
    touching: Touching,
    integrator: int,
    t: float,
    h: float,
    end: Array,
    turns: tuple[int, int],
    by_tau: Array,
) -> bool:
    """The impulses of a turn, at last those at the end of a step with the velocities `end`, which leave BY_Q, BY_QD by
    the end of its stages, now in END_Q and END_QD, and add to STOPPED_Q those by the coordinates before the step. turns
    are the numbers of the turn and of the last one; t is the time at which the step begins.
    """
    arrays, tables, _, _, (bodies, _, gravity, differences), lent, spaces = run
    slopes, _, _, vectors, tangents, _ = lent
    (work, dof, flags), (_, system, _, _, _, _, _, _), (turn, last) = spaces, touching[0], turns
    own, notes, nv, width = touching[5], touching[7], dof.shape[0], tables[at.VALUES].shape[1]
    q0, free = vectors[adjoint.BEGUN_Q, :nv], vectors[adjoint.END_QD, :nv]
    v1, still, push = (
        vectors[adjoint.FIRST_QD, :nv],
        vectors[adjoint.FIRST_QDD, :nv],
        vectors[adjoint.LAST_QDD, :nv],
    )
    by_q, by_qd, y = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], own[ANSWER, :nv]
    stopped, found = vectors[adjoint.STOPPED_Q], vectors[adjoint.FOUND_FORCE]
    for d in range(nv):
        free[d] = touching[8][turn, TRIAL_QD, d] - (touching[8][turn - 1, EFFECT, d] if turn > 0 else 0.0)
    count = find_impulses(run, touching, integrator, t, h, free, v1)
    if flags[at.STATUS] != at.OK:
        return False
    for d in range(nv):
        if turn == last and not abs(v1[d] - end[d]) <= FOUND_AGAIN * (1.0 + abs(v1[d])):
            notes[EDGE] += 1.0
        push[d], still[d] = HIDING * (v1[d] - free[d]), 0.0
    give_forces(arrays, tables, t, 0.0, vectors)
    copy(vectors[adjoint.GIVEN_FORCE], found)
    inverse_dynamics_derivatives(arrays, q0, still, push, found, slopes, tangents, spaces)
    find_states(count, v1, system, touching)
    begin_turn(h, turn, last, slopes[2], by_tau, touching, lent)
    bad = solve_refined(nv, fill_matrix(count, v1, slopes[2], system, touching, dof), touching)
    if bad >= 0:
        flags[at.STATUS], flags[at.CULPRIT] = at.SINGULAR, owner_of(arrays[at.BODY_INT], bad)
        return False
    for d in range(nv):
        vectors[adjoint.ANSWER, d] = (y[d] - own[BY_PUSH, d] / h) / HIDING
        by_q[d], by_qd[d] = 0.0, -own[BY_FREE, d]
        for e in range(nv):
            by_qd[d] += slopes[2][d, e] * y[e]
    for d in range(nv):
        for e in range(nv):
            stopped[e] -= vectors[adjoint.ANSWER, d] * slopes[0][d, e]
    take_bodies(arrays, vectors[adjoint.ANSWER, :nv], bodies, gravity, work, dof)
    take_differences(arrays, 0.0, (q0, still, push), width, vectors, differences, spaces)
    note_edges(count, v1, system, touching)
    capped = weigh_rows(count, h, v1, system, touching, stopped, by_qd)
    take_slopes(run, touching, count, capped, q0, v1, stopped)
    for d in range(nv):
        own[BY_FREE, d] = by_qd[d]
        vectors[adjoint.END_Q, d], vectors[adjoint.END_QD, d] = (
            touching[8][turn, TRIAL_Q, d],
            touching[8][turn, TRIAL_QD, d],
        )
    return True


@inline
def end_turns(last: int, touching: Touching, by_q: Array, by_qd: Array) -> None:
    """Add the derivatives by the state before the step through the turns after the first."""
    own = touching[5]
    for d in range(touching[8].shape[2] if last > 0 else 0):
        by_q[d] += own[SUM_Q, d]
        by_qd[d] += own[SUM_QD, d]
