"""Small pieces that all kernels of muscles share."""

from __future__ import annotations

from ._jit import inline
from .layout import ACCELERATION, BIAS
from .muscle_layout import LENGTH, POINT_OFFSET, POINT_SHARE, ROOM_HEADER, ROOM_ROW
from .points import STILL
from .spatial import Array, Twist, Vector, load6, scale_add6


@inline
def put3(array: Array, offset: int, x: Vector) -> None:
    array[offset] = x[0]
    array[offset + 1] = x[1]
    array[offset + 2] = x[2]


@inline
def row_at(k: int) -> int:
    """Where the row of point k begins in the room."""
    return ROOM_HEADER + ROOM_ROW * k


@inline
def past(data: Array, point: int, before: float, room: Array) -> float:
    """Arc length from the place `before` of the path to the mass point whose numbers begin at point."""
    along: float = data[point + POINT_OFFSET] + data[point + POINT_SHARE] * room[LENGTH] - before
    return along


@inline
def acceleration_of(work: Array, body: int, quick: bool) -> Twist:
    """Acceleration of a body that `kinematics` and a pass over accelerations left; without what velocities bring where
    not quick.
    """
    if body < 0:
        return STILL
    total: Twist = load6(work, body, ACCELERATION)
    return total if quick else scale_add6(total, -1.0, load6(work, body, BIAS))
