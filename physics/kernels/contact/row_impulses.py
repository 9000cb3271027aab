"""Impulses of a step's rows from their speeds: of equalities alone by their factors, of all by `impulses`."""

from __future__ import annotations

import math

from ..algebra.cholesky import factorize, residual_of, solve_factored
from ..algebra.spatial import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from .impacts import IMPACT_VECTORS, solve_impacts
from .impulse_residual import overgrown
from .impulses import solve_impulses

# Residuals up to this need no look at their size; impulses below this share of what passes along their rows are
# next to nothing.
SMALL, NOTHING = 1e-11, 1e-6
JAMMED = 1e-9  # residual of impulses that were not found
# Impulses that a step begins with, and the nearest to what is asked for: behind the vectors of `impacts` in spare.
BEGIN, NEAREST = IMPACT_VECTORS, IMPACT_VECTORS + 1
SPARE_VECTORS = IMPACT_VECTORS + 2
AS_AIMED, SLACK, SLACK_FROM_BEFORE = 0, 1, 2
TURNS = 3


@shared
def factorize_equalities(count: int, system: Array) -> tuple[int, int]:
    """Factors of the rows that are equalities; how many there are, and their rank."""
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
    """Impulses of the equalities for the right side, with the factors that there are; of the other rows none."""
    impulse, order = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ORDER]
    for k in range(impulse.shape[0]):
        impulse[k] = 0.0
    factor, begins, right = system[con.SYSTEM_FACTOR], system[con.SYSTEM_BEGINS], system[con.SYSTEM_RIGHT]
    solve_factored(factor, order, found[con.RANK], found[con.COUNT], begins, right, impulse)


@shared
def slacken(count: int, system: Array) -> None:
    """Let rows whose values are below zero go no farther instead of leading them back, and impulses begin with nothing.

    A point that a joint lets move along a line only slips as it comes out of what it is in; where friction holds it
    there is no way out, and no impulses bring one about.
    """
    rows, right, impulse = system[con.SYSTEM_ROWS], system[con.SYSTEM_RIGHT], system[con.SYSTEM_IMPULSE]
    for k in range(count):
        impulse[k] = 0.0
        if rows[k, con.ROW_AIM] > 0.0:
            right[k] = rows[k, con.ROW_FREE]


@shared
def solve_once(count: int, system: Array) -> tuple[float, float]:
    """Impulses of all rows, from those that are there to begin with; the solver's residual, and by how much they have
    grown without end, at least 1.
    """
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
    """Impulses of all rows from their speeds without and those aimed at; the solver's residual. found is what is known
    of the equalities' factors.

    Where none are found that lead rows back those that let them go no farther are looked for, from nothing and from
    where the step began; of all that are not what is asked for the nearest are taken.
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
    """A residual against the impulses, or where these are next to nothing against what they would be if the rows
    stopped all that moves along them: what is missed then is round-off of the speeds.
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
