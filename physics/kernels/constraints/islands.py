"""Islands: rows that share no movable tree, neither directly nor through other rows, are solved apart."""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import layout as con


@inline
def leader_of(tree: int, leaders: Array) -> int:
    """The tree that stands for all that are coupled with a tree; shortens the way to it."""
    while leaders[tree, con.LEADER] != tree:
        leaders[tree, con.LEADER] = leaders[leaders[tree, con.LEADER], con.LEADER]
        tree = leaders[tree, con.LEADER]
    return tree


@inline
def couple_trees(count: int, equal: bool, system: Array) -> None:
    """Join the trees that rows couple, and note a tree of each row, -1 where none moves it."""
    kinds, (values, columns, spans) = system[con.SYSTEM_KINDS], system[con.SYSTEM_JACOBIAN]
    leaders, trees = system[con.SYSTEM_ISLANDS][con.LEADERS], system[con.SYSTEM_ISLANDS][con.TREES]
    for k in range(count):
        for c in range(spans[k, con.SPAN_COUNT]):
            tree = trees[columns[k, c]]
            leaders[tree, con.LEADER], leaders[tree, con.NUMBER] = tree, -1
    first = -1
    for k in range(count):
        spans[k, con.SPAN_ISLAND] = -1
        if equal and kinds[k] != con.EQUALITY:
            continue
        if kinds[k] != con.TANGENT:
            first = -1
        known = first
        for c in range(spans[k, con.SPAN_COUNT]):
            if values[k, c] != 0.0:
                tree = leader_of(trees[columns[k, c]], leaders)
                if first < 0:
                    first = tree
                elif tree != first:
                    first = leader_of(first, leaders)
                    leaders[tree, con.LEADER] = first
        spans[k, con.SPAN_ISLAND] = known if kinds[k] == con.TANGENT else first


@shared
def group(count: int, equal: bool, system: Array, members: Array, table: Array) -> int:
    """Sort the rows up to count, or the equalities among them, by islands; returns the number of islands.

    Rows that no coordinate moves belong to none. Tangents follow their normal, and are nowhere without it.
    """
    spans = system[con.SYSTEM_JACOBIAN][con.SPANS]
    leaders, islands, begin = system[con.SYSTEM_ISLANDS][con.LEADERS], 0, 0
    couple_trees(count, equal, system)
    for k in range(count):
        if spans[k, con.SPAN_ISLAND] < 0:
            continue
        tree = leader_of(spans[k, con.SPAN_ISLAND], leaders)
        if leaders[tree, con.NUMBER] < 0:
            leaders[tree, con.NUMBER] = islands
            table[islands, con.ISLAND_END] = 0
            islands += 1
        number = leaders[tree, con.NUMBER]
        spans[k, con.SPAN_ISLAND] = number
        table[number, con.ISLAND_END] += 1
    for number in range(islands):
        size = table[number, con.ISLAND_END]
        table[number, con.ISLAND_FIRST] = table[number, con.ISLAND_END] = begin
        begin += size
    for k in range(count):
        number = spans[k, con.SPAN_ISLAND]
        if number >= 0:
            members[table[number, con.ISLAND_END]] = k
            table[number, con.ISLAND_END] += 1
    return islands
