"""Where a strand over several obstacles in a row keeps what: one address for each thing that its kernels share."""

from __future__ import annotations

import math

from ..algebra.spatial import Array, Vector
from ..compiler.jit import inline
from .layout import CONTACTS, ENDS, JUNCTIONS, PIECE, PIECE_SIZE, PIECES, SHAPE_WIDTH, SHAPES, TOUCHING

# What an obstacle's flag says: it is no part of the path; the path lies on it; the path passes it freely, but so near
# that a link begins there (see `wrap_link`).
AWAY, ON, NEAR_BY = 0.0, 1.0, 2.0


@inline
def kept(data: Array, record: int, what: int) -> int:
    """Where the strand keeps something."""
    return int(data[record + what])


@inline
def shape_of(record: int, obstacle: int) -> int:
    return record + SHAPES + SHAPE_WIDTH * obstacle


@inline
def piece_of(data: Array, record: int, obstacle: int) -> int:
    return int(data[record + PIECES]) + PIECE_SIZE * obstacle


@inline
def distance(own: Array) -> float:
    x, y, z = own[ENDS + 3] - own[ENDS], own[ENDS + 4] - own[ENDS + 1], own[ENDS + 5] - own[ENDS + 2]
    return math.sqrt(x * x + y * y + z * z)


@inline
def rest_rates(data: Array, record: int, own: Array) -> None:
    at = kept(data, record, PIECE)
    for k in range(12):
        own[at + k] = 0.0


@inline
def neighbour(data: Array, record: int, own: Array, count: int, obstacle: int, step: int) -> Vector:
    """The contact that the path leaves before an obstacle (step -1) or meets behind it (1), or the strand's end."""
    flags, contacts = kept(data, record, TOUCHING), kept(data, record, CONTACTS)
    other = obstacle + step
    while 0 <= other < count:
        if own[flags + other] == ON:
            at = contacts + 6 * other + (3 if step < 0 else 0)
            return own[at], own[at + 1], own[at + 2]
        other += step
    at = ENDS if step < 0 else ENDS + 3
    return own[at], own[at + 1], own[at + 2]


@inline
def list_parts(data: Array, record: int, own: Array, count: int) -> int:
    """Number the parts of the path: each obstacle that it lies on, and between these one obstacle that it passes near
    by, for the link there; how many there are.
    """
    flags = kept(data, record, TOUCHING)
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
    return int(own[kept(data, record, TOUCHING) + count + number])


@inline
def is_link(data: Array, record: int, own: Array, count: int, number: int) -> bool:
    flags = kept(data, record, TOUCHING)
    return bool(own[flags + int(own[flags + count + number])] != ON)


@inline
def junction(data: Array, record: int, own: Array, number: int, parts: int) -> Vector:
    """The point between parts number - 1 and number; the strand's ends at both ends."""
    at = kept(data, record, JUNCTIONS) + 3 * (number - 1)
    if number == 0:
        at = ENDS
    elif number == parts:
        at = ENDS + 3
    return own[at], own[at + 1], own[at + 2]
