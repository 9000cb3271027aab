"""Angles that turn a frame to the true normal of an ellipsoid, functions of both its longitude and its latitude.

Each number travels with its derivatives as a jet (value, along longitude, along latitude, time derivative, second time
derivative without accelerations), so that products and atan2 carry them exactly.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from ._jit import inline, jit
from .factors import twist_factor
from .layout import NORMAL_TILT, SUBSPACE, TWIST_WIDTH
from .spatial import Array, Rotation, Twist, Vector, load6, scale_add6, store6

Jet: TypeAlias = tuple[float, float, float, float, float]


@inline
def scaled(s: float, a: Jet) -> Jet:
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4]


@inline
def plus(a: Jet, b: Jet) -> Jet:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]


@inline
def times(a: Jet, b: Jet) -> Jet:
    return (
        a[0] * b[0],
        a[1] * b[0] + a[0] * b[1],
        a[2] * b[0] + a[0] * b[2],
        a[3] * b[0] + a[0] * b[3],
        a[4] * b[0] + 2.0 * a[3] * b[3] + a[0] * b[4],
    )


@inline
def root(a: Jet) -> Jet:
    value = math.sqrt(a[0])
    half = 0.5 / value
    return value, half * a[1], half * a[2], half * a[3], half * (a[4] - 0.5 * a[3] * a[3] / a[0])


@inline
def direction(sine: Jet, cosine: Jet) -> Jet:
    """atan2 of two jets."""
    square = sine[0] * sine[0] + cosine[0] * cosine[0]
    turn = (cosine[0] * sine[3] - sine[0] * cosine[3]) / square
    growth = (cosine[0] * cosine[3] + sine[0] * sine[3]) / square
    return (
        math.atan2(sine[0], cosine[0]),
        (cosine[0] * sine[1] - sine[0] * cosine[1]) / square,
        (cosine[0] * sine[2] - sine[0] * cosine[2]) / square,
        turn,
        (cosine[0] * sine[4] - sine[0] * cosine[4]) / square - 2.0 * turn * growth,
    )


@jit
def normal_angle(
    which: int, axes: Vector, longitude: float, latitude: float, rates: tuple[float, float]
) -> Jet:
    """One of the two angles behind the turn about x by atan2(C sin(longitude), B cos(longitude)).

    The tilt about y takes z to the normal, the spin about z takes x to the tangent along latitude (ArtiSynth's guide,
    eq. 3.28). Both are smooth everywhere, the spin is 0 where B = C.
    """
    a, b, c = axes
    sine, cosine = math.sin(longitude), math.cos(longitude)
    rate = rates[0]
    s_lon = (sine, cosine, 0.0, cosine * rate, -sine * rate * rate)
    c_lon = (cosine, -sine, 0.0, -sine * rate, -cosine * rate * rate)
    sine, cosine = math.sin(latitude), math.cos(latitude)
    rate = rates[1]
    s_lat = (sine, 0.0, cosine, cosine * rate, -sine * rate * rate)
    c_lat = (cosine, 0.0, -sine, -sine * rate, -cosine * rate * rate)
    breadth = plus(scaled(b * b, times(c_lon, c_lon)), scaled(c * c, times(s_lon, s_lon)))
    rise, run = scaled(1.0 / a, s_lat), scaled(1.0 / (b * c), times(c_lat, root(breadth)))
    if which == NORMAL_TILT:
        return direction(rise, run)
    length = root(plus(times(rise, rise), times(run, run)))
    aside = scaled(b * b - c * c, times(times(s_lat, length), times(s_lon, c_lon)))
    square_s, square_c = times(s_lat, s_lat), times(times(c_lat, c_lat), breadth)
    return direction(aside, plus(scaled(a / (b * c), square_c), scaled(b * c / a, square_s)))


@jit
def normal_factor(
    r: Rotation,
    p: Vector,
    v: Twist,
    c: Twist,
    data: Array,
    offset: int,
    first: int,
    q: Array,
    qd: Array,
    dof: Array,
) -> tuple[Rotation, Vector, Twist, Twist]:
    """exp(g f(longitude, latitude)): pose, velocity and bias after it; it adds to both columns."""
    at = offset + TWIST_WIDTH
    axes = (data[at + 1], data[at + 2], data[at + 3])
    rates = (qd[first], qd[first + 1])
    angle, lon, lat, rate, curve = normal_angle(int(data[at]), axes, q[first], q[first + 1], rates)
    r, p, v, c, w = twist_factor(r, p, v, c, data, offset, angle, rate, curve)
    store6(dof, first, SUBSPACE, scale_add6(load6(dof, first, SUBSPACE), lon, w))
    store6(dof, first + 1, SUBSPACE, scale_add6(load6(dof, first + 1, SUBSPACE), lat, w))
    return r, p, v, c
