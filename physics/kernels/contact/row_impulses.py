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
from ..constraints.loops import missed_by_loops, solve_loops
from ..constraints.response import assemble, own_response
from .impacts import solve_impacts
from .impulse_residual import overgrown
from .impulses import solve_impulses
from .large_islands import is_large, solve_large
from .spare_layout import BEGIN, FREE, FRICTION, IMPULSE, JAMMED, NEAREST, RESTITUTION, RIGHT, TARGET

# Residuals up to this are accepted whatever their size; impulses below this share of the momentum along their rows
# count as zero.
SMALL, NOTHING = 1e-11, 1e-6
AS_AIMED, SLACK, SLACK_FROM_BEFORE = 0, 1, 2
TURNS = 3


@inline
def solve_block(number: int, system: Array) -> None:
    """Impulses of an island of equalities for the right side, with existing factors."""
    islands, spare = system[con.SYSTEM_ROW_ISLANDS], system[con.SYSTEM_SPARE]
    first, end = (
        islands[number, con.EQUAL + con.ISLAND_FIRST],
        islands[number, con.EQUAL + con.ISLAND_END],
    )
    for i in range(first, end):
        spare[RIGHT, i - first] = system[con.SYSTEM_RIGHT][islands[i, con.EQUAL]]
    solve_factored(
        system[con.SYSTEM_FACTOR][first:],
        system[con.SYSTEM_ORDER][first:],
        islands[number, con.RANK],
        end - first,
        system[con.SYSTEM_BEGINS][first:],
        spare[RIGHT],
        spare[IMPULSE],
    )
    for i in range(first, end):
        system[con.SYSTEM_IMPULSE][islands[i, con.EQUAL]] = spare[IMPULSE, i - first]


@shared
def settle_equalities(count: int, body_int: Array, system: Array) -> tuple[tuple[int, int], float]:
    """Factors of the equalities among the rows up to count, and their impulses for the right side; returns the number
    of equalities and of their islands, and the largest residual. Clears the impulses of other rows.
    """
    islands, jacobian, kinds = (
        system[con.SYSTEM_ROW_ISLANDS],
        system[con.SYSTEM_JACOBIAN],
        system[con.SYSTEM_KINDS],
    )
    order, begins, matrix = system[con.SYSTEM_ORDER], system[con.SYSTEM_BEGINS], system[con.SYSTEM_MATRIX]
    equalities, largest = 0, 0.0
    for k in range(count):
        system[con.SYSTEM_IMPULSE][k] = 0.0
        equalities += 1 if kinds[k] == con.EQUALITY else 0
    if equalities == 0:
        return (0, 0), 0.0
    if solve_loops(system, body_int):
        return (equalities, 0), missed_by_loops(system, count)
    found = group(count, True, kinds, jacobian, system[con.SYSTEM_TREES], islands, con.EQUAL)
    right, impulse = system[con.SYSTEM_SPARE][RIGHT], system[con.SYSTEM_SPARE][IMPULSE]
    for number in range(found):
        first, end = (
            islands[number, con.EQUAL + con.ISLAND_FIRST],
            islands[number, con.EQUAL + con.ISLAND_END],
        )
        form_matrix(first, end, con.EQUAL, system)
        for i in range(first, end):
            order[i] = i - first
        own, starts = order[first:], begins[first:]
        rank = factorize(matrix, own, end - first, system[con.SYSTEM_FACTOR][first:], starts)
        islands[number, con.RANK] = rank
        solve_block(number, system)
        residual = residual_of(matrix, own, rank, end - first, starts, right, impulse)
        if residual > SMALL:
            residual = of_momentum(first, end, con.EQUAL, residual, system)
        largest = max(largest, residual)
    return (equalities, found), largest


@inline
def form_matrix(first: int, end: int, member: int, system: Array) -> None:
    """The matrix of an island's rows."""
    assemble(
        first,
        end,
        system[con.SYSTEM_ROW_ISLANDS],
        member,
        system[con.SYSTEM_JACOBIAN],
        system[con.SYSTEM_RESPONSE],
        system[con.SYSTEM_VECTORS][1],
        system[con.SYSTEM_MATRIX],
    )


@shared
def solve_equalities(found: tuple[int, int], body_int: Array, system: Array) -> None:
    """Impulses of the equalities for the right side, with existing factors; zero for the other rows."""
    impulse = system[con.SYSTEM_IMPULSE]
    if solve_loops(system, body_int):
        return
    for k in range(impulse.shape[0]):
        impulse[k] = 0.0
    for number in range(found[con.ISLANDS]):
        solve_block(number, system)


@inline
def slacken(count: int, spare: Array) -> None:
    """Let penetrated rows keep their depth instead of separating, and start from zero impulses.

    A point that a joint restricts to a line must slip to separate; if friction prevents that, no impulses separate it.
    """
    for k in range(count):
        spare[IMPULSE, k] = 0.0
        if spare[TARGET, k] > 0.0:
            spare[RIGHT, k] = spare[FREE, k]


@inline
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


@inline
def solve_rows(
    first: int, end: int, body_int: Array, work: Array, dof: Array, system: Array, flags: Array
) -> float:
    """Impulses of an island's rows, members[first:end], from their speeds without impulses and their targets; returns
    the solver's residual. Flags an island that is too large for the matrix.

    If no impulses separate penetrated rows, it tries impulses that only stop them, from zero and from the step's first
    impulses; if none meets the conditions, it takes the nearest.
    """
    rows, islands, spare = (
        system[con.SYSTEM_ROWS],
        system[con.SYSTEM_ROW_ISLANDS],
        system[con.SYSTEM_SPARE],
    )
    least, best, count = math.inf, math.nan, end - first
    for i in range(count):
        k = islands[first + i, con.MEMBER]
        system[con.SYSTEM_SOLVER_KINDS][i] = system[con.SYSTEM_KINDS][k]
        spare[FRICTION, i], spare[RESTITUTION, i] = (
            system[con.SYSTEM_FRICTION][k],
            system[con.SYSTEM_RESTITUTION][k],
        )
        spare[FREE, i], spare[TARGET, i] = rows[k, con.ROW_FREE], rows[k, con.ROW_AIM]
        spare[RIGHT, i] = rows[k, con.ROW_FREE] - rows[k, con.ROW_AIM]
        spare[IMPULSE, i] = spare[BEGIN, i] = system[con.SYSTEM_IMPULSE][k]
    best = -1.0
    by_trees = system[con.SYSTEM_VECTORS].shape[0] == con.WORK_VECTORS  # their inertia is the rows' response
    if by_trees and is_large(count, system[con.SYSTEM_SOLVER_KINDS], spare):
        best = solve_large(first, end, body_int, work, dof, system, flags)
    if best >= 0.0:
        for i in range(count):
            system[con.SYSTEM_IMPULSE][islands[first + i, con.MEMBER]] = spare[IMPULSE, i]
        return best
    if flags[at.STATUS] == at.OK and count > system[con.SYSTEM_MATRIX].shape[0]:
        system[con.SYSTEM_STATISTICS][con.LARGEST] = float(count)
        flags[at.STATUS] = at.TOO_MANY_CONTACTS
    if flags[at.STATUS] != at.OK:
        return 0.0
    form_matrix(first, end, con.MEMBER, system)
    for i in range(count):
        spare[IMPULSE, i] = spare[BEGIN, i]
    best = math.nan
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
        system[con.SYSTEM_IMPULSE][islands[first + i, con.MEMBER]] = (
            spare[NEAREST, i] if least < math.inf else math.nan
        )
    return best


@inline
def solve_islands(
    known: int, count: int, body_int: Array, work: Array, dof: Array, system: Array, flags: Array
) -> float:
    """Impulses of the islands with rows that are not equalities, of which one from `known` on; returns the largest
    residual.
    """
    islands, jacobian, kinds = (
        system[con.SYSTEM_ROW_ISLANDS],
        system[con.SYSTEM_JACOBIAN],
        system[con.SYSTEM_KINDS],
    )
    found = group(count, False, kinds, jacobian, system[con.SYSTEM_TREES], islands, con.MEMBER)
    largest = 0.0
    for k in range(count):
        if jacobian[con.SPANS][k, con.SPAN_ISLAND] < 0:
            system[con.SYSTEM_IMPULSE][k] = 0.0
    for number in range(found):
        first, end = islands[number, con.ISLAND_FIRST], islands[number, con.ISLAND_END]
        fresh, one_sided = False, False
        for i in range(first, end):
            fresh |= islands[i, con.MEMBER] >= known
            one_sided |= kinds[islands[i, con.MEMBER]] != con.EQUALITY
        if not (fresh and one_sided):
            continue
        residual = solve_rows(first, end, body_int, work, dof, system, flags)
        if flags[at.STATUS] != at.OK:
            break
        if residual > SMALL:
            residual = of_momentum(first, end, con.MEMBER, residual, system)
        largest = max(largest, residual)
    return largest


@shared
def of_momentum(first: int, end: int, member: int, residual: float, system: Array) -> float:
    """A residual of an island's rows relative to their impulses. If they are almost zero, relative to those that would
    stop the rows' momentum, because the error is then round-off of the speeds.
    """
    (values, columns, spans), free = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_FREE]
    impulse, size, passing = system[con.SYSTEM_IMPULSE], 0.0, 0.0
    for i in range(first, end):
        k = system[con.SYSTEM_ROW_ISLANDS][i, member]
        size += impulse[k] * impulse[k]
        speeds, own = 0.0, own_response(k, system)
        for c in range(spans[k, con.SPAN_COUNT]):
            speeds += abs(values[k, c] * free[columns[k, c]])
        if own > 0.0:
            passing += (speeds / own) ** 2
    if passing == 0.0 or size >= NOTHING * NOTHING * passing:
        return residual
    missed = residual * math.sqrt(size) if size > 0.0 else residual
    return missed / (NOTHING * math.sqrt(passing))
