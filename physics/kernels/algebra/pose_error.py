"""Logarithms of rotations and poses on tuples, and their rates."""

import math

from ..compiler.jit import inline, shared
from .vectors import Rotation, Vector, cross

# Squared angle [rad^2] below which six terms of a series are used: the first term omitted is under 1e-14 of the sum.
SERIES_LIMIT = 0.25


@shared
def rotation_log(m: Rotation) -> Vector:
    """Rotation vector with |r| <= pi of a rotation, also near pi: from the quaternion's largest component."""
    trace = m[0] + m[4] + m[8]
    if trace >= m[0] and trace >= m[4] and trace >= m[8]:
        w = 1.0 + trace
        x, y, z = m[7] - m[5], m[2] - m[6], m[3] - m[1]
    elif m[0] >= m[4] and m[0] >= m[8]:
        w = m[7] - m[5]
        x, y, z = 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]
    elif m[4] >= m[8]:
        w = m[2] - m[6]
        x, y, z = m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7]
    else:
        w = m[3] - m[1]
        x, y, z = m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8]
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, 0.0, 0.0
    scale = 2.0 * math.atan2(length, abs(w)) / length
    if w < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z


@inline
def inverse_coefficients(square: float) -> tuple[float, float]:
    """zeta of G_b = I + [r] / 2 + zeta [r]^2 (Kim, Lee & Park 2014, eq. 22) at |r|^2 = square, and the factor of
    <r, r'> in its rate.
    """
    if square < SERIES_LIMIT:
        # Bernoulli's numbers: zeta = 1/12 + x/720 + x^2/30240 + ...
        zeta = 1.0 / 12.0 + square * (
            1.0 / 720.0
            + square
            * (
                1.0 / 30240.0
                + square
                * (1.0 / 1209600.0 + square * (1.0 / 47900160.0 + square * (691.0 / 1307674368000.0)))
            )
        )
        rate = 2.0 * (
            1.0 / 720.0
            + square
            * (
                2.0 / 30240.0
                + square
                * (3.0 / 1209600.0 + square * (4.0 / 47900160.0 + square * (5.0 * 691.0 / 1307674368000.0)))
            )
        )
        return zeta, rate
    angle = math.sqrt(square)
    half = 0.5 * angle
    sine, cosine = math.sin(half), math.cos(half)
    zeta = (1.0 - half * cosine / sine) / square
    slope = (half / (sine * sine) - cosine / sine) / (2.0 * square) - 2.0 * zeta / angle
    return zeta, slope / angle


@inline
def double_cross(half: float, zeta: float, r: Vector, x: Vector) -> Vector:
    """x + half r x x + zeta r x (r x x): G_b x with half = 1/2, G_s x with half = -1/2."""
    once = cross(r, x)
    twice = cross(r, once)
    return (
        x[0] + half * once[0] + zeta * twice[0],
        x[1] + half * once[1] + zeta * twice[1],
        x[2] + half * once[2] + zeta * twice[2],
    )
