"""Islands: rows that share no movable tree, neither directly nor through other rows, are solved apart."""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import layout as con


@inline
def leader_of(tree: int, trees: Array) -> int:
    """The representative of the island of a tree; shortens the way to it (union-find)."""
    while trees[tree, con.LEADER] != tree:
        trees[tree, con.LEADER] = trees[trees[tree, con.LEADER], con.LEADER]
        tree = trees[tree, con.LEADER]
    return tree


@inline
def couple_trees(count: int, equal: bool, kinds: Array, jacobian: Array, trees: Array) -> None:
    """Join the trees that rows couple, and note a tree of each row, -1 where none moves it."""
    values, columns, spans = jacobian
    for k in range(count):
        last = -1
        for c in range(spans[k, con.SPAN_COUNT]):
            tree = trees[columns[k, c], con.TREE]
            if tree != last:
                trees[tree, con.LEADER], trees[tree, con.NUMBER], last = tree, -1, tree
    first = -1
    for k in range(count):
        spans[k, con.SPAN_ISLAND] = -1
        if equal and kinds[k] != con.EQUALITY:
            continue
        if kinds[k] != con.TANGENT:
            first = -1
        known, last = first, -1
        for c in range(spans[k, con.SPAN_COUNT]):
            tree = trees[columns[k, c], con.TREE]
            if tree != last and values[k, c] != 0.0:
                last, tree = tree, leader_of(tree, trees)
                first = tree if first < 0 else leader_of(first, trees)
                trees[tree, con.LEADER] = first
        spans[k, con.SPAN_ISLAND] = known if kinds[k] == con.TANGENT else first


@shared
def group(
    count: int, equal: bool, kinds: Array, jacobian: Array, trees: Array, islands: Array, side: int
) -> int:
    """Sort the rows up to count, or the equalities among them, by islands, into the columns of islands from `side` on;
    returns the number of islands.

    Rows that no coordinate moves belong to none. Tangents follow their normal, and are nowhere without it.
    """
    (_, _, spans), found, begin = jacobian, 0, 0
    member, start, end = side + con.MEMBER, side + con.ISLAND_FIRST, side + con.ISLAND_END
    couple_trees(count, equal, kinds, jacobian, trees)
    for k in range(count):
        if spans[k, con.SPAN_ISLAND] < 0:
            continue
        tree = leader_of(spans[k, con.SPAN_ISLAND], trees)
        if trees[tree, con.NUMBER] < 0:
            trees[tree, con.NUMBER] = found
            islands[found, end] = 0
            found += 1
        number = trees[tree, con.NUMBER]
        spans[k, con.SPAN_ISLAND] = number
        islands[number, end] += 1
    for number in range(found):
        size = islands[number, end]
        islands[number, start] = islands[number, end] = begin
        begin += size
    for k in range(count):
        number = spans[k, con.SPAN_ISLAND]
        if number >= 0:
            islands[islands[number, end], member] = k
            islands[number, end] += 1
    return found
