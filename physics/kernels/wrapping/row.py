"""Derivatives and points of a strand over several obstacles, with pieces from `chain`."""

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, add3, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .chain import contact, find_chain, junction_matrix, lay_links, link_beside, solve_piece
from .geodesic import eliminate
from .link import (
    along_link,
    joint_bias,
    lay_link,
    link_length,
    link_rows_by_inputs,
    touch_before,
    touch_behind,
    touch_velocity,
)
from .piece import piece_point
from .places import is_link, junction, kept, part_of, piece_of, shape_of


@shared
def junctions_by_inputs(data: Array, record: int, own: Array, count: int, parts: int) -> None:
    """Derivatives of the junctions by the strand's inputs, from the contacts'."""
    n, size = 6 + 6 * count, 3 * (parts - 1)
    width = size + n
    matrix, touches, by = (
        kept(data, record, wrap.MATRIX),
        kept(data, record, wrap.TOUCHES),
        kept(data, record, wrap.JUNCTIONS_BY),
    )
    lay_links(data, record, own, count, parts)
    junction_matrix(data, record, own, count, parts, width)
    for number in range(parts - 1):
        into = matrix + 3 * number * width + size
        link = link_beside(data, record, own, count, number)
        if link >= 0:
            link_rows_by_inputs(data, record, own, count, parts, link, number + 1 - link, into, width)
            continue
        for side in range(2):
            other = number + side
            at = touches + wrap.OUT_SIZE * (2 * other + 1 - side) + wrap.OUT_JACOBIAN
            place = 6 + 6 * part_of(data, record, own, count, other)
            for i in range(3):
                row = into + i * width
                for k in range(6):
                    own[row + place + k] += own[at + 12 * i + 6 + k]
                for k in range(3):
                    if other == 0:
                        own[row + k] += own[at + 12 * i + k]
                    if other == parts - 1:
                        own[row + 3 + k] += own[at + 12 * i + 3 + k]
    eliminate(own, matrix, size, width)
    for row in range(size):
        for k in range(n):
            own[by + row * n + k] = -own[matrix + row * width + size + k]


@inline
def piece_rates(
    data: Array, record: int, own: Array, count: int, parts: int, number: int, rates: Array
) -> None:
    """The rates of one piece, into the strand's PIECE."""
    at, moving = kept(data, record, wrap.PIECE), kept(data, record, wrap.JUNCTIONS) + 3 * (count - 1)
    i = part_of(data, record, own, count, number)
    for k in range(3):
        own[at + k] = rates[k] if number == 0 else own[moving + 3 * (number - 1) + k]
        own[at + 3 + k] = rates[3 + k] if number == parts - 1 else own[moving + 3 * number + k]
    for k in range(6):
        own[at + 6 + k] = rates[6 + 6 * i + k]


@inline
def around_link(
    data: Array, record: int, own: Array, count: int, parts: int, number: int, rates: Array
) -> tuple[Vector, Vector]:
    """Velocities of the contacts on both sides of a link."""
    first, last = touch_before(data, record, number), touch_behind(data, record, number, parts)
    v, w = flat3(rates, 0), flat3(rates, 3)
    if first >= 0:
        piece_rates(data, record, own, count, parts, number - 1, rates)
        v = touch_velocity(data, record, own, first)
    if last >= 0:
        piece_rates(data, record, own, count, parts, number + 1, rates)
        w = touch_velocity(data, record, own, last)
    return v, w


@shared
def parts_in_time(data: Array, record: int, own: Array, count: int, parts: int, rates: Array) -> None:
    """All pieces, contacts and links, with the junctions' first derivatives in time known."""
    for number in range(parts):
        if is_link(data, record, own, count, number):
            continue
        piece_rates(data, record, own, count, parts, number, rates)
        i = part_of(data, record, own, count, number)
        a, b = junction(data, record, own, number, parts), junction(data, record, own, number + 1, parts)
        own[piece_of(data, record, i) + wrap.STATUS] = wrap.FOUND
        solve_piece(data, record, own, i, a, b)
        contact(data, record, own, i, False, 2 * number)
        contact(data, record, own, i, True, 2 * number + 1)
    for number in range(parts):
        if is_link(data, record, own, count, number):
            velocities = around_link(data, record, own, count, parts, number, rates)
            lay_link(data, record, own, count, parts, number, velocities, rates, True)
            piece_rates(data, record, own, count, parts, number, rates)
            link_length(data, record, own, count, parts, number)


@shared
def junctions_in_time(data: Array, record: int, own: Array, count: int, parts: int, rates: Array) -> None:
    """First and second derivatives of the junctions in time."""
    n, size = 6 + 6 * count, 3 * (parts - 1)
    moving, by = kept(data, record, wrap.JUNCTIONS) + 3 * (count - 1), kept(data, record, wrap.JUNCTIONS_BY)
    second, matrix = moving + 3 * (count - 1), kept(data, record, wrap.MATRIX)
    for row in range(size):
        own[moving + row] = 0.0
        for k in range(n):
            own[moving + row] += own[by + row * n + k] * rates[k]
    touches = kept(data, record, wrap.TOUCHES)
    parts_in_time(data, record, own, count, parts, rates)
    if size == 0:
        return
    junction_matrix(data, record, own, count, parts, size + 1)
    for number in range(parts - 1):
        before = touches + wrap.OUT_SIZE * (2 * number + 1) + wrap.OUT_BIAS
        link = link_beside(data, record, own, count, number)
        bias = add3(flat3(own, before), flat3(own, before + wrap.OUT_SIZE))
        if link >= 0:
            velocities = around_link(data, record, own, count, parts, link, rates)
            bias = joint_bias(data, record, own, count, parts, link, number + 1 - link, velocities)
        for i in range(3):
            own[matrix + (3 * number + i) * (size + 1) + size] = -bias[i]
    eliminate(own, matrix, size, size + 1)
    for row in range(size):
        own[second + row] = own[matrix + row * (size + 1) + size]


@inline
def add_through(
    data: Array, record: int, own: Array, count: int, parts: int, number: int, at: int, into: Array
) -> float:
    """Twelve derivatives by a piece's rates (from `at` on) as derivatives by the strand's inputs, added to `into`; the
    contribution of the junctions' second derivatives.
    """
    n = 6 + 6 * count
    by, second = kept(data, record, wrap.JUNCTIONS_BY), kept(data, record, wrap.JUNCTIONS) + 6 * (count - 1)
    place = 6 + 6 * part_of(data, record, own, count, number)
    bias = 0.0
    for k in range(6):
        into[place + k] += own[at + 6 + k]
    for end in range(2):
        row, share = 3 * (number - 1 + end), flat3(own, at + 3 * end)
        if number + end == 0 or number + end == parts:
            for i in range(3):
                into[3 * end + i] += share[i]
            continue
        bias += dot3(share, flat3(own, second + row))
        x, y, z = by + row * n, by + (row + 1) * n, by + (row + 2) * n
        for k in range(n):
            into[k] += share[0] * own[x + k] + share[1] * own[y + k] + share[2] * own[z + k]
    return bias


@shared
def chain_length(data: Array, record: int, own: Array, count: int, rates: Array, gradient: Array) -> int:
    """Length of the strand with its derivatives, and all data for its points; whether it is wrapped."""
    parts = find_chain(data, record, own, count)
    own[wrap.PARTS] = parts
    if parts <= 0:
        return wrap.STRAIGHT if parts == 0 else wrap.UNSOLVED
    n = 6 + 6 * count
    if parts > 1:
        junctions_by_inputs(data, record, own, count, parts)
    junctions_in_time(data, record, own, count, parts, rates)
    own[wrap.LENGTH], own[wrap.RATE], own[wrap.CURVATURE] = 0.0, 0.0, 0.0
    for k in range(n):
        gradient[k] = 0.0
    before, before_by = kept(data, record, wrap.BEFORE), kept(data, record, wrap.BEFORE_BY)
    for number in range(parts):
        own[before + 3 * number], own[before + 3 * number + 1] = own[wrap.LENGTH], own[wrap.RATE]
        own[before + 3 * number + 2] = own[wrap.CURVATURE]
        for k in range(n):
            own[before_by + n * number + k] = gradient[k]
        i = part_of(data, record, own, count, number)
        mine = piece_of(data, record, i)
        piece = own[mine : mine + wrap.PIECE_SIZE]
        at = mine + wrap.GEODESIC_SIZE
        own[wrap.LENGTH] += piece[wrap.LENGTH]
        own[wrap.RATE] += piece[wrap.RATE]
        bias = add_through(data, record, own, count, parts, number, at, gradient)
        own[wrap.CURVATURE] += piece[wrap.CURVATURE] + bias
    return wrap.WRAPPED


@shared
def link_point(
    data: Array,
    record: int,
    own: Array,
    parts: int,
    number: int,
    sigma: float,
    sigma_rate: float,
    curvature: float,
    rates: int,
    into: int,
) -> None:
    """A point of a link, as `piece.piece_point` of a piece."""
    u, _ = along_link(data, record, own, number, parts)
    a, b = junction(data, record, own, number, parts), junction(data, record, own, number + 1, parts)
    length = dot3(subtract3(b, a), u)
    inverse = 1.0 / length if length > 1e-14 else 0.0
    v = subtract3(flat3(own, rates + 3), flat3(own, rates))
    speed = dot3(v, u)
    turn = scale_add3(v, -speed, u)
    t = sigma * inverse
    for i in range(3):
        own[into + i] = a[i] + sigma * u[i]
        own[into + wrap.OUT_TANGENT + i] = u[i]
        bias = 2.0 * (sigma_rate - t * speed) * turn[i] - sigma * u[i] * curvature
        own[into + wrap.OUT_BIAS + i] = bias * inverse
        row = into + wrap.OUT_JACOBIAN + 12 * i
        for k in range(3):
            across = t * ((1.0 if i == k else 0.0) - u[i] * u[k])
            own[row + k] = (1.0 if i == k else 0.0) - across
            own[row + 3 + k] = across
            own[row + 6 + k], own[row + 9 + k] = 0.0, 0.0


@shared
def chain_point(
    data: Array,
    record: int,
    own: Array,
    count: int,
    sigma: float,
    sigma_rate: float,
    rates: Array,
    point: Array,
    tangent: Array,
    jacobian: Array,
    bias: Array,
) -> None:
    """As `strand.wrap_point`, where `chain_length` found the strand wrapped."""
    n = 6 + 6 * count
    parts = int(own[wrap.PARTS])
    before, before_by = kept(data, record, wrap.BEFORE), kept(data, record, wrap.BEFORE_BY)
    number = 0
    while number < parts - 1 and own[before + 3 * (number + 1)] <= sigma:
        number += 1
    i = part_of(data, record, own, count, number)
    piece_rates(data, record, own, count, parts, number, rates)
    at, into = kept(data, record, wrap.PIECE), kept(data, record, wrap.TOUCHES)
    out = own[into : into + wrap.OUT_SIZE]
    place = before + 3 * number
    rate = sigma_rate - own[place + 1]
    mine = piece_of(data, record, i)
    piece = own[mine : mine + wrap.PIECE_SIZE]
    if is_link(data, record, own, count, number):
        link_point(
            data, record, own, parts, number, sigma - own[place], rate, piece[wrap.CURVATURE], at, into
        )
    else:
        piece_point(data, shape_of(record, i), piece, sigma - own[place], rate, own[at : at + 12], out)
    for j in range(3):
        line = jacobian[j]
        for k in range(n):
            line[k] = -out[wrap.OUT_TANGENT + j] * own[before_by + n * number + k]
        extra = add_through(data, record, own, count, parts, number, into + wrap.OUT_JACOBIAN + 12 * j, line)
        point[j], tangent[j] = out[j], out[wrap.OUT_TANGENT + j]
        bias[j] = out[wrap.OUT_BIAS + j] + extra - out[wrap.OUT_TANGENT + j] * own[place + 2]
