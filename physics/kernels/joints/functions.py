"""Functions of one coordinate that a joint's factor may follow, each with its first two derivatives.

In data a function is its kind, then its numbers: linear (slope, offset); trigonometric (a, b, c, d) for a sin q + b cos
q + c + d q; polynomial (count, coefficients by rising powers); piecewise (pieces, order, breaks, coefficients by rising
powers of q - break), extrapolated linearly as OpenSim's splines are, or bent piecewise, extrapolated with the curvature
at its ends as the energy of a linear spring is; tangent angle (a, b) for the direction atan2(b sin q, a cos q) of an
ellipse, continued over whole turns.
"""

import math

from .. import layout as at
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared


@inline
def weighted_sum(data: Array, offset: int, q: Array, first: int) -> float:
    """The argument of a function factor: weights times the coordinates from `first` on."""
    total = 0.0
    for j in range(int(data[offset])):
        total += data[offset + 1 + j] * q[first + j]
    return total


@inline
def horner(data: Array, offset: int, count: int, x: float) -> Vector:
    """Value, first and second derivative of a polynomial by rising powers."""
    value, slope, curve = 0.0, 0.0, 0.0
    for k in range(count - 1, -1, -1):
        curve = curve * x + slope
        slope = slope * x + value
        value = value * x + data[offset + k]
    return value, slope, 2.0 * curve


@inline
def horner_down(data: Array, top: int, order: int, x: float, scale: float) -> Vector:
    """As `horner`, from the highest of `order` coefficients at `top` down; derivatives by x / scale."""
    value, slope, curve = data[top], 0.0, 0.0
    for k in range(1, order):
        curve = curve * x + slope
        slope = slope * x + value
        value = value * x + data[top - k]
    return value, slope * scale, curve * (2.0 * scale * scale)


@inline
def horner_third(data: Array, offset: int, count: int, x: float) -> float:
    """Third derivative of a polynomial by rising powers."""
    third = 0.0
    for k in range(count - 1, 2, -1):
        third = third * x + data[offset + k] * (k * (k - 1) * (k - 2))
    return third


@inline
def find_piece(data: Array, offset: int, q: float) -> tuple[int, float]:
    """The piece of q, and q clamped to the range of all pieces."""
    pieces = int(data[offset])
    breaks = offset + 2
    x = min(max(q, data[breaks]), data[breaks + pieces])
    low, high = 0, pieces - 1
    while low < high:
        middle = (low + high + 1) // 2
        if data[breaks + middle] <= x:
            low = middle
        else:
            high = middle - 1
    return low, x


@inline
def piecewise(data: Array, offset: int, q: float, bent: bool) -> Vector:
    pieces = int(data[offset])
    order = int(data[offset + 1])
    breaks = offset + 2
    low, x = find_piece(data, offset, q)
    value, slope, curve = horner(data, breaks + pieces + 1 + low * order, order, x - data[breaks + low])
    if q != x:
        curve = curve if bent else 0.0
        value += (slope + 0.5 * curve * (q - x)) * (q - x)
        slope += curve * (q - x)
    return value, slope, curve


@inline
def tangent_angle(a: float, b: float, q: float) -> Vector:
    """phi of Lee & Terzopoulos 2008, eq. 18, on the branch that is q for a circle; phi' and phi''."""
    sine, cosine = math.sin(q), math.cos(q)
    # atan2(b s, a c) - q by the sine and cosine of the difference, which stays in (-pi / 2, pi / 2)
    difference = math.atan2((b - a) * sine * cosine, a * cosine * cosine + b * sine * sine)
    square = a * a * cosine * cosine + b * b * sine * sine
    slope = a * b / square
    curve = slope * 2.0 * (a * a - b * b) * sine * cosine / square
    return q + difference, slope, curve


@shared
def evaluate_function(data: Array, offset: int, q: float) -> Vector:
    """Value, first and second derivative at q of the function that begins at offset."""
    kind = int(data[offset])
    if kind == at.LINEAR_FUNCTION:
        return data[offset + 1] * q + data[offset + 2], data[offset + 1], 0.0
    if kind == at.TRIGONOMETRIC:
        sine, cosine = math.sin(q), math.cos(q)
        wave = data[offset + 1] * sine + data[offset + 2] * cosine
        slope = data[offset + 1] * cosine - data[offset + 2] * sine
        return wave + data[offset + 3] + data[offset + 4] * q, slope + data[offset + 4], -wave
    if kind == at.POLYNOMIAL:
        return horner(data, offset + 2, int(data[offset + 1]), q)
    if kind in (at.PIECEWISE, at.BENT_PIECEWISE):
        return piecewise(data, offset + 1, q, kind == at.BENT_PIECEWISE)
    return tangent_angle(data[offset + 1], data[offset + 2], q)


@shared
def third_derivative(data: Array, offset: int, q: float) -> float:
    """Third derivative at q of the function that begins at offset: 0 if a spline is extrapolated linearly."""
    kind = int(data[offset])
    if kind == at.LINEAR_FUNCTION:
        return 0.0
    if kind == at.TRIGONOMETRIC:
        return float(data[offset + 2] * math.sin(q) - data[offset + 1] * math.cos(q))
    if kind == at.POLYNOMIAL:
        return horner_third(data, offset + 2, int(data[offset + 1]), q)
    if kind == at.PIECEWISE:
        low, x = find_piece(data, offset + 1, q)
        if q != x:
            return 0.0
        pieces, order, breaks = int(data[offset + 1]), int(data[offset + 2]), offset + 3
        return horner_third(data, breaks + pieces + 1 + low * order, order, x - data[breaks + low])
    a, b = data[offset + 1], data[offset + 2]
    sine, cosine = math.sin(q), math.cos(q)
    square = a * a * cosine * cosine + b * b * sine * sine
    difference, product = a * a - b * b, sine * cosine
    bend = (cosine * cosine - sine * sine) + 4.0 * difference * product * product / square
    return float(2.0 * a * b * difference * bend / (square * square))
