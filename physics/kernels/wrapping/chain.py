"""A strand over several obstacles in a row: pieces over one obstacle each, joined in the middles of the lines between.

Relaxation finds the obstacles that are touched: it solves each piece in turn between the contacts next to it. Newton's
method finds the junctions: each is the middle between the contacts before and after it, or an end of a link (see
`link`) where the path passes an obstacle nearby. An obstacle that the line between its neighbours passes freely is no
piece; as a piece over it would equal that line, path and derivatives are continuous.
"""

import math

from ..algebra.access import flat3, flat9
from ..algebra.axes import put3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .geodesic import eliminate
from .link import JOINTS, ZERO, foot, lay_link, link_ends, link_rows, look_around, notes_of, place_junctions
from .piece import piece_contact, piece_path, piece_place
from .places import (
    AWAY,
    ON,
    distance,
    is_link,
    junction,
    kept,
    list_parts,
    neighbour,
    part_of,
    piece_of,
    rest_rates,
    shape_of,
)
from .surface import ELLIPSOID, level_of, surface_scale, surface_size

MOST_SWEEPS = 30
MOST_ITERATIONS = 30
MOST_ROUNDS = 12
SETTLED = 0.02  # of the distance between the ends: contacts that move less are left to Newton's method
# relaxation in later rounds almost converges, so that Newton's method finds the same path
PATIENT_ROUNDS = (3, 7)
PATIENT_SWEEPS = 200
PATIENT = 1e-4
NEAR = 1e-6  # of the distance between the ends: after a step below this, of the order of its square is left
NOTHING = 1e-11  # of a line's length: an obstacle that lifts the path by less is not touched


@inline
def curved(data: Array, record: int, obstacle: int) -> bool:
    """Whether geodesics over an obstacle are integrated."""
    return bool(int(data[shape_of(record, obstacle) + wrap.SHAPE_KIND]) >= ELLIPSOID)


@shared
def solve_piece(data: Array, record: int, own: Array, obstacle: int, a: Vector, b: Vector) -> int:
    """The path over one obstacle between two points, with the strand's PIECE of rates; keeps its gradient."""
    mine = piece_of(data, record, obstacle)
    piece = own[mine : mine + wrap.PIECE_SIZE]
    same = flat3(piece, wrap.ENDS) == a and flat3(piece, wrap.ENDS + 3) == b
    if same and piece[wrap.STATUS] == wrap.WRAPPED and curved(data, record, obstacle):
        return wrap.WRAPPED  # at rest, as before
    put3(piece, wrap.ENDS, a)
    put3(piece, wrap.ENDS + 3, b)
    for k in range(wrap.FRAME_WIDTH):
        piece[wrap.FRAMES + k] = own[wrap.FRAMES + wrap.FRAME_WIDTH * obstacle + k]
    at = kept(data, record, wrap.PIECE)
    rates, gradient = own[at : at + 12], piece[wrap.GEODESIC_SIZE : wrap.GEODESIC_SIZE + 12]
    return piece_path(data, shape_of(record, obstacle), data[record + wrap.SMOOTHING], rates, piece, gradient)


@inline
def contact(data: Array, record: int, own: Array, obstacle: int, last: bool, number: int) -> int:
    """Compute a contact into the strand's touch of this number; returns its offset."""
    mine = piece_of(data, record, obstacle)
    piece = own[mine : mine + wrap.PIECE_SIZE]
    at, into = kept(data, record, wrap.PIECE), kept(data, record, wrap.TOUCHES) + wrap.OUT_SIZE * number
    piece_contact(
        data, shape_of(record, obstacle), piece, last, own[at : at + 12], own[into : into + wrap.OUT_SIZE]
    )
    return into


@inline
def place(data: Array, record: int, own: Array, obstacle: int, last: bool) -> Vector:
    """Position of a contact of a piece that is wrapped."""
    mine = piece_of(data, record, obstacle)
    return piece_place(data, shape_of(record, obstacle), own[mine : mine + wrap.PIECE_SIZE], last)


@inline
def inside(data: Array, record: int, own: Array, obstacle: int, x: Vector) -> bool:
    """Whether a point lies inside an obstacle."""
    frame, shape = wrap.FRAMES + wrap.FRAME_WIDTH * obstacle, shape_of(record, obstacle)
    arm = rotate(transposed(flat9(own, frame)), subtract3(x, flat3(own, frame + 9)))
    radius, _, _ = surface_scale(data, shape)
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    return bool(2.0 * level_of(kind, size, arm) < radius * radius)


@inline
def meets(data: Array, record: int, own: Array, count: int, obstacle: int, first: bool) -> bool:
    """Whether an obstacle is touched between its neighbours' contacts; `first`: between the strand's ends if one of
    these lies inside it, as that one was found without it.
    """
    a, b = neighbour(data, record, own, count, obstacle, -1), neighbour(data, record, own, count, obstacle, 1)
    if first and (inside(data, record, own, obstacle, a) or inside(data, record, own, obstacle, b)):
        a, b = flat3(own, wrap.ENDS), flat3(own, wrap.ENDS + 3)
    own[piece_of(data, record, obstacle) + wrap.SENSE] = 0.0
    return bool(solve_piece(data, record, own, obstacle, a, b) == wrap.WRAPPED)


@shared
def relax(data: Array, record: int, own: Array, count: int, most: int, settled: float, fresh: bool) -> None:
    """Solve each piece between its neighbours' contacts, until they settle and the set of obstacles does not change.

    fresh: whether no obstacle is touched yet.
    """
    flags, contacts = kept(data, record, wrap.TOUCHING), kept(data, record, wrap.CONTACTS)
    rest_rates(data, record, own)
    enough = settled * distance(own)
    for sweep in range(most):
        moved, changed = 0.0, False
        for i in range(count):
            touches = meets(data, record, own, count, i, fresh and sweep == 0)
            changed = changed or touches != (own[flags + i] == ON)
            own[flags + i] = ON if touches else AWAY
            if touches:
                for side in range(2):
                    x, at = place(data, record, own, i, side == 1), contacts + 6 * i + 3 * side
                    for k in range(3):
                        moved = max(moved, abs(x[k] - own[at + k]))
                    put3(own, at, x)
        if not changed and moved < enough:
            return


@shared
def solve_pieces(data: Array, record: int, own: Array, count: int, parts: int) -> bool:
    """All pieces at rest between their junctions, and their contacts; False where one has no path over its obstacle. A
    piece without contact is the line; its contact is the nearest point.
    """
    rest_rates(data, record, own)
    touches = kept(data, record, wrap.TOUCHES)
    linked = False
    for number in range(parts):
        if is_link(data, record, own, count, number):
            linked = True
            continue
        i = part_of(data, record, own, count, number)
        a, b = junction(data, record, own, number, parts), junction(data, record, own, number + 1, parts)
        status = solve_piece(data, record, own, i, a, b)
        if status == wrap.WRAPPED:
            contact(data, record, own, i, False, 2 * number)
            contact(data, record, own, i, True, 2 * number + 1)
            continue
        first = touches + wrap.OUT_SIZE * 2 * number
        if status != wrap.STRAIGHT or not foot(data, record, own, i, a, b, first):
            return False
        for k in range(wrap.OUT_SIZE):
            own[first + wrap.OUT_SIZE + k] = own[first + k]
    if linked:
        lay_links(data, record, own, count, parts)
    return True


@shared
def lay_links(data: Array, record: int, own: Array, count: int, parts: int) -> None:
    """All links, at rest."""
    for number in range(parts):
        if is_link(data, record, own, count, number):
            lay_link(data, record, own, count, parts, number, (ZERO, ZERO), own, False)


@inline
def link_beside(data: Array, record: int, own: Array, count: int, number: int) -> int:
    """The link with an end in the junction between parts `number` and number + 1, -1 where there is none."""
    if is_link(data, record, own, count, number):
        return number
    return number + 1 if is_link(data, record, own, count, number + 1) else -1


@shared
def junction_matrix(data: Array, record: int, own: Array, count: int, parts: int, width: int) -> None:
    """Derivatives by all junctions of contact before + contact after - 2 junction, or of a link's equation."""
    matrix, touches = kept(data, record, wrap.MATRIX), kept(data, record, wrap.TOUCHES)
    size = 3 * (parts - 1)
    for row in range(size):
        for k in range(width):
            own[matrix + row * width + k] = 0.0
    for number in range(parts - 1):
        link = link_beside(data, record, own, count, number)
        if link >= 0:
            link_rows(data, record, own, count, parts, link, number + 1 - link, matrix, width)
            continue
        before = touches + wrap.OUT_SIZE * (2 * number + 1) + wrap.OUT_JACOBIAN
        after = touches + wrap.OUT_SIZE * (2 * number + 2) + wrap.OUT_JACOBIAN
        for i in range(3):
            at = matrix + (3 * number + i) * width + 3 * number
            own[at + i] -= 2.0
            for k in range(3):
                own[at + k] += own[before + 12 * i + 3 + k] + own[after + 12 * i + k]
                if number > 0:
                    own[at - 3 + k] += own[before + 12 * i + k]
                if number < parts - 2:
                    own[at + 3 + k] += own[after + 12 * i + 3 + k]


@shared
def junction_gaps(data: Array, record: int, own: Array, count: int, parts: int) -> None:
    """Residuals of the junctions, after the matrix."""
    junctions, matrix = kept(data, record, wrap.JUNCTIONS), kept(data, record, wrap.MATRIX)
    touches = kept(data, record, wrap.TOUCHES)
    size = 3 * (parts - 1)
    for number in range(parts - 1):
        link = link_beside(data, record, own, count, number)
        x = flat3(own, junctions + 3 * number)
        if link >= 0:
            a, b = link_ends(data, record, own, link, parts)
            notes = notes_of(data, record, part_of(data, record, own, count, link))
            part = own[notes + JOINTS + 3 * (number + 1 - link)]
            gap = subtract3(x, scale_add3(a, part, subtract3(b, a)))
        else:
            before = touches + wrap.OUT_SIZE * (2 * number + 1)
            a, b = flat3(own, before), flat3(own, before + wrap.OUT_SIZE)
            gap = 2.0 * x[0] - a[0] - b[0], 2.0 * x[1] - a[1] - b[1], 2.0 * x[2] - a[2] - b[2]
        for i in range(3):
            own[matrix + (3 * number + i) * (size + 1) + size] = gap[i]


@shared
def find_junctions(data: Array, record: int, own: Array, count: int, parts: int) -> bool:
    """Newton's method for the junctions; pieces and contacts are then at rest."""
    junctions, matrix = kept(data, record, wrap.JUNCTIONS), kept(data, record, wrap.MATRIX)
    size, scale = 3 * (parts - 1), distance(own)
    if not solve_pieces(data, record, own, count, parts):
        return False
    for _ in range(MOST_ITERATIONS):
        if size == 0:
            return True
        junction_matrix(data, record, own, count, parts, size + 1)
        junction_gaps(data, record, own, count, parts)
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
        if not solve_pieces(data, record, own, count, parts):
            return False
        if change < NEAR * scale:
            return True
    return False


@shared
def begin_junctions(data: Array, record: int, own: Array, count: int, parts: int) -> None:
    """Initial junctions from the known contacts."""
    junctions, contacts = kept(data, record, wrap.JUNCTIONS), kept(data, record, wrap.CONTACTS)
    touches = kept(data, record, wrap.TOUCHES)
    for number in range(parts):
        if not is_link(data, record, own, count, number):
            at, into = (
                contacts + 6 * part_of(data, record, own, count, number),
                touches + wrap.OUT_SIZE * 2 * number,
            )
            put3(own, into, flat3(own, at))
            put3(own, into + wrap.OUT_SIZE, flat3(own, at + 3))
    for number in range(parts - 1):
        before = touches + wrap.OUT_SIZE * (2 * number + 1)
        for k in range(3):
            own[junctions + 3 * number + k] = 0.5 * (own[before + k] + own[before + wrap.OUT_SIZE + k])
    lay_links(data, record, own, count, parts)
    for number in range(parts):
        if is_link(data, record, own, count, number):
            place_junctions(data, record, own, count, number, parts)


@inline
def keep_contacts(data: Array, record: int, own: Array, count: int, parts: int) -> None:
    contacts, touches = kept(data, record, wrap.CONTACTS), kept(data, record, wrap.TOUCHES)
    for number in range(parts):
        if not is_link(data, record, own, count, number):
            at = contacts + 6 * part_of(data, record, own, count, number)
            put3(own, at, flat3(own, touches + wrap.OUT_SIZE * 2 * number))
            put3(own, at + 3, flat3(own, touches + wrap.OUT_SIZE * (2 * number + 1)))


@inline
def drop_straight(data: Array, record: int, own: Array, count: int, parts: int) -> bool:
    """Whether the path does not touch an obstacle of the current set; such obstacles are removed."""
    flags = kept(data, record, wrap.TOUCHING)
    dropped = False
    for number in range(parts):
        i = part_of(data, record, own, count, number)
        if own[flags + i] == ON and int(own[piece_of(data, record, i) + wrap.STATUS]) != wrap.WRAPPED:
            own[flags + i] = AWAY
            dropped = True
    return dropped


@inline
def missed(data: Array, record: int, own: Array, count: int) -> bool:
    """Whether obstacles outside the set would be touched between the contacts next to them; these are added."""
    flags, contacts = kept(data, record, wrap.TOUCHING), kept(data, record, wrap.CONTACTS)
    rest_rates(data, record, own)
    found = False
    for i in range(count):
        if own[flags + i] == ON:
            continue
        a, b = neighbour(data, record, own, count, i, -1), neighbour(data, record, own, count, i, 1)
        own[piece_of(data, record, i) + wrap.SENSE] = 0.0
        if solve_piece(data, record, own, i, a, b) != wrap.WRAPPED:
            continue
        first, e = place(data, record, own, i, False), subtract3(b, a)
        lift = cross(subtract3(first, a), e)
        if math.sqrt(dot3(lift, lift)) > NOTHING * dot3(e, e):
            found = True
            own[flags + i] = ON
            put3(own, contacts + 6 * i, first)
            put3(own, contacts + 6 * i + 3, place(data, record, own, i, True))
    return found


@shared
def find_chain(data: Array, record: int, own: Array, count: int) -> int:
    """Parts of the path, their junctions and contacts; the number of parts, -1 where no path was found."""
    flags = kept(data, record, wrap.TOUCHING)
    for i in range(count):
        own[flags + i] = AWAY
        own[piece_of(data, record, i) + wrap.STATUS] = wrap.STRAIGHT
    relax(data, record, own, count, MOST_SWEEPS, SETTLED, True)
    for k in range(MOST_ROUNDS):
        if k in PATIENT_ROUNDS:  # Newton's method may find another path: get nearer first
            relax(data, record, own, count, PATIENT_SWEEPS, PATIENT, False)
        touched = False
        for i in range(count):
            touched = touched or own[flags + i] == ON
        if touched:
            look_around(data, record, own, count, True)
        elif not touched:
            for i in range(count):
                own[flags + i] = AWAY
        parts = list_parts(data, record, own, count)
        begin_junctions(data, record, own, count, parts)
        if parts > 0:
            if not find_junctions(data, record, own, count, parts):
                relax(data, record, own, count, MOST_SWEEPS, SETTLED, False)
                continue
            keep_contacts(data, record, own, count, parts)
            if drop_straight(data, record, own, count, parts):
                continue
        if missed(data, record, own, count):
            continue
        if parts == 0 or not look_around(data, record, own, count, False):
            return parts
    return -1
