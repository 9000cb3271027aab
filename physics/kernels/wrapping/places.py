"""Offsets in the memory of a strand over several obstacles in a row, shared by its kernels."""

import math

from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline
from . import layout as wrap

# An obstacle's flag: it is no part of the path; the path touches it; the path passes it freely, but so near that a link
# begins there (see `link`).
AWAY, ON, NEAR_BY = 0.0, 1.0, 2.0


@inline
def kept(data: Array, record: int, what: int) -> int:
    """Offset of an entry in the strand's memory."""
    return int(data[record + what])


@inline
def shape_of(record: int, obstacle: int) -> int:
    return record + wrap.SHAPES + wrap.SHAPE_WIDTH * obstacle


@inline
def piece_of(data: Array, record: int, obstacle: int) -> int:
    return int(data[record + wrap.PIECES]) + wrap.PIECE_SIZE * obstacle


@inline
def distance(own: Array) -> float:
    x, y, z = (
        own[wrap.ENDS + 3] - own[wrap.ENDS],
        own[wrap.ENDS + 4] - own[wrap.ENDS + 1],
        own[wrap.ENDS + 5] - own[wrap.ENDS + 2],
    )
    return math.sqrt(x * x + y * y + z * z)


@inline
def rest_rates(data: Array, record: int, own: Array) -> None:
    at = kept(data, record, wrap.PIECE)
    for k in range(12):
        own[at + k] = 0.0


@inline
def neighbour(data: Array, record: int, own: Array, count: int, obstacle: int, step: int) -> Vector:
    """The contact before an obstacle (step -1) or after it (1), or the strand's end."""
    flags, contacts = kept(data, record, wrap.TOUCHING), kept(data, record, wrap.CONTACTS)
    other = obstacle + step
    while 0 <= other < count:
        if own[flags + other] == ON:
            at = contacts + 6 * other + (3 if step < 0 else 0)
            return own[at], own[at + 1], own[at + 2]
        other += step
    at = wrap.ENDS if step < 0 else wrap.ENDS + 3
    return own[at], own[at + 1], own[at + 2]


@inline
def list_parts(data: Array, record: int, own: Array, count: int) -> int:
    """Number the parts of the path: each touched obstacle, and between these one obstacle nearby for each link; returns
    their number.
    """
    flags = kept(data, record, wrap.TOUCHING)
    parts, linked = 0, False
    for i in range(count):
        if own[flags + i] == ON or (own[flags + i] == NEAR_BY and not linked):
            linked = own[flags + i] == NEAR_BY
            own[flags + count + parts] = i
            parts += 1
    return parts


@inline
def part_of(data: Array, record: int, own: Array, count: int, number: int) -> int:
    """The obstacle of a part of the path."""
    return int(own[kept(data, record, wrap.TOUCHING) + count + number])


@inline
def is_link(data: Array, record: int, own: Array, count: int, number: int) -> bool:
    flags = kept(data, record, wrap.TOUCHING)
    return bool(own[flags + int(own[flags + count + number])] != ON)


@inline
def junction(data: Array, record: int, own: Array, number: int, parts: int) -> Vector:
    """The point between parts number - 1 and number; the strand's ends at both ends."""
    at = kept(data, record, wrap.JUNCTIONS) + 3 * (number - 1)
    if number == 0:
        at = wrap.ENDS
    elif number == parts:
        at = wrap.ENDS + 3
    return own[at], own[at + 1], own[at + 2]
