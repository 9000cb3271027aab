"""Impulses that satisfy equalities, one-sided rows and contacts with Coulomb friction, all at once.

Row speeds are u = W impulse + right, W = J M^-1 J^T symmetric, positive semi-definite; rows may be redundant. EQUALITY:
u = 0. UNILATERAL: 0 <= impulse, 0 <= u, one of them zero. NORMAL, followed by its two TANGENT rows: impulse in the cone
K_mu, u + mu |u_t| n in its dual, perpendicular (De Saxce & Feng 1998): an exact cone, no pyramid.

Equalities are eliminated by pivoted Cholesky factors; rows without a pivot are dependent and get no impulse. Without
friction an active set is pivoted, which ends exactly. With friction, exact solutions contact by contact (block
Gauss-Seidel) start Newton's steps. If these make no progress, the solver tries larger scales (see `sharpening`), then
the central path (see `interior`), then a sequence of proximal problems with decreasing weight (Rockafellar 1976), and
last many more sweeps.
"""

from __future__ import annotations

import math

from ..algebra.cholesky import DEPENDENT, factorize
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from . import impulse_layout as solver
from .cone import project_on_cone, solve_contact
from .impulse_layout import combine, find_speeds, push
from .impulse_residual import natural_residual
from .interior import follow_path
from .newton import (
    PROXIMAL,
    choose,
    defect,
    descend,
    forget_factors,
    has_factors,
    most_rightly,
    newton_step,
    pivot_rows,
)
from .sharpening import sharpen
from .sparse import speeds_of, step_sparse, sweep_sparse

SLOW = 0.25
SWEEPS, LONG_SWEEPS = 8, 4096
MOST_NEWTON_STEPS = 50
MOST_STUCK = 4
FEW_NEWTON_STEPS, FEW_STUCK = 15, 2  # of a large island at a time
FIRST_WEIGHT, LIGHTER, HEAVIER = 0.1, 0.3, 3.0
MOST_PROXIMAL_STEPS = 60


@shared
def gather(
    count: int, kinds: Array, friction: Array, impulse: Array, space: Array, order: Array
) -> tuple[int, int, int]:
    """Order of equalities, contacts with friction, one-sided rows; where each of these ends.

    Tangents of contacts without friction are omitted.
    """
    m = 0
    for i in range(count):
        if kinds[i] == con.EQUALITY:
            order[m] = i
            m += 1
    equalities = m
    for i in range(count):
        if kinds[i] == con.NORMAL and friction[i] > 0.0:
            order[m], order[m + 1], order[m + 2] = i, i + 1, i + 2
            m += 3
    cones = m
    for i in range(count):
        if kinds[i] == con.UNILATERAL or (kinds[i] == con.NORMAL and friction[i] <= 0.0):
            order[m] = i
            m += 1
    for i in range(equalities, m):
        space[solver.IMPULSE, i] = impulse[order[i]]
        space[solver.FRICTION, i] = friction[order[i]]
    for i in range(count):
        impulse[i] = 0.0
    return equalities, cones, m


@shared
def eliminate(first: int, m: int, matrix: Array, right: Array, space: Array, order: Array) -> int:
    """Responses and speeds of the rows from `first` on, with the equalities before them at zero speed.

    Returns the equalities' rank; RIGHT gets their right side through Cholesky's factor, which is left in space.
    """
    f = solver.VECTORS + 2 * space.shape[1]
    rank: int = factorize(matrix, order, first, space[f:], space[solver.TRIAL])
    for i in range(rank):
        row = order[i]
        total = right[row]
        for k in range(i):
            total -= space[f + row, k] * space[solver.RIGHT, k]
        space[solver.RIGHT, i] = total / space[f + row, i]
    for i in range(first, m):
        row = order[i]
        rest = right[row]
        for k in range(rank):
            pivot = f + order[k]
            total = matrix[row, order[k]]
            for j in range(k):
                total -= space[f + row, j] * space[pivot, j]
            space[f + row, k] = total / space[pivot, k]
            rest -= space[f + row, k] * space[solver.RIGHT, k]
        space[solver.RIGHT, i] = rest
        for j in range(first, i + 1):
            total = matrix[row, order[j]]
            for k in range(rank):
                total -= space[f + row, k] * space[f + order[j], k]
            space[solver.VECTORS + i, j] = space[solver.VECTORS + j, i] = total
    return rank


@shared
def restore(first: int, rank: int, m: int, space: Array, order: Array, impulse: Array) -> None:
    """Impulses of the equalities from those of the others, and all of them in their original order."""
    f = solver.VECTORS + 2 * space.shape[1]
    for k in range(rank - 1, -1, -1):
        total = -space[solver.RIGHT, k]
        for i in range(k + 1, m):
            if i < rank or i >= first:
                total -= space[f + order[i], k] * space[solver.IMPULSE, i]
        space[solver.IMPULSE, k] = total / space[f + order[k], k]
    for i in range(m):
        if i < rank or i >= first:
            impulse[order[i]] = space[solver.IMPULSE, i]


@shared
def prepare(first: int, cones: int, m: int, matrix: Array, space: Array, order: Array) -> bool:
    """Scales of the rows other than equalities, feasible first impulses with their speeds; returns if some are not 0.

    A row's scale is the inverse of its response, for a contact's rows of their mean; 0 for rows without response.
    """
    a = solver.VECTORS
    warm = False
    i = first
    while i < m:
        width = 3 if i < cones else 1
        response, whole, x = 0.0, 0.0, (space[solver.IMPULSE, i], 0.0, 0.0)
        for k in range(width):
            response += space[a + i + k, i + k] / width
            whole += matrix[order[i + k], order[i + k]] / width
        if width == 3:
            x = (space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2])
        x = project_on_cone(x, space[solver.FRICTION, i])
        alive = space[a + i, i] > DEPENDENT * matrix[order[i], order[i]]
        for k in range(width):
            space[solver.SCALE, i + k] = 1.0 / response if alive else 0.0
            space[solver.HOLD, i + k] = PROXIMAL * whole / response if alive else 0.0
            space[solver.IMPULSE, i + k] = x[k] if alive else 0.0
        warm = warm or space[solver.IMPULSE, i] > 0.0
        i += width
    find_speeds(first, m, space)
    return warm


@shared
def sweep(first: int, cones: int, m: int, space: Array) -> None:
    """Solve every contact exactly, one after the other, with fixed impulses of the others."""
    a = solver.VECTORS
    for i in range(first, cones, 3):
        if space[solver.SCALE, i] <= 0.0:
            continue
        x = (space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2])
        b = (space[solver.SPEED, i], space[solver.SPEED, i + 1], space[solver.SPEED, i + 2])
        for k in range(3):
            b = (
                b[0] - space[a + i + k, i] * x[k],
                b[1] - space[a + i + k, i + 1] * x[k],
                b[2] - space[a + i + k, i + 2] * x[k],
            )
        y = solve_contact(space, a + i, i, b, space[solver.FRICTION, i])
        for k in range(3):
            push(i + k, y[k] - x[k], first, m, space, solver.SPEED)
            space[solver.IMPULSE, i + k] = y[k]
    for i in range(cones, m):
        if space[solver.SCALE, i] > 0.0:
            y0 = max(space[solver.IMPULSE, i] - space[solver.SCALE, i] * space[solver.SPEED, i], 0.0)
            push(i, y0 - space[solver.IMPULSE, i], first, m, space, solver.SPEED)
            space[solver.IMPULSE, i] = y0


@shared
def newton_turn(
    first: int, cones: int, m: int, space: Array, order: Array, value: float, trees: int, sparse: Array
) -> bool:
    """One Newton step from impulses whose squared defect is value; False if it does not reduce the defect."""
    choose(first, cones, m, space, order)
    if sparse is None:
        newton_step(first, cones, m, space, order, 0.0)
    else:
        step_sparse(trees, cones, m, order, 0.0, sparse)
    return descend(first, cones, m, space, value)


@shared
def sweeps(first: int, cones: int, m: int, space: Array, times: int, sparse: Array) -> None:
    """`sweep`, several times."""
    if sparse is None:
        for _ in range(times):
            sweep(first, cones, m, space)
    else:
        sweep_sparse(cones, m, times, sparse)


@shared
def approach(
    first: int, cones: int, m: int, space: Array, order: Array, before: int, trees: int, sparse: Array
) -> bool:
    """So many sweeps, then Newton's steps, with sweeps when they make no progress. sparse: None, or workspaces of an
    island with so many trees (see `sparse`), of which space is the vectors.
    """
    stuck, exact, most, patience = 0, solver.EXACT, MOST_NEWTON_STEPS, MOST_STUCK
    if sparse is not None:
        exact, most, patience = solver.CLOSE, FEW_NEWTON_STEPS, FEW_STUCK
        forget_factors(order)
    if before > 0:
        sweeps(first, cones, m, space, before, sparse)
    last = math.inf
    for _ in range(most):
        value, size = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
        enough = value <= solver.ENOUGH * solver.ENOUGH * size
        if value <= exact * exact * size or (enough and value > SLOW * last):
            return True
        last = value
        if not newton_turn(first, cones, m, space, order, value, trees, sparse):
            if enough:
                return True
            stuck += 1
            if stuck > patience:
                return False
            sweeps(first, cones, m, space, SWEEPS << stuck, sparse)
    return False


@shared
def centre(first: int, cones: int, m: int, space: Array, order: Array, trees: int, sparse: Array) -> None:
    """If a contact slides, remove the part of the impulses that causes no motion, as between the feet of a table: as a
    warm start it would make friction depend on the history. Of a large island by the last step's factors, if they are
    of its states.
    """
    value, size = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
    choose(first, cones, m, space, order)
    slides, third = False, order.shape[0] // 3
    for i in range(first, cones, 3):
        slides |= order[third + i] == solver.SLIDE
    if not slides or (sparse is not None and not has_factors(m, order)):
        return
    if sparse is None:
        newton_step(first, cones, m, space, order, 1.0)
    else:
        step_sparse(trees, cones, m, order, 1.0, sparse)
    combine(solver.TRIAL, solver.IMPULSE, 1.0, solver.STEP, first, m, space)
    combine(solver.TRIAL_SPEED, solver.SPEED, 1.0, solver.RISE, first, m, space)
    found, _ = defect(first, cones, m, space, solver.TRIAL, solver.TRIAL_SPEED)
    if found <= max(value, solver.ENOUGH * solver.ENOUGH * size):
        combine(solver.IMPULSE, solver.IMPULSE, 1.0, solver.STEP, first, m, space)
        combine(solver.SPEED, solver.SPEED, 1.0, solver.RISE, first, m, space)


@shared
def weigh(first: int, m: int, space: Array, weight: float) -> None:
    """Add a weight to the diagonal, in units of each row's own response."""
    for i in range(first, m):
        if space[solver.SCALE, i] > 0.0:
            space[solver.VECTORS + i, i] += weight / space[solver.SCALE, i]


@shared
def proximal_step(first: int, cones: int, m: int, space: Array, order: Array, weight: float) -> bool:
    """Impulses of the proximal problem with a weight; unchanged and False if it cannot be solved."""
    for i in range(first, m):
        space[solver.KEPT, i] = space[solver.IMPULSE, i]
    weigh(first, m, space, weight)
    solved = approach(first, cones, m, space, order, 0, 0, None)
    weigh(first, m, space, -weight)
    if not solved:
        for i in range(first, m):
            space[solver.IMPULSE, i] = space[solver.KEPT, i]
    find_speeds(first, m, space)
    return solved


@shared
def jams(first: int, m: int, space: Array) -> bool:
    """Whether impulses grow without bound, because no impulses meet the conditions."""
    size = 0.0
    for i in range(first, m):
        size += space[solver.IMPULSE, i] ** 2
    return size > most_rightly(first, m, space)


@shared
def search(first: int, cones: int, m: int, space: Array, order: Array, trees: int, sparse: Array) -> bool:
    """Larger scales, then the central path, where Newton's steps alone make no progress; arguments as of `approach`.
    Returns whether it ends: at a solution, or where there is none.
    """
    if sharpen(first, cones, m, space, order, trees, sparse):
        return True
    follow_path(first, cones, m, space, trees, sparse)
    at_end, _ = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
    for i in range(first, m):
        space[solver.DUAL_STEP, i] = space[solver.IMPULSE, i]
    if approach(first, cones, m, space, order, 0, trees, sparse) or jams(first, m, space):
        return True
    if at_end < defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)[0]:
        # the path ended near the solution, and sweeps diverged from it: contacts that barely slip
        for i in range(first, m):
            space[solver.IMPULSE, i] = space[solver.DUAL_STEP, i]
        speeds_of(first, m, space, sparse)
    return sharpen(first, cones, m, space, order, trees, sparse)


@shared
def settle(first: int, cones: int, m: int, space: Array, order: Array, warm: bool) -> None:
    """Impulses of contacts with friction and of one-sided rows."""
    if warm:
        centre(first, cones, m, space, order, 0, None)
    if approach(first, cones, m, space, order, 0 if warm else SWEEPS, 0, None):
        return
    if search(first, cones, m, space, order, 0, None):
        return
    weight = FIRST_WEIGHT
    for _ in range(MOST_PROXIMAL_STEPS):
        solved = proximal_step(first, cones, m, space, order, weight)
        value, size = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
        if value <= solver.ENOUGH * solver.ENOUGH * size or (
            solved and sharpen(first, cones, m, space, order, 0, None)
        ):
            return
        weight *= LIGHTER if solved else HEAVIER
    # where contacts wedge, impulses hundreds of times those that speeds ask for are reached by many sweeps alone
    approach(first, cones, m, space, order, LONG_SWEEPS, 0, None)


@shared
def solve_impulses(
    count: int,
    matrix: Array,
    right: Array,
    kinds: Array,
    friction: Array,
    impulse: Array,
    space: Array,
    order: Array,
) -> float:
    """Impulses (count,) of all rows, from the present ones as a warm start; returns the natural map's residual.

    Args:
        count: number of rows; the arrays may be longer.
        matrix, right: W (count, count), symmetric; the speeds without impulses (count,).
        kinds: EQUALITY, UNILATERAL or NORMAL followed by two TANGENT. friction: mu in NORMAL rows.
        space, order: workspaces, see `impulse_space`.
    """
    first, cones, m = gather(count, kinds, friction, impulse, space, order)
    rank = eliminate(first, m, matrix, right, space, order)
    if m > first:
        warm = prepare(first, cones, m, matrix, space, order)
        if cones > first:
            settle(first, cones, m, space, order, warm)
        else:
            pivot_rows(first, m, space, order)
    restore(first, rank, m, space, order, impulse)
    return natural_residual(count, matrix, right, kinds, friction, impulse)
