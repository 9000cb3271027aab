"""Bodies on surfaces that bend (beads).

A bead's joint has its place x, y, z, which follows from its coordinates on the surface, u, and the nodes' places:
o = sum N_i(u) x_i. The force F on the bead that keeps it there (the residual of x, y, z) acts back on the nodes by
N_i F, and on u by (do/du) F: so the equations are those of the coordinates u and of the nodes alone. Matrices of steps
have F as unknowns behind the tree's coordinates, with the accelerations of o as equations.
"""

from __future__ import annotations

from .. import layout as tree
from ..algebra.access import load3, load_twist, store3
from ..algebra.lanes import flat_lanes, lanes_of, numbers_of, scale_add_lanes
from ..algebra.vectors import Array, Vector, add3, cross, dot3, scale_add3, subtract3
from ..algebra.worlds import in_all, load_worlds, store_worlds
from ..compiler.jit import inline, shared
from ..forces.points import material, reference_of, twist_of
from ..joints.surface import direction_bases
from ..stepping.bundles import Spaces
from . import layout as at
from .nodes import NOTHING, Soft, add_at, add_both, add_load, count_free, number3, relative_place, velocity_by
from .surfaces import acceleration_of, corner, node_of


@shared
def find_weights(data: Array, surfaces: Array, q: Array, space: Array) -> None:
    """Weights of the nodes of beads' surfaces at the beads."""
    if surfaces is not None:
        known = space[at.SURFACE_SPACE][at.PLACED_AT]
        for b in range(surfaces[at.BEADS].shape[0]):
            along = surfaces[at.BEADS][b, at.BEAD_ALONG]
            other = along + surfaces[at.BEADS][b, at.BEAD_DIRECTIONS] - 1
            if known[b, 0] != q[along] or known[b, 1] != q[other]:
                known[b, 0], known[b, 1] = q[along], q[other]
                find_own_weights(data, surfaces, b, q, space)


@inline
def find_own_weights(data: Array, surfaces: Array, b: int, q: Array, space: Array) -> None:
    """Weights of the nodes of the surface of bead b there, and their derivatives."""
    beads, net, own = surfaces[at.BEADS], surfaces[at.NET], space[at.SURFACE_SPACE]
    weights, bases, around, table_of = (
        own[at.WEIGHT_PARTS],
        own[at.BASES],
        own[at.AROUND],
        surfaces[at.COMBINATIONS],
    )
    header, along, most = beads[b, at.BEAD_DATA], beads[b, at.BEAD_ALONG], tree.SURFACE_MOST_ORDER
    table = header + int(data[header + tree.SURFACE_TABLES])
    start, _ = direction_bases(data, table, q[along], bases, 0)
    order, other_start, other_order = int(data[table + tree.SPLINE_ORDER]), 0, 1
    bases[1, 0], bases[1, most], bases[1, 2 * most] = 1.0, 0.0, 0.0
    if beads[b, at.BEAD_DIRECTIONS] == 2:
        table = header + int(data[header + tree.SURFACE_TABLES + 1])
        other_start, _ = direction_bases(data, table, q[along + 1], bases, 1)
        other_order = int(data[table + tree.SPLINE_ORDER])
    width = int(data[header + tree.SURFACE_COUNTS + 1])
    for i in range(order):
        for j in range(other_order):
            around[i, j] = net[beads[b, at.BEAD_NET] + (start + i) * width + other_start + j]
    parts, none = own[at.WEIGHTS].shape[2] // 4, in_all(0.0)
    for n in range(parts):
        x = x1 = x2 = x11 = x12 = x22 = none
        for i in range(order):
            y = y2 = y22 = none
            for j in range(other_order):
                part = load_worlds(table_of, around[i, j] * parts + n)
                y, y2 = y + bases[1, j] * part, y2 + bases[1, most + j] * part
                y22 = y22 + bases[1, 2 * most + j] * part
            u, du, ddu = bases[0, i], bases[0, most + i], bases[0, 2 * most + i]
            x, x1, x2 = x + u * y, x1 + du * y, x2 + u * y2
            x11, x12, x22 = x11 + ddu * y, x12 + du * y2, x22 + u * y22
        row = b * at.WEIGHT_ROWS * parts + n
        store_worlds(weights, row + at.PLACED * parts, x)
        store_worlds(weights, row + at.FIRST * parts, x1)
        store_worlds(weights, row + at.SECOND * parts, x2)
        store_worlds(weights, row + at.FIRST_TWICE * parts, x11)
        store_worlds(weights, row + at.MIXED * parts, x12)
        store_worlds(weights, row + at.SECOND_TWICE * parts, x22)


@inline
def find_blends(mesh: Array, surfaces: Array, x: Array, v: Array, own: Array) -> None:
    """Places, slopes and their rates at beads, from places and rates of all nodes, after `find_weights`."""
    if surfaces is not None:
        sheets, blends = surfaces[at.SHEETS], own[at.BLENDS]
        for b in range(surfaces[at.BEADS].shape[0]):
            s, weights = surfaces[at.BEADS][b, at.BEAD_SHEET], own[at.WEIGHTS][b]
            count, corners = sheets[s, at.SHEET_MODES], sheets[s, at.SHEET_CORNERS]
            place = first = second = first_twice = mixed = second_twice = lanes_of(NOTHING)
            rate = first_rate = second_rate = lanes_of(NOTHING)
            for n in range(count + corners):
                j = node_of(count_free(mesh), sheets, s, n)
                near = flat_lanes(x, 3 * j) if n < count else lanes_of(number3(x, j))
                fast = flat_lanes(v, 3 * j) if n < count else lanes_of(number3(v, j))
                w, w1, w2 = weights[at.PLACED, n], weights[at.FIRST, n], weights[at.SECOND, n]
                place, rate = scale_add_lanes(place, w, near), scale_add_lanes(rate, w, fast)
                first, first_rate = scale_add_lanes(first, w1, near), scale_add_lanes(first_rate, w1, fast)
                second, second_rate = (
                    scale_add_lanes(second, w2, near),
                    scale_add_lanes(second_rate, w2, fast),
                )
                first_twice = scale_add_lanes(first_twice, weights[at.FIRST_TWICE, n], near)
                mixed = scale_add_lanes(mixed, weights[at.MIXED, n], near)
                second_twice = scale_add_lanes(second_twice, weights[at.SECOND_TWICE, n], near)
            sums = place, first, second, first_twice, mixed, second_twice, rate, first_rate, second_rate
            for row in range(at.BLEND_ROWS):
                store3(blends, b, 3 * row, numbers_of(sums[row]))


@inline
def blended(own: Array, b: int, row: int) -> Vector:
    """What `find_blends` found at bead b."""
    return load3(own[at.BLENDS], b, 3 * row)


@inline
def direction(dof: Array, d: int) -> Vector:
    """World direction of a translation."""
    twist = load_twist(dof, d, tree.SUBSPACE)
    return twist[3], twist[4], twist[5]


@inline
def push_on(surfaces: Array, b: int, own: Array) -> tuple[int, int, Vector]:
    """Body of bead b, its first coordinate on the surface, and the force of the surface on it."""
    beads = surfaces[at.BEADS]
    return beads[b, at.BEAD_BODY], beads[b, at.BEAD_ALONG], load3(own[at.PUSHES], b, 0)


@shared
def place_beads(
    arrays: Array,
    mesh: Array,
    surfaces: Array,
    q: Array,
    qd: Array,
    x: Array,
    v: Array,
    space: Array,
    spaces: Spaces,
) -> None:
    """Write x, y, z of beads and their rates, from places and rates of all nodes, after `kinematics`."""
    if surfaces is not None:
        (work, dof, _), beads, own = spaces, surfaces[at.BEADS], space[at.SURFACE_SPACE]
        find_weights(arrays[tree.MODEL_DATA], surfaces, q, space)
        find_blends(mesh, surfaces, x, v, own)
        for b in range(beads.shape[0]):
            body, shift, along = beads[b, at.BEAD_BODY], beads[b, at.BEAD_SHIFT], beads[b, at.BEAD_ALONG]
            lever = load3(work, body, tree.ORIGIN)
            place = add3(lever, reference_of(arrays[tree.BODY_INT], work, body))
            off = subtract3(blended(own, b, at.PLACED), place)
            rate = blended(own, b, at.RATES)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                rate = scale_add3(rate, qd[along + k], blended(own, b, at.FIRST + k))
            rate = subtract3(rate, material(twist_of(work, body), lever))
            outer = twist_of(work, surfaces[at.SHEETS][beads[b, at.BEAD_SHEET], at.SHEET_PARENT])
            rate = subtract3(rate, cross((outer[0], outer[1], outer[2]), off))
            for k in range(3):
                axis = direction(dof, shift + k)
                q[shift + k] += dot3(axis, off)
                qd[shift + k] += dot3(axis, rate)


@shared
def push_body(
    body_int: Array, body: int, lever: Vector, force: Vector, dof: Array, loads: Array, right: Array
) -> None:
    """Add a force on a body to generalized ones, as `coupling.add_generalized`, and to all loads toward the root."""
    i = body
    while i >= 0:
        add_load(loads, i, lever, force)
        for d in range(
            body_int[i, tree.DOF_START], body_int[i, tree.DOF_START] + body_int[i, tree.DOF_COUNT]
        ):
            value = dot3(velocity_by(dof, d, lever), force)
            if dof[d, tree.HELD] == 0.0:
                right[d] += value
            else:
                dof[d, tree.EFFORT] -= value
        i = body_int[i, tree.PARENT]


@inline
def find_pushes(surfaces: Array, dof: Array, right: Array, space: Array) -> None:
    """The force on each bead that balances the residuals of its x, y, z."""
    if surfaces is not None:
        beads, pushes = surfaces[at.BEADS], space[at.SURFACE_SPACE][at.PUSHES]
        for b in range(beads.shape[0]):
            force = NOTHING
            for k in range(3):
                d = beads[b, at.BEAD_SHIFT] + k
                force = scale_add3(force, -right[d], direction(dof, d))
            store3(pushes, b, 0, force)


@inline
def hand_on(soft: Soft, surfaces: Array, qd: Array, qdd: Array, right: Array, out: Array) -> None:
    """Take the beads' x, y, z out of the residuals of the tree and of free nodes, and add those of the accelerations
    of beads, for accelerations qdd of the tree.
    """
    if surfaces is not None:
        arrays, mesh, space, _, (work, dof, _) = soft
        find_pushes(surfaces, dof, right, space)
        body_int, beads, own = arrays[tree.BODY_INT], surfaces[at.BEADS], space[at.SURFACE_SPACE]
        sheets, weights, loads = surfaces[at.SHEETS], own[at.WEIGHTS], space[at.LOADS]
        every = own[at.NODE_ACCELERATIONS]
        for b in range(beads.shape[0]):
            body, along, force = push_on(surfaces, b, own)
            s = beads[b, at.BEAD_SHEET]
            first, count = sheets[s, at.SHEET_MODE], sheets[s, at.SHEET_MODES]
            parent = sheets[s, at.SHEET_PARENT]
            push_body(body_int, body, load3(work, body, tree.ORIGIN), force, dof, loads, right)
            placed = lanes_of(NOTHING)
            for n in range(count):
                weight = weights[b, at.PLACED, n]
                add_at(out, first + n, -weight, force)
                placed = scale_add_lanes(placed, weight, flat_lanes(every, 3 * (first + n)))
            for c in range(sheets[s, at.SHEET_CORNERS] if parent >= 0 else 0):
                place = relative_place(mesh, sheets[s, at.SHEET_CORNER] + c, work)
                reaction = scale_add3(NOTHING, -weights[b, at.PLACED, count + c], force)
                push_body(body_int, parent, place, reaction, dof, loads, right)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                work_rate = dot3(blended(own, b, at.FIRST + k), force)
                if dof[along + k, tree.HELD] == 0.0:
                    right[along + k] -= work_rate
                else:
                    dof[along + k, tree.EFFORT] += work_rate
            gap = gap_of(soft, surfaces, b, numbers_of(placed), qd, qdd)
            for k in range(3):
                right[dof.shape[0] + 3 * b + k] = dot3(direction(dof, beads[b, at.BEAD_SHIFT] + k), gap)


@inline
def gap_of(soft: Soft, surfaces: Array, b: int, needed: Vector, qd: Array, qdd: Array) -> Vector:
    """Acceleration of bead b beyond that of its place on the surface, of which the modes give what is needed."""
    arrays, mesh, space, _, (work, _, _) = soft
    beads, own = surfaces[at.BEADS], space[at.SURFACE_SPACE]
    body, along, _ = push_on(surfaces, b, own)
    sheets, s = surfaces[at.SHEETS], beads[b, at.BEAD_SHEET]
    weights, every, count = own[at.WEIGHTS][b], own[at.NODE_ACCELERATIONS], sheets[s, at.SHEET_MODES]
    for c in range(sheets[s, at.SHEET_CORNERS]):
        needed = scale_add3(
            needed, weights[at.PLACED, count + c], number3(every, corner(count_free(mesh), sheets, s, c))
        )
    for k in range(beads[b, at.BEAD_DIRECTIONS]):
        needed = scale_add3(needed, qdd[along + k], blended(own, b, at.FIRST + k))
        needed = scale_add3(needed, 2.0 * qd[along + k], blended(own, b, at.RATES + 1 + k))
        needed = scale_add3(needed, qd[along + k], turning(own, beads, b, k, qd))
    lever = load3(work, body, tree.ORIGIN)
    return subtract3(acceleration_of(arrays, work, body, lever), needed)


@inline
def curved(own: Array, b: int, k: int, e: int) -> Vector:
    """Second derivative of the place of bead b along directions k and e."""
    return blended(own, b, at.FIRST_TWICE + k + e)


@inline
def turning(own: Array, beads: Array, b: int, k: int, rate: Array) -> Vector:
    """Rate of the slope along direction k for rates of the coordinates, nodes at rest."""
    along = beads[b, at.BEAD_ALONG]
    value = scale_add3(NOTHING, rate[along], curved(own, b, k, 0))
    if beads[b, at.BEAD_DIRECTIONS] == 2:
        value = scale_add3(value, rate[along + 1], curved(own, b, k, 1))
    return value


@inline
def add_push_rates(
    mesh: Array, surfaces: Array, step: float, qd: Array, right: Array, f: Array, space: Array
) -> None:
    """Add how the pushes on coordinates and nodes change in a step at the present speeds."""
    if surfaces is not None and step > 0.0:
        beads, sheets, own = surfaces[at.BEADS], surfaces[at.SHEETS], space[at.SURFACE_SPACE]
        for b in range(beads.shape[0]):
            _, along, force = push_on(surfaces, b, own)
            s = beads[b, at.BEAD_SHEET]
            count = sheets[s, at.SHEET_MODES]
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                change = add3(turning(own, beads, b, k, qd), blended(own, b, at.RATES + 1 + k))
                right[along + k] -= step * dot3(force, change)
                for n in range(count + sheets[s, at.SHEET_CORNERS]):
                    weight = own[at.WEIGHTS][b, at.FIRST + k, n] * qd[along + k]
                    add_at(f, node_of(count_free(mesh), sheets, s, n), -step * weight, force)


@inline
def couple_beads(soft: Soft, surfaces: Array, step: float, matrix: Array) -> None:
    """The beads' rows and columns of the tree's matrix without those of nodes, and, times the step squared, how the
    pushes change with coordinates.
    """
    if surfaces is not None:
        arrays, _, space, _, (work, dof, _) = soft
        beads, own, nv = surfaces[at.BEADS], space[at.SURFACE_SPACE], dof.shape[0]
        for e in range(nv, matrix.shape[0]):
            for d in range(matrix.shape[0]):
                matrix[e, d] = matrix[d, e] = 0.0
        for b in range(beads.shape[0]):
            body, along, force = push_on(surfaces, b, own)
            move_rows(arrays[tree.BODY_INT], beads, b, body, load3(work, body, tree.ORIGIN), dof, matrix)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                slope = blended(own, b, at.FIRST + k)
                for e in range(3):
                    value = dot3(direction(dof, beads[b, at.BEAD_SHIFT] + e), slope)
                    add_both(matrix, nv + 3 * b + e, along + k, value)
                for e in range(beads[b, at.BEAD_DIRECTIONS]):
                    matrix[along + k, along + e] += step * step * dot3(force, curved(own, b, k, e))


@shared
def move_rows(
    body_int: Array, beads: Array, b: int, body: int, lever: Vector, dof: Array, matrix: Array
) -> None:
    """Subtract the movement of a body's point from bead b's rows and columns."""
    row, i = dof.shape[0] + 3 * b, body
    while i >= 0:
        first = body_int[i, tree.DOF_START]
        for d in range(first, first + body_int[i, tree.DOF_COUNT]):
            velocity = velocity_by(dof, d, lever)
            for k in range(3):
                value = -dot3(direction(dof, beads[b, at.BEAD_SHIFT] + k), velocity)
                add_both(matrix, row + k, d, value)
        i = body_int[i, tree.PARENT]
