"""Every kind of surface as levels of a smooth function psi: its gradient and curvature, along moving points.

Quadrics (sphere, cylinder, ellipsoid): psi = sum (x_i / r_i)^2 / 2, size = 1 / r^2. Torus about z: half the squared
distance from the circle in the tube's middle, size[0] its radius. Sphere-capped cylinder about z: half the squared
distance from its segment, from -size[0] to size[0]; its parts are quadrics, and size[1] is the part meant: CYLINDRIC,
the upper cap 1, the lower one -1, or ANY, the one where the point lies. At the seams between them curvatures jump.

A further convex surface has a number here and a branch in each function below that takes a kind or a shape; `convex`
does the rest. RADIUS of a level is sqrt(2 psi).
"""

import math
from typing import TypeAlias

from ..algebra.vectors import Array, Vector, dot3, scale_add3
from ..compiler.jit import inline, shared
from . import layout as wrap

Moving: TypeAlias = tuple[Vector, Vector, Vector]  # a vector with first and second derivatives by a variable

# the `kind` of each class of muscles.obstacles; geodesics are integrated from the ellipsoid on
SPHERE, CYLINDER, ELLIPSOID, TORUS, CAPSULE = 0, 1, 2, 3, 4

TURN = 0.4  # [rad] a step: lengths over ellipsoids with axes from 5 to 15 cm are then accurate to 1e-13 m
CYLINDRIC, ANY = 0.0, 2.0  # parts of a sphere-capped cylinder
LEAST_TURN = (
    0.2  # a geodesic along a cylinder's axis is integrated as if it were turning so much of its length
)


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
        a, b, c = 1.0 / data[at], 1.0 / data[at + 1], 1.0 / data[at + 2]
        return a * a, b * b, c * c
    if kind == CAPSULE:
        return data[at + 1], ANY, 0.0
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
def part_ahead(half: float, z: float, ahead: float) -> float:
    """The part of a sphere-capped cylinder that begins at a height, in a direction along the axis."""
    if z > half or (z == half and ahead > 0.0):
        return 1.0
    return -1.0 if z < -half or (z == -half and ahead < 0.0) else CYLINDRIC


@inline
def beyond_seams(size: Vector, z: float) -> tuple[float, float]:
    """Height above the middle of a sphere-capped cylinder's cap and 1; twice 0 on its cylindric part."""
    part = part_ahead(size[0], z, 0.0) if size[1] == ANY else size[1]
    cap = abs(part)
    return cap * (z - part * size[0]), cap


@inline
def to_seam(half: float, x: Vector, t: Vector) -> float:
    """Length along the geodesic from x along t to the next seam of a sphere-capped cylinder."""
    part = part_ahead(half, x[2], t[2])
    if part == CYLINDRIC:
        return (math.copysign(half, t[2]) - x[2]) / t[2] if t[2] != 0.0 else 1e300
    up = part * x[2] - half
    radius = math.sqrt(x[0] * x[0] + x[1] * x[1] + up * up)
    return radius * math.atan2(up, -part * radius * t[2])


@shared
def gradient_of(kind: int, size: Vector, x: Vector, v: Vector, a: Vector) -> Moving:
    """Gradient of psi at a moving point."""
    if kind <= ELLIPSOID:
        return times3(size, x), times3(size, v), times3(size, a)
    if kind == CAPSULE:
        up, cap = beyond_seams(size, x[2])
        return (x[0], x[1], up), (v[0], v[1], cap * v[2]), (a[0], a[1], cap * a[2])
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
        up, _ = beyond_seams(size, x[2])
        return 0.5 * (x[0] * x[0] + x[1] * x[1] + up * up)
    away = math.sqrt(x[0] * x[0] + x[1] * x[1]) - size[0]
    return 0.5 * (away * away + x[2] * x[2])


@inline
def bending(size: Vector, x: Moving, kept: Vector) -> Vector:
    """t H t along a lane on a torus, of which x y' - y x' is kept."""
    p, v, a = x
    far = math.sqrt(p[0] * p[0] + p[1] * p[1])
    speed = (p[0] * v[0] + p[1] * v[1]) / far
    second = (v[0] * v[0] + v[1] * v[1] + p[0] * a[0] + p[1] * a[1] - speed * speed) / far
    i = 1.0 / far
    i1 = -i * i * speed
    i2 = -i * i * second - 2.0 * i * i1 * speed
    m, m1, m2 = kept
    w, w1 = m * i, m1 * i + m * i1  # along the circle; 1 - (R / far) w^2
    w2 = m2 * i + 2.0 * m1 * i1 + m * i2
    s, s1, s2 = w * w, 2.0 * w * w1, 2.0 * (w1 * w1 + w * w2)
    r = size[0]
    return 1.0 - r * i * s, -r * (i1 * s + i * s1), -r * (i2 * s + 2.0 * i1 * s1 + i * s2)


@inline
def next_step(kind: int, size: Vector, x: Vector, t: Vector, left: float, turn: float) -> float:
    """The first of equal steps along the length left, over which tangent and normal rotate little, whatever the
    direction; on a sphere-capped cylinder at most to a seam.
    """
    g, _, _ = gradient_of(kind, size, x, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    step = turn * math.sqrt(dot3(g, g))
    if kind == ELLIPSOID:
        step /= max(size)
    elif kind == CAPSULE:
        ahead = math.copysign(1.0, left)
        t = ahead * t[0], ahead * t[1], ahead * t[2]
        if part_ahead(size[0], x[2], t[2]) == CYLINDRIC:
            step /= max(math.sqrt(t[0] * t[0] + t[1] * t[1]), LEAST_TURN)
        seam = to_seam(size[0], x, t)
        if seam < abs(left):
            left = ahead * seam
    count = math.ceil(abs(left) / step)
    return left if count <= 1.0 else left / count


@inline
def on_level(kind: int, size: Vector, level: float, x: Vector) -> Vector:
    """The point of a level near x, along the gradient."""
    zero = (0.0, 0.0, 0.0)
    for _ in range(4):
        g, _, _ = gradient_of(kind, size, x, zero, zero)
        short = level - level_of(kind, size, x)
        x = scale_add3(x, short / dot3(g, g), g)
        if abs(short) < 1e-9 * level:
            break
    return x
