"""Every kind of surface as levels of a smooth function psi: its gradient and curvature, along moving points.

Quadrics (sphere, cylinder, ellipsoid): psi = sum (x_i / r_i)^2 / 2, size = 1 / r^2. Torus about z: half the squared
distance from the circle in the tube's middle, size[0] its radius. Sphere-capped cylinder about z: (x^2 + y^2 + w(z)^2)
/ 2 where w is the distance of z beyond the caps' middles at -size[0] and size[0], rounded within about size[1].

A further convex surface has a number here and a branch in each function below that takes a kind or a shape; `convex`
does the rest. RADIUS of a level is sqrt(2 psi).
"""

from __future__ import annotations

import math
from typing import TypeAlias

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, dot3, scale_add3
from ..compiler.jit import inline, shared
from . import layout as wrap

Moving: TypeAlias = tuple[Vector, Vector, Vector]  # a vector with first and second derivatives by a variable
Five: TypeAlias = tuple[float, float, float, float, float]

# the `kind` of each class of muscles.obstacles; geodesics are integrated from the ellipsoid on
SPHERE, CYLINDER, ELLIPSOID, TORUS, CAPSULE = 0, 1, 2, 3, 4

TURN = 0.22  # [rad] a step: lengths over ellipsoids with axes from 5 to 15 cm are then accurate to 1e-12 m
SEAM = 0.7  # a step over the seam of a sphere-capped cylinder, in units of its rounding
# of the radius: length of the rounded seams, where the surface lies up to 3.4e-4 of the radius deeper
ROUNDED = 0.03


@inline
def times3(d: Vector, x: Vector) -> Vector:
    return d[0] * x[0], d[1] * x[1], d[2] * x[2]


@inline
def surface_size(data: Array, shape: int) -> Vector:
    """Parameters of psi."""
    kind, at = int(data[shape + wrap.SHAPE_KIND]), shape + wrap.SHAPE_PARAMETERS
    if kind == SPHERE:
        return 1.0, 1.0, 1.0
    if kind == CYLINDER:
        return 1.0, 1.0, 0.0
    if kind == ELLIPSOID:
        return data[at] ** -2.0, data[at + 1] ** -2.0, data[at + 2] ** -2.0
    if kind == CAPSULE:
        return data[at + 1], ROUNDED * data[at], 0.0
    return data[at], 0.0, 0.0


@inline
def surface_scale(data: Array, shape: int) -> Vector:
    """RADIUS of the surface itself; the largest and the least 1 / |gradient of RADIUS| on it."""
    kind, at = int(data[shape + wrap.SHAPE_KIND]), shape + wrap.SHAPE_PARAMETERS
    if kind == ELLIPSOID:
        a, b, c = data[at], data[at + 1], data[at + 2]
        return 1.0, max(a, b, c), min(a, b, c)
    return data[at + 1] if kind == TORUS else data[at], 1.0, 1.0


@inline
def spine(kind: int, size: Vector, x: Vector) -> tuple[Vector, bool]:
    """The middle of a convex surface next to x, and whether straight lines along z lie in the surface there."""
    if kind == CAPSULE:
        return (0.0, 0.0, min(max(x[2], -size[0]), size[0])), abs(x[2]) < size[0]
    return (0.0, 0.0, 0.0), False


@inline
def logistic(u: float) -> Five:
    """log(1 + exp(u)) and its first four derivatives."""
    e = math.exp(-abs(u))
    s = 1.0 / (1.0 + e) if u >= 0.0 else e / (1.0 + e)
    slope = s * (1.0 - s)
    bend = slope * (1.0 - 2.0 * s)
    return max(u, 0.0) + math.log1p(e), s, slope, bend, slope * (1.0 - 6.0 * slope)


@inline
def beyond_caps(size: Vector, z: float) -> Five:
    """w(z) and its first four derivatives."""
    i = 1.0 / size[1]
    a, b = logistic((z - size[0]) * i), logistic((-z - size[0]) * i)
    return (
        size[1] * (a[0] - b[0]),
        a[1] + b[1],
        (a[2] - b[2]) * i,
        (a[3] + b[3]) * i * i,
        (a[4] - b[4]) * i * i * i,
    )


@inline
def rise(size: Vector, z: float) -> tuple[float, float, float, float]:
    """First to fourth derivative of w^2 / 2."""
    w, w1, w2, w3, w4 = beyond_caps(size, z)
    return (w * w1, w1 * w1 + w * w2, 3.0 * w1 * w2 + w * w3, 3.0 * w2 * w2 + 4.0 * w1 * w3 + w * w4)


@shared
def gradient_of(kind: int, size: Vector, x: Vector, v: Vector, a: Vector) -> Moving:
    """Gradient of psi at a moving point."""
    if kind <= ELLIPSOID:
        return times3(size, x), times3(size, v), times3(size, a)
    if kind == CAPSULE:
        f, f1, f2, _ = rise(size, x[2])
        return ((x[0], x[1], f), (v[0], v[1], f1 * v[2]), (a[0], a[1], f2 * v[2] * v[2] + f1 * a[2]))
    far = math.sqrt(x[0] * x[0] + x[1] * x[1])
    speed = (x[0] * v[0] + x[1] * v[1]) / far
    second = (v[0] * v[0] + v[1] * v[1] + x[0] * a[0] + x[1] * a[1] - speed * speed) / far
    f = size[0] / far
    f1 = -f * speed / far
    f2 = -(2.0 * f1 * speed + f * second) / far
    return (
        (x[0] - f * x[0], x[1] - f * x[1], x[2]),
        (v[0] - f1 * x[0] - f * v[0], v[1] - f1 * x[1] - f * v[1], v[2]),
        (a[0] - f2 * x[0] - 2.0 * f1 * v[0] - f * a[0], a[1] - f2 * x[1] - 2.0 * f1 * v[1] - f * a[1], a[2]),
    )


@inline
def level_of(kind: int, size: Vector, x: Vector) -> float:
    """psi."""
    if kind <= ELLIPSOID:
        return 0.5 * dot3(x, times3(size, x))
    if kind == CAPSULE:
        away = beyond_caps(size, x[2])[0]
        return 0.5 * (x[0] * x[0] + x[1] * x[1] + away * away)
    away = math.sqrt(x[0] * x[0] + x[1] * x[1]) - size[0]
    return 0.5 * (away * away + x[2] * x[2])


@inline
def capsule_bending(size: Vector, x: Moving, t: Moving) -> Vector:
    _, c, c1, c2 = rise(size, x[0][2])
    u, u1, u2 = t[0][2], t[1][2], t[2][2]
    s, s1, s2 = u * u, 2.0 * u * u1, 2.0 * (u1 * u1 + u * u2)
    v2 = x[1][2]
    d1, d2 = c1 * v2, c2 * v2 * v2 + c1 * x[2][2]
    flat = t[0][0] * t[0][0] + t[0][1] * t[0][1]
    flat1 = 2.0 * (t[0][0] * t[1][0] + t[0][1] * t[1][1])
    flat2 = 2.0 * (t[1][0] * t[1][0] + t[1][1] * t[1][1] + t[0][0] * t[2][0] + t[0][1] * t[2][1])
    return flat + c * s, flat1 + d1 * s + c * s1, flat2 + d2 * s + 2.0 * d1 * s1 + c * s2


@shared
def bending(kind: int, size: Vector, x: Moving, t: Moving) -> Vector:
    """t H t along a lane."""
    if kind <= ELLIPSOID:
        u, v = times3(size, t[0]), times3(size, t[1])
        return dot3(t[0], u), 2.0 * dot3(t[1], u), 2.0 * (dot3(t[1], v) + dot3(t[2], u))
    if kind == CAPSULE:
        return capsule_bending(size, x, t)
    p, v, a = x
    far = math.sqrt(p[0] * p[0] + p[1] * p[1])
    speed = (p[0] * v[0] + p[1] * v[1]) / far
    second = (v[0] * v[0] + v[1] * v[1] + p[0] * a[0] + p[1] * a[1] - speed * speed) / far
    i = 1.0 / far
    i1 = -i * i * speed
    i2 = -i * i * second - 2.0 * i * i1 * speed
    m = p[0] * t[0][1] - p[1] * t[0][0]
    m1 = v[0] * t[0][1] - v[1] * t[0][0] + p[0] * t[1][1] - p[1] * t[1][0]
    m2 = a[0] * t[0][1] - a[1] * t[0][0] + p[0] * t[2][1] - p[1] * t[2][0]
    m2 += 2.0 * (v[0] * t[1][1] - v[1] * t[1][0])
    w, w1 = m * i, m1 * i + m * i1  # along the circle; 1 - (R / far) w^2
    w2 = m2 * i + 2.0 * m1 * i1 + m * i2
    s, s1, s2 = w * w, 2.0 * w * w1, 2.0 * (w1 * w1 + w * w2)
    r = size[0]
    return 1.0 - r * i * s, -r * (i1 * s + i * s1), -r * (i2 * s + 2.0 * i1 * s1 + i * s2)


@inline
def good_step(kind: int, size: Vector, lane: Array, at: int) -> float:
    """A step over which tangent and normal rotate little, whatever its direction at a lane's beginning."""
    x = flat3(lane, at)
    g, _, _ = gradient_of(kind, size, x, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    step = TURN * math.sqrt(dot3(g, g))
    if kind <= ELLIPSOID:
        return step / max(size)
    if kind == CAPSULE:
        away = abs(abs(x[2]) - size[0])  # from the seam
        return min(step, max(SEAM * size[1], away - 8.0 * size[1]))
    return step


@inline
def on_level(kind: int, size: Vector, level: float, x: Vector) -> Vector:
    """The point of a level near x, along the gradient."""
    zero = (0.0, 0.0, 0.0)
    for _ in range(4):
        g, _, _ = gradient_of(kind, size, x, zero, zero)
        x = scale_add3(x, (level - level_of(kind, size, x)) / dot3(g, g), g)
    return x
