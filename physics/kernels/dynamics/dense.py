"""Forward dynamics by the dense mass matrix, for models whose muscles have mass. These couple coordinates of different
branches, which a tree's recursion cannot eliminate.

Cholesky's factor is kept in the coordinates' workspace for responses to impulses (Wang 2022, eqs. 4.18, 5.6).
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import load_twist, store_twist
from ..algebra.cholesky_rows import factorize_rows, solve_rows_of
from ..algebra.inertia import add_inertia, load_inertia, momentum
from ..algebra.vectors import Array, dot6, scale_add6
from ..compiler.jit import for_muscles, shared
from ..forces.elements import element_forces
from ..forces.limits import limit_forces
from ..forces.passive import limit_ahead, passive_force
from ..joints.accelerations import spread_accelerations
from ..muscles.force import muscle_loads


@shared
def clear_rows(dof: Array) -> None:
    """Clear the rows of the mass matrix."""
    for d in range(dof.shape[0]):
        for e in range(dof.shape[0]):
            dof[d, at.DOF_WORK_WIDTH + e] = 0.0


@shared
def mass_rows(arrays: Array, work: Array, dof: Array) -> None:
    """Add the tree's mass matrix to the coordinates' rows (the lower triangle), and store the bodies' generalized
    forces in `REMAINDER`; overwrites inertias and forces.
    """
    body_int, dof_float = arrays[at.BODY_INT], arrays[at.DOF_FLOAT]
    for i in range(body_int.shape[0] - 1, -1, -1):
        inertia, force = load_inertia(work, i), load_twist(work, i, at.FORCE)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            dof[d, at.REMAINDER] = -dot6(s, force)
            carried = momentum(inertia, s)
            dof[d, at.DOF_WORK_WIDTH + d] += dof_float[d, at.ARMATURE]
            for e in range(first, d + 1):
                dof[d, at.DOF_WORK_WIDTH + e] += dot6(load_twist(dof, e, at.SUBSPACE), carried)
            ancestor = body_int[i, at.PARENT]
            while ancestor >= 0:
                start = body_int[ancestor, at.DOF_START]
                for e in range(start, start + body_int[ancestor, at.DOF_COUNT]):
                    dof[d, at.DOF_WORK_WIDTH + e] += dot6(load_twist(dof, e, at.SUBSPACE), carried)
                ancestor = body_int[ancestor, at.PARENT]
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            add_inertia(work, parent, inertia)
            store_twist(work, parent, at.FORCE, scale_add6(load_twist(work, parent, at.FORCE), 1.0, force))


@shared
def take_limits_ahead(dof_float: Array, q: Array, rate: Array, ahead: float, dof: Array) -> None:
    """Add implicit limits to the rows of the mass matrix and to the remaining forces."""
    for d in range(dof.shape[0]):
        if dof[d, at.HELD] == 0.0:
            push, added = limit_ahead(dof_float, d, q[d], rate[d], ahead)
            dof[d, at.REMAINDER] += push
            dof[d, at.DOF_WORK_WIDTH + d] += added
            for back in range(min(d + 1, 3)):
                dof[d, at.DOF_WORK_WIDTH + d - back] += dof[d, at.COUPLED + back]


@for_muscles()
def dense_accelerations(
    arrays: Array,
    q: Array,
    qd: Array,
    rate: Array,
    tau: Array,
    qdd: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """As `aba.accelerations`, after `kinematics`; stores the mass matrix and its factor in dof."""
    body_int, _, _, data, dof_float = arrays
    nv = dof.shape[0]
    ahead = work[body_int.shape[0] + at.SURFACE_ROWS, at.AHEAD]
    for d in range(nv):
        qdd[d] = dof[d, at.GIVEN]
    spread_accelerations(arrays, qdd, True, work, dof)
    if data[at.LIMIT_COUNT] > 0.0:
        limit_forces(data, q, rate, ahead, dof)
    if data[at.ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    clear_rows(dof)
    muscle_loads(arrays, q, qd, qdd, tau, True, True, work, dof)
    mass_rows(arrays, work, dof)
    if ahead > 0.0:
        take_limits_ahead(dof_float, q, rate, ahead, dof)
    bad = factorize_rows(dof)
    if bad >= 0:
        own = dof[bad, at.DOF_WORK_WIDTH + bad]
        flags[at.STATUS] = at.SINGULAR if own < math.inf else at.NOT_FINITE
        flags[at.CULPRIT] = owner_of(body_int, bad)
        return
    for d in range(nv):
        rest = dof[d, at.REMAINDER] + tau[d] + dof[d, at.EXTRA] - dof_float[d, at.ARMATURE] * dof[d, at.GIVEN]
        qdd[d] = rest + passive_force(dof_float, data, tau, d, q[d], rate[d])
    solve_rows_of(qdd, qdd, dof)
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            dof[d, at.EFFORT] = qdd[d]
            qdd[d] = dof[d, at.GIVEN]


@shared
def owner_of(body_int: Array, coordinate: int) -> int:
    """The body whose joint has this coordinate."""
    for i in range(body_int.shape[0]):
        if coordinate < body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]:
            return i
    return 0
