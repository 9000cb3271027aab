"""Mass points near a point of the path where it bends: they pass the corner smoothly.

If a mass point slid over a sharp corner, its velocity, and with it the mass matrix, would jump.
Within a width w of the corner it leaves the polyline for

    x = V + s u + c (t - u),   c = s step(s / w),

V the corner, u and t the directions before and after it, s the arc length past it: a curve through V that is three
times continuously differentiable. The width is a share of l m / (l + m), l and m the lengths of both strands, so that
corners stay apart. The path's length remains that of the polyline. Next to strands over obstacles see `bend`.
"""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, load3, store3
from ..algebra.vectors import NONE, Array, Twist, Vector, add3, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from ..forces.points import wrench_at
from ..wrapping.smooth import smooth_step
from . import layout as muscle
from .bend import bend_point, beside_obstacles
from .carrying import add_wrench, carry_point
from .frames import Span, inner_span, past, row_at, sizes_of, take_force, width_curve
from .strand_mass import columns_at

Units: TypeAlias = tuple[Vector, Vector, Vector]
# a motion of the corner, those of both strands across them, and along them
Parts: TypeAlias = tuple[Vector, Vector, Vector, float, float]
# rotation of both strands: rates of the first's direction and of the difference; the velocity-dependent parts of both
# directions' second derivatives, and of the width's; the width's rate
Turns: TypeAlias = tuple[Vector, Vector, Vector, Vector, float, float]
# of a corner's mass points: their forces, those by the share across each strand, along each, and along the path
Sums: TypeAlias = tuple[Vector, Vector, Vector, float, float, float, float]
NOTHING = (NONE, NONE, NONE, 0.0, 0.0, 0.0, 0.0)


@inline
def corner_width(k: int, count: int, share: float, space: Array) -> float:
    """Width of the corner at point k of a path of count points; 0 at its ends."""
    if k <= 0 or k >= count - 1:
        return 0.0
    a, b = space[row_at(k - 1) + muscle.STRAND_LENGTH], space[row_at(k) + muscle.STRAND_LENGTH]
    return share * a * b / (a + b) if a + b > 0.0 else 0.0


@inline
def bend_of(s: float, sizes: Twist) -> Twist:
    """c at the arc length s past the corner; its derivatives by s and by the width, and by both twice (ss, sw, ww)."""
    v = s * sizes[3]
    step, slope, bend = smooth_step(v)
    first, second = step + v * slope, (2.0 * slope + v * bend) * sizes[3]
    return s * step, first, -v * v * slope, second, -v * second, v * v * second


@inline
def shares_of(s: float, bend: Twist, sizes: Twist) -> Twist:
    """Shares of the strands' motions in that of a mass point at s: across the strand before, across the one after, and
    along both (through the width); then c and its slope by s.
    """
    across = (s - bend[0]) * sizes[0], bend[0] * sizes[1]
    return across[0], across[1], bend[2] * sizes[4], bend[2] * sizes[5], bend[0], bend[1]


@inline
def corner_shares(k: int, s: float, space: Array) -> Twist:
    """`shares_of` at the corner at point k."""
    sizes = sizes_of(k, space)
    return shares_of(s, bend_of(s, sizes), sizes)


@inline
def corner_units(k: int, space: Array) -> Units:
    """Directions before and after a corner, and their difference."""
    u, t = flat3(space, row_at(k - 1) + muscle.STRAND_UNIT), flat3(space, row_at(k) + muscle.STRAND_UNIT)
    return u, t, subtract3(t, u)


@inline
def parts_of(units: Units, a: Vector, v: Vector, b: Vector) -> Parts:
    """Parts of the motions a, v, b of the points before, at and after the corner, across and along both strands."""
    way, other = subtract3(v, a), subtract3(b, v)
    along, after = dot3(units[0], way), dot3(units[1], other)
    return v, scale_add3(way, -along, units[0]), scale_add3(other, -after, units[1]), along, after


@inline
def round_motion(shares: Twist, units: Units, parts: Parts, ds: float) -> Vector:
    """Motion of a mass point from the motions of the corner, of both strands, and along the path."""
    x = scale_add3(scale_add3(parts[0], shares[0], parts[1]), shares[1], parts[2])
    x = scale_add3(x, shares[2] * parts[3] + shares[3] * parts[4] + shares[5] * ds, units[2])
    return scale_add3(x, ds, units[0])


@inline
def parts_at(k: int, what: int, units: Units, space: Array) -> Parts:
    """`parts_of` the vectors at an offset in the rows of the path's points."""
    a, v = flat3(space, row_at(k - 1) + what), flat3(space, row_at(k) + what)
    return parts_of(units, a, v, flat3(space, row_at(k + 1) + what))


@inline
def turning_of(here: int, inverse: float, space: Array) -> Vector:
    """The velocity-dependent part of a direction's second derivative; inverse: 1 / length of the strand."""
    u, turning = flat3(space, here + muscle.STRAND_UNIT), flat3(space, here + muscle.STRAND_UNIT_RATE)
    x = scale_add3(NONE, -dot3(turning, turning), u)
    return scale_add3(x, -2.0 * space[here + muscle.STRAND_RATE] * inverse, turning)


@inline
def corner_turns(k: int, sizes: Twist, space: Array) -> Turns:
    """Rotation of the strands at the corner at point k."""
    before, after = row_at(k - 1), row_at(k)
    a, b = space[before + muscle.STRAND_LENGTH], space[after + muscle.STRAND_LENGTH]
    da, db = space[before + muscle.STRAND_RATE], space[after + muscle.STRAND_RATE]
    turn_a, turn_b = (
        flat3(space, before + muscle.STRAND_UNIT_RATE),
        flat3(space, after + muscle.STRAND_UNIT_RATE),
    )
    push = sizes[4] * a * dot3(turn_a, turn_a) + sizes[5] * b * dot3(turn_b, turn_b)
    push += width_curve(k, sizes, space)
    first, last = turning_of(before, sizes[0], space), turning_of(after, sizes[1], space)
    return turn_a, subtract3(turn_b, turn_a), first, last, push, sizes[4] * da + sizes[5] * db


@inline
def corner_bias(s: float, rate: float, bend: Twist, turns: Turns, units: Units) -> Vector:
    """The part of a mass point's acceleration without accelerations of the path's points and s''."""
    c, by_s, by_width, ss, sw, ww = bend
    push, speed = turns[4], turns[5]
    x = scale_add3(NONE, 2.0 * rate, turns[0])
    x = scale_add3(x, 2.0 * (by_s * rate + by_width * speed), turns[1])
    x = scale_add3(x, s - c, turns[2])
    x = scale_add3(x, c, turns[3])
    curve = by_width * push + ss * rate * rate + 2.0 * sw * rate * speed + ww * speed * speed
    return scale_add3(x, curve, units[2])


@inline
def past_corner(data: Array, point: int, k: int, space: Array) -> float:
    """Arc length of a mass point past the corner."""
    return float(past(data, point, space[row_at(k) + muscle.BEFORE], space))


@inline
def point_at_corner(
    data: Array,
    point: int,
    k: int,
    quick: bool,
    sizes: Twist,
    units: Units,
    moving: Parts,
    pushed: Parts,
    turns: Turns,
    space: Array,
) -> tuple[Twist, Vector, Vector]:
    """Shares, velocity and acceleration of the mass point whose numbers begin at point, near the corner at point k,
    from velocities and accelerations there and the rotation of the strands.
    """
    here, s = row_at(k), past_corner(data, point, k, space)
    bend = bend_of(s, sizes)
    share, shares = data[point + muscle.POINT_SHARE], shares_of(s, bend, sizes)
    rate = share * space[muscle.RATE] - space[here + muscle.BEFORE_RATE]
    second = share * space[muscle.SECOND] - space[here + muscle.BEFORE_SECOND]
    v, push = round_motion(shares, units, moving, rate), round_motion(shares, units, pushed, second)
    if quick:
        push = add3(push, corner_bias(s, rate, bend, turns, units))
    return shares, v, push


@shared
def corner_point(data: Array, point: int, k: int, quick: bool, space: Array) -> tuple[Vector, Vector, Vector]:
    """Place, velocity and acceleration of a mass point near the corner at point k."""
    if beside_obstacles(k, space):
        x, v, push, _, _ = bend_point(data, point, k, quick, space)
        return x, v, push
    units, sizes = corner_units(k, space), sizes_of(k, space)
    moving, pushed = (
        parts_at(k, muscle.AT_VELOCITY, units, space),
        parts_at(k, muscle.AT_ACCELERATION, units, space),
    )
    turns = corner_turns(k, sizes, space)
    shares, v, push = point_at_corner(data, point, k, quick, sizes, units, moving, pushed, turns, space)
    x = scale_add3(flat3(space, row_at(k) + muscle.AT_PLACE), past_corner(data, point, k, space), units[0])
    return scale_add3(x, shares[4], units[2]), v, push


@inline
def take_at_corner(
    space: Array, here: int, share: float, force: Vector, shares: Twist, units: Units, sums: Units
) -> Units:
    """Add a mass point's force to the sums over its corner, and to that along the path."""
    u, t, e = units
    across, level, far = dot3(e, force), dot3(u, force), dot3(t, force)
    along = level + shares[5] * across
    space[here + muscle.ALONG_BEFORE] += along
    space[here + muscle.ALONG_PATH] += share * along
    return (
        add3(sums[0], force),
        scale_add3(scale_add3(sums[1], shares[0], force), shares[2] * across - shares[0] * level, u),
        scale_add3(scale_add3(sums[2], shares[1], force), shares[3] * across - shares[1] * far, t),
    )


@inline
def take_from_corner(space: Array, here: int, sums: Units) -> None:
    """Subtract the sums over a corner's mass points from the points of the path."""
    whole, before, after = sums
    take_force(space, here - muscle.SPACE_ROW, scale_add3(NONE, -1.0, before))
    take_force(space, here, subtract3(add3(whole, before), after))
    take_force(space, here + muscle.SPACE_ROW, after)


@shared
def corner_inertia(data: Array, row: int, k: int, quick: bool, space: Array) -> None:
    """Inertial forces of a corner's mass points, on the points of the path and along it."""
    here, masses = row_at(k), row + int(data[row + muscle.MUSCLE_MASSES])
    units, sizes = corner_units(k, space), sizes_of(k, space)
    moving, pushed = (
        parts_at(k, muscle.AT_VELOCITY, units, space),
        parts_at(k, muscle.AT_ACCELERATION, units, space),
    )
    turns = corner_turns(k, sizes, space)
    first, sums = int(space[here + muscle.CORNER_FIRST]), (NONE, NONE, NONE)
    for i in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        shares, _, push = point_at_corner(data, point, k, quick, sizes, units, moving, pushed, turns, space)
        force = scale_add3(NONE, data[point + muscle.POINT_MASS], push)
        sums = take_at_corner(space, here, data[point + muscle.POINT_SHARE], force, shares, units, sums)
    take_from_corner(space, here, sums)


@shared
def corner_energies(data: Array, row: int, k: int, gravity: Vector, space: Array) -> tuple[float, float]:
    """Kinetic energy of a corner's mass points, and the sum of their mass times their height along gravity."""
    here, masses = row_at(k), row + int(data[row + muscle.MUSCLE_MASSES])
    kinetic, height = 0.0, 0.0
    first = int(space[here + muscle.CORNER_FIRST])
    for i in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        x, v, _ = corner_point(data, point, k, False, space)
        kinetic += 0.5 * data[point + muscle.POINT_MASS] * dot3(v, v)
        height += data[point + muscle.POINT_MASS] * dot3(gravity, x)
    return kinetic, height


@inline
def corner_columns(data: Array, span: Span, k: int, units: Units, dof: Array, columns: int) -> None:
    """Decomposed derivatives at the corner at point k by each coordinate of a span; before the columns advance to
    strand k.
    """
    place = columns + muscle.COLUMN_POINTS + 3 * k
    for i in range(span[1]):
        d, start = int(data[span[0] + i]), columns + muscle.COLUMN_CORNER
        parts = parts_of(units, load3(dof, d, place - 3), load3(dof, d, place), load3(dof, d, place + 3))
        store3(dof, d, start, parts[0])
        store3(dof, d, start + 3, parts[1])
        store3(dof, d, start + 6, parts[2])
        dof[d, start + 9], dof[d, start + 10] = parts[3], parts[4]


@inline
def corner_column(share: float, shares: Twist, units: Units, dof: Array, d: int, columns: int) -> Vector:
    """Derivative by coordinate d of a mass point near the corner of `corner_columns`."""
    start = columns + muscle.COLUMN_CORNER
    parts = (
        load3(dof, d, start),
        load3(dof, d, start + 3),
        load3(dof, d, start + 6),
        dof[d, start + 9],
        dof[d, start + 10],
    )
    ds = share * dof[d, columns + muscle.COLUMN_LENGTH] - dof[d, columns + muscle.COLUMN_BEFORE]
    return round_motion(shares, units, parts, ds)


@shared
def add_corner_mass(data: Array, row: int, k: int, space: Array, work: Array, dof: Array) -> None:
    """Mass of a corner's mass points, as `mass.add_muscle_masses`."""
    here, columns, whole = row_at(k), columns_at(dof.shape[0]), inner_span(data, row)
    (span, number, base), masses = whole, row + int(data[row + muscle.MUSCLE_MASSES])
    units, sizes = corner_units(k, space), sizes_of(k, space)
    first = int(space[here + muscle.CORNER_FIRST])
    corner_columns(data, whole, k, units, dof, columns)
    for n in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * n
        s, m, share = (
            past_corner(data, point, k, space),
            data[point + muscle.POINT_MASS],
            data[point + muscle.POINT_SHARE],
        )
        shares = shares_of(s, bend_of(s, sizes), sizes)
        lever = scale_add3(flat3(space, here + muscle.AT_LEVER), s, units[0])
        lever = scale_add3(lever, shares[4], units[2])
        if base >= 0:
            carry_point(base, m, lever, work)
        for i in range(number):
            d = int(data[span + i])
            x = corner_column(share, shares, units, dof, d, columns)
            store3(dof, d, columns + muscle.COLUMN_MOVED, x)
            x = scale_add3(NONE, m, x)
            for j in range(i + 1):
                e = int(data[span + j])
                dof[d, at.DOF_WORK_WIDTH + e] += dot3(x, load3(dof, e, columns + muscle.COLUMN_MOVED))
            if base >= 0:
                add_wrench(dof, d, wrench_at(lever, NONE, x))
