"""Order of an island's trees, so that those in touch are near each other, and room for the band (see `sparse`)."""

from __future__ import annotations

from .. import layout as tree
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.response import impulse_response
from . import sparse_layout as at


@inline
def note_tree(first: int, k: int, sparse: Array) -> bool:
    """Begin the list of a tree's units, with its coordinates and bodies from row k; False if it shares its range."""
    (_, _, spans), trees = sparse[at.JACOBIAN], sparse[at.PLACES]
    for side in (con.SPAN_FIRST, con.SPAN_SECOND):
        if spans[k, side] == first and spans[k, side + 1] > first:
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
    """List the contacts and single rows of each tree that they move; returns a tree, or -1 if one row moves more than
    two, or trees alternate.
    """
    (values, columns, spans), units = sparse[at.JACOBIAN], sparse[at.UNITS]
    trees, any_tree = sparse[at.PLACES], -1
    for i in range(m):
        for c in range(spans[units[i, at.UNIT_ROW], con.SPAN_COUNT]):
            trees[columns[units[i, at.UNIT_ROW], c], at.PLACE] = 0
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
                    if not note_tree(first, k, sparse):
                        return -1
                    if not same_tree(numbers, first, trees[first, at.TREE_STOP]):
                        return -1
                units[i, at.UNIT_TREE + side] = first
                units[i, at.UNIT_LINK + side] = trees[first, at.TREE_HEAD]
                trees[first, at.TREE_HEAD] = 2 * i + side
                any_tree = first
        i += width
    return any_tree


@shared
def walk(start: int, mark: int, sparse: Array) -> int:
    """Queue a tree and all that are coupled with it, neighbours first; returns their number."""
    trees, units = sparse[at.PLACES], sparse[at.UNITS]
    trees[0, at.QUEUE], trees[start, at.TREE_MARK] = start, mark
    done, count = 0, 1
    while done < count:
        link = trees[trees[done, at.QUEUE], at.TREE_HEAD]
        while link >= 0:
            i, side = link // 2, link % 2
            other = units[i, at.UNIT_TREE + 1 - side]
            if other >= 0 and trees[other, at.TREE_MARK] != mark:
                trees[count, at.QUEUE], trees[other, at.TREE_MARK] = other, mark
                count += 1
            link = units[i, at.UNIT_LINK + side]
        done += 1
    return count


@shared
def lay_out(count: int, sparse: Array) -> tuple[int, int]:
    """Places of the queued trees' coordinates and the ends of the band's rows; returns the number of coordinates, and
    the size of mass matrices and band.
    """
    trees, units = sparse[at.PLACES], sparse[at.UNITS]
    size, mass = 0, 0
    for number in range(count):
        first = trees[number, at.QUEUE]
        own = trees[first, at.TREE_STOP] - first
        trees[first, at.TREE_PLACE], trees[first, at.TREE_MASS] = size, mass
        for j in range(own):
            trees[first + j, at.PLACE] = size + j
        size, mass = size + own, mass + own * own
    for number in range(count):
        first = trees[number, at.QUEUE]
        begin = trees[first, at.TREE_PLACE]
        end = begin + trees[first, at.TREE_STOP] - first
        low, link = begin, trees[first, at.TREE_HEAD]
        while link >= 0:
            i, side = link // 2, link % 2
            if units[i, at.UNIT_TREE + 1 - side] >= 0:
                low = min(low, trees[units[i, at.UNIT_TREE + 1 - side], at.TREE_PLACE])
            link = units[i, at.UNIT_LINK + side]
        for j in range(begin, end):
            trees[j, at.LOW] = low
        for j in range(low, end):
            trees[j, at.HIGH] = end
    band = mass
    for j in range(size):
        trees[j, at.BEGIN] = band
        band += trees[j, at.HIGH] - trees[j, at.LOW]
    return size, band


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
    trees, mass = sparse[at.PLACES], sparse[at.BAND]
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
