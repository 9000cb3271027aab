"""The factors of a joint's product of exponentials: each advances pose, velocity and bias.

With T the pose before a factor exp(g phi), its world twist is w = Ad_T g. The factor adds w dphi/dq_i to column i of
the motion subspace, w phi' to the velocity and w phi'' + ad_V w phi' to the velocity-product acceleration, V being the
velocity so far (Lee & Terzopoulos 2008, eqs. 26-31, in world axes, which need no adjoint).
"""

import math
from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, flat9, load_twist, store_twist
from ..algebra.lanes import (
    Columns,
    Lanes,
    Pair,
    bracket_pair,
    scale_add_lanes,
    scale_add_pair,
    scale_lanes,
    screwed_pair,
    turned_columns,
)
from ..algebra.rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian, spatial_jacobian_rate
from ..algebra.spatial import bracket, exp_twist, multiply, rotate, sine_cosine, twist_through
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, add3, scale_add6
from ..compiler.jit import inline, shared
from .functions import evaluate_function, horner_down, weighted_sum

Motion: TypeAlias = tuple[Rotation, Vector, Twist, Twist]  # pose, velocity, velocity-product acceleration


@inline
def moved_on(v: Pair, c: Pair, w: Pair, qd: float) -> tuple[Pair, Pair]:
    """Velocity and bias after a factor with the world twist w and no phi''."""
    return scale_add_pair(v, qd, w), scale_add_pair(c, qd, bracket_pair(v, w))


@inline
def screw_factor(
    axes: Columns, p: Lanes, v: Pair, c: Pair, data: Array, offset: int, q: float, qd: float
) -> tuple[Columns, Lanes, Pair, Pair, Pair]:
    """exp(g q) with g = (0, 0, rate, 0, 0, lead): pose, velocity and bias after it, and its world twist."""
    rate, lead = data[offset], data[offset + 1]
    w = screwed_pair(scale_lanes(rate, axes[2]), scale_lanes(lead, axes[2]), p)
    v, c = moved_on(v, c, w, qd)
    if rate != 0.0:
        sine, cosine = sine_cosine(rate * q)
        axes = turned_columns(axes, sine, cosine)
    if lead != 0.0:
        p = scale_add_lanes(p, lead * q, axes[2])
    return axes, p, v, c, w


@inline
def twist_factor(
    r: Rotation,
    p: Vector,
    v: Twist,
    c: Twist,
    data: Array,
    offset: int,
    phi: float,
    rate: float,
    curvature: float,
) -> tuple[Rotation, Vector, Twist, Twist, Twist]:
    """exp(g phi) of a constant twist in general position; rate = phi', curvature = the part of phi'' without q''."""
    w = carried_twist(r, p, data, offset)
    c = scale_add6(scale_add6(c, curvature, w), rate, bracket(v, w))
    v = scale_add6(v, rate, w)
    r, p = stepped(r, p, data, offset, phi)
    return r, p, v, c, w


@inline
def carried_twist(r: Rotation, p: Vector, data: Array, offset: int) -> Twist:
    """A constant twist stored at offset, in the axes of the pose."""
    turn = data[offset + 3]
    w = rotate(r, (turn * data[offset], turn * data[offset + 1], turn * data[offset + 2]))
    return twist_through(w, rotate(r, (data[offset + 4], data[offset + 5], data[offset + 6])), p)


@inline
def stepped(r: Rotation, p: Vector, data: Array, offset: int, phi: float) -> tuple[Rotation, Vector]:
    """The pose after exp(g phi) of the constant twist stored at offset."""
    step_r, step_p = exp_twist(data, offset, phi)
    return multiply(r, step_r), add3(p, rotate(r, step_p))


@inline
def after_frame(r: Rotation, p: Vector, data: Array, offset: int) -> tuple[Rotation, Vector]:
    """The pose after a constant frame stored at offset."""
    return multiply(r, flat9(data, offset)), add3(p, rotate(r, flat3(data, offset + 9)))


@inline
def range_of(data: Array, offset: int) -> tuple[float, float, float]:
    """Lower and upper end of a spline's parameter, and its period (0 if open)."""
    return data[offset + at.SPLINE_LOWER], data[offset + at.SPLINE_UPPER], data[offset + at.SPLINE_PERIOD]


@inline
def find_span(data: Array, offset: int, q: float) -> tuple[int, float, float, int]:
    """Knot span of q, position of q in it (0 to 1), 1 / its width, and the offset of the first span.

    Looks up a bucket of equal width, then bisects in it: the cost does not grow with the number of frames.
    """
    spans = int(data[offset + at.SPLINE_SPANS])
    buckets = int(data[offset + at.SPLINE_BUCKETS])
    bucket = int((q - data[offset + at.SPLINE_LOWER]) * data[offset + at.SPLINE_BUCKET_SCALE])
    bucket = min(max(bucket, 0), buckets - 1)
    table = offset + at.SPLINE_HEADER
    low = int(data[table + 2 * bucket])
    high = int(data[table + 2 * bucket + 1])
    breaks = table + 2 * buckets
    while low < high:
        middle = (low + high + 1) // 2
        if data[breaks + 2 * middle] <= q:
            low = middle
        else:
            high = middle - 1
    begin, scale = data[breaks + 2 * low], data[breaks + 2 * low + 1]
    return low, (q - begin) * scale, scale, breaks + 2 * (spans + 1)


@inline
def paced(data: Array, offset: int, pace: int, q: float) -> tuple[float, float, float, float]:
    """A spline curve's coordinate within its period, the knots' parameter there, and two derivatives of it."""
    lower, upper = data[pace + at.PACE_LOWER], data[pace + at.PACE_UPPER]
    period = data[pace + at.PACE_PERIOD]
    if period > 0.0:
        q = q - period * math.floor((q - lower) / period)
    parameter, slope, curve = evaluate_function(data, pace + at.PACE_FUNCTION, q)
    if lower <= q <= upper:  # round-off at an end is not outside
        parameter = min(max(parameter, data[offset + at.SPLINE_LOWER]), data[offset + at.SPLINE_UPPER])
    return q, parameter, slope, curve


@shared
def curve_factors(
    r: Rotation, p: Vector, v: Twist, c: Twist, data: Array, offset: int, q: float, qd: float
) -> tuple[Rotation, Vector, Twist, Twist, Twist, bool]:
    """A spline curve at its coordinate, which is the knots' parameter or a function of it."""
    pace = int(data[offset + at.SPLINE_PACE])
    parameter, slope, curve = q, 1.0, 0.0
    if pace != 0:
        _, parameter, slope, curve = paced(data, offset, offset + pace, q)
    r, p, v, c, w, outside = spline_factors(r, p, v, c, data, offset, parameter, slope * qd, curve * qd * qd)
    return r, p, v, c, scale_add6(STILL, slope, w), outside


@inline
def spline_factors(
    r: Rotation, p: Vector, v: Twist, c: Twist, data: Array, offset: int, q: float, qd: float, qdd: float
) -> tuple[Rotation, Vector, Twist, Twist, Twist, bool]:
    """Spline curve (Lee & Terzopoulos 2008, eqs. 21-24): the base frame of the span and its order - 1 exponentials.

    The last result is whether q left the range of a joint that does not extrapolate.
    """
    lower, upper, period = range_of(data, offset)
    spans = int(data[offset + at.SPLINE_SPANS])
    order = int(data[offset + at.SPLINE_ORDER])
    first_span = offset + at.SPLINE_HEADER + 2 * int(data[offset + at.SPLINE_BUCKETS]) + 2 * (spans + 1)
    stride = 12 + (order - 1) * (at.TWIST_WIDTH + order)
    subspace = STILL
    outside = False
    inverted = data[offset + at.SPLINE_INVERTED] != 0.0
    if period > 0.0:
        q = q - period * math.floor((q - lower) / period)
        q = min(max(q, lower), upper)
    if q < lower or q > upper:
        policy = int(data[offset + at.SPLINE_OUTSIDE])
        outside = policy == at.OUTSIDE_ERROR
        end = first_span + spans * stride
        edge = lower
        if q > upper:
            end += 12 + at.TWIST_WIDTH
            edge = upper
        if not inverted:
            r, p = after_frame(r, p, data, end)
        if policy != at.OUTSIDE_CLAMP:
            r, p, v, c, subspace = twist_factor(r, p, v, c, data, end + 12, q - edge, qd, qdd)
        if inverted:
            r, p = after_frame(r, p, data, end)
        return r, p, v, c, subspace, outside
    span, x, scale, _ = find_span(data, offset, q)
    row = first_span + span * stride
    if not inverted:
        r, p = after_frame(r, p, data, row)
    twists = row + 12
    for _ in range(order - 1):
        top = twists + at.TWIST_WIDTH + order - 1
        phi, slope, curve = horner_down(data, top, order, x, scale)
        r, p, v, c, w = twist_factor(r, p, v, c, data, twists, phi, slope * qd, curve * qd * qd + slope * qdd)
        subspace = scale_add6(subspace, slope, w)
        twists += at.TWIST_WIDTH + order
    if inverted:
        r, p = after_frame(r, p, data, row)
    return r, p, v, c, subspace, outside


@inline
def add_column(dof: Array, row: int, share: float, w: Twist) -> None:
    store_twist(dof, row, at.SUBSPACE, scale_add6(load_twist(dof, row, at.SUBSPACE), share, w))


@shared
def function_factor(
    before: Motion, data: Array, offset: int, first: int, q: Array, qd: Array, dof: Array
) -> Motion:
    """exp(g f(u)) with u = weights . q: pose, velocity and bias after it; it adds to the coordinates' columns."""
    r, p, v, c = before
    weights = offset + at.TWIST_WIDTH
    u, rate = weighted_sum(data, weights, q, first), weighted_sum(data, weights, qd, first)
    count = int(data[weights])
    phi, slope, curve = evaluate_function(data, weights + 1 + count, u)
    r, p, v, c, w = twist_factor(r, p, v, c, data, offset, phi, slope * rate, curve * rate * rate)
    for j in range(count):
        add_column(dof, first + j, slope * data[weights + 1 + j], w)
    return r, p, v, c


@shared
def rotation_factor(
    r: Rotation, p: Vector, v: Twist, c: Twist, sign: float, q: Vector, qd: Vector
) -> tuple[Rotation, Twist, Twist, Rotation]:
    """exp(sign [q]) about the current origin; the last result holds the columns of the angular velocity in world
    axes.
    """
    q = (sign * q[0], sign * q[1], sign * q[2])
    qd = (sign * qd[0], sign * qd[1], sign * qd[2])
    beta, gamma, alpha_rate, beta_rate, gamma_rate = exp_coefficients(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    columns = multiply(r, spatial_jacobian(q, beta, gamma))
    w = rotate(columns, qd)
    wd = rotate(r, spatial_jacobian_rate(q, qd, beta, gamma, alpha_rate, beta_rate, gamma_rate))
    rest = (0.0, 0.0, 0.0)
    turn = twist_through(w, rest, p)
    c = scale_add6(scale_add6(c, 1.0, twist_through(wd, rest, p)), 1.0, bracket(v, turn))
    v = scale_add6(v, 1.0, turn)
    k = columns
    columns = (
        *(sign * k[0], sign * k[1], sign * k[2]),
        *(sign * k[3], sign * k[4], sign * k[5]),
        *(sign * k[6], sign * k[7], sign * k[8]),
    )
    return multiply(r, exp_rotation(q, beta, gamma)), v, c, columns
