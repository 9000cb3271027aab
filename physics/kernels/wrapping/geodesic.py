"""The path over one curved obstacle: line, geodesic, line, by Newton's method for lines tangent to the geodesic.

The geodesic's beginning varies along itself, aside, and in direction, and its length varies (the natural variations of
Scholz et al. 2016); lanes propagate these to its end. Derivatives by the inputs and in time follow from those of the
mismatch.
"""

from __future__ import annotations

import math

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .flow import geodesic_curve, lane_position, lane_step, lane_tangent, set_lane
from .surface import Moving, good_step, gradient_of, on_level

ZERO = (0.0, 0.0, 0.0)
WIDTH = 11  # of the system: 4 columns, then 7 right sides
MOST_ITERATIONS = 25
MOST_HALVINGS = 10
LARGEST_TURN = 0.5
NEAR = 1e-9  # of the path: after a step of Newton's method below this only round-off remains


@inline
def dots(a: Moving, b: Moving) -> Vector:
    return (
        dot3(a[0], b[0]),
        dot3(a[1], b[0]) + dot3(a[0], b[1]),
        dot3(a[2], b[0]) + 2.0 * dot3(a[1], b[1]) + dot3(a[0], b[2]),
    )


@inline
def crossed(a: Moving, b: Moving) -> Moving:
    c, d, e = cross(a[2], b[0]), cross(a[1], b[1]), cross(a[0], b[2])
    f, g = cross(a[1], b[0]), cross(a[0], b[1])
    return (
        cross(a[0], b[0]),
        (f[0] + g[0], f[1] + g[1], f[2] + g[2]),
        (c[0] + 2.0 * d[0] + e[0], c[1] + 2.0 * d[1] + e[1], c[2] + 2.0 * d[2] + e[2]),
    )


@inline
def less(a: Moving, b: Moving) -> Moving:
    return subtract3(a[0], b[0]), subtract3(a[1], b[1]), subtract3(a[2], b[2])


@inline
def mismatch(kind: int, size: Vector, x: Moving, t: Moving, line: Moving) -> tuple[Vector, Vector]:
    """Mismatch of a line and the tangent t at x of the surface, across the surface and aside in it; along a lane."""
    g = gradient_of(kind, size, x[0], x[1], x[2])
    return dots(g, line), dots(crossed(t, g), line)


@inline
def node(number: int, lane: int) -> int:
    return wrap.NODES + wrap.LANE * (wrap.LANES * number + lane)


@shared
def follow(kind: int, size: Vector, own: Array, lane: int, mesh: bool) -> bool:
    """Integrate a lane from the beginning to the geodesic's end over all nodes, which are placed anew where `mesh`;
    False where there are too few.
    """
    if mesh:
        own[wrap.STEPS], own[wrap.PLACES] = 0.0, 0.0
    number = 0
    length = own[wrap.ARC]
    while True:
        if mesh:
            left = length - own[wrap.PLACES + number]
            if left == 0.0:
                return True
            if number == wrap.MOST_STEPS:
                return False
            step = good_step(kind, size, own, node(number, lane))
            count = math.ceil(abs(left) / step)
            place = length if count == 1.0 else own[wrap.PLACES + number] + left / count
            own[wrap.PLACES + number + 1] = place
            own[wrap.STEPS] = number + 1
        elif number == int(own[wrap.STEPS]):
            return True
        step = own[wrap.PLACES + number + 1] - own[wrap.PLACES + number]
        lane_step(kind, size, own, node(number, lane), step, node(number + 1, lane), wrap.STEP_SPACE)
        number += 1


@inline
def start_lanes(kind: int, size: Vector, own: Array, x: Vector, t: Vector) -> None:
    """Variations of the beginning: aside in the surface, rotated in it, to another level; the tangent remains a unit
    tangent.
    """
    g, _, _ = gradient_of(kind, size, x, ZERO, ZERO)
    square = dot3(g, g)
    strength = math.sqrt(square)
    aside = cross(t, (g[0] / strength, g[1] / strength, g[2] / strength))
    _, h, _ = gradient_of(kind, size, x, aside, ZERO)
    dip = -dot3(h, t) / square
    set_lane(own, node(0, wrap.ASIDE_LANE), (x, aside, ZERO), (t, (dip * g[0], dip * g[1], dip * g[2]), ZERO))
    set_lane(own, node(0, wrap.TURN_LANE), (x, ZERO, ZERO), (t, aside, ZERO))
    up = (g[0] / square, g[1] / square, g[2] / square)
    _, h, _ = gradient_of(kind, size, x, up, ZERO)
    dip = -dot3(h, t) / square
    set_lane(own, node(0, wrap.LEVEL_LANE), (x, up, ZERO), (t, (dip * g[0], dip * g[1], dip * g[2]), ZERO))


@inline
def put_column(own: Array, column: int, a: float, b: float, c: float, d: float) -> None:
    own[wrap.SYSTEM + column], own[wrap.SYSTEM + WIDTH + column] = a, b
    own[wrap.SYSTEM + 2 * WIDTH + column], own[wrap.SYSTEM + 3 * WIDTH + column] = c, d


@inline
def slope_column(
    kind: int,
    size: Vector,
    own: Array,
    column: int,
    p: Vector,
    q: Vector,
    x: Moving,
    t: Moving,
    y: Moving,
    w: Moving,
) -> None:
    """Derivatives of all four mismatches along a variation of the geodesic, into a column of the system."""
    a, b = mismatch(kind, size, x, t, less(x, (p, ZERO, ZERO)))
    c, d = mismatch(kind, size, y, w, less((q, ZERO, ZERO), y))
    put_column(own, column, a[1], b[1], c[1], d[1])


@shared
def build_system(kind: int, size: Vector, own: Array, p: Vector, q: Vector, level: int) -> float:
    """Derivatives of the mismatches by along, aside, turn, length in the first columns of the system, the negative
    mismatches in the fifth; with `level` >= 0 the derivatives by the level in that column. Returns the mismatches'
    size.
    """
    first, last = 0, int(own[wrap.STEPS])
    x, t = flat3(own, node(first, wrap.ASIDE_LANE)), flat3(own, node(first, wrap.ASIDE_LANE) + 3)
    y, w = flat3(own, node(last, wrap.ASIDE_LANE)), flat3(own, node(last, wrap.ASIDE_LANE) + 3)
    bend, _, _ = geodesic_curve(kind, size, (x, ZERO, ZERO), (t, ZERO, ZERO))
    turn, _, _ = geodesic_curve(kind, size, (y, ZERO, ZERO), (w, ZERO, ZERO))
    ahead, ahead_turning = (y, w, ZERO), (w, turn, ZERO)
    slope_column(kind, size, own, 0, p, q, (x, t, ZERO), (t, bend, ZERO), ahead, ahead_turning)
    slope_column(kind, size, own, 3, p, q, (x, ZERO, ZERO), (t, ZERO, ZERO), ahead, ahead_turning)
    for lane in range(wrap.ASIDE_LANE, wrap.LEVEL_LANE + 1):
        if lane == wrap.LEVEL_LANE and level < 0:
            continue
        begin, end = node(first, lane), node(last, lane)
        column = level if lane == wrap.LEVEL_LANE else lane
        slope_column(
            kind,
            size,
            own,
            column,
            p,
            q,
            lane_position(own, begin),
            lane_tangent(own, begin),
            lane_position(own, end),
            lane_tangent(own, end),
        )
    a, b = mismatch(kind, size, (x, ZERO, ZERO), (t, ZERO, ZERO), (subtract3(x, p), ZERO, ZERO))
    c, d = mismatch(kind, size, (y, ZERO, ZERO), (w, ZERO, ZERO), (subtract3(q, y), ZERO, ZERO))
    if level < 0:
        put_column(own, 4, -a[0], -b[0], -c[0], -d[0])
    return math.sqrt(a[0] * a[0] + b[0] * b[0] + c[0] * c[0] + d[0] * d[0])


@shared
def eliminate(space: Array, at: int, n: int, width: int) -> float:
    """Gauss-Jordan with row pivots on n rows of `width` numbers: the right sides after column n become solutions.
    Returns the determinant, 0 where the matrix is singular.
    """
    determinant = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(space[at + i * width + k]) > abs(space[at + best * width + k]):
                best = i
        pivot = space[at + best * width + k]
        if pivot == 0.0 or not abs(pivot) < 1e300:
            return 0.0
        determinant *= pivot if best == k else -pivot
        for j in range(width):
            kept = space[at + best * width + j] / pivot
            space[at + best * width + j] = space[at + k * width + j]
            space[at + k * width + j] = kept
        for i in range(n):
            share = space[at + i * width + k]
            if i != k and share != 0.0:
                for j in range(k, width):
                    space[at + i * width + j] -= share * space[at + k * width + j]
    return determinant


@inline
def begin_at(kind: int, size: Vector, own: Array, level: float, x: Vector, t: Vector) -> None:
    """Lanes from the point of the level near x, with the tangential part of t."""
    x = on_level(kind, size, level, x)
    g, _, _ = gradient_of(kind, size, x, ZERO, ZERO)
    t = scale_add3(t, -dot3(t, g) / dot3(g, g), g)
    length = math.sqrt(dot3(t, t))
    start_lanes(kind, size, own, x, (t[0] / length, t[1] / length, t[2] / length))


@inline
def measure(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> float:
    """The system of the geodesic from the present beginning, and the mismatches' size; 1e300 where that fails."""
    if not follow(kind, size, own, wrap.ASIDE_LANE, True):
        return 1e300
    follow(kind, size, own, wrap.TURN_LANE, False)
    error = build_system(kind, size, own, p, q, -1)
    return error if error < 1e300 else 1e300


@shared
def find_geodesic(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> bool:
    """Newton's method from the beginning in `own`: point, tangent, length."""
    level = own[wrap.LEVEL]
    begin_at(kind, size, own, level, flat3(own, wrap.BEGINNING), flat3(own, wrap.BEGINNING + 3))
    own[wrap.ARC] = own[wrap.BEGINNING + 6]
    error = measure(kind, size, own, p, q)
    scale = math.sqrt(dot3(subtract3(q, p), subtract3(q, p)))
    for _ in range(MOST_ITERATIONS):
        if error == 1e300 or eliminate(own, wrap.SYSTEM, 4, WIDTH) == 0.0:
            return False
        along, aside = own[wrap.SYSTEM + 4], own[wrap.SYSTEM + WIDTH + 4]
        turn, longer = own[wrap.SYSTEM + 2 * WIDTH + 4], own[wrap.SYSTEM + 3 * WIDTH + 4]
        change = max(abs(along), abs(aside), abs(longer)) / scale
        share = 1.0 / max(1.0, 2.0 * change, abs(turn) / LARGEST_TURN)
        x, t = flat3(own, node(0, wrap.ASIDE_LANE)), flat3(own, node(0, wrap.ASIDE_LANE) + 3)
        side, arc = flat3(own, node(0, wrap.TURN_LANE) + 9), own[wrap.ARC]
        small = max(change, abs(turn)) < NEAR
        for _ in range(MOST_HALVINGS):
            moved = scale_add3(scale_add3(x, share * along, t), share * aside, side)
            begin_at(kind, size, own, level, moved, scale_add3(t, share * turn, side))
            own[wrap.ARC] = max(arc + share * longer, -0.25 * scale)
            now = measure(kind, size, own, p, q)
            if now < error or small:
                break
            share *= 0.5
        error = now
        if small:
            return bool(error < 1e-8 * scale and own[wrap.ARC] > -1e-9 * scale)
    return False


@inline
def put_moving(own: Array, at: int, x: Moving) -> None:
    for k in range(3):
        own[at + k], own[at + 3 + k], own[at + 6 + k] = x[0][k], x[1][k], x[2][k]


@inline
def get_moving(own: Array, at: int) -> Moving:
    return flat3(own, at), flat3(own, at + 3), flat3(own, at + 6)


@shared
def ends_slopes(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> float:
    """Derivatives of the geodesic's beginning and length (along, aside, turn, length) by both ends, with LEVEL_ENDS
    known. Returns the determinant of the system: positive where the geodesic is locally shortest, negative where it is
    a pass between two shorter ones.
    """
    follow(kind, size, own, wrap.LEVEL_LANE, False)
    build_system(kind, size, own, p, q, 10)
    x, y = node(0, wrap.ASIDE_LANE), node(int(own[wrap.STEPS]), wrap.ASIDE_LANE)
    g, _, _ = gradient_of(kind, size, flat3(own, x), ZERO, ZERO)
    h, _, _ = gradient_of(kind, size, flat3(own, y), ZERO, ZERO)
    b, c = cross(flat3(own, x + 3), g), cross(flat3(own, y + 3), h)
    for k in range(3):
        put_column(own, 4 + k, g[k], b[k], 0.0, 0.0)
        put_column(own, 7 + k, 0.0, 0.0, -h[k], -c[k])
    for row in range(4):
        at = wrap.SYSTEM + WIDTH * row
        kept = own[at + 10]
        for k in range(6):
            own[at + 4 + k] -= kept * own[wrap.LEVEL_ENDS + k]
    determinant = eliminate(own, wrap.SYSTEM, 4, WIDTH)
    for k in range(6):
        own[wrap.ALONG_ENDS + k], own[wrap.ASIDE_ENDS + k] = (
            own[wrap.SYSTEM + 4 + k],
            own[wrap.SYSTEM + WIDTH + 4 + k],
        )
        own[wrap.TURN_ENDS + k] = own[wrap.SYSTEM + 2 * WIDTH + 4 + k]
        own[wrap.ARC_ENDS + k] = own[wrap.SYSTEM + 3 * WIDTH + 4 + k]
    return determinant


@inline
def ends_rate(own: Array, row: int, v: Vector, w: Vector) -> float:
    return dot3(flat3(own, row), v) + dot3(flat3(own, row + 3), w)


@inline
def start_in_time(kind: int, size: Vector, own: Array, p: Moving, q: Moving, second: Vector) -> None:
    """The lane of time at the beginning; `second`: second derivatives of along, aside, turn."""
    x, t = flat3(own, node(0, wrap.ASIDE_LANE)), flat3(own, node(0, wrap.ASIDE_LANE) + 3)
    bend, _, _ = geodesic_curve(kind, size, (x, ZERO, ZERO), (t, ZERO, ZERO))
    along, aside = ends_rate(own, wrap.ALONG_ENDS, p[1], q[1]), ends_rate(own, wrap.ASIDE_ENDS, p[1], q[1])
    turn = ends_rate(own, wrap.TURN_ENDS, p[1], q[1])
    side = flat3(own, node(0, wrap.TURN_LANE) + 9)
    up, dip = flat3(own, node(0, wrap.LEVEL_LANE) + 6), flat3(own, node(0, wrap.LEVEL_LANE) + 9)
    tilt = flat3(own, node(0, wrap.ASIDE_LANE) + 9)
    v = scale_add3(
        scale_add3((along * t[0], along * t[1], along * t[2]), aside, side), own[wrap.LEVEL + 1], up
    )
    u = scale_add3(scale_add3((along * bend[0], along * bend[1], along * bend[2]), turn, side), aside, tilt)
    u = scale_add3(u, own[wrap.LEVEL + 1], dip)
    _, g1, _ = gradient_of(kind, size, x, v, ZERO)
    lift = own[wrap.LEVEL + 2] - dot3(g1, v)
    a = scale_add3((second[0] * t[0], second[0] * t[1], second[0] * t[2]), second[1], side)
    a = scale_add3(a, lift, up)
    g, g1, g2 = gradient_of(kind, size, x, v, a)
    fall = -(2.0 * dot3(g1, u) + dot3(g2, t)) / dot3(g, g)
    shrink = -dot3(u, u)
    b = scale_add3((shrink * t[0], shrink * t[1], shrink * t[2]), fall, g)
    b = scale_add3(b, second[2], side)
    set_lane(own, node(0, wrap.TIME_LANE), (x, v, a), (t, u, b))


@inline
def end_in_time(kind: int, size: Vector, own: Array) -> tuple[Moving, Moving]:
    """The geodesic's moving end and its tangent there, from the lane of time and the moving length."""
    at = node(int(own[wrap.STEPS]), wrap.TIME_LANE)
    return slid(
        kind, size, lane_position(own, at), lane_tangent(own, at), own[wrap.ARC + 1], own[wrap.ARC + 2]
    )


@inline
def slid(kind: int, size: Vector, y: Moving, w: Moving, rate: float, second: float) -> tuple[Moving, Moving]:
    """A lane's point and tangent at an arc length that changes in time."""
    c, c1, _ = geodesic_curve(kind, size, y, w)
    _, jerk, _ = geodesic_curve(kind, size, (y[0], w[0], ZERO), (w[0], c, ZERO))
    square = rate * rate
    z1, u1 = scale_add3(y[1], rate, w[0]), scale_add3(w[1], rate, c)
    z2 = scale_add3(scale_add3(scale_add3(y[2], 2.0 * rate, w[1]), second, w[0]), square, c)
    u2 = scale_add3(scale_add3(scale_add3(w[2], 2.0 * rate, c1), second, c), square, jerk)
    return (y[0], z1, z2), (w[0], u1, u2)


@shared
def lane_of_time(kind: int, size: Vector, own: Array, p: Moving, q: Moving) -> None:
    """The geodesic's motion to second order, with LEVEL and the derivatives by the ends known: first without second
    derivatives of the beginning, which then follow from the mismatch.
    """
    own[wrap.ARC + 1], own[wrap.ARC + 2] = ends_rate(own, wrap.ARC_ENDS, p[1], q[1]), 0.0
    start_in_time(kind, size, own, p, q, ZERO)
    follow(kind, size, own, wrap.TIME_LANE, False)
    x, t = lane_position(own, node(0, wrap.TIME_LANE)), lane_tangent(own, node(0, wrap.TIME_LANE))
    y, w = end_in_time(kind, size, own)
    build_system(kind, size, own, p[0], q[0], -1)
    a, b = mismatch(kind, size, x, t, less(x, p))
    c, d = mismatch(kind, size, y, w, less(q, y))
    put_column(own, 4, -a[2], -b[2], -c[2], -d[2])
    eliminate(own, wrap.SYSTEM, 4, WIDTH)
    second = own[wrap.SYSTEM + 4], own[wrap.SYSTEM + WIDTH + 4], own[wrap.SYSTEM + 2 * WIDTH + 4]
    own[wrap.ARC + 2] = own[wrap.SYSTEM + 3 * WIDTH + 4]
    start_in_time(kind, size, own, p, q, second)
    follow(kind, size, own, wrap.TIME_LANE, False)
