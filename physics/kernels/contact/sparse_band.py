"""A matrix whose rows are kept between their first and last column: factors without fill outside."""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import sparse_layout as at

# A pivot below this share of what its row began with is lost.
LOST = 1e-13


@shared
def factorize_band(size: int, rows: Array, band: Array, begun: Array) -> bool:
    """L U in place, without pivots; False where a pivot is lost. begun (size,): a workspace.

    Row i holds the columns LOW to HIGH, from BEGIN on; a column's first row is the row's first column.
    """
    for i in range(size):
        begun[i] = abs(band[rows[i, at.BEGIN] + i - rows[i, at.LOW]])
    for i in range(size):
        low, origin = rows[i, at.LOW], rows[i, at.BEGIN] - rows[i, at.LOW]
        for k in range(low, i):
            factor = band[origin + k]
            if factor == 0.0:
                continue
            above = rows[k, at.BEGIN] - rows[k, at.LOW]
            factor /= band[above + k]
            band[origin + k] = factor
            first, other = origin + k + 1, above + k + 1
            for j in range(rows[k, at.HIGH] - k - 1):
                band[first + j] -= factor * band[other + j]
        if not abs(band[origin + i]) > LOST * begun[i]:
            return False
    return True


@inline
def dot_of(count: int, band: Array, first: int, x: Array, other: int) -> float:
    """Sum of products of `count` entries; four sums at once, which do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    even = count - count % 4
    for j in range(0, even, 4):
        a += band[first + j] * x[other + j]
        b += band[first + j + 1] * x[other + j + 1]
        c += band[first + j + 2] * x[other + j + 2]
        d += band[first + j + 3] * x[other + j + 3]
    for j in range(even, count):
        a += band[first + j] * x[other + j]
    return (a + b) + (c + d)


@shared
def solve_band(size: int, rows: Array, band: Array, x: Array) -> None:
    """Solve in place with the factors."""
    for i in range(size):
        low = rows[i, at.LOW]
        x[i] -= dot_of(i - low, band, rows[i, at.BEGIN], x, low)
    for i in range(size - 1, -1, -1):
        own = rows[i, at.BEGIN] + i - rows[i, at.LOW]
        x[i] = (x[i] - dot_of(rows[i, at.HIGH] - i - 1, band, own + 1, x, i + 1)) / band[own]
