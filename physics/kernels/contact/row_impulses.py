"""Impulses of a step's rows from their speeds: by factors if all rows are equalities, else by `impulses`."""

from __future__ import annotations

import math

from ..algebra.cholesky import factorize, residual_of, solve_factored
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from .impacts import IMPACT_VECTORS, solve_impacts
from .impulse_residual import overgrown
from .impulses import solve_impulses

# Residuals up to this are accepted whatever their size; impulses below this share of the momentum along their rows
# count as zero.
SMALL, NOTHING = 1e-11, 1e-6
JAMMED = 1e-9  # residual of impulses without solution
# Rows of spare after the vectors of `impacts`: the step's first impulses, and those nearest to the conditions.
BEGIN, NEAREST = IMPACT_VECTORS, IMPACT_VECTORS + 1
SPARE_VECTORS = IMPACT_VECTORS + 2
AS_AIMED, SLACK, SLACK_FROM_BEFORE = 0, 1, 2
TURNS = 3


@shared
def factorize_equalities(count: int, system: Array) -> tuple[int, int]:
    """Factors of the rows that are equalities; returns their number and rank."""
    kinds, order = system[con.SYSTEM_KINDS], system[con.SYSTEM_ORDER]
    equalities = 0
    for k in range(count):
        if kinds[k] == con.EQUALITY:
            order[equalities] = k
            equalities += 1
    rank = factorize(
        system[con.SYSTEM_MATRIX], order, equalities, system[con.SYSTEM_FACTOR], system[con.SYSTEM_BEGINS]
    )
    return equalities, rank


@shared
def solve_equalities(found: tuple[int, int], system: Array) -> None:
    """Impulses of the equalities for the right side, with existing factors; zero for the other rows."""
    impulse, order = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ORDER]
    for k in range(impulse.shape[0]):
        impulse[k] = 0.0
    factor, begins, right = system[con.SYSTEM_FACTOR], system[con.SYSTEM_BEGINS], system[con.SYSTEM_RIGHT]
    solve_factored(factor, order, found[con.RANK], found[con.COUNT], begins, right, impulse)


@shared
def slacken(count: int, system: Array) -> None:
    """Let penetrated rows keep their depth instead of separating, and start from zero impulses.

    A point that a joint restricts to a line must slip to separate; if friction prevents that, no impulses separate it.
    """
    rows, right, impulse = system[con.SYSTEM_ROWS], system[con.SYSTEM_RIGHT], system[con.SYSTEM_IMPULSE]
    for k in range(count):
        impulse[k] = 0.0
        if rows[k, con.ROW_AIM] > 0.0:
            right[k] = rows[k, con.ROW_FREE]


@shared
def solve_once(count: int, system: Array) -> tuple[float, float]:
    """Impulses of all rows, from the present ones as a warm start; returns the solver's residual and `overgrown`."""
    matrix, right, kinds = system[con.SYSTEM_MATRIX], system[con.SYSTEM_RIGHT], system[con.SYSTEM_KINDS]
    friction, restitution, impulse = (
        system[con.SYSTEM_FRICTION],
        system[con.SYSTEM_RESTITUTION],
        system[con.SYSTEM_IMPULSE],
    )
    space, order, spare = system[con.SYSTEM_SPACE], system[con.SYSTEM_SOLVER_ORDER], system[con.SYSTEM_SPARE]
    impact = False
    for k in range(count):
        impact |= restitution[k] > 0.0
    if impact:
        residual = solve_impacts(
            count, matrix, right, kinds, friction, restitution, impulse, space, order, spare
        )
    else:
        residual = solve_impulses(count, matrix, right, kinds, friction, impulse, space, order)
    return residual, overgrown(count, matrix, right, impulse)


@shared
def solve_rows(count: int, found: tuple[int, int], system: Array) -> float:
    """Impulses of all rows from their speeds without impulses and their targets; returns the solver's residual. found:
    number and rank of the equalities.

    If no impulses separate penetrated rows, it tries impulses that only stop them, from zero and from the step's first
    impulses; if none meets the conditions, it takes the nearest.
    """
    rows, right, impulse = system[con.SYSTEM_ROWS], system[con.SYSTEM_RIGHT], system[con.SYSTEM_IMPULSE]
    if count == found[con.COUNT]:
        for k in range(count):
            right[k] = rows[k, con.ROW_AIM] - rows[k, con.ROW_FREE]
        solve_equalities(found, system)
        order, begins = system[con.SYSTEM_ORDER], system[con.SYSTEM_BEGINS]
        return residual_of(system[con.SYSTEM_MATRIX], order, found[con.RANK], count, begins, right, impulse)
    begin, nearest = system[con.SYSTEM_SPARE][BEGIN], system[con.SYSTEM_SPARE][NEAREST]
    least, best = math.inf, math.nan
    for k in range(count):
        right[k] = rows[k, con.ROW_FREE] - rows[k, con.ROW_AIM]
        begin[k] = impulse[k]
    for turn in range(TURNS):
        if turn != AS_AIMED:
            slacken(count, system)
        if turn == SLACK_FROM_BEFORE:
            for k in range(count):
                impulse[k] = begin[k]
        residual, beyond = solve_once(count, system)
        miss = max(residual, JAMMED) * beyond
        if miss < least:
            least, best = miss, residual * beyond
            for k in range(count):
                nearest[k] = impulse[k]
        if miss <= JAMMED:
            break
    for k in range(count):
        impulse[k] = nearest[k] if least < math.inf else math.nan
    return best


@shared
def of_momentum(count: int, residual: float, system: Array) -> float:
    """A residual relative to the impulses. If they are almost zero, relative to those that would stop the rows'
    momentum, because the error is then round-off of the speeds.
    """
    if residual <= SMALL:
        return residual
    jacobian, free = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_FREE]
    matrix, impulse, size, passing = system[con.SYSTEM_MATRIX], system[con.SYSTEM_IMPULSE], 0.0, 0.0
    for k in range(count):
        size += impulse[k] * impulse[k]
        if matrix[k, k] > 0.0:
            speeds = 0.0
            for d in range(free.shape[0]):
                speeds += abs(jacobian[k, d] * free[d])
            passing += (speeds / matrix[k, k]) ** 2
    if passing == 0.0 or size >= NOTHING * NOTHING * passing:
        return residual
    missed = residual * math.sqrt(size) if size > 0.0 else residual
    return missed / (NOTHING * math.sqrt(passing))
