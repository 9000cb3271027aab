"""Vectors, rotations and twists of arrays: read from a row or a flat array, and written to a row."""

from .. import layout as at
from ..compiler.jit import inline
from .vectors import Array, Rotation, Twist, Vector


@inline
def load3(array: Array, row: int, offset: int) -> Vector:
    return array[row, offset], array[row, offset + 1], array[row, offset + 2]


@inline
def load6(array: Array, row: int, offset: int) -> Twist:
    return load3(array, row, offset) + load3(array, row, offset + 3)


@inline
def load9(array: Array, row: int, offset: int) -> Rotation:
    return load6(array, row, offset) + load3(array, row, offset + 6)


@inline
def load_twist(array: Array, row: int, offset: int) -> Twist:
    """A twist or wrench of the workspace, where each of its vectors is padded to four numbers."""
    return load3(array, row, offset) + load3(array, row, offset + 4)


@inline
def load_rotation(work: Array, i: int) -> Rotation:
    """Rotation of body i's pose, stored by columns."""
    return (
        work[i, at.POSE], work[i, at.POSE + 4], work[i, at.POSE + 8],
        work[i, at.POSE + 1], work[i, at.POSE + 5], work[i, at.POSE + 9],
        work[i, at.POSE + 2], work[i, at.POSE + 6], work[i, at.POSE + 10],
    )  # fmt: skip


@inline
def flat3(array: Array, offset: int) -> Vector:
    return array[offset], array[offset + 1], array[offset + 2]


@inline
def flat9(array: Array, offset: int) -> Rotation:
    return flat3(array, offset) + flat3(array, offset + 3) + flat3(array, offset + 6)


@inline
def store3(array: Array, row: int, offset: int, x: Vector) -> None:
    array[row, offset] = x[0]
    array[row, offset + 1] = x[1]
    array[row, offset + 2] = x[2]


@inline
def store6(array: Array, row: int, offset: int, x: Twist) -> None:
    store3(array, row, offset, x[:3])
    store3(array, row, offset + 3, x[3:])


@inline
def store9(array: Array, row: int, offset: int, x: Rotation) -> None:
    store6(array, row, offset, x[:6])
    store3(array, row, offset + 6, x[6:])


@inline
def store_twist(array: Array, row: int, offset: int, x: Twist) -> None:
    """Store for `load_twist`."""
    store3(array, row, offset, x[:3])
    store3(array, row, offset + 4, x[3:])
