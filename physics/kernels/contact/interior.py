"""The central path to the impulses of contacts with friction: slow for few of them, but led astray by little.

Acary, Armand, Nguyen & Shpakovych (2023): u + mu |u_t| n in the dual cone is a variable of its own, the term |u_t| is
linearized like everything else, cones are scaled after Nesterov & Todd (1998). In the normal direction impulses are
measured in mu, so that all cones are |x_t| <= x_n. A weight that shrinks with the gap keeps impulses that press against
each other without end (bodies wedged between others) finite.
"""

from __future__ import annotations

import math

from ..algebra.linear import solve_square
from ..algebra.spatial import Array, Vector
from ..compiler.jit import inline, shared
from .impulse_layout import (
    DUAL,
    DUAL_STEP,
    FRICTION,
    IMPULSE,
    RIGHT,
    RISE,
    SCALE,
    SPEED,
    STEP,
    TRIAL,
    VECTORS,
    combine,
    push,
)

MOST_STEPS = 100
CENTERING, MOST_CENTERING = 0.2, 0.9
CLOSED = 1e-13  # share of the first gap
WEIGHT = 0.01
NEAREST = 1e-4  # a step leaves this share of a cone's determinant, of a number its root
SHORTER = 0.85
SHORTEST = 1e-4


@shared
def determinant(x: Vector) -> float:
    """x_n^2 - |x_t|^2, positive inside the cone."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    return (x[0] - length) * (x[0] + length)


@shared
def moved(row: int, step: int, share: float, mu: float, i: int, space: Array) -> Vector:
    """A contact's triple in a row of space after a share of a step, its normal entry times mu."""
    return (
        mu * (space[row, i] + share * space[step, i]),
        space[row, i + 1] + share * space[step, i + 1],
        space[row, i + 2] + share * space[step, i + 2],
    )


@inline
def direction(x: Vector) -> tuple[float, float]:
    """Of the tangential part."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    if length == 0.0:
        return 0.0, 0.0
    return x[1] / length, x[2] / length


@shared
def start(first: int, cones: int, m: int, space: Array) -> float:
    """Impulses along the cones' axes, all alike, and duals to them; their size."""
    size = 0.0
    for i in range(first, m):
        size = max(size, abs(space[RIGHT, i]) * space[SCALE, i])
    for i in range(first, m):
        space[SPEED, i] = space[RIGHT, i]
        space[IMPULSE, i] = 0.0
        space[DUAL, i] = 0.0
    for i in range(first, m):
        if space[SCALE, i] > 0.0 and (i >= cones or (i - first) % 3 == 0):
            space[IMPULSE, i] = size / space[FRICTION, i] if i < cones else size
            space[DUAL, i] = size / space[SCALE, i]
            push(i, space[IMPULSE, i], first, m, space, SPEED)
    return size


@shared
def add_cone(i: int, k: int, n: int, target: float, space: Array, top: int) -> None:
    """Add to the linear system, at its rows from k on, what the cone of the contact at row i has to say.

    The scaling's matrix is h (2 (J w) (J w)^T - J) with J = diag(1, -1, -1), w of determinant 1.
    """
    mu = space[FRICTION, i]
    x, z = moved(IMPULSE, STEP, 0.0, mu, i, space), moved(DUAL, DUAL_STEP, 0.0, 1.0, i, space)
    dx, dz = determinant(x), determinant(z)
    a, b = 1.0 / math.sqrt(dx), 1.0 / math.sqrt(dz)
    half = 1.0 / math.sqrt(2.0 * (1.0 + a * b * (x[0] * z[0] + x[1] * z[1] + x[2] * z[2])))
    w0, w1, w2 = half * (a * x[0] + b * z[0]), half * (b * z[1] - a * x[1]), half * (b * z[2] - a * x[2])
    h = a / b
    space[top + k, k] += h * mu * mu * (2.0 * w0 * w0 - 1.0)
    space[top + k, k + 1] += 2.0 * h * mu * w0 * w1
    space[top + k, k + 2] += 2.0 * h * mu * w0 * w2
    space[top + k + 1, k] += 2.0 * h * mu * w0 * w1
    space[top + k + 2, k] += 2.0 * h * mu * w0 * w2
    space[top + k + 1, k + 1] += h * (2.0 * w1 * w1 + 1.0)
    space[top + k + 1, k + 2] += 2.0 * h * w1 * w2
    space[top + k + 2, k + 1] += 2.0 * h * w1 * w2
    space[top + k + 2, k + 2] += h * (2.0 * w2 * w2 + 1.0)
    c, d = direction(z)
    speed = c * space[SPEED, i + 1] + d * space[SPEED, i + 2]
    space[TRIAL, k] += mu * (target * x[0] / dx - speed)
    space[TRIAL, k + 1] -= target * x[1] / dx
    space[TRIAL, k + 2] -= target * x[2] / dx
    for j in range(n):
        space[top + k, j] += mu * (
            c * space[VECTORS + i + 1, i - k + j] + d * space[VECTORS + i + 2, i - k + j]
        )


@shared
def path_step(first: int, cones: int, m: int, target: float, weight: float, space: Array) -> None:
    """Changes of impulses, speeds and duals towards the point of the path where impulse times dual is target."""
    top, n = VECTORS + m, m - first
    for i in range(first, m):
        alive = space[SCALE, i] > 0.0
        for j in range(n):
            space[top + i - first, j] = space[VECTORS + i, first + j] if alive else 0.0
        space[top + i - first, i - first] += weight if alive else 1.0
        space[TRIAL, i - first] = -space[SPEED, i] - weight * space[IMPULSE, i] if alive else 0.0
        space[RISE, i] = 0.0
    for i in range(first, cones, 3):
        if space[SCALE, i] > 0.0:
            add_cone(i, i - first, n, target, space, top)
    for i in range(cones, m):
        if space[SCALE, i] > 0.0:
            space[top + i - first, i - first] += space[DUAL, i] / space[IMPULSE, i]
            space[TRIAL, i - first] += target / space[IMPULSE, i]
    solve_square(space, top, n, space[TRIAL])
    for i in range(first, m):
        space[STEP, i] = space[TRIAL, i - first]
        push(i, space[STEP, i], first, m, space, RISE)
    for i in range(first, m):
        after = space[SPEED, i] + space[RISE, i] + weight * (space[IMPULSE, i] + space[STEP, i])
        space[DUAL_STEP, i] = after - space[DUAL, i]
        if i < cones and (i - first) % 3 == 0:
            c, d = direction(moved(DUAL, DUAL, 0.0, 1.0, i, space))
            slip = c * (space[SPEED, i + 1] + space[RISE, i + 1])
            slip += d * (space[SPEED, i + 2] + space[RISE, i + 2])
            space[DUAL_STEP, i] = after / space[FRICTION, i] + slip - space[DUAL, i]


@shared
def stays_inside(first: int, cones: int, m: int, share: float, space: Array) -> bool:
    """Whether impulses and duals keep off their cones' boundaries on a share of their step."""
    for i in range(first, cones, 3):
        if space[SCALE, i] > 0.0:
            mu = space[FRICTION, i]
            x, z = moved(IMPULSE, STEP, share, mu, i, space), moved(DUAL, DUAL_STEP, share, 1.0, i, space)
            least_x = NEAREST * determinant(moved(IMPULSE, STEP, 0.0, mu, i, space))
            least_z = NEAREST * determinant(moved(DUAL, DUAL_STEP, 0.0, 1.0, i, space))
            if not (x[0] > 0.0 and z[0] > 0.0 and determinant(x) > least_x and determinant(z) > least_z):
                return False
    root = math.sqrt(NEAREST)
    for i in range(cones, m):
        if space[SCALE, i] > 0.0:
            if not (space[IMPULSE, i] + share * space[STEP, i] > root * space[IMPULSE, i]):
                return False
            if not (space[DUAL, i] + share * space[DUAL_STEP, i] > root * space[DUAL, i]):
                return False
    return True


@shared
def follow_path(first: int, cones: int, m: int, space: Array) -> None:
    """Impulses and their speeds, from nothing, as near to the path's end as round-off lets."""
    size = start(first, cones, m, space)
    widest, centering = 0.0, CENTERING
    for _ in range(MOST_STEPS):
        gap, blocks = 0.0, 0
        for i in range(first, m):
            normal = i < cones and (i - first) % 3 == 0
            gap += space[IMPULSE, i] * space[DUAL, i] * (space[FRICTION, i] if normal else 1.0)
            if space[SCALE, i] > 0.0 and (normal or i >= cones):
                blocks += 1
        gap /= max(blocks, 1)
        widest = max(widest, gap)
        if gap <= CLOSED * widest:
            return
        path_step(first, cones, m, centering * gap, WEIGHT * gap / (size * size), space)
        share = 1.0
        while share > SHORTEST and not stays_inside(first, cones, m, share, space):
            share *= SHORTER
        if share <= SHORTEST:
            return
        centering = max(CENTERING, min(MOST_CENTERING, 1.0 - share))
        combine(IMPULSE, IMPULSE, share, STEP, first, m, space)
        combine(SPEED, SPEED, share, RISE, first, m, space)
        combine(DUAL, DUAL, share, DUAL_STEP, first, m, space)
