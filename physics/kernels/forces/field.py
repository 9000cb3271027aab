"""Force fields as Blender computes them for particles (effect.cc of its source), on points of bodies.

A field has an origin o and an axis n. In units of its own, for a particle of 1 kg at o + p with velocity v, h = n . p:
a distance e runs from the origin, of planes along n, of lines across it; f fades with |e|, or along and across n. Wind
pushes along n, a force along e, a vortex turns about n, drag resists. `flow` is a drag of the moving air.
"""

import math
from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, load_rotation
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, STILL, Array, Twist, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import for_rare_forces, inline, shared
from .points import Moves, carried, material, position, twist_of, wrench_at, wrench_change

Slope: TypeAlias = tuple[float, float]  # a value and its derivative in one direction


@inline
def fading(data: Array, place: int, x: float, dx: float) -> Slope:
    """Share of a field at a distance x."""
    least, most, power = data[place], data[place + 1], data[place + 2]
    if 0.0 <= most < x:
        return 0.0, 0.0
    if x < least:
        return 1.0, 0.0
    base = 1.0 + x - max(least, 0.0)
    value = base**-power
    return value, -power * value / base * dx


@inline
def long(e: Vector, de: Vector) -> Slope:
    """Length of a vector."""
    r = math.sqrt(dot3(e, e))
    return r, (dot3(e, de) / r if r > 0.0 else 0.0)


@inline
def share_of(data: Array, row: int, h: Slope, p: Slope, e: Slope, across: Slope) -> Slope:
    """f, by h and the lengths of p, of e and of p across the axis."""
    if h[0] * data[row + at.FIELD_SIDE] < 0.0:
        return 0.0, 0.0
    falloff = int(data[row + at.FIELD_FALLOFF])
    if falloff == 0:
        return fading(data, row + at.FIELD_FADING, e[0], e[1])
    first, by_first = fading(data, row + at.FIELD_FADING, abs(h[0]), math.copysign(h[1], h[0] * h[1]))
    x, dx = across
    if falloff == 2:  # a cone: the angle from the axis in degrees
        x, dx = 0.0, 0.0
        if across[0] > 0.0:
            x = math.degrees(math.atan2(across[0], h[0]))
            dx = math.degrees((h[0] * across[1] - across[0] * h[1]) / (p[0] * p[0]))
    second, by_second = fading(data, row + at.FIELD_RADIAL, x, dx)
    return first * second, by_first * second + first * by_second


@shared
def field_force(
    data: Array,
    row: int,
    s: float,
    placed: tuple[Vector, Vector, Vector],
    moved: tuple[Vector, Vector, Vector],
) -> tuple[Vector, Vector]:
    """Force of the field at row with strength s at (n, p, v), and its derivative along changes of these."""
    n, p, v = placed
    dn, dp, dv = moved
    kind, shape = int(data[row + at.FIELD_EFFECT]), int(data[row + at.FIELD_SHAPE])
    h, dh = dot3(n, p), dot3(dn, p) + dot3(n, dp)
    along, d_along = scale_add3(NONE, h, n), scale_add3(scale_add3(NONE, dh, n), h, dn)
    aside, d_aside = subtract3(p, along), subtract3(dp, d_along)
    e, de = p, dp
    if shape == at.FIELD_PLANE and kind != at.FIELD_VORTEX:
        e, de = along, d_along
    elif shape != at.FIELD_POINT_SHAPE:
        e, de = aside, d_aside
    r, dr = long(e, de)
    f, df = share_of(data, row, (h, dh), long(p, dp), (r, dr), long(aside, d_aside))
    if f == 0.0:
        return NONE, NONE
    a, da = s * f, s * df
    t, dt = cross(n, p), add3(cross(dn, p), cross(n, dp))
    flow = data[row + at.FIELD_FLOW]
    slow, d_slow = -flow * f, -flow * df  # force on v
    if kind == at.FIELD_WIND:
        force, change = scale_add3(NONE, a, n), scale_add3(scale_add3(NONE, da, n), a, dn)
    elif kind == at.FIELD_FORCE:
        g, dg = 0.0, 0.0
        if r > 0.0:
            power = 1.0 + 2.0 * data[row + at.FIELD_SQUARED]
            g = a * r**-power
            dg = da * r**-power - power * g * dr / r
        force, change = scale_add3(NONE, g, e), scale_add3(scale_add3(NONE, dg, e), g, de)
    elif kind == at.FIELD_VORTEX and shape == at.FIELD_POINT_SHAPE:
        size, d_size = long(t, dt)
        g, dg = 0.0, 0.0
        if size > 0.0:
            g = a * r / size
            dg = (da * r + a * dr - g * d_size) / size
        force, change = scale_add3(NONE, g, t), scale_add3(scale_add3(NONE, dg, t), g, dt)
    elif kind == at.FIELD_VORTEX:
        u, du = cross(n, t), add3(cross(dn, t), cross(n, dt))
        force = scale_add3(scale_add3(NONE, a, t), a * a, u)
        change = scale_add3(scale_add3(scale_add3(NONE, da, t), a, dt), 2.0 * a * da, u)
        change = scale_add3(change, a * a, du)
        slow -= 1.0
    else:
        speed, d_speed = long(v, dv)
        rate = min(s, 2.0) * speed + data[row + at.FIELD_LINEAR]
        force, change = NONE, NONE
        slow, d_slow = -f * rate, -df * rate - f * min(s, 2.0) * d_speed
    change = scale_add3(scale_add3(change, slow, dv), d_slow, v)
    return scale_add3(force, slow, v), change


@inline
def field_on(
    body_int: Array, data: Array, s: float, row: int, work: Array, moves: Moves
) -> tuple[Vector, Vector, Vector, Vector]:
    """Lever and its shift, force and its change under moves."""
    body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
    eta, nu, led, _ = moves
    lever = carried(work, body, flat3(data, row + at.FIELD_POINT))
    home = carried(work, other, flat3(data, row + at.FIELD_ORIGIN))
    n = flat3(data, row + at.FIELD_AXIS)
    if other >= 0:
        n = rotate(load_rotation(work, other), n)
    p = subtract3(position(body_int, work, body, lever), position(body_int, work, other, home))
    twist = twist_of(work, body)
    shift = material(eta, lever)
    speed = add3(material(nu, lever), cross((twist[0], twist[1], twist[2]), shift))
    unit = data[row + at.FIELD_UNIT]
    scale = 1.0 / unit
    placed = n, scale_add3(NONE, scale, p), scale_add3(NONE, scale, material(twist, lever))
    apart = subtract3(shift, material(led, home))
    moved = (
        cross((led[0], led[1], led[2]), n),
        scale_add3(NONE, scale, apart),
        scale_add3(NONE, scale, speed),
    )
    force, change = field_force(data, row, s, placed, moved)
    whole = unit * data[row + at.FIELD_MASS]
    return lever, shift, scale_add3(NONE, whole, force), scale_add3(NONE, whole, change)


@inline
def strength_of(data: Array, tau: Array, nv: int, row: int) -> float:
    """Strength of a field: constant, or an input."""
    number = int(data[row + at.FIELD_INPUT])
    return data[row + at.FIELD_STRENGTH] if number < 0 else tau[nv + number]


@for_rare_forces((STILL, STILL), at.FIELD_BITS)
def field_wrench(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array
) -> tuple[Twist, Twist]:
    """Wrench of a field on its body; what carries the field feels none."""
    s = strength_of(data, tau, nv, row)
    lever, _, force, _ = field_on(body_int, data, s, row, work, (STILL, STILL, STILL, STILL))
    return wrench_at(lever, NONE, force), STILL


@for_rare_forces((STILL, STILL), at.FIELD_BITS)
def field_tangent(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array, moves: Moves
) -> tuple[Twist, Twist]:
    """Derivatives of the wrench, as `elements.element_tangent`."""
    s = strength_of(data, tau, nv, row)
    lever, shift, force, change = field_on(body_int, data, s, row, work, moves)
    return wrench_change(lever, shift, force, NONE, change), STILL
