"""Impulses of an impact with restitution that never add kinetic energy.

First, Newton's law: a one-sided row or contact rebounds with `restitution` times its approach speed, with friction in
its cone. It adds no energy without friction and with one restitution for all rows. If it would add energy (friction
that reverses the slip: Kane & Levinson 1985; different restitutions), or if it has no solution (a ball that touches two
opposite walls), Moreau's law (1988) replaces it: the impulses of the inelastic impact, then the share `restitution` of
each of them again (Poisson's hypothesis for the whole impulse), and impulses that keep rows from closing. With one
restitution for all it never adds energy; with several the second part is scaled to add none.
"""

from __future__ import annotations

import math

from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from .impulse_residual import row_speed
from .impulses import solve_impulses

AIM, FIRST, SECOND = 0, 1, 2
IMPACT_VECTORS = 3
APART = 1e-7  # of the largest speed
# share of the speeds: opposing impulses of a jammed point grow until round-off moves it
LARGEST = 1e6
GROWN = 1e-9  # of the work of both signs: less is round-off


@shared
def work_of(
    count: int, matrix: Array, before: Array, first: Array, second: Array
) -> tuple[float, float, float]:
    """Work of the impulses `second` (count,) on a motion that starts with `before` and has received the impulses
    `first`: its linear part, its quadratic part, and the sum of absolute terms.
    """
    linear, quadratic, size = 0.0, 0.0, 0.0
    for i in range(count):
        if second[i] == 0.0:
            continue
        speed, change = before[i], 0.0
        for j in range(count):
            speed += matrix[i, j] * first[j]
            change += matrix[i, j] * second[j]
        linear += second[i] * speed
        quadratic += 0.5 * second[i] * change
        size += abs(second[i]) * (abs(speed) + abs(change))
    return linear, quadratic, size


@shared
def keeps_apart(count: int, matrix: Array, right: Array, kinds: Array, impulse: Array) -> bool:
    """Whether no row violates its condition and impulses are bounded: they are not if none can meet all conditions."""
    largest, worst, most = 0.0, 0.0, 0.0
    for i in range(count):
        most = max(most, matrix[i, i] * abs(impulse[i]))
        if kinds[i] != con.TANGENT:
            speed = row_speed(i, count, matrix, right, impulse)
            worst = max(worst, abs(speed) if kinds[i] == con.EQUALITY else -speed)
        largest = max(largest, abs(right[i]))
    return worst <= APART * largest and most <= LARGEST * largest


@shared
def repeat_with_restitution(
    count: int,
    matrix: Array,
    before: Array,
    kinds: Array,
    friction: Array,
    restitution: Array,
    impulse: Array,
    space: Array,
    order: Array,
    spare: Array,
) -> float:
    """Moreau's law: impulses of the inelastic impact (into the row FIRST of spare), then their share again (SECOND).

    Returns the residual relative to all of them.
    """
    aim, first, second = spare[AIM], spare[FIRST], spare[SECOND]
    for i in range(count):
        first[i], second[i], impulse[i] = 0.0, 0.0, 0.0
    residual = solve_impulses(count, matrix, before, kinds, friction, first, space, order)
    for i in range(count):
        if kinds[i] == con.UNILATERAL or kinds[i] == con.NORMAL:
            for k in range(3 if kinds[i] == con.NORMAL else 1):
                second[i + k] = restitution[i] * first[i + k]
    for i in range(count):
        aim[i] = before[i]
        for j in range(count):
            aim[i] += matrix[i, j] * (first[j] + second[j])
    missed = solve_impulses(count, matrix, aim, kinds, friction, impulse, space, order)
    own, whole = 0.0, 0.0
    for i in range(count):
        second[i] += impulse[i]
        own += impulse[i] * impulse[i]
        whole += (first[i] + second[i]) ** 2
    # impulses that keep rows from closing may be round-off, with a meaningless residual
    return max(residual, missed * math.sqrt(own / whole) if whole > 0.0 else missed)


@shared
def solve_impacts(
    count: int,
    matrix: Array,
    before: Array,
    kinds: Array,
    friction: Array,
    restitution: Array,
    impulse: Array,
    space: Array,
    order: Array,
    spare: Array,
) -> float:
    """Impulses (count,) of an impact, from the present ones as a warm start; returns the largest residual of its
    problems (see `solve_impulses`, also for the other arguments).

    Args:
        before: speeds of the rows before the impact (count,).
        restitution: in UNILATERAL and NORMAL rows, 0 to 1.
        spare: workspace (IMPACT_VECTORS, count).
    """
    aim, first, second = spare[AIM], spare[FIRST], spare[SECOND]
    for i in range(count):
        aim[i], first[i] = before[i], 0.0
        if (kinds[i] == con.UNILATERAL or kinds[i] == con.NORMAL) and before[i] < 0.0:
            aim[i] *= 1.0 + restitution[i]
    residual = solve_impulses(count, matrix, aim, kinds, friction, impulse, space, order)
    if keeps_apart(count, matrix, aim, kinds, impulse):
        linear, quadratic, size = work_of(count, matrix, before, first, impulse)
        if linear + quadratic <= GROWN * size:
            return residual
    residual = repeat_with_restitution(
        count, matrix, before, kinds, friction, restitution, impulse, space, order, spare
    )
    for i in range(count):
        aim[i] = 0.0
    linear, quadratic, _ = work_of(count, matrix, before, aim, first)
    lost = max(-linear - quadratic, 0.0)
    linear, quadratic, size = work_of(count, matrix, before, first, second)
    share = 1.0
    if linear + quadratic > lost + GROWN * size:
        share = 2.0 * lost / (linear + math.sqrt(linear * linear + 4.0 * quadratic * lost))
    for i in range(count):
        impulse[i] = first[i] + share * second[i]
    return residual
