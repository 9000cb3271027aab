"""Axes and vectors of three numbers."""

from ..compiler.jit import inline
from .vectors import Array, Vector


@inline
def unit(axis: int, scale: float) -> Vector:
    """A vector of length scale along axis 0, 1 or 2."""
    return (scale if axis == 0 else 0.0, scale if axis == 1 else 0.0, scale if axis == 2 else 0.0)


@inline
def put3(array: Array, offset: int, x: Vector) -> None:
    array[offset] = x[0]
    array[offset + 1] = x[1]
    array[offset + 2] = x[2]
