"""The path over one ellipsoid, torus or sphere-capped cylinder, with the interface of `round`."""

import math

from ..algebra.access import flat3, flat9
from ..algebra.axes import put3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .flow import lane_position, lane_tangent
from .geodesic import ZERO
from .jacobi import FIELDS, darboux, fields_by, moved_by, turned_tangent
from .lanes import (
    dots,
    end_in_time,
    get_moving,
    lane_march,
    lane_of_time,
    lay_geodesic,
    less,
    level_moves,
    move_ends,
    node,
    put_moving,
    slid,
)
from .planar import blend, store_jet
from .round import combine, into_world, seen_from
from .search import find_path
from .surface import TURN, Moving, next_step, surface_size


@shared
def curved_path(data: Array, shape: int, width: float, rates: Array, own: Array, gradient: Array) -> int:
    """As `round.round_path`, over the one curved obstacle with the record at `shape`."""
    r, origin = flat9(own, wrap.FRAMES), flat3(own, wrap.FRAMES + 9)
    spin, drift = rotate(transposed(r), flat3(rates, 6)), flat3(rates, 9)
    start, stop = subtract3(flat3(own, wrap.ENDS), origin), subtract3(flat3(own, wrap.ENDS + 3), origin)
    p = seen_from(r, start, subtract3(flat3(rates, 0), drift), spin)
    q = seen_from(r, stop, subtract3(flat3(rates, 3), drift), spin)
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    found = own[wrap.STATUS] == wrap.FOUND
    for k in range(6):
        found = found and own[wrap.LEVEL_ENDS + k] == 0.0 and own[wrap.REACH_ENDS + k] == 0.0
    status = wrap.WRAPPED if found else find_path(data, shape, width, own, p, q)
    if status != wrap.WRAPPED:
        return status
    put3(own, wrap.AXES, (r[0], r[3], r[6]))
    put3(own, wrap.AXES + 3, (r[1], r[4], r[7]))
    put3(own, wrap.AXES + 6, (r[2], r[5], r[8]))
    for k in range(3):
        put3(own, wrap.START + 3 * k, p[k])
        put3(own, wrap.STOP + 3 * k, q[k])
    own[wrap.LAID] = 0.0
    if level_moves(own):
        lay_path(kind, size, own)
    else:
        length_in_time(own, p, q)
    g, h = rotate(r, flat3(own, wrap.LENGTH_ENDS)), rotate(r, flat3(own, wrap.LENGTH_ENDS + 3))
    a, b = cross(g, start), cross(h, stop)
    for k in range(3):
        gradient[k], gradient[3 + k], gradient[6 + k], gradient[9 + k] = g[k], h[k], a[k] + b[k], -g[k] - h[k]
    return wrap.WRAPPED


@shared
def lay_path(kind: int, size: Vector, own: Array) -> None:
    """All of a path that was found, unless it is there."""
    if own[wrap.LAID] != 0.0:
        return
    p, q = get_moving(own, wrap.START), get_moving(own, wrap.STOP)
    lay_geodesic(kind, size, own, p[0], q[0])
    lane_of_time(kind, size, own, p, q)
    end_points(kind, size, own)
    lengths(own, p, q)
    own[wrap.LAID] = 1.0


@inline
def length_in_time(own: Array, p: Moving, q: Moving) -> None:
    """Length of a path over a level that does not move, with two derivatives in time: the first follows from the ends
    and the lines' directions alone, the second from how the tangents turn.
    """
    x, y = flat3(own, wrap.FIRST_POINT), flat3(own, wrap.LAST_POINT)
    t, w = flat3(own, wrap.FIRST_DIRECTION), flat3(own, wrap.LAST_DIRECTION)
    off, beside = -dot3(flat3(own, wrap.NORMAL), p[1]), -dot3(flat3(own, wrap.BESIDE), p[1])
    passed, aside = dot3(flat3(own, wrap.LAST_NORMAL), q[1]), dot3(flat3(own, wrap.LAST_BESIDE), q[1])
    along, aside, turn, longer = moved_by(own, (off, beside, passed, aside))
    field, slope = fields_by(own, aside, turn)
    bend, last_bend = (
        turned_tangent(own, 0, along, aside, turn),
        turned_tangent(own, 1, along + longer, field, slope),
    )
    first, last = subtract3(x, p[0]), subtract3(q[0], y)
    own[wrap.FIRST_LENGTH], own[wrap.LAST_LENGTH] = math.sqrt(dot3(first, first)), math.sqrt(dot3(last, last))
    own[wrap.LENGTH] = own[wrap.FIRST_LENGTH] + own[wrap.ARC] + own[wrap.LAST_LENGTH]
    own[wrap.RATE] = dot3(w, q[1]) - dot3(t, p[1])
    own[wrap.CURVATURE] = dot3(last_bend, q[1]) - dot3(bend, p[1]) + dot3(w, q[2]) - dot3(t, p[2])
    own[wrap.PLANE_LENGTH] = own[wrap.LENGTH]
    put3(own, wrap.LENGTH_ENDS, (-t[0], -t[1], -t[2]))
    put3(own, wrap.LENGTH_ENDS + 3, w)


@inline
def end_slopes(
    own: Array, last: int, k: int, into: int, t: Vector, along: float, aside: float, turn: float
) -> None:
    """Derivatives by the ends' number k of the first contact (last 0) or the last (1) and of the tangent t there, of
    which the geodesic's end moves along, aside and turns so much; the tangent's are 27 numbers further.
    """
    x = scale_add3((along * t[0], along * t[1], along * t[2]), aside, flat3(own, wrap.BESIDE + 6 * last))
    u = turned_tangent(own, last, along, aside, turn)
    if int(own[wrap.LAYERS]) == wrap.LANES:
        at, rise = node(last * int(own[wrap.STEPS]), wrap.LEVEL_LANE), own[wrap.LEVEL_ENDS + k]
        x = scale_add3(x, rise, lane_position(own, at)[1])
        u = scale_add3(u, rise, lane_tangent(own, at)[1])
    for i in range(3):
        own[into + 9 + 6 * i + k], own[into + 36 + 6 * i + k] = x[i], u[i]


@inline
def end_points(kind: int, size: Vector, own: Array) -> None:
    """Both ends of the geodesic and its tangents there, with derivatives in time and by the strand's ends."""
    x, t = lane_position(own, node(0, wrap.TIME_LANE)), lane_tangent(own, node(0, wrap.TIME_LANE))
    y, w = end_in_time(kind, size, own)
    put_moving(own, wrap.FIRST_POINT, x)
    put_moving(own, wrap.FIRST_DIRECTION, t)
    put_moving(own, wrap.LAST_POINT, y)
    put_moving(own, wrap.LAST_DIRECTION, w)
    slopes_by_ends(own, t[0], w[0])


@inline
def slopes_by_ends(own: Array, t: Vector, w: Vector) -> None:
    """Derivatives by the strand's ends of both contacts and of the tangents t and w there."""
    for k in range(6):
        along, aside, turn = own[wrap.ALONG_ENDS + k], own[wrap.ASIDE_ENDS + k], own[wrap.TURN_ENDS + k]
        field, slope = fields_by(own, aside, turn)
        end_slopes(own, 0, k, wrap.FIRST_POINT, t, along, aside, turn)
        end_slopes(own, 1, k, wrap.LAST_POINT, w, along + own[wrap.ARC_ENDS + k], field, slope)


@inline
def line_length(line: Moving) -> Vector:
    square = dots(line, line)
    length = math.sqrt(square[0])
    rate = 0.5 * square[1] / length
    return length, rate, (0.5 * square[2] - rate * rate) / length


@inline
def lengths(own: Array, p: Moving, q: Moving) -> None:
    """Lengths of all pieces and of the whole, with derivatives in time and by the strand's ends."""
    first = line_length(less(get_moving(own, wrap.FIRST_POINT), p))
    last = line_length(less(q, get_moving(own, wrap.LAST_POINT)))
    store_jet(own, wrap.FIRST_LENGTH, first)
    store_jet(own, wrap.LAST_LENGTH, last)
    own[wrap.LENGTH] = first[0] + own[wrap.ARC] + last[0]
    own[wrap.RATE] = first[1] + own[wrap.ARC + 1] + last[1]
    own[wrap.CURVATURE] = first[2] + own[wrap.ARC + 2] + last[2]
    store_jet(own, wrap.PLANE_LENGTH, (own[wrap.LENGTH], own[wrap.RATE], own[wrap.CURVATURE]))
    for k in range(6):
        before, after = 0.0, 0.0
        for i in range(3):
            t, w = own[wrap.FIRST_DIRECTION + i], own[wrap.LAST_DIRECTION + i]
            before += t * (own[wrap.FIRST_POINT + 9 + 6 * i + k] - (1.0 if k == i else 0.0))
            after += w * ((1.0 if k == 3 + i else 0.0) - own[wrap.LAST_POINT + 9 + 6 * i + k])
        own[wrap.FIRST_ENDS + k] = before
        own[wrap.LENGTH_ENDS + k] = before + own[wrap.ARC_ENDS + k] + after


@inline
def advanced(x: Moving, u: Moving, s: Vector) -> Moving:
    """x + s u, with derivatives in time."""
    v = scale_add3(scale_add3(x[1], s[1], u[0]), s[0], u[1])
    a = scale_add3(scale_add3(scale_add3(x[2], s[2], u[0]), 2.0 * s[1], u[1]), s[0], u[2])
    return scale_add3(x[0], s[0], u[0]), v, a


@inline
def plus_share(total: Moving, share: Vector, x: Moving) -> Moving:
    """total + share x, with derivatives in time."""
    return advanced(total, x, share)


@shared
def on_geodesic(
    kind: int, size: Vector, own: Array, past: Vector, across: Array, share: float
) -> tuple[Moving, Vector]:
    """The point of the geodesic at a variable arc length from its beginning, and its tangent; adds `share` of its
    derivatives by both ends to `across`.
    """
    steps = int(own[wrap.STEPS])
    number = 0
    while number < steps and own[wrap.PLACES + number + 1] <= past[0]:
        number += 1
    found, layers = wrap.STEP_SPACE + 12 * wrap.STAGES, int(own[wrap.LAYERS])
    for k in range(wrap.LANE * layers):
        own[found + k] = own[node(number, 0) + k]
    left = past[0] - own[wrap.PLACES + number]
    # The geodesic extends by up to so many steps beyond its ends, where it blends into the lines.
    for _ in range(wrap.MOST_STEPS):
        if left == 0.0:
            break
        step = next_step(kind, size, flat3(own, found), flat3(own, found + wrap.TANGENTS), left, TURN)
        for lane in range(layers):
            at = found + wrap.LANE * lane
            lane_march(kind, size, own, lane, at, step, at)
        left = left - step if step != left else 0.0
    y, w = lane_position(own, found), lane_tangent(own, found)
    x, t = slid(kind, size, y, w, past[1], past[2])
    _, side, _, _ = darboux(kind, size, y[0], w[0])
    fields, rise = found + wrap.LANE * wrap.FIELDS_LANE + FIELDS, ZERO
    if layers == wrap.LANES:
        rise = lane_position(own, found + wrap.LANE * wrap.LEVEL_LANE)[1]
    for k in range(6):
        along = own[wrap.ALONG_ENDS + k] - own[wrap.FIRST_ENDS + k]
        aside = own[wrap.ASIDE_ENDS + k] * own[fields] + own[wrap.TURN_ENDS + k] * own[fields + 1]
        for i in range(3):
            slope = along * w[0][i] + aside * side[i] + own[wrap.LEVEL_ENDS + k] * rise[i]
            across[9 * (k // 3) + 3 * i + k % 3] += share * slope
    return x, t[0]


@shared
def curved_point(
    data: Array, shape: int, own: Array, sigma: float, sigma_rate: float, rates: Array, out: Array
) -> None:
    """As `round.round_point`, of a wrapped path from `curved_path`."""
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    lay_path(kind, size, own)
    across = own[wrap.ROUND_SIZE + 8 : wrap.ROUND_SIZE + 26]
    past = (
        sigma - own[wrap.FIRST_LENGTH],
        sigma_rate - own[wrap.FIRST_LENGTH + 1],
        -own[wrap.FIRST_LENGTH + 2],
    )
    left = own[wrap.LENGTH] - sigma, own[wrap.RATE] - sigma_rate, own[wrap.CURVATURE]
    over = (
        own[wrap.LAST_LENGTH] - left[0],
        own[wrap.LAST_LENGTH + 1] - left[1],
        own[wrap.LAST_LENGTH + 2] - left[2],
    )
    first, first_slope, first_past = blend(own, past)
    last, last_slope, last_past = blend(own, over)
    p = flat3(own, wrap.START), flat3(own, wrap.START_RATE), flat3(own, wrap.START_SECOND)
    q = flat3(own, wrap.STOP), flat3(own, wrap.STOP_RATE), flat3(own, wrap.STOP_SECOND)
    t, w = get_moving(own, wrap.FIRST_DIRECTION), get_moving(own, wrap.LAST_DIRECTION)
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
            across[place] += rest[0] * sigma * own[wrap.FIRST_DIRECTION + 9 + 6 * i + k]
            across[place] -= last[0] * left[0] * own[wrap.LAST_DIRECTION + 9 + 6 * i + k]
            across[place] -= last[0] * own[wrap.LENGTH_ENDS + k] * w[0][i]
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    put3(out, wrap.OUT_TANGENT, combine(jx, jy, jz, ahead))
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
    """Derivatives by the ends of the shares of line, geodesic and line."""
    for k in range(6):
        first_by = first_slope * (-own[wrap.FIRST_ENDS + k] - first_past * own[wrap.REACH_ENDS + k])
        begin = own[wrap.FIRST_ENDS + k] + own[wrap.ARC_ENDS + k]
        last_by = last_slope * (-begin - last_past * own[wrap.REACH_ENDS + k])
        for i in range(3):
            across[9 * (k // 3) + 3 * i + k % 3] += first_by * bend[i] + last_by * leave[i]


@inline
def rest(own: Array) -> None:
    """Both contacts at rest, over a level that does not move."""
    move_ends(own, (0.0, 0.0, 0.0, 0.0))
    own[wrap.LAYERS] = wrap.LANES - 1
    slopes_by_ends(own, flat3(own, wrap.FIRST_DIRECTION), flat3(own, wrap.LAST_DIRECTION))
    for at in (wrap.FIRST_POINT, wrap.LAST_POINT):
        put3(own, at + 3, ZERO)
        put3(own, at + 6, ZERO)


@shared
def curved_contact(data: Array, shape: int, own: Array, last: bool, rates: Array, out: Array) -> None:
    """First or last contact of the path, as a point from `curved_point`; without a tangent."""
    moving = level_moves(own)
    for k in range(12):
        moving = moving or rates[k] != 0.0
    if moving:
        lay_path(int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape), own)
    else:
        rest(own)
    at = wrap.LAST_POINT if last else wrap.FIRST_POINT
    across = own[wrap.ROUND_SIZE + 8 : wrap.ROUND_SIZE + 26]
    for i in range(3):
        for k in range(6):
            across[9 * (k // 3) + 3 * i + k % 3] = own[at + 9 + 6 * i + k]
    x, v, a = get_moving(own, at)
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    arm, velocity = combine(jx, jy, jz, x), combine(jx, jy, jz, v)
    into_world(own, rates, across, arm, velocity, combine(jx, jy, jz, a), out)
