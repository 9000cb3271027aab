"""The end of a step on the constraints, backwards (see `stepping.implicit_impulses.settle`).

The stages end at q and v, and the step at q1 = q + M^-1 J^T i, v1 = v + M^-1 J^T j, with M and J at q and such i and j
that the rows' values are 0 at q1, and J1 v1 = 0 for J1 = J(q1). Let B1 = d(J1 v1)/dq1. For the derivatives (n, m) of a
loss by q1 and v1, the solutions of

    M y + J1^T z = m,   J y = 0,    and    M x + J1^T w = n - B1^T z,   J x = 0

give those by v, m - J1^T z, by q, n - B1^T z - J1^T w - dE/dq, and by all on which M depends, -dE, where E =
y^T (M (v1 - v) - J^T j) + x^T (M (q1 - q) - J^T i). Two stages of length 0 have the terms without J: M a is ID(q, 0, a)
for an acceleration a beside which ID(q, 0, 0) is nothing, and y is as many times smaller (see `layout.HIDING`).
"""

from ..algebra.lu import lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..joints.kinematics import kinematics
from ..stepping.bundles import Spaces
from ..stepping.implicit import GAMMA
from ..stepping.motion import follow
from ..stepping.motion_layout import CHANNEL_COORDINATE
from ..stepping.rollout import copy
from . import layout as adjoint
from .rows import (
    BY_PLACE,
    BY_SPEED,
    FORCES,
    FOUND,
    GIVEN,
    Rows,
    dense_rows,
    derive_rows,
    factorize_bordered,
)


@shared
def recall_stages(rows: Rows, stages: Array, t: float, h: float, vectors: Array, dof: Array) -> None:
    """The stages of a step from BEGUN_Q, BEGUN_QD at time t, by their accelerations and forces (stages, nv + r), newest
    first: the motion of the first of two, the accelerations of both, END_Q and END_QD where the last one ends; rows get
    the forces.
    """
    motion, forces, nv, last = rows[GIVEN][2], rows[FORCES], dof.shape[0], stages.shape[0] - 1
    q, qd = vectors[adjoint.END_Q, :nv], vectors[adjoint.END_QD, :nv]
    for i in range(last + 1):
        for k in range(forces.shape[1]):
            forces[i, k] = stages[last - i, nv + k]
    copy(vectors[adjoint.BEGUN_Q, :nv], q)
    copy(vectors[adjoint.BEGUN_QD, :nv], qd)
    copy(stages[0, :nv], vectors[adjoint.LAST_QDD])
    share = 1.0
    if last > 0:
        share = GAMMA
        first_q, first_qd, push = (
            vectors[adjoint.FIRST_Q, :nv],
            vectors[adjoint.FIRST_QD, :nv],
            vectors[adjoint.FIRST_QDD, :nv],
        )
        copy(stages[1, :nv], push)
        for d in range(nv):
            first_qd[d] = qd[d] + GAMMA * h * push[d]
            first_q[d] = q[d] + GAMMA * h * first_qd[d]
        follow(motion, t, h, t + GAMMA * h, first_q, first_qd, dof)
        for d in range(nv):
            qd[d] += (1.0 - GAMMA) * h * push[d]
            q[d] += (1.0 - GAMMA) * h * first_qd[d]
    for d in range(nv):
        qd[d] += share * h * vectors[adjoint.LAST_QDD, d]
        q[d] += share * h * qd[d]
    follow(motion, t, h, t + h, q, qd, dof)


@inline
def forget_prescribed(rows: Rows, by_q: Array, by_qd: Array) -> None:
    """Drop the derivatives by coordinates on motions, whose state before does not count."""
    channels, _ = rows[GIVEN][2]
    for k in range(channels.shape[0]):
        d = channels[k, CHANNEL_COORDINATE]
        by_q[d] = by_qd[d] = 0.0


@shared
def begin_projection(
    arrays: Array,
    rows: Rows,
    begun: tuple[Array, Array],
    end: tuple[Array, Array],
    spaces: Spaces,
) -> None:
    """J where the stages end, begun; J1 at the step's end as what rows has ahead of J; B1, and T of no forces."""
    given, _, forces, jacobian, ahead, _, _, _, _, _ = rows
    here = forces[forces.shape[0] - 1]
    for k in range(here.shape[0]):
        here[k] = 0.0
    dense_rows(arrays, given, end[0], end[1], ahead, spaces)
    derive_rows(arrays, rows, here, end, here[:0], here, spaces)
    dense_rows(arrays, given, begun[0], begun[1], jacobian, spaces)


@shared
def find_pushes(rows: Rows, leading: Array, mass: Array, pushes: tuple[Array, Array], dof: Array) -> None:
    """i and j from q1 - q and v1 - v in pushes, behind the nv numbers of x and y in BY_PLACE and BY_SPEED."""
    _, _, _, jacobian, ahead, _, _, matrix, pivots, vectors = rows
    nv, n = dof.shape[0], vectors.shape[1]
    for k in range(n - nv):
        for e in range(nv):
            ahead[k, e] = jacobian[k, e]
    factorize_bordered(rows, leading, mass, dof)
    for way in range(2):
        push = pushes[0] if way == 0 else pushes[1]
        for i in range(n):
            vectors[FOUND, i] = 0.0
            for e in range(nv if i < nv else 0):
                vectors[FOUND, i] += mass[i, e] * push[e]
        lu_solve(matrix, pivots, vectors[FOUND])
        for k in range(nv, n):
            vectors[BY_PLACE + way, k] = vectors[FOUND, k]


@shared
def take_turning(arrays: Array, rows: Rows, motion: tuple[Array, Array], by_q: Array, spaces: Spaces) -> None:
    """Add the derivatives by q of y^T J^T j + x^T J^T i, after `find_pushes`."""
    _, _, _, _, _, _, _, _, _, vectors = rows
    (work, dof, flags), nv = spaces, motion[0].shape[0]
    kinematics(arrays, motion[0], motion[1], work, dof, flags)
    for way in (BY_PLACE, BY_SPEED):
        derive_rows(arrays, rows, vectors[way, nv:], motion, vectors[way, :nv], by_q, spaces)
