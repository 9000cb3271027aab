"""A geodesic with the Jacobi fields of its beginning: what a search needs, without further derivatives.

Moved aside at its beginning, or turned there, a geodesic moves aside by j with j'' = -K j, where K is the Gaussian
curvature (do Carmo 1976, section 5-5). On the two parts of a sphere-capped cylinder all this has a closed form.
"""

import math
from typing import TypeAlias

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.lanes import (
    Lanes,
    dot_lanes,
    flat_lanes,
    lanes_of,
    numbers_of,
    scale_add_lanes,
    scale_lanes,
    store_flat,
    times_lanes,
)
from ..algebra.vectors import Array, Vector, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .flow import PLACES, SPEEDS, WEIGHTS
from .surface import CAPSULE, CYLINDRIC, ELLIPSOID, TORUS, gradient_of, next_step, part_ahead, times3, to_seam

# of a state, each padded to four numbers: position, tangent, both fields (moved aside, turned), their slopes
TANGENT, FIELDS, SLOPES, WIDTH = 4, 8, 12, 16
NONE = (0.0, 0.0, 0.0)
# TERMS, of each end: the normal curvature, the torsion of the tangent, the line's length along it; how far the line
# passes the contact, along the normal and aside, and the derivatives of both
BEND, TWIST, LINE, OFF, OFF_BESIDE, ALONG, ACROSS, SHARE, WHOLE, ENDED = range(10)
ASIDE, TURN, ASIDE_SLOPE, TURN_SLOPE = 18, 19, 20, 21  # both fields and their slopes at the end
Four: TypeAlias = tuple[float, float, float, float]


@inline
def kept_by(kind: int, size: Vector, square: float, x: Vector, t: Vector) -> tuple[float, float]:
    """Constants of a geodesic for `curving`, from a point and its tangent; `square`: of the level's RADIUS."""
    if kind == ELLIPSOID:
        g = times3(size, x)
        return dot3(t, times3(size, t)) * dot3(g, g), size[0] * size[1] * size[2] * square
    return x[0] * t[1] - x[1] * t[0], 1.0 / square


@inline
def curving(kind: int, size: Vector, kept: tuple[float, float], x: Lanes) -> tuple[Lanes, float]:
    """Second derivative of a geodesic, and the Gaussian curvature; over a torus of its distance from the axis and its
    height, and the first of its angle about the axis.
    """
    if kind == ELLIPSOID:
        none = lanes_of(NONE)
        g = times_lanes(lanes_of(size), x)
        steep = dot_lanes(g, g, none, none)
        share = 1.0 / (steep * steep)
        return scale_lanes(-kept[0] * share, g), kept[1] * share
    far, height, _ = numbers_of(x)
    over, out = 1.0 / far, far - size[0]
    around = kept[0] * over
    fall = around * around * over
    share = (size[0] * fall - 1.0) * kept[1]
    return lanes_of((fall + share * out, share * height, around * over)), out * over * kept[1]


@inline
def field_step(kind: int, size: Vector, square: float, own: Array, at: int, step: float) -> None:
    """Advance a state by a step of arc length, by the formula of `flow`."""
    space = wrap.STEP_SPACE
    p, w = flat3(own, at), flat3(own, at + TANGENT)
    kept, away = kept_by(kind, size, square, p, w), math.sqrt(p[0] * p[0] + p[1] * p[1])
    x, t = flat_lanes(own, at), flat_lanes(own, at + TANGENT)
    if kind == TORUS:
        x = lanes_of((away, p[2], 0.0))
        t = lanes_of(((p[0] * w[0] + p[1] * w[1]) / away, w[2], 0.0))
    j, s = flat_lanes(own, at + FIELDS), flat_lanes(own, at + SLOPES)
    for stage in range(wrap.STAGES):
        y, i = lanes_of(NONE), lanes_of(NONE)
        row = stage * (stage - 1) // 2
        for other in range(stage):
            y = scale_add_lanes(y, WEIGHTS[row + other], flat_lanes(own, space + 8 * other))
            i = scale_add_lanes(i, WEIGHTS[row + other], flat_lanes(own, space + 8 * other + 4))
        y = scale_add_lanes(scale_add_lanes(x, PLACES[stage] * step, t), step * step, y)
        i = scale_add_lanes(scale_add_lanes(j, PLACES[stage] * step, s), step * step, i)
        bend, curvature = curving(kind, size, kept, y)
        store_flat(own, space + 8 * stage, bend)
        store_flat(own, space + 8 * stage + 4, scale_lanes(-curvature, i))
    x, j = scale_add_lanes(x, step, t), scale_add_lanes(j, step, s)
    for stage in range(wrap.STAGES):
        speed, share = step * SPEEDS[stage], step * step * SPEEDS[stage] * (1.0 - PLACES[stage])
        y, i = flat_lanes(own, space + 8 * stage), flat_lanes(own, space + 8 * stage + 4)
        x, t = scale_add_lanes(x, share, y), scale_add_lanes(t, speed, y)
        j, s = scale_add_lanes(j, share, i), scale_add_lanes(s, speed, i)
    if kind == TORUS:
        (far, height, _), (rate, climb, angle) = numbers_of(x), numbers_of(t)
        c, n = math.cos(angle) / away, math.sin(angle) / away
        c, n, turn = c * p[0] - n * p[1], c * p[1] + n * p[0], kept[0] / far
        x, t = (
            lanes_of((far * c, far * n, height)),
            lanes_of((rate * c - turn * n, rate * n + turn * c, climb)),
        )
    store_flat(own, at, x)
    store_flat(own, at + TANGENT, t)
    store_flat(own, at + FIELDS, j)
    store_flat(own, at + SLOPES, s)


@inline
def capsule_march(half: float, own: Array, at: int, length: float) -> bool:
    """As `march`, over a sphere-capped cylinder."""
    ahead, left = math.copysign(1.0, length), abs(length)
    x, t = flat3(own, at), flat3(own, at + TANGENT)
    a, b, c, d = own[at + FIELDS], own[at + FIELDS + 1], own[at + SLOPES], own[at + SLOPES + 1]
    t, c, d = (ahead * t[0], ahead * t[1], ahead * t[2]), ahead * c, ahead * d
    for _ in range(wrap.MOST_STEPS):
        part, way = part_ahead(half, x[2], t[2]), to_seam(half, x, t)
        at_seam = way < left
        way = min(way, left)
        up = 0.0 if part == CYLINDRIC else x[2] - part * half
        radius = math.sqrt(x[0] * x[0] + x[1] * x[1] + up * up)
        if part == CYLINDRIC:
            turn = way * (x[0] * t[1] - x[1] * t[0]) / (radius * radius)
            cosine, sine = math.cos(turn), math.sin(turn)
            x = cosine * x[0] - sine * x[1], sine * x[0] + cosine * x[1], x[2] + way * t[2]
            t = cosine * t[0] - sine * t[1], sine * t[0] + cosine * t[1], t[2]
            a, b = a + way * c, b + way * d
        else:
            cosine, sine = math.cos(way / radius), math.sin(way / radius)
            far, near = radius * sine, -sine / radius
            y = cosine * x[0] + far * t[0], cosine * x[1] + far * t[1], cosine * up + far * t[2]
            t = cosine * t[0] + near * x[0], cosine * t[1] + near * x[1], cosine * t[2] + near * up
            x = y[0], y[1], y[2] + part * half
            a, b, c, d = (
                cosine * a + far * c,
                cosine * b + far * d,
                cosine * c + near * a,
                cosine * d + near * b,
            )
        if not at_seam:
            put3(own, at, x)
            put3(own, at + TANGENT, (ahead * t[0], ahead * t[1], ahead * t[2]))
            own[at + FIELDS], own[at + FIELDS + 1] = a, b
            own[at + SLOPES], own[at + SLOPES + 1] = ahead * c, ahead * d
            return True
        x = x[0], x[1], math.copysign(half, x[2])
        left -= way
    return False


@shared
def fields_march(kind: int, size: Vector, own: Array, at: int, step: float, end: int) -> None:
    """The state at `at`, advanced by a step of arc length, to `end`."""
    for k in range(WIDTH):
        own[end + k] = own[at + k]
    if kind == CAPSULE:
        capsule_march(size[0], own, end, step)
    else:
        field_step(kind, size, 2.0 * own[wrap.LEVEL], own, end, step)


@inline
def start_fields(own: Array, at: int, x: Vector, t: Vector) -> None:
    """The state at the geodesic's beginning."""
    put3(own, at, x)
    put3(own, at + TANGENT, t)
    put3(own, at + FIELDS, (1.0, 0.0, 0.0))
    put3(own, at + SLOPES, (0.0, 1.0, 0.0))


@inline
def march(kind: int, size: Vector, own: Array, x: Vector, t: Vector, length: float, turn: float) -> bool:
    """STATE at the end of the geodesic from x along t, in steps over which it turns by about `turn`; False where it
    needs too many.
    """
    at = wrap.STATE
    start_fields(own, at, x, t)
    own[wrap.STEPS] = 0.0
    put3(own, wrap.NODES, x)
    if kind == CAPSULE:
        return capsule_march(size[0], own, at, length)
    square, left, number = 2.0 * own[wrap.LEVEL], length, 0
    while left != 0.0:
        if number == wrap.MOST_STEPS:
            return False
        step = next_step(kind, size, flat3(own, at), flat3(own, at + TANGENT), left, turn)
        field_step(kind, size, square, own, at, step)
        left = 0.0 if step == left else left - step
        number += 1
        put3(own, wrap.NODES + 3 * number, flat3(own, at))
    own[wrap.STEPS] = number
    return True


@inline
def darboux(kind: int, size: Vector, x: Vector, t: Vector) -> tuple[Vector, Vector, float, float]:
    """Normal and direction aside of the Darboux frame of a geodesic at x along t; its curvature and torsion."""
    g, h, _ = gradient_of(kind, size, x, t, NONE)
    steep = 1.0 / math.sqrt(dot3(g, g))
    n = steep * g[0], steep * g[1], steep * g[2]
    a = cross(t, n)
    return n, a, steep * dot3(t, h), steep * dot3(a, h)


@inline
def end_terms(kind: int, size: Vector, own: Array, x: Vector, t: Vector, line: Vector, last: int) -> None:
    """Terms of the beginning (last 0) or the end (1): contact and tangent there, and the line that meets them."""
    n, a, bend, twist = darboux(kind, size, x, t)
    g, k, _ = gradient_of(kind, size, x, a, NONE)
    put3(own, wrap.NORMAL + 6 * last, n)
    put3(own, wrap.BESIDE + 6 * last, a)
    at, across, ahead = wrap.TERMS + ENDED * last, dot3(a, k) / dot3(n, g), dot3(t, line)
    off, beside = dot3(n, line), dot3(a, line)
    along, aside = bend * ahead + twist * beside, twist * ahead + across * beside
    share = twist * off / along if along != 0.0 else 0.0
    own[at + BEND], own[at + TWIST], own[at + LINE] = bend, twist, ahead
    own[at + OFF], own[at + OFF_BESIDE], own[at + ALONG], own[at + ACROSS] = off, beside, along, aside
    own[at + SHARE] = share
    own[at + WHOLE] = 1.0 + (2.0 * last - 1.0) * across * off + (1.0 - 2.0 * last) * share * aside


@shared
def set_terms(
    kind: int,
    size: Vector,
    own: Array,
    start: tuple[Vector, Vector],
    end: tuple[Vector, Vector],
    p: Vector,
    q: Vector,
) -> float:
    """TERMS of the path by way of a geodesic with these points and tangents at its ends, except for the fields; by how
    much both lines miss it.
    """
    end_terms(kind, size, own, start[0], start[1], subtract3(start[0], p), 0)
    end_terms(kind, size, own, end[0], end[1], subtract3(q, end[0]), 1)
    a, b, c, d = misses(own)
    return math.sqrt(a * a + b * b + c * c + d * d)


@inline
def misses(own: Array) -> Four:
    """How far the lines at both ends pass the contacts, along the normal and aside."""
    at, end = wrap.TERMS + OFF, wrap.TERMS + ENDED + OFF
    return own[at], own[at + 1], own[end], own[end + 1]


@inline
def ending(own: Array) -> tuple[float, float]:
    """By how much the last line misses aside at its end, for the geodesic moved aside and turned at its beginning."""
    at, end = wrap.TERMS, wrap.TERMS + ENDED
    whole, last = own[end + WHOLE], own[end + LINE]
    return (
        whole * own[at + ASIDE] + last * own[at + ASIDE_SLOPE],
        whole * own[at + TURN] + last * own[at + TURN_SLOPE],
    )


@inline
def stiffness(own: Array) -> float:
    """The field from the path's one end, turned there, at the other: positive where the path is locally shortest,
    negative where it is a pass between two shorter ones.
    """
    aside, turn = ending(own)
    return float(turn + own[wrap.TERMS + LINE] * aside / own[wrap.TERMS + WHOLE])


@inline
def solvable(own: Array) -> bool:
    at, end = wrap.TERMS, wrap.TERMS + ENDED
    if own[at + ALONG] == 0.0 or own[end + ALONG] == 0.0 or own[at + WHOLE] == 0.0:
        return False
    return bool(stiffness(own) != 0.0)


@inline
def moved_by(own: Array, misses: Four) -> Four:
    """How far the beginning must move along, aside and turn, and the length grow, to make up for these misses."""
    at, end = wrap.TERMS, wrap.TERMS + ENDED
    a, b, c, d = misses
    b, d = b + own[at + SHARE] * a, d + own[end + SHARE] * c
    by_aside, _ = ending(own)
    turn = (d + b * by_aside / own[at + WHOLE]) / stiffness(own)
    aside = (own[at + LINE] * turn - b) / own[at + WHOLE]
    along = -(a + own[at + ACROSS] * aside) / own[at + ALONG]
    field, _ = fields_by(own, aside, turn)
    ahead = -(c + own[end + ACROSS] * field) / own[end + ALONG]
    return along, aside, turn, ahead - along


@inline
def fields_by(own: Array, aside: float, turn: float) -> tuple[float, float]:
    """How far the end moves aside, and its slope."""
    at = wrap.TERMS
    return (
        own[at + ASIDE] * aside + own[at + TURN] * turn,
        own[at + ASIDE_SLOPE] * aside + own[at + TURN_SLOPE] * turn,
    )


@inline
def turned_tangent(own: Array, last: int, along: float, aside: float, turn: float) -> Vector:
    """Change of the tangent at the beginning (last 0) or the end (1)."""
    at, n, a = wrap.TERMS + ENDED * last, wrap.NORMAL + 6 * last, wrap.BESIDE + 6 * last
    down = own[at + BEND] * along + own[at + TWIST] * aside
    return scale_add3((turn * own[a], turn * own[a + 1], turn * own[a + 2]), -down, flat3(own, n))
