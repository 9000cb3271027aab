"""A muscle's path: its points in the world, its length with two derivatives, and the places of its mass points.

Points are fixed to bodies, move in them as functions of coordinates, or exist for a range of a coordinate only; strands
join them. A mass point keeps its share of the whole length, or its distance from an end: it lies at offset + share *
length (equal strain along the path, Wang 2022, sec. 5.3.2).
"""

import math

from .. import layout as at
from ..algebra.access import flat3, flat9, load_rotation
from ..algebra.axes import put3
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, Array, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from ..forces.points import carried, material, position, twist_of
from ..joints.functions import evaluate_function
from ..wrapping.strand import claim, leave, number_of
from . import layout as muscle
from .corner import corner_width
from .frames import acceleration_of, past, row_at
from .strand import memory_of, strand_obstacles, sum_wrapped, trace_strand


@shared
def moving_point(
    data: Array, row: int, via: int, q: Array, qd: Array, qdd: Array, quick: bool, space: Array, here: int
) -> tuple[Vector, Vector, Vector]:
    """Place, velocity and acceleration in its body of a moving point, in link axes; stores its directions."""
    place, speed, push = flat3(data, via + muscle.VIA_FRAME + 9), NONE, NONE
    frame = flat9(data, via + muscle.VIA_FRAME)
    for j in range(3):
        axis = (frame[j], frame[3 + j], frame[6 + j])
        d = int(data[via + muscle.VIA_COORDINATES + j])
        value, slope, curve = data[via + muscle.VIA_POINT + j], 0.0, 0.0
        if d >= 0:
            value, slope, curve = evaluate_function(
                data, row + int(data[via + muscle.VIA_FUNCTIONS + j]), q[d]
            )
            speed = scale_add3(speed, slope * qd[d], axis)
            push = scale_add3(push, slope * qdd[d], axis)
            if quick:
                push = scale_add3(push, curve * qd[d] * qd[d], axis)
        place = scale_add3(place, value, axis)
        put3(space, here + muscle.AT_SLIDES + 3 * j, scale_add3(NONE, slope, axis))
    return place, speed, push


@shared
def place_point(
    arrays: Array,
    row: int,
    via: int,
    q: Array,
    qd: Array,
    qdd: Array,
    gravity: Vector,
    quick: bool,
    work: Array,
    space: Array,
    here: int,
) -> None:
    """Fill the row at `here` with a point of the path; gravity is the upward acceleration of the world."""
    body_int, _, _, data, _ = arrays
    body = int(data[via + muscle.VIA_BODY])
    twist, a = twist_of(work, body), acceleration_of(work, body, quick)
    if data[via + muscle.VIA_MOVES] == 0.0:
        lever = carried(work, body, flat3(data, via + muscle.VIA_POINT))
        v = material(twist, lever)
        push = material(a, lever)
        if quick:
            push = add3(push, cross((twist[0], twist[1], twist[2]), v))
    else:
        local, speed, shove = moving_point(data, row, via, q, qd, qdd, quick, space, here)
        lever = carried(work, body, local)
        if body >= 0:
            turn = load_rotation(work, body)
            speed, shove = rotate(turn, speed), rotate(turn, shove)
            for j in range(3):
                put3(
                    space,
                    here + muscle.AT_SLIDES + 3 * j,
                    rotate(turn, flat3(space, here + muscle.AT_SLIDES + 3 * j)),
                )
        v = add3(material(twist, lever), speed)
        push = add3(material(a, lever), shove)
        if quick:
            push = add3(push, cross((twist[0], twist[1], twist[2]), add3(v, speed)))
    if body < 0:
        push = subtract3(push, gravity)
    space[here + muscle.AT_RECORD] = float(via)
    space[here + muscle.AT_BODY] = float(body)
    put3(space, here + muscle.AT_LEVER, lever)
    put3(space, here + muscle.AT_PLACE, position(body_int, work, body, lever))
    put3(space, here + muscle.AT_VELOCITY, v)
    put3(space, here + muscle.AT_ACCELERATION, push)


@inline
def straight_strand(space: Array, here: int, quick: bool) -> None:
    """Length, direction and their rates of the strand from the point at `here` to the next one."""
    to = here + muscle.SPACE_ROW
    way = subtract3(flat3(space, to + muscle.AT_PLACE), flat3(space, here + muscle.AT_PLACE))
    speed = subtract3(flat3(space, to + muscle.AT_VELOCITY), flat3(space, here + muscle.AT_VELOCITY))
    push = subtract3(flat3(space, to + muscle.AT_ACCELERATION), flat3(space, here + muscle.AT_ACCELERATION))
    length = math.sqrt(dot3(way, way))
    inverse = 1.0 / length if length > 0.0 else 0.0
    u = scale_add3(NONE, inverse, way)
    rate = dot3(u, speed)
    turning = scale_add3(NONE, inverse, scale_add3(speed, -rate, u))
    space[here + muscle.STRAND_LENGTH] = length
    space[here + muscle.STRAND_RATE] = rate
    if not quick:
        turning = NONE
    space[here + muscle.STRAND_SECOND] = dot3(u, push) + length * dot3(turning, turning)
    put3(space, here + muscle.STRAND_UNIT, u)
    put3(space, here + muscle.STRAND_UNIT_RATE, turning)


@inline
def there(data: Array, via: int, q: Array) -> bool:
    """Whether a point of a path exists at q."""
    d = int(data[via + muscle.VIA_CONDITION])
    return d < 0 or data[via + muscle.VIA_LOWER] <= q[d] <= data[via + muscle.VIA_UPPER]


@shared
def is_taken(data: Array, k: int, number: float, space: Array) -> bool:
    """Whether the line of a strand before the k-th meets an obstacle of this number (0: of no such)."""
    for i in range(k if number > 0.0 else 0):
        for j in range(strand_obstacles(data, row_at(i), space)):
            record, own = memory_of(data, row_at(i), space)
            same, much = claim(data, record, own, j)
            if same == number and much > 1.0:
                return True
    return False


@shared
def leave_surfaces(
    arrays: Array, count: int, gravity: Vector, quick: bool, work: Array, space: Array
) -> None:
    """Leave each numbered obstacle to the strand that claims it most, the first of equal ones (OpenSim's rule)."""
    data = arrays[at.MODEL_DATA]
    for k in range(1, count - 1):
        for j in range(strand_obstacles(data, row_at(k), space)):
            for i in range(k):
                record, own = memory_of(data, row_at(k), space)
                number, most = claim(data, record, own, j)
                for other in range(strand_obstacles(data, row_at(i), space) if number > 0.0 else 0):
                    earlier, memory = memory_of(data, row_at(i), space)
                    same, much = claim(data, earlier, memory, other)
                    if same == number:
                        if much >= most:
                            leave(data, record, own, j, 1.0)
                        else:
                            leave(data, earlier, memory, other, 1.0)
                        loser = k if much >= most else i
                        trace_strand(arrays, row_at(loser), gravity, quick, work, space)
                        break


@shared
def trace_path(
    arrays: Array,
    row: int,
    q: Array,
    qd: Array,
    qdd: Array,
    gravity: Vector,
    quick: bool,
    work: Array,
    space: Array,
) -> int:
    """Points, strands and length of the muscle with the record at row, into the workspace; returns the number of
    points.

    After `kinematics`. Second derivatives use the bodies' present accelerations and qdd; without velocity terms if not
    quick.
    """
    data = arrays[at.MODEL_DATA]
    count = 0
    for k in range(int(data[row + muscle.MUSCLE_VIA_COUNT])):
        via = row + int(data[row + muscle.MUSCLE_VIAS]) + muscle.VIA_WIDTH * k
        if there(data, via, q):
            place_point(arrays, row, via, q, qd, qdd, gravity, quick, work, space, row_at(count))
            space[row_at(count) + muscle.STRAND_AT] = 0.0
            count += 1
        if data[via + muscle.VIA_STRAND] != 0.0 and space[row_at(count - 1) + muscle.STRAND_AT] == 0.0:
            # obstacles after a missing point belong to the strand from the one before
            space[row_at(count - 1) + muscle.STRAND_AT] = row + data[via + muscle.VIA_STRAND]
    space[muscle.OBSTACLES] = 0.0
    for k in range(count - 1):
        here = row_at(k)
        space[here + muscle.STRAND_BEFORE] = space[muscle.OBSTACLES]
        if space[here + muscle.STRAND_AT] == 0.0:
            straight_strand(space, here, quick)
        else:
            record, own = memory_of(data, here, space)
            for j in range(int(data[record])):
                leave(
                    data, record, own, j, 1.0 if is_taken(data, k, number_of(data, record, j), space) else 0.0
                )
            trace_strand(arrays, here, gravity, quick, work, space)
            space[muscle.OBSTACLES] += data[int(space[here + muscle.STRAND_AT])]
    if space[muscle.OBSTACLES] > 1.0:
        leave_surfaces(arrays, count, gravity, quick, work, space)
    length, rate, second = 0.0, 0.0, 0.0
    for k in range(count - 1):
        here = row_at(k)
        space[here + muscle.BEFORE] = length
        space[here + muscle.BEFORE_RATE] = rate
        space[here + muscle.BEFORE_SECOND] = second
        length += space[here + muscle.STRAND_LENGTH]
        rate += space[here + muscle.STRAND_RATE]
        second += space[here + muscle.STRAND_SECOND]
    space[muscle.LENGTH], space[muscle.RATE], space[muscle.SECOND], space[muscle.ACTIVE] = (
        length,
        rate,
        second,
        float(count),
    )
    return count


@shared
def share_masses(data: Array, row: int, count: int, quick: bool, columns: bool, space: Array) -> None:
    """Mass points of each strand, and their sums; after `trace_path`. With columns, also the mass matrices of strands
    over obstacles.
    """
    masses = row + int(data[row + muscle.MUSCLE_MASSES])
    number, rounding = int(data[row + muscle.MUSCLE_MASS_COUNT]), data[row + muscle.MUSCLE_ROUNDING]
    i = 0
    for k in range(count - 1):
        here = row_at(k)
        before, length = space[here + muscle.BEFORE], space[here + muscle.STRAND_LENGTH]
        width = corner_width(k, count, rounding, space)
        space[here + muscle.CORNER_FIRST], space[here + muscle.CORNER_WIDTH] = float(i), width
        while width > 0.0 and i < number:
            if past(data, masses + muscle.POINT_WIDTH * i, before, space) >= width:
                break
            i += 1
        space[here + muscle.CORNER_COUNT] = float(i) - space[here + muscle.CORNER_FIRST]
        first = i
        end = length - corner_width(k + 1, count, rounding, space)
        while i < number:
            along = past(data, masses + muscle.POINT_WIDTH * i, before, space)
            if along > end and k < count - 2:
                break
            i += 1
        space[here + muscle.STRAND_FIRST] = float(first)
        space[here + muscle.STRAND_COUNT] = float(i - first)
        if space[here + muscle.STRAND_AT] == 0.0:
            sum_straight(data, masses, here, space)
        else:
            sum_wrapped(data, masses, here, quick, columns, space)


@shared
def sum_straight(data: Array, masses: int, here: int, space: Array) -> None:
    """Sums over the mass points of a straight strand of m, m c, m s, m c^2, m c s, m s^2."""
    before, length = space[here + muscle.BEFORE], space[here + muscle.STRAND_LENGTH]
    inverse = 1.0 / length if length > 0.0 else 0.0
    m0, mc, ms, mcc, mcs, mss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first = int(space[here + muscle.STRAND_FIRST])
    for i in range(first, first + int(space[here + muscle.STRAND_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        m, s = data[point + muscle.POINT_MASS], data[point + muscle.POINT_SHARE]
        c = past(data, point, before, space) * inverse
        m0 += m
        mc += m * c
        ms += m * s
        mcc += m * c * c
        mcs += m * c * s
        mss += m * s * s
    sums = here + muscle.SUMS
    space[sums], space[sums + 1], space[sums + 2] = m0, mc, ms
    space[sums + 3], space[sums + 4], space[sums + 5] = mcc, mcs, mss
