"""Impulses of an impact with restitution, kinetic energy never growing.

Newton's law first: a one-sided row or contact leaves with `restitution` times the speed of its approach, friction keeps
to its cone. Without friction and with one restitution for all that lose no energy, it cannot add any. Where it would
(friction that turns the slip around: Kane & Levinson 1985; unlike restitutions), or no impulses would do (a ball
between two walls that touches both cannot leave either), Moreau's law instead (1988): every contact's impulse of the
inelastic impact again in the share of its restitution (Poisson's hypothesis, of the whole impulse), and what keeps rows
from closing. With one restitution for all it never adds energy; with several the second part is cut to the share that
adds none.
"""

from __future__ import annotations

import math

from ..algebra.spatial import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from .impulse_residual import row_speed
from .impulses import solve_impulses

AIM, FIRST, SECOND = 0, 1, 2
IMPACT_VECTORS = 3
APART = 1e-7  # of the largest speed
# of the speeds: a point that can only jam bears impulses against each other until their round-off moves it
LARGEST = 1e6
GROWN = 1e-9  # of the work that the impulses do one way and the other: what is less is round-off


@shared
def work_of(
    count: int, matrix: Array, before: Array, first: Array, second: Array
) -> tuple[float, float, float]:
    """Work of the impulses `second` (count,) upon a motion that starts with `before` and has had the impulses `first`:
    its linear part, its quadratic part, and the sum of both's terms without their signs.
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
    """Whether no row moves as it must not: where no impulses can have that, those that are found grow without end."""
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

    The residual that comes back is against all of them.
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
    # what keeps rows from closing may be round-off, of which anything is missed
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
    """Impulses (count,) of an impact, from those that are there to begin with; the largest residual of the problems
    that were solved (see `solve_impulses`, also for the other arguments).

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
