"""Residuals of impulses (see `impulses`)."""

from __future__ import annotations

import math

from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from .cone import project_on_cone
from .newton import LARGEST


@shared
def overgrown(count: int, matrix: Array, right: Array, impulse: Array) -> float:
    """Ratio of the impulses' size to the largest that the rows' speeds without impulses explain, at least 1: it is
    large if impulses oppose each other without bound.
    """
    size, asked = 0.0, 0.0
    for i in range(count):
        size += impulse[i] * impulse[i]
        asked += (right[i] / matrix[i, i]) ** 2 if matrix[i, i] > 0.0 else 0.0
    return max(math.sqrt(size / asked) / LARGEST, 1.0) if asked > 0.0 else 1.0


@inline
def contact_miss(x: Vector, u: Vector, r: float, mu: float) -> float:
    """Square of what a contact's impulse x and speeds u miss of its conditions, r the inverse of its response."""
    slip = math.sqrt(u[1] * u[1] + u[2] * u[2])
    y = project_on_cone((x[0] - r * (u[0] + mu * slip), x[1] - r * u[1], x[2] - r * u[2]), mu)
    return (x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2 + (x[2] - y[2]) ** 2


@shared
def natural_residual(
    count: int, matrix: Array, right: Array, kinds: Array, friction: Array, impulse: Array
) -> float:
    """|lambda - proj_K(lambda - r (u + mu |u_t| n))| / |lambda| over all rows, r the inverse of a contact's mean
    response (0 for rows without response).
    """
    total, size = 0.0, 0.0
    for i in range(count):
        size += impulse[i] * impulse[i]
        if kinds[i] == con.TANGENT:
            continue
        u = row_speed(i, count, matrix, right, impulse)
        response = matrix[i, i]
        if kinds[i] != con.NORMAL:
            f = u / response if response > 0.0 else 0.0
            if kinds[i] == con.UNILATERAL:
                f = min(f, impulse[i])
            total += f * f
            continue
        mu = friction[i]
        v = row_speed(i + 1, count, matrix, right, impulse)
        w = row_speed(i + 2, count, matrix, right, impulse)
        response = (response + matrix[i + 1, i + 1] + matrix[i + 2, i + 2]) / 3.0
        r = 1.0 / response if matrix[i, i] > 0.0 else 0.0
        x = impulse[i], impulse[i + 1], impulse[i + 2]
        total += contact_miss(x, (u, v, w), r, mu)
    if size == 0.0:
        return math.sqrt(total)
    return math.sqrt(total / size)


@shared
def row_speed(i: int, count: int, matrix: Array, right: Array, impulse: Array) -> float:
    """u of row i."""
    total: float = right[i]
    for j in range(count):
        total += matrix[i, j] * impulse[j]
    return total
