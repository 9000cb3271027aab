"""The dense matrix of a stage of an implicit step (see `implicit_stage`)."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from .bundles import More, Slopes

DEPENDENT = (
    1e-8  # compliance of constraints in the iteration, relative to their response: rows may be redundant
)


@shared
def constraint_matrix(more: More, slopes: Slopes, dof: Array, matrix: Array) -> None:
    """Rows and columns of the equalities, from the Jacobian of `add_multipliers`."""
    _, system, _, _, _, _, _, _ = more
    (values, columns, spans), kinds = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_KINDS]
    (_, _, mass), nv = slopes, dof.shape[0]
    for k in range(matrix.shape[0] - nv):
        for e in range(matrix.shape[0]):
            matrix[nv + k, e] = matrix[e, nv + k] = 0.0
        answer = 0.0
        for c in range(spans[k, con.SPAN_COUNT] if kinds[k] == con.EQUALITY else 0):
            d = columns[k, c]
            matrix[nv + k, d] += values[k, c]
            if dof[d, at.HELD] == 0.0:
                matrix[d, nv + k] -= values[k, c]
                # a tracked target has almost no mass
                answer += values[k, c] * values[k, c] / mass[d, d]
        matrix[nv + k, nv + k] = DEPENDENT * answer if answer > 0.0 else 1.0


@shared
def step_matrix(more: More, step: float, slopes: Slopes, dof: Array, matrix: Array) -> None:
    """M + s dID/dq' + s^2 dID/dq, bordered by the constraints; the row of a prescribed coordinate is that of the
    identity.
    """
    by_q, by_qd, mass = slopes
    for d in range(dof.shape[0]):
        if dof[d, at.HELD] != 0.0:
            for e in range(dof.shape[0]):
                matrix[d, e] = 0.0
            matrix[d, d] = 1.0
        else:
            for e in range(dof.shape[0]):
                matrix[d, e] = mass[d, e] + step * (by_qd[d, e] + step * by_q[d, e])
    if more is not None:
        constraint_matrix(more, slopes, dof, matrix)
