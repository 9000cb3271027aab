"""Lists of contacts of a pair of shapes, in rows of the space of `collider_layout`."""

from __future__ import annotations

import math

from ..algebra.access import load3, store3
from ..algebra.vectors import Array, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import collider_layout as solid

# Lengths that differ by less, as a share of the size of the smaller shape, are equal.
EQUAL = 1e-9


@inline
def foot(space: Array, k: int) -> Vector:
    """The point of the second core: that of the first one may be the same for several contacts, as of a sphere."""
    return scale_add3(load3(space, k, solid.POINT), -space[k, solid.GAP], load3(space, k, solid.NORMAL))


@shared
def add_candidate(
    space: Array, count: int, point: Vector, normal: Vector, gap: float, exact: bool, apart: float
) -> int:
    """Append a contact unless one is there already; returns their number. exact: the gap is the distance of the two
    features.
    """
    for k in range(count):
        way = subtract3(load3(space, k, solid.POINT), point)
        if dot3(way, way) <= apart * apart:
            return count
    store3(space, count, solid.POINT, point)
    store3(space, count, solid.NORMAL, normal)
    space[count, solid.GAP], space[count, solid.EXACT] = gap, exact
    return count + 1


@shared
def keep_above(space: Array, count: int, least: float, slack: float) -> int:
    """Drop contacts deeper than the two cores are by more than slack: their features do not face each other. Others
    become as deep as the cores. Returns how many remain.
    """
    kept = 0
    for k in range(count):
        if space[k, solid.GAP] >= least - slack:
            space[k, solid.GAP] = max(space[k, solid.GAP], least)
            for c in range(solid.SPACE_WIDTH):
                space[kept, c] = space[k, c]
            kept += 1
    return kept


@shared
def thin_out(space: Array, first: int, count: int, size: float) -> None:
    """Mark at most four contacts in rows from first on as taken: the deepest, then always the one farthest from those
    that are taken.
    """
    least, last = math.inf, first + count
    for k in range(first, last):
        least = min(least, space[k, solid.GAP])
        space[k, solid.TAKEN] = 0.0
    chosen = first
    while space[chosen, solid.GAP] > least + EQUAL * size:
        chosen += 1
    space[chosen, solid.TAKEN] = 1.0
    for _ in range(solid.MOST_POINTS - 1):
        farthest, chosen = 0.0, -1
        for k in range(first, last):
            if space[k, solid.TAKEN] != 0.0:
                continue
            nearest = math.inf
            for j in range(first, last):
                if space[j, solid.TAKEN] != 0.0:
                    way = subtract3(foot(space, k), foot(space, j))
                    nearest = min(nearest, dot3(way, way))
            if nearest > farthest * (1.0 + EQUAL):
                farthest, chosen = nearest, k
        if chosen < 0:
            break
        space[chosen, solid.TAKEN] = 1.0


@shared
def take(space: Array, first: int, count: int, target: int) -> int:
    """Move what is taken of the contacts in rows from first on to rows from target on; returns how many."""
    kept = 0
    for k in range(first, first + count):
        if space[k, solid.TAKEN] != 0.0:
            for c in range(solid.SPACE_WIDTH):
                space[target + kept, c] = space[k, c]
            kept += 1
    return kept
