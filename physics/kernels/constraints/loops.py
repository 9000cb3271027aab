"""Equality constraints that close loops within small groups of bodies: their impulses in time linear in the groups.

A loop ties the bodies on the way between its ends, below their common ancestor. Bodies whose loops overlap are a
cluster; clusters form a tree (Jain 2009, constraint embedding; Chignoli et al. 2023). With the coordinates x of a
cluster and the acceleration a of the body that carries it,

    M x + F^T a + h = J^T l,   J x = r

so that a cluster's own motion is eliminated as a joint's is in the articulated-body algorithm: with M = L L^T,
Y = L^-1 J^T and K = Y^T Y, it leaves I - G^T (1 - Y K^+ Y^T) G of its inertia to the body, G = L^-1 F^T. Rows that say
the same are found in K, cluster by cluster.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import load_twist, store_twist
from ..algebra.cholesky import factorize, solve_factored
from ..algebra.inertia import add_inertia, load_inertia, momentum, moving_inertia, store_inertia
from ..algebra.lanes import lanes_of
from ..algebra.vectors import NONE, STILL, Array, Twist, dot6, scale_add6
from ..compiler.jit import for_loops, shared
from . import layout as con
from . import loops_layout as loop

NOTHING = 1e-6  # share of the momentum along the rows below which impulses count as zero


@shared
def forward(n: int, lower: Array, x: Array) -> None:
    """Solve L x = x."""
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= lower[i, j] * x[j]
        x[i] = total / lower[i, i]


@shared
def backward(n: int, lower: Array, x: Array) -> None:
    """Solve L^T x = x."""
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= lower[j, i] * x[j]
        x[i] = total / lower[i, i]


@shared
def own_masses(c: int, arrays: Array, work: Array, loops: Array) -> None:
    """Factors of the mass matrix of cluster c, and the couplings F; adds its bodies' inertias to the one that carries
    it.
    """
    body_int, dof_float = arrays[at.BODY_INT], arrays[at.DOF_FLOAT]
    clusters, members, inner, places = (
        loops[loop.CLUSTERS],
        loops[loop.MEMBERS],
        loops[loop.INNER],
        loops[loop.PLACES],
    )
    lower, n = loops[loop.LOWER][c], clusters[c, loop.COORDINATES]
    for i in range(n):
        for j in range(n):
            lower[i, j] = 0.0
    for place in range(clusters[c, loop.END] - 1, clusters[c, loop.FIRST] - 1, -1):
        i = members[place]
        inertia, parent = load_inertia(work, i), body_int[i, at.PARENT]
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            force = momentum(inertia, load_twist(loops[loop.SUBSPACES], d, 0))
            store_twist(loops[loop.COUPLINGS], d, 0, force)
            j = i
            while j >= 0:
                start = body_int[j, at.DOF_START]
                for e in range(start, min(start + body_int[j, at.DOF_COUNT], d + 1)):
                    share = dot6(load_twist(loops[loop.SUBSPACES], e, 0), force)
                    lower[places[d], places[e]] = share + (dof_float[d, at.ARMATURE] if e == d else 0.0)
                j = body_int[j, at.PARENT] if inner[j] != 0 else -1
        if parent >= 0:
            add_inertia(work, parent, inertia)
    for j in range(n):
        for i in range(j, n):
            total = lower[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(total) if i == j else total / lower[j, j]


@shared
def own_rows(c: int, system: Array, loops: Array) -> None:
    """The matrix K of cluster c's rows, factorized."""
    values, columns, spans = system[con.SYSTEM_JACOBIAN]
    clusters, rows, places, x = (
        loops[loop.CLUSTERS],
        loops[loop.ROWS],
        loops[loop.PLACES],
        loops[loop.VECTORS][0],
    )
    lower, across, matrix = loops[loop.LOWER][c], loops[loop.ACROSS][c], loops[loop.MATRIX]
    n, first = clusters[c, loop.COORDINATES], clusters[c, loop.FIRST_ROW]
    count = clusters[c, loop.END_ROW] - first
    for r in range(count):
        k = rows[first + r]
        for j in range(n):
            x[j] = 0.0
        for s in range(spans[k, con.SPAN_COUNT]):
            x[places[columns[k, s]]] += values[k, s]
        forward(n, lower, x)
        for j in range(n):
            across[r, j] = x[j]
        for s in range(r + 1):
            total = 0.0
            for j in range(n):
                total += x[j] * across[s, j]
            matrix[r, s] = matrix[s, r] = total
        loops[loop.OWN][k] = matrix[r, r]
        loops[loop.ORDER][c, r] = r
    clusters[c, loop.RANK] = factorize(
        matrix, loops[loop.ORDER][c], count, loops[loop.FACTOR][c], loops[loop.BEGINS][c]
    )


@shared
def answer_rows(c: int, loops: Array, right: Array, result: Array) -> None:
    """K^+ right for the rows of cluster c."""
    clusters = loops[loop.CLUSTERS]
    solve_factored(
        loops[loop.FACTOR][c],
        loops[loop.ORDER][c],
        clusters[c, loop.RANK],
        clusters[c, loop.END_ROW] - clusters[c, loop.FIRST_ROW],
        loops[loop.BEGINS][c],
        right,
        result,
    )


@shared
def take_out_motion(c: int, arrays: Array, work: Array, loops: Array) -> None:
    """Subtract the cluster's own motion from the inertia that it has added to the body that carries it."""
    body_int, clusters, vectors = arrays[at.BODY_INT], loops[loop.CLUSTERS], loops[loop.VECTORS]
    lower, across, sides = loops[loop.LOWER][c], loops[loop.ACROSS][c], loops[loop.SIDES]
    n, count = clusters[c, loop.COORDINATES], clusters[c, loop.END_ROW] - clusters[c, loop.FIRST_ROW]
    parent = clusters[c, loop.CARRIER]
    for a in range(6):
        for place in range(clusters[c, loop.FIRST], clusters[c, loop.END]):
            i = loops[loop.MEMBERS][place]
            first = body_int[i, at.DOF_START]
            for d in range(first, first + body_int[i, at.DOF_COUNT]):
                sides[a, loops[loop.PLACES][d]] = loops[loop.COUPLINGS][d, at.TWIST[a]]
        forward(n, lower, sides[a])
    for a in range(6):
        for r in range(count):
            total = 0.0
            for j in range(n):
                total += across[r, j] * sides[a, j]
            vectors[1, r] = total
        answer_rows(c, loops, vectors[1], vectors[2])
        for j in range(n):
            total = sides[a, j]
            for r in range(count):
                total -= across[r, j] * vectors[2, r]
            vectors[0, j] = total
        for b in range(6):
            total = 0.0
            for j in range(n):
                total += vectors[0, j] * sides[b, j]
            work[parent, at.COLUMNS + 8 * a + at.TWIST[b]] -= total


@for_loops
def factorize_loops(system: Array, arrays: Array, count: int, work: Array, dof: Array) -> bool:
    """Factors of all clusters, after `outward`, in place of the responses to their rows; False if the model has none,
    or a coordinate is prescribed.
    """
    if len(system) <= con.SYSTEM_LOOPS:
        return False
    loops, ranges = system[con.SYSTEM_LOOPS], system[con.SYSTEM_RESPONSE][1]
    loops[loop.STATE][0] = 0
    for d in range(dof.shape[0]):
        if dof[d, at.HELD] != 0.0:
            return False
        store_twist(loops[loop.SUBSPACES], d, 0, load_twist(dof, d, at.SUBSPACE))
        loops[loop.TOTAL][d] = 0.0
    loops[loop.STATE][0] = 1
    for k in range(count):
        for j in range(con.RANGES_WIDTH):
            ranges[k, j] = 0
    none = lanes_of(NONE)
    for i in range(arrays[at.BODY_INT].shape[0]):
        inertia, _ = moving_inertia(arrays[at.BODY_FLOAT], i, (none, none), work)
        store_inertia(work, i, inertia)
    for c in range(loops[loop.CLUSTERS].shape[0] - 1, -1, -1):
        own_masses(c, arrays, work, loops)
        own_rows(c, system, loops)
        if loops[loop.CLUSTERS][c, loop.CARRIER] >= 0:
            take_out_motion(c, arrays, work, loops)
    return True


@shared
def solve_cluster(c: int, a: Twist, system: Array, loops: Array) -> None:
    """Impulses of cluster c's rows and the changes of its coordinates, for the acceleration of the body that carries
    it; the pull h is in the coordinates' column.
    """
    clusters, vectors, rows = loops[loop.CLUSTERS], loops[loop.VECTORS], loops[loop.ROWS]
    lower, across = loops[loop.LOWER][c], loops[loop.ACROSS][c]
    n, first = clusters[c, loop.COORDINATES], clusters[c, loop.FIRST_ROW]
    count, start = clusters[c, loop.END_ROW] - first, clusters[c, loop.FIRST_OWN]
    x = vectors[0]
    for j in range(n):
        d = loops[loop.OWNED][start + j]
        x[j] = loops[loop.PULL][d] + dot6(load_twist(loops[loop.COUPLINGS], d, 0), a)
    forward(n, lower, x)
    for r in range(count):
        total = system[con.SYSTEM_RIGHT][rows[first + r]]
        for j in range(n):
            total += across[r, j] * x[j]
        vectors[1, r] = total
    answer_rows(c, loops, vectors[1], vectors[2])
    for j in range(n):
        total = -x[j]
        for r in range(count):
            total += across[r, j] * vectors[2, r]
        x[j] = total
    backward(n, lower, x)
    for r in range(count):
        system[con.SYSTEM_IMPULSE][rows[first + r]] = vectors[2, r]
    for j in range(n):
        loops[loop.CHANGE][loops[loop.OWNED][start + j]] = x[j]


@for_loops
def solve_loops(system: Array, body_int: Array) -> bool:
    """Impulses of all rows for the right side, and the changes of velocities by them; False without factors."""
    if len(system) <= con.SYSTEM_LOOPS:
        return False
    loops = system[con.SYSTEM_LOOPS]
    if loops[loop.STATE][0] == 0:
        return False
    clusters, members, inner, twists = (
        loops[loop.CLUSTERS],
        loops[loop.MEMBERS],
        loops[loop.INNER],
        loops[loop.TWISTS],
    )
    for i in range(twists.shape[0]):
        store_twist(twists, i, 0, STILL)
    for c in range(clusters.shape[0] - 1, -1, -1):
        carrier, total = clusters[c, loop.CARRIER], STILL
        for place in range(clusters[c, loop.END] - 1, clusters[c, loop.FIRST] - 1, -1):
            i = members[place]
            force, first = load_twist(twists, i, 0), body_int[i, at.DOF_START]
            for d in range(first, first + body_int[i, at.DOF_COUNT]):
                loops[loop.PULL][d] = dot6(load_twist(loops[loop.SUBSPACES], d, 0), force)
            if inner[i] != 0:
                parent = body_int[i, at.PARENT]
                store_twist(twists, parent, 0, scale_add6(load_twist(twists, parent, 0), 1.0, force))
            else:
                total = scale_add6(total, 1.0, force)
        if carrier >= 0:
            solve_cluster(c, STILL, system, loops)
            start = clusters[c, loop.FIRST_OWN]
            for j in range(start, start + clusters[c, loop.COORDINATES]):
                d = loops[loop.OWNED][j]
                total = scale_add6(total, loops[loop.CHANGE][d], load_twist(loops[loop.COUPLINGS], d, 0))
            store_twist(twists, carrier, 0, scale_add6(load_twist(twists, carrier, 0), 1.0, total))
    for c in range(clusters.shape[0]):
        carrier = clusters[c, loop.CARRIER]
        solve_cluster(c, load_twist(twists, carrier, 0) if carrier >= 0 else STILL, system, loops)
        for place in range(clusters[c, loop.FIRST], clusters[c, loop.END]):
            i = members[place]
            parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
            a = load_twist(twists, parent, 0) if parent >= 0 else STILL
            for d in range(first, first + body_int[i, at.DOF_COUNT]):
                a = scale_add6(a, loops[loop.CHANGE][d], load_twist(loops[loop.SUBSPACES], d, 0))
            store_twist(twists, i, 0, a)
    return True


@for_loops
def add_changes(system: Array, share: float, counts: bool, velocity: Array) -> bool:
    """Add a share of the changes by the last impulses to velocities (nv,); False without factors.

    counts: whether they are those of a step by its rows' forces, which are summed up for `add_total`.
    """
    if len(system) <= con.SYSTEM_LOOPS:
        return False
    loops = system[con.SYSTEM_LOOPS]
    if loops[loop.STATE][0] == 0:
        return False
    for d in range(velocity.shape[0]):
        velocity[d] += share * loops[loop.CHANGE][d]
        loops[loop.TOTAL][d] += share * loops[loop.CHANGE][d] if counts else 0.0
    return True


@for_loops
def add_total(system: Array, share: float, accelerations: Array) -> bool:
    """Add a share of all changes of velocities by the rows' forces in a step; False without factors."""
    if len(system) <= con.SYSTEM_LOOPS:
        return False
    loops = system[con.SYSTEM_LOOPS]
    if loops[loop.STATE][0] == 0:
        return False
    for d in range(accelerations.shape[0]):
        accelerations[d] += share * loops[loop.TOTAL][d]
    return True


@for_loops
def missed_by_loops(system: Array, count: int) -> float:
    """Residual of the rows after `solve_loops`, over their own answers, relative to the impulses; if these are almost
    zero, to those that would stop the rows' momentum (see `contact.row_impulses.of_momentum`).
    """
    if len(system) <= con.SYSTEM_LOOPS:
        return 0.0
    loops, (values, columns, spans) = system[con.SYSTEM_LOOPS], system[con.SYSTEM_JACOBIAN]
    missed, size, passing = 0.0, 0.0, 0.0
    for k in range(count):
        total, speeds, own = -system[con.SYSTEM_RIGHT][k], 0.0, loops[loop.OWN][k]
        for s in range(spans[k, con.SPAN_COUNT]):
            total += values[k, s] * loops[loop.CHANGE][columns[k, s]]
            speeds += abs(values[k, s] * system[con.SYSTEM_FREE][columns[k, s]])
        if own > 0.0:
            missed += (total / own) ** 2
            passing += (speeds / own) ** 2
        size += system[con.SYSTEM_IMPULSE][k] ** 2
    least = max(size, NOTHING * NOTHING * passing)
    return math.sqrt(missed / least if least > 0.0 else missed)
