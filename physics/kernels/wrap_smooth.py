"""Smooth steps of compact support, each with its first and second derivative, the step with its third."""

from __future__ import annotations

from ._jit import inline
from .spatial import Vector


@inline
def smooth_step(v: float) -> Vector:
    """From 0 at v <= -1 to 1 at v >= 1, three times continuously differentiable."""
    if v <= -1.0:
        return 0.0, 0.0, 0.0
    if v >= 1.0:
        return 1.0, 0.0, 0.0
    s = v * v
    rest = 1.0 - s
    value = 0.5 + v * (35.0 - s * (35.0 - s * (21.0 - 5.0 * s))) / 32.0
    return value, 35.0 / 32.0 * rest * rest * rest, -105.0 / 16.0 * v * rest * rest


@inline
def smooth_step_third(v: float) -> float:
    """Third derivative of the step."""
    s = v * v
    return -105.0 / 16.0 * (1.0 - s) * (1.0 - 5.0 * s) if s < 1.0 else 0.0


@inline
def smooth_ramp(v: float) -> Vector:
    """From 0 at v <= -1 to v at v >= 1, four times continuously differentiable: the step's integral."""
    if v <= -1.0:
        return 0.0, 0.0, 0.0
    if v >= 1.0:
        return v, 1.0, 0.0
    slope = smooth_step(v)
    s = v * v
    value = 35.0 / 256.0 + 0.5 * v + s * (140.0 - s * (70.0 - s * (28.0 - 5.0 * s))) / 256.0
    return value, slope[0], slope[1]


@inline
def ramp_of(x: Vector, width: float) -> tuple[Vector, float]:
    """width ramp(x / width) of a number with two derivatives in time; and its derivative by x."""
    value, slope, bend = smooth_ramp(x[0] / width)
    return (width * value, slope * x[1], slope * x[2] + bend / width * x[1] * x[1]), slope
