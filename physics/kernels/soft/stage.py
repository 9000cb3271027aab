"""Stages of implicit steps: accelerations of the tree and of the free nodes that satisfy the equations at their end.

As `stepping.implicit_stage`, with places and rates of the nodes beside the coordinates: the residual is exact, the
matrix as in `system.make_system`.
"""

from __future__ import annotations

import math

from .. import layout as tree
from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, scale_add3
from ..compiler.jit import shared
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..joints.kinematics import kinematics
from ..stepping import implicit_stage as newton
from ..stepping.bundles import Implicit, Spaces
from ..stepping.implicit_matrix import step_matrix
from . import layout as at
from .coupling import (
    add_attached_rates,
    add_generalized,
    add_geometric,
    gather_loads,
    place_attached,
    subtract_times,
)
from .sparse import number3, write3
from .surfaces import add_inertia_forces, add_push_rates, find_pushes, hand_on, place_beads
from .system import all_forces, are_finite, assemble_blocks, make_system, solve_system
from .touching import add_touch_blocks, subtract_touch_times

SLOW, MOST_ITERATIONS, LEAST_SHARE = newton.SLOW, newton.MOST_ITERATIONS, newton.LEAST_STEP
# a matrix of an earlier stage is replaced where the correction does not shrink to this share: it costs as much as four
# iterations
OUTDATED = 0.05


@shared
def gravity_of(data: Array) -> Vector:
    return flat3(data, tree.GRAVITY)


@shared
def nodes_residual(
    arrays: Array,
    mesh: Array,
    step: float,
    qdd: Array,
    a: Array,
    right: Array,
    out: Array,
    space: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> bool:
    """Add the nodes' forces to the tree's negative residual, and write that of the free nodes to out; whether both are
    finite. After the tree's inverse dynamics at the stage's end, for accelerations qdd of it and a of the nodes.
    """
    (work, dof, _), vectors, body_int = spaces, space[at.VECTORS], arrays[tree.BODY_INT]
    qd = implicit[3][newton.STAGE_QD]
    x, v, f = vectors[at.STAGE], vectors[at.STAGE_RATE], vectors[at.FORCE]
    free = mesh[at.COLUMNS].shape[0] - 1
    for i in range(3 * free):
        v[i] = vectors[at.BASE_RATE, i] + step * a[i]
        x[i] = vectors[at.BASE, i] + step * v[i]
    place_attached(body_int, mesh, work, x, v)
    all_forces(body_int, mesh, 0.0, x, v, f, work, space)
    add_inertia_forces(arrays, mesh, mesh[at.SURFACES], a, work, f, space)
    gather_loads(body_int, mesh, f, work, space)
    add_generalized(body_int, space[at.LOADS], True, dof, right)
    free_residual(arrays, mesh, a, f, out)
    hand_on(arrays, mesh, mesh[at.SURFACES], qd, qdd, right, out, space, spaces)
    return are_finite(3 * free, out) and are_finite(right.shape[0], right)


@shared
def free_residual(arrays: Array, mesh: Array, a: Array, f: Array, out: Array) -> None:
    """Force, weight and inertia of the free nodes."""
    gravity, nodes = gravity_of(arrays[tree.MODEL_DATA]), mesh[at.NODES]
    for j in range(mesh[at.COLUMNS].shape[0] - 1):
        mass = nodes[j, at.MASS]
        write3(out, j, scale_add3(scale_add3(number3(f, j), mass, gravity), -mass, number3(a, j)))


@shared
def place_stage(
    arrays: Array,
    mesh: Array,
    surfaces: Array,
    step: float,
    qdd: Array,
    a: Array,
    space: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> None:
    """Let the known parts of x, y, z of beads be such that accelerations lead to their places."""
    if surfaces is not None:
        vectors, nodes, nv = implicit[3], space[at.VECTORS], qdd.shape[0]
        (work, dof, flags), beads = spaces, surfaces[at.BEADS]
        newton.place_stage(step, qdd, vectors)
        q, qd = vectors[newton.STAGE_Q, :nv], vectors[newton.STAGE_QD, :nv]
        kinematics(arrays, q, qd, work, dof, flags)
        x, v = nodes[at.STAGE], nodes[at.STAGE_RATE]
        for i in range(3 * (mesh[at.COLUMNS].shape[0] - 1)):
            v[i] = nodes[at.BASE_RATE, i] + step * a[i]
            x[i] = nodes[at.BASE, i] + step * v[i]
        place_attached(arrays[tree.BODY_INT], mesh, work, x, v)
        place_beads(arrays, surfaces, q, qd, x, v, space, spaces)
        for b in range(beads.shape[0]):
            for d in range(beads[b, at.BEAD_SHIFT], beads[b, at.BEAD_SHIFT] + 3):
                vectors[newton.BASE_QD, d] = qd[d] - step * qdd[d]
                vectors[newton.BASE, d] = q[d] - step * qd[d]


@shared
def find_residual(
    arrays: Array,
    mesh: Array,
    step: float,
    x: Array,
    a: Array,
    right: Array,
    out: Array,
    space: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> bool:
    """Negative residuals for the accelerations x of the tree and a of the free nodes; whether they are finite."""
    place_stage(arrays, mesh, mesh[at.SURFACES], step, x, a, space, implicit, spaces)
    finite = newton.evaluate_residual(arrays, None, step, x, right[: x.shape[0]], implicit[3], spaces)
    return nodes_residual(arrays, mesh, step, x, a, right, out, space, implicit, spaces) and finite


@shared
def find_correction(
    arrays: Array, mesh: Array, step: float, fresh: bool, space: Array, implicit: Implicit, spaces: Spaces
) -> float:
    """Correction at the accelerations, by a new matrix if fresh; its length, or -1 with a flag."""
    slopes, system, pivots, vectors, notes, tangents, _ = implicit
    (_, dof, flags), nodes, nv = spaces, space[at.VECTORS], spaces[tree.DOF].shape[0]
    x, right = vectors[newton.ACCELERATIONS, :nv], vectors[newton.CORRECTION, : pivots.shape[0]]
    a, out = nodes[at.ACCELERATIONS], nodes[at.CORRECTION]
    if fresh:
        flags[tree.STATUS] = tree.OK
        notes[newton.MATRICES] += 1.0
        notes[newton.KNOWN] = 0.0
        for d in range(vectors.shape[1]):
            vectors[newton.FOUND_FORCE, d] = vectors[newton.GIVEN_FORCE, d]
        place_stage(arrays, mesh, mesh[at.SURFACES], step, x, a, space, implicit, spaces)
        newton.place_stage(step, x, vectors)
        inverse_dynamics_derivatives(
            arrays,
            vectors[newton.STAGE_Q, :nv],
            vectors[newton.STAGE_QD, :nv],
            x,
            vectors[newton.FOUND_FORCE],
            slopes,
            tangents,
            spaces,
        )
        finite = newton.keep_residual(arrays, None, step, x, vectors, right[:nv], spaces)
        finite = nodes_residual(arrays, mesh, step, x, a, right, out, space, implicit, spaces) and finite
        step_matrix(None, step, slopes, dof, system)
        weights = step * step, step
        assemble_blocks(mesh, weights, True, nodes[at.STAGE], space[at.BLOCKS], space[at.SCRATCH])
        add_touch_blocks(mesh[at.TOUCHING], weights, True, space)
        if not (finite and make_system(arrays, mesh, step, True, space, implicit, spaces)):
            flags[tree.STATUS] = max(flags[tree.STATUS], tree.SINGULAR)
            return -1.0
        notes[newton.KNOWN], notes[newton.STEP] = 1.0, step
    elif not find_residual(arrays, mesh, step, x, a, right, out, space, implicit, spaces):
        flags[tree.STATUS] = tree.NOT_FINITE
        return -1.0
    solve_system(mesh, space, dof, implicit, right, out)
    return size_of(mesh, right, out, slopes[2])


@shared
def size_of(mesh: Array, right: Array, out: Array, mass: Array) -> float:
    """Length of a correction, weighted by inertia."""
    total = newton.size_of(right, mass) ** 2
    for j in range(mesh[at.COLUMNS].shape[0] - 1):
        a, b, c = number3(out, j)
        total += mesh[at.NODES][j, at.MASS] * (a * a + b * b + c * c)
    return math.sqrt(total)


@shared
def within(step: float, share: float, count: int, space: Array, implicit: Implicit) -> bool:
    """Whether the next correction changes nothing by more than a share of its size (see `implicit_stage.within`)."""
    vectors, nodes, nv = implicit[3], space[at.VECTORS], implicit[0][2].shape[0]
    if not newton.within(step, vectors[newton.FOLLOWING, :nv], nv, share, vectors):
        return False
    for i in range(count):
        change = step * abs(nodes[at.FOLLOWING, i])
        if not step * change <= share * (1.0 + abs(nodes[at.STAGE, i])):
            return False
        if not change <= 100.0 * share * (1.0 + abs(nodes[at.STAGE_RATE, i])):
            return False
    return True


@shared
def try_correction(
    arrays: Array,
    mesh: Array,
    step: float,
    size: float,
    whole: bool,
    space: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> float:
    """As `implicit_stage.try_correction`: the length of the next correction by the same matrix, or -1."""
    slopes, _, pivots, vectors, _, _, _ = implicit
    nodes, nv, count = space[at.VECTORS], spaces[tree.DOF].shape[0], 3 * (mesh[at.COLUMNS].shape[0] - 1)
    following, out = vectors[newton.FOLLOWING, : pivots.shape[0]], nodes[at.FOLLOWING]
    trial, a = vectors[newton.TRIAL, :nv], nodes[at.TRIAL]
    share = 1.0
    while share > LEAST_SHARE:
        for d in range(nv):
            trial[d] = vectors[newton.ACCELERATIONS, d] + share * vectors[newton.CORRECTION, d]
        for i in range(count):
            a[i] = nodes[at.ACCELERATIONS, i] + share * nodes[at.CORRECTION, i]
        if find_residual(arrays, mesh, step, trial, a, following, out, space, implicit, spaces):
            solve_system(mesh, space, spaces[tree.DOF], implicit, following, out)
            next_size = size_of(mesh, following, out, slopes[2])
            if next_size <= (1.0 - 0.5 * share) * size:
                return next_size
            if share == 1.0 and within(step, newton.STUCK, count, space, implicit):
                return next_size
        if not whole:
            return -1.0
        share *= 0.5
    return -1.0


@shared
def iterate(
    arrays: Array, mesh: Array, step: float, space: Array, implicit: Implicit, spaces: Spaces
) -> bool:
    """Newton's iteration from the accelerations in the vectors, in place; False with a flag where it fails."""
    _, _, pivots, vectors, notes, _, _ = implicit
    nodes, nv, flags = space[at.VECTORS], spaces[tree.DOF].shape[0], spaces[tree.FLAGS]
    count = 3 * (mesh[at.COLUMNS].shape[0] - 1)
    fresh = notes[newton.KNOWN] == 0.0 or notes[newton.STEP] != step
    renewed = fresh
    size = find_correction(arrays, mesh, step, fresh, space, implicit, spaces)
    for _ in range(MOST_ITERATIONS):
        if size < 0.0:
            return False
        notes[newton.ITERATIONS] += 1.0
        next_size = try_correction(arrays, mesh, step, size, fresh, space, implicit, spaces)
        slow = next_size < 0.0
        if not slow:
            take(nv, newton.TRIAL, newton.ACCELERATIONS, vectors)
            take(count, at.TRIAL, at.ACCELERATIONS, nodes)
            slow = next_size > (SLOW if renewed else OUTDATED) * size
            left = next_size / size if size > 0.0 else 1.0
            if within(step, newton.SETTLED / max(left, 0.1), count, space, implicit) or (
                fresh and slow and within(step, newton.STUCK, count, space, implicit)
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
            size = find_correction(arrays, mesh, step, fresh, space, implicit, spaces)
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
def solve_stage(
    arrays: Array, mesh: Array, step: float, space: Array, implicit: Implicit, spaces: Spaces
) -> bool:
    """Accelerations from the guess in the vectors, from zero where that fails; on success STAGE rows have the end."""
    _, _, _, vectors, notes, _, _ = implicit
    dof, nv, nodes = spaces[tree.DOF], spaces[tree.DOF].shape[0], space[at.VECTORS]
    count = 3 * (mesh[at.COLUMNS].shape[0] - 1)
    for attempt in range(2):
        for d in range(nv):
            if dof[d, tree.HELD] != 0.0:
                vectors[newton.ACCELERATIONS, d] = dof[d, tree.GIVEN]
            elif attempt > 0:
                vectors[newton.ACCELERATIONS, d] = 0.0
        for i in range(count if attempt > 0 else 0):
            nodes[at.ACCELERATIONS, i] = 0.0
        if iterate(arrays, mesh, step, space, implicit, spaces):
            newton.place_stage(step, vectors[newton.ACCELERATIONS, :nv], vectors)
            for i in range(count):
                nodes[at.STAGE_RATE, i] = nodes[at.BASE_RATE, i] + step * nodes[at.ACCELERATIONS, i]
                nodes[at.STAGE, i] = nodes[at.BASE, i] + step * nodes[at.STAGE_RATE, i]
            return True
        notes[newton.KNOWN] = 0.0
    return False


@shared
def linear_correction(
    arrays: Array,
    mesh: Array,
    dt: float,
    q: Array,
    qd: Array,
    places: Array,
    rates: Array,
    space: Array,
    implicit: Implicit,
    spaces: Spaces,
) -> bool:
    """Accelerations of the linearly implicit Euler step: (M - h D - h^2 K) a = f + h K v (Wang 2022, eq. 4.82, with the
    geometric term and that of the turning elements); with a step of 0 those of the state. False with a flag where there
    are none.

    The blocks are B = h^2 K + h D with the other sign, and the stiffness damping's force is -D v: so f + h K v is the
    undamped force - B v / h.
    """
    slopes, system, pivots, vectors, notes, tangents, _ = implicit
    (work, dof, flags), nodes, nv, body_int = spaces, space[at.VECTORS], q.shape[0], arrays[tree.BODY_INT]
    a, right, found = (
        vectors[newton.ACCELERATIONS, :nv],
        vectors[newton.CORRECTION, : pivots.shape[0]],
        vectors[newton.FOUND_FORCE],
    )
    by_q, by_qd, _ = slopes
    x, v, f, free = nodes[at.STAGE], nodes[at.STAGE_RATE], nodes[at.FORCE], mesh[at.COLUMNS].shape[0] - 1
    for d in range(vectors.shape[1]):
        found[d] = vectors[newton.GIVEN_FORCE, d]
    for d in range(nv):
        a[d] = dof[d, tree.GIVEN] if dof[d, tree.HELD] != 0.0 else 0.0
    inverse_dynamics_derivatives(arrays, q, qd, a, found, slopes, tangents, spaces)
    notes[newton.MATRICES] += 1.0
    for d in range(nv):
        for e in range(nv):
            found[d] += dt * (by_q[d, e] * (qd[e] + dt * a[e]) + by_qd[d, e] * a[e])
    if not newton.keep_residual(arrays, None, dt, a, vectors, right[:nv], spaces):
        flags[tree.STATUS] = tree.NOT_FINITE
        return False
    for i in range(3 * free):
        x[i], v[i] = places[i], rates[i]
    place_attached(body_int, mesh, work, x, v)
    all_forces(body_int, mesh, dt, x, v, f, work, space)
    if dt > 0.0 or notes[newton.KNOWN] == 0.0:
        assemble_blocks(mesh, (dt * dt, dt), True, x, space[at.BLOCKS], space[at.SCRATCH])
        add_touch_blocks(mesh[at.TOUCHING], (dt * dt, dt), False, space)
    add_attached_rates(body_int, mesh, dt, a, work, dof, v, space)
    gather_loads(body_int, mesh, f, work, space)
    for d in range(nv):
        for e in range(nv):
            system[d, e] = 0.0
    add_geometric(body_int, arrays[tree.BLOCK_INT], dt, space[at.LOADS], tangents[0], dof, system)
    for d in range(nv):
        for e in range(nv):
            right[d] += system[d, e] * (qd[e] + dt * a[e])
    step_matrix(None, dt, slopes, dof, system)
    if dt > 0.0:
        subtract_times(mesh, space[at.BLOCKS], 1.0 / dt, v, f)
        subtract_touch_times(mesh[at.TOUCHING], 1.0 / dt, v, f, space)
    for i in range(3 * free):
        nodes[at.TRIAL, i] = 0.0
    add_inertia_forces(arrays, mesh, mesh[at.SURFACES], nodes[at.TRIAL], work, f, space)
    find_pushes(mesh[at.SURFACES], dof, right, space)
    add_push_rates(mesh[at.SURFACES], dt, qd, right, f, space)
    if not make_system(arrays, mesh, dt, False, space, implicit, spaces):
        return False
    gather_loads(body_int, mesh, f, work, space)
    add_generalized(body_int, space[at.LOADS], True, dof, right)
    free_residual(arrays, mesh, nodes[at.TRIAL], f, nodes[at.CORRECTION])
    hand_on(arrays, mesh, mesh[at.SURFACES], qd, a, right, nodes[at.CORRECTION], space, spaces)
    if not are_finite(3 * free, nodes[at.CORRECTION]):
        flags[tree.STATUS] = tree.NOT_FINITE
        return False
    solve_system(mesh, space, dof, implicit, right, nodes[at.CORRECTION])
    return True
