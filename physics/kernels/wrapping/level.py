"""The level of a curved obstacle that the path wraps over, and the initial guess of its geodesic.

As over a circle, the smoothed path wraps over the surface that the straight line touches where that lies outside the
obstacle, with a smooth transition. An ellipsoid's levels have its shape, a torus's have other tubes.
"""

import math

from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .geodesic import ZERO
from .planar import NEAREST, Pair, arc_radius, cross2, dot2, store_jet, tangent_point, with_room
from .round import OPPOSITE, along, forced, lean, plane_axes, tilt_plane
from .smooth import NEAR, local_width, ramp_of, taken
from .surface import TORUS, Moving, gradient_of, level_of, times3

AROUND = 24
STEP = 2.0 * math.pi / AROUND
COSINE, SINE = math.cos(STEP), math.sin(STEP)
MOST_STEPS = 40


@inline
def shrunk(x: Vector, radii: Vector) -> Vector:
    return x[0] / radii[0], x[1] / radii[1], x[2] / radii[2]


@inline
def set_beginning(own: Array, p: Vector, x: Vector, middle: Vector, y: Vector) -> None:
    """Initial guess of the geodesic: at x, along the line from p, with about the length of the way over the middle to
    y.
    """
    t, first, last = subtract3(x, p), subtract3(middle, x), subtract3(y, middle)
    put3(own, wrap.WAY, x)
    put3(own, wrap.WAY + 3, middle)
    put3(own, wrap.WAY + 6, y)
    put3(own, wrap.BEGINNING, x)
    put3(own, wrap.BEGINNING + 3, t)
    own[wrap.BEGINNING + 6] = math.sqrt(dot3(first, first)) + math.sqrt(dot3(last, last))


@shared
def ellipsoid_level(
    data: Array, shape: int, width: float, own: Array, p: Moving, q: Moving, tilt: float
) -> int:
    """In axes in which the ellipsoid is the unit sphere: RADIUS and its derivatives by both ends; whether the path is
    wrapped.
    """
    at = shape + wrap.SHAPE_PARAMETERS
    radii = data[at], data[at + 1], data[at + 2]
    first, last = shrunk(p[0], radii), shrunk(q[0], radii)
    found, x, y, z = plane_axes(data, shape, first, last)
    if not found:
        return wrap.STRAIGHT
    for k in range(3):
        put3(own, wrap.START + 3 * k, along(x, y, z, shrunk(p[k], radii)))
        put3(own, wrap.STOP + 3 * k, along(x, y, z, shrunk(q[k], radii)))
    tilt_plane(own)
    status, rho, by = arc_radius(own, 1.0, width, forced(data, shape, first, last), False)
    if status != wrap.WRAPPED:
        return status
    store_jet(own, wrap.RADIUS, rho)
    out = cross(subtract3(last, first), z)
    sense = int(data[shape + wrap.SHAPE_SENSE])
    held = (sense == wrap.BY_HINT or sense == wrap.ALWAYS) and abs(lean(data, shape, out)) > OPPOSITE
    put3(own, wrap.SIDE, out if held else ZERO)
    for k in range(3):
        own[wrap.RADIUS_ENDS + k] = (by[0] * x[k] + by[1] * y[k]) / radii[k]
        own[wrap.RADIUS_ENDS + 3 + k] = (by[2] * x[k] + by[3] * y[k]) / radii[k]
        for end in range(2):
            along_x, along_y = own[wrap.WIDTH_BY + 2 * end], own[wrap.WIDTH_BY + 2 * end + 1]
            own[wrap.WIDTH_ENDS + 3 * end + k] = (along_x * x[k] + along_y * y[k]) / radii[k]
    tilted_beginning(own, radii, first, last, x, y, z, tilt)
    return wrap.WRAPPED


@inline
def tilted_beginning(
    own: Array, radii: Vector, p: Vector, q: Vector, x: Vector, y: Vector, z: Vector, tilt: float
) -> None:
    """The path over the circle where a plane through both ends, tilted against that of the centre, intersects the
    sphere.
    """
    e = subtract3(q, p)
    length = math.sqrt(dot3(e, e))
    k = e[0] / length, e[1] / length, e[2] / length
    n, c, s = cross(k, z), math.cos(tilt), math.sin(tilt)
    away = dot3(p, n)
    out = c * n[0] + s * z[0], c * n[1] + s * z[1], c * n[2] + s * z[2]
    m = cross(out, k)
    deep = dot3(m, n) * away
    rho = math.sqrt(
        max(own[wrap.RADIUS] * own[wrap.RADIUS] - deep * deep, 0.01 * own[wrap.RADIUS] * own[wrap.RADIUS])
    )
    over_circle(own, radii, p, q, (deep * m[0], deep * m[1], deep * m[2]), out, k, rho)


@shared
def over_circle(
    own: Array, radii: Vector, p: Vector, q: Vector, centre: Vector, out: Vector, k: Vector, rho: float
) -> None:
    """Initial guess near the path over a cylinder along out x k, counterclockwise about that, which bulges along `out`;
    all in axes scaled by the radii.
    """
    axis = cross(out, k)
    put3(own, wrap.START, along(out, k, axis, subtract3(p, centre)))
    put3(own, wrap.STOP, along(out, k, axis, subtract3(q, centre)))
    for at in (wrap.START, wrap.STOP):
        put3(own, at + 3, ZERO)
        put3(own, at + 6, ZERO)
    n, _, before = tangent_point(own, wrap.START, 1.0, (rho, 0.0, 0.0))
    o, _, after = tangent_point(own, wrap.STOP, -1.0, (rho, 0.0, 0.0))
    turn = math.atan2(cross2(n, o), dot2(n, o))
    turn = turn if turn > -1e-9 else turn + 2.0 * math.pi
    c, s = math.cos(0.5 * turn), math.sin(0.5 * turn)
    middle = n[0] * c - n[1] * s, n[1] * c + n[0] * s
    length = before[0] + rho * turn + after[0]
    low, high = own[wrap.START + 2], own[wrap.STOP + 2]
    a = low + (high - low) * before[0] / length
    b = high + (low - high) * after[0] / length
    first = add3(centre, scale_add3(tube(out, k, n, rho), a, axis))
    last = add3(centre, scale_add3(tube(out, k, o, rho), b, axis))
    between = add3(centre, scale_add3(tube(out, k, middle, rho), 0.5 * (a + b), axis))
    x = times3(radii, first)
    set_beginning(own, times3(radii, p), x, times3(radii, between), times3(radii, last))


@inline
def clearance(radius: float, c: float, s: float, p: Vector, e: Vector) -> tuple[float, Vector]:
    """Signed distance of a line (through p, along e) from the tangent of a circle about z at an angle with cosine c and
    sine s, positive inside; and the direction away from the tangent.
    """
    m = cross(e, (-s, c, 0.0))
    length = math.sqrt(dot3(m, m))
    if length == 0.0:
        return 1e300, (-c, -s, 0.0)
    share = (1.0 if e[2] >= 0.0 else -1.0) / length
    m = share * m[0], share * m[1], share * m[2]
    return dot3(subtract3(p, (radius * c, radius * s, 0.0)), m), m


@inline
def narrowest(radius: float, p: Vector, e: Vector) -> tuple[float, float]:
    """Angle on the circle and parameter of the line where both are nearest and the line is least far inside: by
    Newton's method from the worst of some angles.
    """
    best, angle = 1e300, 0.0
    c, s = 1.0, 0.0
    for k in range(AROUND):
        gap, _ = clearance(radius, c, s, p, e)
        if gap < best:
            best, angle = gap, k * STEP
        c, s = c * COSINE - s * SINE, s * COSINE + c * SINE
    square = dot3(e, e)
    part = 0.0
    for _ in range(MOST_STEPS):
        c, s = math.cos(angle), math.sin(angle)
        t = (-s, c, 0.0)
        away = subtract3(p, (radius * c, radius * s, 0.0))
        part = -dot3(away, e) / square  # nearest to this point of the circle
        away = scale_add3(away, part, e)
        ahead = dot3(e, t)
        bend = -(away[0] * c + away[1] * s) - radius  # of away . t by the angle, at a fixed parameter
        slope = bend + radius * ahead * ahead / square
        change = -dot3(away, t) / slope if slope != 0.0 else 0.0
        change = max(-0.3, min(0.3, change))
        angle += change
        if abs(change) < 1e-14:
            break
    return angle, part


@inline
def level_in_time(kind: int, size: Vector, x: Moving) -> tuple[Vector, Vector]:
    """sqrt(2 psi), the radius of the level at a moving point, with two derivatives in time, and its gradient."""
    g, g1, _ = gradient_of(kind, size, x[0], x[1], x[2])
    far = math.sqrt(2.0 * level_of(kind, size, x[0]))
    rate = dot3(g, x[1]) / far
    second = (dot3(g1, x[1]) + dot3(g, x[2]) - rate * rate) / far
    return (far, rate, second), (g[0] / far, g[1] / far, g[2] / far)


@shared
def tube_radius(
    kind: int, size: Vector, radius: float, width: float, own: Array, p: Moving, q: Moving
) -> int:
    """RADIUS of a tube with both ends outside, and WIDTH, with derivatives; INSIDE if there is none, else WRAPPED."""
    rho = radius, 0.0, 0.0
    for k in range(6):
        own[wrap.RADIUS_ENDS + k], own[wrap.WIDTH_ENDS + k] = 0.0, 0.0
    far, slope = level_in_time(kind, size, p)
    away, other = level_in_time(kind, size, q)
    store_jet(own, wrap.RADIUS, rho)
    store_jet(own, wrap.WIDTH, (width, 0.0, 0.0))
    if width == 0.0:
        outer, rho = with_room(radius, min(far[0], away[0]))
        store_jet(own, wrap.RADIUS, rho)
        return wrap.WRAPPED if outer else wrap.INSIDE
    if min(far[0], away[0]) < radius + NEAR * width:
        first, last = (far[0] - radius, far[1], far[2]), (away[0] - radius, away[1], away[2])
        jet, by_first, by_last = local_width(width, first, last)
        store_jet(own, wrap.WIDTH, jet)
        for k in range(3):
            own[wrap.WIDTH_ENDS + k], own[wrap.WIDTH_ENDS + 3 + k] = by_first * slope[k], by_last * other[k]
        leave_room(own, 0, far, slope, radius, radius / width)
        leave_room(own, 3, away, other, radius, radius / width)
    return wrap.WRAPPED if own[wrap.RADIUS] >= NEAREST * own[wrap.WIDTH] else wrap.INSIDE


@inline
def leave_room(own: Array, end: int, far: Vector, slope: Vector, whole: float, steep: float) -> None:
    """RADIUS less what an end takes from it, as in `taken`, with derivatives."""
    width = own[wrap.WIDTH], own[wrap.WIDTH + 1], own[wrap.WIDTH + 2]
    rho = own[wrap.RADIUS], own[wrap.RADIUS + 1], own[wrap.RADIUS + 2]
    if far[0] > rho[0] + 3.0 * width[0] and far[0] >= whole:
        return
    less, by_rho, by_far, by_width = taken(rho, far, whole, steep, width)
    store_jet(own, wrap.RADIUS, (rho[0] - less[0], rho[1] - less[1], rho[2] - less[2]))
    for k in range(6):
        own[wrap.RADIUS_ENDS + k] *= 1.0 - by_rho
        own[wrap.RADIUS_ENDS + k] -= by_width * own[wrap.WIDTH_ENDS + k]
    for k in range(3):
        own[wrap.RADIUS_ENDS + end + k] -= by_far * slope[k]


@inline
def settle(own: Array, gap: Vector, first: Vector, last: Vector) -> int:
    """Smooth maximum of RADIUS and the line's gap (with two derivatives in time, and by both ends); whether wrapped."""
    width = own[wrap.WIDTH], own[wrap.WIDTH + 1], own[wrap.WIDTH + 2]
    excess = gap[0] - own[wrap.RADIUS], gap[1] - own[wrap.RADIUS + 1], gap[2] - own[wrap.RADIUS + 2]
    if excess[0] >= width[0]:
        return wrap.STRAIGHT
    if width[0] > 0.0:
        more, share, wider = ramp_of(excess, width)
        for k in range(3):
            own[wrap.RADIUS + k] += more[k]
            own[wrap.RADIUS_ENDS + k] += share * (first[k] - own[wrap.RADIUS_ENDS + k])
            own[wrap.RADIUS_ENDS + 3 + k] += share * (last[k] - own[wrap.RADIUS_ENDS + 3 + k])
        for k in range(6):
            own[wrap.RADIUS_ENDS + k] += wider * own[wrap.WIDTH_ENDS + k]
    return wrap.WRAPPED


@shared
def torus_level(data: Array, shape: int, width: float, own: Array, p: Moving, q: Moving) -> int:
    """RADIUS of the tube and its derivatives by both ends; whether the path is wrapped."""
    major, minor = data[shape + wrap.SHAPE_PARAMETERS], data[shape + wrap.SHAPE_PARAMETERS + 1]
    e, e1 = subtract3(q[0], p[0]), subtract3(q[1], p[1])
    status = tube_radius(TORUS, (major, 0.0, 0.0), minor, width, own, p, q)
    if status != wrap.WRAPPED:
        return status
    angle, part = narrowest(major, p[0], e)
    gap, m = clearance(major, math.cos(angle), math.sin(angle), p[0], e)
    if not 0.0 < part < 1.0 or gap >= minor + width:
        return wrap.STRAIGHT
    if gap <= -minor - width and p[0][2] * q[0][2] > 0.0:  # no path stays in the hole
        return wrap.STRAIGHT
    gap_jet = gap_in_time(major, angle, part, gap, m, p, q, e, e1)
    rest = 1.0 - part
    first, last = (rest * m[0], rest * m[1], rest * m[2]), (part * m[0], part * m[1], part * m[2])
    if settle(own, gap_jet, first, last) != wrap.WRAPPED:
        return wrap.INSIDE if gap < minor - width else wrap.STRAIGHT
    torus_beginning(own, major, angle, own[wrap.RADIUS], m, p[0], q[0])
    return wrap.WRAPPED


@inline
def gap_in_time(
    radius: float,
    angle: float,
    part: float,
    gap: float,
    m: Vector,
    p: Moving,
    q: Moving,
    e: Vector,
    e1: Vector,
) -> Vector:
    """The gap between line and circle with two derivatives in time: the first by the ends alone, as the gap is
    stationary in both nearest points; the second by the rotation of the common perpendicular.
    """
    c, s = math.cos(angle), math.sin(angle)
    t, n = (-s, c, 0.0), (c, s, 0.0)
    away = gap * m[0], gap * m[1], gap * m[2]
    v = scale_add3(p[1], part, e1)
    # (away . e)' = 0 and (away . t)' = 0 for the rates of part and angle
    a, b = dot3(e, e), -radius * dot3(t, e)
    d, f = dot3(e, t), -radius - dot3(away, n)
    g, h = -dot3(v, e) - dot3(away, e1), -dot3(v, t)
    det = a * f - b * d
    part_rate, turn = (g * f - b * h) / det, (a * h - g * d) / det
    # m' = x e + y t from m . e = m . t = 0
    g, h = -dot3(m, e1), turn * dot3(m, n)
    det = a - d * d
    x, y = (g - d * h) / det, (a * h - d * g) / det
    m1 = x * e[0] + y * t[0], x * e[1] + y * t[1], x * e[2] + y * t[2]
    second = scale_add3(scale_add3(p[2], part, subtract3(q[2], p[2])), part_rate, e1)
    return gap, dot3(m, v), dot3(m1, v) + dot3(m, second)


@inline
def torus_beginning(
    own: Array, major: float, angle: float, rho: float, m: Vector, p: Vector, q: Vector
) -> None:
    """The path over the tube as over a cylinder along the circle's tangent."""
    c, s = math.cos(angle), math.sin(angle)
    k = cross((-s, c, 0.0), m)
    if dot3(k, subtract3(q, p)) < 0.0:
        k = (-k[0], -k[1], -k[2])
    over_circle(own, (1.0, 1.0, 1.0), p, q, (major * c, major * s, 0.0), m, k, rho)


@shared
def deepest(kind: int, size: Vector, p: Vector, e: Vector) -> float:
    """Parameter of the line from p along e at which psi is least: Newton's method between bounds."""
    low, high, part = 0.0, 1.0, 0.5
    for _ in range(MOST_STEPS):
        g, g1, _ = gradient_of(kind, size, scale_add3(p, part, e), e, ZERO)
        slope, bend = dot3(g, e), dot3(g1, e)
        if slope > 0.0:
            high = part
        else:
            low = part
        before = part
        part -= slope / bend if bend > 0.0 else 0.0
        if not low <= part <= high:
            part = 0.5 * (low + high)
        if abs(part - before) < 1e-15:
            break
    return part


@inline
def tube(m: Vector, k: Vector, n: Pair, rho: float) -> Vector:
    return (
        rho * (n[0] * m[0] + n[1] * k[0]),
        rho * (n[0] * m[1] + n[1] * k[1]),
        rho * (n[0] * m[2] + n[1] * k[2]),
    )
