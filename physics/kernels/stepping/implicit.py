"""Implicit methods with a fixed step: linearly implicit Euler, backward Euler, and a stiffly accurate SDIRK2."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.lu import lu_factorize
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..dynamics.derivatives import add_force_slopes, inverse_dynamics_derivatives
from ..muscles.states import advance_states, begin_states, set_implicit
from . import implicit_stage as newton
from . import motion_layout as channel
from .bundles import Implicit, More, Spaces, Tables
from .implicit_matrix import step_matrix
from .implicit_stage import keep_residual, raise_flag, solve_stage, solve_step
from .motion import follow, hold
from .rollout import CUBIC, PARABOLA, copy, table_force

# Alexander 1977: the diagonal of the L-stable two-stage method of order two; its last stage is the step's end.
GAMMA = 1.0 - math.sqrt(0.5)
# Limits of steps whose end Newton's iteration does not find (where dampers at limits set in there is none): so many per
# coordinate at once, and one more in so many others.
MOST_AT_ONCE, ONE_IN = 3.0, 10.0
FAR = 1.0  # m or rad
ASTRAY = 0.03  # share of 1 rad or m by which extrapolated accelerations may move a stage


@shared
def linear_step(
    arrays: Array,
    more: More,
    integrator: int,
    width: int,
    dt: float,
    q: Array,
    qd: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> None:
    """(M - h D - h^2 K) (q'_new - q') = h (f + h K q'), then q_new = q + h q'_new (as in Wang 2022, eqs. 4.80-4.82).

    f is the whole generalized force including velocity terms, K = df/dq and D = df/dq' its exact derivatives: of
    joints' and elements' forces with their geometric terms, of gravity, and of the inertial forces. With linear damping
    the paper's f is this f - D q'. As the paper has it, SPRING_IMPLICIT_EULER takes in K and D only how these forces
    change as they move with the bodies: gravity and inertial forces are explicit, and so is the rotation of the bodies
    under their forces. Forces that depend on time are those at the step's end; width is that of their
    table. Equalities hold for the new velocities, with their Jacobian at the old coordinates.
    """
    slopes, system, pivots, vectors, notes, tangents, _ = implicit
    (by_q, by_qd, _), (_, dof, flags) = slopes, spaces
    data, nv, n = arrays[at.MODEL_DATA], q.shape[0], pivots.shape[0]
    x, a, right = (
        vectors[newton.ACCELERATIONS, :n],
        vectors[newton.ACCELERATIONS, :nv],
        vectors[newton.CORRECTION, :n],
    )
    for d in range(n):
        x[d] = dof[d, at.GIVEN] if d < nv and dof[d, at.HELD] != 0.0 else 0.0
    given, found = vectors[newton.GIVEN_FORCE], vectors[newton.FOUND_FORCE]
    set_implicit(data, given, width, dt)
    copy(given, found)
    inverse_dynamics_derivatives(arrays, q, qd, a, found, slopes, tangents, spaces)
    if integrator == at.SPRING_IMPLICIT_EULER:
        for d in range(nv):
            for e in range(nv):
                by_q[d, e], by_qd[d, e] = 0.0, 0.0
        add_force_slopes(arrays, q, qd, a, found, (by_q, by_qd, system), tangents, spaces)
    advance_states(data, found, given, width, dt, given)
    notes[newton.MATRICES] += 1.0
    for d in range(nv):
        for e in range(nv):
            found[d] += dt * (by_q[d, e] * (qd[e] + dt * a[e]) + by_qd[d, e] * a[e])
    for d in range(nv):
        vectors[newton.STAGE_Q, d] = q[d]
        vectors[newton.STAGE_QD, d] = qd[d] + dt * a[d]
    keep_residual(arrays, more, dt, x, vectors, right, spaces)
    step_matrix(more, dt, slopes, dof, system)
    bad = lu_factorize(system, pivots)
    if bad >= 0:
        raise_flag(arrays[at.BODY_INT], flags, at.SINGULAR, bad)
        return
    solve_step(system, pivots, right)
    for d in range(nv):
        qd[d] += dt * (a[d] + right[d])
        q[d] += dt * qd[d]


@inline
def add_impulses(nv: int, vectors: Array, notes: Array) -> None:
    """Add the forces of impulses to a stage's given ones, after the first turn (see `implicit_impulses`)."""
    if notes[newton.TURNS] > 0.0:
        for d in range(nv):
            vectors[newton.GIVEN_FORCE, d] += vectors[newton.PUSH, d]


@shared
def hold_stage(
    motion: Array, t: float, dt: float, now: float, step: float, mean: bool, vectors: Array, dof: Array
) -> None:
    """Set the stage's known part so that coordinates prescribed from t on reach their values now; mean: their
    acceleration is the mean from the known velocities, as backward Euler has it for all others.
    """
    nv = dof.shape[0]
    q, qd, (channels, _) = vectors[newton.STAGE_Q, :nv], vectors[newton.STAGE_QD, :nv], motion
    follow(motion, t, dt, now, q, qd, dof)
    for k in range(channels.shape[0]):
        d = channels[k, channel.CHANNEL_COORDINATE]
        if dof[d, at.HELD] != 0.0:
            if mean:
                dof[d, at.GIVEN] = (qd[d] - vectors[newton.BASE_QD, d]) / step
            vectors[newton.BASE_QD, d] = qd[d] - step * dof[d, at.GIVEN]
            vectors[newton.BASE, d] = q[d] - step * qd[d]


@shared
def extrapolate(now: float, count: int, newest: int, target: int, vectors: Array, notes: Array) -> None:
    """Accelerations at a time in steps from those of up to three previous stages, in the rows from newest on."""
    known, times = int(notes[newton.HISTORY]), newton.TIMES
    for d in range(count):
        vectors[target, d] = 0.0
    for i in range(known):
        weight = 1.0
        for j in range(known):
            if j != i:
                weight *= (now - notes[times + j]) / (notes[times + i] - notes[times + j])
        for d in range(count):
            vectors[target, d] += weight * vectors[newest + i, d]


@shared
def guess_stage(now: float, step: float, nv: int, implicit: Implicit) -> None:
    """Initial accelerations at a time in steps.

    Where extrapolated ones move the stage far, as where forces turn round within it, they may lead to another solution,
    such as the one on the other side of a spring's end: then those that leave the coordinates where they are.
    """
    _, _, pivots, vectors, notes, _, _ = implicit
    extrapolate(now, pivots.shape[0], newton.NEWEST, newton.ACCELERATIONS, vectors, notes)
    astray = False
    for d in range(nv):
        bend = step * step * vectors[newton.ACCELERATIONS, d]
        astray |= abs(bend) > ASTRAY * (1.0 + abs(vectors[newton.STAGE_Q, d]))
    if astray:
        for d in range(nv):
            still = vectors[newton.STAGE_Q, d] - vectors[newton.BASE, d]
            vectors[newton.ACCELERATIONS, d] = (still / step - vectors[newton.BASE_QD, d]) / step


@shared
def keep_row(count: int, newest: int, source: int, vectors: Array) -> None:
    """Store a row as the newest of three."""
    for d in range(count):
        vectors[newest + 2, d] = vectors[newest + 1, d]
        vectors[newest + 1, d] = vectors[newest, d]
        vectors[newest, d] = vectors[source, d]


@shared
def keep_stage(now: float, implicit: Implicit) -> None:
    """Store the accelerations of a stage as the newest."""
    _, _, pivots, vectors, notes, _, _ = implicit
    for i in range(2, 0, -1):
        notes[newton.TIMES + i] = notes[newton.TIMES + i - 1]
    notes[newton.TIMES] = now
    keep_row(pivots.shape[0], newton.NEWEST, newton.ACCELERATIONS, vectors)
    notes[newton.HISTORY] = min(notes[newton.HISTORY] + 1.0, 3.0)


@shared
def newton_step(
    arrays: Array,
    more: More,
    integrator: int,
    tables: Tables,
    now: tuple[float, float],
    share: float,
    dt: float,
    q: Array,
    qd: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> None:
    """Backward Euler, or the two stages of SDIRK2: q' and q at the end of the last stage are those of the step.

    now is the time and the number of steps done; this one is a share of such a step.
    """
    _, _, _, vectors, notes, _, _ = implicit
    (t, steps), data, nv, width = now, arrays[at.MODEL_DATA], q.shape[0], tables[at.VALUES].shape[1]
    given, found = vectors[newton.GIVEN_FORCE], vectors[newton.FOUND_FORCE]
    stages = 1 if integrator == at.BACKWARD_EULER else 2
    gamma = 1.0 if stages == 1 else GAMMA
    for stage in range(stages):
        done = (1.0 - gamma) if stage == 1 else 0.0  # share of the step with the first stage's slope
        reached = done + gamma
        for d in range(nv):
            vectors[newton.BASE_QD, d] = qd[d] + done * dt * vectors[newton.NEWEST, d]
            vectors[newton.BASE, d] = q[d] + done * dt * vectors[newton.STAGE_QD, d]
        if more is not None:
            _, _, motion, _, _, _, _, _ = more
            hold_stage(motion, t, dt, t + reached * dt, gamma * dt, stages == 1, vectors, spaces[at.DOF])
        guess_stage(steps + share * reached, gamma * dt, nv, implicit)
        table_force(tables, t + reached * dt, given[:width])
        if more is not None:
            add_impulses(nv, vectors, notes)
        advance_states(data, found, vectors[newton.LAST_Q], width, done * dt, given)
        set_implicit(data, given, width, gamma * dt)
        if not solve_stage(arrays, more, gamma * dt, implicit, spaces, vectors[0, :0]):
            return
        keep_stage(steps + share * reached, implicit)
    advance_states(data, found, given, width, gamma * dt, given)
    copy(vectors[newton.STAGE_Q, :nv], q)
    copy(vectors[newton.STAGE_QD, :nv], qd)


@shared
def substitute(
    arrays: Array,
    more: More,
    tables: Tables,
    t: float,
    dt: float,
    q: Array,
    qd: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> None:
    """Replace a step whose end was not found by a linearly implicit one: where forces jump, as of damped ground at
    first contact, there may be no end. Fails where that is not rare, or coordinates move far in a step: the step is too
    long.
    """
    _, _, _, vectors, notes, _, _ = implicit
    given, (_, dof, flags) = vectors[newton.GIVEN_FORCE], spaces
    nv, width = q.shape[0], tables[at.VALUES].shape[1]
    notes[newton.SUBSTITUTES] += 1.0
    notes[newton.UNFOUND] += 1.0
    fastest = 0.0
    for d in range(nv):
        fastest = max(fastest, abs(vectors[newton.LAST_QD, d]))
    if notes[newton.UNFOUND] > MOST_AT_ONCE * nv or not dt * fastest < FAR:
        return
    flags[at.STATUS] = at.OK
    copy(vectors[newton.LAST_Q, :nv], q)
    copy(vectors[newton.LAST_QD, :nv], qd)
    begin_states(arrays[at.MODEL_DATA], width, vectors[newton.LAST_Q], given)
    if more is not None:
        _, _, motion, _, _, _, _, _ = more
        hold(motion, t, dt, q, qd, dof)
    table_force(tables, t + dt, given[:width])
    if more is not None:
        add_impulses(nv, vectors, notes)
    linear_step(arrays, more, at.LINEARLY_IMPLICIT_EULER, width, dt, q, qd, implicit, spaces)
    notes[newton.KNOWN], notes[newton.HISTORY] = 0.0, 0.0


@inline
def implicit_step(
    arrays: Array,
    more: More,
    integrator: int,
    tables: Tables,
    now: tuple[float, float],
    share: float,
    dt: float,
    last: bool,
    q: Array,
    qd: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> int:
    """A step by any method, `share` of a whole one; returns the interpolation of samples in it.

    Where Newton's iteration fails there is a substitute if `last`; otherwise the caller can take shorter steps.
    """
    _, _, _, vectors, notes, _, _ = implicit
    flags, width, (t, _) = spaces[at.FLAGS], tables[at.VALUES].shape[1], now
    if integrator == at.LINEARLY_IMPLICIT_EULER or integrator == at.SPRING_IMPLICIT_EULER:
        table_force(tables, t + dt, vectors[newton.GIVEN_FORCE, :width])
        if more is not None:
            add_impulses(q.shape[0], vectors, notes)
        linear_step(arrays, more, integrator, width, dt, q, qd, implicit, spaces)
        return PARABOLA
    newton_step(arrays, more, integrator, tables, now, share, dt, q, qd, implicit, spaces)
    if last and (flags[at.STATUS] == at.NOT_CONVERGED or flags[at.STATUS] == at.SINGULAR):
        substitute(arrays, more, tables, t, dt, q, qd, implicit, spaces)
        return PARABOLA
    notes[newton.UNFOUND] = max(notes[newton.UNFOUND] - 1.0 / ONE_IN, 0.0)
    return CUBIC if integrator == at.SDIRK2 else PARABOLA


@shared
def take_hold(
    motion: Array, integrator: int, t: float, dt: float, q: Array, qd: Array, notes: Array, dof: Array
) -> None:
    """Set the coordinates prescribed in a step from time t; where others are than before, discard what is kept between
    steps.
    """
    mean = 0.0 if integrator == at.SDIRK2 else dt
    if hold(motion, t, mean, q, qd, dof):
        notes[newton.KNOWN], notes[newton.HISTORY] = 0.0, 0.0
