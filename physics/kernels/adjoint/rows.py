"""Rows of constraints in a stage backwards.

With rows J(q) q' = 0 and their forces l, a stage has R(q, q', a) = J^T l (see `stage` and `stepping.implicit_stage`).
Let T = d(J^T l)/dq and B = d(J q')/dq at fixed l and q'. The solution (y, z) of

    (M + s D + s^2 (K - T))^T y + (J + s B)^T z = l_a + s m',    J y = 0

then gives the derivatives by p, n - (K - T)^T y - B^T z / s, and by v, m' - (D + s (K - T))^T y - (J + s B)^T z / s.
"""

from typing import TypeAlias

from .. import layout as at
from ..algebra.lu import lu_factorize, lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.rows import system_rows
from ..joints.kinematics import kinematics
from ..stepping.bundles import Implicit, Spaces
from ..stepping.implicit_matrix import DEPENDENT

# `stepping.bundles.More` and workspace of the steps, forces of rows in the stages and last in the one at hand (stages +
# 1, r), J of the second equation, J + s B of the first, B (r, nv), T (nv, nv), matrix (nv + r, nv + r), pivots, vectors
# (5, nv + r), and dJ/dq (2, r, nv, nv) of the stage by central and by forward differences
Rows: TypeAlias = tuple[Array, Implicit, Array, Array, Array, Array, Array, Array, Array, Array, Array]
MORE, FORCES, JACOBIAN, TURNED = 0, 2, 3, 6
# vectors: the right side, the solution, what it lacks, and solutions of projections, or displaced coordinates
RIGHT, FOUND, LACK, BY_PLACE, BY_SPEED = range(5)
VECTORS = 5

# displacement of coordinates [rad, m] for the rows' derivatives: differences of order two and round-off are then 1e-10
FAR = 1e-5
# solutions with rows that depend on others are improved until a change is this share of them
MOST_TURNS, SMALL = 8, 1e-14


@shared
def dense_rows(arrays: Array, more: Array, q: Array, qd: Array, jacobian: Array, spaces: Spaces) -> None:
    """J (r, nv) at q."""
    constraints, system = more[0], more[1]
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    system_rows(arrays, constraints, True, q, qd, system, spaces)
    (values, columns, spans), kinds = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_KINDS]
    for k in range(jacobian.shape[0]):
        for d in range(jacobian.shape[1]):
            jacobian[k, d] = 0.0
        if kinds[k] == con.EQUALITY:
            for c in range(spans[k, con.SPAN_COUNT]):
                jacobian[k, columns[k, c]] += values[k, c]


@shared
def add_displaced(
    arrays: Array,
    rows: Rows,
    far: float,
    weight: float,
    e: int,
    motion: tuple[Array, Array],
    into: Array,
    spaces: Array,
) -> None:
    """Add J at q, displaced by far along coordinate e, times the weight to into[:, :, e]."""
    more, place, (q, qd), (work, dof, flags) = rows[0], rows[9][BY_PLACE], motion, spaces
    (values, columns, spans), kinds, nv = more[1][con.SYSTEM_JACOBIAN], more[1][con.SYSTEM_KINDS], q.shape[0]
    for d in range(nv):
        place[d] = q[d]
    place[e] += far
    kinematics(arrays, place[:nv], qd, work, dof, flags)
    system_rows(arrays, more[0], True, place[:nv], qd, more[1], spaces)
    for k in range(into.shape[0]):
        for c in range(spans[k, con.SPAN_COUNT] if kinds[k] == con.EQUALITY else 0):
            into[k, columns[k, c], e] += weight * values[k, c]


@shared
def derive_rows(arrays: Array, rows: Rows, motion: tuple[Array, Array], spaces: Spaces) -> None:
    """J and dJ/dq of a stage at the motion (q, q')."""
    more, _, _, jacobian, _, _, _, _, _, _, slopes = rows
    (q, qd), central, forward = motion, slopes[0], slopes[1]
    dense_rows(arrays, more, q, qd, jacobian, spaces)
    for k in range(jacobian.shape[0]):
        for d in range(q.shape[0]):
            for e in range(q.shape[0]):
                central[k, d, e], forward[k, d, e] = 0.0, -jacobian[k, d] / FAR
    for e in range(q.shape[0] if jacobian.shape[0] > 0 else 0):
        add_displaced(arrays, rows, FAR, 1.0 / FAR, e, motion, forward, spaces)
        add_displaced(arrays, rows, -FAR, -0.5 / FAR, e, motion, central, spaces)
    for k in range(jacobian.shape[0]):
        for d in range(q.shape[0]):
            for e in range(q.shape[0]):
                central[k, d, e] += 0.5 * (forward[k, d, e] + jacobian[k, d] / FAR)


@shared
def prepare_stage(rows: Rows, step: float, stage: int, qd: Array) -> None:
    """J + s B, B and T of a stage, after `derive_rows`."""
    _, _, forces, jacobian, ahead, swung, turned, _, _, _, slopes = rows
    here, central, nv = forces[forces.shape[0] - 1], slopes[0], qd.shape[0]
    for d in range(nv):
        for e in range(nv):
            turned[d, e] = 0.0
    for k in range(here.shape[0]):
        here[k] = forces[stage, k]
        for e in range(nv):
            swung[k, e] = 0.0
        for d in range(nv):
            for e in range(nv):
                turned[d, e] += here[k] * central[k, d, e]
                swung[k, e] += qd[d] * central[k, d, e]
        for e in range(nv):
            ahead[k, e] = jacobian[k, e] + step * swung[k, e]


@inline
def force_on(d: int, jacobian: Array, forces: Array) -> float:
    """The generalized force of rows on coordinate d."""
    total = 0.0
    for k in range(jacobian.shape[0]):
        total += jacobian[k, d] * forces[k]
    return total


@shared
def factorize_bordered(rows: Rows, leading: Array, mass: Array, dof: Array) -> int:
    """Factors of [leading, ahead^T; J, -c] with a small compliance c, as rows may depend on others; the number of a
    coordinate without a pivot, or -1.
    """
    _, _, _, jacobian, ahead, _, _, matrix, pivots, _, _ = rows
    nv, n = dof.shape[0], matrix.shape[0]
    for e in range(nv):
        for d in range(nv):
            matrix[e, d] = leading[e, d]
    for k in range(n - nv):
        answer = 0.0
        for e in range(nv):
            matrix[nv + k, e] = matrix[e, nv + k] = 0.0
            if dof[e, at.HELD] == 0.0:
                matrix[nv + k, e], matrix[e, nv + k] = jacobian[k, e], ahead[k, e]
                answer += jacobian[k, e] * jacobian[k, e] / mass[e, e]
        for j in range(n - nv):
            matrix[nv + k, nv + j] = 0.0
        matrix[nv + k, nv + k] = -DEPENDENT * answer if answer > 0.0 else -1.0
    bad = lu_factorize(matrix, pivots)
    return bad if bad < nv else nv - 1


@shared
def solve_bordered(rows: Rows, leading: Array, dof: Array) -> None:
    """Solve [leading, ahead^T; J, 0] FOUND = RIGHT, two of the vectors, by factors of this or of a near matrix: what
    the solution lacks is solved for in turn.
    """
    _, _, _, jacobian, ahead, _, _, matrix, pivots, vectors, _ = rows
    right, found, lack = vectors[RIGHT], vectors[FOUND], vectors[LACK]
    nv, n = dof.shape[0], matrix.shape[0]
    for i in range(n):
        found[i], lack[i] = 0.0, right[i]
    for _ in range(MOST_TURNS):
        lu_solve(matrix, pivots, lack[:n])
        most, change = 0.0, 0.0
        for i in range(n):
            found[i] += lack[i]
            if i < nv:
                most, change = max(most, abs(found[i])), max(change, abs(lack[i]))
            lack[i] = right[i]
        if not change > SMALL * most:
            break
        for e in range(nv):
            for d in range(nv):
                lack[e] -= leading[e, d] * found[d]
            if dof[e, at.HELD] == 0.0:
                for k in range(n - nv):
                    lack[e] -= ahead[k, e] * found[nv + k]
                    lack[nv + k] -= jacobian[k, e] * found[e]


@shared
def solve_stage_back(rows: Rows, fresh: bool, leading: Array, mass: Array, y: Array, dof: Array) -> int:
    """y (nv,) from its right side, in place, by new factors if fresh; z stays in FOUND. Returns a coordinate without a
    pivot, or -1.
    """
    vectors, nv, bad = rows[9], y.shape[0], -1
    if fresh:
        bad = factorize_bordered(rows, leading, mass, dof)
    for i in range(vectors.shape[1]):
        vectors[RIGHT, i] = y[i] if i < nv else 0.0
    if bad < 0:
        solve_bordered(rows, leading, dof)
    for d in range(nv):
        y[d] = vectors[FOUND, d]
    return bad


@shared
def take_rows(rows: Rows, step: float, n: Array, m: Array) -> None:
    """The part of the rows in the derivatives by the known part of a stage that is not of length 0."""
    _, _, _, jacobian, ahead, swung, _, _, _, vectors, _ = rows
    nv = jacobian.shape[1]
    for k in range(jacobian.shape[0]):
        force = vectors[FOUND, nv + k] / step
        for e in range(nv):
            n[e] -= force * swung[k, e]
            m[e] -= force * ahead[k, e]
