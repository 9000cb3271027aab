"""Factors of a matrix of an island's coordinates, tree by tree in dense fronts (multifrontal, Duff & Reid 1983).

A tree's front has the rows and columns of its coordinates, then those of its neighbours that follow in the order of
elimination. What remains of it after its own coordinates are eliminated is added to that of the first neighbour.
"""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import sparse_layout as at

# A pivot below this share of what its row began with is lost.
LOST = 1e-13


@shared
def eliminate(first: int, own: int, rows: int, begin: int, front: Array, begun: Array) -> bool:
    """L U of a front's first coordinates in place, without pivots, two at a time; False where a pivot is lost."""
    k = 0
    while k < own:
        top, wide = begin + k * rows, min(2, own - k)
        if not abs(front[top + k]) > LOST * begun[first + k]:
            return False
        below, share, other = top + rows, 1.0 / front[top + k], 0.0
        if wide == 2:
            front[below + k] *= share
            for j in range(k + 1, rows):
                front[below + j] -= front[below + k] * front[top + j]
            if not abs(front[below + k + 1]) > LOST * begun[first + k + 1]:
                return False
            other = 1.0 / front[below + k + 1]
        for i in range(k + wide, rows):
            row = begin + i * rows
            one, two = share * front[row + k], 0.0
            front[row + k] = one
            if wide == 2:
                two = other * (front[row + k + 1] - one * front[top + k + 1])
                front[row + k + 1] = two
                for j in range(k + 2, rows):
                    front[row + j] -= one * front[top + j] + two * front[below + j]
            else:
                for j in range(k + 1, rows):
                    front[row + j] -= one * front[top + j]
        k += wide
    return True


@shared
def pass_on(first: int, own: int, trees: Array, lists: Array, front: Array) -> None:
    """Add what remains of a tree's front to that of its first neighbour."""
    begin, rows, start = trees[first, at.TREE_FRONT], trees[first, at.TREE_ROWS], trees[first, at.TREE_LIST]
    end = start + trees[first, at.TREE_LINKS]
    to = lists[start]
    for k in range(start, end):
        if trees[lists[k], at.TREE_RANK] < trees[to, at.TREE_RANK]:
            to = lists[k]
    trees[to, at.TREE_PLACE], place = 0, trees[to, at.TREE_STOP] - to
    for k in range(trees[to, at.TREE_LIST], trees[to, at.TREE_LIST] + trees[to, at.TREE_LINKS]):
        trees[lists[k], at.TREE_PLACE] = place
        place += trees[lists[k], at.TREE_STOP] - lists[k]
    source = own
    for k in range(start, end):
        for i in range(trees[lists[k], at.TREE_STOP] - lists[k]):
            row, column = begin + source * rows, own
            into = trees[to, at.TREE_FRONT] + (trees[lists[k], at.TREE_PLACE] + i) * trees[to, at.TREE_ROWS]
            for n in range(start, end):
                target, wide = into + trees[lists[n], at.TREE_PLACE], trees[lists[n], at.TREE_STOP] - lists[n]
                for j in range(wide):
                    front[target + j] += front[row + column + j]
                column += wide
            source += 1


@shared
def factorize_fronts(count: int, trees: Array, lists: Array, front: Array, begun: Array) -> bool:
    """L U in place; False where a pivot is lost. begun (nv,): a workspace."""
    for number in range(count):
        first = trees[number, at.QUEUE]
        begin, rows = trees[first, at.TREE_FRONT], trees[first, at.TREE_ROWS]
        for j in range(trees[first, at.TREE_STOP] - first):
            begun[first + j] = abs(front[begin + j * (rows + 1)])
    for number in range(count):
        first = trees[number, at.QUEUE]
        own, begin, rows = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_ROWS],
        )
        if not eliminate(first, own, rows, begin, front, begun):
            return False
        if rows > own:
            pass_on(first, own, trees, lists, front)
    return True


@inline
def dot_of(count: int, a: Array, first: int, x: Array, other: int) -> float:
    """Sum of products of `count` entries."""
    total = 0.0
    for j in range(count):
        total += a[first + j] * x[other + j]
    return total


@shared
def solve_fronts(count: int, trees: Array, lists: Array, front: Array, x: Array) -> None:
    """Solve in place with the factors; x (nv,)."""
    for number in range(count):
        first = trees[number, at.QUEUE]
        own, row, rows = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_ROWS],
        )
        for i in range(own):
            x[first + i] -= dot_of(i, front, row, x, first)
            row += rows
        for k in range(trees[first, at.TREE_LIST], trees[first, at.TREE_LIST] + trees[first, at.TREE_LINKS]):
            for i in range(lists[k], trees[lists[k], at.TREE_STOP]):
                x[i] -= dot_of(own, front, row, x, first)
                row += rows
    for number in range(count - 1, -1, -1):
        first = trees[number, at.QUEUE]
        own, begin, rows = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_ROWS],
        )
        for i in range(own - 1, -1, -1):
            row = begin + i * rows
            total, place = x[first + i] - dot_of(own - i - 1, front, row + i + 1, x, first + i + 1), own
            for k in range(
                trees[first, at.TREE_LIST], trees[first, at.TREE_LIST] + trees[first, at.TREE_LINKS]
            ):
                wide = trees[lists[k], at.TREE_STOP] - lists[k]
                total -= dot_of(wide, front, row + place, x, lists[k])
                place += wide
            x[first + i] = total / front[row + i]
