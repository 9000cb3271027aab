"""Small functions that all kernels of muscles share."""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, load_twist
from ..algebra.axes import put3
from ..algebra.vectors import STILL, Array, Twist, Vector, scale_add3, scale_add6, subtract3
from ..compiler.jit import inline
from . import layout as muscle

# coordinates that move a muscle: where their numbers begin in data, how many there are, and the body that they move it
# against (-1: the world)
Span: TypeAlias = tuple[int, int, int]


@inline
def whole_span(data: Array, row: int) -> Span:
    """All coordinates that move a muscle."""
    return row + int(data[row + muscle.MUSCLE_SPAN]), int(data[row + muscle.MUSCLE_SPAN_COUNT]), -1


@inline
def inner_span(data: Array, row: int) -> Span:
    """Those that move parts of a muscle against the body that carries all of it."""
    begin, number = row + int(data[row + muscle.MUSCLE_INNER]), int(data[row + muscle.MUSCLE_INNER_COUNT])
    return begin, number, int(data[row + muscle.MUSCLE_BASE])


@inline
def row_at(k: int) -> int:
    """Offset of the row of point k."""
    return muscle.SPACE_HEADER + muscle.SPACE_ROW * k


@inline
def past(data: Array, point: int, before: float, space: Array) -> float:
    """Arc length from the place `before` of the path to the mass point whose numbers begin at point."""
    return (
        data[point + muscle.POINT_OFFSET] + data[point + muscle.POINT_SHARE] * space[muscle.LENGTH] - before
    )


@inline
def acceleration_of(work: Array, body: int, quick: bool) -> Twist:
    """Acceleration of a body after `kinematics` and a pass over accelerations; velocity terms only if quick."""
    if body < 0:
        return STILL
    total: Twist = load_twist(work, body, at.ACCELERATION)
    return total if quick else scale_add6(total, -1.0, load_twist(work, body, at.BIAS))


@inline
def along_strand(space: Array, here: int, what: int, c: float) -> Vector:
    """Vector at the share c of a straight strand, between those at an offset in both ends' rows."""
    start = flat3(space, here + what)
    return scale_add3(start, c, subtract3(flat3(space, here + muscle.SPACE_ROW + what), start))


@inline
def straight_push(s: float, along: float, here: int, space: Array) -> Vector:
    """Acceleration of the mass point of share s at the length `along` past the beginning of a straight strand."""
    length, u = space[here + muscle.STRAND_LENGTH], flat3(space, here + muscle.STRAND_UNIT)
    c = along / length if length > 0.0 else 0.0
    rate = s * space[muscle.RATE] - space[here + muscle.BEFORE_RATE] - c * space[here + muscle.STRAND_RATE]
    second = (
        s * space[muscle.SECOND] - space[here + muscle.BEFORE_SECOND] - c * space[here + muscle.STRAND_SECOND]
    )
    x = along_strand(space, here, muscle.AT_ACCELERATION, c)
    return scale_add3(scale_add3(x, second, u), 2.0 * rate, flat3(space, here + muscle.STRAND_UNIT_RATE))


@inline
def sizes_of(k: int, space: Array) -> Twist:
    """Inverse lengths of the strands before and after the corner at point k, its width and the inverse, and the width's
    derivatives by both lengths.
    """
    a, b = space[row_at(k - 1) + muscle.STRAND_LENGTH], space[row_at(k) + muscle.STRAND_LENGTH]
    width = space[row_at(k) + muscle.CORNER_WIDTH]
    part = width / (a + b)
    return 1.0 / a, 1.0 / b, width, 1.0 / width, part * b / a, part * a / b


@inline
def width_curve(k: int, sizes: Twist, space: Array) -> float:
    """The second derivative of a corner's width, without the terms of second derivatives of its strands' lengths."""
    a, b = space[row_at(k - 1) + muscle.STRAND_LENGTH], space[row_at(k) + muscle.STRAND_LENGTH]
    da, db = space[row_at(k - 1) + muscle.STRAND_RATE], space[row_at(k) + muscle.STRAND_RATE]
    mixed = (db * a - da * b) / (a + b)
    return float(-2.0 * sizes[2] * sizes[0] * sizes[1] * mixed * mixed)


@inline
def take_force(space: Array, here: int, force: Vector) -> None:
    """Subtract a force from a point of the path."""
    put3(space, here + muscle.AT_FORCE, subtract3(flat3(space, here + muscle.AT_FORCE), force))
