"""One stage of an implicit step backwards.

A stage of length s has q' = v + s a and q = p + s q' with the known p and v, and accelerations a of the free
coordinates with R(q, q', a) = ID(q, q', a) - tau = 0. With K, D, M the derivatives of R by q, q' and a, a change of p,
v and of parameters gives

    (M + s D + s^2 K) da = -K dp - (D + s K) dv - dR.

So where a loss has the derivatives (n, m, l) by q, q' and a, and m' = m + s n, one solution y of

    (M + s D + s^2 K)^T y = l + s m'

gives those by p, n - K^T y, by v, m' - (D + s K)^T y, and by any parameter, -y^T dR. No Newton iteration runs
backwards.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as at
from ..algebra.lu import lu_factorize, lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..dynamics.coupled import owner_of
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..dynamics.rnea import inverse_dynamics
from ..muscles.states import begin_states, set_implicit
from ..stepping.bundles import Slopes, Spaces, Tables
from ..stepping.rollout import copy, table_force
from . import layout as adjoint
from .nodes import solve_nodes_back, take_nodes
from .parameters import add_inputs, take_bodies, take_coordinates
from .rows import FORCES, JACOBIAN, TURNED, force_on, solve_stage_back, take_rows
from .states import Motion, add_pulls, push_lengths

# slopes (see `bundles`), system (nv, nv), pivots (nv,), vectors (see `layout`), tangents, columns of muscles
Lent: TypeAlias = tuple[Slopes, Array, Array, Array, Array, Array]
# data of models with a number displaced (n, 4, size), what that changes (n,), and forces as in vectors
Differences: TypeAlias = tuple[Array, Array, Array]
# arrays, tables, whether inputs or states of muscles count, coordinates behind joints, sums (bodies, coordinates,
# gravity, differences), lent, spaces
Run: TypeAlias = tuple[Array, Tables, bool, Array, tuple[Array, Array, Array, Differences], Lent, Spaces]


@shared
def transposed_matrix(step: float, slopes: Slopes, dof: Array, matrix: Array) -> None:
    """(M + s D + s^2 K)^T, where the equation of a prescribed coordinate is a = 0."""
    by_q, by_qd, mass = slopes
    for d in range(dof.shape[0]):
        held = dof[d, at.HELD] != 0.0
        for e in range(dof.shape[0]):
            matrix[e, d] = 0.0 if held else mass[d, e] + step * (by_qd[d, e] + step * by_q[d, e])
        if held:
            matrix[d, d] = 1.0


@shared
def pull_stage(
    arrays: Array,
    rows: Array,
    nodes: Array,
    fresh: bool,
    step: float,
    motion: Motion,
    lent: Lent,
    spaces: Spaces,
) -> bool:
    """Turn the derivatives BY_Q, BY_QD, BY_QDD of the loss by the stage's motion into BY_Q, BY_QD by its known part,
    and leave y in ANSWER; False with a flag where the matrix is singular. GIVEN_FORCE has forces, inputs and the known
    part of muscle states. rows is None, or where the model has constraints `rows.Rows`, with those of the stage; fresh:
    whether their matrix is a new one. nodes is None, or `nodes.NodesBack` of soft bodies, whose forces `take_nodes`
    takes after it.
    """
    slopes, matrix, pivots, vectors, tangents, _ = lent
    (by_q, by_qd, mass), (_, dof, flags), count = slopes, spaces, motion[0].shape[0]
    nv = dof.shape[0]
    q, qd, qdd = motion[0][:nv], motion[1][:nv], motion[2][:nv]
    y, n, m = vectors[adjoint.ANSWER, :count], vectors[adjoint.BY_Q], vectors[adjoint.BY_QD]
    for j in range(vectors.shape[1]):
        vectors[adjoint.FOUND_FORCE, j] = vectors[adjoint.GIVEN_FORCE, j]
    found = vectors[adjoint.FOUND_FORCE]
    inverse_dynamics_derivatives(arrays, q, qd, qdd, found, slopes, tangents, spaces)
    if rows is not None:
        for d in range(nv):
            for e in range(nv):
                by_q[d, e] -= rows[TURNED][d, e]
    push_lengths(arrays, step, (q, qd, qdd), found, vectors[adjoint.BY_STATES], n, spaces)
    for d in range(count):
        m[d] += step * n[d]
        y[d] = vectors[adjoint.BY_QDD, d] + step * m[d]
    transposed_matrix(step, slopes, dof, matrix)
    bad = -1
    if nodes is not None:
        if not solve_nodes_back(nodes, step, motion[0], motion[1], y):
            return False
    elif rows is not None:
        bad = solve_stage_back(rows, fresh, matrix, mass, y, dof)
    else:
        bad = lu_factorize(matrix, pivots)
        if bad < 0:
            lu_solve(matrix, pivots, y)
    if bad >= 0:
        flags[at.STATUS], flags[at.CULPRIT] = at.SINGULAR, owner_of(arrays[at.BODY_INT], bad)
        return False
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            y[d] = 0.0
        for e in range(nv):
            n[e] -= y[d] * by_q[d, e]
            m[e] -= y[d] * (by_qd[d, e] + step * by_q[d, e])
    if rows is not None and step > 0.0:
        take_rows(rows, step, n, m)
    return True


@shared
def note_stage(rows: Array, step: float, motion: Motion, extra: Array, lent: Lent, notes: Array) -> None:
    """After `pull_stage`: what derivatives by joints need (NOTES, nv), see `layout`. Coordinates behind joints are no
    part of the motion: what was derived by them goes from BY_Q and BY_QD.
    """
    (_, _, mass), _, _, vectors, _, _ = lent
    n, m, y = vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], vectors[adjoint.ANSWER]
    (q, qd, qdd), nv = motion, motion[0].shape[0]
    for d in range(nv):
        notes[0, d], notes[1, d], notes[2, d], notes[3, d] = q[d], qd[d], qdd[d], y[d]
    for k in range(extra.shape[0]):
        d = extra[k]
        notes[0, d], notes[1, d], notes[2, d] = n[d], m[d] - step * n[d], 0.0
        notes[3, d] = -vectors[adjoint.FOUND_FORCE, d]
        if rows is not None:
            notes[3, d] += force_on(d, rows[JACOBIAN], rows[FORCES][rows[FORCES].shape[0] - 1])
        for e in range(nv):
            notes[2, d] -= y[e] * mass[e, d]
        n[d], m[d] = 0.0, 0.0


@shared
def give_forces(arrays: Array, tables: Tables, t: float, step: float, vectors: Array) -> None:
    """Forces, inputs and known states of a stage that ends at time t, into GIVEN_FORCE."""
    data, given, width = arrays[at.MODEL_DATA], vectors[adjoint.GIVEN_FORCE], tables[at.VALUES].shape[1]
    table_force(tables, t, given[:width])
    begin_states(data, width, vectors[adjoint.BASE_STATES], given)
    set_implicit(data, given, width, step)


@shared
def take_differences(
    arrays: Array,
    step: float,
    motion: tuple[Array, Array, Array],
    width: int,
    vectors: Array,
    differences: Differences,
    spaces: Spaces,
) -> None:
    """After `pull_stage`: add what displaced numbers of the model change, -y^T R + w^T x with the states x of muscles
    at the stage's end and the loss's derivatives w by them.
    """
    variants, changes, found = differences
    (body_int, body_float, joints, data, dof_float), (work, dof, flags) = arrays, spaces
    (q, qd, qdd), count = motion, int(data[at.MUSCLE_STATES])
    for k in range(variants.shape[0]):
        for side in range(variants.shape[1]):
            weight = adjoint.WEIGHTS[side]
            copy(vectors[adjoint.GIVEN_FORCE], found)
            displaced = (body_int, body_float, joints, variants[k, side], dof_float)
            inverse_dynamics(displaced, q, qd, qdd, found, work, dof, flags)
            for d in range(q.shape[0]):
                changes[k] -= weight * vectors[adjoint.ANSWER, d] * found[d]
            for j in range(width, width + count):
                changes[k] += weight * vectors[adjoint.BY_STATES, j] * step * found[j + count]


@shared
def take_stage(
    run: Run,
    rows: Array,
    nodes: Array,
    fresh: bool,
    t: float,
    step: float,
    motion: Motion,
    by_tau: Array,
    notes: Array,
) -> bool:
    """`pull_stage` of the stage that ends at time t with the motion (q, q', q''), and its share of all gradients."""
    arrays, tables, pulls, extra, (bodies, coordinates, gravity, differences), lent, spaces = run
    (work, dof, _), vectors, muscles, width = spaces, lent[3], lent[5], tables[at.VALUES].shape[1]
    nv, given = dof.shape[0], vectors[adjoint.GIVEN_FORCE]
    q, qd, qdd, y = motion[0][:nv], motion[1][:nv], motion[2][:nv], vectors[adjoint.ANSWER, :nv]
    give_forces(arrays, tables, t, step, vectors)
    if not pull_stage(arrays, rows, nodes, fresh, step, motion, lent, spaces):
        return False
    if nodes is not None:
        whole = vectors[adjoint.ANSWER, : motion[0].shape[0]]
        take_nodes(nodes, step, motion[2], whole, vectors[adjoint.BY_Q], vectors[adjoint.BY_QD], gravity)
    if extra.shape[0] > 0:
        note_stage(rows, step, (q, qd, qdd), extra, lent, notes)
    take_bodies(arrays, y, bodies, gravity, work, dof)
    take_coordinates(arrays[at.DOF_FLOAT], q, qd, y, coordinates)
    add_inputs(arrays, q, qd, given, y, by_tau, work)
    take_differences(arrays, step, (q, qd, qdd), width, vectors, differences, spaces)
    if pulls:
        found, by_states = vectors[adjoint.FOUND_FORCE], vectors[adjoint.BY_STATES]
        add_pulls(arrays, step, (q, qd, qdd), found, y, by_tau, by_states, muscles, spaces)
    return True
