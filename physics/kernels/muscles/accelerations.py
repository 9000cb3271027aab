"""Derivatives of the accelerations of a muscle's mass points by one coordinate, at fixed velocities and accelerations
of the coordinates: third derivatives of the path. In closed form for paths without obstacles.

A coordinate e displaces the bodies beyond it by the twist S_e, and changes their motion as `derivatives` describes.
"""

from .. import layout as at
from ..algebra.access import flat3, flat9, load6, load_rotation, load_twist
from ..algebra.jets import (
    Jet,
    VectorJet,
    composed,
    last_of_product,
    length_and_unit,
    plus,
    product,
    quotient,
    subtract_vectors,
    times,
)
from ..algebra.spatial import bracket, rotate
from ..algebra.vectors import (
    NONE,
    STILL,
    Array,
    Twist,
    Vector,
    add3,
    cross,
    scale_add3,
    scale_add6,
    subtract3,
)
from ..compiler.jit import inline, shared
from ..forces.points import material
from ..joints.functions import evaluate_function, third_derivative
from ..joints.tangent import MOVED, PUSHED
from ..wrapping.smooth import smooth_step, smooth_step_third
from . import layout as muscle
from .corner import corner_shares, corner_units, past_corner, take_at_corner, take_from_corner
from .force import clear_loads, take_inertia
from .frames import row_at
from .pairs import ASKED, ask_coordinates

STILL_JET = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
STILL_VECTORS = (NONE, NONE, NONE, NONE, NONE, NONE)


@inline
def body_change(
    body_int: Array, body: int, e: int, tangent: Array, work: Array, dof: Array
) -> tuple[Twist, Twist, Twist]:
    """Displacement of a body by coordinate e, and the changes of its velocity and acceleration."""
    carrier = body
    while carrier >= 0:
        first = body_int[carrier, at.DOF_START]
        if first <= e < first + body_int[carrier, at.DOF_COUNT]:
            s, moved = load_twist(dof, e, at.SUBSPACE), load6(tangent, e, MOVED)
            v, a = load_twist(work, body, at.VELOCITY), load_twist(work, body, at.ACCELERATION)
            push = scale_add6(load6(tangent, e, PUSHED), 1.0, bracket(moved, v))
            return s, scale_add6(moved, 1.0, bracket(s, v)), scale_add6(push, 1.0, bracket(s, a))
        carrier = body_int[carrier, at.PARENT]
    return STILL, STILL, STILL


@inline
def slide_change(
    data: Array, row: int, via: int, e: int, motion: tuple[Array, Array, Array]
) -> tuple[Vector, Vector, Vector]:
    """Changes of the place, velocity and acceleration of a point that moves in its body, in link axes."""
    q, qd, qdd = motion
    frame, place, speed, push = flat9(data, via + muscle.VIA_FRAME), NONE, NONE, NONE
    for j in range(3):
        if int(data[via + muscle.VIA_COORDINATES + j]) == e:
            function = row + int(data[via + muscle.VIA_FUNCTIONS + j])
            _, slope, curve = evaluate_function(data, function, q[e])
            third = third_derivative(data, function, q[e])
            axis = (frame[j], frame[3 + j], frame[6 + j])
            place = scale_add3(place, slope, axis)
            speed = scale_add3(speed, curve * qd[e], axis)
            push = scale_add3(push, curve * qdd[e] + third * qd[e] * qd[e], axis)
    return place, speed, push


@shared
def point_change(
    arrays: Array,
    row: int,
    k: int,
    e: int,
    motion: tuple[Array, Array, Array],
    tangent: Array,
    work: Array,
    dof: Array,
    space: Array,
) -> tuple[Vector, Vector, Vector]:
    """Changes of the place, velocity and acceleration of point k of the path by coordinate e."""
    data, here = arrays[at.MODEL_DATA], row_at(k)
    body, via, lever = (
        int(space[here + muscle.AT_BODY]),
        int(space[here + muscle.AT_RECORD]),
        flat3(space, here + muscle.AT_LEVER),
    )
    s, moved, pushed = body_change(arrays[at.BODY_INT], body, e, tangent, work, dof)
    v, a = STILL, STILL
    if body >= 0:
        v, a = load_twist(work, body, at.VELOCITY), load_twist(work, body, at.ACCELERATION)
    spin, own = (v[0], v[1], v[2]), NONE
    place, speed, push = material(s, lever), material(moved, lever), material(pushed, lever)
    slide, slide_rate = NONE, NONE
    if data[via + muscle.VIA_MOVES] != 0.0:
        slide, slide_rate, slide_push = slide_change(data, row, via, e, motion)
        if body >= 0:
            turn = load_rotation(work, body)
            slide, slide_rate = rotate(turn, slide), rotate(turn, slide_rate)
            slide_push = rotate(turn, slide_push)
            # the point's velocity and acceleration in the body rotate as well
            velocity = flat3(space, here + muscle.AT_VELOCITY)
            own = subtract3(velocity, material(v, lever))
            shove = subtract3(flat3(space, here + muscle.AT_ACCELERATION), material(a, lever))
            shove = subtract3(shove, cross(spin, add3(velocity, own)))
            slide_rate = add3(slide_rate, cross((s[0], s[1], s[2]), own))
            slide_push = add3(slide_push, cross((s[0], s[1], s[2]), shove))
        place, push = add3(place, slide), add3(push, slide_push)
    speed = add3(add3(speed, cross(spin, place)), slide_rate)
    push = add3(push, cross((a[0], a[1], a[2]), place))
    push = add3(
        push, cross((moved[0], moved[1], moved[2]), add3(flat3(space, here + muscle.AT_VELOCITY), own))
    )
    return place, speed, add3(push, cross(spin, add3(speed, slide_rate)))


@inline
def strand_change(
    k: int, start: tuple[Vector, Vector, Vector], end: tuple[Vector, Vector, Vector], space: Array
) -> tuple[Jet, VectorJet]:
    """Length and direction of the strand after point k, from the changes of its ends."""
    here, to = row_at(k), row_at(k + 1)
    length, unit = length_and_unit(
        (
            subtract3(flat3(space, to + muscle.AT_PLACE), flat3(space, here + muscle.AT_PLACE)),
            subtract3(flat3(space, to + muscle.AT_VELOCITY), flat3(space, here + muscle.AT_VELOCITY)),
            subtract3(flat3(space, to + muscle.AT_ACCELERATION), flat3(space, here + muscle.AT_ACCELERATION)),
            subtract3(end[0], start[0]),
            subtract3(end[1], start[1]),
            subtract3(end[2], start[2]),
        )
    )
    return length, unit


@shared
def corner_change(
    data: Array,
    row: int,
    k: int,
    lengths: tuple[Jet, Jet, Jet, Jet],
    before: VectorJet,
    after: VectorJet,
    push: Vector,
    space: Array,
) -> None:
    """Subtract the changes of inertial forces at the corner at point k; push: change of the point's acceleration.
    lengths: of the strands before and after it, of the path up to the corner and of the whole.
    """
    here, masses = row_at(k), row + int(data[row + muscle.MUSCLE_MASSES])
    units, between = corner_units(k, space), subtract_vectors(after, before)
    width = quotient(product(lengths[0], lengths[1]), plus(lengths[0], lengths[1]))
    width = times(data[row + muscle.MUSCLE_ROUNDING], width)
    first, sums = int(space[here + muscle.CORNER_FIRST]), (NONE, NONE, NONE)
    for i in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        share, s = data[point + muscle.POINT_SHARE], past_corner(data, point, k, space)
        _, s1, s2, d, d1, d2 = plus(times(share, lengths[3]), times(-1.0, lengths[2]))
        past = (s, s1, s2, d, d1, d2)
        v = quotient(past, width)
        value, slope, curve = smooth_step(v[0])
        c = product(past, composed((value, slope, curve, smooth_step_third(v[0])), v))
        x = add3(push, add3(last_of_product(past, before), last_of_product(c, between)))
        force = scale_add3(NONE, data[point + muscle.POINT_MASS], x)
        sums = take_at_corner(space, here, share, force, corner_shares(k, s, space), units, sums)
    take_from_corner(space, here, sums)


@inline
def take_strand(
    here: int, push: Vector, length: Jet, unit: VectorJet, done: Jet, whole: Jet, space: Array
) -> None:
    """Subtract the changes of inertial forces of a strand's mass points; push: change of its beginning's acceleration.

    A mass point of share c of the strand and s of the path is c l past the beginning: this length changes by s times
    the change of the path's length (whole) less that of all strands before (done).
    """
    base = add3(push, last_of_product((0.0, -done[1], -done[2], -done[3], -done[4], -done[5]), unit))
    tail = last_of_product((0.0, whole[1], whole[2], whole[3], whole[4], whole[5]), unit)
    take_inertia(space, here, base, scale_add3(NONE, length[0], unit[5]), tail)


@shared
def take_changes(
    arrays: Array,
    row: int,
    count: int,
    e: int,
    motion: tuple[Array, Array, Array],
    tangent: Array,
    work: Array,
    dof: Array,
    space: Array,
) -> None:
    """Changes by coordinate e of all mass points' inertial forces on the points of the path."""
    whole, start = STILL_JET, (NONE, NONE, NONE)
    clear_loads(count, space)
    for way in range(2):  # the whole length comes first
        done, last_length, last_unit = STILL_JET, STILL_JET, STILL_VECTORS
        for k in range(count):
            end = point_change(arrays, row, k, e, motion, tangent, work, dof, space)
            if k > 0:
                here = row_at(k - 1)
                length, unit = strand_change(k - 1, start, end, space)
                if way == 1:
                    take_strand(here, start[2], length, unit, done, whole, space)
                if way == 1 and space[here + muscle.CORNER_COUNT] > 0.0:
                    lengths = (last_length, length, done, whole)
                    corner_change(
                        arrays[at.MODEL_DATA], row, k - 1, lengths, last_unit, unit, start[2], space
                    )
                done, last_length, last_unit = plus(done, length), length, unit
            start = end
        whole = done


@shared
def add_thirds(
    arrays: Array,
    row: int,
    count: int,
    motion: tuple[Array, Array, Array],
    by_q: Array,
    tangent: Array,
    work: Array,
    dof: Array,
    space: Array,
) -> None:
    """Add J^T m d(x'')/dq of a muscle without obstacles to slopes; after `share_masses`."""
    data = arrays[at.MODEL_DATA]
    span, number = row + int(data[row + muscle.MUSCLE_ACTING]), int(data[row + muscle.MUSCLE_ACTING_COUNT])
    for j in range(number):
        e = int(data[span + j])
        take_changes(arrays, row, count, e, motion, tangent, work, dof, space)
        ask_coordinates(arrays, count, work, dof, space)
        for i in range(number):
            d = int(data[span + i])
            by_q[d, e] += dof[d, ASKED]
