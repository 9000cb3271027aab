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


@inline
def first_neighbour(first: int, trees: Array, lists: Array) -> int:
    """The neighbour of a tree that is eliminated first, -1 without any."""
    begin, best = trees[first, at.TREE_LIST], -1
    for k in range(begin, begin + trees[first, at.TREE_LINKS]):
        if best < 0 or trees[lists[k], at.TREE_RANK] < trees[best, at.TREE_RANK]:
            best = lists[k]
    return int(best)


@shared
def eliminate(first: int, own: int, rows: int, stride: int, begin: int, front: Array, begun: Array) -> bool:
    """L U of a front's first coordinates in place, without pivots, three at a time; False where a pivot is lost."""
    k = 0
    while k < own:
        top, wide = begin + k * stride, min(3, own - k)
        for p in range(wide):
            row = top + p * stride
            for s in range(p):
                above = top + s * stride
                factor = front[row + k + s] / front[above + k + s]
                front[row + k + s] = factor
                for j in range(k + s + 1, rows):
                    front[row + j] -= factor * front[above + j]
            if not abs(front[row + k + p]) > LOST * begun[first + k + p]:
                return False
        second, third = top + min(1, wide - 1) * stride, top + (wide - 1) * stride
        a, b = front[top + k + min(1, wide - 1)], front[top + k + wide - 1]
        c, share = front[second + k + wide - 1], 1.0 / front[top + k]
        other = 1.0 / front[second + k + 1] if wide > 1 else 0.0
        last = 1.0 / front[third + k + 2] if wide > 2 else 0.0
        for i in range(k + wide, rows):
            row = begin + i * stride
            one, two, three = share * front[row + k], 0.0, 0.0
            front[row + k] = one
            if wide > 1:
                two = other * (front[row + k + 1] - one * a)
                front[row + k + 1] = two
            if wide > 2:
                three = last * (front[row + k + 2] - one * b - two * c)
                front[row + k + 2] = three
            for j in range(k + wide, rows):
                front[row + j] -= one * front[top + j] + two * front[second + j] + three * front[third + j]
        k += wide
    return True


@shared
def pass_on(first: int, own: int, to: int, trees: Array, lists: Array, front: Array) -> None:
    """Add what remains of a tree's front to that of its first neighbour."""
    begin, stride, start = (
        trees[first, at.TREE_FRONT],
        trees[first, at.TREE_STRIDE],
        trees[first, at.TREE_LIST],
    )
    end = start + trees[first, at.TREE_LINKS]
    trees[to, at.TREE_PLACE], place = 0, trees[to, at.TREE_STOP] - to
    for k in range(trees[to, at.TREE_LIST], trees[to, at.TREE_LIST] + trees[to, at.TREE_LINKS]):
        trees[lists[k], at.TREE_PLACE] = place
        place += trees[lists[k], at.TREE_STOP] - lists[k]
    source = own
    for k in range(start, end):
        for i in range(trees[lists[k], at.TREE_STOP] - lists[k]):
            row, column = begin + source * stride, own
            into = trees[to, at.TREE_FRONT] + (trees[lists[k], at.TREE_PLACE] + i) * trees[to, at.TREE_STRIDE]
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
        begin, stride = trees[first, at.TREE_FRONT], trees[first, at.TREE_STRIDE]
        for j in range(trees[first, at.TREE_STOP] - first):
            begun[first + j] = abs(front[begin + j * (stride + 1)])
    for number in range(count):
        first = trees[number, at.QUEUE]
        own, begin, rows, stride = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_ROWS],
            trees[first, at.TREE_STRIDE],
        )
        if not eliminate(first, own, rows, stride, begin, front, begun):
            return False
        to = first_neighbour(first, trees, lists)
        if to >= 0 and trees[to, at.TREE_FRONT] != begin + own * (stride + 1):
            pass_on(first, own, to, trees, lists, front)
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
        own, row, stride = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_STRIDE],
        )
        for i in range(own):
            x[first + i] -= dot_of(i, front, row, x, first)
            row += stride
        for k in range(trees[first, at.TREE_LIST], trees[first, at.TREE_LIST] + trees[first, at.TREE_LINKS]):
            for i in range(lists[k], trees[lists[k], at.TREE_STOP]):
                x[i] -= dot_of(own, front, row, x, first)
                row += stride
    for number in range(count - 1, -1, -1):
        first = trees[number, at.QUEUE]
        own, begin, stride = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_STRIDE],
        )
        for i in range(own):
            row, place = begin + i * stride, own
            for k in range(
                trees[first, at.TREE_LIST], trees[first, at.TREE_LIST] + trees[first, at.TREE_LINKS]
            ):
                wide = trees[lists[k], at.TREE_STOP] - lists[k]
                x[first + i] -= dot_of(wide, front, row + place, x, lists[k])
                place += wide
        for i in range(own - 1, -1, -1):
            row = begin + i * stride
            total = x[first + i] - dot_of(own - i - 1, front, row + i + 1, x, first + i + 1)
            x[first + i] = total / front[row + i]
