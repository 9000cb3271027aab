"""Small functions that all kernels of muscles share."""

from __future__ import annotations

from .. import layout as at
from ..algebra.axes import put3
from ..algebra.spatial import Array, Twist, Vector, flat3, load_twist, scale_add3, scale_add6, subtract3
from ..compiler.jit import inline
from ..forces.points import STILL
from . import layout as muscle


@inline
def row_at(k: int) -> int:
    """Offset of the row of point k."""
    return muscle.ROOM_HEADER + muscle.ROOM_ROW * k


@inline
def past(data: Array, point: int, before: float, room: Array) -> float:
    """Arc length from the place `before` of the path to the mass point whose numbers begin at point."""
    along: float = (
        data[point + muscle.POINT_OFFSET] + data[point + muscle.POINT_SHARE] * room[muscle.LENGTH] - before
    )
    return along


@inline
def acceleration_of(work: Array, body: int, quick: bool) -> Twist:
    """Acceleration of a body after `kinematics` and a pass over accelerations; velocity terms only where quick."""
    if body < 0:
        return STILL
    total: Twist = load_twist(work, body, at.ACCELERATION)
    return total if quick else scale_add6(total, -1.0, load_twist(work, body, at.BIAS))


@inline
def along_strand(room: Array, here: int, what: int, c: float) -> Vector:
    """Vector at the share c of a straight strand, between those at an offset in both ends' rows."""
    start = flat3(room, here + what)
    return scale_add3(start, c, subtract3(flat3(room, here + muscle.ROOM_ROW + what), start))


@inline
def straight_push(s: float, along: float, here: int, room: Array) -> Vector:
    """Acceleration of the mass point of share s at the length `along` past the beginning of a straight strand."""
    length, u = room[here + muscle.STRAND_LENGTH], flat3(room, here + muscle.STRAND_UNIT)
    c = along / length if length > 0.0 else 0.0
    rate = s * room[muscle.RATE] - room[here + muscle.BEFORE_RATE] - c * room[here + muscle.STRAND_RATE]
    second = (
        s * room[muscle.SECOND] - room[here + muscle.BEFORE_SECOND] - c * room[here + muscle.STRAND_SECOND]
    )
    x = along_strand(room, here, muscle.AT_ACCELERATION, c)
    return scale_add3(scale_add3(x, second, u), 2.0 * rate, flat3(room, here + muscle.STRAND_UNIT_RATE))


@inline
def sizes_of(k: int, room: Array) -> Twist:
    """Inverse lengths of the strands before and after the corner at point k, its width and the inverse, and the width's
    derivatives by both lengths.
    """
    a, b = room[row_at(k - 1) + muscle.STRAND_LENGTH], room[row_at(k) + muscle.STRAND_LENGTH]
    width = room[row_at(k) + muscle.CORNER_WIDTH]
    part = width / (a + b)
    return 1.0 / a, 1.0 / b, width, 1.0 / width, part * b / a, part * a / b


@inline
def width_curve(k: int, sizes: Twist, room: Array) -> float:
    """The part of the second derivative of a corner's width without those of its strands' lengths."""
    a, b = room[row_at(k - 1) + muscle.STRAND_LENGTH], room[row_at(k) + muscle.STRAND_LENGTH]
    da, db = room[row_at(k - 1) + muscle.STRAND_RATE], room[row_at(k) + muscle.STRAND_RATE]
    mixed = (db * a - da * b) / (a + b)
    return float(-2.0 * sizes[2] * sizes[0] * sizes[1] * mixed * mixed)


@inline
def take_force(room: Array, here: int, force: Vector) -> None:
    """Subtract a force from a point of the path."""
    put3(room, here + muscle.AT_FORCE, subtract3(flat3(room, here + muscle.AT_FORCE), force))
