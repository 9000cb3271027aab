"""One stage of an implicit step: accelerations that satisfy inverse dynamics at the state they lead to.

With the known part base and base_qd of a stage, the unknown accelerations a give

    q' = base_qd + s a,   q = base + s q'

and Newton's iteration solves r(a) = ID(q, q', a) - tau = 0. Its matrix s^2 dID/dq + s dID/dq' + M is exact: dense, or
by `dynamics.branches` where a model is a long tree alone. It is kept from stage to stage and step to step while
convergence is fast; the iteration ends at round-off.

Equality constraints add their forces l as unknowns, J(q)^T l to the forces and J(q) q' = 0 to the equations (Wang 2022,
sec. 4.6.4, at the velocities of the stage). The matrix omits the derivative of J, so that the iteration converges by a
factor of the order of the step. `more` is None, or a tuple (see `bundles`): without constraints none of this is
compiled.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.lu import lu_factorize, lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from ..constraints.rows import system_rows
from ..dynamics.branches import factorize_tree, solve_tree
from ..dynamics.coupled import owner_of
from ..dynamics.derivatives import inverse_dynamics_derivatives
from ..dynamics.rnea import inverse_dynamics
from .bundles import Implicit, More, Spaces
from .implicit_matrix import step_matrix

# vectors (rows; nv and inputs, or nv and constraint rows): accelerations, followed by the forces of constraints, the
# stage's known part, q and q' that they give, given and computed forces, the correction and the next one, trial
# accelerations, and of the integrators: the accelerations of the three stages before, newest first, the state before
# the step or the current part of it, that before the whole step, mean forces on prescribed coordinates over it; and of
# steps with impulses: their forces in the stages, their effect on the velocities, and the stages' own velocities
(
    ACCELERATIONS,
    BASE,
    BASE_QD,
    STAGE_Q,
    STAGE_QD,
    GIVEN_FORCE,
    FOUND_FORCE,
    CORRECTION,
    FOLLOWING,
    TRIAL,
    NEWEST,
    NEWER,
    OLDEST,
    LAST_Q,
    LAST_QD,
    BEGUN_Q,
    BEGUN_QD,
    MEAN_EFFORT,
    PUSH,
    EFFECT,
    UNPUSHED,
) = range(21)
IMPLICIT_VECTORS = 21
# notes: whether the matrix is known; the step that it is for; how many previous stages are known, and their times
# (three, in steps); counts; how often stages and impulses were solved in turn, and their last disagreement; steps taken
# in parts because they failed as a whole, those whose stages were solved again, and stages to come with new matrices
KNOWN, STEP, HISTORY, TIMES, ITERATIONS, MATRICES, SUBSTITUTES, UNFOUND = 0, 1, 2, 3, 6, 7, 8, 9
TURNS, APART, DIVIDED, REPEATED, FRESH = 10, 11, 12, 13, 14
IMPLICIT_NOTES = 15

MOST_ITERATIONS = 60
SLOW = 0.3  # a kept matrix is replaced where the correction does not shrink to this share
MANY = 4  # iterations after which the next stage gets a new matrix
AGAIN = 6.0  # as do so many after one whose kept matrix had to be replaced midway
LEAST_STEP = 1e-6  # smallest share of a correction in the line search
# of velocities and of coordinates [rad, m]: round-off, and the tolerance where the iteration stalls
SETTLED, STUCK = 1e-14, 1e-9


@shared
def place_stage(step: float, a: Array, vectors: Array) -> None:
    """Coordinates and velocities for the accelerations."""
    for d in range(a.shape[0]):
        vectors[STAGE_QD, d] = vectors[BASE_QD, d] + step * a[d]
        vectors[STAGE_Q, d] = vectors[BASE, d] + step * vectors[STAGE_QD, d]


@shared
def add_multipliers(
    arrays: Array, more: More, step: float, x: Array, vectors: Array, right: Array, spaces: Spaces
) -> None:
    """Forces of the equalities into right, followed by the residuals of their speeds; after `outward`."""
    constraints, system, _, _, _, _, _, _ = more
    dof = spaces[at.DOF]
    nv = dof.shape[0]
    q, qd = vectors[STAGE_Q, :nv], vectors[STAGE_QD, :nv]
    system_rows(arrays, constraints, True, q, qd, system, spaces)
    (values, columns, spans), kinds = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_KINDS]
    for k in range(right.shape[0] - nv):
        right[nv + k] = 0.0
        if kinds[k] == con.EQUALITY:
            for c in range(spans[k, con.SPAN_COUNT]):
                d = columns[k, c]
                right[d] += values[k, c] * x[nv + k]
                right[nv + k] -= values[k, c] * qd[d] / step


@shared
def keep_residual(
    arrays: Array, more: More, step: float, x: Array, vectors: Array, right: Array, spaces: Spaces
) -> bool:
    """Negative residual of the free coordinates into right, whether it is finite; of prescribed ones it is their
    effort.
    """
    dof = spaces[at.DOF]
    for d in range(dof.shape[0]):
        right[d] = vectors[GIVEN_FORCE, d] - vectors[FOUND_FORCE, d]
    if more is not None:
        add_multipliers(arrays, more, step, x, vectors, right, spaces)
    total = 0.0
    for d in range(right.shape[0]):
        total += abs(right[d])
        if d < dof.shape[0] and dof[d, at.HELD] != 0.0:
            dof[d, at.EFFORT] = -right[d]
            right[d] = 0.0
    return total < math.inf


@shared
def evaluate_residual(
    arrays: Array, more: More, step: float, x: Array, right: Array, vectors: Array, spaces: Spaces
) -> bool:
    """Negative residual for the accelerations x and constraint forces after them, into right; whether it is finite."""
    work, dof, flags = spaces
    nv = dof.shape[0]
    flags[at.STATUS] = at.OK
    for d in range(vectors.shape[1]):
        vectors[FOUND_FORCE, d] = vectors[GIVEN_FORCE, d]
    a = x[:nv]
    place_stage(step, a, vectors)
    inverse_dynamics(
        arrays, vectors[STAGE_Q, :nv], vectors[STAGE_QD, :nv], a, vectors[FOUND_FORCE], work, dof, flags
    )
    return keep_residual(arrays, more, step, x, vectors, right, spaces)


@shared
def raise_flag(body_int: Array, flags: Array, status: int, d: int) -> bool:
    flags[at.STATUS] = status
    flags[at.CULPRIT] = owner_of(body_int, d)
    return False


@shared
def largest(x: Array) -> int:
    """Index of the largest or of a non-finite entry."""
    best = 0
    for d in range(x.shape[0]):
        if not abs(x[d]) < math.inf:
            return d
        if abs(x[d]) > abs(x[best]):
            best = d
    return best


@shared
def make_matrix(
    arrays: Array, more: More, step: float, x: Array, right: Array, implicit: Implicit, spaces: Spaces
) -> bool:
    """Residual and factorized matrix for the accelerations; False with a flag where that is not possible."""
    slopes, system, pivots, vectors, notes, tangents, branches = implicit
    flags, nv, body_int = spaces[at.FLAGS], spaces[at.DOF].shape[0], arrays[at.BODY_INT]
    a, found = x[:nv], vectors[FOUND_FORCE]
    flags[at.STATUS] = at.OK
    for d in range(vectors.shape[1]):
        found[d] = vectors[GIVEN_FORCE, d]
    place_stage(step, a, vectors)
    q, qd, bad = vectors[STAGE_Q, :nv], vectors[STAGE_QD, :nv], -1
    notes[MATRICES] += 1.0
    notes[KNOWN] = 0.0
    if branches.shape[0] > 0:
        bad = factorize_tree(arrays, step, q, qd, a, found, slopes[2], branches, tangents, spaces)
    else:
        inverse_dynamics_derivatives(arrays, q, qd, a, found, slopes, tangents, spaces)
    if not keep_residual(arrays, more, step, x, vectors, right, spaces):
        return raise_flag(body_int, flags, at.NOT_FINITE, largest(right))
    if branches.shape[0] == 0:
        step_matrix(more, step, slopes, spaces[at.DOF], system)
        bad = lu_factorize(system, pivots)
    if bad >= 0:
        return raise_flag(body_int, flags, at.SINGULAR, bad)
    notes[KNOWN] = 1.0
    notes[STEP] = step
    return True


@shared
def solve_step(system: Array, pivots: Array, right: Array) -> None:
    """Solve a step's linear equations in place of right, compiled once."""
    lu_solve(system, pivots, right)


@shared
def solve_kept(body_int: Array, implicit: Implicit, right: Array) -> None:
    """Solve with the factors of `make_matrix`, in place of right."""
    _, system, pivots, _, _, _, branches = implicit
    if branches.shape[0] > 0:
        solve_tree(body_int, branches, right)
    else:
        solve_step(system, pivots, right)


@shared
def size_of(x: Array, mass: Array) -> float:
    """Length of accelerations weighted by the coordinates' own inertias, for radians and metres together."""
    total = 0.0
    for d in range(mass.shape[0]):
        total += mass[d, d] * x[d] * x[d]
    return math.sqrt(total)


@shared
def within(step: float, x: Array, nv: int, share: float, vectors: Array) -> bool:
    """Whether a correction x changes no coordinate and no velocity by more than a share of its size."""
    for d in range(nv):
        if not abs(step * step * x[d]) <= share * (1.0 + abs(vectors[STAGE_Q, d])):
            return False
        if not abs(step * x[d]) <= 100.0 * share * (1.0 + abs(vectors[STAGE_QD, d])):
            return False
    return True


@shared
def try_correction(
    arrays: Array, more: More, step: float, size: float, whole: bool, implicit: Implicit, spaces: Spaces
) -> float:
    """Shorten the correction until the next one, by the same matrix, is smaller (Deuflhard 1974); its length, or -1
    where it grows, however short the step. whole: keep trying where the full correction fails.
    """
    (_, _, mass), _, pivots, vectors, _, _, _ = implicit
    nv, n = spaces[at.DOF].shape[0], pivots.shape[0]
    share = 1.0
    while share > LEAST_STEP:
        for d in range(n):
            vectors[TRIAL, d] = vectors[ACCELERATIONS, d] + share * vectors[CORRECTION, d]
        following = vectors[FOLLOWING, :n]
        if evaluate_residual(arrays, more, step, vectors[TRIAL, :n], following, vectors, spaces):
            solve_kept(arrays[at.BODY_INT], implicit, following)
            next_size = size_of(following, mass)
            if next_size <= (1.0 - 0.5 * share) * size:
                return next_size
            if share == 1.0 and within(step, following, nv, STUCK, vectors):
                return next_size
        if not whole:
            return -1.0
        share *= 0.5
    return -1.0


@shared
def find_correction(
    arrays: Array, more: More, step: float, fresh: bool, implicit: Implicit, spaces: Spaces
) -> float:
    """Correction at the accelerations in vectors, by a new matrix if fresh; its length, or -1 with a flag."""
    (_, _, mass), _, pivots, vectors, _, _, _ = implicit
    n = pivots.shape[0]
    x, correction = vectors[ACCELERATIONS, :n], vectors[CORRECTION, :n]
    if fresh:
        if not make_matrix(arrays, more, step, x, correction, implicit, spaces):
            return -1.0
    elif not evaluate_residual(arrays, more, step, x, correction, vectors, spaces):
        raise_flag(arrays[at.BODY_INT], spaces[at.FLAGS], at.NOT_FINITE, largest(correction))
        return -1.0
    solve_kept(arrays[at.BODY_INT], implicit, correction)
    return size_of(correction, mass)


@shared
def iterate(arrays: Array, more: More, step: float, implicit: Implicit, spaces: Spaces, sizes: Array) -> bool:
    """Newton's iteration from the accelerations in vectors, in place; False with a flag where it fails.

    sizes (any number,) gets the lengths of the first corrections.
    """
    _, _, pivots, vectors, notes, _, _ = implicit
    nv, n, flags = spaces[at.DOF].shape[0], pivots.shape[0], spaces[at.FLAGS]
    x, correction, following = vectors[ACCELERATIONS, :n], vectors[CORRECTION, :n], vectors[FOLLOWING, :n]
    fresh = notes[KNOWN] == 0.0 or notes[STEP] != step
    size, renewed = find_correction(arrays, more, step, fresh, implicit, spaces), False
    if size < 0.0:
        return False
    for k in range(MOST_ITERATIONS):
        notes[ITERATIONS] += 1.0
        if k < sizes.shape[0]:
            sizes[k] = size
        next_size = try_correction(arrays, more, step, size, fresh, implicit, spaces)
        slow = next_size < 0.0
        if not slow:
            for d in range(n):
                x[d] = vectors[TRIAL, d]
            slow = next_size > SLOW * size
            # the error after the next correction is a share of it
            left = next_size / size if size > 0.0 else 1.0
            if within(step, following, nv, SETTLED / max(left, 0.1), vectors) or (
                fresh and slow and within(step, following, nv, STUCK, vectors)
            ):
                for d in range(n):
                    x[d] += following[d]
                notes[FRESH] = AGAIN if renewed else max(notes[FRESH] - 1.0, 0.0)
                if k + 1 >= MANY or notes[FRESH] > 0.0:
                    notes[KNOWN] = 0.0
                return True
        elif fresh:
            return raise_flag(arrays[at.BODY_INT], flags, at.NOT_CONVERGED, largest(correction))
        if slow or sizes.shape[0] > 0:
            renewed = renewed or not fresh
            fresh = True
            size = find_correction(arrays, more, step, fresh, implicit, spaces)
            if size < 0.0:
                return False
        else:
            fresh = False
            for d in range(n):
                correction[d] = following[d]
            size = next_size
    return raise_flag(arrays[at.BODY_INT], flags, at.NOT_CONVERGED, largest(correction))


@shared
def solve_stage(
    arrays: Array, more: More, step: float, implicit: Implicit, spaces: Spaces, sizes: Array
) -> bool:
    """Solve for the accelerations from the guess in vectors; from zero where that fails.

    On success vectors have them and the resulting state; otherwise flags have the reason.
    """
    _, _, pivots, vectors, notes, _, _ = implicit
    _, dof, flags = spaces
    nv = dof.shape[0]
    for attempt in range(2):
        for d in range(pivots.shape[0]):
            if d < nv and dof[d, at.HELD] != 0.0:
                vectors[ACCELERATIONS, d] = dof[d, at.GIVEN]
            elif attempt > 0:
                vectors[ACCELERATIONS, d] = 0.0
        if iterate(arrays, more, step, implicit, spaces, sizes):
            place_stage(step, vectors[ACCELERATIONS, :nv], vectors)
            return bool(flags[at.STATUS] == at.OK)
        notes[KNOWN] = 0.0
    return False
