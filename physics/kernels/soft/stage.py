"""Stages of implicit steps: accelerations of the tree and of the free nodes that satisfy the equations at their end.

As `stepping.implicit_stage`, with places and rates of the nodes beside the coordinates: the residual is exact, the
matrix as in `system.make_system`.
"""

from __future__ import annotations

import math

from .. import layout as tree
from ..algebra.access import flat3
from ..algebra.vectors import Array, scale_add3
from ..compiler.jit import inline, shared
from ..dynamics.crba import composite_mass
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..dynamics.rnea import inverse_dynamics
from ..joints.kinematics import kinematics
from ..stepping import implicit_stage as newton
from ..stepping.implicit_matrix import step_matrix
from . import layout as at
from .beads import add_push_rates, find_blends, find_pushes, hand_on, place_beads
from .coupling import (
    add_attached_rates,
    add_generalized,
    add_geometric,
    gather_loads,
    place_attached,
    subtract_times,
)
from .nodes import Soft, count_free, number3, write3
from .surfaces import add_inertia_forces, pull
from .system import all_forces, are_finite, assemble_blocks, make_system, solve_system
from .touching import add_touch_blocks, subtract_touch_times

SLOW, MOST_ITERATIONS, LEAST_SHARE = newton.SLOW, newton.MOST_ITERATIONS, newton.LEAST_STEP
# a matrix of an earlier stage is replaced where the correction does not shrink to this share: it costs as much as four
# iterations
OUTDATED = 0.05


@shared
def place_nodes(step: float, a: Array, count: int, nodes: Array) -> None:
    """Places and rates of the free nodes for the accelerations."""
    for i in range(count):
        nodes[at.STAGE_RATE, i] = nodes[at.BASE_RATE, i] + step * a[i]
        nodes[at.STAGE, i] = nodes[at.BASE, i] + step * nodes[at.STAGE_RATE, i]


@shared
def nodes_residual(soft: Soft, qd: Array, qdd: Array, a: Array, right: Array, out: Array) -> bool:
    """Add the nodes' forces to the tree's negative residual, and write that of the free nodes to out; whether both are
    finite. After the tree's inverse dynamics at the stage's end, for accelerations qdd of it and a of the nodes.
    """
    arrays, mesh, space, _, (work, _, _) = soft
    vectors, body_int = space[at.VECTORS], arrays[tree.BODY_INT]
    x, v, f = vectors[at.STAGE], vectors[at.STAGE_RATE], vectors[at.FORCE]
    place_attached(body_int, mesh, work, x, v)
    all_forces(body_int, mesh, 0.0, x, v, f, work, space)
    add_inertia_forces(soft, mesh[at.SURFACES], a, f)
    return sum_forces(soft, qd, qdd, a, right, out) and are_finite(right.shape[0], right)


@shared
def sum_forces(soft: Soft, qd: Array, qdd: Array, a: Array, right: Array, out: Array) -> bool:
    """Add the forces on nodes to the tree's negative residual, and write that of the free nodes, from force, weight and
    inertia, to out; whether this is finite.
    """
    arrays, mesh, space, _, (work, dof, _) = soft
    body_int, nodes, f = arrays[tree.BODY_INT], mesh[at.NODES], space[at.VECTORS][at.FORCE]
    gravity, free = flat3(arrays[tree.MODEL_DATA], tree.GRAVITY), count_free(mesh)
    gather_loads(body_int, mesh, f, work, space)
    add_generalized(body_int, space[at.LOADS], True, dof, right)
    for j in range(free):
        mass = nodes[j, at.MASS]
        weighed = scale_add3(number3(f, j), nodes[j, at.WEIGHT], gravity)
        write3(out, j, scale_add3(weighed, -mass, number3(a, j)))
    hand_on(soft, mesh[at.SURFACES], qd, qdd, right, out)
    return are_finite(3 * free, out)


@shared
def place_stage(soft: Soft, surfaces: Array, step: float, qdd: Array, a: Array) -> None:
    """Places of the free nodes for accelerations of all; known parts of beads' x, y, z to match theirs."""
    arrays, mesh, space, (_, _, _, vectors, _, _, _), (work, dof, flags) = soft
    nodes, nv = space[at.VECTORS], qdd.shape[0]
    place_nodes(step, a, 3 * count_free(mesh), nodes)
    if surfaces is not None:
        beads, q, qd = surfaces[at.BEADS], vectors[newton.STAGE_Q, :nv], vectors[newton.STAGE_QD, :nv]
        newton.place_stage(step, qdd, vectors)
        kinematics(arrays, q, qd, work, dof, flags)
        x, v = nodes[at.STAGE], nodes[at.STAGE_RATE]
        place_attached(arrays[tree.BODY_INT], mesh, work, x, v)
        place_beads(arrays, mesh, mesh[at.SURFACES], q, qd, x, v, space, soft[4])
        for b in range(beads.shape[0]):
            for d in range(beads[b, at.BEAD_SHIFT], beads[b, at.BEAD_SHIFT] + 3):
                vectors[newton.BASE_QD, d] = qd[d] - step * qdd[d]
                vectors[newton.BASE, d] = q[d] - step * qd[d]


@shared
def find_residual(soft: Soft, step: float, x: Array, a: Array, right: Array, out: Array) -> bool:
    """Negative residuals for the accelerations x of the tree and a of the free nodes; whether they are finite."""
    arrays, mesh, _, (_, _, _, vectors, _, _, _), spaces = soft
    place_stage(soft, mesh[at.SURFACES], step, x, a)
    finite = newton.evaluate_residual(arrays, None, step, x, right[: x.shape[0]], vectors, spaces)
    return nodes_residual(soft, vectors[newton.STAGE_QD], x, a, right, out) and finite


@shared
def find_correction(soft: Soft, step: float, fresh: bool) -> float:
    """Correction at the accelerations, by a new matrix if fresh; its length, or -1 with a flag."""
    _, mesh, space, (slopes, _, pivots, vectors, notes, _, _), (_, dof, flags) = soft
    nodes, nv = space[at.VECTORS], dof.shape[0]
    x, right = vectors[newton.ACCELERATIONS, :nv], vectors[newton.CORRECTION, : pivots.shape[0]]
    a, out = nodes[at.ACCELERATIONS], nodes[at.CORRECTION]
    if fresh:
        flags[tree.STATUS] = tree.OK
        notes[newton.MATRICES] += 1.0
        notes[newton.KNOWN] = 0.0
        if not make_matrix(soft, step, x, a, right, out):
            flags[tree.STATUS] = max(flags[tree.STATUS], tree.SINGULAR)
            return -1.0
        notes[newton.KNOWN], notes[newton.STEP] = 1.0, step
    elif not find_residual(soft, step, x, a, right, out):
        flags[tree.STATUS] = tree.NOT_FINITE
        return -1.0
    solve_system(soft, right, out)
    return size_of(mesh, right, out, slopes[2])


@shared
def make_matrix(soft: Soft, step: float, x: Array, a: Array, right: Array, out: Array) -> bool:
    """As `find_residual`, and the factors of the step's matrix there; whether both are found."""
    arrays, mesh, space, (slopes, system, _, vectors, _, tangents, _), spaces = soft
    dof, nv, nodes, weights = spaces[tree.DOF], x.shape[0], space[at.VECTORS], (step * step, step)
    q, qd, found = vectors[newton.STAGE_Q, :nv], vectors[newton.STAGE_QD, :nv], vectors[newton.FOUND_FORCE]
    take(vectors.shape[1], newton.GIVEN_FORCE, newton.FOUND_FORCE, vectors)
    place_stage(soft, mesh[at.SURFACES], step, x, a)
    newton.place_stage(step, x, vectors)
    inverse_dynamics_derivatives(arrays, q, qd, x, found, slopes, tangents, spaces)
    finite = newton.keep_residual(arrays, None, step, x, vectors, right[:nv], spaces)
    finite = nodes_residual(soft, vectors[newton.STAGE_QD], x, a, right, out) and finite
    step_matrix(None, step, slopes, dof, system)
    assemble_blocks(mesh, weights, True, nodes[at.STAGE], space[at.BLOCKS], space[at.SCRATCH])
    add_touch_blocks(mesh[at.TOUCHING], weights, True, space)
    return finite and make_system(soft, None, step, True)


@shared
def size_of(mesh: Array, right: Array, out: Array, mass: Array) -> float:
    """Length of a correction, weighted by inertia."""
    total = newton.size_of(right, mass) ** 2
    for j in range(count_free(mesh)):
        a, b, c = number3(out, j)
        total += mesh[at.NODES][j, at.MASS] * (a * a + b * b + c * c)
    return math.sqrt(total)


@shared
def within(soft: Soft, step: float, share: float) -> bool:
    """Whether the next correction changes nothing by more than a share of its size (see `implicit_stage.within`)."""
    _, mesh, space, (_, _, _, vectors, _, _, _), (_, dof, _) = soft
    nodes, nv = space[at.VECTORS], dof.shape[0]
    if not newton.within(step, vectors[newton.FOLLOWING, :nv], nv, share, vectors):
        return False
    for i in range(3 * count_free(mesh)):
        change = step * abs(nodes[at.FOLLOWING, i])
        if not step * change <= share * (1.0 + abs(nodes[at.STAGE, i])):
            return False
        if not change <= 100.0 * share * (1.0 + abs(nodes[at.STAGE_RATE, i])):
            return False
    return True


@shared
def try_correction(soft: Soft, step: float, size: float, whole: bool) -> float:
    """As `implicit_stage.try_correction`: the length of the next correction by the same matrix, or -1."""
    _, mesh, space, ((_, _, inertia), _, pivots, vectors, _, _, _), (_, dof, _) = soft
    nodes, nv, count = space[at.VECTORS], dof.shape[0], 3 * count_free(mesh)
    following, out = vectors[newton.FOLLOWING, : pivots.shape[0]], nodes[at.FOLLOWING]
    trial, a = vectors[newton.TRIAL, :nv], nodes[at.TRIAL]
    share = 1.0
    while share > LEAST_SHARE:
        for d in range(nv):
            trial[d] = vectors[newton.ACCELERATIONS, d] + share * vectors[newton.CORRECTION, d]
        for i in range(count):
            a[i] = nodes[at.ACCELERATIONS, i] + share * nodes[at.CORRECTION, i]
        if find_residual(soft, step, trial, a, following, out):
            solve_system(soft, following, out)
            next_size = size_of(mesh, following, out, inertia)
            if next_size <= (1.0 - 0.5 * share) * size:
                return next_size
            if share == 1.0 and within(soft, step, newton.STUCK):
                return next_size
        if not whole:
            return -1.0
        share *= 0.5
    return -1.0


@shared
def iterate(soft: Soft, step: float) -> bool:
    """Newton's iteration from the accelerations in the vectors, in place; False with a flag where it fails."""
    _, mesh, space, (_, _, pivots, vectors, notes, _, _), (_, dof, flags) = soft
    nodes, nv, count = space[at.VECTORS], dof.shape[0], 3 * count_free(mesh)
    fresh = notes[newton.KNOWN] == 0.0 or notes[newton.STEP] != step
    renewed = fresh
    size = find_correction(soft, step, fresh)
    for _ in range(MOST_ITERATIONS):
        if size < 0.0:
            return False
        notes[newton.ITERATIONS] += 1.0
        next_size = try_correction(soft, step, size, fresh)
        slow = next_size < 0.0
        if not slow:
            take(nv, newton.TRIAL, newton.ACCELERATIONS, vectors)
            take(count, at.TRIAL, at.ACCELERATIONS, nodes)
            slow = next_size > (SLOW if renewed else OUTDATED) * size
            left = next_size / size if size > 0.0 else 1.0
            if within(soft, step, newton.SETTLED / max(left, 0.1)) or (
                fresh and slow and within(soft, step, newton.STUCK)
            ):
                for d in range(nv):
                    vectors[newton.ACCELERATIONS, d] += vectors[newton.FOLLOWING, d]
                for i in range(count):
                    nodes[at.ACCELERATIONS, i] += nodes[at.FOLLOWING, i]
                return True
        elif fresh:
            break
        if slow:
            fresh = renewed = True
            size = find_correction(soft, step, fresh)
        else:
            fresh = False
            take(pivots.shape[0], newton.FOLLOWING, newton.CORRECTION, vectors)
            take(count, at.FOLLOWING, at.CORRECTION, nodes)
            size = next_size
    flags[tree.STATUS], flags[tree.CULPRIT] = tree.NOT_CONVERGED, 0
    return False


@shared
def take(count: int, source: int, target: int, vectors: Array) -> None:
    """Copy a row."""
    for i in range(count):
        vectors[target, i] = vectors[source, i]


@shared
def solve_stage(soft: Soft, step: float) -> bool:
    """Accelerations from the guess in the vectors, from zero where that fails; on success STAGE rows have the end."""
    _, mesh, space, (_, _, _, vectors, notes, _, _), (_, dof, _) = soft
    nv, nodes, count = dof.shape[0], space[at.VECTORS], 3 * count_free(mesh)
    for attempt in range(2):
        for d in range(nv):
            if dof[d, tree.HELD] != 0.0:
                vectors[newton.ACCELERATIONS, d] = dof[d, tree.GIVEN]
            elif attempt > 0:
                vectors[newton.ACCELERATIONS, d] = 0.0
        for i in range(count if attempt > 0 else 0):
            nodes[at.ACCELERATIONS, i] = 0.0
        if iterate(soft, step):
            newton.place_stage(step, vectors[newton.ACCELERATIONS, :nv], vectors)
            place_nodes(step, nodes[at.ACCELERATIONS], count, nodes)
            return True
        notes[newton.KNOWN] = 0.0
    return False


@inline
def linear_tree(soft: Soft, dt: float, q: Array, qd: Array, a: Array, right: Array) -> bool:
    """Right side of the tree's equations of a linear step, without nodes, by derivatives of inverse dynamics at
    accelerations a, of which a step of 0 needs the mass alone; whether it is finite.
    """
    arrays, _, _, (slopes, _, _, vectors, notes, tangents, _), spaces = soft
    (by_q, by_qd, mass), found, nv, (work, dof, flags) = (
        slopes,
        vectors[newton.FOUND_FORCE],
        q.shape[0],
        spaces,
    )
    take(vectors.shape[1], newton.GIVEN_FORCE, newton.FOUND_FORCE, vectors)
    if dt == 0.0:
        inverse_dynamics(arrays, q, qd, a, found, work, dof, flags)
        mass[:] = 0.0
        composite_mass(arrays, q, qd, mass, work, dof)
        return newton.keep_residual(arrays, None, dt, a, vectors, right[:nv], spaces)
    inverse_dynamics_derivatives(arrays, q, qd, a, found, slopes, tangents, spaces)
    notes[newton.MATRICES] += 1.0
    for d in range(nv):
        for e in range(nv):
            found[d] += dt * (by_q[d, e] * (qd[e] + dt * a[e]) + by_qd[d, e] * a[e])
    return newton.keep_residual(arrays, None, dt, a, vectors, right[:nv], spaces)


@inline
def linear_nodes(soft: Soft, dt: float, qd: Array, a: Array, right: Array) -> None:
    """Forces f + h K v on the nodes at their places and rates, blocks, and what turning gives the tree's right side.

    The blocks are B = h^2 K + h D with the other sign, and the stiffness damping's force is -D v: so f + h K v is the
    undamped force - B v / h.
    """
    arrays, mesh, space, (slopes, system, _, _, notes, tangents, _), (work, dof, _) = soft
    body_int, nodes, nv, touching = arrays[tree.BODY_INT], space[at.VECTORS], qd.shape[0], mesh[at.TOUCHING]
    x, v, f, blocks = nodes[at.STAGE], nodes[at.STAGE_RATE], nodes[at.FORCE], space[at.BLOCKS]
    place_attached(body_int, mesh, work, x, v)
    all_forces(body_int, mesh, dt, x, v, f, work, space)
    if blocks.shape[0] > 0 and (dt > 0.0 or notes[newton.KNOWN] == 0.0):
        assemble_blocks(mesh, (dt * dt, dt), True, x, blocks, space[at.SCRATCH])
        add_touch_blocks(touching, (dt * dt, dt), False, space)
    if dt == 0.0:
        step_matrix(None, dt, slopes, dof, system)
        return
    add_attached_rates(body_int, mesh, dt, a, work, dof, v, space)
    gather_loads(body_int, mesh, f, work, space)
    system[:nv, :nv] = 0.0
    add_geometric(body_int, arrays[tree.BLOCK_INT], dt, space[at.LOADS], tangents[0], dof, system)
    for d in range(nv):
        for e in range(nv):
            right[d] += system[d, e] * (qd[e] + dt * a[e])
    step_matrix(None, dt, slopes, dof, system)
    subtract_times(mesh, blocks, 1.0 / dt, v, f)
    subtract_touch_times(touching, 1.0 / dt, v, f, space)
    pull(count_free(mesh), mesh[at.SURFACES], at.LAW_STIFFNESS, dt, v, f)
    pull(count_free(mesh), mesh[at.SURFACES], at.LAW_DAMPING, 1.0, v, f)
    find_blends(mesh, mesh[at.SURFACES], x, v, space[at.SURFACE_SPACE])


@shared
def linear_correction(soft: Soft, rows: Array, dt: float, q: Array, qd: Array) -> bool:
    """Accelerations of the linearly implicit Euler step: (M - h D - h^2 K) a = f + h K v (Wang 2022, eq. 4.82, with the
    geometric term and that of the turning elements), of the nodes' places and rates in the vectors' STAGE rows; with a
    step of 0 those of the state. False with a flag where there
    are none. rows: as in `make_system`.
    """
    _, mesh, space, (_, _, pivots, vectors, _, _, _), (_, dof, flags) = soft
    nodes, nv, surfaces = space[at.VECTORS], q.shape[0], mesh[at.SURFACES]
    a, right = vectors[newton.ACCELERATIONS, :nv], vectors[newton.CORRECTION, : pivots.shape[0]]
    none, f, out = nodes[at.TRIAL], nodes[at.FORCE], nodes[at.CORRECTION]
    for d in range(nv):
        a[d] = dof[d, tree.GIVEN] if dof[d, tree.HELD] != 0.0 else 0.0
    if not linear_tree(soft, dt, q, qd, a, right):
        flags[tree.STATUS] = tree.NOT_FINITE
        return False
    for i in range(3 * count_free(mesh)):
        none[i] = 0.0
    linear_nodes(soft, dt, qd, a, right)
    add_inertia_forces(soft, surfaces, none, f)
    find_pushes(surfaces, dof, right, space)
    add_push_rates(mesh, surfaces, dt, qd, right, f, space)
    if not make_system(soft, rows, dt, False):
        return False
    if not sum_forces(soft, qd, a, none, right, out):
        flags[tree.STATUS] = tree.NOT_FINITE
        return False
    solve_system(soft, right, out)
    return True
