"""Sparse L D L^T of a symmetric positive definite matrix of 3 x 3 blocks, column by column.

Kept are Y = L D below the diagonal and the inverses of the blocks of D. Which blocks fill is known from
`soft.ordering`.
"""

from __future__ import annotations

from ..algebra.lanes import (
    Columns,
    columns_times,
    lanes_of,
    load_lanes,
    numbers_of,
    scale_add_lanes,
    store_lanes,
)
from ..algebra.vectors import Array, Vector, subtract3
from ..compiler.jit import inline, shared
from . import layout as at
from .nodes import column3, number3, transposed_times, write3


@inline
def block(blocks: Array, b: int) -> Columns:
    return load_lanes(blocks, b, 0), load_lanes(blocks, b, 4), load_lanes(blocks, b, 8)


@inline
def invert_block(blocks: Array, b: int, inverses: Array) -> bool:
    """The inverse of a symmetric block; False unless it is positive definite."""
    xx, yy, zz = blocks[b, 0], blocks[b, 5], blocks[b, 10]
    xy, xz, yz = blocks[b, 1], blocks[b, 2], blocks[b, 6]
    first, second, third = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    volume = xx * first + xy * second + xz * third
    if not (xx > 0.0 and xx * yy - xy * xy > 0.0 and volume > 0.0):
        return False
    share = 1.0 / volume
    inverses[b, 0], inverses[b, 5], inverses[b, 10] = (
        first * share,
        (xx * zz - xz * xz) * share,
        (xx * yy - xy * xy) * share,
    )
    inverses[b, 1] = inverses[b, 4] = second * share
    inverses[b, 2] = inverses[b, 8] = third * share
    inverses[b, 6] = inverses[b, 9] = (xy * xz - xx * yz) * share
    return True


@inline
def take_product(blocks: Array, target: int, y: Columns, rows: tuple[Vector, Vector, Vector]) -> None:
    """Subtract Y L^T from a block; rows are those of L^T."""
    for c in range(3):
        column = load_lanes(blocks, target, 4 * c)
        column = scale_add_lanes(column, -rows[0][c], y[0])
        column = scale_add_lanes(column, -rows[1][c], y[1])
        store_lanes(blocks, target, 4 * c, scale_add_lanes(column, -rows[2][c], y[2]))


@shared
def factorize(mesh: Array, space: Array) -> int:
    """Factors in place of the blocks; returns -1, or the first node at which the matrix is not positive definite."""
    columns, rows, starts, entries = mesh[at.COLUMNS], mesh[at.ROWS], mesh[at.ENTRY_STARTS], mesh[at.ENTRIES]
    blocks, inverses, place = space[at.BLOCKS], space[at.INVERSES], space[at.PLACE]
    count = columns.shape[0] - 1
    for j in range(count):
        for n in range(columns[j], columns[j + 1]):
            place[rows[n]] = count + n
        for e in range(starts[j], starts[j + 1]):
            k, n = entries[e, 0], entries[e, 1]
            inverse = block(inverses, k)
            own = block(blocks, count + n)
            # D^-1 Y^T by rows: L = Y D^-1 by columns
            right = (
                numbers_of(columns_times(own, numbers_of(inverse[0]))),
                numbers_of(columns_times(own, numbers_of(inverse[1]))),
                numbers_of(columns_times(own, numbers_of(inverse[2]))),
            )
            take_product(blocks, j, own, right)
            for m in range(n + 1, columns[k + 1]):
                take_product(blocks, place[rows[m]], block(blocks, count + m), right)
        if not invert_block(blocks, j, inverses):
            return j
    return -1


@shared
def solve_forward(mesh: Array, space: Array, x: Array) -> None:
    """L^-1 x in place."""
    columns, rows = mesh[at.COLUMNS], mesh[at.ROWS]
    blocks, inverses = space[at.BLOCKS], space[at.INVERSES]
    count = columns.shape[0] - 1
    for j in range(count):
        t = numbers_of(columns_times(block(inverses, j), number3(x, j)))
        for n in range(columns[j], columns[j + 1]):
            own = lanes_of(number3(x, rows[n]))
            y = block(blocks, count + n)
            own = scale_add_lanes(scale_add_lanes(own, -t[0], y[0]), -t[1], y[1])
            write3(x, rows[n], numbers_of(scale_add_lanes(own, -t[2], y[2])))


@shared
def solve_backward(mesh: Array, space: Array, x: Array) -> None:
    """L^-T D^-1 x in place."""
    columns, rows = mesh[at.COLUMNS], mesh[at.ROWS]
    blocks, inverses = space[at.BLOCKS], space[at.INVERSES]
    count = columns.shape[0] - 1
    for j in range(count - 1, -1, -1):
        own = number3(x, j)
        for n in range(columns[j], columns[j + 1]):
            own = subtract3(own, transposed_times(blocks, count + n, number3(x, rows[n])))
        write3(x, j, numbers_of(columns_times(block(inverses, j), own)))


@shared
def solve_forward_many(mesh: Array, space: Array, many: Array) -> None:
    """L^-1 of all columns of many (3 free nodes, columns) in place; rows of zeros cost nothing."""
    columns, rows = mesh[at.COLUMNS], mesh[at.ROWS]
    blocks, inverses = space[at.BLOCKS], space[at.INVERSES]
    count, width = columns.shape[0] - 1, many.shape[1]
    for j in range(count):
        some = False
        for i in range(width):
            a, b, c = column3(many, j, i)
            some |= a != 0.0 or b != 0.0 or c != 0.0
        if not some:
            continue
        inverse = block(inverses, j)
        for n in range(columns[j], columns[j + 1]):
            y, row = block(blocks, count + n), 3 * rows[n]
            # Y D^-1 by columns
            one = numbers_of(columns_times(y, numbers_of(inverse[0])))
            two = numbers_of(columns_times(y, numbers_of(inverse[1])))
            three = numbers_of(columns_times(y, numbers_of(inverse[2])))
            for i in range(width):
                a, b, c = column3(many, j, i)
                many[row, i] -= one[0] * a + two[0] * b + three[0] * c
                many[row + 1, i] -= one[1] * a + two[1] * b + three[1] * c
                many[row + 2, i] -= one[2] * a + two[2] * b + three[2] * c
