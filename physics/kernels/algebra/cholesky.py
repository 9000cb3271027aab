"""Cholesky factorization with pivots of a matrix that may be singular; it reports redundant rows."""

import math

from ..compiler.jit import shared
from .vectors import Array

# A row whose own diagonal falls below this share is a combination of others, up to round-off.
DEPENDENT = 1e-11


@shared
def gather_block(matrix: Array, order: Array, begin: int, end: int) -> int:
    """Move the rows of order[begin:end] that are coupled with the first to the front; returns one past the last."""
    stop, i = begin + 1, begin
    while i < stop and stop < end:
        row = order[i]
        for j in range(stop, end):
            if matrix[row, order[j]] != 0.0:
                order[stop], order[j] = order[j], order[stop]
                stop += 1
        i += 1
    return stop


@shared
def factorize_block(matrix: Array, order: Array, begin: int, stop: int, factor: Array, left: Array) -> int:
    """Factors of the rows order[begin:stop] as a separate matrix; returns one past the last independent row."""
    for i in range(begin, stop):
        row = order[i]
        left[row] = matrix[row, row]
        for j in range(begin):
            factor[row, j] = 0.0
    for k in range(begin, stop):
        best, rest, scale = k, left[order[k]], matrix[order[k], order[k]]
        for i in range(k + 1, stop if k > begin else begin):
            row = order[i]
            if left[row] * scale > rest * matrix[row, row]:
                best, rest, scale = i, left[row], matrix[row, row]
        if not rest > DEPENDENT * scale:
            return k
        pivot = order[best]
        order[best] = order[k]
        order[k] = pivot
        root = math.sqrt(left[pivot])
        factor[pivot, k] = root
        inverse = 1.0 / root
        for i in range(k + 1, stop):
            row = order[i]
            total = matrix[row, pivot]
            for j in range(begin, k):
                total -= factor[row, j] * factor[pivot, j]
            total *= inverse
            factor[row, k] = total
            left[row] -= total * total
    return stop


@shared
def factorize(matrix: Array, order: Array, count: int, factor: Array, begins: Array) -> int:
    """Factors of the rows and columns order[:count] of a positive semidefinite matrix; returns their rank.

    order is permuted: its first `rank` rows are independent. Pivots are chosen by the remaining share of a row's own
    diagonal, so that rows in metres and in radians count alike. Row order[i] of factor (n, n) holds the factor's i-th
    row; uncoupled rows come block by block, and begins (n,) is the column in which a row's block begins.
    """
    rank, end = 0, count
    for i in range(count - 1, -1, -1):  # no impulse moves these rows
        row = order[i]
        if not matrix[row, row] > 0.0:
            end -= 1
            order[i], order[end], begins[row] = order[end], row, 0.0
    while rank < end:
        stop = gather_block(matrix, order, rank, end)
        done = factorize_block(matrix, order, rank, stop, factor, begins)
        for i in range(rank, stop):
            begins[order[i]] = rank
        for i in range(stop - 1, done - 1, -1):  # dependent rows come last
            end -= 1
            order[i], order[end] = order[end], order[i]
        rank = done
    return rank


@shared
def solve_factored(
    factor: Array, order: Array, rank: int, count: int, begins: Array, right: Array, result: Array
) -> None:
    """Solve matrix result = right for the rows order[:count]; the results of dependent rows stay 0."""
    for k in range(rank):
        row = order[k]
        total = right[row]
        for j in range(int(begins[row]), k):
            total -= factor[row, j] * result[order[j]]
        result[row] = total / factor[row, k]
    for k in range(rank - 1, -1, -1):
        row = order[k]
        total = result[row]
        for i in range(k + 1, rank):
            if begins[order[i]] != begins[row]:
                break
            total -= factor[order[i], k] * result[order[i]]
        result[row] = total / factor[row, k]
    for k in range(rank, count):
        result[order[k]] = 0.0


@shared
def residual_of(
    matrix: Array, order: Array, rank: int, count: int, begins: Array, right: Array, result: Array
) -> float:
    """Residual of the rows order[:count], over their own diagonals, relative to the result's length."""
    missed, size = 0.0, 0.0
    for i in range(count):
        row = order[i]
        total, k = -right[row], int(begins[row])
        while k < rank and begins[order[k]] == begins[row]:
            total += matrix[row, order[k]] * result[order[k]]
            k += 1
        share = total / matrix[row, row] if matrix[row, row] > 0.0 else 0.0
        missed += share * share
        size += result[row] * result[row]
    return math.sqrt(missed / size if size > 0.0 else missed)
