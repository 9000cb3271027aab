"""Impulses of a step's rows from their speeds, island by island: by factors where all rows are equalities, else by
`impulses`.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.cholesky import factorize, residual_of, solve_factored
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.islands import group
from ..constraints.response import assemble
from .impacts import IMPACT_VECTORS, solve_impacts
from .impulse_residual import overgrown
from .impulses import solve_impulses

# Residuals up to this are accepted whatever their size; impulses below this share of the momentum along their rows
# count as zero.
SMALL, NOTHING = 1e-11, 1e-6
JAMMED = 1e-9  # residual of impulses without solution
# Rows of spare after the vectors of `impacts`: the first impulses of the step, those nearest to the conditions; of an
# island: right side, impulses, speeds without impulses, their targets, friction, restitution.
BEGIN, NEAREST = IMPACT_VECTORS, IMPACT_VECTORS + 1
RIGHT, IMPULSE, FREE, TARGET, FRICTION, RESTITUTION = range(IMPACT_VECTORS + 2, IMPACT_VECTORS + 8)
SPARE_VECTORS = IMPACT_VECTORS + 8
AS_AIMED, SLACK, SLACK_FROM_BEFORE = 0, 1, 2
TURNS = 3


@inline
def solve_block(number: int, system: Array) -> None:
    """Impulses of an island of equalities for the right side, with existing factors."""
    members, table = system[con.SYSTEM_ISLANDS][con.EQUAL], system[con.SYSTEM_ISLANDS][con.EQUAL_TABLE]
    first, end = table[number, con.ISLAND_FIRST], table[number, con.ISLAND_END]
    right, impulse = system[con.SYSTEM_SPARE][RIGHT], system[con.SYSTEM_SPARE][IMPULSE]
    for i in range(first, end):
        right[i - first] = system[con.SYSTEM_RIGHT][members[i]]
    solve_factored(
        system[con.SYSTEM_FACTOR][first:],
        system[con.SYSTEM_ORDER][first:],
        table[number, con.ISLAND_RANK],
        end - first,
        system[con.SYSTEM_BEGINS][first:],
        right,
        impulse,
    )
    for i in range(first, end):
        system[con.SYSTEM_IMPULSE][members[i]] = impulse[i - first]


@shared
def settle_equalities(count: int, system: Array) -> tuple[tuple[int, int], float]:
    """Factors of the equalities among the rows up to count, and their impulses for the right side; returns the number
    of equalities and of their islands, and the largest residual. Clears the impulses of other rows.
    """
    members, table = system[con.SYSTEM_ISLANDS][con.EQUAL], system[con.SYSTEM_ISLANDS][con.EQUAL_TABLE]
    order, begins, matrix = system[con.SYSTEM_ORDER], system[con.SYSTEM_BEGINS], system[con.SYSTEM_MATRIX]
    equalities, residual = 0, 0.0
    for k in range(count):
        system[con.SYSTEM_IMPULSE][k] = 0.0
        equalities += 1 if system[con.SYSTEM_KINDS][k] == con.EQUALITY else 0
    if equalities == 0:
        return (0, 0), 0.0
    islands = group(count, True, system, members, table)
    for number in range(islands):
        first, end = table[number, con.ISLAND_FIRST], table[number, con.ISLAND_END]
        assemble(first, end, members, system)
        for i in range(first, end):
            order[i] = i - first
        own, starts = order[first:], begins[first:]
        rank = factorize(matrix, own, end - first, system[con.SYSTEM_FACTOR][first:], starts)
        table[number, con.ISLAND_RANK] = rank
        solve_block(number, system)
        right, impulse = system[con.SYSTEM_SPARE][RIGHT], system[con.SYSTEM_SPARE][IMPULSE]
        missed = residual_of(matrix, own, rank, end - first, starts, right, impulse)
        residual = max(residual, of_momentum(first, end, members, missed, system))
    return (equalities, islands), residual


@shared
def solve_equalities(found: tuple[int, int], system: Array) -> None:
    """Impulses of the equalities for the right side, with existing factors; zero for the other rows."""
    impulse = system[con.SYSTEM_IMPULSE]
    for k in range(impulse.shape[0]):
        impulse[k] = 0.0
    for number in range(found[con.ISLANDS]):
        solve_block(number, system)


@shared
def slacken(count: int, spare: Array) -> None:
    """Let penetrated rows keep their depth instead of separating, and start from zero impulses.

    A point that a joint restricts to a line must slip to separate; if friction prevents that, no impulses separate it.
    """
    for k in range(count):
        spare[IMPULSE, k] = 0.0
        if spare[TARGET, k] > 0.0:
            spare[RIGHT, k] = spare[FREE, k]


@shared
def solve_once(count: int, system: Array) -> tuple[float, float]:
    """Impulses of an island's rows, from the present ones as a warm start; returns the solver's residual and
    `overgrown`.
    """
    matrix, kinds, spare = (
        system[con.SYSTEM_MATRIX],
        system[con.SYSTEM_SOLVER_KINDS],
        system[con.SYSTEM_SPARE],
    )
    right, friction, restitution, impulse = spare[RIGHT], spare[FRICTION], spare[RESTITUTION], spare[IMPULSE]
    space, order = system[con.SYSTEM_SPACE], system[con.SYSTEM_SOLVER_ORDER]
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
def solve_rows(first: int, end: int, system: Array) -> float:
    """Impulses of an island's rows, members[first:end], from their speeds without impulses and their targets; returns
    the solver's residual.

    If no impulses separate penetrated rows, it tries impulses that only stop them, from zero and from the step's first
    impulses; if none meets the conditions, it takes the nearest.
    """
    rows, members, spare = (
        system[con.SYSTEM_ROWS],
        system[con.SYSTEM_ISLANDS][con.MEMBERS],
        system[con.SYSTEM_SPARE],
    )
    least, best, count = math.inf, math.nan, end - first
    for i in range(count):
        k = members[first + i]
        system[con.SYSTEM_SOLVER_KINDS][i] = system[con.SYSTEM_KINDS][k]
        spare[FRICTION, i], spare[RESTITUTION, i] = (
            system[con.SYSTEM_FRICTION][k],
            system[con.SYSTEM_RESTITUTION][k],
        )
        spare[FREE, i], spare[TARGET, i] = rows[k, con.ROW_FREE], rows[k, con.ROW_AIM]
        spare[RIGHT, i] = rows[k, con.ROW_FREE] - rows[k, con.ROW_AIM]
        spare[IMPULSE, i] = spare[BEGIN, i] = system[con.SYSTEM_IMPULSE][k]
    for turn in range(TURNS):
        if turn != AS_AIMED:
            slacken(count, spare)
        if turn == SLACK_FROM_BEFORE:
            for i in range(count):
                spare[IMPULSE, i] = spare[BEGIN, i]
        residual, beyond = solve_once(count, system)
        miss = max(residual, JAMMED) * beyond
        if miss < least:
            least, best = miss, residual * beyond
            for i in range(count):
                spare[NEAREST, i] = spare[IMPULSE, i]
        if miss <= JAMMED:
            break
    for i in range(count):
        system[con.SYSTEM_IMPULSE][members[first + i]] = spare[NEAREST, i] if least < math.inf else math.nan
    return best


@shared
def solve_islands(known: int, count: int, system: Array, flags: Array) -> float:
    """Impulses of the islands with rows that are not equalities, of which one from `known` on; returns the largest
    residual. Flags an island that is too large for the matrix.
    """
    members, table = system[con.SYSTEM_ISLANDS][con.MEMBERS], system[con.SYSTEM_ISLANDS][con.TABLE]
    kinds, statistics, largest = system[con.SYSTEM_KINDS], system[con.SYSTEM_STATISTICS], 0.0
    islands = group(count, False, system, members, table)
    for k in range(count):
        if system[con.SYSTEM_JACOBIAN][con.SPANS][k, con.SPAN_ISLAND] < 0:
            system[con.SYSTEM_IMPULSE][k] = 0.0
    for number in range(islands):
        first, end = table[number, con.ISLAND_FIRST], table[number, con.ISLAND_END]
        fresh, one_sided = False, False
        for i in range(first, end):
            fresh |= members[i] >= known
            one_sided |= kinds[members[i]] != con.EQUALITY
        if not (fresh and one_sided):
            continue
        statistics[con.LARGEST] = max(statistics[con.LARGEST], float(end - first))
        if end - first > system[con.SYSTEM_MATRIX].shape[0]:
            flags[at.STATUS] = at.TOO_MANY_CONTACTS
            return largest
        assemble(first, end, members, system)
        residual = solve_rows(first, end, system)
        largest = max(largest, of_momentum(first, end, members, residual, system))
    return largest


@shared
def of_momentum(first: int, end: int, members: Array, residual: float, system: Array) -> float:
    """A residual of an island's rows relative to their impulses. If they are almost zero, relative to those that would
    stop the rows' momentum, because the error is then round-off of the speeds.
    """
    if residual <= SMALL:
        return residual
    (values, columns, spans), free = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_FREE]
    matrix, impulse, size, passing = system[con.SYSTEM_MATRIX], system[con.SYSTEM_IMPULSE], 0.0, 0.0
    for i in range(end - first):
        k = members[first + i]
        size += impulse[k] * impulse[k]
        if matrix[i, i] > 0.0:
            speeds = 0.0
            for c in range(spans[k, con.SPAN_COUNT]):
                speeds += abs(values[k, c] * free[columns[k, c]])
            passing += (speeds / matrix[i, i]) ** 2
    if passing == 0.0 or size >= NOTHING * NOTHING * passing:
        return residual
    missed = residual * math.sqrt(size) if size > 0.0 else residual
    return missed / (NOTHING * math.sqrt(passing))
