"""Central path to the impulses of contacts with friction: slower on small problems, but robust.

Acary, Armand, Nguyen & Shpakovych (2023): u + mu |u_t| n in the dual cone is a separate variable, the term |u_t| is
linearized with the rest, cones are scaled after Nesterov & Todd (1998). Normal impulses are measured in mu, so that all
cones are |x_t| <= x_n. A weight that shrinks with the gap bounds impulses that oppose each other (bodies wedged between
others).
"""

from __future__ import annotations

import math

from ..algebra.linear import solve_square
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import impulse_layout as solver
from .impulse_layout import combine, push

MOST_STEPS = 100
CENTERING, MOST_CENTERING = 0.2, 0.9
CLOSED = 1e-13  # share of the first gap
WEIGHT = 0.01
NEAREST = 1e-4  # share of a cone's determinant that a step preserves; for a single number its root
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
    """Direction of the tangential part."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    if length == 0.0:
        return 0.0, 0.0
    return x[1] / length, x[2] / length


@shared
def start(first: int, cones: int, m: int, space: Array) -> float:
    """Set equal impulses along the cones' axes, and their duals; returns their size."""
    size = 0.0
    for i in range(first, m):
        size = max(size, abs(space[solver.RIGHT, i]) * space[solver.SCALE, i])
    for i in range(first, m):
        space[solver.SPEED, i] = space[solver.RIGHT, i]
        space[solver.IMPULSE, i] = 0.0
        space[solver.DUAL, i] = 0.0
    for i in range(first, m):
        if space[solver.SCALE, i] > 0.0 and (i >= cones or (i - first) % 3 == 0):
            space[solver.IMPULSE, i] = size / space[solver.FRICTION, i] if i < cones else size
            space[solver.DUAL, i] = size / space[solver.SCALE, i]
            push(i, space[solver.IMPULSE, i], first, m, space, solver.SPEED)
    return size


@shared
def add_cone(i: int, k: int, n: int, target: float, space: Array, top: int) -> None:
    """Add the cone of the contact at row i to the linear system, at its rows from k on.

    The scaling's matrix is h (2 (J w) (J w)^T - J) with J = diag(1, -1, -1), w of determinant 1.
    """
    mu = space[solver.FRICTION, i]
    x, z = (
        moved(solver.IMPULSE, solver.STEP, 0.0, mu, i, space),
        moved(solver.DUAL, solver.DUAL_STEP, 0.0, 1.0, i, space),
    )
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
    speed = c * space[solver.SPEED, i + 1] + d * space[solver.SPEED, i + 2]
    space[solver.TRIAL, k] += mu * (target * x[0] / dx - speed)
    space[solver.TRIAL, k + 1] -= target * x[1] / dx
    space[solver.TRIAL, k + 2] -= target * x[2] / dx
    for j in range(n):
        space[top + k, j] += mu * (
            c * space[solver.VECTORS + i + 1, i - k + j] + d * space[solver.VECTORS + i + 2, i - k + j]
        )


@shared
def path_step(first: int, cones: int, m: int, target: float, weight: float, space: Array) -> None:
    """Changes of impulses, speeds and duals towards the point of the path where impulse times dual is target."""
    top, n = solver.VECTORS + m, m - first
    for i in range(first, m):
        alive = space[solver.SCALE, i] > 0.0
        for j in range(n):
            space[top + i - first, j] = space[solver.VECTORS + i, first + j] if alive else 0.0
        space[top + i - first, i - first] += weight if alive else 1.0
        space[solver.TRIAL, i - first] = (
            -space[solver.SPEED, i] - weight * space[solver.IMPULSE, i] if alive else 0.0
        )
        space[solver.RISE, i] = 0.0
    for i in range(first, cones, 3):
        if space[solver.SCALE, i] > 0.0:
            add_cone(i, i - first, n, target, space, top)
    for i in range(cones, m):
        if space[solver.SCALE, i] > 0.0:
            space[top + i - first, i - first] += space[solver.DUAL, i] / space[solver.IMPULSE, i]
            space[solver.TRIAL, i - first] += target / space[solver.IMPULSE, i]
    solve_square(space, top, n, space[solver.TRIAL])
    for i in range(first, m):
        space[solver.STEP, i] = space[solver.TRIAL, i - first]
        push(i, space[solver.STEP, i], first, m, space, solver.RISE)
    for i in range(first, m):
        after = (
            space[solver.SPEED, i]
            + space[solver.RISE, i]
            + weight * (space[solver.IMPULSE, i] + space[solver.STEP, i])
        )
        space[solver.DUAL_STEP, i] = after - space[solver.DUAL, i]
        if i < cones and (i - first) % 3 == 0:
            c, d = direction(moved(solver.DUAL, solver.DUAL, 0.0, 1.0, i, space))
            slip = c * (space[solver.SPEED, i + 1] + space[solver.RISE, i + 1])
            slip += d * (space[solver.SPEED, i + 2] + space[solver.RISE, i + 2])
            space[solver.DUAL_STEP, i] = after / space[solver.FRICTION, i] + slip - space[solver.DUAL, i]


@shared
def stays_inside(first: int, cones: int, m: int, share: float, space: Array) -> bool:
    """Whether impulses and duals stay inside their cones for a share of their step."""
    for i in range(first, cones, 3):
        if space[solver.SCALE, i] > 0.0:
            mu = space[solver.FRICTION, i]
            x, z = (
                moved(solver.IMPULSE, solver.STEP, share, mu, i, space),
                moved(solver.DUAL, solver.DUAL_STEP, share, 1.0, i, space),
            )
            least_x = NEAREST * determinant(moved(solver.IMPULSE, solver.STEP, 0.0, mu, i, space))
            least_z = NEAREST * determinant(moved(solver.DUAL, solver.DUAL_STEP, 0.0, 1.0, i, space))
            if not (x[0] > 0.0 and z[0] > 0.0 and determinant(x) > least_x and determinant(z) > least_z):
                return False
    root = math.sqrt(NEAREST)
    for i in range(cones, m):
        if space[solver.SCALE, i] > 0.0:
            if not (
                space[solver.IMPULSE, i] + share * space[solver.STEP, i] > root * space[solver.IMPULSE, i]
            ):
                return False
            if not (
                space[solver.DUAL, i] + share * space[solver.DUAL_STEP, i] > root * space[solver.DUAL, i]
            ):
                return False
    return True


@shared
def follow_path(first: int, cones: int, m: int, space: Array) -> None:
    """Follow the path from zero to impulses and speeds as near to its end as round-off allows."""
    size = start(first, cones, m, space)
    widest, centering = 0.0, CENTERING
    for _ in range(MOST_STEPS):
        gap, blocks = 0.0, 0
        for i in range(first, m):
            normal = i < cones and (i - first) % 3 == 0
            gap += (
                space[solver.IMPULSE, i]
                * space[solver.DUAL, i]
                * (space[solver.FRICTION, i] if normal else 1.0)
            )
            if space[solver.SCALE, i] > 0.0 and (normal or i >= cones):
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
        combine(solver.IMPULSE, solver.IMPULSE, share, solver.STEP, first, m, space)
        combine(solver.SPEED, solver.SPEED, share, solver.RISE, first, m, space)
        combine(solver.DUAL, solver.DUAL, share, solver.DUAL_STEP, first, m, space)
