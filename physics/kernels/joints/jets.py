"""Jets of functions of two numbers: the coefficients of their Taylor series up to third order.

Products and functions of one number propagate them exactly. If the third order is not used, the compiler drops it.
"""

import math
from typing import TypeAlias

from ..compiler.jit import inline

# coefficients of 1, x, y, xx, xy, yy, xxx, xxy, xyy, yyy
Jet: TypeAlias = tuple[float, float, float, float, float, float, float, float, float, float]


@inline
def scaled(s: float, a: Jet) -> Jet:
    return (
        s * a[0], s * a[1], s * a[2], s * a[3], s * a[4],
        s * a[5], s * a[6], s * a[7], s * a[8], s * a[9],
    )  # fmt: skip


@inline
def plus(a: Jet, b: Jet) -> Jet:
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4],
        a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8], a[9] + b[9],
    )  # fmt: skip


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
        value, result[1], result[2], result[3], result[4],
        result[5], result[6], result[7], result[8], result[9],
    )  # fmt: skip


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
def reciprocal(a: Jet) -> Jet:
    x = 1.0 / a[0]
    return composed(a, x, -x * x, x * x * x, -x * x * x * x)


@inline
def wave(angle: float, first: bool) -> tuple[Jet, Jet]:
    """Sine and cosine of the first number plus a constant, or of the second."""
    s, c = math.sin(angle), math.cos(angle)
    if first:
        return (
            (s, c, 0.0, -0.5 * s, 0.0, 0.0, -c / 6.0, 0.0, 0.0, 0.0),
            (c, -s, 0.0, -0.5 * c, 0.0, 0.0, s / 6.0, 0.0, 0.0, 0.0),
        )
    return (
        (s, 0.0, c, 0.0, 0.0, -0.5 * s, 0.0, 0.0, 0.0, -c / 6.0),
        (c, 0.0, -s, 0.0, 0.0, -0.5 * c, 0.0, 0.0, 0.0, s / 6.0),
    )
