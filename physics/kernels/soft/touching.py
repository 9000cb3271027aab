"""Deformable ground and shapes of bodies against points of soft bodies: k d (1 + b d') along the normal, never a pull,
and friction against sliding. A point is a node, or a vertex that follows four nodes by weights: it hands its force on
by these. A body that is hit takes the opposite force at the same place.

The push (Hunt & Crossley 1975) is continuous where a point touches, so that implicit steps have an end. Friction is c
times the sliding velocity, c = mu push times a factor of its square.
In matrices of Newton's iteration it has the slope along the sliding too. The linearly implicit step takes c alone,
which is stable at any step, and points touch where their speeds lead within it: so it gains no energy where they land.
The change of friction with depth is left out of both: it would not be symmetric; so is the turning of the normal.
"""

from __future__ import annotations

import math

from ..algebra.access import flat3, flat9, load3, load_rotation, store3
from ..algebra.spatial import multiply, rotate, transposed
from ..algebra.vectors import Array, Vector, add3, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from ..contact import layout as contact
from ..contact.geometry import obstacle_distance
from ..forces.points import carried, material, reference_of, twist_of
from . import layout as at
from .nodes import (
    NOTHING,
    add_at,
    add_both,
    add_column,
    add_load,
    coordinate_moves,
    count_free,
    number3,
    relative_place,
    velocity_by,
)


@inline
def blended(touching: Array, p: int, x: Array) -> Vector:
    """Of a point, from numbers of the nodes."""
    nodes, weights = touching[at.POINT_NODES], touching[at.POINT_WEIGHTS]
    value = NOTHING
    for a in range(4):
        value = scale_add3(value, weights[p, a], number3(x, nodes[p, a]))
    return value


@inline
def bounds(count: int, x: Array) -> tuple[Vector, float]:
    """Middle and half diagonal of the box of all nodes."""
    low, high = number3(x, 0), number3(x, 0)
    for j in range(1, count):
        a, b, c = number3(x, j)
        low = min(low[0], a), min(low[1], b), min(low[2], c)
        high = max(high[0], a), max(high[1], b), max(high[2], c)
    half = scale_add3(NOTHING, 0.5, subtract3(high, low))
    return add3(low, half), math.sqrt(dot3(half, half))


@shared
def find_touches(
    body_int: Array, touching: Array, ahead: float, x: Array, v: Array, work: Array, space: Array
) -> None:
    """List the points that are inside of obstacles, after `kinematics` and `coupling.place_attached`; ahead: after that
    time at their present speeds.
    """
    if touching is not None:
        shapes, skins, kinds = touching[at.SHAPES], touching[at.SKINS], touching[at.OBSTACLES]
        found, which, count = space[at.TOUCHES], space[at.TOUCHED], 0
        middle, half = bounds(x.shape[0] // 3, x)
        mean, spread = bounds(v.shape[0] // 3, v)
        for s in range(skins.shape[0]):
            for o in range(skins[s, 2], skins[s, 3]):
                body, record, radius = kinds[o, 0], kinds[o, 1], touching[at.OBSTACLE_LAWS][o, at.RADIUS]
                turn = flat9(shapes, record + contact.OBSTACLE_ROTATION)
                if body >= 0:
                    turn = multiply(load_rotation(work, body), turn)
                reference = reference_of(body_int, work, body)
                origin = carried(work, body, flat3(shapes, record + contact.OBSTACLE_POSITION))
                origin, back = add3(origin, reference), transposed(turn)
                twist, most = twist_of(work, body), touching[at.SKIN_LAWS][s, at.SPREAD]
                # at most so fast are points and body at each other
                apart = subtract3(mean, material(twist, subtract3(middle, reference)))
                turning = math.sqrt(twist[0] ** 2 + twist[1] ** 2 + twist[2] ** 2) * half
                reach = radius + ahead * (math.sqrt(dot3(apart, apart)) + most * (spread + turning))
                far = reach + most * half
                away, _ = obstacle_distance(
                    shapes, record, rotate(back, subtract3(middle, origin)), NOTHING, far
                )
                # a height field is next to nothing beside itself
                if away > far and int(shapes[record + contact.OBSTACLE_KIND]) != contact.HEIGHT_FIELD:
                    continue
                for p in range(skins[s, 0], skins[s, 1]):
                    place = blended(touching, p, x)
                    inward = rotate(back, subtract3(middle, place))
                    distance, normal = obstacle_distance(
                        shapes, record, rotate(back, subtract3(place, origin)), inward, reach
                    )
                    if not distance < reach:
                        continue
                    normal, lever = rotate(turn, normal), subtract3(place, reference)
                    own = material(twist, lever)
                    rate = subtract3(blended(touching, p, v), own)
                    reached = radius - distance - ahead * dot3(normal, rate)
                    if not reached > 0.0:
                        continue
                    which[count, 0], which[count, 1], which[count, 2], which[count, 3] = p, o, s, body
                    found[count, at.DEPTH], found[count, at.REACHED] = radius - distance, reached
                    store3(found, count, at.NORMAL, normal)
                    store3(found, count, at.LEVER, lever)
                    store3(found, count, at.BODY_RATE, own)
                    store3(found, count, at.RATE, rate)
                    count += 1
        which[which.shape[0] - 1, 0] = count


@inline
def touches(space: Array) -> int:
    """How many there are."""
    which = space[at.TOUCHED]
    return int(which[which.shape[0] - 1, 0])


@inline
def push_at(touching: Array, n: int, space: Array) -> tuple[float, float, Vector]:
    """Push at a touch, 0 where it would pull, its slope by depth, and the sliding velocity."""
    found, laws = space[at.TOUCHES], touching[at.SKIN_LAWS]
    skin, normal, rate = space[at.TOUCHED][n, 2], load3(found, n, at.NORMAL), load3(found, n, at.RATE)
    rising = dot3(normal, rate)
    slope = laws[skin, at.PUSH_STIFFNESS] * (1.0 - laws[skin, at.DISSIPATION] * rising)
    return max(slope, 0.0) * found[n, at.REACHED], slope, scale_add3(rate, -rising, normal)


@inline
def friction_slopes(friction: float, slow: float, push: float, slide: Vector) -> tuple[float, float]:
    """Friction over the sliding speed, and the derivative of this by the speed's square, doubled."""
    square, most = dot3(slide, slide), friction * push
    if square < slow * slow:
        return 0.5 * most * (3.0 - square / (slow * slow)) / slow, -most / (slow * slow * slow)
    speed = math.sqrt(square)
    return most / speed, -most / (speed * square)


@inline
def drag_at(touching: Array, n: int, push: float, slide: Vector, space: Array) -> tuple[float, float]:
    which = space[at.TOUCHED]
    friction = touching[at.OBSTACLE_LAWS][which[n, 1], at.FRICTION]
    return friction_slopes(friction, touching[at.SKIN_LAWS][which[n, 2], at.SLOW], push, slide)


@shared
def add_touch_forces(touching: Array, damped: bool, f: Array, space: Array) -> None:
    """Forces of what is touched on nodes, and for the bodies that are touched; not damped: without what is proportional
    to velocities, at the depth before `ahead`, which is negative above the surface.
    """
    if touching is not None:
        nodes, weights = touching[at.POINT_NODES], touching[at.POINT_WEIGHTS]
        for n in range(touches(space)):
            push, _, slide = push_at(touching, n, space)
            p, skin, force = space[at.TOUCHED][n, 0], space[at.TOUCHED][n, 2], NOTHING
            if push > 0.0:
                drag = 0.0
                if damped:
                    drag, _ = drag_at(touching, n, push, slide, space)
                else:
                    push = touching[at.SKIN_LAWS][skin, at.PUSH_STIFFNESS] * space[at.TOUCHES][n, at.DEPTH]
                force = scale_add3(NOTHING, push, load3(space[at.TOUCHES], n, at.NORMAL))
                force = scale_add3(force, -drag, slide)
                for a in range(4):
                    add_at(f, nodes[p, a], weights[p, a], force)
            store3(space[at.TOUCHES], n, at.TOUCH_FORCE, force)


@shared
def add_touch_blocks(touching: Array, weights: tuple[float, float], along: bool, space: Array) -> None:
    """Add to the blocks as `elements.add_tet_blocks` does. along: with the slope of friction along the sliding."""
    if touching is not None:
        targets, shares, blocks = touching[at.POINT_BLOCKS], touching[at.POINT_WEIGHTS], space[at.BLOCKS]
        found = space[at.TOUCHES]
        for n in range(touches(space)):
            push, slope, slide = push_at(touching, n, space)
            for k in range(at.BLOCK_WIDTH):
                found[n, at.TOUCH_BLOCK + k] = 0.0
            if not push > 0.0:
                continue
            law, p, normal = space[at.TOUCHED][n, 2], space[at.TOUCHED][n, 0], load3(found, n, at.NORMAL)
            drag, bend = drag_at(touching, n, push, slide, space)
            loss = touching[at.SKIN_LAWS][law, at.DISSIPATION] * found[n, at.REACHED]
            loss *= touching[at.SKIN_LAWS][law, at.PUSH_STIFFNESS]
            upright = weights[0] * slope + weights[1] * (loss - drag)
            bend = weights[1] * bend if along else 0.0
            for c in range(3):
                found[n, at.TOUCH_BLOCK + 5 * c] = weights[1] * drag
                for r in range(3):
                    value = upright * normal[r] * normal[c] + bend * slide[r] * slide[c]
                    found[n, at.TOUCH_BLOCK + 4 * c + r] += value
            pair = 0
            for a in range(4):
                for b in range(a + 1):
                    share = shares[p, a] * shares[p, b]
                    if share != 0.0:
                        for k in range(at.BLOCK_WIDTH):
                            blocks[targets[p, pair], k] += share * found[n, at.TOUCH_BLOCK + k]
                    pair += 1


@inline
def block_times(found: Array, n: int, x: Vector) -> Vector:
    """The block of a touch times a velocity."""
    first, second = load3(found, n, at.TOUCH_BLOCK), load3(found, n, at.TOUCH_BLOCK + 4)
    third = load3(found, n, at.TOUCH_BLOCK + 8)
    return scale_add3(scale_add3(scale_add3(NOTHING, x[0], first), x[1], second), x[2], third)


@shared
def subtract_touch_times(touching: Array, share: float, v: Array, f: Array, space: Array) -> None:
    """`coupling.subtract_times` for what the touched bodies move: f has the nodes' own part already."""
    if touching is not None:
        nodes, weights, found = touching[at.POINT_NODES], touching[at.POINT_WEIGHTS], space[at.TOUCHES]
        for n in range(touches(space)):
            p, rate = space[at.TOUCHED][n, 0], load3(found, n, at.BODY_RATE)
            carry = block_times(found, n, rate)
            for a in range(4):
                add_at(f, nodes[p, a], share * weights[p, a], carry)
            change = block_times(found, n, subtract3(blended(touching, p, v), rate))
            force = scale_add3(load3(found, n, at.TOUCH_FORCE), -share, change)
            store3(found, n, at.TOUCH_FORCE, force)


@shared
def add_touch_loads(touching: Array, loads: Array, space: Array) -> None:
    """Add to the loads of touched bodies, before these are summed along the tree."""
    if touching is not None:
        for n in range(touches(space)):
            i, found = space[at.TOUCHED][n, 3], space[at.TOUCHES]
            if i >= 0:
                point, force = load3(found, n, at.LEVER), load3(found, n, at.TOUCH_FORCE)
                add_load(loads, i, point, scale_add3(NOTHING, -1.0, force))


@inline
def column_of(body_int: Array, d: int, i: int, point: Vector, dof: Array) -> Vector:
    """Velocity of a body's point by a coordinate's unit speed; zeros where that does not move it."""
    return velocity_by(dof, d, point) if coordinate_moves(body_int, d, i) else NOTHING


@shared
def couple_touches(
    body_int: Array, mesh: Array, touching: Array, space: Array, work: Array, dof: Array, matrix: Array
) -> None:
    """The part of touched bodies in the columns COUPLED and in the tree's matrix (see `coupling.couple`)."""
    if touching is not None:
        nodes, weights, found = touching[at.POINT_NODES], touching[at.POINT_WEIGHTS], space[at.TOUCHES]
        coordinates, coupled, bodies = mesh[at.COORDINATES], space[at.COUPLED], mesh[at.BODIES]
        free = count_free(mesh)
        for n in range(touches(space)):
            p, i, point = space[at.TOUCHED][n, 0], space[at.TOUCHED][n, 3], load3(found, n, at.LEVER)
            if i < 0:
                continue
            for c in range(coordinates.shape[0]):
                e = coordinates[c]
                if not coordinate_moves(body_int, e, i):
                    continue
                force = block_times(found, n, column_of(body_int, e, i, point, dof))
                for b in range(coordinates.shape[0]):
                    own = column_of(body_int, coordinates[b], i, point, dof)
                    matrix[coordinates[b], e] += dot3(own, force)
                for a in range(4):
                    j, weight = nodes[p, a], weights[p, a]
                    if j < free and weight != 0.0:
                        add_column(coupled, j, c, -weight, force)
                    if j >= free and weight != 0.0 and bodies[j - free] >= 0:
                        other, far = bodies[j - free], relative_place(mesh, j - free, work)
                        for b in range(coordinates.shape[0]):
                            d = coordinates[b]
                            value = weight * dot3(column_of(body_int, d, other, far, dof), force)
                            add_both(matrix, d, e, -value)


@shared
def add_touch_energy(touching: Array, space: Array, energy: Array, depth: Array) -> None:
    """Add the energy [J] of what is pressed, and write the greatest depth [m], of each skin."""
    if touching is not None:
        for n in range(touches(space)):
            skin, deep = space[at.TOUCHED][n, 2], space[at.TOUCHES][n, at.DEPTH]
            energy[skin] += 0.5 * touching[at.SKIN_LAWS][skin, at.PUSH_STIFFNESS] * deep * deep
            depth[skin] = max(depth[skin], deep)
