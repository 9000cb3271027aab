"""Attached nodes: places and rates that bodies give them, forces that they hand on, and their part of the matrix.

An attached node is a point of its body, with its lumped mass in the body's inertia, so the mass matrix is block
diagonal in the tree's coordinates and the free nodes (Wang 2022, eqs. 4.91 to 4.95, need no code). Places in a tree are
relative to its reference point, as twists are.
"""

from __future__ import annotations

from .. import layout as tree
from ..algebra.access import load3, load6, load_twist, store3
from ..algebra.vectors import Array, Twist, Vector, add3, cross, dot3, dot6, scale_add3
from ..compiler.jit import inline, shared
from ..forces.points import material, position, twist_of
from ..joints.tangent import columns_of, is_screw
from . import layout as at
from .nodes import (
    NOTHING,
    add_at,
    add_both,
    add_column,
    add_load,
    column3,
    coordinate_moves,
    count_free,
    number3,
    relative_place,
    times,
    transposed_times,
    velocity_by,
    write3,
)
from .surfaces import add_constant_loads
from .touching import add_touch_loads, touches


@shared
def place_attached(body_int: Array, mesh: Array, work: Array, x: Array, v: Array) -> None:
    """Places and rates of the attached nodes, after `kinematics`."""
    bodies, free = mesh[at.BODIES], count_free(mesh)
    for a in range(bodies.shape[0]):
        point = relative_place(mesh, a, work)
        write3(x, free + a, position(body_int, work, bodies[a], point))
        write3(v, free + a, material(twist_of(work, bodies[a]), point))


@inline
def gain(body_int: Array, i: int, point: Vector, step: float, qdd: Array, dof: Array) -> Vector:
    """What accelerations of prescribed coordinates give a point of body i in a step."""
    total = NOTHING
    while i >= 0:
        first = body_int[i, tree.DOF_START]
        for d in range(first, first + body_int[i, tree.DOF_COUNT]):
            if dof[d, tree.HELD] != 0.0:
                total = scale_add3(total, step * qdd[d], velocity_by(dof, d, point))
        i = body_int[i, tree.PARENT]
    return total


@shared
def add_attached_rates(
    body_int: Array, mesh: Array, step: float, qdd: Array, work: Array, dof: Array, v: Array, space: Array
) -> None:
    """Add `gain` to the rates of attached nodes and of touched bodies."""
    bodies, free = mesh[at.BODIES], count_free(mesh)
    for a in range(bodies.shape[0]):
        more = gain(body_int, bodies[a], relative_place(mesh, a, work), step, qdd, dof)
        add_at(v, free + a, 1.0, more)
    add_touch_rates(body_int, mesh[at.TOUCHING], step, qdd, dof, space)


@shared
def add_touch_rates(
    body_int: Array, touching: Array, step: float, qdd: Array, dof: Array, space: Array
) -> None:
    if touching is not None:
        for n in range(touches(space)):
            found, i = space[at.TOUCHES], space[at.TOUCHED][n, 3]
            more = gain(body_int, i, load3(found, n, at.LEVER), step, qdd, dof)
            store3(found, n, at.BODY_RATE, add3(load3(found, n, at.BODY_RATE), more))


@shared
def gather_loads(body_int: Array, mesh: Array, f: Array, work: Array, space: Array) -> None:
    """Sums over the nodes on each body and what touches it, and all beyond it: force, and place times force."""
    loads, bodies, free = space[at.LOADS], mesh[at.BODIES], count_free(mesh)
    for i in range(body_int.shape[0]):
        for k in range(at.LOAD_WIDTH):
            loads[i, k] = 0.0
    for a in range(bodies.shape[0]):
        if bodies[a] >= 0:
            add_load(loads, bodies[a], relative_place(mesh, a, work), number3(f, free + a))
    add_touch_loads(mesh[at.TOUCHING], loads, space)
    add_constant_loads(body_int, mesh[at.SURFACES], work, space[at.VECTORS][at.STAGE], loads)
    for i in range(body_int.shape[0] - 1, -1, -1):
        parent = body_int[i, tree.PARENT]
        if parent >= 0:
            for k in range(at.LOAD_WIDTH):
                loads[parent, k] += loads[i, k]


@inline
def wrench_of(loads: Array, i: int) -> Twist:
    return (
        loads[i, 8] - loads[i, 10],
        loads[i, 9] - loads[i, 5],
        loads[i, 4] - loads[i, 6],
        loads[i, 0],
        loads[i, 1],
        loads[i, 2],
    )


@shared
def add_generalized(body_int: Array, loads: Array, known: bool, dof: Array, tau: Array) -> None:
    """Add the generalized forces of `gather_loads`. known: efforts of prescribed coordinates are known, and change."""
    for i in range(body_int.shape[0]):
        wrench = wrench_of(loads, i)
        for d in range(
            body_int[i, tree.DOF_START], body_int[i, tree.DOF_START] + body_int[i, tree.DOF_COUNT]
        ):
            force = dot6(load_twist(dof, d, tree.SUBSPACE), wrench)
            if dof[d, tree.HELD] == 0.0 or not known:
                tau[d] += force
            else:
                dof[d, tree.EFFORT] -= force


@inline
def curvature_of(outer: Twist, inner: Twist, loads: Array, i: int) -> float:
    """Sum over the nodes beyond of force times the second derivative of the place: w x (v + w x x)."""
    w, v, u = (outer[0], outer[1], outer[2]), (inner[3], inner[4], inner[5]), (inner[0], inner[1], inner[2])
    total: float = dot3(w, cross(v, load3(loads, i, 0)))
    for j in range(3):
        total += w[j] * dot3(u, load3(loads, i, 3 + 3 * j))
    total -= (loads[i, 3] + loads[i, 7] + loads[i, 11]) * dot3(w, u)
    return total


@shared
def add_geometric(
    body_int: Array, block_int: Array, share: float, loads: Array, tangent: Array, dof: Array, matrix: Array
) -> None:
    """Add share times the derivative of the generalized forces by coordinates where the nodes' forces stay: the rate of
    J^T in it, which Wang 2022, eq. 4.82, leaves out. tangent is from `inverse_dynamics_derivatives`.
    """
    columns = columns_of(tangent)
    for i in range(body_int.shape[0]):
        first, count = body_int[i, tree.DOF_START], body_int[i, tree.DOF_COUNT]
        simple = is_screw(body_int, block_int, i)
        for d in range(first, first + count):
            inner = load_twist(dof, d, tree.SUBSPACE)
            for e in range(first, first + count):
                value = curvature_of(inner, load_twist(dof, e, tree.SUBSPACE), loads, i)
                if not simple:
                    value += dot6(load6(tangent, e, columns + 6 * (d - first)), wrench_of(loads, i))
                matrix[d, e] += share * value
            ancestor = body_int[i, tree.PARENT]
            while ancestor >= 0:
                begin = body_int[ancestor, tree.DOF_START]
                for e in range(begin, begin + body_int[ancestor, tree.DOF_COUNT]):
                    value = share * curvature_of(load_twist(dof, e, tree.SUBSPACE), inner, loads, i)
                    add_both(matrix, d, e, value)
                ancestor = body_int[ancestor, tree.PARENT]


@shared
def subtract_times(mesh: Array, blocks: Array, share: float, v: Array, f: Array) -> None:
    """f -= share B v of all nodes, with the assembled blocks B before they are factorized."""
    columns, rows, couples, meets = mesh[at.COLUMNS], mesh[at.ROWS], mesh[at.COUPLES], mesh[at.MEETS]
    solved, free = columns.shape[0] - 1, count_free(mesh)
    for j in range(solved):
        add_at(f, j, -share, times(blocks, j, number3(v, j)))
        for n in range(columns[j], columns[j + 1]):
            subtract_pair(blocks, solved + n, rows[n], j, share, v, f)
    begin = solved + rows.shape[0]
    for n in range(couples.shape[0]):
        subtract_pair(blocks, begin + n, free + couples[n, 0], couples[n, 1], share, v, f)
    begin += couples.shape[0]
    for n in range(meets.shape[0]):
        i, j = free + meets[n, 0], free + meets[n, 1]
        if i == j:
            add_at(f, i, -share, times(blocks, begin + n, number3(v, i)))
        else:
            subtract_pair(blocks, begin + n, i, j, share, v, f)


@inline
def subtract_pair(blocks: Array, b: int, i: int, j: int, share: float, v: Array, f: Array) -> None:
    """Both products of a block off the diagonal."""
    add_at(f, i, -share, times(blocks, b, number3(v, j)))
    add_at(f, j, -share, transposed_times(blocks, b, number3(v, i)))


@shared
def couple(body_int: Array, mesh: Array, space: Array, work: Array, dof: Array, matrix: Array) -> None:
    """Columns of the free nodes' equations by the tree's coordinates (COUPLED), and the attached nodes' part of the
    tree's own matrix: J^T B J.
    """
    coordinates, couples, meets = mesh[at.COORDINATES], mesh[at.COUPLES], mesh[at.MEETS]
    blocks, coupled, bodies = space[at.BLOCKS], space[at.COUPLED], mesh[at.BODIES]
    begin = mesh[at.COLUMNS].shape[0] - 1 + mesh[at.ROWS].shape[0]
    coupled[:] = 0.0
    for n in range(couples.shape[0]):
        a, j = couples[n, 0], couples[n, 1]
        point = relative_place(mesh, a, work)
        for c in range(coordinates.shape[0]):
            if coordinate_moves(body_int, coordinates[c], bodies[a]):
                column = transposed_times(blocks, begin + n, velocity_by(dof, coordinates[c], point))
                add_column(coupled, j, c, 1.0, column)
    begin += couples.shape[0]
    for n in range(meets.shape[0]):
        a, other = meets[n, 0], meets[n, 1]
        first, second = relative_place(mesh, a, work), relative_place(mesh, other, work)
        for c in range(coordinates.shape[0]):
            e = coordinates[c]
            if not coordinate_moves(body_int, e, bodies[other]):
                continue
            force = times(blocks, begin + n, velocity_by(dof, e, second))
            for b in range(coordinates.shape[0]):
                d = coordinates[b]
                if coordinate_moves(body_int, d, bodies[a]):
                    value = dot3(velocity_by(dof, d, first), force)
                    matrix[d, e] += value
                    if a != other:
                        matrix[e, d] += value


@shared
def take_out_nodes(mesh: Array, space: Array, matrix: Array) -> None:
    """Subtract the Schur complement C^T A^-1 C of the free nodes from the tree's matrix; COUPLED becomes L^-1 C."""
    coordinates, coupled, inverses = mesh[at.COORDINATES], space[at.COUPLED], space[at.INVERSES]
    for j in range(mesh[at.COLUMNS].shape[0] - 1):
        for c in range(coordinates.shape[0]):
            column = column3(coupled, j, c)
            if column[0] != 0.0 or column[1] != 0.0 or column[2] != 0.0:
                answer = times(inverses, j, column)
                for b in range(coordinates.shape[0]):
                    matrix[coordinates[b], coordinates[c]] -= dot3(column3(coupled, j, b), answer)
