"""Surfaces that bend: spline surfaces whose control points are nodes, and bodies on them (beads).

Lee & Terzopoulos 2008, sec. 8: D-NURBS (Terzopoulos & Qin 1994) with weights 1. Mass and stiffness of the control
points are constant, M = int rho N N^T and K from tension and bending; rows of K add up to nothing, those of M to the
lumped masses that nodes have. So both act between pairs of nodes: (i, j) pulls by -K_ij (x_j - x_i) - M_ij (a_j - a_i).

A bead's joint has its place x, y, z, which follows from its coordinates on the surface, u, and the nodes' places:
o = sum N_i(u) x_i. The force F on the bead that keeps it there (the residual of x, y, z) acts back on the nodes by
N_i F, and on u by (do/du) F: so the equations are those of the coordinates u and of the nodes alone. Matrices of steps
have F as unknowns behind the tree's coordinates, with the accelerations of o as equations.
"""

from __future__ import annotations

from .. import layout as tree
from ..algebra.access import flat3, load3, load_rotation, load_twist, store3
from ..algebra.spatial import rotate
from ..algebra.vectors import Array, Vector, add3, cross, dot3, scale_add3, scale_add6, subtract3
from ..compiler.jit import inline, shared
from ..constraints.row_pieces import point_acceleration
from ..forces.points import material, reference_of, twist_of
from ..joints.surface import direction_bases
from . import layout as at
from .nodes import (
    NOTHING,
    Soft,
    add_at,
    add_both,
    add_column,
    add_load,
    coordinate_moves,
    number3,
    relative_place,
    velocity_by,
    write3,
)


@shared
def add_pair_forces(surfaces: Array, column: int, x: Array, f: Array) -> None:
    """Add what differences of places, rates or accelerations x give; column: which law."""
    if surfaces is not None:
        nodes, laws = surfaces[at.LINK_NODES], surfaces[at.LINK_LAWS]
        for p in range(nodes.shape[0]):
            i, j = nodes[p, 0], nodes[p, 1]
            apart = subtract3(number3(x, j), number3(x, i))
            add_at(f, i, laws[p, column], apart)
            add_at(f, j, -laws[p, column], apart)


@shared
def add_pair_blocks(surfaces: Array, weights: Vector, blocks: Array) -> None:
    """Add stiffness, damping and mass of pairs by their weights."""
    if surfaces is not None:
        targets, laws = surfaces[at.LINK_BLOCKS], surfaces[at.LINK_LAWS]
        for p in range(targets.shape[0]):
            value = dot3(weights, (laws[p, 0], laws[p, 1], laws[p, 2]))
            for c in range(3):
                blocks[targets[p, 0], 5 * c] -= value
                blocks[targets[p, 1], 5 * c] += value
                blocks[targets[p, 2], 5 * c] += value


@inline
def constant_force(surfaces: Array, n: int, work: Array) -> Vector:
    body, force = surfaces[at.CONSTANT_NODES][n, 1], load3(surfaces[at.CONSTANT_FORCES], n, 0)
    return force if body < 0 else rotate(load_rotation(work, body), force)


@shared
def add_constant_forces(surfaces: Array, work: Array, f: Array) -> None:
    """Add the forces that balance a surface at rest as it was built."""
    if surfaces is not None:
        for n in range(surfaces[at.CONSTANT_NODES].shape[0]):
            add_at(f, surfaces[at.CONSTANT_NODES][n, 0], 1.0, constant_force(surfaces, n, work))


@shared
def add_constant_loads(body_int: Array, surfaces: Array, work: Array, x: Array, loads: Array) -> None:
    """Add the opposite forces at the same places on the bodies that carry surfaces."""
    if surfaces is not None:
        for n in range(surfaces[at.CONSTANT_NODES].shape[0]):
            j, body = surfaces[at.CONSTANT_NODES][n, 0], surfaces[at.CONSTANT_NODES][n, 1]
            if body >= 0:
                lever = subtract3(number3(x, j), reference_of(body_int, work, body))
                add_load(loads, body, lever, scale_add3(NOTHING, -1.0, constant_force(surfaces, n, work)))


@shared
def find_weights(data: Array, surfaces: Array, q: Array, space: Array) -> None:
    """Weights of the nodes around beads."""
    if surfaces is not None:
        for b in range(surfaces[at.BEADS].shape[0]):
            find_own_weights(data, surfaces, b, q, space)


@shared
def find_own_weights(data: Array, surfaces: Array, b: int, q: Array, space: Array) -> None:
    """Weights of the nodes around bead b, and their derivatives."""
    beads, net, own = surfaces[at.BEADS], surfaces[at.NET], space[at.SURFACE_SPACE]
    weights, around, bases = own[at.WEIGHTS], own[at.AROUND], own[at.BASES]
    header, along, most = beads[b, at.BEAD_DATA], beads[b, at.BEAD_ALONG], tree.SURFACE_MOST_ORDER
    table = header + int(data[header + tree.SURFACE_TABLES])
    start, _ = direction_bases(data, table, q[along], bases, 0)
    order, other_start, other_order = int(data[table + tree.SPLINE_ORDER]), 0, 1
    bases[1, 0], bases[1, most], bases[1, 2 * most] = 1.0, 0.0, 0.0
    if beads[b, at.BEAD_DIRECTIONS] == 2:
        table = header + int(data[header + tree.SURFACE_TABLES + 1])
        other_start, _ = direction_bases(data, table, q[along + 1], bases, 1)
        other_order = int(data[table + tree.SPLINE_ORDER])
    width, count = int(data[header + tree.SURFACE_COUNTS + 1]), 0
    for i in range(order):
        u, du, ddu = bases[0, i], bases[0, most + i], bases[0, 2 * most + i]
        for j in range(other_order):
            v, dv, ddv = bases[1, j], bases[1, most + j], bases[1, 2 * most + j]
            around[b, count] = net[beads[b, at.BEAD_NET] + (start + i) * width + other_start + j]
            weights[b, at.PLACED, count] = u * v
            weights[b, at.FIRST, count] = du * v
            weights[b, at.SECOND, count] = u * dv
            weights[b, at.FIRST_TWICE, count] = ddu * v
            weights[b, at.MIXED, count] = du * dv
            weights[b, at.SECOND_TWICE, count] = u * ddv
            count += 1
    around[b, around.shape[1] - 1] = count


@inline
def count_around(own: Array, b: int) -> int:
    """How many nodes have a weight at bead b."""
    return int(own[at.AROUND][b, own[at.AROUND].shape[1] - 1])


@inline
def blended(own: Array, b: int, row: int, x: Array) -> Vector:
    """Sum over the nodes around bead b of their numbers by a row of weights."""
    value, around, weights = NOTHING, own[at.AROUND], own[at.WEIGHTS]
    for n in range(count_around(own, b)):
        value = scale_add3(value, weights[b, row, n], number3(x, around[b, n]))
    return value


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
    arrays: Array, surfaces: Array, q: Array, qd: Array, x: Array, v: Array, space: Array, spaces: Array
) -> None:
    """Write x, y, z of beads and their rates, from places and rates of all nodes, after `kinematics`."""
    if surfaces is not None:
        (work, dof, _), beads, own = spaces, surfaces[at.BEADS], space[at.SURFACE_SPACE]
        find_weights(arrays[tree.MODEL_DATA], surfaces, q, space)
        for b in range(beads.shape[0]):
            body, shift, along = beads[b, at.BEAD_BODY], beads[b, at.BEAD_SHIFT], beads[b, at.BEAD_ALONG]
            lever = load3(work, body, tree.ORIGIN)
            place = add3(lever, reference_of(arrays[tree.BODY_INT], work, body))
            off = subtract3(blended(own, b, at.PLACED, x), place)
            rate = blended(own, b, at.PLACED, v)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                rate = scale_add3(rate, qd[along + k], blended(own, b, at.FIRST + k, x))
            rate = subtract3(rate, material(twist_of(work, body), lever))
            outer = twist_of(work, beads[b, at.BEAD_PARENT])
            rate = subtract3(rate, cross((outer[0], outer[1], outer[2]), off))
            for k in range(3):
                axis = direction(dof, shift + k)
                q[shift + k] += dot3(axis, off)
                qd[shift + k] += dot3(axis, rate)


@inline
def acceleration_of(arrays: Array, work: Array, body: int, lever: Vector) -> Vector:
    """Acceleration of a body's point, without the share of gravity."""
    g = flat3(arrays[tree.MODEL_DATA], tree.GRAVITY)
    true = scale_add6(load_twist(work, body, tree.ACCELERATION), 1.0, (0.0, 0.0, 0.0, g[0], g[1], g[2]))
    return point_acceleration(true, twist_of(work, body), lever)


@shared
def add_inertia_forces(soft: Soft, surfaces: Array, a: Array, f: Array) -> None:
    """Add inertia between nodes for accelerations a of the free ones, after inverse dynamics for those of bodies."""
    if surfaces is not None:
        arrays, mesh, space, _, (work, _, _) = soft
        every, bodies = space[at.SURFACE_SPACE][at.NODE_ACCELERATIONS], mesh[at.BODIES]
        free = mesh[at.COLUMNS].shape[0] - 1
        for i in range(3 * free):
            every[i] = a[i]
        for n in range(bodies.shape[0]):
            value = NOTHING
            if bodies[n] >= 0:
                value = acceleration_of(arrays, work, bodies[n], relative_place(mesh, n, work))
            write3(every, free + n, value)
        add_pair_forces(surfaces, at.LINK_MASS, every, f)


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


@shared
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


@shared
def hand_on(soft: Soft, surfaces: Array, qd: Array, qdd: Array, right: Array, out: Array) -> None:
    """Take the beads' x, y, z out of the residuals of the tree and of free nodes, and add those of the accelerations
    of beads, for accelerations qdd of the tree.
    """
    if surfaces is not None:
        arrays, mesh, space, _, (work, dof, _) = soft
        find_pushes(surfaces, dof, right, space)
        body_int, beads, own = arrays[tree.BODY_INT], surfaces[at.BEADS], space[at.SURFACE_SPACE]
        x, free, loads = space[at.VECTORS][at.STAGE], mesh[at.COLUMNS].shape[0] - 1, space[at.LOADS]
        for b in range(beads.shape[0]):
            body, along, force = push_on(surfaces, b, own)
            push_body(body_int, body, load3(work, body, tree.ORIGIN), force, dof, loads, right)
            for n in range(count_around(own, b)):
                j, weight = own[at.AROUND][b, n], own[at.WEIGHTS][b, at.PLACED, n]
                if j < free:
                    add_at(out, j, -weight, force)
                elif mesh[at.BODIES][j - free] >= 0:
                    place, reaction = (
                        relative_place(mesh, j - free, work),
                        scale_add3(NOTHING, -weight, force),
                    )
                    push_body(body_int, mesh[at.BODIES][j - free], place, reaction, dof, loads, right)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                work_rate = dot3(blended(own, b, at.FIRST + k, x), force)
                if dof[along + k, tree.HELD] == 0.0:
                    right[along + k] -= work_rate
                else:
                    dof[along + k, tree.EFFORT] += work_rate
            gap = gap_of(soft, surfaces, b, qd, qdd)
            for k in range(3):
                right[dof.shape[0] + 3 * b + k] = dot3(direction(dof, beads[b, at.BEAD_SHIFT] + k), gap)


@inline
def gap_of(soft: Soft, surfaces: Array, b: int, qd: Array, qdd: Array) -> Vector:
    """Acceleration of bead b beyond that of its place on the surface."""
    arrays, _, space, _, (work, _, _) = soft
    beads, own, vectors = surfaces[at.BEADS], space[at.SURFACE_SPACE], space[at.VECTORS]
    body, along, _ = push_on(surfaces, b, own)
    needed = blended(own, b, at.PLACED, own[at.NODE_ACCELERATIONS])
    for k in range(beads[b, at.BEAD_DIRECTIONS]):
        slope = blended(own, b, at.FIRST + k, vectors[at.STAGE])
        needed = scale_add3(needed, qdd[along + k], slope)
        rate = blended(own, b, at.FIRST + k, vectors[at.STAGE_RATE])
        needed = scale_add3(needed, 2.0 * qd[along + k], rate)
        needed = scale_add3(needed, qd[along + k], turning(own, beads, b, k, qd, vectors[at.STAGE]))
    lever = load3(work, body, tree.ORIGIN)
    return subtract3(acceleration_of(arrays, work, body, lever), needed)


@inline
def turning(own: Array, beads: Array, b: int, k: int, rate: Array, x: Array) -> Vector:
    """Rate of the slope along direction k for rates of the coordinates, nodes at rest."""
    along = beads[b, at.BEAD_ALONG]
    value = scale_add3(NOTHING, rate[along], blended(own, b, at.FIRST_TWICE if k == 0 else at.MIXED, x))
    if beads[b, at.BEAD_DIRECTIONS] == 2:
        row = at.MIXED if k == 0 else at.SECOND_TWICE
        value = scale_add3(value, rate[along + 1], blended(own, b, row, x))
    return value


@shared
def add_push_rates(surfaces: Array, step: float, qd: Array, right: Array, f: Array, space: Array) -> None:
    """Add how the pushes on coordinates and nodes change in a step at the present speeds."""
    if surfaces is not None:
        beads, own = surfaces[at.BEADS], space[at.SURFACE_SPACE]
        x, v = space[at.VECTORS][at.STAGE], space[at.VECTORS][at.STAGE_RATE]
        for b in range(beads.shape[0]):
            _, along, force = push_on(surfaces, b, own)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                change = add3(turning(own, beads, b, k, qd, x), blended(own, b, at.FIRST + k, v))
                right[along + k] -= step * dot3(force, change)
                for n in range(count_around(own, b)):
                    weight = own[at.WEIGHTS][b, at.FIRST + k, n] * qd[along + k]
                    add_at(f, own[at.AROUND][b, n], -step * weight, force)


@shared
def couple_beads(soft: Soft, surfaces: Array, step: float, matrix: Array) -> None:
    """The beads' rows and columns of the tree's matrix, their columns of the free nodes' equations, and, times the
    step squared, how the pushes change with coordinates and nodes.
    """
    if surfaces is not None:
        arrays, _, space, _, (work, dof, _) = soft
        beads, own, x = surfaces[at.BEADS], space[at.SURFACE_SPACE], space[at.VECTORS][at.STAGE]
        nv, body_int = dof.shape[0], arrays[tree.BODY_INT]
        for e in range(nv, matrix.shape[0]):
            for d in range(matrix.shape[0]):
                matrix[e, d] = matrix[d, e] = 0.0
        for b in range(beads.shape[0]):
            body, along, force = push_on(surfaces, b, own)
            couple_nodes(soft, surfaces, b, step * step, matrix)
            move_rows(body_int, beads, b, body, load3(work, body, tree.ORIGIN), -1.0, dof, matrix)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                slope = blended(own, b, at.FIRST + k, x)
                for e in range(3):
                    value = dot3(direction(dof, beads[b, at.BEAD_SHIFT] + e), slope)
                    add_both(matrix, nv + 3 * b + e, along + k, value)
                for e in range(beads[b, at.BEAD_DIRECTIONS]):
                    row = at.MIXED if k != e else (at.FIRST_TWICE if k == 0 else at.SECOND_TWICE)
                    matrix[along + k, along + e] += step * step * dot3(force, blended(own, b, row, x))


@shared
def couple_nodes(soft: Soft, surfaces: Array, b: int, share: float, matrix: Array) -> None:
    """The part of the nodes around bead b: their places, and, times a share, how pushes change with coordinates."""
    arrays, mesh, space, _, (work, dof, _) = soft
    body_int, beads, own, coupled = (
        arrays[tree.BODY_INT],
        surfaces[at.BEADS],
        space[at.SURFACE_SPACE],
        space[at.COUPLED],
    )
    (_, along, force), free, weights = (
        push_on(surfaces, b, own),
        mesh[at.COLUMNS].shape[0] - 1,
        own[at.WEIGHTS],
    )
    first = coupled.shape[1] - 3 * beads.shape[0] + 3 * b
    for n in range(count_around(own, b)):
        j = own[at.AROUND][b, n]
        if j < free:
            for k in range(3):
                axis = direction(dof, beads[b, at.BEAD_SHIFT] + k)
                add_column(coupled, j, first + k, weights[b, at.PLACED, n], axis)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                column = beads[b, at.BEAD_COLUMN] + k
                add_column(coupled, j, column, share * weights[b, at.FIRST + k, n], force)
        elif mesh[at.BODIES][j - free] >= 0:
            other, place = mesh[at.BODIES][j - free], relative_place(mesh, j - free, work)
            move_rows(body_int, beads, b, other, place, weights[b, at.PLACED, n], dof, matrix)
            for k in range(beads[b, at.BEAD_DIRECTIONS]):
                weight = share * weights[b, at.FIRST + k, n]
                for d in range(dof.shape[0]):
                    if coordinate_moves(body_int, d, other):
                        value = weight * dot3(velocity_by(dof, d, place), force)
                        add_both(matrix, d, along + k, value)


@shared
def move_rows(
    body_int: Array, beads: Array, b: int, body: int, lever: Vector, share: float, dof: Array, matrix: Array
) -> None:
    """Add a share of a body's point to bead b's rows and columns."""
    nv = dof.shape[0]
    for d in range(nv):
        if coordinate_moves(body_int, d, body):
            velocity = velocity_by(dof, d, lever)
            for k in range(3):
                value = share * dot3(direction(dof, beads[b, at.BEAD_SHIFT] + k), velocity)
                add_both(matrix, nv + 3 * b + k, d, value)
