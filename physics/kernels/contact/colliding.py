"""Contacts between colliders: pairs of near ones by sweep and prune (Baraff 1992), then their contacts one by one.

The rows of found are as those of `detection`; numbers of contacts follow those of the pairs of points and obstacles.
A contact keeps its number, and so its memory, from step to step: it takes that of the nearest contact of the same two
colliders, seen from the first one's body.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import flat3, load3, load_rotation, load_twist, store3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import NONE, Array, Rotation, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import for_colliders, inline, shared
from ..forces.points import reference_of
from . import collider_layout as solid
from . import layout as contact
from .candidates import thin_out
from .cores import turn_core
from .manifolds import core_contacts, plane_contacts
from .mesh_manifolds import mesh_contacts

UPRIGHT: Rotation = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# Detections after which a contact that is not found again loses its number.
FORGOTTEN = 64


@inline
def link_place(arrays: Array, work: Array, body: int) -> tuple[Vector, Vector]:
    """Lever of a link's origin, and the reference point of the lever."""
    if body < 0:
        return NONE, NONE
    return load3(work, body, at.ORIGIN), reference_of(arrays[at.BODY_INT], work, body)


@inline
def turn_of(work: Array, body: int) -> Rotation:
    return load_rotation(work, body) if body >= 0 else UPRIGHT


@shared
def place_colliders(arrays: Array, colliders: Array, ahead: float, least: float, work: Array) -> int:
    """Turn all shapes and find their bounds, wider by their reach; returns the axis along which they spread most."""
    ints, floats, shapes, posed, bounds, _, _, _, _, _ = colliders
    total, squares, bounded = NONE, NONE, 0
    for i in range(ints.shape[0]):
        body, shape = int(ints[i, solid.SOLID_BODY]), int(ints[i, solid.SOLID_SHAPE])
        lever, reference = link_place(arrays, work, body)
        turn, reach = turn_of(work, body), least if least >= 0.0 else floats[i, solid.SOLID_REACH]
        if body >= 0:
            v = load_twist(work, body, at.VELOCITY)
            w = (v[0], v[1], v[2])
            going = add3((v[3], v[4], v[5]), cross(w, lever))
            fast = math.sqrt(dot3(going, going)) + floats[i, solid.SOLID_FARTHEST] * math.sqrt(dot3(w, w))
            reach += ahead * fast
        bounds[i, solid.REACH] = reach
        if ints[i, solid.SOLID_KIND] == solid.HALF_SPACE:
            n = rotate(turn, flat3(shapes, shape))
            posed[shape], posed[shape + 1], posed[shape + 2] = n[0], n[1], n[2]
            for c in range(3):
                bounds[i, solid.LOWER + c], bounds[i, solid.UPPER + c] = -math.inf, math.inf
            continue
        lower, upper = load3(floats, i, solid.SOLID_LOWER), load3(floats, i, solid.SOLID_UPPER)
        if body >= 0:
            lower, upper = turn_core(shapes, shape, int(shapes[shape + solid.CORE_FACES]), turn, posed)
        origin, pad = add3(lever, reference), reach + floats[i, solid.SOLID_RADIUS]
        lower, upper = add3(lower, origin), add3(upper, origin)
        for c in range(3):
            bounds[i, solid.LOWER + c], bounds[i, solid.UPPER + c] = lower[c] - pad, upper[c] + pad
        total, bounded = add3(total, lower), bounded + 1
        squares = add3(squares, (lower[0] * lower[0], lower[1] * lower[1], lower[2] * lower[2]))
    share = 1.0 / max(bounded, 1)
    spread_x = squares[0] - share * total[0] * total[0]
    spread_y = squares[1] - share * total[1] * total[1]
    spread_z = squares[2] - share * total[2] * total[2]
    if spread_x >= spread_y and spread_x >= spread_z:
        return 0
    return 1 if spread_y >= spread_z else 2


@shared
def sort_along(axis: int, bounds: Array, order: Array) -> None:
    """Sort colliders by their lower bounds, then by their numbers; those of the last step are almost sorted."""
    for k in range(1, bounds.shape[0]):
        i = order[k, solid.SORTED]
        value, j = bounds[i, solid.LOWER + axis], k
        while j > 0:
            before = order[j - 1, solid.SORTED]
            least = bounds[before, solid.LOWER + axis]
            if least < value or (least == value and before < i):
                break
            order[j, solid.SORTED] = before
            j -= 1
        order[j, solid.SORTED] = i


@inline
def may_touch(ints: Array, joined: Array, a: int, b: int) -> bool:
    """Whether two colliders have a common group, neither ignores a group of the other, and no joint or equality is
    between their bodies.
    """
    first, second = int(ints[a, solid.SOLID_GROUPS]), int(ints[b, solid.SOLID_GROUPS])
    ignored = first & int(ints[b, solid.SOLID_IGNORES]) | second & int(ints[a, solid.SOLID_IGNORES])
    if first & second == 0 or ignored != 0:
        return False
    mine, yours = ints[a, solid.SOLID_WELD], ints[b, solid.SOLID_WELD]
    if mine == yours or ints[a, solid.SOLID_CARRIER] == yours or ints[b, solid.SOLID_CARRIER] == mine:
        return False
    for k in range(joined.shape[0]):
        if (joined[k, 0] == mine and joined[k, 1] == yours) or (
            joined[k, 0] == yours and joined[k, 1] == mine
        ):
            return False
    return True


@shared
def free_slots(order: Array, slots: Array, colliders: int, age: int) -> None:
    """Take back the numbers of contacts that the last detections, more than age, did not find."""
    now = order[colliders, solid.NOW]
    for i in range(colliders):
        last, slot = -1, order[i, solid.CHAIN]
        while slot >= 0:
            following = slots[slot, solid.SLOT_NEXT]
            if slots[slot, solid.SLOT_SEEN] < now - age:
                if last < 0:
                    order[i, solid.CHAIN] = following
                else:
                    slots[last, solid.SLOT_NEXT] = following
                slots[slot, solid.SLOT_NEXT] = order[colliders, solid.UNUSED]
                order[colliders, solid.UNUSED] = slot
            else:
                last = slot
            slot = following


@shared
def slot_of(colliders: Array, owner: int, other: int, place: Vector) -> int:
    """The number of a contact at a place of its first body, from the chain of one of its colliders; -1: none left."""
    ints, _, _, _, _, order, slots, places, _, _ = colliders
    count = ints.shape[0]
    now, best, chosen = order[count, solid.NOW], math.inf, -1
    slot = order[owner, solid.CHAIN]
    while slot >= 0:
        if slots[slot, solid.SLOT_OTHER] == other and slots[slot, solid.SLOT_SEEN] != now:
            way = subtract3(load3(places, slot, 0), place)
            if dot3(way, way) < best:
                best, chosen = dot3(way, way), slot
        slot = slots[slot, solid.SLOT_NEXT]
    if chosen < 0:
        if order[count, solid.UNUSED] < 0:
            free_slots(order, slots, count, FORGOTTEN)
        if order[count, solid.UNUSED] < 0:
            free_slots(order, slots, count, 1)
        chosen = order[count, solid.UNUSED]
        if chosen < 0:
            return -1
        order[count, solid.UNUSED] = slots[chosen, solid.SLOT_NEXT]
        slots[chosen, solid.SLOT_NEXT] = order[owner, solid.CHAIN]
        slots[chosen, solid.SLOT_OTHER] = other
        order[owner, solid.CHAIN] = chosen
    slots[chosen, solid.SLOT_SEEN] = now
    store3(places, chosen, 0, place)
    return int(chosen)


@shared
def meet(arrays: Array, contacts: Array, a: int, b: int, work: Array, count: int) -> int:
    """Append the contacts of two near colliders to found; returns the new number of rows, -1 if there are too many."""
    found, colliders = contacts[contact.FOUND], contacts[contact.COLLIDERS]
    ints, floats, shapes, posed, bounds, _, _, _, _, space = colliders
    if ints[a, solid.SOLID_KIND] > ints[b, solid.SOLID_KIND]:
        a, b = b, a
    if ints[a, solid.SOLID_KIND] != solid.CORE and ints[a, solid.SOLID_KIND] == ints[b, solid.SOLID_KIND]:
        return count
    body, other = int(ints[a, solid.SOLID_BODY]), int(ints[b, solid.SOLID_BODY])
    here, mine = link_place(arrays, work, body)
    there, yours = link_place(arrays, work, other)
    shift = add3(subtract3(there, here), subtract3(yours, mine))
    radii = floats[a, solid.SOLID_RADIUS] + floats[b, solid.SOLID_RADIUS]
    most = bounds[a, solid.REACH] + bounds[b, solid.REACH] + radii
    size = min(floats[a, solid.SOLID_SIZE], floats[b, solid.SOLID_SIZE])
    core, shape = int(ints[a, solid.SOLID_SHAPE]), int(ints[b, solid.SOLID_SHAPE])
    if ints[b, solid.SOLID_KIND] == solid.HALF_SPACE:
        near = plane_contacts(shapes, posed, core, shape, shift, most, space)
    elif ints[b, solid.SOLID_KIND] == solid.MESH:
        near = mesh_contacts(shapes, posed, core, shape, shift, turn_of(work, other), most, size, space)
    else:
        near = core_contacts(shapes, posed, core, shape, shift, most, size, space)
    if near == 0:
        return count
    thin_out(space, 0, near, size)
    back, radius, sense = transposed(turn_of(work, body)), floats[a, solid.SOLID_RADIUS], 1.0
    lever = here
    if body < 0:  # the first body of a contact is never the world
        back, radius, sense = transposed(turn_of(work, other)), floats[b, solid.SOLID_RADIUS], -1.0
        lever, mine, body, other = there, yours, other, body
    for k in range(near):
        if space[k, solid.TAKEN] == 0.0:
            continue
        point, normal, gap = load3(space, k, solid.POINT), load3(space, k, solid.NORMAL), space[k, solid.GAP]
        if sense < 0.0:
            point = subtract3(scale_add3(point, -gap, normal), shift)
            normal = scale_add3(NONE, -1.0, normal)
        point = scale_add3(point, -radius, normal)
        place = rotate(back, point)
        owner = a if floats[a, solid.SOLID_SIZE] <= floats[b, solid.SOLID_SIZE] else b
        slot = slot_of(colliders, owner, a + b - owner, place)
        if slot < 0 or count == found.shape[0]:
            return -1
        found[count, contact.FOUND_BODY], found[count, contact.FOUND_OTHER] = body, other
        store3(found, count, contact.FOUND_POINT, add3(add3(point, lever), mine))
        store3(found, count, contact.FOUND_NORMAL, normal)
        found[count, contact.FOUND_GAP] = gap - radii
        rough = floats[a, solid.SOLID_FRICTION] * floats[b, solid.SOLID_FRICTION]
        found[count, contact.FOUND_FRICTION] = math.sqrt(rough)
        found[count, contact.FOUND_RESTITUTION] = max(
            floats[a, solid.SOLID_RESTITUTION], floats[b, solid.SOLID_RESTITUTION]
        )
        found[count, contact.FOUND_PAIR] = contacts[contact.PAIRS][contact.PAIR_COUNT] + slot
        found[count, contact.FOUND_SOURCE] = -1.0 - (a * ints.shape[0] + b)
        count += 1
    return count


@for_colliders
def collide(arrays: Array, contacts: Array, ahead: float, least: float, work: Array, known: int) -> int:
    """Append the contacts of all colliders with a gap below their reach to found, of which rows are known.

    After `outward`. The reach is what a body covers in the time `ahead`, and `least`, the collider's own if negative.
    Returns how many were appended; `overflows` tells whether there was no room for more.
    """
    if len(contacts) <= contact.COLLIDERS:
        return 0
    colliders = contacts[contact.COLLIDERS]
    ints, bounds, order = colliders[solid.INTS], colliders[solid.BOUNDS], colliders[solid.ORDER]
    total, count = ints.shape[0], known
    order[total, solid.NOW] += 1
    order[total, solid.OVERFLOW] = 0
    axis = place_colliders(arrays, colliders, ahead, least, work)
    sort_along(axis, bounds, order)
    for k in range(total):
        i = order[k, solid.SORTED]
        for n in range(k + 1, total):
            j = order[n, solid.SORTED]
            if bounds[j, solid.LOWER + axis] > bounds[i, solid.UPPER + axis]:
                break
            apart = False
            for c in range(3):
                apart |= bounds[i, solid.LOWER + c] > bounds[j, solid.UPPER + c]
                apart |= bounds[j, solid.LOWER + c] > bounds[i, solid.UPPER + c]
            if apart or not may_touch(ints, colliders[solid.JOINED], i, j):
                continue
            more = meet(arrays, contacts, min(i, j), max(i, j), work, count)
            if more < 0:
                order[total, solid.OVERFLOW] = 1
                return count - known
            count = more
    return count - known


@for_colliders
def overflows(arrays: Array, contacts: Array) -> int:
    """1 if the last detection found more contacts than there is room for."""
    if len(contacts) <= contact.COLLIDERS:
        return 0
    order = contacts[contact.COLLIDERS][solid.ORDER]
    return int(order[order.shape[0] - 1, solid.OVERFLOW])
