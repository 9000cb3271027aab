"""Small pieces that all kernels of muscles share."""

from __future__ import annotations

from ..algebra.axes import put3
from ..algebra.spatial import Array, Twist, Vector, flat3, load_twist, scale_add3, scale_add6, subtract3
from ..compiler.jit import inline
from ..forces.points import STILL
from ..layout import ACCELERATION, BIAS
from .layout import (
    AT_ACCELERATION,
    AT_FORCE,
    BEFORE_RATE,
    BEFORE_SECOND,
    CORNER_WIDTH,
    LENGTH,
    POINT_OFFSET,
    POINT_SHARE,
    RATE,
    ROOM_HEADER,
    ROOM_ROW,
    SECOND,
    STRAND_LENGTH,
    STRAND_RATE,
    STRAND_SECOND,
    STRAND_UNIT,
    STRAND_UNIT_RATE,
)


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
    total: Twist = load_twist(work, body, ACCELERATION)
    return total if quick else scale_add6(total, -1.0, load_twist(work, body, BIAS))


@inline
def along_strand(room: Array, at: int, what: int, c: float) -> Vector:
    """What lies between that of both ends of a straight strand, which their rows hold at an offset, at the share c."""
    start = flat3(room, at + what)
    return scale_add3(start, c, subtract3(flat3(room, at + ROOM_ROW + what), start))


@inline
def straight_push(s: float, along: float, at: int, room: Array) -> Vector:
    """Acceleration of the mass point of share s at the length `along` past the beginning of a straight strand."""
    length, u = room[at + STRAND_LENGTH], flat3(room, at + STRAND_UNIT)
    c = along / length if length > 0.0 else 0.0
    rate = s * room[RATE] - room[at + BEFORE_RATE] - c * room[at + STRAND_RATE]
    second = s * room[SECOND] - room[at + BEFORE_SECOND] - c * room[at + STRAND_SECOND]
    x = along_strand(room, at, AT_ACCELERATION, c)
    return scale_add3(scale_add3(x, second, u), 2.0 * rate, flat3(room, at + STRAND_UNIT_RATE))


@inline
def sizes_of(k: int, room: Array) -> Twist:
    """Inverse lengths of the strands before and behind the corner at point k, its width and the inverse, and how the
    width changes with either length.
    """
    a, b = room[row_at(k - 1) + STRAND_LENGTH], room[row_at(k) + STRAND_LENGTH]
    width = room[row_at(k) + CORNER_WIDTH]
    part = width / (a + b)
    return 1.0 / a, 1.0 / b, width, 1.0 / width, part * b / a, part * a / b


@inline
def width_curve(k: int, sizes: Twist, room: Array) -> float:
    """That part of the second derivative of a corner's width which holds none of those of its strands' lengths."""
    a, b = room[row_at(k - 1) + STRAND_LENGTH], room[row_at(k) + STRAND_LENGTH]
    da, db = room[row_at(k - 1) + STRAND_RATE], room[row_at(k) + STRAND_RATE]
    mixed = (db * a - da * b) / (a + b)
    return float(-2.0 * sizes[2] * sizes[0] * sizes[1] * mixed * mixed)


@inline
def take_force(room: Array, at: int, force: Vector) -> None:
    """Take a force from a point of the path."""
    put3(room, at + AT_FORCE, subtract3(flat3(room, at + AT_FORCE), force))
