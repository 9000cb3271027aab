"""A strand over obstacles between two via points: its length and its points, with exact derivatives.

The inputs of a strand are world positions of both ends and the frames of its obstacles; their rates (3, 3, then for
each obstacle angular velocity and velocity of its frame's origin, world axes) are n = 6 + 6 m numbers, and so are
columns of Jacobians.
"""

import math

from ..algebra.access import flat3
from ..algebra.vectors import Array, dot3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .cylinder_ends import met
from .piece import piece_path, piece_point
from .places import ON, is_link, kept, part_of, piece_of, shape_of
from .row import chain_length, chain_point
from .surface import CYLINDER, ELLIPSOID


@inline
def straight_path(rates: Array, own: Array, gradient: Array) -> None:
    """Length of the straight line between both ends, with its derivatives."""
    e = subtract3(flat3(own, wrap.ENDS + 3), flat3(own, wrap.ENDS))
    v = subtract3(flat3(rates, 3), flat3(rates, 0))
    length = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    own[wrap.LENGTH], own[wrap.RATE], own[wrap.CURVATURE] = length, 0.0, 0.0
    gradient[:] = 0.0
    if length == 0.0:
        return
    speed = (e[0] * v[0] + e[1] * v[1] + e[2] * v[2]) / length
    own[wrap.RATE] = speed
    own[wrap.CURVATURE] = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - speed * speed) / length
    for k in range(3):
        gradient[k], gradient[3 + k] = -e[k] / length, e[k] / length


@shared
def wrap_length(
    data: Array, at: int, ends: Array, frames: Array, rates: Array, own: Array, gradient: Array
) -> tuple[float, float]:
    """Length of the strand with the record at `at`, and the part of its second time derivative without its inputs'
    accelerations; `gradient` (n,) gets its derivatives by the inputs.

    Args:
        ends: (6,) [m]. frames: (m, 12) of the obstacles, rotation by rows, position. rates: (n,) of all these.
        own: the strand's memory.
    """
    count = int(data[at])
    record = at + 1 + (1 + wrap.FRAME_WIDTH) * count
    for k in range(6):
        own[wrap.ENDS + k] = ends[k]
    for obstacle in range(count):
        for k in range(wrap.FRAME_WIDTH):
            own[wrap.FRAMES + wrap.FRAME_WIDTH * obstacle + k] = frames[obstacle, k]
    if count == 1:
        own[wrap.SENSE] = 0.0
        status = piece_path(data, record + wrap.SHAPES, data[record + wrap.SMOOTHING], rates, own, gradient)
    else:
        status = chain_length(data, record, own, count, rates, gradient)
    own[wrap.STATUS] = status
    if status != wrap.WRAPPED:
        straight_path(rates, own, gradient)
    return own[wrap.LENGTH], own[wrap.CURVATURE]


@inline
def memory_of(data: Array, at: int, obstacle: int) -> tuple[int, int]:
    """Offsets of a strand's record behind its frames, and of the path over one obstacle in its memory."""
    count = int(data[at])
    record = at + 1 + (1 + wrap.FRAME_WIDTH) * count
    return record, piece_of(data, record, obstacle) if count > 1 else 0


@inline
def number_of(data: Array, at: int, obstacle: int) -> float:
    """The number of an obstacle of several strands, else 0."""
    return float(
        data[shape_of(at + 1 + (1 + wrap.FRAME_WIDTH) * int(data[at]), obstacle) + wrap.SHAPE_NUMBER]
    )


@shared
def leave(data: Array, at: int, own: Array, obstacle: int, off: float) -> None:
    """Whether the strand is to leave an obstacle to another one from the next `wrap_length` on: 1 or 0."""
    _, piece = memory_of(data, at, obstacle)
    own[piece + wrap.OFF] = off


@shared
def claim(data: Array, at: int, own: Array, obstacle: int) -> tuple[float, float]:
    """After `wrap_length`: the number of an obstacle (see `layout`), 0 where the strand does not touch it, and how much
    the strand claims it: 2 where its line meets it, but a sphere or torus without a side; else the less the longer the
    way round is, at most 1, and 0 where no path was found.
    """
    record, piece = memory_of(data, at, obstacle)
    shape = shape_of(record, obstacle)
    number, count, status = data[shape + wrap.SHAPE_NUMBER], int(data[at]), own[wrap.STATUS]
    away = count > 1 and own[kept(data, record, wrap.TOUCHING) + obstacle] != ON
    if status == wrap.UNSOLVED:
        return number, 0.0
    if number == 0.0 or status != wrap.WRAPPED or away:
        return 0.0, 0.0
    kind, sure = int(data[shape + wrap.SHAPE_KIND]), False
    if kind == CYLINDER:
        sure = met(data, shape, own[piece : piece + wrap.PIECE_SIZE], data[record + wrap.SMOOTHING])
    elif kind == ELLIPSOID or data[shape + wrap.SHAPE_SENSE] != wrap.SHORTER:
        sure = True
    if sure:
        return number, 2.0
    e = subtract3(flat3(own, wrap.ENDS + 3), flat3(own, wrap.ENDS))
    return number, 1.0 / (1.0 + own[wrap.LENGTH] - math.sqrt(dot3(e, e)))


@inline
def touch_of(piece: Array, last: bool) -> float:
    """Length from a piece's beginning at which its path attaches to the obstacle, or leaves it."""
    along = piece[wrap.PLANE_LENGTH] - piece[wrap.LAST_LENGTH] if last else piece[wrap.FIRST_LENGTH]
    return float(along * piece[wrap.LENGTH] / piece[wrap.PLANE_LENGTH])


@shared
def wrap_touch(data: Array, at: int, own: Array, number: int) -> float:
    """Length from a strand's beginning at which the path attaches to an obstacle (number 0, 2, ...) or leaves it (1, 3,
    ...), in order, after `wrap_length`; -1 beyond the last, and along a network.
    """
    count = int(data[at])
    record = at + 1 + (1 + wrap.FRAME_WIDTH) * count
    if int(own[wrap.STATUS]) != wrap.WRAPPED or number > 2 * count - 1:
        return -1.0
    if count == 1:
        return touch_of(own, number == 1)
    parts, part = int(own[wrap.PARTS]), number // 2
    if part >= parts:
        return -1.0
    before = own[kept(data, record, wrap.BEFORE) + 3 * part]
    if is_link(data, record, own, count, part):
        return float(before)
    mine = piece_of(data, record, part_of(data, record, own, count, part))
    return float(before + touch_of(own[mine : mine + wrap.PIECE_SIZE], number % 2 == 1))


@inline
def straight_point(
    sigma: float,
    sigma_rate: float,
    rates: Array,
    own: Array,
    point: Array,
    tangent: Array,
    jacobian: Array,
    bias: Array,
) -> None:
    """As `wrap_point`, of the straight line between both ends."""
    jacobian[:] = 0.0
    length, speed = own[wrap.LENGTH], own[wrap.RATE]
    if length == 0.0:
        for k in range(3):
            point[k], tangent[k], bias[k], jacobian[k, k] = own[wrap.ENDS + k], 0.0, 0.0, 1.0
        return
    t = sigma / length
    for k in range(3):
        u = (own[wrap.ENDS + 3 + k] - own[wrap.ENDS + k]) / length
        turn = (rates[3 + k] - rates[k] - u * speed) / length
        point[k] = own[wrap.ENDS + k] + sigma * u
        tangent[k] = u
        bias[k] = 2.0 * sigma_rate * turn - sigma * (2.0 * turn * speed + u * own[wrap.CURVATURE]) / length
        for j in range(3):
            same = 1.0 if j == k else 0.0
            part = t * (same - u * (own[wrap.ENDS + 3 + j] - own[wrap.ENDS + j]) / length)
            jacobian[k, j], jacobian[k, 3 + j] = same - part, part


@shared
def node_point(
    data: Array, at: int, sigma: float, sigma_rate: float, rates: Array, own: Array, out: Array
) -> None:
    """As `piece_point`, of the spline through the nodes of a network (see `network`), straight beyond its ends."""
    net, size = at + 14 + wrap.SHAPES + wrap.SHAPE_WIDTH, wrap.OUT_SIZE
    nodes, length = int(data[net + 2]), own[wrap.LENGTH]
    f = sigma / length
    speed = (sigma_rate - f * own[wrap.RATE]) / length
    second = -(f * own[wrap.CURVATURE] + 2.0 * speed * own[wrap.RATE]) / length
    g, k = min(max(f, 0.0), 1.0), 0
    while k < nodes - 2 and g > data[net + 4 + k]:
        k += 1
    h, beyond = data[net + 4 + k] - data[net + 3 + k], f - g
    b = (g - data[net + 3 + k]) / h
    a = 1.0 - b
    da, db = h * (1.0 - 3.0 * a * a) / 6.0, h * (3.0 * b * b - 1.0) / 6.0
    wa, wb = (a * a - 1.0) * a * h * h / 6.0 + beyond * da, (b * b - 1.0) * b * h * h / 6.0 + beyond * db
    bending = speed * speed if beyond == 0.0 else 0.0
    one = own[wrap.NODE_PLACES + size * k :]
    bent = one[size * nodes :]
    for j in range(size):
        slope = (one[size + j] - one[j]) / h
        out[j] = one[j] + (b * h + beyond) * slope + wa * bent[j] + wb * bent[size + j]
    for i in range(3):
        ahead = (one[size + i] - one[i]) / h + da * bent[i] + db * bent[size + i]
        out[wrap.OUT_TANGENT + i] = ahead / length
        out[wrap.OUT_BIAS + i] += second * ahead + bending * (a * bent[i] + b * bent[size + i])
        for j in range(12):
            c = wrap.OUT_JACOBIAN + 12 * i + j
            slope = (one[size + c] - one[c]) / h + da * bent[c] + db * bent[size + c]
            out[wrap.OUT_BIAS + i] += 2.0 * speed * slope * rates[j]
            out[c] -= ahead * f / length * own[wrap.NODES_BY + j]


@shared
def wrap_point(
    data: Array,
    at: int,
    sigma: float,
    sigma_rate: float,
    rates: Array,
    own: Array,
    point: Array,
    tangent: Array,
    jacobian: Array,
    bias: Array,
) -> None:
    """The point at length sigma from a strand's beginning, after `wrap_length`: below 0 and beyond its length on
    straight extensions.

    Args:
        sigma_rate: derivative of sigma in time. rates: as for `wrap_length`.
        point, tangent, bias: (3,): get the position, its derivative by sigma, and the part of its acceleration without
            the inputs' accelerations and sigma''.
        jacobian: (3, n): gets the derivatives by the inputs at fixed sigma.
    """
    status = int(own[wrap.STATUS])
    if status != wrap.WRAPPED and status != wrap.ALONG_NODES:
        straight_point(sigma, sigma_rate, rates, own, point, tangent, jacobian, bias)
        return
    record = at + 1 + (1 + wrap.FRAME_WIDTH) * int(data[at])
    count = int(data[at])
    if count > 1:
        chain_point(data, record, own, count, sigma, sigma_rate, rates, point, tangent, jacobian, bias)
        return
    out = own[wrap.GEODESIC_SIZE : wrap.GEODESIC_SIZE + wrap.OUT_SIZE]
    if status == wrap.WRAPPED:
        piece_point(data, record + wrap.SHAPES, own, sigma, sigma_rate, rates, out)
    else:
        node_point(data, at, sigma, sigma_rate, rates, own, out)
    for i in range(3):
        point[i], tangent[i], bias[i] = out[i], out[wrap.OUT_TANGENT + i], out[wrap.OUT_BIAS + i]
        for k in range(12):
            jacobian[i, k] = out[wrap.OUT_JACOBIAN + 12 * i + k]
