"""Kinematics of every body from its parent's motion and its joint's factors, in world axes."""

from .. import layout as at
from ..algebra.access import flat3, flat9, load3, load9, load_twist, store3, store_twist
from ..algebra.inertia import moving_inertia, store_inertia
from ..algebra.lanes import (
    Columns,
    Lanes,
    Pair,
    add_columns_times,
    add_lanes,
    axes_of,
    bracket_pair,
    columns_product,
    columns_times,
    cross_lanes,
    flat_from,
    lanes_of,
    load_axes,
    load_lanes,
    load_pair,
    numbers_of,
    pair_of,
    rotation_of,
    scale_add_pair,
    screwed_pair,
    store_lanes,
    store_pair,
    turned_columns,
    twist_of,
)
from ..algebra.spatial import MANY_TURNS, near_sine_cosine, twist_through
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector
from ..compiler.jit import inline, shared
from .cubic_curve import cubic_motion, plain_cubic, prepare_cubic
from .factors import curve_factors, function_factor, moved_on, rotation_factor, screw_factor
from .of_two import factor_of_two
from .surface import surface_factors


@inline
def at_point(twist: Twist, x: Vector) -> Twist:
    """A twist or an acceleration about the origin, shifted to the point x."""
    return (
        twist[0],
        twist[1],
        twist[2],
        twist[3] + twist[1] * x[2] - twist[2] * x[1],
        twist[4] + twist[2] * x[0] - twist[0] * x[2],
        twist[5] + twist[0] * x[1] - twist[1] * x[0],
    )


@inline
def placed(body_float: Array, i: int, parent: int, work: Array) -> tuple[Columns, Lanes, Pair, Pair]:
    """Pose of the fixed frame of joint i, and its parent's velocity and velocity-product acceleration."""
    if parent < 0:
        none = lanes_of((0.0, 0.0, 0.0))
        axes = lanes_of((1.0, 0.0, 0.0)), lanes_of((0.0, 1.0, 0.0)), lanes_of((0.0, 0.0, 1.0))
        p, v, c = none, (none, none), (none, none)
    else:
        axes = load_axes(work, parent)
        p = load_lanes(work, parent, at.ORIGIN)
        v, c = load_pair(work, parent, at.VELOCITY), load_pair(work, parent, at.BIAS)
    p = add_columns_times(p, axes, load3(body_float, i, at.PLACEMENT + 9))
    return columns_product(axes, load9(body_float, i, at.PLACEMENT)), p, v, c


@inline
def store_motion(work: Array, i: int, axes: Columns, p: Lanes, v: Pair, c: Pair) -> None:
    store_lanes(work, i, at.POSE, axes[0])
    store_lanes(work, i, at.POSE + 4, axes[1])
    store_lanes(work, i, at.POSE + 8, axes[2])
    store_lanes(work, i, at.ORIGIN, p)
    store_pair(work, i, at.VELOCITY, v)
    store_pair(work, i, at.BIAS, c)


@inline
def ball_factor(
    r: Rotation, p: Vector, v: Twist, c: Twist, sign: float, d: int, q: Array, qd: Array, dof: Array
) -> tuple[Rotation, Twist, Twist]:
    """`rotation_factor` of the three coordinates from d on; it stores their columns."""
    r, v, c, columns = rotation_factor(
        r, p, v, c, sign, (q[d], q[d + 1], q[d + 2]), (qd[d], qd[d + 1], qd[d + 2])
    )
    rest = (0.0, 0.0, 0.0)
    store_twist(dof, d, at.SUBSPACE, twist_through((columns[0], columns[3], columns[6]), rest, p))
    store_twist(dof, d + 1, at.SUBSPACE, twist_through((columns[1], columns[4], columns[7]), rest, p))
    store_twist(dof, d + 2, at.SUBSPACE, twist_through((columns[2], columns[5], columns[8]), rest, p))
    return r, v, c


@shared
def advance_factors(
    body_int: Array,
    body_float: Array,
    block_int: Array,
    data: Array,
    i: int,
    q: Array,
    qd: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Motion of body i after any number of factors of any kind, from its parent's, in world axes."""
    first = body_int[i, at.DOF_START]
    axes, place, motion, bias = placed(body_float, i, body_int[i, at.PARENT], work)
    # several factors may add to one coordinate's column
    for d in range(first, first + body_int[i, at.DOF_COUNT]):
        store_twist(dof, d, at.SUBSPACE, STILL)
    for b in range(body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]):
        kind = block_int[b, at.KIND]
        d = first + block_int[b, at.COORDINATE]
        offset = block_int[b, at.DATA]
        frame = block_int[b, at.FRAME]
        if frame >= 0:
            place = add_lanes(place, columns_times(axes, flat3(data, frame + 9)))
            axes = columns_product(axes, flat9(data, frame))
        if kind == at.SCREW:
            axes, place, motion, bias, twist = screw_factor(
                axes, place, motion, bias, data, offset, q[d], qd[d]
            )
            store_pair(dof, d, at.SUBSPACE, twist)
            continue
        outside = False
        if kind == at.SPLINE_SURFACE:
            axes, place, motion, bias, outside = surface_factors(
                axes, place, motion, bias, data, offset, d, q, qd, work, body_int.shape[0], dof
            )
        else:
            r, p, v, c = rotation_of(axes), numbers_of(place), twist_of(motion), twist_of(bias)
            if kind == at.SPLINE_CURVE:
                r, p, v, c, w, outside = curve_factors(r, p, v, c, data, offset, q[d], qd[d])
                store_twist(dof, d, at.SUBSPACE, w)
            elif kind == at.FUNCTION:
                r, p, v, c = function_factor((r, p, v, c), data, offset, d, q, qd, dof)
            elif kind == at.OF_TWO:
                r, p, v, c = factor_of_two(body_int, (r, p, v, c), data, offset, d, q, qd, dof)
            else:
                r, v, c = ball_factor(r, p, v, c, data[offset], d, q, qd, dof)
            axes, place, motion, bias = axes_of(r), lanes_of(p), pair_of(v), pair_of(c)
        if outside:
            flags[at.STATUS] = at.OUT_OF_RANGE
            flags[at.CULPRIT] = i
    store_motion(work, i, axes, place, motion, bias)


@inline
def padded_size(num_coordinates: int) -> int:
    """Size of an array of this number of sines, padded to whole registers of four."""
    return (num_coordinates + 3) // 4 * 4


@inline
def find_turns(q: Array, turns: Array) -> None:
    """Sines, then cosines of all coordinates: most are angles, and together they take a quarter of the time. Whole
    registers are filled; their padding is not read.
    """
    size = padded_size(q.shape[0])
    for d in range(q.shape[0]):
        turns[d] = q[d]
    for d in range(size):
        sine, cosine = near_sine_cosine(turns[d])
        turns[d] = sine
        turns[size + d] = cosine


@inline
def advance_hinge(
    body_int: Array, body_float: Array, i: int, qd: Array, turns: Array, work: Array, dof: Array
) -> None:
    """Motion of body i after a single hinge: `advance_factors` without its branches."""
    d = body_int[i, at.DOF_START]
    axes, p, v, c = placed(body_float, i, body_int[i, at.PARENT], work)
    w = axes[2], cross_lanes(p, axes[2])
    v, c = moved_on(v, c, w, qd[d])
    store_pair(dof, d, at.SUBSPACE, w)
    store_motion(work, i, turned_columns(axes, turns[d], turns[padded_size(qd.shape[0]) + d]), p, v, c)


@inline
def advance_screw(
    body_int: Array,
    body_float: Array,
    block_int: Array,
    data: Array,
    i: int,
    q: Array,
    qd: Array,
    work: Array,
    dof: Array,
) -> None:
    """Motion of body i after a single screw of any lead."""
    d, offset = body_int[i, at.DOF_START], block_int[body_int[i, at.BLOCK_START], at.DATA]
    axes, p, v, c = placed(body_float, i, body_int[i, at.PARENT], work)
    axes, p, v, c, w = screw_factor(axes, p, v, c, data, offset, q[d], qd[d])
    store_pair(dof, d, at.SUBSPACE, w)
    store_motion(work, i, axes, p, v, c)


@inline
def moved_pair(axes: Columns, p: Lanes, twist: Pair) -> Pair:
    """A twist given in a frame, in the axes of that frame's pose."""
    w, v = numbers_of(twist[0]), numbers_of(twist[1])
    return screwed_pair(columns_times(axes, w), columns_times(axes, v), p)


@inline
def advance_curve(
    body_int: Array, body_float: Array, data: Array, i: int, qd: Array, work: Array, dof: Array
) -> None:
    """Motion of body i after a single cubic spline curve.

    Everything that does not depend on the parent's motion is computed in the curve's own axes and then transformed
    once, which cuts the latency along a chain of such joints to a quarter.
    """
    d = body_int[i, at.DOF_START]
    speed = qd[d]
    own, p, w, c = cubic_motion(data, work, i)
    outer, origin, v, before = placed(body_float, i, body_int[i, at.PARENT], work)
    axes = columns_product(outer, rotation_of(own))
    p = add_lanes(origin, columns_times(outer, numbers_of(p)))
    w, c = moved_pair(outer, origin, w), moved_pair(outer, origin, c)
    c = scale_add_pair(scale_add_pair(before, speed * speed, c), speed, bracket_pair(v, w))
    store_pair(dof, d, at.SUBSPACE, w)
    store_motion(work, i, axes, p, scale_add_pair(v, speed, w), c)


@inline
def way_of(body_int: Array, block_int: Array, data: Array, i: int, q: Array) -> int:
    """The fast path of body i, if its coordinate allows it."""
    way: int = body_int[i, at.WAY]
    if way == at.HINGE_WAY:
        return at.HINGE_WAY if abs(q[body_int[i, at.DOF_START]]) < MANY_TURNS else at.SCREW_WAY
    if way == at.CURVE_WAY:
        offset = block_int[body_int[i, at.BLOCK_START], at.DATA]
        return at.CURVE_WAY if plain_cubic(data, offset, q[body_int[i, at.DOF_START]]) else at.NO_WAY
    return way


@shared
def prepare_curves(body_int: Array, block_int: Array, data: Array, q: Array, work: Array) -> None:
    """`prepare_cubic` of all bodies that take this path."""
    for i in range(body_int.shape[0]):
        if way_of(body_int, block_int, data, i, q) == at.CURVE_WAY:
            prepare_cubic(
                data, block_int[body_int[i, at.BLOCK_START], at.DATA], q[body_int[i, at.DOF_START]], work, i
            )


@inline
def center_on_root(body_int: Array, i: int, work: Array, dof: Array) -> None:
    """Make the origin of a tree's root the reference point of the tree."""
    p = load3(work, i, at.ORIGIN)
    store3(work, i, at.REFERENCE, p)
    store3(work, i, at.ORIGIN, (0.0, 0.0, 0.0))
    store_twist(work, i, at.VELOCITY, at_point(load_twist(work, i, at.VELOCITY), p))
    store_twist(work, i, at.BIAS, at_point(load_twist(work, i, at.BIAS), p))
    first = body_int[i, at.DOF_START]
    for d in range(first, first + body_int[i, at.DOF_COUNT]):
        store_twist(dof, d, at.SUBSPACE, at_point(load_twist(dof, d, at.SUBSPACE), p))


@shared
def kinematics(arrays: Array, q: Array, qd: Array, work: Array, dof: Array, flags: Array) -> None:
    """Pose, velocity and velocity-product acceleration of every body, parents first, and the motion subspaces."""
    body_int, body_float, block_int, data, _ = arrays
    turns = flat_from(work, work.shape[0] - ((2 * q.shape[0] + at.TURN_PADS) // at.WORK_WIDTH + at.TURN_ROWS))
    if data[at.HINGE_COUNT] > 0.0:
        find_turns(q, turns)
    if data[at.CURVE_COUNT] > 0.0:
        prepare_curves(body_int, block_int, data, q, work)
    for k in range(body_int.shape[0]):
        i = body_int[k, at.VISITED]
        way = way_of(body_int, block_int, data, i, q)
        if way == at.HINGE_WAY:
            advance_hinge(body_int, body_float, i, qd, turns, work, dof)
        elif way == at.SCREW_WAY:
            advance_screw(body_int, body_float, block_int, data, i, q, qd, work, dof)
        elif way == at.CURVE_WAY:
            advance_curve(body_int, body_float, data, i, qd, work, dof)
        else:
            advance_factors(body_int, body_float, block_int, data, i, q, qd, work, dof, flags)
        if body_int[i, at.PARENT] < 0:
            center_on_root(body_int, i, work, dof)


@shared
def outward(arrays: Array, q: Array, qd: Array, work: Array, dof: Array, flags: Array) -> None:
    """`kinematics`, and each body's rigid inertia and velocity-dependent force."""
    kinematics(arrays, q, qd, work, dof, flags)
    for i in range(arrays[at.BODY_INT].shape[0]):
        inertia, force = moving_inertia(arrays[at.BODY_FLOAT], i, pair_of(STILL), work)
        store_inertia(work, i, inertia)
        store_pair(work, i, at.FORCE, force)
