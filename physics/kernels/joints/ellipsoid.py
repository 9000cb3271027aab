"""Angles that rotate a frame to the normal of an ellipsoid, as functions of longitude and latitude.

Each number is a jet, the coefficients of its Taylor series in both up to third order, which products and atan2
propagate exactly. If the third order is not used, the compiler drops it.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from .. import layout as at
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from .factors import Motion, add_column, twist_factor

# coefficients of 1, x, y, xx, xy, yy, xxx, xxy, xyy, yyy
Jet: TypeAlias = tuple[float, float, float, float, float, float, float, float, float, float]


@inline
def scaled(s: float, a: Jet) -> Jet:
    return (
        s * a[0],
        s * a[1],
        s * a[2],
        s * a[3],
        s * a[4],
        s * a[5],
        s * a[6],
        s * a[7],
        s * a[8],
        s * a[9],
    )


@inline
def plus(a: Jet, b: Jet) -> Jet:
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
    )


@inline
def times(a: Jet, b: Jet) -> Jet:
    return (
        a[0] * b[0],
        a[1] * b[0] + a[0] * b[1],
        a[2] * b[0] + a[0] * b[2],
        a[3] * b[0] + a[1] * b[1] + a[0] * b[3],
        a[4] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[4],
        a[5] * b[0] + a[2] * b[2] + a[0] * b[5],
        a[6] * b[0] + a[3] * b[1] + a[1] * b[3] + a[0] * b[6],
        a[7] * b[0] + a[3] * b[2] + a[4] * b[1] + a[1] * b[4] + a[2] * b[3] + a[0] * b[7],
        a[8] * b[0] + a[5] * b[1] + a[4] * b[2] + a[2] * b[4] + a[1] * b[5] + a[0] * b[8],
        a[9] * b[0] + a[5] * b[2] + a[2] * b[5] + a[0] * b[9],
    )


@inline
def composed(a: Jet, value: float, slope: float, square: float, cube: float) -> Jet:
    """value + slope d + square d^2 + cube d^3, where d is a without its first coefficient: a function of a with these
    four Taylor coefficients.
    """
    d = (0.0, a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])
    dd = times(d, d)
    ddd = times(dd, d)
    result = plus(scaled(slope, d), plus(scaled(square, dd), scaled(cube, ddd)))
    return (
        value,
        result[1],
        result[2],
        result[3],
        result[4],
        result[5],
        result[6],
        result[7],
        result[8],
        result[9],
    )


@inline
def root(a: Jet) -> Jet:
    value, x = math.sqrt(a[0]), 1.0 / a[0]
    return composed(a, value, 0.5 * value * x, -0.125 * value * x * x, 0.0625 * value * x * x * x)


@inline
def direction(sine: Jet, cosine: Jet) -> Jet:
    """atan2 of two jets: rotated back by its value, it is the arctangent of a jet without a constant part."""
    s, c = sine[0], cosine[0]
    x = 1.0 / (s * s + c * c)
    across = plus(scaled(c * x, sine), scaled(-s * x, cosine))
    along = plus(scaled(c * x, cosine), scaled(s * x, sine))  # its constant part is 1
    slope = times(across, composed(along, 1.0, -1.0, 1.0, -1.0))
    slope = (0.0, slope[1], slope[2], slope[3], slope[4], slope[5], slope[6], slope[7], slope[8], slope[9])
    return composed(slope, math.atan2(s, c), 1.0, 0.0, -1.0 / 3.0)


@inline
def normal_angle(which: int, axes: Vector, longitude: float, latitude: float) -> Jet:
    """One of the two angles after the rotation about x by atan2(C sin(longitude), B cos(longitude)).

    The tilt about y takes z to the normal, the spin about z takes x to the tangent along latitude (ArtiSynth's guide,
    eq. 3.28). Both are smooth everywhere, the spin is 0 where B = C.
    """
    a, b, c = axes
    sine, cosine = math.sin(longitude), math.cos(longitude)
    s_lon = (sine, cosine, 0.0, -0.5 * sine, 0.0, 0.0, -cosine / 6.0, 0.0, 0.0, 0.0)
    c_lon = (cosine, -sine, 0.0, -0.5 * cosine, 0.0, 0.0, sine / 6.0, 0.0, 0.0, 0.0)
    sine, cosine = math.sin(latitude), math.cos(latitude)
    s_lat = (sine, 0.0, cosine, 0.0, 0.0, -0.5 * sine, 0.0, 0.0, 0.0, -cosine / 6.0)
    c_lat = (cosine, 0.0, -sine, 0.0, 0.0, -0.5 * cosine, 0.0, 0.0, 0.0, sine / 6.0)
    breadth = plus(scaled(b * b, times(c_lon, c_lon)), scaled(c * c, times(s_lon, s_lon)))
    rise, run = scaled(1.0 / a, s_lat), scaled(1.0 / (b * c), times(c_lat, root(breadth)))
    if which == at.NORMAL_TILT:
        return direction(rise, run)
    length = root(plus(times(rise, rise), times(run, run)))
    aside = scaled(b * b - c * c, times(times(s_lat, length), times(s_lon, c_lon)))
    square_s, square_c = times(s_lat, s_lat), times(times(c_lat, c_lat), breadth)
    return direction(aside, plus(scaled(a / (b * c), square_c), scaled(b * c / a, square_s)))


@shared
def normal_factor(
    before: Motion, data: Array, offset: int, first: int, q: Array, qd: Array, dof: Array
) -> Motion:
    """exp(g f(longitude, latitude)): pose, velocity and bias after it; it adds to both columns."""
    r, p, v, c = before
    kind = offset + at.TWIST_WIDTH
    axes = (data[kind + 1], data[kind + 2], data[kind + 3])
    x, y = qd[first], qd[first + 1]
    angle = normal_angle(int(data[kind]), axes, q[first], q[first + 1])
    rate = angle[1] * x + angle[2] * y
    curve = 2.0 * (angle[3] * x * x + angle[4] * x * y + angle[5] * y * y)
    r, p, v, c, w = twist_factor(r, p, v, c, data, offset, angle[0], rate, curve)
    add_column(dof, first, angle[1], w)
    add_column(dof, first + 1, angle[2], w)
    return r, p, v, c
