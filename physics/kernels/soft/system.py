"""Forces of soft bodies at a state, and the linear system of an implicit step: tree and free nodes together."""

from __future__ import annotations

import math

from .. import layout as tree
from ..algebra.lu import lu_factorize
from ..algebra.vectors import Array, dot3, scale_add3
from ..compiler.jit import entry, shared
from ..constraints import layout as con
from ..constraints.dense_response import factorize_response
from ..joints.kinematics import kinematics
from ..stepping import implicit_stage as newton
from ..stepping.bundles import Spaces
from . import layout as at
from .beads import couple_beads
from .coupling import add_geometric, couple, take_out_nodes
from .elements import add_spring_blocks, add_spring_forces, add_tet_blocks, add_tet_forces, elastic_energy
from .nodes import NOTHING, Soft, column3, count_free, number3, times, write3
from .sparse import factorize, solve_backward, solve_forward, solve_forward_many
from .surfaces import add_constant_forces, couple_sheets, follow_sheets, pull, solve_sheets
from .touching import add_touch_blocks, add_touch_energy, add_touch_forces, couple_touches, find_touches


@shared
def node_forces(mesh: Array, damped: bool, x: Array, v: Array, f: Array, scratch: Array) -> None:
    """Forces of elements on all nodes, and mass damping; damped: with stiffness damping."""
    nodes = mesh[at.NODES]
    for j in range(nodes.shape[0]):
        write3(f, j, scale_add3(NOTHING, -nodes[j, at.MASS] * nodes[j, at.DRAG], number3(v, j)))
    add_tet_forces(mesh, mesh[at.NEO], damped, x, v, f, scratch)
    add_spring_forces(mesh, damped, x, v, f)
    pull(count_free(mesh), mesh[at.SURFACES], at.LAW_STIFFNESS, 1.0, x, f)
    if damped:
        pull(count_free(mesh), mesh[at.SURFACES], at.LAW_DAMPING, 1.0, v, f)


@shared
def all_forces(
    body_int: Array, mesh: Array, ahead: float, x: Array, v: Array, f: Array, work: Array, space: Array
) -> None:
    """`node_forces`, and those of what points touch; ahead: not 0 for a linear step of that length, see there."""
    node_forces(mesh, ahead == 0.0, x, v, f, space[at.SCRATCH])
    add_constant_forces(mesh[at.SURFACES], work, f)
    if mesh[at.TOUCHING] is not None:
        find_touches(body_int, mesh[at.TOUCHING], ahead, x, v, work, space)
        add_touch_forces(mesh[at.TOUCHING], ahead == 0.0, f, space)


@shared
def assemble_blocks(
    mesh: Array, weights: tuple[float, float], exact: bool, x: Array, blocks: Array, scratch: Array
) -> None:
    """Stiffness times weights[0] plus stiffness damping times weights[1] of all elements (see `elements`)."""
    for b in range(blocks.shape[0]):
        for k in range(at.BLOCK_WIDTH):
            blocks[b, k] = 0.0
    add_tet_blocks(mesh, mesh[at.NEO], weights, exact, x, blocks, scratch)
    add_spring_blocks(mesh, weights, exact, x, blocks)


@shared
def add_masses(mesh: Array, step: float, blocks: Array) -> None:
    """Add masses of the free nodes, and the mass damping of all over a step."""
    nodes, meets = mesh[at.NODES], mesh[at.MEETS]
    solved = mesh[at.COLUMNS].shape[0] - 1
    for j in range(solved):
        for c in range(3):
            blocks[j, 5 * c] += nodes[j, at.MASS] * (1.0 + step * nodes[j, at.DRAG])
    begin = solved + mesh[at.ROWS].shape[0] + mesh[at.COUPLES].shape[0]
    for n in range(meets.shape[0]):
        if meets[n, 0] == meets[n, 1]:
            j = count_free(mesh) + meets[n, 0]
            for c in range(3):
                blocks[begin + n, 5 * c] += step * nodes[j, at.MASS] * nodes[j, at.DRAG]


@shared
def make_system(soft: Soft, rows: Array, step: float, slopes: bool) -> bool:
    """Factors of the step's matrix, and for rows (None, or see `impulses`) of its response; False where it has none.

    Free nodes are eliminated first. `step_matrix` and the elements' blocks come in assembled: without the derivatives
    by which damping turns with elements and bodies. Where the nodes' part is not positive definite, as it may be under
    compression, elements leave out what is not. slopes: the one of friction along the sliding is in the blocks.
    With a step of 0 that part is the nodes' mass, whose factors stay.
    """
    arrays, mesh, space, (inertia, system, pivots, _, notes, tangents, _), (work, dof, flags) = soft
    body_int, nv = arrays[tree.BODY_INT], dof.shape[0]
    kept, blocks = step == 0.0 and notes[newton.KNOWN] != 0.0, space[at.BLOCKS].shape[0] > 0
    kept |= not blocks
    if not kept:
        add_masses(mesh, step, space[at.BLOCKS])
    if not kept and factorize(mesh, space) >= 0:
        x = space[at.VECTORS][at.STAGE]
        assemble_blocks(mesh, (step * step, step), False, x, space[at.BLOCKS], space[at.SCRATCH])
        add_touch_blocks(mesh[at.TOUCHING], (step * step, step), slopes, space)
        add_masses(mesh, step, space[at.BLOCKS])
        if factorize(mesh, space) >= 0:
            flags[tree.STATUS] = tree.NOT_FINITE
            return False
    if blocks:
        couple(body_int, mesh, space, work, dof, system)
        couple_touches(body_int, mesh, mesh[at.TOUCHING], space, work, dof, system)
    couple_beads(soft, mesh[at.SURFACES], step, system)
    couple_sheets(soft, mesh[at.SURFACES], step, system)
    if blocks:
        solve_forward_many(mesh, space, space[at.COUPLED])
        take_out_nodes(mesh, space, system)
    if step > 0.0:
        block_int, loads = arrays[tree.BLOCK_INT], space[at.LOADS]
        add_geometric(body_int, block_int, -step * step, loads, tangents[0], dof, system)
    if rows is not None:
        factors = rows[1][con.SYSTEM_VECTORS][con.WORK_VECTORS :]
        factorize_response(system, inertia[2], dof, factors)
    for d in range(nv):
        if dof[d, tree.HELD] != 0.0:
            for e in range(system.shape[0]):
                system[d, e] = 1.0 if d == e else 0.0
    notes[newton.KNOWN] = 1.0 if step == 0.0 else notes[newton.KNOWN]
    bad = lu_factorize(system, pivots)
    return bad < 0 or newton.raise_flag(body_int, flags, tree.SINGULAR, bad)


@shared
def solve_system(soft: Soft, right: Array, x: Array) -> None:
    """Solve in place of the right sides of the tree (nv,), of beads (3 each), and of the free nodes in x."""
    _, mesh, space, (_, system, pivots, _, _, _, _), (_, dof, _) = soft
    coordinates, coupled, inverses = mesh[at.COORDINATES], space[at.COUPLED], space[at.INVERSES]
    if mesh[at.COLUMNS].shape[0] > 1:
        solve_forward(mesh, space, x)
    for j in range(mesh[at.COLUMNS].shape[0] - 1):
        answer = times(inverses, j, number3(x, j))
        for k in range(coordinates.shape[0]):
            right[coordinates[k]] -= dot3(column3(coupled, j, k), answer)
    solve_sheets(mesh[at.SURFACES], x, right, space[at.SURFACE_SPACE])
    for d in range(dof.shape[0]):
        if dof[d, tree.HELD] != 0.0:
            right[d] = 0.0
    newton.solve_step(system, pivots, right)
    follow_tree(mesh, space, right, x)


@shared
def follow_tree(mesh: Array, space: Array, change: Array, x: Array) -> None:
    """Solve for the free nodes in place of what `solve_forward` gives in x, by the change of the tree's coordinates."""
    coordinates, coupled = mesh[at.COORDINATES], space[at.COUPLED]
    for i in range(coupled.shape[0]):
        for k in range(coordinates.shape[0]):
            x[i] -= coupled[i, k] * change[coordinates[k]]
    if mesh[at.COLUMNS].shape[0] > 1:
        solve_backward(mesh, space, x)
    follow_sheets(mesh[at.SURFACES], change, x, space[at.SURFACE_SPACE])


@shared
def are_finite(count: int, x: Array) -> bool:
    a = b = c = 0.0  # three sums do not wait for each other
    for i in range(0, count - 2, 3):
        a, b, c = a + abs(x[i]), b + abs(x[i + 1]), c + abs(x[i + 2])
    for i in range(count - count % 3, count):
        a += abs(x[i])
    return a + b + c < math.inf


@entry
def energies(
    mesh: Array,
    gravity: tuple[float, float, float],
    ranges: Array,
    places: Array,
    rates: Array,
    scratch: Array,
    energy: Array,
) -> None:
    """Kinetic energy, that of gravity, and the elastic one (samples, bodies, 3) of all nodes of each soft body.

    ranges (bodies, 6): first and one past the last tetrahedron, spring, and entry of its nodes' numbers.
    """
    nodes, numbers = mesh[at.NODES], ranges[1]
    for sample in range(places.shape[0]):
        x, v = places[sample], rates[sample]
        for b in range(ranges[0].shape[0]):
            kinetic, potential = 0.0, 0.0
            one = ranges[0][b]
            for n in range(one[4], one[5]):
                j = numbers[n]
                p, w = number3(x, j), number3(v, j)
                kinetic += 0.5 * nodes[j, at.MASS] * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
                potential -= nodes[j, at.MASS] * (p[0] * gravity[0] + p[1] * gravity[1] + p[2] * gravity[2])
            energy[sample, b, 0], energy[sample, b, 1] = kinetic, potential
            energy[sample, b, 2] = elastic_energy(
                mesh, mesh[at.NEO], (one[0], one[2]), (one[1], one[3]), x, scratch
            )


@entry
def touch_energies(
    arrays: Array,
    mesh: Array,
    q: Array,
    places: Array,
    space: Array,
    spaces: Spaces,
    energy: Array,
    depth: Array,
) -> None:
    """Energy of what is pressed, and greatest depth (samples, skins), zeros before, at q and places of all nodes."""
    work, dof, flags = spaces
    for sample in range(q.shape[0]):
        x = places[sample]
        kinematics(arrays, q[sample], q[sample], work, dof, flags)
        find_touches(arrays[tree.BODY_INT], mesh[at.TOUCHING], 0.0, x, x, work, space)
        add_touch_energy(mesh[at.TOUCHING], space, energy[sample], depth[sample])
