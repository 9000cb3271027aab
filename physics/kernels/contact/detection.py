"""Points of bodies near obstacles: one row a contact, for the impulse solver.

`pairs` is one array: the number of pairs, a row for each, then the obstacles' records (see `geometry`). A pair is one
point with a radius, in the link frame of its body, and one obstacle, fixed to another body or to the world.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import flat3, flat9, load3, load_rotation
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, add3, scale_add3
from ..compiler.jit import shared
from ..forces.points import carried, reference_of
from . import layout as contact
from .geometry import obstacle_distance


@shared
def detect_contacts(arrays: Array, pairs: Array, reach: float, work: Array, found: Array) -> int:
    """Write the pairs with a gap below reach to the rows of found (most, FOUND_WIDTH); returns their number, -1 if too
    many.

    After `outward`. A row of found: the body, the other one (-1 the world), the point of the body's surface nearest to
    the obstacle and the unit normal from the obstacle to the body, both in the world, the gap (negative where they
    overlap), friction, restitution, the pair's number, twice.
    """
    body_int, body_float = arrays[at.BODY_INT], arrays[at.BODY_FLOAT]
    count = 0
    for k in range(int(pairs[contact.PAIR_COUNT])):
        row = 1 + k * contact.PAIR_WIDTH
        body, other = int(pairs[row + contact.PAIR_BODY]), int(pairs[row + contact.PAIR_OTHER])
        obstacle, radius = int(pairs[row + contact.PAIR_OBSTACLE]), pairs[row + contact.PAIR_RADIUS]
        lever = carried(work, body, flat3(pairs, row + contact.PAIR_POINT))
        here, there = reference_of(body_int, work, body), reference_of(body_int, work, other)
        # from the obstacle's origin; within one tree, the distance from the world's origin is not added
        x = add3(lever, scale_add3(here, -1.0, there))
        x = scale_add3(x, -1.0, carried(work, other, flat3(pairs, obstacle + contact.OBSTACLE_POSITION)))
        inward = scale_add3(carried(work, body, load3(body_float, body, at.COM)), -1.0, lever)
        turn = flat9(pairs, obstacle + contact.OBSTACLE_ROTATION)
        if other >= 0:
            back = transposed(load_rotation(work, other))
            x, inward = rotate(back, x), rotate(back, inward)
        back = transposed(turn)
        distance, normal = obstacle_distance(
            pairs, obstacle, rotate(back, x), rotate(back, inward), reach + radius
        )
        gap = distance - radius
        if not gap < reach:
            continue
        if count == found.shape[0]:
            return -1
        normal = rotate(turn, normal)
        if other >= 0:
            normal = rotate(load_rotation(work, other), normal)
        point = scale_add3(add3(lever, here), -radius, normal)
        found[count, contact.FOUND_BODY], found[count, contact.FOUND_OTHER] = body, other
        for n in range(3):
            found[count, contact.FOUND_POINT + n] = point[n]
            found[count, contact.FOUND_NORMAL + n] = normal[n]
        found[count, contact.FOUND_GAP] = gap
        found[count, contact.FOUND_FRICTION] = pairs[row + contact.PAIR_FRICTION]
        found[count, contact.FOUND_RESTITUTION] = pairs[row + contact.PAIR_RESTITUTION]
        found[count, contact.FOUND_PAIR] = found[count, contact.FOUND_SOURCE] = k
        count += 1
    return count
