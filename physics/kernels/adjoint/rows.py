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
from ..constraints.row_slopes import row_slopes
from ..constraints.rows import system_rows
from ..joints.kinematics import kinematics
from ..stepping.bundles import Spaces

# constraints, system and motions (see `stepping.bundles.More`), tangents of joints, forces of rows in the stages and
# last in the one at hand (stages + 1, r), J of the second equation, J + s B of the first, B (r, nv), T (nv, nv), matrix
# (nv + r, nv + r), pivots, and vectors (3, nv + r)
Rows: TypeAlias = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]
GIVEN, FORCES, JACOBIAN, TURNED = 0, 2, 3, 6
# vectors: a solution, and those of a projection
FOUND, BY_PLACE, BY_SPEED = range(3)
VECTORS = 3

# Compliance of rows, relative to their response: they may be redundant. Solutions are off by this share.
DEPENDENT = 1e-12


@inline
def fill_row(k: int, acts: bool, system: Array, jacobian: Array) -> None:
    """Row k of J, zeros unless it acts."""
    values, columns, spans = system[con.SYSTEM_JACOBIAN]
    for d in range(jacobian.shape[1]):
        jacobian[k, d] = 0.0
    for c in range(spans[k, con.SPAN_COUNT] if acts else 0):
        jacobian[k, columns[k, c]] += values[k, c]


@shared
def dense_rows(arrays: Array, given: Array, q: Array, qd: Array, jacobian: Array, spaces: Spaces) -> None:
    """J (r, nv) at q."""
    constraints, system, _ = given
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    system_rows(arrays, constraints, True, q, qd, system, spaces)
    for k in range(jacobian.shape[0]):
        fill_row(k, system[con.SYSTEM_KINDS][k] == con.EQUALITY, system, jacobian)


@shared
def derive_rows(
    arrays: Array,
    rows: Rows,
    forces: Array,
    motion: tuple[Array, Array],
    weights: Array,
    pulled: Array,
    spaces: Spaces,
) -> None:
    """T of some forces (r,) and B, or weights^T T, at the motion (q, q') of the last kinematics (see `row_slopes`)."""
    (constraints, _, _), tangents, _, _, _, swung, turned, _, _, _ = rows
    q, qd = motion
    row_slopes(arrays, constraints, forces, q, qd, tangents, spaces, turned, swung, weights, pulled)


@shared
def prepare_stage(
    arrays: Array,
    rows: Rows,
    step: float,
    stage: int,
    motion: tuple[Array, Array],
    last: bool,
    spaces: Spaces,
) -> None:
    """J, J + s B, B and T of a stage at the motion (q, q'); the last one has the J and the kinematics of
    `projection.take_turning`.
    """
    _, _, forces, jacobian, ahead, swung, _, _, _, _ = rows
    here = forces[forces.shape[0] - 1]
    for k in range(here.shape[0]):
        here[k] = forces[stage, k]
    if here.shape[0] > 0:
        if not last:
            dense_rows(arrays, rows[0], motion[0], motion[1], jacobian, spaces)
        derive_rows(arrays, rows, here, motion, here[:0], here, spaces)
    for k in range(here.shape[0]):
        for e in range(jacobian.shape[1]):
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
    _, _, _, jacobian, ahead, _, _, matrix, pivots, _ = rows
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
def solve_stage_back(rows: Rows, fresh: bool, leading: Array, mass: Array, y: Array, dof: Array) -> int:
    """y (nv,) from its right side, in place, by new factors if fresh; z stays in FOUND. Returns a coordinate without a
    pivot, or -1.
    """
    _, _, _, _, _, _, _, matrix, pivots, vectors = rows
    nv, bad = y.shape[0], -1
    if fresh:
        bad = factorize_bordered(rows, leading, mass, dof)
    for i in range(vectors.shape[1]):
        vectors[FOUND, i] = y[i] if i < nv else 0.0
    if bad < 0:
        lu_solve(matrix, pivots, vectors[FOUND])
    for d in range(nv):
        y[d] = vectors[FOUND, d]
    return bad


@shared
def take_rows(rows: Rows, step: float, n: Array, m: Array) -> None:
    """The part of the rows in the derivatives by the known part of a stage that is not of length 0."""
    _, _, _, jacobian, ahead, swung, _, _, _, vectors = rows
    nv = jacobian.shape[1]
    for k in range(jacobian.shape[0]):
        force = vectors[FOUND, nv + k] / step
        for e in range(nv):
            n[e] -= force * swung[k, e]
            m[e] -= force * ahead[k, e]
