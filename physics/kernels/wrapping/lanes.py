"""The path over one curved obstacle beyond its length: lanes of its geodesic, which have the derivatives of all its
points by the inputs and in time. Those of its beginning and length follow from the mismatch.
"""

import math

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .flow import geodesic_curve, lane_position, lane_step, lane_tangent, set_lane
from .geodesic import ZERO
from .jacobi import (
    ASIDE,
    ENDED,
    FIELDS,
    LINE,
    SLOPES,
    TANGENT,
    Four,
    darboux,
    fields_march,
    moved_by,
    set_terms,
    start_fields,
    turned_tangent,
)
from .surface import CAPSULE, TURN, Moving, gradient_of, next_step, part_ahead

AT_SEAM = 1e-11  # of the radius: a node so near to a seam is meant to be there


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
def miss_in_time(kind: int, size: Vector, x: Moving, t: Moving, line: Moving) -> tuple[float, float]:
    """Second derivatives of how far a line misses the contact x with tangent t, along the normal and aside, where it
    now meets it.
    """
    g = gradient_of(kind, size, x[0], x[1], x[2])
    steep = math.sqrt(dot3(g[0], g[0]))
    return dots(g, line)[2] / steep, dots(crossed(t, g), line)[2] / steep


@inline
def node(number: int, lane: int) -> int:
    return wrap.NODES + wrap.LANE * (wrap.LANES * number + lane)


@inline
def at_seam(half: float, own: Array, at: int) -> bool:
    """Whether a node lies at a seam of a sphere-capped cylinder; it is then moved there exactly."""
    if abs(abs(own[at + 2]) - half) > AT_SEAM * math.sqrt(2.0 * own[wrap.LEVEL]):
        return False
    own[at + 2] = math.copysign(half, own[at + 2])
    return True


@shared
def lane_march(kind: int, size: Vector, own: Array, lane: int, at: int, step: float, end: int) -> None:
    """The lane of this number at `at`, advanced by a step of arc length, to `end`; by way of a seam of a sphere-capped
    cylinder where the step ends on one: each geodesic of a lane meets it at its own arc length.
    """
    if lane == wrap.FIELDS_LANE:
        fields_march(kind, size, own, at, step, end)
        if kind == CAPSULE:
            at_seam(size[0], own, end)
        return
    if kind != CAPSULE:
        lane_step(kind, size, own, at, step, end, wrap.STEP_SPACE)
        return
    ahead = math.copysign(1.0, step)
    part = part_ahead(size[0], own[at + 2], ahead * own[at + wrap.TANGENTS + 2])
    here = size[0], part, 0.0
    lane_step(kind, here, own, at, step, end, wrap.STEP_SPACE)
    if not at_seam(size[0], own, end):
        return
    y, w = lane_position(own, end), lane_tangent(own, end)
    after = part_ahead(size[0], y[0][2], ahead * w[0][2])
    if after == part:
        return
    bend, _, _ = geodesic_curve(kind, here, (y[0], ZERO, ZERO), (w[0], ZERO, ZERO))
    rate = -y[1][2] / w[0][2]
    second = -(y[2][2] + 2.0 * rate * w[1][2] + rate * rate * bend[2]) / w[0][2]
    y, w = slid(kind, here, y, w, rate, second)
    y, w = slid(kind, (size[0], after, 0.0), y, w, -rate, -second)
    set_lane(own, end, y, w)


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
        at = node(number, lane)
        if mesh:
            left = length - own[wrap.PLACES + number]
            if left == 0.0:
                return True
            if number == wrap.MOST_STEPS:
                return False
            step = next_step(kind, size, flat3(own, at), flat3(own, at + wrap.TANGENTS), left, TURN)
            place = length if step == left else own[wrap.PLACES + number] + step
            own[wrap.PLACES + number + 1] = place
            own[wrap.STEPS] = number + 1
        elif number == int(own[wrap.STEPS]):
            return True
        step = own[wrap.PLACES + number + 1] - own[wrap.PLACES + number]
        lane_march(kind, size, own, lane, at, step, node(number + 1, lane))
        number += 1


@inline
def start_lanes(kind: int, size: Vector, own: Array, x: Vector, t: Vector) -> None:
    """The state of `jacobi` at the beginning, and its variation to another level, with a unit tangent."""
    start_fields(own, node(0, wrap.FIELDS_LANE), x, t)
    g, _, _ = gradient_of(kind, size, x, ZERO, ZERO)
    square = dot3(g, g)
    up = (g[0] / square, g[1] / square, g[2] / square)
    _, h, _ = gradient_of(kind, size, x, up, ZERO)
    dip = -dot3(h, t) / square
    set_lane(own, node(0, wrap.LEVEL_LANE), (x, up, ZERO), (t, (dip * g[0], dip * g[1], dip * g[2]), ZERO))


@inline
def put_moving(own: Array, at: int, x: Moving) -> None:
    for k in range(3):
        own[at + k], own[at + 3 + k], own[at + 6 + k] = x[0][k], x[1][k], x[2][k]


@inline
def get_moving(own: Array, at: int) -> Moving:
    return flat3(own, at), flat3(own, at + 3), flat3(own, at + 6)


@inline
def level_moves(own: Array) -> bool:
    """Whether the level to wrap over moves with the strand's ends."""
    moves = False
    for k in range(6):
        moves = moves or own[wrap.LEVEL_ENDS + k] != 0.0
    return moves


@inline
def move_ends(own: Array, by_level: Four) -> None:
    """Derivatives of the geodesic's beginning and length by the strand's ends, from TERMS and those by the level."""
    n, a = flat3(own, wrap.NORMAL), flat3(own, wrap.BESIDE)
    m, b = flat3(own, wrap.LAST_NORMAL), flat3(own, wrap.LAST_BESIDE)
    for k in range(6):  # by both ends at a fixed level
        missed = (-n[k], -a[k]) if k < 3 else (0.0, 0.0)
        passed = (0.0, 0.0) if k < 3 else (m[k - 3], b[k - 3])
        moved = moved_by(own, (missed[0], missed[1], passed[0], passed[1]))
        rise = own[wrap.LEVEL_ENDS + k]
        own[wrap.ALONG_ENDS + k] = moved[0] + by_level[0] * rise
        own[wrap.ASIDE_ENDS + k] = moved[1] + by_level[1] * rise
        own[wrap.TURN_ENDS + k] = moved[2] + by_level[2] * rise
        own[wrap.ARC_ENDS + k] = moved[3] + by_level[3] * rise


@shared
def lay_geodesic(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> None:
    """The lanes of a geodesic that was found, and the derivatives of its beginning and length (along, aside, turn,
    length) by both ends, with LEVEL_ENDS known.
    """
    x, t = flat3(own, wrap.BEGINNING), flat3(own, wrap.BEGINNING + 3)
    start_lanes(kind, size, own, x, t)
    layers = wrap.LANES if level_moves(own) else wrap.LANES - 1
    own[wrap.LAYERS] = layers
    for lane in range(wrap.FIELDS_LANE, layers):
        follow(kind, size, own, lane, lane == wrap.FIELDS_LANE)
    end, at = node(int(own[wrap.STEPS]), wrap.FIELDS_LANE), wrap.TERMS + ASIDE
    set_terms(kind, size, own, (x, t), (flat3(own, end), flat3(own, end + TANGENT)), p, q)
    own[at], own[at + 1] = own[end + FIELDS], own[end + FIELDS + 1]
    own[at + 2], own[at + 3] = own[end + SLOPES], own[end + SLOPES + 1]
    by_level = (0.0, 0.0, 0.0, 0.0)
    if layers == wrap.LANES:
        n, a = flat3(own, wrap.NORMAL), flat3(own, wrap.BESIDE)
        m, b = flat3(own, wrap.LAST_NORMAL), flat3(own, wrap.LAST_BESIDE)
        at, end = node(0, wrap.LEVEL_LANE), node(int(own[wrap.STEPS]), wrap.LEVEL_LANE)
        x = scale_add3(lane_position(own, at)[1], -own[wrap.TERMS + LINE], lane_tangent(own, at)[1])
        y = scale_add3(lane_position(own, end)[1], own[wrap.TERMS + ENDED + LINE], lane_tangent(own, end)[1])
        by_level = moved_by(own, (dot3(n, x), dot3(a, x), -dot3(m, y), -dot3(b, y)))
    move_ends(own, by_level)


@inline
def ends_rate(own: Array, row: int, v: Vector, w: Vector) -> float:
    return dot3(flat3(own, row), v) + dot3(flat3(own, row + 3), w)


@inline
def start_in_time(kind: int, size: Vector, own: Array, p: Moving, q: Moving) -> None:
    """The lane of time at the beginning, without second derivatives of along, aside, turn."""
    x, t = flat3(own, wrap.BEGINNING), flat3(own, wrap.BEGINNING + 3)
    along, aside = ends_rate(own, wrap.ALONG_ENDS, p[1], q[1]), ends_rate(own, wrap.ASIDE_ENDS, p[1], q[1])
    turn = ends_rate(own, wrap.TURN_ENDS, p[1], q[1])
    up, dip = lane_position(own, node(0, wrap.LEVEL_LANE))[1], lane_tangent(own, node(0, wrap.LEVEL_LANE))[1]
    v = scale_add3((along * t[0], along * t[1], along * t[2]), aside, flat3(own, wrap.BESIDE))
    v = scale_add3(v, own[wrap.LEVEL + 1], up)
    u = scale_add3(turned_tangent(own, 0, along, aside, turn), own[wrap.LEVEL + 1], dip)
    _, g1, _ = gradient_of(kind, size, x, v, ZERO)
    lift = own[wrap.LEVEL + 2] - dot3(g1, v)
    a = lift * up[0], lift * up[1], lift * up[2]
    g, g1, g2 = gradient_of(kind, size, x, v, a)
    fall = -(2.0 * dot3(g1, u) + dot3(g2, t)) / dot3(g, g)
    shrink = -dot3(u, u)
    b = scale_add3((shrink * t[0], shrink * t[1], shrink * t[2]), fall, g)
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
    start_in_time(kind, size, own, p, q)
    follow(kind, size, own, wrap.TIME_LANE, False)
    x, t = lane_position(own, node(0, wrap.TIME_LANE)), lane_tangent(own, node(0, wrap.TIME_LANE))
    y, w = end_in_time(kind, size, own)
    a, b = miss_in_time(kind, size, x, t, less(x, p))
    c, d = miss_in_time(kind, size, y, w, less(q, y))
    along, aside, turn, own[wrap.ARC + 2] = moved_by(own, (a, b, c, d))
    # a lane's second derivatives are linear in those of its beginning
    for number in range(int(own[wrap.STEPS]) + 1):
        at, fields = node(number, wrap.TIME_LANE), node(number, wrap.FIELDS_LANE)
        place, ahead = flat3(own, at), flat3(own, at + wrap.TANGENTS)
        here = (size[0], part_ahead(size[0], place[2], ahead[2]), 0.0) if kind == CAPSULE else size
        n, side, bend, twist = darboux(kind, here, place, ahead)
        j = aside * own[fields + FIELDS] + turn * own[fields + FIELDS + 1]
        s = aside * own[fields + SLOPES] + turn * own[fields + SLOPES + 1]
        for k in range(3):
            own[at + 2 * wrap.RATES + k] += along * ahead[k] + j * side[k]
            own[at + 2 * wrap.RATES + wrap.TANGENTS + k] += s * side[k] - (along * bend + j * twist) * n[k]
