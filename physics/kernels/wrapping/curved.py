"""The path over one ellipsoid, torus or sphere-capped cylinder, as `wrap_round` has it over one sphere or
cylinder.
"""

from __future__ import annotations

import math

from ..algebra.axes import put3
from ..algebra.spatial import Array, Vector, cross, flat3, flat9, rotate, scale_add3, subtract3, transposed
from ..compiler.jit import inline, shared
from .flow import lane_position, lane_step, lane_tangent
from .geodesic import dots, end_in_time, get_moving, lane_of_time, less, node, put_moving, slid
from .layout import (
    ALONG_ENDS,
    ARC,
    ARC_ENDS,
    ASIDE_ENDS,
    ASIDE_LANE,
    AXES,
    BEGINNING,
    CURVATURE,
    ENDS,
    FIRST_DIRECTION,
    FIRST_ENDS,
    FIRST_LENGTH,
    FIRST_POINT,
    FRAMES,
    LANE,
    LANES,
    LAST_DIRECTION,
    LAST_LENGTH,
    LAST_POINT,
    LENGTH,
    LENGTH_ENDS,
    LEVEL_ENDS,
    LEVEL_LANE,
    OUT_TANGENT,
    PLACES,
    PLANE_LENGTH,
    RATE,
    REACH_ENDS,
    ROUND_SIZE,
    SHAPE_KIND,
    START,
    START_RATE,
    START_SECOND,
    STEP_SPACE,
    STEPS,
    STOP,
    STOP_RATE,
    STOP_SECOND,
    TIME_LANE,
    TURN_ENDS,
    TURN_LANE,
    WRAPPED,
)
from .planar import blend, store_jet
from .round import combine, into_world, seen_from
from .search import find_path, surface_size
from .surface import Moving, good_step


@shared
def curved_path(data: Array, shape: int, width: float, rates: Array, own: Array, gradient: Array) -> int:
    """As `wrap_round.round_path`, over the one curved obstacle whose record begins at `shape`."""
    r, origin = flat9(own, FRAMES), flat3(own, FRAMES + 9)
    spin, drift = rotate(transposed(r), flat3(rates, 6)), flat3(rates, 9)
    start, stop = subtract3(flat3(own, ENDS), origin), subtract3(flat3(own, ENDS + 3), origin)
    p = seen_from(r, start, subtract3(flat3(rates, 0), drift), spin)
    q = seen_from(r, stop, subtract3(flat3(rates, 3), drift), spin)
    kind, size = int(data[shape + SHAPE_KIND]), surface_size(data, shape)
    status = find_path(data, shape, width, own, p, q)
    if status != WRAPPED:
        return status
    lane_of_time(kind, size, own, p, q)
    for k in range(7):
        own[BEGINNING + k] = own[ARC] if k == 6 else own[node(0, ASIDE_LANE) + k]
    put3(own, AXES, (r[0], r[3], r[6]))
    put3(own, AXES + 3, (r[1], r[4], r[7]))
    put3(own, AXES + 6, (r[2], r[5], r[8]))
    for k in range(3):
        put3(own, START + 3 * k, p[k])
        put3(own, STOP + 3 * k, q[k])
    end_points(kind, size, own)
    lengths(own, p, q)
    g, h = rotate(r, flat3(own, LENGTH_ENDS)), rotate(r, flat3(own, LENGTH_ENDS + 3))
    a, b = cross(g, start), cross(h, stop)
    for k in range(3):
        gradient[k], gradient[3 + k], gradient[6 + k], gradient[9 + k] = g[k], h[k], a[k] + b[k], -g[k] - h[k]
    return WRAPPED


@inline
def slopes_at(own: Array, number: int, into: int, part: int, tangent: Vector) -> None:
    """Derivatives by both ends (3 x 6) of position (part 0) or tangent (part 3) of the geodesic at a node, at a fixed
    arc length; `tangent`: what moving its beginning along adds.
    """
    begin = node(number, 0) + 6 + part
    aside, turn, level = begin + LANE * ASIDE_LANE, begin + LANE * TURN_LANE, begin + LANE * LEVEL_LANE
    for i in range(3):
        for k in range(6):
            own[into + 6 * i + k] = (
                own[ALONG_ENDS + k] * tangent[i]
                + own[ASIDE_ENDS + k] * own[aside + i]
                + own[TURN_ENDS + k] * own[turn + i]
                + own[LEVEL_ENDS + k] * own[level + i]
            )


@inline
def end_points(kind: int, size: Vector, own: Array) -> None:
    """Both ends of the geodesic and its tangents there, with derivatives in time and by the strand's ends."""
    last = int(own[STEPS])
    x, t = lane_position(own, node(0, TIME_LANE)), lane_tangent(own, node(0, TIME_LANE))
    y, w = end_in_time(kind, size, own)
    zero = (0.0, 0.0, 0.0)
    _, bend = slid(kind, size, (x[0], zero, zero), (t[0], zero, zero), 1.0, 0.0)
    _, turn = slid(kind, size, (y[0], zero, zero), (w[0], zero, zero), 1.0, 0.0)
    put_moving(own, FIRST_POINT, x)
    put_moving(own, FIRST_DIRECTION, t)
    put_moving(own, LAST_POINT, y)
    put_moving(own, LAST_DIRECTION, w)
    slopes_at(own, 0, FIRST_POINT + 9, 0, t[0])
    slopes_at(own, 0, FIRST_DIRECTION + 9, 3, bend[1])
    slopes_at(own, last, LAST_POINT + 9, 0, w[0])
    slopes_at(own, last, LAST_DIRECTION + 9, 3, turn[1])
    for i in range(3):
        for k in range(6):
            own[LAST_POINT + 9 + 6 * i + k] += w[0][i] * own[ARC_ENDS + k]
            own[LAST_DIRECTION + 9 + 6 * i + k] += turn[1][i] * own[ARC_ENDS + k]


@inline
def line_length(line: Moving) -> Vector:
    square = dots(line, line)
    length = math.sqrt(square[0])
    rate = 0.5 * square[1] / length
    return length, rate, (0.5 * square[2] - rate * rate) / length


@inline
def lengths(own: Array, p: Moving, q: Moving) -> None:
    """Lengths of all pieces and of the whole, with derivatives in time and by the strand's ends."""
    first = line_length(less(get_moving(own, FIRST_POINT), p))
    last = line_length(less(q, get_moving(own, LAST_POINT)))
    store_jet(own, FIRST_LENGTH, first)
    store_jet(own, LAST_LENGTH, last)
    own[LENGTH] = first[0] + own[ARC] + last[0]
    own[RATE] = first[1] + own[ARC + 1] + last[1]
    own[CURVATURE] = first[2] + own[ARC + 2] + last[2]
    store_jet(own, PLANE_LENGTH, (own[LENGTH], own[RATE], own[CURVATURE]))
    for k in range(6):
        before, behind = 0.0, 0.0
        for i in range(3):
            t, w = own[FIRST_DIRECTION + i], own[LAST_DIRECTION + i]
            before += t * (own[FIRST_POINT + 9 + 6 * i + k] - (1.0 if k == i else 0.0))
            behind += w * ((1.0 if k == 3 + i else 0.0) - own[LAST_POINT + 9 + 6 * i + k])
        own[FIRST_ENDS + k] = before
        own[LENGTH_ENDS + k] = before + own[ARC_ENDS + k] + behind


@inline
def advanced(x: Moving, u: Moving, s: Vector) -> Moving:
    """x + s u, all moving."""
    v = scale_add3(scale_add3(x[1], s[1], u[0]), s[0], u[1])
    a = scale_add3(scale_add3(scale_add3(x[2], s[2], u[0]), 2.0 * s[1], u[1]), s[0], u[2])
    return scale_add3(x[0], s[0], u[0]), v, a


@inline
def plus_share(total: Moving, share: Vector, x: Moving) -> Moving:
    """total + share x, all moving."""
    return advanced(total, x, share)


@shared
def on_geodesic(
    kind: int, size: Vector, own: Array, past: Vector, across: Array, share: float
) -> tuple[Moving, Vector]:
    """The point of the geodesic at a moving arc length from its beginning, and its tangent; `share` of its
    derivatives by both ends is added to `across`.
    """
    steps = int(own[STEPS])
    number = 0
    while number < steps and own[PLACES + number + 1] <= past[0]:
        number += 1
    found = STEP_SPACE + 13 * LANE
    for k in range(LANE * LANES):
        own[found + k] = own[node(number, 0) + k]
    left = past[0] - own[PLACES + number]
    # Beyond its ends, where it blends into the lines, the geodesic may be as long as many steps.
    while left != 0.0:
        count = math.ceil(abs(left) / good_step(kind, size, own, found + LANE * ASIDE_LANE))
        step = left / count
        for lane in range(LANES):
            lane_step(kind, size, own, found + LANE * lane, step, found + LANE * lane, STEP_SPACE)
        left = left - step if count > 1.0 else 0.0
    y, w = lane_position(own, found), lane_tangent(own, found)
    x, t = slid(kind, size, y, w, past[1], past[2])
    begin = found + 6
    aside, turn, level = begin + LANE * ASIDE_LANE, begin + LANE * TURN_LANE, begin + LANE * LEVEL_LANE
    for i in range(3):
        for k in range(6):
            across[9 * (k // 3) + 3 * i + k % 3] += share * (
                (own[ALONG_ENDS + k] - own[FIRST_ENDS + k]) * w[0][i]
                + own[ASIDE_ENDS + k] * own[aside + i]
                + own[TURN_ENDS + k] * own[turn + i]
                + own[LEVEL_ENDS + k] * own[level + i]
            )
    return x, t[0]


@shared
def curved_point(
    data: Array,
    shape: int,
    own: Array,
    sigma: float,
    sigma_rate: float,
    rates: Array,
    out: Array,
) -> None:
    """As `wrap_round.round_point`, of a path that `curved_path` found wrapped."""
    kind, size = int(data[shape + SHAPE_KIND]), surface_size(data, shape)
    across = own[ROUND_SIZE + 8 : ROUND_SIZE + 26]
    past = sigma - own[FIRST_LENGTH], sigma_rate - own[FIRST_LENGTH + 1], -own[FIRST_LENGTH + 2]
    left = own[LENGTH] - sigma, own[RATE] - sigma_rate, own[CURVATURE]
    over = own[LAST_LENGTH] - left[0], own[LAST_LENGTH + 1] - left[1], own[LAST_LENGTH + 2] - left[2]
    first, first_slope, first_past = blend(own, past)
    last, last_slope, last_past = blend(own, over)
    p = flat3(own, START), flat3(own, START_RATE), flat3(own, START_SECOND)
    q = flat3(own, STOP), flat3(own, STOP_RATE), flat3(own, STOP_SECOND)
    t, w = get_moving(own, FIRST_DIRECTION), get_moving(own, LAST_DIRECTION)
    line = advanced(p, t, (sigma, sigma_rate, 0.0))
    end = advanced(q, w, (-left[0], -left[1], -left[2]))
    rest = (1.0 - first[0], -first[1], -first[2])
    share = first[0] - last[0], first[1] - last[1], first[2] - last[2]
    zero = (0.0, 0.0, 0.0)
    x = plus_share(plus_share((zero, zero, zero), rest, line), last, end)
    ahead = scale_add3((rest[0] * t[0][0], rest[0] * t[0][1], rest[0] * t[0][2]), last[0], w[0])
    for k in range(18):
        across[k] = 0.0
    if first[0] > 0.0 and last[0] < 1.0:
        arc, direction = on_geodesic(kind, size, own, past, across, share[0])
        x = plus_share(x, share, arc)
        ahead = scale_add3(ahead, share[0], direction)
        bend, leave = subtract3(arc[0], line[0]), subtract3(end[0], arc[0])
        ahead = scale_add3(scale_add3(ahead, first_slope, bend), last_slope, leave)
        blended_ends(own, first_slope, first_past, bend, last_slope, last_past, leave, across)
    for i in range(3):
        across[4 * i] += rest[0]
        across[9 + 4 * i] += last[0]
        for k in range(6):
            place = 9 * (k // 3) + 3 * i + k % 3
            across[place] += rest[0] * sigma * own[FIRST_DIRECTION + 9 + 6 * i + k]
            across[place] -= last[0] * left[0] * own[LAST_DIRECTION + 9 + 6 * i + k]
            across[place] -= last[0] * own[LENGTH_ENDS + k] * w[0][i]
    jx, jy, jz = flat3(own, AXES), flat3(own, AXES + 3), flat3(own, AXES + 6)
    put3(out, OUT_TANGENT, combine(jx, jy, jz, ahead))
    arm, velocity, own_bias = combine(jx, jy, jz, x[0]), combine(jx, jy, jz, x[1]), combine(jx, jy, jz, x[2])
    into_world(own, rates, across, arm, velocity, own_bias, out)


@inline
def blended_ends(
    own: Array,
    first_slope: float,
    first_past: float,
    bend: Vector,
    last_slope: float,
    last_past: float,
    leave: Vector,
    across: Array,
) -> None:
    """What the ends do to the shares of line, geodesic and line."""
    for k in range(6):
        first_by = first_slope * (-own[FIRST_ENDS + k] - first_past * own[REACH_ENDS + k])
        begin = own[FIRST_ENDS + k] + own[ARC_ENDS + k]
        last_by = last_slope * (-begin - last_past * own[REACH_ENDS + k])
        for i in range(3):
            across[9 * (k // 3) + 3 * i + k % 3] += first_by * bend[i] + last_by * leave[i]


@shared
def curved_contact(own: Array, last: bool, rates: Array, out: Array) -> None:
    """Where the path touches first or last, as `curved_point` gives a point; without a tangent."""
    at = LAST_POINT if last else FIRST_POINT
    across = own[ROUND_SIZE + 8 : ROUND_SIZE + 26]
    for i in range(3):
        for k in range(6):
            across[9 * (k // 3) + 3 * i + k % 3] = own[at + 9 + 6 * i + k]
    x, v, a = get_moving(own, at)
    jx, jy, jz = flat3(own, AXES), flat3(own, AXES + 3), flat3(own, AXES + 6)
    arm, velocity = combine(jx, jy, jz, x), combine(jx, jy, jz, v)
    into_world(own, rates, across, arm, velocity, combine(jx, jy, jz, a), out)
