"""Semismooth Newton steps for contacts with friction and one-sided rows, on the projections of Alart & Curnier (1991);
an active set for one-sided rows alone.
"""

from __future__ import annotations

import math

from ..algebra.linear import solve_square
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import impulse_layout as solver
from .impulse_layout import combine, push

PROXIMAL = 1e-10  # weight of the impulses of redundant rows
SETTLED = 1e-13
UNKNOWN = -1  # no state
MOST_PIVOTS = 10  # a row
MOST_HALVINGS = 12
DESCENT = 0.1
LARGEST = (
    1e3  # impulses, relative to those that would stop each row's speed: beyond that they grow without bound
)


@inline
def aim(i: int, space: Array, impulse: int, speed: int) -> tuple[Vector, float]:
    """The projection's argument of the contact at row i, lambda - scale u, and its tangential length."""
    r = space[solver.SCALE, i + 1]
    x = (
        space[impulse, i] - space[solver.SCALE, i] * space[speed, i],
        space[impulse, i + 1] - r * space[speed, i + 1],
        space[impulse, i + 2] - r * space[speed, i + 2],
    )
    return x, math.sqrt(x[1] * x[1] + x[2] * x[2])


@inline
def most_rightly(first: int, m: int, space: Array) -> float:
    """Square of the largest size of impulses that the rows' speeds without impulses explain."""
    asked = 0.0
    for i in range(first, m):
        asked += (space[solver.SCALE, i] * space[solver.RIGHT, i]) ** 2
    return LARGEST * LARGEST * asked


@shared
def defect(first: int, cones: int, m: int, space: Array, impulse: int, speed: int) -> tuple[float, float]:
    """Squares of Alart & Curnier's function of two vectors of space (impulses and their speeds), and of the impulses,
    limited to the size that the rows' speeds without impulses explain.
    """
    total, size = 0.0, 0.0
    for i in range(first, cones, 3):
        x, length = aim(i, space, impulse, speed)
        radius = space[solver.FRICTION, i] * max(x[0], 0.0)
        share = radius / length if length > radius else 1.0
        f = space[impulse, i] - max(x[0], 0.0)
        g, h = space[impulse, i + 1] - share * x[1], space[impulse, i + 2] - share * x[2]
        total += f * f + g * g + h * h
        f, g, h = space[impulse, i], space[impulse, i + 1], space[impulse, i + 2]
        size += f * f + g * g + h * h
    for i in range(cones, m):
        f = min(space[impulse, i], space[solver.SCALE, i] * space[speed, i])
        total += f * f
        size += space[impulse, i] * space[impulse, i]
    return total, min(size, most_rightly(first, m, space))


@shared
def choose(first: int, cones: int, m: int, space: Array, order: Array) -> None:
    """State of each contact by Alart & Curnier's function, into the second third of order."""
    third = order.shape[0] // 3
    for i in range(first, cones, 3):
        x, length = aim(i, space, solver.IMPULSE, solver.SPEED)
        state = solver.OPEN
        if x[0] > 0.0:
            state = solver.STICK if length <= space[solver.FRICTION, i] * x[0] else solver.SLIDE
        order[third + i] = order[third + i + 1] = order[third + i + 2] = state
    for i in range(cones, m):
        active = space[solver.IMPULSE, i] - space[solver.SCALE, i] * space[solver.SPEED, i] > 0.0
        order[third + i] = solver.STICK if active else solver.OPEN


@inline
def forget_factors(order: Array) -> None:
    """Note that there are no factors of `sparse`."""
    order[2 * (order.shape[0] // 3)] = UNKNOWN


@inline
def has_factors(m: int, order: Array) -> bool:
    """Whether the last factors of `sparse` are of the chosen states, by the last third of order."""
    same, states = True, order.shape[0] // 3
    for i in range(m):
        same = same and order[2 * states + i] == order[states + i]
    return same


@inline
def weight_of(i: int, first: int, cones: int, space: Array, order: Array) -> float:
    """Weight of an impulse in directions without motion; small for sliding tangents, whose direction is known."""
    slides = i < cones and order[order.shape[0] // 3 + i] == solver.SLIDE and (i - first) % 3 > 0
    return PROXIMAL if slides else space[solver.HOLD, i]


@shared
def clean_step(first: int, cones: int, m: int, space: Array, order: Array) -> None:
    """Newton's step without the round-off of redundant rows. These never agree exactly, so each step would add opposing
    impulses of the size of round-off over their weight.
    """
    newton_step(first, cones, m, space, order, 0.0)
    for i in range(first, m):
        space[solver.DUAL, i] = space[solver.SPEED, i]
        if space[solver.SCALE, i] > 0.0:
            space[solver.SPEED, i] += (
                weight_of(i, first, cones, space, order) / space[solver.SCALE, i] * space[solver.STEP, i]
            )
    newton_step(first, cones, m, space, order, 0.0)
    for i in range(first, m):
        space[solver.SPEED, i] = space[solver.DUAL, i]


@shared
def newton_step(first: int, cones: int, m: int, space: Array, order: Array, centred: float) -> None:
    """Change of the impulses, and of speeds by it, that gives every contact its chosen state; among redundant rows the
    least change, or with centred = 1 that to the least impulses.

    Open ones lose their impulse, sticking ones their speed; a sliding one loses its normal speed, its friction becomes
    mu times the normal impulse, its direction follows by the derivative (Hueber, Stadler & Wohlmuth 2008).
    """
    third, top = order.shape[0] // 3, solver.VECTORS + m
    act = 2 * third
    n = 0
    for i in range(first, m):
        space[solver.RISE, i] = 0.0
    for i in range(first, m):
        space[solver.STEP, i] = -space[solver.IMPULSE, i]
        if order[third + i] == solver.OPEN:
            push(i, -space[solver.IMPULSE, i], first, m, space, solver.RISE)
        else:
            order[act + n] = i
            n += 1
    for k in range(n):
        i = order[act + k]
        r = space[solver.SCALE, i]
        for j in range(n):
            space[top + k, j] = r * space[solver.VECTORS + i, order[act + j]]
        space[top + k, k] += weight_of(i, first, cones, space, order)
        space[solver.TRIAL, k] = (
            -r * (space[solver.SPEED, i] + space[solver.RISE, i])
            - centred * space[solver.HOLD, i] * space[solver.IMPULSE, i]
        )
    k = 0
    while k < n:
        i = order[act + k]
        if order[third + i] == solver.SLIDE:
            slide(i, k, n, top, space)
        k += 3 if i < cones else 1
    solve_square(space, top, n, space[solver.TRIAL])
    for k in range(n):
        i = order[act + k]
        space[solver.STEP, i] = space[solver.TRIAL, k]
        push(i, space[solver.TRIAL, k], first, m, space, solver.RISE)


@shared
def slide(i: int, k: int, n: int, top: int, space: Array) -> None:
    """Equations of the sliding contact at row i, in place of those of its two tangents' speeds at k + 1 and k + 2.

    Along the direction of its aim lambda_t = mu lambda_n; across it share r u + (1 - share) lambda = 0, where share is
    the ratio of the cone's radius to the aim.
    """
    mu = space[solver.FRICTION, i]
    x, length = aim(i, space, solver.IMPULSE, solver.SPEED)
    d, e = x[1] / length, x[2] / length
    share = mu * x[0] / length
    y = (space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2])
    for j in range(n):
        space[top + k + 2, j] = share * (d * space[top + k + 2, j] - e * space[top + k + 1, j])
        space[top + k + 1, j] = 0.0
    space[top + k + 2, k + 1] -= (1.0 - share) * e
    space[top + k + 2, k + 2] += (1.0 - share) * d
    across = share * (d * space[solver.TRIAL, k + 2] - e * space[solver.TRIAL, k + 1])
    space[solver.TRIAL, k + 2] = across - (1.0 - share) * (d * y[2] - e * y[1])
    space[top + k + 1, k], space[top + k + 1, k + 1], space[top + k + 1, k + 2] = -mu, d, e
    space[solver.TRIAL, k + 1] = mu * y[0] - d * y[1] - e * y[2]


@shared
def descend(first: int, cones: int, m: int, space: Array, value: float) -> bool:
    """Newton's step, halved until the defect falls below value; False if it does not."""
    share = 1.0
    for _ in range(MOST_HALVINGS):
        combine(solver.TRIAL, solver.IMPULSE, share, solver.STEP, first, m, space)
        combine(solver.TRIAL_SPEED, solver.SPEED, share, solver.RISE, first, m, space)
        if (
            defect(first, cones, m, space, solver.TRIAL, solver.TRIAL_SPEED)[0]
            < (1.0 - DESCENT * share) * value
        ):
            combine(solver.IMPULSE, solver.IMPULSE, share, solver.STEP, first, m, space)
            combine(solver.SPEED, solver.SPEED, share, solver.RISE, first, m, space)
            return True
        share *= 0.5
    return False


@shared
def pivot_rows(first: int, m: int, space: Array, order: Array) -> None:
    """One-sided rows alone: the active set grows by the worst row, and loses those that would pull (Lawson & Hanson
    1974). Every turn lowers a convex energy, so it ends, even with redundant rows.
    """
    third = order.shape[0] // 3
    for i in range(first, m):
        order[third + i] = solver.STICK if space[solver.IMPULSE, i] > 0.0 else solver.OPEN
    for _ in range(MOST_PIVOTS * m):
        newton_step(first, first, m, space, order, 0.0)
        share, blocking = 1.0, -1
        for i in range(first, m):
            if (
                order[third + i] == solver.STICK
                and space[solver.IMPULSE, i] + share * space[solver.STEP, i] < 0.0
            ):
                share, blocking = -space[solver.IMPULSE, i] / space[solver.STEP, i], i
        largest, worst, chosen = 0.0, 0.0, -1
        combine(solver.IMPULSE, solver.IMPULSE, share, solver.STEP, first, m, space)
        combine(solver.SPEED, solver.SPEED, share, solver.RISE, first, m, space)
        for i in range(first, m):
            largest = max(largest, space[solver.IMPULSE, i])
        if blocking >= 0:
            space[solver.IMPULSE, blocking] = 0.0
            order[third + blocking] = solver.OPEN
            continue
        for i in range(first, m):
            miss = -space[solver.SCALE, i] * space[solver.SPEED, i]
            if order[third + i] == solver.STICK:
                miss = abs(miss)
            if miss > worst + SETTLED * (largest + space[solver.SCALE, i] * abs(space[solver.RIGHT, i])):
                worst, chosen = miss, i
        if chosen < 0:
            return
        order[third + chosen] = solver.STICK
