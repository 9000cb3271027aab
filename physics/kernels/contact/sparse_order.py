"""Order of elimination of an island's trees, and the fronts that it needs (see `sparse`).

The next tree is one with the fewest neighbours; these become neighbours of each other (minimum degree, George & Liu
1989).
"""

from __future__ import annotations

from .. import layout as tree
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.response import impulse_response
from . import sparse_layout as at
from .sparse_fronts import first_neighbour


@inline
def note_tree(first: int, k: int, number: int, sparse: Array) -> bool:
    """Queue a tree and begin the list of its units, with its coordinates and bodies from row k; False if it shares its
    range.
    """
    (_, _, spans), trees = sparse[at.JACOBIAN], sparse[at.TREES]
    for side in (con.SPAN_FIRST, con.SPAN_SECOND):
        if spans[k, side] == first and spans[k, side + 1] > first:
            trees[number, at.QUEUE] = first
            trees[first, at.TREE_HEAD], trees[first, at.TREE_MARK] = -1, 0
            trees[first, at.TREE_STOP] = spans[k, side + 1]
            trees[first, at.TREE_BODY], trees[first, at.TREE_LAST] = spans[k, side + 2], spans[k, side + 3]
            return True
    return False


@inline
def same_tree(numbers: Array, first: int, stop: int) -> bool:
    """Whether coordinates first to stop are of one tree."""
    same = True
    for d in range(first, stop):
        same = same and numbers[d, con.TREE] == first
    return same


@shared
def list_units(cones: int, m: int, numbers: Array, sparse: Array) -> int:
    """List the contacts and single rows of each tree that they move, and queue the trees; returns their number, or
    -1 if one row moves more than two, or trees alternate.
    """
    (values, columns, spans), units = sparse[at.JACOBIAN], sparse[at.UNITS]
    trees, count = sparse[at.TREES], 0
    for i in range(m):
        for c in range(spans[units[i, at.UNIT_ROW], con.SPAN_COUNT]):
            trees[numbers[columns[units[i, at.UNIT_ROW], c], con.TREE], at.TREE_HEAD] = -2
    i = 0
    while i < m:
        width = 3 if i < cones else 1
        units[i, at.UNIT_TREE], units[i, at.UNIT_TREE + 1] = -1, -1
        for j in range(width):
            k = units[i + j, at.UNIT_ROW]
            for c in range(spans[k, con.SPAN_COUNT]):
                first = numbers[columns[k, c], con.TREE]
                if values[k, c] == 0.0 or first == units[i, at.UNIT_TREE]:
                    continue
                if first == units[i, at.UNIT_TREE + 1]:
                    continue
                side = 0 if units[i, at.UNIT_TREE] < 0 else 1
                if units[i, at.UNIT_TREE + side] >= 0:
                    return -1
                if trees[first, at.TREE_HEAD] == -2:
                    if not note_tree(first, k, count, sparse):
                        return -1
                    count += 1
                    if not same_tree(numbers, first, trees[first, at.TREE_STOP]):
                        return -1
                units[i, at.UNIT_TREE + side] = first
                units[i, at.UNIT_LINK + side] = trees[first, at.TREE_HEAD]
                trees[first, at.TREE_HEAD] = 2 * i + side
        i += width
    return count


@inline
def add_neighbour(tree: int, other: int, end: int, sparse: Array) -> int:
    """Append to the last list; returns the lists' new end, -1 if there is no more room. No tree is listed twice."""
    trees, lists = sparse[at.TREES], sparse[at.LISTS]
    if end < 0 or other < 0 or trees[other, at.TREE_MARK] == trees[tree, at.TREE_MARK]:
        return end
    if end == lists.shape[0]:
        return -1
    trees[other, at.TREE_MARK], lists[end] = trees[tree, at.TREE_MARK], other
    return end + 1


@shared
def list_neighbours(count: int, sparse: Array) -> int:
    """List the trees that share a unit with each one; returns the lists' end, -1 if there is no room."""
    trees, units, end = sparse[at.TREES], sparse[at.UNITS], 0
    for number in range(count):
        first = trees[number, at.QUEUE]
        begin, link = end, trees[first, at.TREE_HEAD]
        trees[first, at.TREE_MARK] = number + 1
        while link >= 0:
            i, side = link // 2, link % 2
            end = add_neighbour(first, units[i, at.UNIT_TREE + 1 - side], end, sparse)
            link = units[i, at.UNIT_LINK + side]
        trees[first, at.TREE_LIST], trees[first, at.TREE_LINKS] = begin, end - begin
    return end


@shared
def join(tree: int, gone: int, mark: int, end: int, sparse: Array) -> int:
    """List the neighbours of a tree that is eliminated as those of one of them; returns the lists' new end."""
    trees, lists, begin = sparse[at.TREES], sparse[at.LISTS], end
    trees[tree, at.TREE_MARK] = trees[gone, at.TREE_MARK] = mark
    for source in (tree, gone):
        first = trees[source, at.TREE_LIST]
        for k in range(first, first + trees[source, at.TREE_LINKS]):
            end = add_neighbour(tree, lists[k], end, sparse)
    trees[tree, at.TREE_LIST], trees[tree, at.TREE_LINKS] = begin, end - begin
    return end


@shared
def order_trees(count: int, sparse: Array) -> bool:
    """Order of elimination of the queued trees, with their neighbours that follow; False if the lists lack room."""
    trees, lists, end, mark = sparse[at.TREES], sparse[at.LISTS], list_neighbours(count, sparse), count
    for number in range(count):
        best, fewest = number, trees[trees[number, at.QUEUE], at.TREE_LINKS]
        for k in range(number + 1, count if fewest > 1 else 0):
            links = trees[trees[k, at.QUEUE], at.TREE_LINKS]
            if links < fewest:
                best, fewest = k, links
        first = trees[best, at.QUEUE]
        trees[best, at.QUEUE], trees[number, at.QUEUE] = trees[number, at.QUEUE], first
        trees[first, at.TREE_RANK] = number
        begin = trees[first, at.TREE_LIST]
        for k in range(begin, begin + fewest):
            mark += 1
            end = join(lists[k], first, mark, end, sparse)
            if end < 0:
                return False
    return end >= 0


@inline
def is_rest(to: int, first: int, trees: Array) -> bool:
    """Whether the front of a tree's first neighbour has just what remains of its own."""
    return bool(to >= 0 and trees[to, at.TREE_LINKS] == trees[first, at.TREE_LINKS] - 1)


@shared
def align_lists(count: int, sparse: Array) -> None:
    """Give a tree's neighbours the order that they have in the front of its first one, if this has the same."""
    trees, lists = sparse[at.TREES], sparse[at.LISTS]
    for number in range(count - 1, -1, -1):
        first = trees[number, at.QUEUE]
        to, begin = first_neighbour(first, trees, lists), trees[first, at.TREE_LIST]
        if is_rest(to, first, trees):
            lists[begin], other = to, trees[to, at.TREE_LIST]
            for k in range(trees[to, at.TREE_LINKS]):
                lists[begin + 1 + k] = lists[other + k]


@inline
def place_front(first: int, rows: int, end: int, trees: Array) -> int:
    """Place a tree's front, unless it has a place, at the end; returns the end behind it."""
    trees[first, at.TREE_ROWS] = rows
    if trees[first, at.TREE_FRONT] >= 0:
        return end
    trees[first, at.TREE_FRONT], trees[first, at.TREE_STRIDE] = end, rows
    return end + rows * rows


@shared
def lay_out(count: int, sparse: Array) -> int:
    """Room for mass matrices and fronts, and each unit's front, that of its first tree; returns the last one's end. A
    front lies inside that of a tree before whose first neighbour it is, if both have the same neighbours.
    """
    trees, lists, units, end = sparse[at.TREES], sparse[at.LISTS], sparse[at.UNITS], 0
    align_lists(count, sparse)
    for number in range(count):
        first = trees[number, at.QUEUE]
        trees[first, at.TREE_MASS], trees[first, at.TREE_FRONT] = end, -1
        end += (trees[first, at.TREE_STOP] - first) ** 2
    for number in range(count):
        first = trees[number, at.QUEUE]
        own, begin, link = (
            trees[first, at.TREE_STOP] - first,
            trees[first, at.TREE_LIST],
            trees[first, at.TREE_HEAD],
        )
        rows = own
        for k in range(begin, begin + trees[first, at.TREE_LINKS]):
            trees[lists[k], at.TREE_PLACE] = rows
            rows += trees[lists[k], at.TREE_STOP] - lists[k]
        end = place_front(first, rows, end, trees)
        to = first_neighbour(first, trees, lists)
        if is_rest(to, first, trees) and trees[to, at.TREE_FRONT] < 0:
            trees[to, at.TREE_STRIDE] = trees[first, at.TREE_STRIDE]
            trees[to, at.TREE_FRONT] = trees[first, at.TREE_FRONT] + own * (trees[first, at.TREE_STRIDE] + 1)
        while link >= 0:
            i, side = link // 2, link % 2
            other = units[i, at.UNIT_TREE + 1 - side]
            if other < 0 or trees[other, at.TREE_RANK] > number:
                units[i, at.UNIT_FRONT], units[i, at.UNIT_PLACE + side] = first, 0
                units[i, at.UNIT_PLACE + 1 - side] = trees[other, at.TREE_PLACE] if other >= 0 else 0
            link = units[i, at.UNIT_LINK + side]
    return end


@inline
def invert(size: int, begin: int, a: Array) -> bool:
    """Invert a symmetric positive definite matrix, stored row by row from `begin` on, in place."""
    for k in range(size):
        pivot = a[begin + k * size + k]
        if not pivot > 0.0:
            return False
        a[begin + k * size + k] = 1.0
        for j in range(size):
            a[begin + k * size + j] /= pivot
        for i in range(size):
            if i != k:
                factor = a[begin + i * size + k]
                a[begin + i * size + k] = 0.0
                for j in range(size):
                    a[begin + i * size + j] -= factor * a[begin + k * size + j]
    return True


@shared
def find_masses(body_int: Array, count: int, work: Array, dof: Array, sparse: Array) -> bool:
    """The mass matrices of the queued trees' coordinates, the inverse of their responses; of prescribed ones the
    identity. Returns False if one has none.
    """
    trees, mass = sparse[at.TREES], sparse[at.FRONTS]
    pushes, motion = sparse[at.MOTIONS][at.PUSHES], sparse[at.MOTIONS][at.MOTION]
    for number in range(count):
        first = trees[number, at.QUEUE]
        stop, begin = trees[first, at.TREE_STOP], trees[first, at.TREE_MASS]
        own = stop - first
        for j in range(own):
            held = dof[first + j, tree.HELD] != 0.0
            if not held:
                pushes[first + j] = 1.0
                impulse_response(
                    body_int,
                    trees[first, at.TREE_BODY],
                    trees[first, at.TREE_LAST],
                    pushes,
                    motion,
                    work,
                    dof,
                )
                pushes[first + j] = 0.0
            for e in range(own):
                keep = not held and dof[first + e, tree.HELD] == 0.0
                own_place = 1.0 if e == j else 0.0
                mass[begin + j * own + e] = motion[first + e] if keep else own_place
            for e in range(first, stop):
                motion[e] = 0.0
        if not invert(own, begin, mass):
            return False
    return True
