"""Dense linear systems that are part of a larger array."""

from ..compiler.jit import shared
from .vectors import Array


@shared
def solve_square(a: Array, top: int, size: int, x: Array) -> None:
    """x <- A^-1 x by elimination with row pivots; overwrites the size x size matrix at row `top` of a."""
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
