"""The first three derivatives of each kind of factor, for `tangent`, and the loop over the factors of a joint."""

import math

from .. import layout as at
from ..algebra.access import load3, load6, store6
from ..algebra.axes import unit
from ..algebra.lanes import axes_of, lanes_of, numbers_of, pair_of, rotation_of, twist_of
from ..algebra.rotation_vector import exp_coefficients, exp_curvatures, jacobian_bend, jacobian_slope
from ..algebra.spatial import bracket, column, rotate, twist_through
from ..algebra.vectors import NONE, STILL, Array, Rotation, Twist, Vector, dot3, scale_add6
from ..compiler.jit import for_rare_forces, shared
from .factors import after_frame, find_span, paced, range_of, rotation_factor, screw_factor, twist_factor
from .functions import evaluate_function, third_derivative, weighted_sum
from .kinematics import placed
from .of_two import NOWHERE, function_of_two
from .surface_tangent import surface_tangent
from .tangent import (
    BIAS_RATE,
    CURVE,
    HESSIAN,
    RATE,
    SHARE,
    SHIFT,
    SLOPE,
    Moved,
    Own,
    carry_factor,
    clear_factor,
    clear_joint,
    columns_of,
    follow_one,
)

Slopes = tuple[float, float, float, float]


@shared
def by_pace(data: Array, offset: int, q: float) -> tuple[float, tuple[float, float, float]]:
    """The knots' parameter at a curve's coordinate, with three derivatives by it."""
    pace = int(data[offset + at.SPLINE_PACE])
    if pace == 0:
        return q, (1.0, 0.0, 0.0)
    q, parameter, slope, curve = paced(data, offset, offset + pace, q)
    return parameter, (slope, curve, third_derivative(data, offset + pace + at.PACE_FUNCTION, q))


@shared
def horner_four(data: Array, offset: int, count: int, x: float, scale: float) -> Slopes:
    """A polynomial by rising powers of x, and its first three derivatives by x / scale."""
    phi, first, second, third = data[offset + count - 1], 0.0, 0.0, 0.0
    for k in range(count - 2, -1, -1):  # the derivatives divided by 1, 2 and 6
        third = third * x + second
        second = second * x + first
        first = first * x + phi
        phi = phi * x + data[offset + k]
    return phi, first * scale, second * 2.0 * scale * scale, third * 6.0 * scale * scale * scale


@shared
def curve_tangent(
    before: Moved, data: Array, offset: int, tangent: Array, own: Own, q: float, qd: float
) -> Moved:
    """Spline curve; own is (first coordinate of the joint, their number, the curve's coordinate)."""
    r, p, v = before
    q, slopes = by_pace(data, offset, q)
    lower, upper, period = range_of(data, offset)
    if period > 0.0:
        q = q - period * math.floor((q - lower) / period)
        q = min(max(q, lower), upper)
    order = int(data[offset + at.SPLINE_ORDER])
    spans = int(data[offset + at.SPLINE_SPANS])
    stride = 12 + (order - 1) * (at.TWIST_WIDTH + order)
    inverted = data[offset + at.SPLINE_INVERTED] != 0.0
    row = offset + at.SPLINE_HEADER + 2 * int(data[offset + at.SPLINE_BUCKETS]) + 2 * (spans + 1)
    factors, x, scale = 1, q - lower, 1.0
    inside = lower <= q <= upper
    if inside:
        span, x, scale, _ = find_span(data, offset, q)
        row += span * stride
        factors = order - 1
    else:
        row += spans * stride
        if q > upper:
            row += 12 + at.TWIST_WIDTH
            x = q - upper
        if data[offset + at.SPLINE_OUTSIDE] == at.OUTSIDE_CLAMP:
            factors = 0
    if not inverted:
        r, p = after_frame(r, p, data, row)
    twists = row + 12
    for _ in range(factors):
        phi = (x, 1.0, 0.0, 0.0)
        if inside:
            phi = horner_four(data, twists + at.TWIST_WIDTH, order, x, scale)
        r, p, v = one_twist((r, p, v), data, twists, tangent, own, phi, slopes, qd)
        twists += at.TWIST_WIDTH + order
    if inverted:
        r, p = after_frame(r, p, data, row)
    return r, p, v


@shared
def one_twist(
    before: Moved,
    data: Array,
    offset: int,
    tangent: Array,
    own: Own,
    phi: Slopes,
    slopes: tuple[float, float, float],
    qd: float,
) -> Moved:
    """A factor phi(s(q)) of one coordinate: phi with three derivatives, and those of s."""
    r, p, v = before
    (s1, s2, s3), (joint, count, d) = slopes, own
    first = phi[1] * s1
    second = phi[2] * s1 * s1 + phi[1] * s2
    third = phi[3] * s1 * s1 * s1 + 3.0 * phi[2] * s1 * s2 + phi[1] * s3
    follow_one(tangent, joint, count, d, (first, second, third), qd)
    r, p, after, _, w = twist_factor(r, p, v, STILL, data, offset, phi[0], first * qd, 0.0)
    carry_factor(tangent, joint, count, v, w, first * qd, second * qd * qd)
    return r, p, after


@shared
def function_tangent(
    before: Moved, data: Array, offset: int, tangent: Array, own: Own, q: Array, qd: Array
) -> Moved:
    """exp(g f(u)) with u = weights . q."""
    r, p, v = before
    first, count, d = own
    weights = offset + at.TWIST_WIDTH
    u, rate = weighted_sum(data, weights, q, d), weighted_sum(data, weights, qd, d)
    number = int(data[weights])
    function = weights + 1 + number
    phi, slope, curve = evaluate_function(data, function, u)
    third = third_derivative(data, function, u)
    clear_factor(tangent, first, count)
    for i in range(number):
        weight = data[weights + 1 + i]
        tangent[d + i, SHARE] = slope * weight
        tangent[d + i, SLOPE] = curve * weight * rate
        tangent[d + i, CURVE] = third * weight * rate * rate
        for j in range(number):
            tangent[d + i, HESSIAN + d - first + j] = curve * weight * data[weights + 1 + j]
    r, p, after, _, w = twist_factor(r, p, v, STILL, data, offset, phi, slope * rate, 0.0)
    carry_factor(tangent, first, count, v, w, slope * rate, curve * rate * rate)
    return r, p, after


@for_rare_forces(NOWHERE[:3])
def tangent_of_two(
    body_int: Array, before: Moved, data: Array, offset: int, tangent: Array, own: Own, q: Array, qd: Array
) -> Moved:
    """exp(g f(x, y)); the jet has Taylor coefficients, which are derivatives over factorials."""
    r, p, v = before
    first, count, d = own
    f = function_of_two(data, offset + at.TWIST_WIDTH, q[d], q[d + 1])
    x, y = qd[d], qd[d + 1]
    clear_factor(tangent, first, count)
    h = HESSIAN + d - first
    tangent[d, SHARE], tangent[d + 1, SHARE] = f[1], f[2]
    tangent[d, h], tangent[d, h + 1] = 2.0 * f[3], f[4]
    tangent[d + 1, h], tangent[d + 1, h + 1] = f[4], 2.0 * f[5]
    tangent[d, SLOPE] = 2.0 * f[3] * x + f[4] * y
    tangent[d + 1, SLOPE] = f[4] * x + 2.0 * f[5] * y
    tangent[d, CURVE] = 6.0 * f[6] * x * x + 4.0 * f[7] * x * y + 2.0 * f[8] * y * y
    tangent[d + 1, CURVE] = 2.0 * f[7] * x * x + 4.0 * f[8] * x * y + 6.0 * f[9] * y * y
    rate = f[1] * x + f[2] * y
    curve = tangent[d, SLOPE] * x + tangent[d + 1, SLOPE] * y
    r, p, after, _, w = twist_factor(r, p, v, STILL, data, offset, f[0], rate, 0.0)
    carry_factor(tangent, first, count, v, w, rate, curve)
    return r, p, after


@shared
def turned(r: Rotation, p: Vector, w: Vector) -> Twist:
    """World twist of a rotation about p, with w in the axes of r."""
    return twist_through(rotate(r, w), (0.0, 0.0, 0.0), p)


@shared
def rotation_tangent(before: Moved, sign: float, tangent: Array, own: Own, q: Array, qd: Array) -> Moved:
    """exp(sign [q]): three columns at once, with J_s(r) r' in place of phi' w."""
    r, p, v = before
    first, count, d = own
    columns = columns_of(tangent)
    x = (sign * q[d], sign * q[d + 1], sign * q[d + 2])
    xd = (sign * qd[d], sign * qd[d + 1], sign * qd[d + 2])
    square = dot3(x, x)
    beta, gamma, alpha_rate, beta_rate, gamma_rate = exp_coefficients(square)
    coefficients = (beta, gamma, beta_rate, gamma_rate)
    curvatures = exp_curvatures(square, alpha_rate, beta_rate, gamma_rate)
    after_r, after, _, own_columns = rotation_factor(
        r, p, v, STILL, sign, (q[d], q[d + 1], q[d + 2]), (qd[d], qd[d + 1], qd[d + 2])
    )
    turn = scale_add6(after, -1.0, v)
    swing = turned(r, p, jacobian_slope(x, xd, xd, coefficients))
    for e in range(first, first + count):
        shift, moved = load6(tangent, e, SHIFT), load6(tangent, e, RATE)
        change, bend = bracket(shift, turn), bracket(shift, swing)
        inside = d <= e < d + 3
        a = (0.0, 0.0, 0.0)
        if inside:
            a = unit(e - d, 1.0)
            along = (sign * a[0], sign * a[1], sign * a[2])
            change = scale_add6(change, 1.0, turned(r, p, jacobian_slope(x, along, xd, coefficients)))
            bend = scale_add6(bend, 1.0, turned(r, p, jacobian_bend(x, along, xd, coefficients, curvatures)))
        bias = scale_add6(load6(tangent, e, BIAS_RATE), 1.0, bend)
        bias = scale_add6(scale_add6(bias, 1.0, bracket(moved, turn)), 1.0, bracket(v, change))
        store6(tangent, e, BIAS_RATE, bias)
        store6(tangent, e, RATE, scale_add6(moved, 1.0, change))
        for j in range(3):
            into = columns + 6 * (d - first + j)
            own_column = twist_through(column(own_columns, j), NONE, p)
            bent = scale_add6(load6(tangent, e, into), 1.0, bracket(shift, own_column))
            if inside:  # both signs of the second derivative cancel
                change = turned(r, p, jacobian_slope(x, a, unit(j, 1.0), coefficients))
                bent = scale_add6(bent, 1.0, change)
            store6(tangent, e, into, bent)
        if inside:
            j = e - d
            own_column = twist_through(column(own_columns, j), NONE, p)
            store6(tangent, e, SHIFT, scale_add6(shift, 1.0, own_column))
    return after_r, p, after


@shared
def joint_tangent(
    arrays: tuple[Array, Array, Array, Array, Array],
    i: int,
    q: Array,
    qd: Array,
    tangent: Array,
    scratch: Array,
    work: Array,
) -> None:
    """Rows of the joint's coordinates: SHIFT, RATE, BIAS_RATE and the derivatives of columns; after `outward`."""
    body_int, body_float, block_int, data, _ = arrays
    first, count = body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
    clear_joint(tangent, first, count)
    axes, place, motion, _ = placed(body_float, i, body_int[i, at.PARENT], work)
    r, p, v = rotation_of(axes), numbers_of(place), twist_of(motion)
    if body_int[i, at.PARENT] < 0:
        origin = load3(work, i, at.REFERENCE)
        p = (p[0] - origin[0], p[1] - origin[1], p[2] - origin[2])
    for b in range(body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]):
        kind = block_int[b, at.KIND]
        d = first + block_int[b, at.COORDINATE]
        own = (first, count, d)
        offset = block_int[b, at.DATA]
        if block_int[b, at.FRAME] >= 0:
            r, p = after_frame(r, p, data, block_int[b, at.FRAME])
        if kind == at.SCREW:
            follow_one(tangent, first, count, d, (1.0, 0.0, 0.0), 0.0)
            before = v
            axes, place, motion = axes_of(r), lanes_of(p), pair_of(v)
            axes, place, motion, _, twist = screw_factor(
                axes, place, motion, pair_of(STILL), data, offset, q[d], qd[d]
            )
            r, p, v, w = rotation_of(axes), numbers_of(place), twist_of(motion), twist_of(twist)
            carry_factor(tangent, first, count, before, w, qd[d], 0.0)
        elif kind == at.SPLINE_CURVE:
            r, p, v = curve_tangent((r, p, v), data, offset, tangent, own, q[d], qd[d])
        elif kind == at.FUNCTION:
            r, p, v = function_tangent((r, p, v), data, offset, tangent, own, q, qd)
        elif kind == at.OF_TWO:
            r, p, v = tangent_of_two(body_int, (r, p, v), data, offset, tangent, own, q, qd)
        elif kind == at.SPLINE_SURFACE:
            r, p, v = surface_tangent((r, p, v), data, offset, tangent, own, q, qd, scratch)
        else:
            r, p, v = rotation_tangent((r, p, v), data[offset], tangent, own, q, qd)
