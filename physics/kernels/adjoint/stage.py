"""One stage of an implicit step backwards.

A stage of length s has q' = v + s a and q = p + s q' with the known p and v, and accelerations a of the free
coordinates with R(q, q', a) = ID(q, q', a) - tau = 0. With K, D, M the derivatives of R by q, q' and a, a change of p,
v and of parameters gives

    (M + s D + s^2 K) da = -K dp - (D + s K) dv - dR.

So where a loss has the derivatives (n, m, l) by q, q' and a, and m' = m + s n, one solution y of

    (M + s D + s^2 K)^T y = l + s m'

gives those by p, n - K^T y, by v, m' - (D + s K)^T y, and by any parameter, -y^T dR. No iteration runs backwards.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as at
from ..algebra.lu import lu_factorize, lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..dynamics.coupled import owner_of
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..stepping.bundles import Slopes, Spaces
from . import layout as adjoint
from .rows import FORCES, JACOBIAN, TURNED, force_on, solve_stage_back, take_rows
from .states import Motion, push_lengths

# slopes (see `bundles`), system (nv, nv), pivots (nv,), vectors (see `layout`), tangents, columns of muscles
Lent: TypeAlias = tuple[Slopes, Array, Array, Array, Array, Array]


@shared
def transposed_matrix(step: float, slopes: Slopes, dof: Array, matrix: Array) -> None:
    """(M + s D + s^2 K)^T, where the equation of a prescribed coordinate is a = 0."""
    by_q, by_qd, mass = slopes
    for d in range(dof.shape[0]):
        held = dof[d, at.HELD] != 0.0
        for e in range(dof.shape[0]):
            matrix[e, d] = 0.0 if held else mass[d, e] + step * (by_qd[d, e] + step * by_q[d, e])
        if held:
            matrix[d, d] = 1.0


@shared
def pull_stage(
    arrays: Array, rows: Array, fresh: bool, step: float, motion: Motion, lent: Lent, spaces: Spaces
) -> bool:
    """Turn the derivatives BY_Q, BY_QD, BY_QDD of the loss by the stage's motion into BY_Q, BY_QD by its known part,
    and leave y in ANSWER; False with a flag where the matrix is singular. GIVEN_FORCE has forces, inputs and the known
    part of muscle states. rows is None, or where the model has constraints `rows.Rows`, with those of the stage; fresh:
    whether their matrix is a new one.
    """
    q, qd, qdd = motion
    slopes, matrix, pivots, vectors, tangents, _ = lent
    (by_q, by_qd, mass), (_, dof, flags), nv = slopes, spaces, q.shape[0]
    y, n, m = vectors[adjoint.ANSWER, :nv], vectors[adjoint.BY_Q], vectors[adjoint.BY_QD]
    for j in range(vectors.shape[1]):
        vectors[adjoint.FOUND_FORCE, j] = vectors[adjoint.GIVEN_FORCE, j]
    found = vectors[adjoint.FOUND_FORCE]
    inverse_dynamics_derivatives(arrays, q, qd, qdd, found, slopes, tangents, spaces)
    if rows is not None:
        for d in range(nv):
            for e in range(nv):
                by_q[d, e] -= rows[TURNED][d, e]
    push_lengths(arrays, step, motion, found, vectors[adjoint.BY_STATES], n, spaces)
    for d in range(nv):
        m[d] += step * n[d]
        y[d] = vectors[adjoint.BY_QDD, d] + step * m[d]
    transposed_matrix(step, slopes, dof, matrix)
    if rows is not None:
        bad = solve_stage_back(rows, fresh, matrix, mass, y, dof)
    else:
        bad = lu_factorize(matrix, pivots)
        if bad < 0:
            lu_solve(matrix, pivots, y)
    if bad >= 0:
        flags[at.STATUS], flags[at.CULPRIT] = at.SINGULAR, owner_of(arrays[at.BODY_INT], bad)
        return False
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            y[d] = 0.0
        for e in range(nv):
            n[e] -= y[d] * by_q[d, e]
            m[e] -= y[d] * (by_qd[d, e] + step * by_q[d, e])
    if rows is not None and step > 0.0:
        take_rows(rows, step, n, m)
    return True


@shared
def note_stage(rows: Array, step: float, motion: Motion, extra: Array, lent: Lent, notes: Array) -> None:
    """After `pull_stage`: what derivatives by joints need (NOTES, nv), see `layout`. Coordinates behind joints are no
    part of the motion: what was derived by them goes from BY_Q and BY_QD.
    """
    (_, _, mass), _, _, vectors, _, _ = lent
    n, m, y = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.ANSWER]
    (q, qd, qdd), nv = motion, motion[0].shape[0]
    for d in range(nv):
        notes[0, d], notes[1, d], notes[2, d], notes[3, d] = q[d], qd[d], qdd[d], y[d]
    for k in range(extra.shape[0]):
        d = extra[k]
        notes[0, d], notes[1, d], notes[2, d] = n[d], m[d] - step * n[d], 0.0
        notes[3, d] = -vectors[adjoint.FOUND_FORCE, d]
        if rows is not None:
            notes[3, d] += force_on(d, rows[JACOBIAN], rows[FORCES][rows[FORCES].shape[0] - 1])
        for e in range(nv):
            notes[2, d] -= y[e] * mass[e, d]
        n[d], m[d] = 0.0, 0.0
