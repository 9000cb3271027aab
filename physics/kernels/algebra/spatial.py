"""Rotations, twists and exponentials of twists, on the tuples of `vectors`."""

import math
from typing import TypeAlias

from ..compiler.jit import inline
from .vectors import Array, Rotation, Twist, Vector, skew_series

Series: TypeAlias = tuple[float, float, float, float, float, float, float]

SMALL_ANGLE = 0.5  # rad
MANY_TURNS = 1e5  # rad
ROUNDER = 6755399441055744.0  # added and taken away, it rounds numbers below 2^51, ties to even


@inline
def rotate(r: Rotation, x: Vector) -> Vector:
    return (
        r[0] * x[0] + r[1] * x[1] + r[2] * x[2],
        r[3] * x[0] + r[4] * x[1] + r[5] * x[2],
        r[6] * x[0] + r[7] * x[1] + r[8] * x[2],
    )


@inline
def multiply(a: Rotation, b: Rotation) -> Rotation:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@inline
def transposed(m: Rotation) -> Rotation:
    return m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]


@inline
def column(r: Rotation, k: int) -> Vector:
    """Axis k of a frame."""
    if k == 0:
        return r[0], r[3], r[6]
    if k == 1:
        return r[1], r[4], r[7]
    return r[2], r[5], r[8]


@inline
def bracket(a: Twist, b: Twist) -> Twist:
    """Lie bracket ad_a b of two twists (Lee & Terzopoulos 2008, eq. 4)."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
        a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1],
        a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2],
        a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0],
    )


@inline
def twist_through(w: Vector, v: Vector, point: Vector) -> Twist:
    """Twist, taken at the origin, of a motion with angular velocity w whose body point `point` has velocity v."""
    return (
        w[0],
        w[1],
        w[2],
        v[0] + point[1] * w[2] - point[2] * w[1],
        v[1] + point[2] * w[0] - point[0] * w[2],
        v[2] + point[0] * w[1] - point[1] * w[0],
    )


@inline
def near_sine_cosine(x: float) -> tuple[float, float]:
    """`sine_cosine` of an angle below `MANY_TURNS`, without branches, so that it vectorizes."""
    k, sine, cosine = in_quarter(x)
    square = k * k
    swapped, sign = square == 1.0, 1.0 - 0.5 * square
    return (k * cosine if swapped else sign * sine), (-k * sine if swapped else sign * cosine)


@inline
def in_quarter(x: float) -> tuple[float, float, float]:
    """Quarter turns next to an angle modulo whole turns, -2 to 2, and sine and cosine of the rest.

    Both share the reduction to |r| <= pi / 4 (Cody & Waite 1980); it and the polynomials are those of fdlibm (Sun
    Microsystems 1993).
    """
    k = (x * 0.6366197723675814 + ROUNDER) - ROUNDER  # quarter turns
    y = x - k * 1.5707963267341256
    w = k * 6.077100506506192e-11
    r = y - w
    tail = (y - r) - w
    z = r * r
    v = z * r
    odd = 8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04
        + z
        * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
    )
    sine = r - ((z * (0.5 * tail - v * odd) - tail) + v * 1.66666666666666324348e-01)
    even = 2.48015872894767294178e-05 + z * (
        -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11)
    )
    even = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * even))
    half = 0.5 * z
    near = 1.0 - half
    cosine = near + (((1.0 - near) - half) + (z * even - r * tail))
    return k - 4.0 * ((0.25 * k + ROUNDER) - ROUNDER), sine, cosine


@inline
def sine_cosine(x: float) -> tuple[float, float]:
    """sin x and cos x, exact to half an ulp of 1, in half the time of two calls."""
    if not abs(x) < MANY_TURNS:
        return math.sin(x), math.cos(x)
    return near_sine_cosine(x)


# series of sin(t) / t and (1 - cos t) / t^2 in t^2
SINC = 1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0, 1.0 / 6227020800.0
VERSINC = (
    0.5,
    -1.0 / 24.0,
    1.0 / 720.0,
    -1.0 / 40320.0,
    1.0 / 3628800.0,
    -1.0 / 479001600.0,
    1.0 / 87178291200.0,
)


@inline
def series(x: float, c: Series) -> float:
    """Polynomial of degree 6, evaluated in pairs for less latency."""
    y = x * x
    return (c[0] + x * c[1]) + y * ((c[2] + x * c[3]) + y * ((c[4] + x * c[5]) + y * c[6]))


@inline
def small_turn(square: float) -> tuple[float, float]:
    """sin(t) / t and (1 - cos t) / t^2 at t^2 < SMALL_ANGLE^2; the first term omitted is under 5e-17 of the sum.

    Rotations between two frames of a curve are small; for them this takes a quarter of the time of `sine_cosine`.
    """
    return series(square, SINC), series(square, VERSINC)


@inline
def exp_twist(data: Array, offset: int, phi: float) -> tuple[Rotation, Vector]:
    """exp(g phi) of a constant twist stored as (n, |w|, v, n x v, n . v), exact for any |w| >= 0.

    p = (sin t / |w|) v + ((1 - cos t) / |w|) n x v + (phi - sin t / |w|) (n . v) n with t = |w| phi, which has no
    difference of large numbers, even if the screw axis lies at infinity.
    """
    n0, n1, n2 = data[offset], data[offset + 1], data[offset + 2]
    rate = data[offset + 3]
    angle = rate * phi
    if abs(angle) < SMALL_ANGLE:
        sinc, versinc = small_turn(angle * angle)
        along, aside = phi * sinc, angle * phi * versinc
        s, versine = angle * sinc, angle * angle * versinc
    else:
        s = math.sin(angle)
        half = math.sin(0.5 * angle)
        versine = 2.0 * half * half
        along, aside = s / rate, versine / rate
    axial = (phi - along) * data[offset + 10]
    position = (
        along * data[offset + 4] + aside * data[offset + 7] + axial * n0,
        along * data[offset + 5] + aside * data[offset + 8] + axial * n1,
        along * data[offset + 6] + aside * data[offset + 9] + axial * n2,
    )
    return skew_series((n0, n1, n2), s, versine), position
