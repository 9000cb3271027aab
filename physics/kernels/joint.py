"""Kinematics of every body: its joint's factors followed one by one from its parent's motion, in world axes."""

from __future__ import annotations

from ._jit import inline, jit
from .ellipsoid import normal_factor
from .factors import (
    behind,
    cubic_factors,
    curve_factors,
    function_factor,
    plain_cubic,
    rotation_factor,
    screw_factor,
)
from .inertia import moving_inertia, store_inertia
from .layout import (
    BIAS,
    BLOCK_COUNT,
    BLOCK_START,
    COORDINATE,
    CULPRIT,
    DATA,
    DOF_COUNT,
    DOF_START,
    ELLIPSOID_NORMAL,
    FORCE,
    FRAME,
    FUNCTION,
    KIND,
    OUT_OF_RANGE,
    PARENT,
    PLACEMENT,
    POSE,
    REFERENCE,
    SCREW,
    SPLINE_CURVE,
    SPLINE_SURFACE,
    STATUS,
    SUBSPACE,
    VELOCITY,
)
from .spatial import (
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    bracket,
    load3,
    load6,
    load9,
    multiply,
    rotate,
    scale_add6,
    store3,
    store6,
    store9,
    twist_through,
)
from .surface import surface_factors

NO_SINGLE = -1


@inline
def at_point(twist: Twist, x: Vector) -> Twist:
    """A twist or an acceleration taken about the origin, as seen at the point x."""
    return (
        twist[0],
        twist[1],
        twist[2],
        twist[3] + twist[1] * x[2] - twist[2] * x[1],
        twist[4] + twist[2] * x[0] - twist[0] * x[2],
        twist[5] + twist[0] * x[1] - twist[1] * x[0],
    )


@inline
def placed(body_float: Array, i: int, parent: int, work: Array) -> tuple[Rotation, Vector, Twist, Twist]:
    """Pose of the fixed frame of joint i, and its parent's velocity and velocity-product acceleration."""
    r = load9(body_float, i, PLACEMENT)
    p = load3(body_float, i, PLACEMENT + 9)
    v, c = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if parent >= 0:
        outer = load9(work, parent, POSE)
        p = add3(load3(work, parent, POSE + 9), rotate(outer, p))
        r = multiply(outer, r)
        v, c = load6(work, parent, VELOCITY), load6(work, parent, BIAS)
    return r, p, v, c


@inline
def store_motion(work: Array, i: int, r: Rotation, p: Vector, v: Twist, c: Twist) -> None:
    store9(work, i, POSE, r)
    store3(work, i, POSE + 9, p)
    store6(work, i, VELOCITY, v)
    store6(work, i, BIAS, c)


@inline
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
    """Motion of body i behind any number of factors of any kind, from its parent's, in world axes."""
    first = body_int[i, DOF_START]
    r, p, v, c = placed(body_float, i, body_int[i, PARENT], work)
    for d in range(
        first, first + body_int[i, DOF_COUNT]
    ):  # several factors may add to one coordinate's column
        store6(dof, d, SUBSPACE, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for b in range(body_int[i, BLOCK_START], body_int[i, BLOCK_START] + body_int[i, BLOCK_COUNT]):
        kind = block_int[b, KIND]
        d = first + block_int[b, COORDINATE]
        offset = block_int[b, DATA]
        frame = block_int[b, FRAME]
        if frame >= 0:
            r, p = behind(r, p, data, frame)
        if kind == SCREW:
            r, p, v, c, w = screw_factor(r, p, v, c, data, offset, q[d], qd[d])
            store6(dof, d, SUBSPACE, w)
        elif kind == SPLINE_CURVE:
            r, p, v, c, w, outside = curve_factors(r, p, v, c, data, offset, q[d], qd[d])
            store6(dof, d, SUBSPACE, w)
            if outside:
                flags[STATUS] = OUT_OF_RANGE
                flags[CULPRIT] = i
        elif kind == FUNCTION:
            r, p, v, c = function_factor(r, p, v, c, data, offset, d, q, qd, dof)
        elif kind == ELLIPSOID_NORMAL:
            r, p, v, c = normal_factor(r, p, v, c, data, offset, d, q, qd, dof)
        elif kind == SPLINE_SURFACE:
            scratch = body_int.shape[0]
            r, p, v, c, outside = surface_factors(r, p, v, c, data, offset, d, q, qd, work, scratch, dof)
            if outside:
                flags[STATUS] = OUT_OF_RANGE
                flags[CULPRIT] = i
        else:
            r, v, c, columns = rotation_factor(
                r, p, v, c, data[offset], (q[d], q[d + 1], q[d + 2]), (qd[d], qd[d + 1], qd[d + 2])
            )
            rest = (0.0, 0.0, 0.0)
            store6(dof, d, SUBSPACE, twist_through((columns[0], columns[3], columns[6]), rest, p))
            store6(dof, d + 1, SUBSPACE, twist_through((columns[1], columns[4], columns[7]), rest, p))
            store6(dof, d + 2, SUBSPACE, twist_through((columns[2], columns[5], columns[8]), rest, p))
    store_motion(work, i, r, p, v, c)


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
    """Motion of body i behind a single screw: what `advance_factors` does, with nothing to choose on the way."""
    d = body_int[i, DOF_START]
    r, p, v, c = placed(body_float, i, body_int[i, PARENT], work)
    offset = block_int[body_int[i, BLOCK_START], DATA]
    r, p, v, c, w = screw_factor(r, p, v, c, data, offset, q[d], qd[d])
    store6(dof, d, SUBSPACE, w)
    store_motion(work, i, r, p, v, c)


@inline
def moved(r: Rotation, p: Vector, twist: Twist) -> Twist:
    """A twist told in the frame (r, p), in the axes that the frame is told in."""
    w, v = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    return twist_through(rotate(r, w), rotate(r, v), p)


@inline
def advance_curve(
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
    """Motion of body i behind a single cubic spline curve.

    All that does not depend on the parent's motion is found in the curve's own axes and then carried over at once: the
    way along a chain of such joints, of which each has to wait for the one before, is a quarter as long.
    """
    d = body_int[i, DOF_START]
    speed = qd[d]
    r, p, w, c = cubic_factors(data, block_int[body_int[i, BLOCK_START], DATA], q[d])
    outer, origin, v, before = placed(body_float, i, body_int[i, PARENT], work)
    r, p = multiply(outer, r), add3(origin, rotate(outer, p))
    w, c = moved(outer, origin, w), moved(outer, origin, c)
    turn = bracket(v, w)
    c = scale_add6(scale_add6(before, speed * speed, c), speed, turn)
    store6(dof, d, SUBSPACE, w)
    store_motion(work, i, r, p, scale_add6(v, speed, w), c)


@inline
def single_kind(body_int: Array, block_int: Array, data: Array, i: int, q: Array) -> int:
    """Kind of body i's only block, where there is a short way for it."""
    b = body_int[i, BLOCK_START]
    kind: int = block_int[b, KIND]
    if kind == SPLINE_CURVE:
        plain = block_int[b, FRAME] < 0 and plain_cubic(data, block_int[b, DATA], q[body_int[i, DOF_START]])
        kind = SPLINE_CURVE if plain else NO_SINGLE
    return kind


@inline
def center_on_root(body_int: Array, i: int, work: Array, dof: Array) -> None:
    """Make the origin of a tree's root the point about which everything in the tree is taken."""
    p = load3(work, i, POSE + 9)
    store3(work, i, REFERENCE, p)
    store3(work, i, POSE + 9, (0.0, 0.0, 0.0))
    store6(work, i, VELOCITY, at_point(load6(work, i, VELOCITY), p))
    store6(work, i, BIAS, at_point(load6(work, i, BIAS), p))
    first = body_int[i, DOF_START]
    for d in range(first, first + body_int[i, DOF_COUNT]):
        store6(dof, d, SUBSPACE, at_point(load6(dof, d, SUBSPACE), p))


@jit
def kinematics(arrays: Array, q: Array, qd: Array, work: Array, dof: Array, flags: Array) -> None:
    """Pose, velocity and velocity-product acceleration of every body, parents first, and the motion subspaces."""
    body_int, body_float, block_int, data, _ = arrays
    for i in range(body_int.shape[0]):
        kind = NO_SINGLE
        if body_int[i, BLOCK_COUNT] == 1:
            kind = single_kind(body_int, block_int, data, i, q)
        if kind == SCREW:
            advance_screw(body_int, body_float, block_int, data, i, q, qd, work, dof)
        elif kind == SPLINE_CURVE:
            advance_curve(body_int, body_float, block_int, data, i, q, qd, work, dof)
        else:
            advance_factors(body_int, body_float, block_int, data, i, q, qd, work, dof, flags)
        if body_int[i, PARENT] < 0:
            center_on_root(body_int, i, work, dof)


@jit
def outward(arrays: Array, q: Array, qd: Array, work: Array, dof: Array, flags: Array) -> None:
    """`kinematics`, and each body's rigid inertia and the force that its momentum's turning takes."""
    kinematics(arrays, q, qd, work, dof, flags)
    for i in range(arrays[0].shape[0]):
        inertia, force = moving_inertia(arrays[1], i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), work)
        store_inertia(work, i, inertia)
        store6(work, i, FORCE, force)
