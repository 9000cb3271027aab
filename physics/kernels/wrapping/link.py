"""Straight lines between the pieces of a strand past obstacles that it almost touches.

A smoothed piece depends on the distance of its junctions. Where the path leaves the next obstacle, its junction must
therefore not jump to the middle of the line to the one after: it moves there as the line between the contacts clears
the obstacle between, and the part of that line between both junctions is a link. `near` finds where such a line is
nearest to obstacles.
"""

import math

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .near import NEAR_SIZE, PART, PART_BY, SHARE, SHARE_BY, pass_by
from .places import NEAR_BY, ON, junction, kept, neighbour, part_of, piece_of, shape_of
from .planar import store_jet

# after the data of `near` for an obstacle next to the line: weights of both junctions for its parameter and its share
HEEDED = NEAR_SIZE
# of the whole link: both junctions as parameters of the line between the contacts, with two derivatives in time, and
# their derivatives by these contacts
JOINTS, JOINTS_BY = HEEDED + 4, HEEDED + 10
ZERO = (0.0, 0.0, 0.0)


@inline
def notes_of(data: Array, record: int, obstacle: int) -> int:
    """Offset of the data of an obstacle next to the line: in the memory of its piece, which does not exist then."""
    return piece_of(data, record, obstacle) + wrap.START


@inline
def pass_obstacle(
    data: Array,
    record: int,
    own: Array,
    obstacle: int,
    ends: tuple[Vector, Vector],
    rates: tuple[Vector, Vector, Vector, Vector],
) -> bool:
    frame, into = wrap.FRAMES + wrap.FRAME_WIDTH * obstacle, notes_of(data, record, obstacle)
    width = data[record + wrap.SMOOTHING]
    return bool(pass_by(data, shape_of(record, obstacle), width, own, frame, into, ends, rates))


@shared
def look_around(data: Array, record: int, own: Array, count: int, mark: bool) -> bool:
    """Whether a line between two contacts without a link passes an obstacle nearby; `mark`: flag all such obstacles."""
    if data[record + wrap.SMOOTHING] == 0.0:
        return False
    flags = kept(data, record, wrap.TOUCHING)
    lacking, linked, near = False, False, False
    for i in range(count):
        if own[flags + i] == ON:
            lacking = lacking or (near and not linked)
            linked, near = False, False
            continue
        linked = linked or own[flags + i] == NEAR_BY
        a, b = neighbour(data, record, own, count, i, -1), neighbour(data, record, own, count, i, 1)
        pass_obstacle(data, record, own, i, (a, b), (ZERO, ZERO, ZERO, ZERO))
        heeded = own[notes_of(data, record, i) + SHARE] > 0.0
        near = near or heeded
        if mark:
            own[flags + i] = NEAR_BY if heeded else 0.0
    return bool(lacking or (near and not linked))


@inline
def touch_before(data: Array, record: int, number: int) -> int:
    """The contact before a link, in TOUCHES; -1 at the strand's beginning."""
    return -1 if number == 0 else kept(data, record, wrap.TOUCHES) + wrap.OUT_SIZE * (2 * number - 1)


@inline
def touch_behind(data: Array, record: int, number: int, parts: int) -> int:
    """The contact after a link, in TOUCHES; -1 at the strand's end."""
    return -1 if number == parts - 1 else kept(data, record, wrap.TOUCHES) + wrap.OUT_SIZE * 2 * (number + 1)


@inline
def link_ends(data: Array, record: int, own: Array, number: int, parts: int) -> tuple[Vector, Vector]:
    """The contacts on both sides of a link."""
    first, last = touch_before(data, record, number), touch_behind(data, record, number, parts)
    return flat3(own, first if first >= 0 else wrap.ENDS), flat3(own, last if last >= 0 else wrap.ENDS + 3)


@inline
def between(data: Array, record: int, own: Array, count: int, number: int, parts: int) -> tuple[int, int]:
    """The obstacles next to the line of a link: from the first up to before the last."""
    first = 0 if number == 0 else part_of(data, record, own, count, number - 1) + 1
    last = count if number == parts - 1 else part_of(data, record, own, count, number + 1)
    return first, last


@shared
def lay_link(
    data: Array,
    record: int,
    own: Array,
    count: int,
    parts: int,
    number: int,
    velocities: tuple[Vector, Vector],
    rates: Array,
    moving: bool,
) -> None:
    """Both junctions of a link as parameters of the line between the contacts.

    From one obstacle to the next each depends most on the one nearest to its own contact: where the line comes as near
    as when the path touches that, the junction is in the middle up to there; where it is far away, it is ignored.
    """
    ends = link_ends(data, record, own, number, parts)
    first, last = between(data, record, own, count, number, parts)
    notes = notes_of(data, record, part_of(data, record, own, count, number))
    for i in range(first, last):
        turn = flat3(rates, 6 + 6 * i) if moving else ZERO
        drift = flat3(rates, 9 + 6 * i) if moving else ZERO
        pass_obstacle(data, record, own, i, ends, (velocities[0], velocities[1], turn, drift))
    for side in range(2):
        joint = (0.5 if number < parts - 1 else 1.0, 0.0, 0.0)
        if side == 1:
            joint = (0.5 if number > 0 else 0.0, 0.0, 0.0)
        for k in range(last - first):
            i = first + k if side == 1 else last - 1 - k
            at = notes_of(data, record, i)
            part, share = flat3(own, at + PART), flat3(own, at + SHARE)
            aim = 0.5 * (part[0] + side) - joint[0]
            aim_rate = 0.5 * part[1] - joint[1]
            rest = 1.0 - share[0]
            for j in range(k):
                before = notes_of(data, record, first + j if side == 1 else last - 1 - j) + HEEDED + 2 * side
                own[before] *= rest
                own[before + 1] *= rest
            own[at + HEEDED + 2 * side] = 0.5 * share[0]
            own[at + HEEDED + 2 * side + 1] = aim
            joint = (
                joint[0] + share[0] * aim,
                joint[1] + share[0] * aim_rate + share[1] * aim,
                joint[2] + share[0] * (0.5 * part[2] - joint[2]) + 2.0 * share[1] * aim_rate + share[2] * aim,
            )
        store_jet(own, notes + JOINTS + 3 * side, joint)
        for k in range(6):
            by = 0.0
            for i in range(first, last):
                by += heeded_by(own, notes_of(data, record, i), side, k)
            own[notes + JOINTS_BY + 6 * side + k] = by


@inline
def heeded_by(own: Array, at: int, side: int, k: int) -> float:
    """An obstacle's part of a junction's derivative: k as in PART_BY."""
    heed = at + HEEDED + 2 * side
    return float(own[heed] * own[at + PART_BY + k] + own[heed + 1] * own[at + SHARE_BY + k])


@inline
def place_junctions(data: Array, record: int, own: Array, count: int, number: int, parts: int) -> None:
    """Both junctions of a link from the contacts."""
    a, b = link_ends(data, record, own, number, parts)
    junctions = kept(data, record, wrap.JUNCTIONS)
    notes = notes_of(data, record, part_of(data, record, own, count, number)) + JOINTS
    e = subtract3(b, a)
    for side in range(2):
        if 0 < number + side < parts:
            put3(own, junctions + 3 * (number + side - 1), scale_add3(a, own[notes + 3 * side], e))


@inline
def add_contact(
    own: Array,
    into: int,
    width: int,
    touch: int,
    columns: int,
    many: int,
    scale: float,
    e: Vector,
    by: Vector,
) -> None:
    """Add (scale 1 + e by^T) times some columns of a contact's Jacobian to three rows of a matrix."""
    at = touch + wrap.OUT_JACOBIAN + columns
    for k in range(many):
        along = by[0] * own[at + k] + by[1] * own[at + 12 + k] + by[2] * own[at + 24 + k]
        for i in range(3):
            own[into + i * width + k] += scale * own[at + 12 * i + k] + e[i] * along


@inline
def joint_slopes(
    data: Array, record: int, own: Array, count: int, number: int, side: int
) -> tuple[float, Vector, Vector]:
    """A junction of a link: parameter of the line, its derivatives by both contacts."""
    notes = notes_of(data, record, part_of(data, record, own, count, number))
    by = notes + JOINTS_BY + 6 * side
    return own[notes + JOINTS + 3 * side], flat3(own, by), flat3(own, by + 3)


@shared
def link_rows(
    data: Array,
    record: int,
    own: Array,
    count: int,
    parts: int,
    number: int,
    side: int,
    matrix: int,
    width: int,
) -> None:
    """Derivatives by all junctions of a link's junction from its contacts, less that junction."""
    part, by_first, by_last = joint_slopes(data, record, own, count, number, side)
    a, b = link_ends(data, record, own, number, parts)
    e, mine = subtract3(b, a), number + side - 1
    row = matrix + 3 * mine * width
    for i in range(3):
        own[row + i * width + 3 * mine + i] -= 1.0
    for end in range(2):
        touch = touch_before(data, record, number) if end == 0 else touch_behind(data, record, number, parts)
        scale, by = (1.0 - part, by_first) if end == 0 else (part, by_last)
        other = number - 1 + 2 * end
        for last in range(2):
            if touch >= 0 and 0 < other + last < parts:
                add_contact(own, row + 3 * (other + last - 1), width, touch, 3 * last, 3, scale, e, by)


@shared
def link_rows_by_inputs(
    data: Array,
    record: int,
    own: Array,
    count: int,
    parts: int,
    number: int,
    side: int,
    into: int,
    width: int,
) -> None:
    """Derivatives by the strand's inputs of a link's junction from its contacts, into three rows."""
    part, by_first, by_last = joint_slopes(data, record, own, count, number, side)
    a, b = link_ends(data, record, own, number, parts)
    e = subtract3(b, a)
    for end in range(2):
        touch = touch_before(data, record, number) if end == 0 else touch_behind(data, record, number, parts)
        scale, by = (1.0 - part, by_first) if end == 0 else (part, by_last)
        other = number - 1 + 2 * end
        if touch < 0:
            for i in range(3):
                own[into + i * width + 3 * end + i] += scale
                for k in range(3):
                    own[into + i * width + 3 * end + k] += e[i] * by[k]
            continue
        if other == 0:
            add_contact(own, into, width, touch, 0, 3, scale, e, by)
        if other == parts - 1:
            add_contact(own, into + 3, width, touch, 3, 3, scale, e, by)
        place = into + 6 + 6 * part_of(data, record, own, count, other)
        add_contact(own, place, width, touch, 6, 6, scale, e, by)
    first, last = between(data, record, own, count, number, parts)
    for obstacle in range(first, last):
        at = notes_of(data, record, obstacle)
        for k in range(6):
            by_frame = heeded_by(own, at, side, 6 + k)
            for i in range(3):
                own[into + i * width + 6 + 6 * obstacle + k] += e[i] * by_frame


@inline
def joint_bias(
    data: Array,
    record: int,
    own: Array,
    count: int,
    parts: int,
    number: int,
    side: int,
    velocities: tuple[Vector, Vector],
) -> Vector:
    """The part without accelerations of inputs and other junctions of the second time derivative of a link's junction
    from its contacts.
    """
    part, by_first, by_last = joint_slopes(data, record, own, count, number, side)
    a, b = link_ends(data, record, own, number, parts)
    first, last = touch_before(data, record, number), touch_behind(data, record, number, parts)
    before = flat3(own, first + wrap.OUT_BIAS) if first >= 0 else ZERO
    after = flat3(own, last + wrap.OUT_BIAS) if last >= 0 else ZERO
    notes = notes_of(data, record, part_of(data, record, own, count, number)) + JOINTS + 3 * side
    second = own[notes + 2] + dot3(by_first, before) + dot3(by_last, after)
    bias = scale_add3(scale_add3(before, part, subtract3(after, before)), second, subtract3(b, a))
    return scale_add3(bias, 2.0 * own[notes + 1], subtract3(velocities[1], velocities[0]))


@inline
def touch_velocity(data: Array, record: int, own: Array, touch: int) -> Vector:
    """Velocity of a contact at the strand's PIECE of rates."""
    at, rates = touch + wrap.OUT_JACOBIAN, kept(data, record, wrap.PIECE)
    v = (0.0, 0.0, 0.0)
    for k in range(12):
        column = own[at + k], own[at + 12 + k], own[at + 24 + k]
        v = scale_add3(v, own[rates + k], column)
    return v


@inline
def along_link(data: Array, record: int, own: Array, number: int, parts: int) -> tuple[Vector, float]:
    """Direction and length of the line of a link."""
    a, b = link_ends(data, record, own, number, parts)
    e = subtract3(b, a)
    length = math.sqrt(dot3(e, e))
    return (e[0] / length, e[1] / length, e[2] / length), length


@shared
def link_length(data: Array, record: int, own: Array, count: int, parts: int, number: int) -> None:
    """Length of a link between its junctions with their rates in PIECE, with its derivatives, stored as for a piece.
    Both junctions may be one: the direction and its rate are those of the line between the contacts.
    """
    mine = piece_of(data, record, part_of(data, record, own, count, number))
    u, _ = along_link(data, record, own, number, parts)
    a, b = junction(data, record, own, number, parts), junction(data, record, own, number + 1, parts)
    rates = kept(data, record, wrap.PIECE)
    v = subtract3(flat3(own, rates + 3), flat3(own, rates))
    length, speed = dot3(subtract3(b, a), u), dot3(v, u)
    across = scale_add3(v, -speed, u)
    own[mine + wrap.LENGTH], own[mine + wrap.RATE] = length, speed
    own[mine + wrap.CURVATURE] = dot3(across, across) / length if length > 1e-14 else 0.0
    gradient = mine + wrap.GEODESIC_SIZE
    for k in range(3):
        own[gradient + k], own[gradient + 3 + k] = -u[k], u[k]
        own[gradient + 6 + k], own[gradient + 9 + k] = 0.0, 0.0


@shared
def foot(data: Array, record: int, own: Array, obstacle: int, a: Vector, b: Vector, touch: int) -> bool:
    """Nearest point to an obstacle of a line that does not touch it, as a contact at rest: by its ends alone."""
    if not pass_obstacle(data, record, own, obstacle, (a, b), (ZERO, ZERO, ZERO, ZERO)):
        return False
    at = notes_of(data, record, obstacle)
    part, e = own[at + PART], subtract3(b, a)
    put3(own, touch, scale_add3(a, part, e))
    for i in range(3):
        row = touch + wrap.OUT_JACOBIAN + 12 * i
        for k in range(12):
            own[row + k] = e[i] * own[at + PART_BY + k]
        own[row + i] += 1.0 - part
        own[row + 3 + i] += part
    return True
