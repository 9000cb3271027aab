"""Vectors as tuples of 3 numbers, twists and wrenches as 6, rotations as 9 by rows.

Tuples stay in registers when jitted; nothing here allocates.
"""

from typing import Any, TypeAlias

from ..compiler.jit import inline

Vector: TypeAlias = tuple[float, float, float]
Rotation: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
Twist: TypeAlias = tuple[float, float, float, float, float, float]
Array: TypeAlias = Any

NONE: Vector = (0.0, 0.0, 0.0)
STILL: Twist = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def add3(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def scale3(factor: float, a: Vector) -> Vector:
    return factor * a[0], factor * a[1], factor * a[2]


@inline
def scale_add3(a: Vector, factor: float, b: Vector) -> Vector:
    """a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inline
def add6(a: Twist, b: Twist) -> Twist:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inline
def subtract3(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def skew_series(r: Vector, a: float, b: float) -> Rotation:
    """I + a [r] + b [r]^2."""
    x, y, z = r
    return (
        1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y,
        b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x,
        b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y),
    )  # fmt: skip


@inline
def scale_add6(a: Twist, factor: float, b: Twist) -> Twist:
    """a + factor b."""
    return (
        a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2],
        a[3] + factor * b[3], a[4] + factor * b[4], a[5] + factor * b[5],
    )  # fmt: skip


@inline
def dot3(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def dot6(a: Twist, b: Twist) -> float:
    # summed in pairs: a chain of six sums has three times the latency
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])
