"""Dense linear systems in place: symmetric ones eliminated in part, with pivots; square ones by factors."""

from __future__ import annotations

import math

from ._jit import jit
from .spatial import Array


@jit
def eliminate(
    a: Array, top: int, head: int, size: int, right: Array, order: Array, own: Array, least: float
) -> int:
    """Eliminate the first `head` of `size` rows of the symmetric matrix whose upper triangle begins at row `top` of a.

    Cholesky's factor U (W = U^T U) takes the place of the rows of the pivots, the Schur complement that of the rest;
    right (size,) is carried along, order and own (size,) are permuted with the rows. Largest pivots first; those that
    are less than `least` of own, the rows' first diagonal, count as zero and their rows as dependent. The number of
    pivots.
    """
    for k in range(head):
        best, p = 0.0, -1
        for i in range(k, head):
            pivot = a[top + i, i]
            if pivot > best and pivot > least * own[i]:
                best, p = pivot, i
        if p < 0:
            return k
        if p != k:
            swap_rows(a, top, k, p, size)
            right[k], right[p] = right[p], right[k]
            order[k], order[p] = order[p], order[k]
            own[k], own[p] = own[p], own[k]
        root = math.sqrt(best)
        share = 1.0 / root
        a[top + k, k] = root
        right[k] *= share
        for j in range(k + 1, size):
            a[top + k, j] *= share
        for i in range(k + 1, size):
            factor = a[top + k, i]
            if factor != 0.0:
                right[i] -= factor * right[k]
                for j in range(i, size):
                    a[top + i, j] -= factor * a[top + k, j]
    return head


@jit
def swap_rows(a: Array, top: int, k: int, p: int, size: int) -> None:
    """Exchange rows and columns k < p of a symmetric matrix of which the upper triangle is kept."""
    for j in range(k):
        a[top + j, k], a[top + j, p] = a[top + j, p], a[top + j, k]
    for j in range(k + 1, p):
        a[top + k, j], a[top + j, p] = a[top + j, p], a[top + k, j]
    for j in range(p + 1, size):
        a[top + k, j], a[top + p, j] = a[top + p, j], a[top + k, j]
    a[top + k, k], a[top + p, p] = a[top + p, p], a[top + k, k]


@jit
def solve_square(a: Array, top: int, size: int, x: Array) -> None:
    """x <- A^-1 x by elimination with row pivots; the size x size matrix at row `top` of a is used up."""
    for k in range(size):
        p, best = k, abs(a[top + k, k])
        for i in range(k + 1, size):
            if abs(a[top + i, k]) > best:
                p, best = i, abs(a[top + i, k])
        if best == 0.0:
            x[k] = 0.0
            a[top + k, k] = 1.0
            continue
        if p != k:
            for j in range(k, size):
                a[top + k, j], a[top + p, j] = a[top + p, j], a[top + k, j]
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, size):
            factor = a[top + i, k] / a[top + k, k]
            if factor != 0.0:
                x[i] -= factor * x[k]
                for j in range(k + 1, size):
                    a[top + i, j] -= factor * a[top + k, j]
    for k in range(size - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, size):
            total -= a[top + k, j] * x[j]
        x[k] = total / a[top + k, k]
