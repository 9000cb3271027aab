"""Where a strand over several obstacles in a row lies: pieces over one obstacle each, joined in the middles of the
lines between.

Which obstacles are touched comes from relaxation: each piece in turn between the contacts next to it. Where the
junctions lie comes from Newton's method: each is the middle between the contacts before and behind it. An obstacle
that the line between its neighbours passes freely is no piece; as a piece over it would be that line, the path and
its derivatives do not notice.
"""

from __future__ import annotations

import math

from ._jit import inline, jit
from .muscle_frames import put3
from .spatial import Array, Vector
from .wrap_geodesic import eliminate
from .wrap_layout import (
    CONTACTS,
    ENDS,
    FRAME_WIDTH,
    FRAMES,
    GEODESIC_SIZE,
    JUNCTIONS,
    MATRIX,
    OUT_JACOBIAN,
    OUT_SIZE,
    PIECE,
    PIECE_SIZE,
    PIECES,
    SHAPE_WIDTH,
    SHAPES,
    SMOOTHING,
    TOUCHES,
    TOUCHING,
    WARM,
    WRAPPED,
)
from .wrap_piece import piece_contact, piece_path

MOST_SWEEPS = 30
MOST_ITERATIONS = 30
MOST_ROUNDS = 5
SETTLED = 0.02  # of the distance between the ends: contacts that move less are left to Newton's method
NEAR = 1e-9


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


@jit
def solve_piece(data: Array, record: int, own: Array, obstacle: int, a: Vector, b: Vector) -> int:
    """The path over one obstacle between two points, with the strand's PIECE of rates; its gradient stays with it."""
    mine = piece_of(data, record, obstacle)
    piece = own[mine : mine + PIECE_SIZE]
    put3(piece, ENDS, a)
    put3(piece, ENDS + 3, b)
    for k in range(FRAME_WIDTH):
        piece[FRAMES + k] = own[FRAMES + FRAME_WIDTH * obstacle + k]
    at = kept(data, record, PIECE)
    rates, gradient = own[at : at + 12], piece[GEODESIC_SIZE : GEODESIC_SIZE + 12]
    return piece_path(data, shape_of(record, obstacle), data[record + SMOOTHING], rates, piece, gradient)


@inline
def contact(data: Array, record: int, own: Array, obstacle: int, last: bool, number: int) -> int:
    """Work out a contact into the strand's touch of this number, and say where that lies."""
    mine = piece_of(data, record, obstacle)
    piece = own[mine : mine + PIECE_SIZE]
    at, into = kept(data, record, PIECE), kept(data, record, TOUCHES) + OUT_SIZE * number
    piece_contact(
        data, shape_of(record, obstacle), piece, last, own[at : at + 12], own[into : into + OUT_SIZE]
    )
    return into


@inline
def neighbour(data: Array, record: int, own: Array, count: int, obstacle: int, step: int) -> Vector:
    """The contact that the path leaves before an obstacle (step -1) or meets behind it (1), or the strand's end."""
    flags, contacts = kept(data, record, TOUCHING), kept(data, record, CONTACTS)
    other = obstacle + step
    while 0 <= other < count:
        if own[flags + other] == 1.0:
            at = contacts + 6 * other + (3 if step < 0 else 0)
            return own[at], own[at + 1], own[at + 2]
        other += step
    at = ENDS if step < 0 else ENDS + 3
    return own[at], own[at + 1], own[at + 2]


@inline
def rest_rates(data: Array, record: int, own: Array) -> None:
    at = kept(data, record, PIECE)
    for k in range(12):
        own[at + k] = 0.0


@jit
def relax(data: Array, record: int, own: Array, count: int, most: int) -> bool:
    """Lay each piece anew between its neighbours' contacts, until little moves; True if no obstacle was gained or
    lost.
    """
    flags, contacts = kept(data, record, TOUCHING), kept(data, record, CONTACTS)
    rest_rates(data, record, own)
    enough = SETTLED * distance(own)
    same = True
    for _ in range(most):
        moved, changed = 0.0, False
        for i in range(count):
            a, b = neighbour(data, record, own, count, i, -1), neighbour(data, record, own, count, i, 1)
            touches = solve_piece(data, record, own, i, a, b) == WRAPPED
            if touches != (own[flags + i] == 1.0):
                changed, same = True, False
            own[flags + i] = 1.0 if touches else 0.0
            if touches:
                for side in range(2):
                    at = contact(data, record, own, i, side == 1, 0)
                    for k in range(3):
                        place = contacts + 6 * i + 3 * side + k
                        moved = max(moved, abs(own[at + k] - own[place]))
                        own[place] = own[at + k]
        if not changed and moved < enough:
            return same
    return same


@inline
def list_touching(data: Array, record: int, own: Array, count: int) -> int:
    """Number the touching obstacles; how many there are."""
    flags = kept(data, record, TOUCHING)
    active = 0
    for i in range(count):
        if own[flags + i] == 1.0:
            own[flags + count + active] = i
            active += 1
    return active


@inline
def touching(data: Array, record: int, own: Array, count: int, number: int) -> int:
    return int(own[kept(data, record, TOUCHING) + count + number])


@inline
def junction(data: Array, record: int, own: Array, number: int, active: int) -> Vector:
    """The point between pieces number - 1 and number; the strand's ends at both ends."""
    at = kept(data, record, JUNCTIONS) + 3 * (number - 1)
    if number == 0:
        at = ENDS
    elif number == active:
        at = ENDS + 3
    return own[at], own[at + 1], own[at + 2]


@jit
def solve_pieces(data: Array, record: int, own: Array, count: int, active: int) -> bool:
    """All touching pieces at rest between their junctions, and their contacts; False where one does not touch."""
    rest_rates(data, record, own)
    flags = kept(data, record, TOUCHING)
    good = True
    for number in range(active):
        i = touching(data, record, own, count, number)
        a, b = junction(data, record, own, number, active), junction(data, record, own, number + 1, active)
        if solve_piece(data, record, own, i, a, b) != WRAPPED:
            own[flags + i] = 0.0
            good = False
            continue
        contact(data, record, own, i, False, 2 * number)
        contact(data, record, own, i, True, 2 * number + 1)
    return good


@jit
def junction_matrix(data: Array, record: int, own: Array, active: int, width: int) -> None:
    """Derivatives by all junctions of: contact before + contact behind - 2 junction."""
    matrix, touches = kept(data, record, MATRIX), kept(data, record, TOUCHES)
    size = 3 * (active - 1)
    for row in range(size):
        for k in range(width):
            own[matrix + row * width + k] = 0.0
    for number in range(active - 1):
        before = touches + OUT_SIZE * (2 * number + 1) + OUT_JACOBIAN
        behind = touches + OUT_SIZE * (2 * number + 2) + OUT_JACOBIAN
        for i in range(3):
            at = matrix + (3 * number + i) * width + 3 * number
            own[at + i] -= 2.0
            for k in range(3):
                own[at + k] += own[before + 12 * i + 3 + k] + own[behind + 12 * i + k]
                if number > 0:
                    own[at - 3 + k] += own[before + 12 * i + k]
                if number < active - 2:
                    own[at + 3 + k] += own[behind + 12 * i + 3 + k]


@jit
def find_junctions(data: Array, record: int, own: Array, count: int, active: int) -> bool:
    """Newton's method for the junctions; the pieces and contacts are then those at rest."""
    junctions, matrix = kept(data, record, JUNCTIONS), kept(data, record, MATRIX)
    touches = kept(data, record, TOUCHES)
    size, scale = 3 * (active - 1), distance(own)
    if not solve_pieces(data, record, own, count, active):
        return False
    for _ in range(MOST_ITERATIONS):
        if size == 0:
            return True
        junction_matrix(data, record, own, active, size + 1)
        for number in range(active - 1):
            before = touches + OUT_SIZE * (2 * number + 1)
            behind = before + OUT_SIZE
            for i in range(3):
                row = 3 * number + i
                gap = 2.0 * own[junctions + row] - own[before + i] - own[behind + i]
                own[matrix + row * (size + 1) + size] = gap
        if eliminate(own, matrix, size, size + 1) == 0.0:
            return False
        change = 0.0
        for row in range(size):
            change = max(change, abs(own[matrix + row * (size + 1) + size]))
        if not change < 1e300:
            return False
        share = min(1.0, 0.2 * scale / change) if change > 0.0 else 1.0
        for row in range(size):
            own[junctions + row] += share * own[matrix + row * (size + 1) + size]
        if not solve_pieces(data, record, own, count, active):
            return False
        if change < NEAR * scale:
            return True
    return False


@inline
def begin_junctions(data: Array, record: int, own: Array, count: int, active: int) -> None:
    """Junctions in the middles between contacts."""
    junctions, contacts = kept(data, record, JUNCTIONS), kept(data, record, CONTACTS)
    for number in range(active - 1):
        before = contacts + 6 * touching(data, record, own, count, number) + 3
        behind = contacts + 6 * touching(data, record, own, count, number + 1)
        for k in range(3):
            own[junctions + 3 * number + k] = 0.5 * (own[before + k] + own[behind + k])


@inline
def keep_contacts(data: Array, record: int, own: Array, count: int, active: int) -> None:
    contacts, touches = kept(data, record, CONTACTS), kept(data, record, TOUCHES)
    for number in range(active):
        at = contacts + 6 * touching(data, record, own, count, number)
        for k in range(3):
            own[at + k] = own[touches + OUT_SIZE * 2 * number + k]
            own[at + 3 + k] = own[touches + OUT_SIZE * (2 * number + 1) + k]


@inline
def missed(data: Array, record: int, own: Array, count: int) -> bool:
    """Whether an obstacle that is left out would be touched between the contacts next to it."""
    flags = kept(data, record, TOUCHING)
    rest_rates(data, record, own)
    for i in range(count):
        if own[flags + i] == 0.0:
            a, b = neighbour(data, record, own, count, i, -1), neighbour(data, record, own, count, i, 1)
            if solve_piece(data, record, own, i, a, b) == WRAPPED:
                return True
    return False


@jit
def find_chain(data: Array, record: int, own: Array, count: int) -> int:
    """Touching obstacles, junctions and contacts of the strand; how many obstacles touch, -1 where no path was found.

    A strand that was solved before begins with what it had.
    """
    flags = kept(data, record, TOUCHING)
    warm = own[WARM] == 1.0
    if not warm:
        for i in range(count):
            own[flags + i] = 0.0
    for _ in range(MOST_ROUNDS):
        if not warm:
            relax(data, record, own, count, MOST_SWEEPS)
        active = list_touching(data, record, own, count)
        if not warm:
            begin_junctions(data, record, own, count, active)
        warm = False
        if active > 0:
            if not find_junctions(data, record, own, count, active):
                continue
            keep_contacts(data, record, own, count, active)
        if not missed(data, record, own, count):
            return active
    return -1
