"""Shortest path past a circle in its plane: line, arc, line; counterclockwise, with the centre as origin.

Smoothed, two things change. The radius is the smooth maximum of the circle's and of the straight line's distance from
the centre: where the line is farther than the smoothing length, the arc has angle 0 and the path is that line; where it
is deeper, the path is the shortest; in between everything is analytic. And line and arc blend about their tangent
point, over a reach in which they part by about the smoothing length.
"""

import math
from typing import TypeAlias

from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import layout as wrap
from .smooth import NEAR, local_width, ramp_of, smooth_step, taken

Pair: TypeAlias = tuple[float, float]
Four: TypeAlias = tuple[float, float, float, float]

NOTHING = (0.0, 0.0, 0.0, 0.0)
NEAREST = 0.5  # smoothing lengths: a circle with less radius beside an end is ignored
ON = 1e-9  # of the radius: an end so near to the surface lies on it


@inline
def pair(own: Array, offset: int) -> Pair:
    return own[offset], own[offset + 1]


@inline
def store_jet(own: Array, offset: int, x: Vector) -> None:
    own[offset], own[offset + 1], own[offset + 2] = x


@inline
def store_four(own: Array, offset: int, x: Four) -> None:
    own[offset], own[offset + 1], own[offset + 2], own[offset + 3] = x


@inline
def dot2(a: Pair, b: Pair) -> float:
    return a[0] * b[0] + a[1] * b[1]


@inline
def cross2(a: Pair, b: Pair) -> float:
    return a[0] * b[1] - a[1] * b[0]


@inline
def norm_of(x: Pair, rate: Pair, second: Pair) -> Vector:
    """Length of a vector in the plane with two derivatives in time."""
    length = math.sqrt(dot2(x, x))
    speed = dot2(x, rate) / length
    return length, speed, (dot2(rate, rate) + dot2(x, second) - speed * speed) / length


@inline
def line_distance(own: Array) -> tuple[Vector, Four, bool]:
    """Distance of the line through both ends from the centre, positive where it passes on the chosen side, with two
    derivatives in time; its derivatives by the ends; whether the foot of the perpendicular lies between them.
    """
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    v, w = pair(own, wrap.START_RATE), pair(own, wrap.STOP_RATE)
    a, b = pair(own, wrap.START_SECOND), pair(own, wrap.STOP_SECOND)
    e = s[0] - p[0], s[1] - p[1]
    if dot2(e, e) == 0.0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), False
    length, speed, second = norm_of(e, (w[0] - v[0], w[1] - v[1]), (b[0] - a[0], b[1] - a[1]))
    distance = cross2(p, s) / length
    rate = (cross2(v, s) + cross2(p, w) - distance * speed) / length
    area = cross2(a, s) + 2.0 * cross2(v, w) + cross2(p, b)
    curve = (area - 2.0 * rate * speed - distance * second) / length
    n = e[1] / length, -e[0] / length
    part = -dot2(p, e) / dot2(e, e)  # exactly 1 where the path ends at the centre
    rest = 1.0 - part
    by = (rest * n[0], rest * n[1], part * n[0], part * n[1])
    return (distance, rate, curve), by, 0.0 < part < 1.0


@inline
def widths(own: Array, radius: float, width: float) -> tuple[Vector, Vector]:
    """WIDTH with its derivatives; distances of both ends from the centre, with two derivatives in time."""
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    far = norm_of(p, pair(own, wrap.START_RATE), pair(own, wrap.START_SECOND))
    away = norm_of(s, pair(own, wrap.STOP_RATE), pair(own, wrap.STOP_SECOND))
    if min(far[0], away[0]) >= radius + NEAR * width:
        store_jet(own, wrap.WIDTH, (width, 0.0, 0.0))
        store_four(own, wrap.WIDTH_BY, NOTHING)
        return far, away
    first, last = (far[0] - radius, far[1], far[2]), (away[0] - radius, away[1], away[2])
    jet, by_first, by_last = local_width(width, first, last)
    a, b = by_first / far[0], by_last / away[0]
    store_jet(own, wrap.WIDTH, jet)
    store_four(own, wrap.WIDTH_BY, (a * p[0], a * p[1], b * s[0], b * s[1]))
    return far, away


@inline
def least(
    radius: Vector, by: Four, own: Array, at: int, far: Vector, whole: float, steep: float
) -> tuple[Vector, Four]:
    """A radius less what an end (`at`: START or STOP) takes from it, as in `taken`."""
    width = own[wrap.WIDTH], own[wrap.WIDTH + 1], own[wrap.WIDTH + 2]
    if far[0] > radius[0] + 3.0 * width[0] and far[0] >= whole:
        return radius, by
    x = pair(own, at)
    less, by_radius, by_far, by_width = taken(radius, far, whole, steep, width)
    d0, d1 = -by_far * x[0] / far[0], -by_far * x[1] / far[0]
    rest, share = 1.0 - by_radius, -by_width
    more = own[wrap.WIDTH_BY], own[wrap.WIDTH_BY + 1], own[wrap.WIDTH_BY + 2], own[wrap.WIDTH_BY + 3]
    by = (
        rest * by[0] + share * more[0],
        rest * by[1] + share * more[1],
        rest * by[2] + share * more[2],
        rest * by[3] + share * more[3],
    )
    by = (
        (by[0] + d0, by[1] + d1, by[2], by[3]) if at == wrap.START else (by[0], by[1], by[2] + d0, by[3] + d1)
    )
    return (radius[0] - less[0], radius[1] - less[1], radius[2] - less[2]), by


@inline
def with_room(radius: float, far: float) -> tuple[bool, Vector]:
    """Whether the nearest end, so far from the centre, is not inside of a radius, and the radius to wrap over without
    smoothing: a little less for an end on the surface, from which no tangent has a length.
    """
    on = far < (1.0 + ON) * radius
    return far > (1.0 - ON) * radius, ((1.0 - 2.0 * ON) * radius if on else radius, 0.0, 0.0)


@inline
def arc_radius(
    own: Array, radius: float, width: float, forced: bool, behind: bool
) -> tuple[int, Vector, Four]:
    """Whether the path is wrapped, and the radius of its arc with its derivatives; width 0 for the shortest path.

    Args:
        forced: whether a line past the wrong side of the circle must go round. behind: also one that is nearest to it
            before or behind both ends.
    """
    distance, distance_by, between = line_distance(own)
    between = between or (behind and distance[0] < 0.0)
    rho = (radius, 0.0, 0.0)
    if not between or (distance[0] <= -radius - width and not forced):
        return wrap.STRAIGHT, rho, NOTHING
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    if width == 0.0:
        store_jet(own, wrap.WIDTH, (0.0, 0.0, 0.0))
        store_four(own, wrap.WIDTH_BY, NOTHING)
        outer, rho = with_room(radius, math.sqrt(min(dot2(p, p), dot2(s, s))))
        if not outer:
            return wrap.INSIDE, rho, NOTHING
        return wrap.STRAIGHT if distance[0] >= rho[0] else wrap.WRAPPED, rho, NOTHING
    if distance[0] >= radius + width:
        return wrap.STRAIGHT, rho, NOTHING
    far, away = widths(own, radius, width)
    steep = radius / width
    rho, by = least(rho, NOTHING, own, wrap.START, far, radius, steep)
    rho, by = least(rho, by, own, wrap.STOP, away, radius, steep)
    if rho[0] < NEAREST * own[wrap.WIDTH]:
        return wrap.INSIDE, rho, by
    excess = distance[0] - rho[0], distance[1] - rho[1], distance[2] - rho[2]
    if excess[0] >= own[wrap.WIDTH]:
        return wrap.INSIDE if distance[0] < radius - width else wrap.STRAIGHT, rho, by
    more, slope, wider = ramp_of(excess, (own[wrap.WIDTH], own[wrap.WIDTH + 1], own[wrap.WIDTH + 2]))
    rest = 1.0 - slope
    by = (
        rest * by[0] + slope * distance_by[0] + wider * own[wrap.WIDTH_BY],
        rest * by[1] + slope * distance_by[1] + wider * own[wrap.WIDTH_BY + 1],
        rest * by[2] + slope * distance_by[2] + wider * own[wrap.WIDTH_BY + 2],
        rest * by[3] + slope * distance_by[3] + wider * own[wrap.WIDTH_BY + 3],
    )
    return wrap.WRAPPED, (rho[0] + more[0], rho[1] + more[1], rho[2] + more[2]), by


@inline
def reach_of(own: Array, rho: Vector, unit: float) -> float:
    """REACH with two derivatives in time, within which line and arc part by WIDTH times unit; its derivative by the
    product of radius and WIDTH.
    """
    width, rate, second = own[wrap.WIDTH], own[wrap.WIDTH + 1], own[wrap.WIDTH + 2]
    if width == 0.0:
        store_jet(own, wrap.REACH, (0.0, 0.0, 0.0))
        return 0.0
    reach = unit * math.sqrt(2.0 * rho[0] * width)
    share = unit * unit / reach
    speed = share * (rho[1] * width + rho[0] * rate)
    bend = share * (rho[2] * width + 2.0 * rho[1] * rate + rho[0] * second) - speed * speed / reach
    store_jet(own, wrap.REACH, (reach, speed, bend))
    return share


@inline
def tangent_point(own: Array, at: int, sense: float, rho: Vector) -> tuple[Pair, Vector, Vector]:
    """Normal at the tangent point of the line from an end, rate and second derivative of its angle (first of three is
    0), and the line's length; sense 1 at the start, -1 at the end.
    """
    x, v, a = pair(own, at), pair(own, at + 3), pair(own, at + 6)
    square = dot2(x, x)
    length = math.sqrt(max(square - rho[0] * rho[0], 1e-30))  # an end inside: for an initial guess
    along = sense * length
    n = (rho[0] * x[0] - along * x[1]) / square, (rho[0] * x[1] + along * x[0]) / square
    u = -n[1], n[0]
    turn = (dot2(n, v) - rho[1]) / along
    growth = rho[0] * turn - dot2(u, v)  # of `along`
    second = (dot2(n, a) + dot2(u, v) * turn - rho[2] - turn * growth) / along
    curve = rho[1] * turn + rho[0] * second - dot2(u, a) + dot2(n, v) * turn
    return n, (0.0, turn, second), (length, sense * growth, sense * curve)


@shared
def planar_path(own: Array, radius: float, width: float, forced: bool, behind: bool) -> int:
    """All data of the path past a circle for its points, from both ends in `own`; whether it is wrapped."""
    status, rho, by = arc_radius(own, radius, width, forced, behind)
    if status != wrap.WRAPPED:
        return status
    n, first, first_length = tangent_point(own, wrap.START, 1.0, rho)
    m, last, last_length = tangent_point(own, wrap.STOP, -1.0, rho)
    wound = math.atan2(cross2(n, m), dot2(n, m))
    if wound < -1e-9:
        wound += 2.0 * math.pi
    wound = max(wound, 0.0)
    u, t = (-n[1], n[0]), (-m[1], m[0])
    v, w = pair(own, wrap.START_RATE), pair(own, wrap.STOP_RATE)
    turn = last[1] - first[1]
    rate = dot2(t, w) - dot2(u, v) + wound * rho[1]
    curve = (
        dot2(t, pair(own, wrap.STOP_SECOND))
        - dot2(u, pair(own, wrap.START_SECOND))
        + turn * rho[1]
        + wound * rho[2]
    )
    curve += first[1] * dot2(n, v) - last[1] * dot2(m, w)
    angle = math.atan2(n[1], n[0])
    store_jet(own, wrap.RADIUS, rho)
    store_jet(own, wrap.FIRST_ANGLE, (angle, first[1], first[2]))
    store_jet(own, wrap.LAST_ANGLE, (angle + wound, last[1], last[2]))
    store_jet(own, wrap.FIRST_LENGTH, first_length)
    store_jet(own, wrap.LAST_LENGTH, last_length)
    store_jet(own, wrap.PLANE_LENGTH, (first_length[0] + rho[0] * wound + last_length[0], rate, curve))
    share = reach_of(own, rho, 1.0)
    store_four(own, wrap.NORMALS, (n[0], n[1], m[0], m[1]))
    own[wrap.WRAP] = wound
    store_four(own, wrap.RADIUS_BY, by)
    for k in range(4):
        radial = own[wrap.RADIUS_BY + k]
        towards = (n[k] if k < 2 else 0.0) - radial
        own[wrap.FIRST_ANGLE_BY + k] = towards / first_length[0]
        own[wrap.LAST_ANGLE_BY + k] = (radial - (m[k - 2] if k > 1 else 0.0)) / last_length[0]
        own[wrap.FIRST_LENGTH_BY + k] = rho[0] * own[wrap.FIRST_ANGLE_BY + k] - (u[k] if k < 2 else 0.0)
        own[wrap.PLANE_LENGTH_BY + k] = wound * radial + (t[k - 2] if k > 1 else -u[k])
        own[wrap.REACH_BY + k] = share * (own[wrap.WIDTH] * radial + rho[0] * own[wrap.WIDTH_BY + k])
    return wrap.WRAPPED


@inline
def blend(own: Array, past: Vector) -> tuple[Vector, float, float]:
    """Share of the piece after a tangent point, with two derivatives in time, its derivative by the length past that
    point, and that length in units of the reach.
    """
    reach = own[wrap.REACH]
    if past[0] <= -reach:
        return (0.0, 0.0, 0.0), 0.0, -1.0
    if past[0] >= reach:
        return (1.0, 0.0, 0.0), 0.0, 1.0
    x = past[0] / reach
    rate = (past[1] - x * own[wrap.REACH + 1]) / reach
    second = (past[2] - 2.0 * rate * own[wrap.REACH + 1] - x * own[wrap.REACH + 2]) / reach
    value, slope, bend = smooth_step(x)
    return (value, slope * rate, slope * second + bend * rate * rate), slope / reach, x


@inline
def moving(share: Vector, x: Pair, v: Pair, a: Pair) -> tuple[Pair, Pair, Pair]:
    """A share of a point, with two derivatives in time."""
    return (
        (share[0] * x[0], share[0] * x[1]),
        (share[0] * v[0] + share[1] * x[0], share[0] * v[1] + share[1] * x[1]),
        (
            share[0] * a[0] + 2.0 * share[1] * v[0] + share[2] * x[0],
            share[0] * a[1] + 2.0 * share[1] * v[1] + share[2] * x[1],
        ),
    )


@inline
def on_line(
    x: Pair, v: Pair, a: Pair, n: Pair, turn: float, second: float, s: Vector
) -> tuple[Pair, Pair, Pair]:
    """The point at distance s from an end along the line with the normal n, with two derivatives in time."""
    u = -n[1], n[0]
    along, aside = s[2] - s[0] * turn * turn, -(2.0 * s[1] * turn + s[0] * second)
    spin = s[0] * turn
    return (
        (x[0] + s[0] * u[0], x[1] + s[0] * u[1]),
        (v[0] + s[1] * u[0] - spin * n[0], v[1] + s[1] * u[1] - spin * n[1]),
        (a[0] + along * u[0] + aside * n[0], a[1] + along * u[1] + aside * n[1]),
    )


@inline
def on_arc(n: Pair, rho: Vector, turn: float, second: float) -> tuple[Pair, Pair, Pair]:
    """The point of the circle at the moving normal n, with two derivatives in time."""
    u = -n[1], n[0]
    spin, out = rho[0] * turn, rho[2] - rho[0] * turn * turn
    along = 2.0 * rho[1] * turn + rho[0] * second
    return (
        (rho[0] * n[0], rho[0] * n[1]),
        (rho[1] * n[0] + spin * u[0], rho[1] * n[1] + spin * u[1]),
        (out * n[0] + along * u[0], out * n[1] + along * u[1]),
    )


@shared
def planar_point(own: Array, s: Vector, by: Array) -> tuple[Pair, Pair, Pair, Pair]:
    """The point at length s (with two derivatives in time) of the path from `planar_path`, with two derivatives in
    time, and its derivative by s; `by[:8]` gets its derivatives by both ends, at this s.
    """
    n, m = pair(own, wrap.NORMALS), pair(own, wrap.NORMALS + 2)
    rho = (own[wrap.RADIUS], own[wrap.RADIUS + 1], own[wrap.RADIUS + 2])
    past = s[0] - own[wrap.FIRST_LENGTH], s[1] - own[wrap.FIRST_LENGTH + 1], s[2] - own[wrap.FIRST_LENGTH + 2]
    left = own[wrap.PLANE_LENGTH] - s[0], own[wrap.PLANE_LENGTH + 1] - s[1], own[wrap.PLANE_LENGTH + 2] - s[2]
    over = (
        own[wrap.LAST_LENGTH] - left[0],
        own[wrap.LAST_LENGTH + 1] - left[1],
        own[wrap.LAST_LENGTH + 2] - left[2],
    )
    first, first_slope, first_past = blend(own, past)
    last, last_slope, last_past = blend(own, over)
    p, v, a = pair(own, wrap.START), pair(own, wrap.START_RATE), pair(own, wrap.START_SECOND)
    line, line_rate, line_second = on_line(
        p, v, a, n, own[wrap.FIRST_ANGLE + 1], own[wrap.FIRST_ANGLE + 2], s
    )
    p, v, a = pair(own, wrap.STOP), pair(own, wrap.STOP_RATE), pair(own, wrap.STOP_SECOND)
    back = -left[0], -left[1], -left[2]
    end, end_rate, end_second = on_line(p, v, a, m, own[wrap.LAST_ANGLE + 1], own[wrap.LAST_ANGLE + 2], back)
    angle = past[0] / rho[0]
    rate = (past[1] - angle * rho[1]) / rho[0]
    second = (past[2] - 2.0 * rate * rho[1] - angle * rho[2]) / rho[0]
    c = n  # ignored on both lines
    if first[0] > 0.0 and last[0] < 1.0:
        c = math.cos(own[wrap.FIRST_ANGLE] + angle), math.sin(own[wrap.FIRST_ANGLE] + angle)
    arc, arc_rate, arc_second = on_arc(
        c, rho, own[wrap.FIRST_ANGLE + 1] + rate, own[wrap.FIRST_ANGLE + 2] + second
    )
    bend = arc[0] - line[0], arc[1] - line[1]
    leave = end[0] - arc[0], end[1] - arc[1]
    x, v, a = moving((1.0 - first[0], -first[1], -first[2]), line, line_rate, line_second)
    share = first[0] - last[0], first[1] - last[1], first[2] - last[2]
    y, w, b = moving(share, arc, arc_rate, arc_second)
    z, t, d = moving(last, end, end_rate, end_second)
    point = x[0] + y[0] + z[0], x[1] + y[1] + z[1]
    velocity = v[0] + w[0] + t[0], v[1] + w[1] + t[1]
    acceleration = a[0] + b[0] + d[0], a[1] + b[1] + d[1]
    q = 1.0 - first[0]
    along0 = -q * n[1] - share[0] * c[1] - last[0] * m[1] + first_slope * bend[0] + last_slope * leave[0]
    along1 = q * n[0] + share[0] * c[0] + last[0] * m[0] + first_slope * bend[1] + last_slope * leave[1]
    for k in range(4):
        radial, reach = own[wrap.RADIUS_BY + k], own[wrap.REACH_BY + k]
        length_by = own[wrap.FIRST_LENGTH_BY + k]
        turn = own[wrap.FIRST_ANGLE_BY + k] - (length_by + angle * radial) / rho[0]
        first_by = first_slope * (-length_by - first_past * reach)
        # shift of the last piece's beginning: its length is the plane's less the first piece's and the arc's
        begin = (
            length_by
            + own[wrap.WRAP] * radial
            + rho[0] * (own[wrap.LAST_ANGLE_BY + k] - own[wrap.FIRST_ANGLE_BY + k])
        )
        last_by = last_slope * (-begin - last_past * reach)
        aside = -q * s[0] * own[wrap.FIRST_ANGLE_BY + k]
        longer = own[wrap.PLANE_LENGTH_BY + k]
        lift = last[0] * left[0] * own[wrap.LAST_ANGLE_BY + k]
        spin = share[0] * rho[0] * turn
        out = share[0] * radial
        by[k] = aside * n[0] + out * c[0] - spin * c[1] + last[0] * longer * m[1] + lift * m[0]
        by[4 + k] = aside * n[1] + out * c[1] + spin * c[0] - last[0] * longer * m[0] + lift * m[1]
        by[k] += first_by * bend[0] + last_by * leave[0]
        by[4 + k] += first_by * bend[1] + last_by * leave[1]
    by[0] += q
    by[5] += q
    by[2] += last[0]
    by[7] += last[0]
    return point, velocity, acceleration, (along0, along1)
