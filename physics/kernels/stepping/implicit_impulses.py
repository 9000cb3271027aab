"""Impulses of limits and contacts in implicit steps.

Stages without the impulses' forces, and impulses after them by the masses at the step's beginning, agree to first order
only: where inertias change within a step, as on curves with tight bends, a chain at a limit gains energy. So the
impulses' forces J^T l / h are given to the stages, these are solved again, and the impulses, which then replace those
forces, too, until the stages end with the velocities that the impulses leave: in steps in which a coordinate moves
far, if a first estimate by the stages' matrix A shows that it is needed, M^-1 J^T l and A^-1 J^T l then differ.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..contact.constrained_step import project, project_velocities
from ..forces.limits import limit_value
from ..muscles.states import set_implicit
from . import implicit_stage as newton
from .bundles import Implicit, More, Spaces, Tables
from .evaluate import evaluate_here
from .implicit_stage import size_of, solve_kept
from .motion import follow, hold
from .rollout import CUBIC, JUMP, PARABOLA, copy
from .stopping import stop_within, unilateral

# Share of the impulses' effect by which the stages may end with other velocities: enough that friction and damping
# exceed what it adds; and the most turns, for stages so stiff that each removes little of it.
AGREED, MOST_TURNS = 1e-3, 12
ACCEPTED, AGAIN, FAILED = 0, 1, 2
FAR = 0.01  # rad or m: steps in which no coordinate moves farther keep what the first turn gives
NEAR = 1e-9  # m or rad: far above round-off of a limit's speed in a step


@shared
def note_impulses(
    count: int, dt: float, free: Array, qd: Array, system: Array, dof: Array, vectors: Array
) -> None:
    """Store the effect of the impulses of a step on its velocities, and their forces."""
    (values, columns, spans), impulse = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_IMPULSE]
    for d in range(qd.shape[0]):
        vectors[newton.PUSH, d] = 0.0
        vectors[newton.EFFECT, d] = qd[d] - free[d] if dof[d, at.HELD] == 0.0 else 0.0
    for k in range(count):
        for c in range(spans[k, con.SPAN_COUNT]):
            vectors[newton.PUSH, columns[k, c]] += values[k, c] * impulse[k] / dt


@shared
def idle(data: Array, more: More, dt: float, q: Array, qd: Array) -> bool:
    """Whether a model has only a tree and hard limits, and a step from q with its end's velocities reaches none: then
    nothing needs accelerations at the step's ends.
    """
    constraints, _, motion, _, memory, _, _, _ = more
    limits = int(data[at.LIMIT_COUNT])
    if constraints[con.CON_INT].shape[0] > 0 or motion[0].shape[0] > 0 or memory.shape[0] > limits:
        return False
    for k in range(limits):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_RESTITUTION] < 0.0:
            continue
        value, gradient, width = limit_value(data, row, q)
        d, speed = int(data[row + at.LIMIT_DOF]), 0.0
        for j in range(width):
            speed += gradient[j] * qd[d + j]
        if memory[k, con.WARM] != 0.0 or not value + min(dt * speed, 0.0) > NEAR:
            return False
    return True


@inline
def forget_singular(constraints: Array, flags: Array) -> None:
    """Let a step pass a pose in which some motion of coordinates moves no body, as of two curves that touch along
    straight pieces: impulses do not change its speed, and the stages, which have its damping, do not need its inertia.
    """
    if flags[at.STATUS] == at.SINGULAR and constraints[con.CON_INT].shape[0] == 0:
        flags[at.STATUS] = at.OK


@shared
def settle(
    arrays: Array,
    more: More,
    tables: Tables,
    t: float,
    dt: float,
    course: tuple[float, float],
    q: Array,
    qd: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> tuple[int, int]:
    """End the step: impulses and projection onto the equalities; returns the number of rows, and the interpolation of
    samples that the impulses require. For course see `unilateral.aim_row`.
    """
    constraints, system, motion, contacts, memory, effort, _, _ = more
    _, _, _, vectors, notes, _, _ = implicit
    dof, nv = spaces[at.DOF], q.shape[0]
    tau, qdd = vectors[newton.FOUND_FORCE], vectors[newton.CORRECTION, :nv]
    loads = tau, qdd, effort
    if notes[newton.TURNS] == 0.0 and idle(arrays[at.MODEL_DATA], more, dt, vectors[newton.LAST_Q, :nv], qd):
        return 0, CUBIC
    copy(vectors[newton.GIVEN_FORCE], tau)
    set_implicit(arrays[at.MODEL_DATA], tau, tables[at.VALUES].shape[1], 0.0)
    if memory.shape[0] > 0 or unilateral(constraints):
        last_q, last_qd = vectors[newton.LAST_Q, :nv], vectors[newton.LAST_QD, :nv]
        hold(motion, t, 0.0, last_q, last_qd, dof)
        found = evaluate_here(arrays, constraints, tables, t, last_q, last_qd, loads, system, spaces)
        forget_singular(constraints, spaces[at.FLAGS])
        free = vectors[newton.TRIAL, :nv]
        for d in range(nv):
            vectors[newton.UNPUSHED, d] = qd[d]
            free[d] = qd[d] - (vectors[newton.EFFECT, d] if notes[newton.TURNS] > 0.0 else 0.0)
        copy(free, qdd)
        parts, workspace = (
            (arrays, constraints, contacts, motion, tables),
            (vectors, effort, system, memory, spaces),
        )
        count, struck = stop_within(parts, found, t, dt, course, (last_q, last_qd), qdd, q, qd, workspace)
        if count > 0:
            note_impulses(count, dt, free, qd, system, dof, vectors)
            notes[newton.HISTORY] = 0.0  # accelerations before the impulse do not extrapolate past it
            return count, JUMP if struck else PARABOLA
    follow(motion, t, dt, t + dt, q, qd, dof)
    found = evaluate_here(arrays, constraints, tables, t + dt, q, qd, loads, system, spaces)
    forget_singular(constraints, spaces[at.FLAGS])
    count, _ = found
    if count > 0:
        count = project(arrays, constraints, found, 0.0, q, qd, system, spaces)
        project_velocities(arrays, constraints, found, q, qd, system, spaces)
    return count, CUBIC


@shared
def take_turn(body_int: Array, dt: float, way: int, qd: Array, implicit: Implicit, dof: Array) -> int:
    """After `settle` with an interpolation `way`: whether the step is accepted, stages and impulses are to be solved
    again from its beginning, or this leads nowhere.
    """
    (_, _, mass), _, pivots, vectors, notes, _, _ = implicit
    nv, turns, before = qd.shape[0], notes[newton.TURNS], notes[newton.APART]
    if (
        way == CUBIC
    ):  # nothing acts; if only because of the forces in the stages, there are impulses without them
        if turns == 0.0 or turns >= MOST_TURNS:
            return ACCEPTED
        for d in range(nv):
            vectors[newton.PUSH, d] = vectors[newton.EFFECT, d] = 0.0
        notes[newton.TURNS] = MOST_TURNS
        return AGAIN
    apart = vectors[newton.CORRECTION, : pivots.shape[0]]
    for d in range(apart.shape[0]):
        apart[d] = 0.0
        if d < nv and dof[d, at.HELD] == 0.0:
            apart[d] = dt * vectors[newton.PUSH, d] if turns == 0.0 else qd[d] - vectors[newton.UNPUSHED, d]
    if turns == 0.0:
        fastest = 0.0
        for d in range(nv):
            fastest = max(fastest, abs(qd[d] - vectors[newton.EFFECT, d]), abs(qd[d]))
        if dt * fastest < FAR:
            return ACCEPTED
        solve_kept(body_int, implicit, apart)
        for d in range(nv):
            apart[d] -= vectors[newton.EFFECT, d]
    size = size_of(apart, mass)
    if size <= AGREED * size_of(vectors[newton.EFFECT], mass) or turns >= MOST_TURNS:
        return ACCEPTED
    if not size < math.inf or (turns > 1.0 and size > before):
        return FAILED
    notes[newton.APART] = size
    notes[newton.REPEATED] += 1.0 if turns == 0.0 else 0.0
    notes[newton.TURNS] = turns + 1.0
    notes[newton.HISTORY] = 1.0  # the stages begin with the accelerations that they had
    return AGAIN
