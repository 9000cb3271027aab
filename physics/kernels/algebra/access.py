"""Vectors, rotations and twists of arrays: read from a row or a flat array, and written to a row."""

from __future__ import annotations

from .. import layout as at
from ..compiler.jit import inline
from .vectors import Array, Rotation, Twist, Vector


@inline
def load3(array: Array, row: int, offset: int) -> Vector:
    return array[row, offset], array[row, offset + 1], array[row, offset + 2]


@inline
def load6(array: Array, row: int, offset: int) -> Twist:
    return (
        array[row, offset],
        array[row, offset + 1],
        array[row, offset + 2],
        array[row, offset + 3],
        array[row, offset + 4],
        array[row, offset + 5],
    )


@inline
def load9(array: Array, row: int, offset: int) -> Rotation:
    return (
        array[row, offset],
        array[row, offset + 1],
        array[row, offset + 2],
        array[row, offset + 3],
        array[row, offset + 4],
        array[row, offset + 5],
        array[row, offset + 6],
        array[row, offset + 7],
        array[row, offset + 8],
    )


@inline
def load_twist(array: Array, row: int, offset: int) -> Twist:
    """A twist or wrench of the workspace, where each of its vectors is padded to four numbers."""
    return (
        array[row, offset],
        array[row, offset + 1],
        array[row, offset + 2],
        array[row, offset + 4],
        array[row, offset + 5],
        array[row, offset + 6],
    )


@inline
def load_rotation(work: Array, i: int) -> Rotation:
    """Rotation of body i's pose, stored by columns."""
    return (
        work[i, at.POSE],
        work[i, at.POSE + 4],
        work[i, at.POSE + 8],
        work[i, at.POSE + 1],
        work[i, at.POSE + 5],
        work[i, at.POSE + 9],
        work[i, at.POSE + 2],
        work[i, at.POSE + 6],
        work[i, at.POSE + 10],
    )


@inline
def flat3(array: Array, offset: int) -> Vector:
    return array[offset], array[offset + 1], array[offset + 2]


@inline
def flat9(array: Array, offset: int) -> Rotation:
    return (
        array[offset],
        array[offset + 1],
        array[offset + 2],
        array[offset + 3],
        array[offset + 4],
        array[offset + 5],
        array[offset + 6],
        array[offset + 7],
        array[offset + 8],
    )


@inline
def store3(array: Array, row: int, offset: int, x: Vector) -> None:
    array[row, offset] = x[0]
    array[row, offset + 1] = x[1]
    array[row, offset + 2] = x[2]


@inline
def store6(array: Array, row: int, offset: int, x: Twist) -> None:
    array[row, offset] = x[0]
    array[row, offset + 1] = x[1]
    array[row, offset + 2] = x[2]
    array[row, offset + 3] = x[3]
    array[row, offset + 4] = x[4]
    array[row, offset + 5] = x[5]


@inline
def store9(array: Array, row: int, offset: int, x: Rotation) -> None:
    array[row, offset] = x[0]
    array[row, offset + 1] = x[1]
    array[row, offset + 2] = x[2]
    array[row, offset + 3] = x[3]
    array[row, offset + 4] = x[4]
    array[row, offset + 5] = x[5]
    array[row, offset + 6] = x[6]
    array[row, offset + 7] = x[7]
    array[row, offset + 8] = x[8]


@inline
def store_twist(array: Array, row: int, offset: int, x: Twist) -> None:
    """Store for `load_twist`."""
    array[row, offset] = x[0]
    array[row, offset + 1] = x[1]
    array[row, offset + 2] = x[2]
    array[row, offset + 4] = x[3]
    array[row, offset + 5] = x[4]
    array[row, offset + 6] = x[5]
