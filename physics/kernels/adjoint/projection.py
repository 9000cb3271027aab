"""The end of a step on the constraints, backwards (see `stepping.implicit_impulses.settle`).

The stages end at q and v, and the step at q1 = q + M^-1 J^T i, v1 = v + M^-1 J^T j, with M and J at q and such i and j
that the rows' values are 0 at q1, and J1 v1 = 0 for J1 = J(q1). Let B1 = d(J1 v1)/dq1. For the derivatives (n, m) of a
loss by q1 and v1, the solutions of

    M y + J1^T z = m,   J y = 0,    and    M x + J1^T w = n - B1^T z,   J x = 0

give those by v, m - J1^T z, by q, n - B1^T z - J1^T w - dE/dq, and by all on which M depends, -dE, where E =
y^T (M (v1 - v) - J^T j) + x^T (M (q1 - q) - J^T i). As M a = ID(q, 0, a) - ID(q, 0, 0), three stages of length 0 have
the terms without J.
"""

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..muscles.states import begin_states
from ..stepping import implicit_stage as newton
from ..stepping.bundles import Spaces, Tables
from ..stepping.implicit import GAMMA, newton_step
from ..stepping.motion import follow, hold
from ..stepping.motion_layout import CHANNEL_COORDINATE
from ..stepping.rollout import copy
from . import layout as adjoint
from .rows import (
    BY_PLACE,
    BY_SPEED,
    FAR,
    FOUND,
    RIGHT,
    Rows,
    add_displaced,
    dense_rows,
    solve_bordered,
)


@shared
def repeat_step(
    arrays: Array,
    rows: Rows,
    integrator: int,
    tables: Tables,
    now: tuple[float, float],
    h: float,
    vectors: Array,
    spaces: Spaces,
) -> bool:
    """Repeat the stages of the step from BEGUN_Q, BEGUN_QD: END_Q and END_QD get their end, and rows the forces in each
    stage. now is the time and the number of steps done. False with a flag where that fails.
    """
    more, implicit, forces, _, _, _, _, _, _, _, _ = rows
    _, _, _, stages, notes, _, _ = implicit
    flags, nv = spaces[at.FLAGS], spaces[at.DOF].shape[0]
    data, width = arrays[at.MODEL_DATA], tables[at.VALUES].shape[1]
    q, qd = vectors[adjoint.END_Q, :nv], vectors[adjoint.END_QD, :nv]
    copy(vectors[adjoint.BEGUN_Q, :nv], q)
    copy(vectors[adjoint.BEGUN_QD, :nv], qd)
    begin_states(data, width, vectors[adjoint.BEGUN_STATES], stages[newton.GIVEN_FORCE])
    begin_states(data, width, vectors[adjoint.BEGUN_STATES], stages[newton.LAST_Q])
    notes[newton.HISTORY] = min(notes[newton.HISTORY], 1.0)  # the step after this one
    flags[at.STATUS] = at.OK
    hold(more[2], now[0], h if integrator == at.BACKWARD_EULER else 0.0, q, qd, spaces[at.DOF])
    newton_step(arrays, more, integrator, tables, now, 1.0, h, q, qd, implicit, spaces)
    last = forces.shape[0] - 2
    for k in range(forces.shape[1]):
        forces[0, k] = stages[newton.NEWEST + last, nv + k]
        forces[last, k] = stages[newton.NEWEST, nv + k]
    return bool(flags[at.STATUS] == at.OK)


@inline
def forget_prescribed(rows: Rows, by_q: Array, by_qd: Array) -> None:
    """Drop the derivatives by coordinates on motions, whose state before does not count."""
    (_, _, (channels, _), _, _, _, _, _) = rows[0]
    for k in range(channels.shape[0]):
        d = channels[k, CHANNEL_COORDINATE]
        by_q[d] = by_qd[d] = 0.0


@shared
def place_stages(rows: Rows, integrator: int, t: float, h: float, vectors: Array, dof: Array) -> None:
    """After `repeat_step`: the accelerations of the stages, and the motion of the first of two."""
    (_, _, motion, _, _, _, _, _), (_, _, _, stages, _, _, _), nv = rows[0], rows[1], dof.shape[0]
    q, qd, qdd = (
        vectors[adjoint.FIRST_Q, :nv],
        vectors[adjoint.FIRST_QD, :nv],
        vectors[adjoint.FIRST_QDD, :nv],
    )
    copy(stages[newton.NEWEST, :nv], vectors[adjoint.LAST_QDD])
    if integrator == at.SDIRK2:
        copy(stages[newton.NEWER, :nv], qdd)
        for d in range(nv):
            qd[d] = vectors[adjoint.BEGUN_QD, d] + GAMMA * h * qdd[d]
            q[d] = vectors[adjoint.BEGUN_Q, d] + GAMMA * h * qd[d]
        follow(motion, t, h, t + GAMMA * h, q, qd, dof)


@shared
def begin_projection(arrays: Array, rows: Rows, end: tuple[Array, Array], spaces: Spaces) -> None:
    """J1 at the step's end (q1, v1) as what rows has ahead of the last stage's J, and B1; after `derive_rows`.

    dJ/dq differs from the last stage's by a share of order two, for which forward differences are enough.
    """
    more, _, forces, _, ahead, swung, turned, _, _, _, slopes = rows
    central, forward, (q1, v1) = slopes[0], slopes[1], end
    nv, here = q1.shape[0], forces[forces.shape[0] - 1]
    dense_rows(arrays, more, q1, v1, ahead, spaces)
    for k in range(here.shape[0]):
        here[k] = 0.0
        for d in range(nv):
            for e in range(nv):
                forward[k, d, e] = central[k, d, e] - forward[k, d, e] - ahead[k, d] / FAR
    for e in range(nv):
        add_displaced(arrays, rows, FAR, 1.0 / FAR, e, end, forward, spaces)
    for e in range(nv):
        for d in range(nv):
            turned[d, e] = 0.0
        for k in range(here.shape[0]):
            swung[k, e] = 0.0
            for d in range(nv):
                swung[k, e] += forward[k, d, e] * v1[d]


@shared
def find_pushes(rows: Rows, leading: Array, mass: Array, pushes: tuple[Array, Array], dof: Array) -> None:
    """i and j from q1 - q and v1 - v in pushes, behind the nv numbers of x and y in BY_PLACE and BY_SPEED."""
    _, _, _, jacobian, ahead, _, _, _, _, vectors, _ = rows
    nv, n = dof.shape[0], vectors.shape[1]
    for k in range(n - nv):
        for e in range(nv):
            ahead[k, e] = jacobian[k, e]
    for way in range(2):
        push = pushes[0] if way == 0 else pushes[1]
        for i in range(n):
            vectors[RIGHT, i] = 0.0
            for e in range(nv if i < nv else 0):
                vectors[RIGHT, i] += mass[i, e] * push[e]
        solve_bordered(rows, leading, dof)
        for k in range(nv, n):
            vectors[BY_PLACE + way, k] = vectors[FOUND, k]


@shared
def take_turning(rows: Rows, by_q: Array) -> None:
    """Add the derivatives by q of y^T J^T j + x^T J^T i, after `find_pushes`."""
    vectors, central = rows[9], rows[10][0]
    x, y, nv = vectors[BY_PLACE], vectors[BY_SPEED], central.shape[1]
    for k in range(central.shape[0]):
        for d in range(nv):
            share = x[nv + k] * x[d] + y[nv + k] * y[d]
            for e in range(nv):
                by_q[e] += share * central[k, d, e]
