"""Factors exp(g f(x, y)) of two coordinates: angles of an ellipsoid's normal, places of an arc's end.

Their kernels are compiled for the models alone that have them (see `layout.RARE_BITS`).
"""

import math

from .. import layout as at
from ..algebra.vectors import STILL, Array, Vector
from ..compiler.jit import for_rare_forces, inline
from .factors import Motion, add_column, twist_factor
from .jets import Jet, composed, direction, plus, reciprocal, root, scaled, times, wave

NOWHERE: Motion = ((0.0,) * 9, (0.0,) * 3, STILL, STILL)
NEARLY_STRAIGHT, TERMS = 0.15, 26  # sin^2 of half a bend up to which a series of so many terms has round-off


@inline
def normal_angle(which: int, axes: Vector, longitude: float, latitude: float) -> Jet:
    """One of the two angles after the rotation about x by atan2(C sin(longitude), B cos(longitude)).

    The tilt about y takes z to the normal, the spin about z takes x to the tangent along latitude (ArtiSynth's guide,
    eq. 3.28). Both are smooth everywhere, the spin is 0 where B = C.
    """
    a, b, c = axes
    (s_lon, c_lon), (s_lat, c_lat) = wave(longitude, True), wave(latitude, False)
    breadth = plus(scaled(b * b, times(c_lon, c_lon)), scaled(c * c, times(s_lon, s_lon)))
    rise, run = scaled(1.0 / a, s_lat), scaled(1.0 / (b * c), times(c_lat, root(breadth)))
    if which == at.NORMAL_TILT:
        return direction(rise, run)
    length = root(plus(times(rise, rise), times(run, run)))
    aside = scaled(b * b - c * c, times(times(s_lat, length), times(s_lon, c_lon)))
    square_s, square_c = times(s_lat, s_lat), times(times(c_lat, c_lat), breadth)
    return direction(aside, plus(scaled(a / (b * c), square_c), scaled(b * c / a, square_s)))


@inline
def bend_over_sine(cosine: float) -> tuple[float, float, float, float]:
    """Taylor coefficients of f = theta / sin(theta) as a function of c = cos(theta): by its differential equation
    (1 - c^2) f' = c f - 1, or near theta = 0 by its series in sin^2(theta / 2).
    """
    half = 0.5 * (1.0 - cosine)
    if half > NEARLY_STRAIGHT:
        square = 1.0 - cosine * cosine
        value = math.acos(cosine) / math.sqrt(square)
        slope = (cosine * value - 1.0) / square
        curve = (3.0 * cosine * slope + value) / square
        return value, slope, 0.5 * curve, (5.0 * cosine * curve + 4.0 * slope) / (6.0 * square)
    value, slope, square, cube = 1.0, 0.0, 0.0, 0.0
    for n in range(TERMS, 0, -1):
        ratio = 2.0 * n / (2.0 * n + 1.0)
        cube = ratio * (square + half * cube)
        square = ratio * (slope + half * square)
        slope = ratio * (value + half * slope)
        value = 1.0 + ratio * half * value
    return value, -0.5 * slope, 0.25 * square, -0.125 * cube


@inline
def arc_place(which: int, length: float, about_x: float, about_z: float) -> Jet:
    """x, y or z of the end of an arc that begins along y, where it has turned about x, then about z."""
    (s_x, c_x), (s_z, c_z) = wave(about_x, True), wave(about_z, False)
    cosine = times(c_x, c_z)  # of the bend; (-s_z, cosine, s_x c_z) is the direction of the end
    ratio = composed(cosine, *bend_over_sine(cosine[0]))
    if which == at.ARC_Y:
        return scaled(length, reciprocal(ratio))
    aside = scaled(-1.0, s_z) if which == at.ARC_X else times(s_x, c_z)
    whole = times(ratio, plus((1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), cosine))
    return scaled(length, times(aside, reciprocal(whole)))


@inline
def function_of_two(data: Array, offset: int, x: float, y: float) -> Jet:
    """The function that begins at offset."""
    which, a, b, c = int(data[offset]), data[offset + 1], data[offset + 2], data[offset + 3]
    if which < at.ARC_X:
        return normal_angle(which, (a, b, c), x, y)
    return arc_place(which, a, x + b, y + c)


@for_rare_forces(NOWHERE)
def factor_of_two(
    body_int: Array, before: Motion, data: Array, offset: int, first: int, q: Array, qd: Array, dof: Array
) -> Motion:
    """exp(g f(x, y)): pose, velocity and bias after it; it adds to both columns."""
    r, p, v, c = before
    x, y = qd[first], qd[first + 1]
    angle = function_of_two(data, offset + at.TWIST_WIDTH, q[first], q[first + 1])
    rate = angle[1] * x + angle[2] * y
    curve = 2.0 * (angle[3] * x * x + angle[4] * x * y + angle[5] * y * y)
    r, p, v, c, w = twist_factor(r, p, v, c, data, offset, angle[0], rate, curve)
    add_column(dof, first, angle[1], w)
    add_column(dof, first + 1, angle[2], w)
    return r, p, v, c
