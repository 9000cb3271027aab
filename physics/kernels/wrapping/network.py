"""Places of a path over a cylinder from a trained network, at fixed fractions of its length (Wang 2022, sec. 5.3.3.2).

The network of hyperbolic tangents sees the distances of both ends from the axis over the radius, by their logarithms,
the angle between them, and the fraction f of the length, each scaled to [-1, 1]. It gives how far the path lies off the
straight line in the cross-section, over the radius and f (1 - f), in axes of the first end. All points of a strand go
through it in one product for each layer, five rows each: values, their derivatives by the first three inputs, their
second derivative in time. Between these places, the nodes, the path is a cubic spline.
"""

import math

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector
from ..compiler.jit import for_muscles, inline, shared
from ..layout import MODEL_DATA, NETWORK_BITS
from . import layout as wrap
from .planar import Pair, cross2, dot2, pair
from .round import combine, into_world

ROWS = 5  # of a point
BY_LOG, BY_TURN = 2.0 / math.log(wrap.FARTHEST / wrap.NEAREST), 2.0 / wrap.MOST_TURN


@shared
def layer_product(data: Array, at: int, before: int, after: int, width: int, x: Array, y: Array) -> None:
    """y = x W for the matrix W (before, after) by rows at `at`, and the offsets behind it; `before` is even. Rows of x
    and y are `width` apart.
    """
    for r in range(0, len(x), ROWS * width):
        x0, x1, x2, x3, x4 = x[r:], x[r + width :], x[r + 2 * width :], x[r + 3 * width :], x[r + 4 * width :]
        y0, y1, y2, y3, y4 = y[r:], y[r + width :], y[r + 2 * width :], y[r + 3 * width :], y[r + 4 * width :]
        offsets = data[at + before * after :]
        for j in range(after):
            y0[j], y1[j], y2[j], y3[j], y4[j] = offsets[j], 0.0, 0.0, 0.0, 0.0
        for i in range(0, before, 2):
            a0, a1, a2, a3, a4 = x0[i], x1[i], x2[i], x3[i], x4[i]
            b0, b1, b2, b3, b4 = x0[i + 1], x1[i + 1], x2[i + 1], x3[i + 1], x4[i + 1]
            first, second = data[at + i * after :], data[at + (i + 1) * after :]
            for j in range(after):
                v, w = first[j], second[j]
                y0[j] += a0 * v + b0 * w
                y1[j] += a1 * v + b1 * w
                y2[j] += a2 * v + b2 * w
                y3[j] += a3 * v + b3 * w
                y4[j] += a4 * v + b4 * w


@shared
def activate(width: int, speeds: Vector, x: Array) -> None:
    """Hyperbolic tangents of the values in x, with their derivatives."""
    for r in range(0, len(x), ROWS * width):
        values, curves = x[r : r + width], x[r + 4 * width :]
        first, second, third = x[r + width :], x[r + 2 * width :], x[r + 3 * width :]
        for j in range(width):
            # e^2v - 1: its series at v / 64, doubled seven times; `math.tanh` would not become vector instructions
            z = min(max(values[j], -20.0), 20.0) / 64.0
            u = 1.0 / 120.0 + z * (1.0 / 720.0 + z * (1.0 / 5040.0))
            u = z * (1.0 + z * (1.0 / 2.0 + z * (1.0 / 6.0 + z * (1.0 / 24.0 + z * u))))
            for _ in range(7):
                u *= u + 2.0
            values[j] = u / (u + 2.0)
        for j in range(width):
            h = values[j]
            slope, rate = 1.0 - h * h, speeds[0] * first[j] + speeds[1] * second[j] + speeds[2] * third[j]
            curves[j] = slope * (curves[j] - 2.0 * h * rate * rate)
            first[j] *= slope
            second[j] *= slope
            third[j] *= slope


@inline
def polar_jet(own: Array, at: int) -> tuple[float, float, float, float, float]:
    """Of an end in the path's plane: distance from the axis; rates of its logarithm and angle, with their rates."""
    x, v, a = pair(own, at), pair(own, at + 3), pair(own, at + 6)
    square = dot2(x, x)
    grow, spin = dot2(x, v) / square, cross2(x, v) / square
    second = (dot2(v, v) + dot2(x, a)) / square - 2.0 * grow * grow
    return math.sqrt(square), grow, second, spin, cross2(x, a) / square - 2.0 * grow * spin


@shared
def through_network(data: Array, net: int, own: Array, turn: float, x: Array, y: Array) -> None:
    """What the network with the record at `net` gives for the ends in `own`, the angle `turn` between them, in rows:
    into x if its number of layers is odd, else into y.
    """
    layers, units, nodes = int(data[net]), int(data[net + 1]), int(data[net + 2])
    radius = data[net - wrap.SHAPE_WIDTH + wrap.SHAPE_PARAMETERS]
    first, last = polar_jet(own, wrap.START), polar_jet(own, wrap.STOP)
    speeds = BY_LOG * first[1], BY_LOG * last[1], BY_TURN * (last[3] - first[3])
    scaled = (
        BY_LOG * math.log(first[0] / (radius * wrap.NEAREST)) - 1.0,
        BY_LOG * math.log(last[0] / (radius * wrap.NEAREST)) - 1.0,
        BY_TURN * turn - 1.0,
    )
    seconds = BY_LOG * first[2], BY_LOG * last[2], BY_TURN * (last[4] - first[4])
    for k in range(nodes - 2):
        r = ROWS * units * k
        for j in range(4):
            for row in range(ROWS):
                x[r + units * row + j] = 0.0
        for j in range(3):
            x[r + j], x[r + units * (1 + j) + j], x[r + 4 * units + j] = scaled[j], 1.0, seconds[j]
        x[r + 3] = 2.0 * data[net + 4 + k] - 1.0
    at, before = net + 3 + nodes * (nodes + 1), 4
    for layer in range(layers + 1):
        after = units if layer < layers else 2
        layer_product(data, at, before, after, units, x, y)
        if layer < layers:
            activate(units, speeds, y)
        at += (before + 1) * after
        before = after
        x, y = y, x


@inline
def turned(axis: Pair, x: Pair) -> Pair:
    """A vector with these components along an axis and across it, counterclockwise."""
    return axis[0] * x[0] - axis[1] * x[1], axis[1] * x[0] + axis[0] * x[1]


@inline
def along_both(own: Array, at: int, f: float, hump: float, x: Pair) -> Vector:
    """(1 - f) p + f s + hump x, p and s vectors at `at` and three later ones."""
    p, s = flat3(own, at), flat3(own, at + wrap.STOP - wrap.START)
    g = 1.0 - f
    return g * p[0] + f * s[0] + hump * x[0], g * p[1] + f * s[1] + hump * x[1], g * p[2] + f * s[2]


@shared
def lay_node(own: Array, f: float, radius: float, rates: Array, y: Array, units: int, out: Array) -> None:
    """The point at the fraction f, from the network's rows y, into `out` as from `round_point`, at a fixed f."""
    p, s = polar_jet(own, wrap.START), polar_jet(own, wrap.STOP)
    axis = own[wrap.START] / p[0], own[wrap.START + 1] / p[0]
    other = own[wrap.STOP] / s[0], own[wrap.STOP + 1] / s[0]
    hump, spin = radius * f * (1.0 - f), p[3]
    n, d0, d1, d2, n2 = pair(y, 0), pair(y, units), pair(y, 2 * units), pair(y, 3 * units), pair(y, 4 * units)
    s0, s1, s2 = BY_LOG * p[1], BY_LOG * s[1], BY_TURN * (s[3] - p[3])
    n1 = s0 * d0[0] + s1 * d1[0] + s2 * d2[0], s0 * d0[1] + s1 * d1[1] + s2 * d2[1]
    rate = n1[0] - spin * n[1], n1[1] + spin * n[0]
    curve = (
        n2[0] - 2.0 * spin * n1[1] - p[4] * n[1] - spin * spin * n[0],
        n2[1] + 2.0 * spin * n1[0] + p[4] * n[0] - spin * spin * n[1],
    )
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    x = combine(jx, jy, jz, along_both(own, wrap.START, f, hump, turned(axis, n)))
    v = combine(jx, jy, jz, along_both(own, wrap.START_RATE, f, hump, turned(axis, rate)))
    a = combine(jx, jy, jz, along_both(own, wrap.START_SECOND, f, hump, turned(axis, curve)))
    across = own[wrap.ROUND_SIZE + 8 : wrap.ROUND_SIZE + 26]
    across[:] = 0.0
    across[0], across[4], across[8] = 1.0 - f, 1.0 - f, 1.0 - f
    across[9], across[13], across[17] = f, f, f
    at_first = -BY_TURN * d2[0] - n[1], -BY_TURN * d2[1] + n[0]
    add_end(
        across, 0, hump / p[0], axis, turned(axis, (BY_LOG * d0[0], BY_LOG * d0[1])), turned(axis, at_first)
    )
    last = turned(axis, (BY_LOG * d1[0], BY_LOG * d1[1])), turned(axis, (BY_TURN * d2[0], BY_TURN * d2[1]))
    add_end(across, 9, hump / s[0], other, last[0], last[1])
    into_world(own, rates, across, x, v, a, out)


@inline
def add_end(across: Array, block: int, scale: float, axis: Pair, out: Pair, aside: Pair) -> None:
    """Add derivatives by an end, of its motion away from the cylinder's axis and aside, times its distance."""
    for i in range(2):
        across[block + 3 * i] += scale * (out[i] * axis[0] - aside[i] * axis[1])
        across[block + 3 * i + 1] += scale * (out[i] * axis[1] + aside[i] * axis[0])


@inline
def known(radius: float, rates: Array, own: Array) -> bool:
    """Whether the nodes are those of the same ends, frame, rates and radius; notes these."""
    last = wrap.NODES_BY - 1
    same = bool(own[last] == radius)
    own[last] = radius
    for k in range(last - wrap.NODES_OF):
        value = own[wrap.ENDS + k] if k < 6 + wrap.FRAME_WIDTH else rates[k - 6 - wrap.FRAME_WIDTH]
        same = same and own[wrap.NODES_OF + k] == value
        own[wrap.NODES_OF + k] = value
    return same


@shared
def lay_nodes(data: Array, at: int, rates: Array, own: Array, gradient: Array) -> None:
    """Points of the strand with the record at `at` from its network, if it has one that knows such paths; after
    `wrap_length`, with its arguments.
    """
    record = at + 1 + (1 + wrap.FRAME_WIDTH) * int(data[at])
    nodes = int(data[record + wrap.NETWORK])
    if nodes == 0:
        return
    net, radius = record + wrap.SHAPES + wrap.SHAPE_WIDTH, data[record + wrap.SHAPES + wrap.SHAPE_PARAMETERS]
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    near, far = min(dot2(p, p), dot2(s, s)), max(dot2(p, p), dot2(s, s))
    turn = math.atan2(cross2(p, s), dot2(p, s)) % (2.0 * math.pi)
    inside = near >= (radius * wrap.NEAREST) ** 2 and far <= (radius * wrap.FARTHEST) ** 2
    if not (inside and turn <= wrap.MOST_TURN):
        return
    own[wrap.STATUS] = wrap.ALONG_NODES
    for k in range(12):
        own[wrap.NODES_BY + k] = gradient[k]
    if known(radius, rates, own):
        return
    size, rows = wrap.OUT_SIZE * nodes, ROWS * (nodes - 2)
    units, begin = int(data[net + 1]), wrap.NODE_PLACES + 2 * size
    x, y = own[begin : begin + rows * units], own[begin + rows * units : begin + 2 * rows * units]
    through_network(data, net, own, turn, x, y)
    found = x if int(data[net]) % 2 else y
    for k in range(nodes):
        place = wrap.NODE_PLACES + wrap.OUT_SIZE * k
        # at both ends its values do not count
        y = found[ROWS * units * min(max(k - 1, 0), nodes - 3) :]
        lay_node(own, data[net + 3 + k], radius, rates, y, units, own[place : place + wrap.OUT_SIZE])
    for k in range(nodes):
        bent = own[wrap.NODE_PLACES + size + wrap.OUT_SIZE * k :][: wrap.OUT_SIZE]
        bent[:] = 0.0
        for i in range(nodes):
            place, weight = wrap.NODE_PLACES + wrap.OUT_SIZE * i, data[net + 3 + nodes * (k + 1) + i]
            for j in range(wrap.OUT_SIZE):
                bent[j] += weight * own[place + j]


@for_muscles(bits=NETWORK_BITS)
def follow_network(arrays: Array, at: int, rates: Array, own: Array, gradient: Array) -> None:
    """As `lay_nodes`, for a model."""
    lay_nodes(arrays[MODEL_DATA], at, rates, own, gradient)
