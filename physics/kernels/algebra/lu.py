"""Gaussian elimination with row pivots of a dense matrix that need not be symmetric."""

from ..compiler.jit import inline, shared
from .vectors import Array


@inline
def row_times(matrix: Array, i: int, begin: int, end: int, x: Array) -> float:
    """Entries of row i times those of x (n,): four sums at a time, as each addition waits for the one before."""
    a, b, c, d, j = 0.0, 0.0, 0.0, 0.0, begin
    while j + 3 < end:
        a += matrix[i, j] * x[j]
        b += matrix[i, j + 1] * x[j + 1]
        c += matrix[i, j + 2] * x[j + 2]
        d += matrix[i, j + 3] * x[j + 3]
        j += 4
    while j < end:
        a += matrix[i, j] * x[j]
        j += 1
    return (a + b) + (c + d)


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
        x[i] -= row_times(matrix, i, 0, i, x)
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - row_times(matrix, i, i + 1, n, x)) / matrix[i, i]
