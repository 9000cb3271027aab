"""The part of soft bodies in a stage backwards.

The coordinates of `stage` are those of the tree and the places of the free nodes. With y for their velocities, Y for
those of all nodes, f their forces, w and u the derivatives of Y . f by places and rates (see `elements`), and G(.) the
derivative of J^T . by coordinates, the forces add to -y^T K and -y^T D

    J^T w + G(u) q' + G(f) y,   J^T u,   and for free nodes w and u.

The matrix P of the step, as `soft.system` makes it, leaves out how damping turns, and under compression more. So the
solution of the exact equations is found by steps of minimal residual, with P^-T as the preconditioner.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as tree
from ..algebra.access import flat3
from ..algebra.vectors import Array, dot3, scale_add3
from ..compiler.jit import shared
from ..soft import layout as at
from ..soft.coupling import add_generalized, add_geometric, gather_loads, place_attached, subtract_times
from ..soft.nodes import NOTHING, Soft, number3, relative_place, velocity_by, write3
from ..soft.system import all_forces, assemble_blocks, make_system, solve_system
from ..stepping.implicit_stage import raise_flag
from .elements import pull_springs, pull_tets, take_elements

# soft bodies, G of two forces (2, nv, nv), blocks of stiffness and damping (2, blocks, BLOCK_WIDTH), vectors (ROWS,
# coordinates of the tree and of free nodes), what `elements.take_elements` adds to, and of each node sums (2, n) by its
# mass damping, and by the factor of a free one's mass without it
NodesBack: TypeAlias = tuple[Soft, Array, Array, Array, tuple[Array, Array, Array, Array], Array]
# velocities of all nodes by y, and the derivatives by places and rates: vectors of `soft.layout` that are free here
MOVED, BY_PLACE, BY_RATE = at.TRIAL, at.FOLLOWING, at.NEWEST
# vectors of `NodesBack`: -y^T K and -y^T D of the nodes' forces, the correction, and what it changes of itself
BY_Q, BY_QD, LEFT, IMAGE, ROWS = range(5)
SETTLED, MOST_ITERATIONS = 1e-12, 200


@shared
def begin_nodes(nodes: NodesBack, step: float, q: Array, qd: Array) -> bool:
    """Forces, loads, and the factors of the step's matrix, of which the tree's part is in the system, transposed; after
    the derivatives of inverse dynamics of the stage.
    """
    (arrays, mesh, space, implicit, (work, dof, _)), turned, blocks, _, _, _ = nodes
    vectors, nv = space[at.VECTORS], dof.shape[0]
    x, v, body_int = vectors[at.STAGE], vectors[at.STAGE_RATE], arrays[tree.BODY_INT]
    for i in range(q.shape[0] - nv):
        x[i], v[i] = q[nv + i], qd[nv + i]
    place_attached(body_int, mesh, work, x, v)
    all_forces(body_int, mesh, 0.0, x, v, vectors[at.FORCE], work, space)
    gather_loads(body_int, mesh, vectors[at.FORCE], work, space)
    turned[0] = 0.0
    add_geometric(body_int, arrays[tree.BLOCK_INT], 1.0, space[at.LOADS], implicit[5][0], dof, turned[0])
    for k in range(2):
        assemble_blocks(mesh, (1.0 - k, 1.0 * k), True, x, blocks[k], space[at.SCRATCH])
    for b in range(blocks.shape[1]):
        for k in range(at.BLOCK_WIDTH):
            space[at.BLOCKS][b, k] = step * (blocks[1, b, k] + step * blocks[0, b, k])
    return make_system(nodes[0], None, step, True)


@shared
def pull_forces(nodes: NodesBack, qd: Array, y: Array) -> None:
    """The derivatives of Y . f into BY_Q and BY_QD."""
    (arrays, mesh, space, implicit, (work, dof, _)), turned, blocks, sides, _, _ = nodes
    vectors, nv, count = space[at.VECTORS], dof.shape[0], y.shape[0]
    body_int, bodies, masses = arrays[tree.BODY_INT], mesh[at.BODIES], mesh[at.NODES]
    moved, by_x, by_v = vectors[MOVED], vectors[BY_PLACE], vectors[BY_RATE]
    free, x, v = mesh[at.COLUMNS].shape[0] - 1, vectors[at.STAGE], vectors[at.STAGE_RATE]
    for i in range(3 * free):
        moved[i] = y[nv + i]
    for a in range(bodies.shape[0]):
        point, total, i = relative_place(mesh, a, work), NOTHING, bodies[a]
        while i >= 0:
            first = body_int[i, tree.DOF_START]
            for d in range(first, first + body_int[i, tree.DOF_COUNT]):
                total = scale_add3(total, y[d], velocity_by(dof, d, point))
            i = body_int[i, tree.PARENT]
        write3(moved, free + a, total)
    for j in range(masses.shape[0]):
        write3(by_x, j, NOTHING)
        write3(by_v, j, scale_add3(NOTHING, -masses[j, at.MASS] * masses[j, at.DRAG], number3(moved, j)))
    subtract_times(mesh, blocks[0], 1.0, moved, by_x)
    subtract_times(mesh, blocks[1], 1.0, moved, by_v)
    pull_tets(mesh, mesh[at.NEO], x, v, moved, by_x, space[at.SCRATCH])
    pull_springs(mesh, x, v, moved, by_x)
    by_q, by_qd = sides[BY_Q], sides[BY_QD]
    for d in range(count):
        by_q[d] = by_x[d - nv] if d >= nv else 0.0
        by_qd[d] = by_v[d - nv] if d >= nv else 0.0
    gather_loads(body_int, mesh, by_x, work, space)
    add_generalized(body_int, space[at.LOADS], False, dof, by_q)
    gather_loads(body_int, mesh, by_v, work, space)
    add_generalized(body_int, space[at.LOADS], False, dof, by_qd)
    turned[1] = 0.0
    add_geometric(body_int, arrays[tree.BLOCK_INT], 1.0, space[at.LOADS], implicit[5][0], dof, turned[1])
    for d in range(nv):
        for e in range(nv):
            by_q[d] += turned[1][d, e] * qd[e] + turned[0][d, e] * y[e]


@shared
def solve_for(nodes: NodesBack, step: float, qd: Array, y: Array, out: Array) -> None:
    """P^-T (M + s D + s^2 K)^T y."""
    soft, _, _, sides, _, _ = nodes
    _, mesh, _, implicit, (_, dof, _) = soft
    (by_q, by_qd, mass), nv, masses = implicit[0], dof.shape[0], mesh[at.NODES]
    pull_forces(nodes, qd, y)
    for d in range(y.shape[0]):
        out[d] = -step * (sides[BY_QD, d] + step * sides[BY_Q, d])
        if d >= nv:
            out[d] += masses[(d - nv) // 3, at.MASS] * y[d]
    for d in range(nv):
        for e in range(nv):
            out[e] += y[d] * (mass[d, e] + step * (by_qd[d, e] + step * by_q[d, e]))
    solve_system(soft, out[:nv], out[nv:])


@shared
def product(nodes: NodesBack, a: Array, b: Array) -> float:
    """Of two velocities, weighted by inertia."""
    (_, mesh, _, implicit, spaces), total = nodes[0], 0.0
    nv = spaces[tree.DOF].shape[0]
    for d in range(a.shape[0]):
        mass = implicit[0][2][d, d] if d < nv else mesh[at.NODES][(d - nv) // 3, at.MASS]
        total += mass * a[d] * b[d]
    return total


@shared
def solve_nodes_back(nodes: NodesBack, step: float, q: Array, qd: Array, y: Array) -> bool:
    """Solve the stage's equations in place of the right side y, of the tree and the free nodes, and leave -y^T K and
    -y^T D of the nodes' forces; False with a flag where no solution is found.
    """
    soft, _, _, sides, _, _ = nodes
    arrays, _, _, _, (_, dof, flags) = soft
    nv, left, image = dof.shape[0], sides[LEFT], sides[IMAGE]
    if not begin_nodes(nodes, step, q, qd):
        return False
    for d in range(y.shape[0]):
        left[d], y[d] = y[d], 0.0
    solve_system(soft, left[:nv], left[nv:])
    for _ in range(MOST_ITERATIONS):
        solve_for(nodes, step, qd, left, image)
        square = product(nodes, image, image)
        share = product(nodes, left, image) / square if square > 0.0 else 0.0
        for d in range(y.shape[0]):
            y[d] += share * left[d]
            left[d] -= share * image[d]
        if product(nodes, left, left) <= SETTLED * SETTLED * product(nodes, y, y):
            pull_forces(nodes, qd, y)
            return True
    return raise_flag(arrays[tree.BODY_INT], flags, tree.NOT_CONVERGED, 0)


@shared
def take_nodes(
    nodes: NodesBack, step: float, qdd: Array, y: Array, n: Array, m: Array, gravity: Array
) -> None:
    """Add what the nodes' forces and masses add to the derivatives by the stage's known part, gravity and numbers of
    soft bodies.
    """
    (arrays, mesh, space, _, (_, dof, _)), _, _, sides, parts, sums = nodes
    pull = flat3(arrays[tree.MODEL_DATA], tree.GRAVITY)
    nv, masses, vectors = dof.shape[0], mesh[at.NODES], space[at.VECTORS]
    for d in range(y.shape[0]):
        n[d] += sides[BY_Q, d]
        m[d] += sides[BY_QD, d] + step * sides[BY_Q, d]
        if d >= nv:
            gravity[(d - nv) % 3] += masses[(d - nv) // 3, at.MASS] * y[d]
    x, v, moved, f = vectors[at.STAGE], vectors[at.STAGE_RATE], vectors[MOVED], vectors[at.FORCE]
    take_elements(mesh, mesh[at.NEO], parts, x, v, moved, f, space[at.SCRATCH])
    for j in range(masses.shape[0]):
        mass, along = masses[j, at.MASS], number3(moved, j)
        sums[0, j] -= mass * dot3(along, number3(v, j))
        if 3 * j < y.shape[0] - nv:
            sums[1, j] += mass * dot3(along, scale_add3(pull, -1.0, number3(qdd[nv:], j)))
