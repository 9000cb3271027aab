"""Gaussian elimination with row pivots of a dense matrix that need not be symmetric."""

from ..compiler.jit import shared
from .vectors import Array


@shared
def lu_factorize(matrix: Array, pivots: Array) -> int:
    """Overwrite matrix (n, n) with L U, rows exchanged as in pivots (n,); returns a column without a pivot, or -1."""
    n = matrix.shape[0]
    for k in range(n):
        best, most = k, abs(matrix[k, k])
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > most:
                best, most = i, abs(matrix[i, k])
        if not most > 0.0:
            return k
        pivots[k] = best
        if best != k:
            for j in range(n):
                kept = matrix[k, j]
                matrix[k, j] = matrix[best, j]
                matrix[best, j] = kept
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, n):
            share = matrix[i, k] * inverse
            matrix[i, k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= share * matrix[k, j]
    return -1


@shared
def lu_solve(matrix: Array, pivots: Array, x: Array) -> None:
    """Solve with the factors of `lu_factorize`; x (n,) comes in as the right side."""
    n = matrix.shape[0]
    for k in range(n):
        best = pivots[k]
        kept = x[best]
        x[best] = x[k]
        x[k] = kept
    for i in range(1, n):
        total = x[i]
        for j in range(i):
            total -= matrix[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= matrix[i, j] * x[j]
        x[i] = total / matrix[i, i]
