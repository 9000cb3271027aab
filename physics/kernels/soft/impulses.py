"""Impulses of contacts, hard limits and constraints at the end of a linearly implicit step with soft bodies.

Their response is the symmetric part of the step's own matrix without the free nodes, which follow by the same matrix.
What the whole matrix gives beyond it is added to the velocities without impulses, and the impulses are found again:
the step's end satisfies its linear equations with their forces.
"""

import math

from .. import layout as tree
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from ..constraints.response import held_efforts
from ..contact.constrained_step import (
    constrain_velocities,
    note_contradiction,
    project,
)
from ..joints.kinematics import kinematics
from ..stepping import implicit_stage as newton
from ..stepping.bundles import State
from ..stepping.motion import finish_held, note_lag
from ..stepping.parts import keep
from ..stepping.rollout import copy
from ..stepping.step_checks import note_efforts
from ..stepping.stopping import has_struck
from . import layout as at
from .nodes import Soft
from .system import follow_tree

# Share of the impulses' effect by which the step's whole matrix may have another one; impulses are found again while
# this falls to less than SLOW. What is left adds up over the steps, so it is no larger than what solvers leave: with
# equalities alone round-off, else the residual of contacts.
AGREED, IN_CONTACT, SLOW, MOST_TURNS = 1e-12, 1e-9, 0.5, 40


@shared
def let_follow(soft: Soft, before: Array, after: Array, x: Array) -> None:
    """Add to x what the free nodes gain as the tree's free coordinates, or their rates, change from before to after."""
    _, mesh, space, (_, _, _, vectors, _, _, _), (_, dof, _) = soft
    change, moved = vectors[newton.TRIAL], space[at.VECTORS][at.FOLLOWING]
    for d in range(dof.shape[0]):
        change[d] = after[d] - before[d] if dof[d, tree.HELD] == 0.0 else 0.0
    for i in range(x.shape[0]):
        moved[i] = 0.0
    follow_tree(mesh, space, change, moved)
    for i in range(x.shape[0]):
        x[i] += moved[i]


@shared
def missed(soft: Soft, count: int, free: Array, system: Array, qd: Array) -> float:
    """What the step's whole matrix gives by the impulses beyond their change of the velocities from free to qd, in the
    vectors' TRIAL, and its share of this change.
    """
    _, _, _, ((_, _, mass), matrix, pivots, vectors, _, _, _), (_, dof, _) = soft
    (values, columns, spans), effect = system[con.SYSTEM_JACOBIAN], vectors[newton.EFFECT, : pivots.shape[0]]
    apart = vectors[newton.TRIAL, : pivots.shape[0]]
    for d in range(qd.shape[0]):
        effect[d] = apart[d] = 0.0
    for k in range(count):
        for c in range(spans[k, con.SPAN_COUNT]):
            apart[columns[k, c]] += values[k, c] * system[con.SYSTEM_IMPULSE][k]
    newton.solve_step(matrix, pivots, apart)
    for d in range(qd.shape[0]):
        if dof[d, tree.HELD] == 0.0:
            effect[d] = qd[d] - free[d]
            apart[d] -= effect[d]
        else:
            apart[d] = 0.0
    size = newton.size_of(effect, mass)
    return newton.size_of(apart, mass) / size if size > 0.0 else 0.0


@shared
def end_step(soft: Soft, rows: Array, motion: Array, t: float, dt: float, state: State, nodes: State) -> bool:
    """The step's end from the accelerations of `stage.linear_correction` and the impulses; whether something struck.

    rows: constraints, system, contacts, memory of limits and contacts, forces that prescribed coordinates take, and
    records of the rows' forces. Equalities are met by the coordinates at the end, and by the velocities with the rows
    at the beginning: projected by this matrix, velocities would gain energy.
    """
    arrays, _, space, (_, _, _, vectors, _, _, _), (work, dof, flags) = soft
    constraints, system, contacts, memory, effort, _ = rows
    (q, qd), (places, rates), nv = state, nodes, state[0].shape[0]
    last_q, last_qd, moved = (
        vectors[newton.LAST_Q, :nv],
        vectors[newton.LAST_QD, :nv],
        vectors[newton.UNPUSHED, :nv],
    )
    copy(q, last_q)
    copy(qd, last_qd)
    for i in range(places.shape[0]):
        rates[i] += dt * space[at.VECTORS][at.CORRECTION, i]
        places[i] += dt * rates[i]
    for d in range(nv):
        qd[d] += dt * (vectors[newton.ACCELERATIONS, d] + vectors[newton.CORRECTION, d])
        moved[d] = q[d] + dt * qd[d]
    kinematics(arrays, last_q, last_qd, work, dof, flags)
    note_lag(motion, t, dt, dof)
    keep(memory, False)
    free, count, found, before = vectors[newton.CORRECTION, :nv], 0, (0, 0), math.inf
    copy(qd, free)
    seen = system[con.SYSTEM_STATISTICS][con.UNILATERAL_STEPS]
    for turn in range(MOST_TURNS):
        system[con.SYSTEM_STATISTICS][con.UNILATERAL_STEPS] = seen  # once a step
        count, found = constrain_velocities(
            arrays, constraints, contacts, dt, (0.5, dt), last_q, qd, last_qd, system, memory, soft[4]
        )
        share = missed(soft, count, free, system, qd)
        last = turn + 1 == MOST_TURNS or flags[tree.STATUS] != tree.OK
        agreed = AGREED if count == found[con.COUNT] else IN_CONTACT
        if last or share <= agreed or not share < SLOW * before:
            break
        before = share
        for d in range(nv):
            qd[d] = system[con.SYSTEM_FREE][d] + vectors[newton.TRIAL, d]
        keep(memory, True)
    for k in range(count):
        system[con.SYSTEM_ROWS][k, con.ROW_FORCE] = system[con.SYSTEM_IMPULSE][k] / dt
    struck = has_struck(count, last_qd, system)
    for d in range(nv):
        q[d] += dt * qd[d]
    finish_held(motion, t, dt, q, qd)
    held_efforts(count, system[con.SYSTEM_ROWS], dof, system[con.SYSTEM_RESPONSE], effort)
    note_efforts(effort, dof)
    if found[con.COUNT] > 0:
        project(arrays, constraints, found, 0.0, q, qd, system, soft[4])
    let_follow(soft, moved, q, places)
    let_follow(soft, free, qd, rates)
    note_contradiction(system, flags)
    return bool(struck)


@shared
def record_forces(first: int, end: int, rows: Array) -> None:
    """Write the forces of the constraints' rows in the step for the samples from first to end."""
    _, system, _, _, _, records = rows
    for sample in range(first, end):
        for k in range(records.shape[1]):
            records[sample, k] = system[con.SYSTEM_ROWS][k, con.ROW_FORCE]
