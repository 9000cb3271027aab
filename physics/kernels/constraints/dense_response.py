"""Response to impulses by a dense matrix in place of the tree's inertia: that of an implicit step with soft bodies.

With it stiff elements give way to impulses as they do to other forces of the step. The solvers of rows need a symmetric
response, so the antisymmetric part of the matrix, which is of the order of the step, is left out.
"""

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import shared
from .loops import backward, forward

# Share of a coordinate's own inertia below which a pivot is replaced by this inertia, as velocities that change much
# within a step may need.
LEAST_PIVOT = 1e-9


@shared
def factorize_response(matrix: Array, mass: Array, dof: Array, kept: Array) -> None:
    """Write to kept (nv, nv) Cholesky's factor of the free coordinates' symmetric part on and below the diagonal, and
    above it the force on prescribed coordinates by the rates of the others. mass: the tree's.
    """
    n = dof.shape[0]
    for i in range(n):
        for j in range(i + 1):
            free = dof[i, at.HELD] == 0.0 and dof[j, at.HELD] == 0.0
            kept[j, i] = matrix[i, j] if dof[j, at.HELD] != 0.0 else matrix[j, i]
            if free:
                kept[i, j] = 0.5 * (matrix[i, j] + matrix[j, i])
            else:
                kept[i, j] = 1.0 if i == j else 0.0
    for j in range(n):
        for i in range(j, n):
            total = kept[i, j]
            for k in range(j):
                total -= kept[i, k] * kept[j, k]
            if i > j:
                kept[i, j] = total / kept[j, j]
            elif total > LEAST_PIVOT * mass[j, j]:
                kept[j, j] = math.sqrt(total)
            else:
                kept[j, j] = math.sqrt(mass[j, j])


@shared
def dense_response(kept: Array, impulse: Array, change: Array, dof: Array) -> None:
    """Change of velocity (nv,) by an impulse; at prescribed coordinates the constraint impulse."""
    n = dof.shape[0]
    for d in range(n):
        change[d] = impulse[d] if dof[d, at.HELD] == 0.0 else 0.0
    forward(n, kept, change)
    backward(n, kept, change)
    for d in range(n):
        if dof[d, at.HELD] != 0.0:
            total = -impulse[d]
            for e in range(n):
                if dof[e, at.HELD] == 0.0:
                    total += kept[min(d, e), max(d, e)] * change[e]
            change[d] = total
