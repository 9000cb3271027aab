"""Cholesky's factors with pivots of a matrix that may be singular: redundant rows are told, not divided by."""

from __future__ import annotations

import math

from ._jit import jit
from .spatial import Array

# What is left of a row's own diagonal when it is a combination of others: round-off, squared by nothing.
DEPENDENT = 1e-11


@jit
def factorize(matrix: Array, order: Array, count: int, factor: Array, left: Array) -> int:
    """Factors of the rows and columns order[:count] of a positive semidefinite matrix; returns their rank.

    order is permuted: the first `rank` of it are independent, pivots by the share of their own diagonal that is left,
    so that rows in metres and in radians count alike. factor (n, n) holds in row order[i] the i-th row of the factor,
    left (n,) is a workspace.
    """
    for k in range(count):
        left[order[k]] = matrix[order[k], order[k]]
    for k in range(count):
        best, share = k, -1.0
        for i in range(k, count):
            row = order[i]
            scale = matrix[row, row]
            rest = left[row] / scale if scale > 0.0 else 0.0
            if rest > share:
                best, share = i, rest
        if not share > DEPENDENT:
            return k
        pivot = order[best]
        order[best] = order[k]
        order[k] = pivot
        root = math.sqrt(left[pivot])
        factor[pivot, k] = root
        for i in range(k + 1, count):
            row = order[i]
            total = matrix[row, pivot]
            for j in range(k):
                total -= factor[row, j] * factor[pivot, j]
            total /= root
            factor[row, k] = total
            left[row] -= total * total
    return count


@jit
def solve_factored(factor: Array, order: Array, rank: int, count: int, right: Array, result: Array) -> None:
    """result of matrix result = right for the rows order[:count]; dependent ones stay 0."""
    for k in range(rank):
        row = order[k]
        total = right[row]
        for j in range(k):
            total -= factor[row, j] * result[order[j]]
        result[row] = total / factor[row, k]
    for k in range(rank - 1, -1, -1):
        row = order[k]
        total = result[row]
        for i in range(k + 1, rank):
            total -= factor[order[i], k] * result[order[i]]
        result[row] = total / factor[row, k]
    for k in range(rank, count):
        result[order[k]] = 0.0
