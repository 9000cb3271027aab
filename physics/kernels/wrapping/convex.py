"""The level of a convex surface that the path wraps over, and the initial guess of its geodesic."""

import math

from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .jacobi import Four
from .level import deepest, over_circle, settle, tube_radius
from .round import forced
from .surface import CAPSULE, Moving, gradient_of, level_of, spine, surface_scale, surface_size

ZERO = (0.0, 0.0, 0.0)


@inline
def chosen(data: Array, shape: int, e: Vector, n: Vector) -> float:
    """1 where a line along e that passes on the side n is on the requested side, else -1."""
    sense = int(data[shape + wrap.SHAPE_SENSE])
    at = shape + wrap.SHAPE_HINT
    if sense == wrap.SHORTER:
        return 1.0
    if sense == wrap.BY_HINT or sense == wrap.ALWAYS:
        side = dot3(n, (data[at], data[at + 1], data[at + 2]))
    else:
        side = e[1] * n[0] - e[0] * n[1]
        side = side if sense == wrap.COUNTERCLOCKWISE else -side
    return 1.0 if side >= 0.0 else -1.0


@shared
def convex_level(data: Array, shape: int, width: float, own: Array, p: Moving, q: Moving, tilt: float) -> int:
    """RADIUS and its derivatives by both ends; whether the path is wrapped."""
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    radius, _, _ = surface_scale(data, shape)
    status = tube_radius(kind, size, radius, width, own, p, q)
    if status != wrap.WRAPPED:
        return status
    e, e1 = subtract3(q[0], p[0]), subtract3(q[1], p[1])
    part = deepest(kind, size, p[0], e)
    x = scale_add3(p[0], part, e)
    v = scale_add3(p[1], part, e1)
    a = scale_add3(p[2], part, subtract3(q[2], p[2]))
    g, gv, _ = gradient_of(kind, size, x, v, ZERO)
    _, ge, _ = gradient_of(kind, size, x, e, ZERO)
    gap = math.sqrt(2.0 * level_of(kind, size, x))
    if not 1e-9 < part < 1.0 - 1e-9:
        return wrap.STRAIGHT
    sense = chosen(data, shape, e, g)
    if sense < 0.0 and gap >= radius + width and not forced(data, shape, p[0], q[0]):
        return wrap.STRAIGHT
    if sense > 0.0 and gap > 0.5 * own[wrap.RADIUS]:
        slide = -(dot3(gv, e) + dot3(g, e1)) / dot3(ge, e)
        rate = dot3(g, v) / gap
        turned = scale_add3(gv, slide, ge)
        second = (dot3(turned, v) + dot3(g, scale_add3(a, slide, e1)) - rate * rate) / gap
        n = g[0] / gap, g[1] / gap, g[2] / gap
        rest = 1.0 - part
        first, last = (rest * n[0], rest * n[1], rest * n[2]), (part * n[0], part * n[1], part * n[2])
        if settle(own, (gap, rate, second), first, last) != wrap.WRAPPED:
            return wrap.INSIDE if gap < radius - width else wrap.STRAIGHT
    convex_beginning(kind, size, own, sense, x, e, p[0], q[0], tilt)
    return wrap.WRAPPED


@inline
def convex_beginning(
    kind: int, size: Vector, own: Array, sense: float, x: Vector, e: Vector, p: Vector, q: Vector, tilt: float
) -> None:
    """Contacts as on a cylinder about z where the surface is one at the line's nearest point and both ends lie outside,
    else as in a plane near the middle, tilted about the line by an angle, where the caps are circles.
    """
    rho = own[wrap.RADIUS]
    centre, ruled = spine(kind, size, x)
    if tilt == 0.0 and ruled and min(math.hypot(p[0], p[1]), math.hypot(q[0], q[1])) > 1.01 * rho:
        out, k, _ = bulge(e, (0.0, 0.0, 1.0), sense, subtract3(x, centre))
        over_circle(own, (1.0, 1.0, 1.0), p, q, centre, out, k, rho)
        if max(abs(own[wrap.WAY + 2]), abs(own[wrap.WAY + 8])) < size[0]:
            return
    m = cross(subtract3(p, centre), subtract3(q, centre))
    length = math.sqrt(dot3(m, m))
    m = (m[0] / length, m[1] / length, m[2] / length) if length > 0.0 else (0.0, 0.0, 1.0)
    out, k, m = bulge(e, m, sense, subtract3(x, centre))
    c, s = math.cos(tilt), math.sin(tilt)
    out = c * out[0] + s * m[0], c * out[1] + s * m[1], c * out[2] + s * m[2]
    m = cross(out, k)
    over_circle(own, (1.0, 1.0, 1.0), p, q, centre, out, k, rho)
    if kind != CAPSULE:
        return
    first, turn, cap, line = highest_tangent(size[0], rho, p, k, out, m)
    last, other, end, _ = highest_tangent(size[0], rho, q, (-k[0], -k[1], -k[2]), out, m)
    if cap != 0.0 and end != 0.0:
        t = scale_add3((first * k[0], first * k[1], first * k[2]), turn, out)
        put3(own, wrap.BEGINNING, scale_add3(p, line, t))
        put3(own, wrap.BEGINNING + 3, t)
        arc = rho * (math.atan2(turn, first) + math.atan2(other, last))
        own[wrap.BEGINNING + 6] = max(arc, 0.0) + size[0] * abs(cap - end)


@inline
def bulge(e: Vector, m: Vector, sense: float, away: Vector) -> tuple[Vector, Vector, Vector]:
    """Where a path along e bulges that runs counterclockwise about m or -m: as `away` or against it (sense -1); ahead
    in that plane, and its normal.
    """
    out = cross(e, m)
    length = math.sqrt(dot3(out, out))
    if sense * dot3(out, away) < 0.0:
        m, length = (-m[0], -m[1], -m[2]), -length
    out = (out[0] / length, out[1] / length, out[2] / length) if length != 0.0 else (1.0, 0.0, 0.0)
    return out, cross(m, out), m


@inline
def highest_tangent(half: float, rho: float, p: Vector, k: Vector, out: Vector, m: Vector) -> Four:
    """In the plane through p along k and out, of the lines ahead that touch the caps from outside the one that climbs
    most: its direction, which cap (0 if p lies inside of one), its length to there.
    """
    best, found, length = -10.0, 0.0, 0.0
    for number in range(2):
        cap = 2.0 * number - 1.0
        c = subtract3((0.0, 0.0, cap * half), p)
        ahead, up, aside = dot3(k, c), dot3(out, c), dot3(m, c)
        radius = math.sqrt(max(rho * rho - aside * aside, 0.01 * rho * rho))
        far = math.sqrt(ahead * ahead + up * up)
        if far <= radius:
            return 1.0, 0.0, 0.0, 0.0
        angle = math.atan2(up, ahead) + math.asin(radius / far)
        if angle > best:
            best, found, length = angle, cap, math.sqrt(far * far - radius * radius)
    return math.cos(best), math.sin(best), found, length
