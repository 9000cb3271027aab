"""The factors of a joint's product of exponentials: each takes pose, velocity and bias from before it to behind it.

With T the pose before a factor exp(g phi), its world twist is w = Ad_T g. The factor adds w dphi/dq_i to column i of
the motion subspace, w phi' to the velocity and w phi'' + ad_V w phi' to the velocity-product acceleration, V being the
velocity so far (Lee & Terzopoulos 2008, eqs. 26-31, carried to world axes, where no adjoint is left to apply).
"""

from __future__ import annotations

import math

from ._jit import inline, jit
from .functions import evaluate_function
from .layout import (
    OUTSIDE_CLAMP,
    OUTSIDE_ERROR,
    PACE_FUNCTION,
    PACE_LOWER,
    PACE_PERIOD,
    PACE_UPPER,
    SPLINE_BUCKET_SCALE,
    SPLINE_BUCKETS,
    SPLINE_HEADER,
    SPLINE_INVERTED,
    SPLINE_LOWER,
    SPLINE_ORDER,
    SPLINE_OUTSIDE,
    SPLINE_PACE,
    SPLINE_PERIOD,
    SPLINE_SPANS,
    SPLINE_TURNED,
    SPLINE_UPPER,
    SUBSPACE,
    TURNED_FIRST,
    TURNED_TWIST,
    TURNED_WIDTH,
    TWIST_WIDTH,
)
from .rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian, spatial_jacobian_rate
from .spatial import (
    SMALL_ANGLE,
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    bracket,
    exp_twist,
    flat3,
    flat6,
    flat9,
    load6,
    multiply,
    rotate,
    scale_add6,
    sine_cosine,
    small_turn,
    store6,
    twist_through,
)


@inline
def turned(r: Rotation, sine: float, cosine: float) -> Rotation:
    """A rotation, turned on about its own z axis."""
    return (
        cosine * r[0] + sine * r[1],
        cosine * r[1] - sine * r[0],
        r[2],
        cosine * r[3] + sine * r[4],
        cosine * r[4] - sine * r[3],
        r[5],
        cosine * r[6] + sine * r[7],
        cosine * r[7] - sine * r[6],
        r[8],
    )


@inline
def screw_factor(
    r: Rotation, p: Vector, v: Twist, c: Twist, data: Array, offset: int, q: float, qd: float
) -> tuple[Rotation, Vector, Twist, Twist, Twist]:
    """exp(g q) with g = (0, 0, rate, 0, 0, lead): pose, velocity and bias after it, and its world twist."""
    rate = data[offset]
    lead = data[offset + 1]
    axis = (r[2], r[5], r[8])
    w = twist_through(
        (rate * axis[0], rate * axis[1], rate * axis[2]),
        (lead * axis[0], lead * axis[1], lead * axis[2]),
        p,
    )
    c = scale_add6(c, qd, bracket(v, w))
    v = scale_add6(v, qd, w)
    if rate != 0.0:
        sine, cosine = sine_cosine(rate * q)
        r = turned(r, sine, cosine)
    if lead != 0.0:
        shift = lead * q
        p = (p[0] + shift * axis[0], p[1] + shift * axis[1], p[2] + shift * axis[2])
    return r, p, v, c, w


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
    """A constant twist stored at offset, in the axes that the pose is told in."""
    turn = data[offset + 3]
    w = rotate(r, (turn * data[offset], turn * data[offset + 1], turn * data[offset + 2]))
    return twist_through(w, rotate(r, (data[offset + 4], data[offset + 5], data[offset + 6])), p)


@inline
def stepped(r: Rotation, p: Vector, data: Array, offset: int, phi: float) -> tuple[Rotation, Vector]:
    """The pose behind exp(g phi) of the constant twist stored at offset."""
    step_r, step_p = exp_twist(data, offset, phi)
    return multiply(r, step_r), add3(p, rotate(r, step_p))


@inline
def behind(r: Rotation, p: Vector, data: Array, offset: int) -> tuple[Rotation, Vector]:
    """The pose behind a constant frame stored at offset."""
    return multiply(r, flat9(data, offset)), add3(p, rotate(r, flat3(data, offset + 9)))


@inline
def find_span(data: Array, offset: int, q: float) -> tuple[int, float, float, int]:
    """Knot span of q, where in it q lies (0 to 1), 1 / its width, and where the first span is described.

    A bucket of equal width, then bisection inside it, so that more frames cost nothing.
    """
    spans = int(data[offset + SPLINE_SPANS])
    buckets = int(data[offset + SPLINE_BUCKETS])
    bucket = int((q - data[offset + SPLINE_LOWER]) * data[offset + SPLINE_BUCKET_SCALE])
    bucket = min(max(bucket, 0), buckets - 1)
    table = offset + SPLINE_HEADER
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


@jit
def curve_factors(
    r: Rotation, p: Vector, v: Twist, c: Twist, data: Array, offset: int, q: float, qd: float
) -> tuple[Rotation, Vector, Twist, Twist, Twist, bool]:
    """A spline curve by its own coordinate, which the knots' parameter is or is a function of."""
    pace = int(data[offset + SPLINE_PACE])
    parameter, slope, curve = q, 1.0, 0.0
    if pace != 0:
        pace += offset
        lower, upper, period = data[pace + PACE_LOWER], data[pace + PACE_UPPER], data[pace + PACE_PERIOD]
        if period > 0.0:
            q = q - period * math.floor((q - lower) / period)
        parameter, slope, curve = evaluate_function(data, pace + PACE_FUNCTION, q)
        if lower <= q <= upper:  # round-off at an end is not outside
            parameter = min(max(parameter, data[offset + SPLINE_LOWER]), data[offset + SPLINE_UPPER])
    r, p, v, c, w, outside = spline_factors(r, p, v, c, data, offset, parameter, slope * qd, curve * qd * qd)
    return r, p, v, c, scale_add6((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), slope, w), outside


@inline
def spline_factors(
    r: Rotation, p: Vector, v: Twist, c: Twist, data: Array, offset: int, q: float, qd: float, qdd: float
) -> tuple[Rotation, Vector, Twist, Twist, Twist, bool]:
    """Spline curve (Lee & Terzopoulos 2008, eqs. 21-24): the base frame of the span and its order - 1 exponentials.

    The last result tells whether q left the range of a joint that does not go beyond it.
    """
    lower = data[offset + SPLINE_LOWER]
    upper = data[offset + SPLINE_UPPER]
    period = data[offset + SPLINE_PERIOD]
    spans = int(data[offset + SPLINE_SPANS])
    order = int(data[offset + SPLINE_ORDER])
    first_span = offset + SPLINE_HEADER + 2 * int(data[offset + SPLINE_BUCKETS]) + 2 * (spans + 1)
    stride = 12 + (order - 1) * (TWIST_WIDTH + order)
    subspace = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    outside = False
    inverted = data[offset + SPLINE_INVERTED] != 0.0
    if period > 0.0:
        q = q - period * math.floor((q - lower) / period)
        q = min(max(q, lower), upper)
    if q < lower or q > upper:
        policy = int(data[offset + SPLINE_OUTSIDE])
        outside = policy == OUTSIDE_ERROR
        end = first_span + spans * stride
        edge = lower
        if q > upper:
            end += 12 + TWIST_WIDTH
            edge = upper
        if not inverted:
            r, p = behind(r, p, data, end)
        if policy != OUTSIDE_CLAMP:
            r, p, v, c, subspace = twist_factor(r, p, v, c, data, end + 12, q - edge, qd, qdd)
        if inverted:
            r, p = behind(r, p, data, end)
        return r, p, v, c, subspace, outside
    span, x, scale, _ = find_span(data, offset, q)
    row = first_span + span * stride
    if not inverted:
        r, p = behind(r, p, data, row)
    twists = row + 12
    for _ in range(order - 1):
        top = twists + TWIST_WIDTH + order - 1
        phi, slope, curve = data[top], 0.0, 0.0
        for k in range(1, order):  # Horner for the polynomial, its first and half its second derivative
            curve = curve * x + slope
            slope = slope * x + phi
            phi = phi * x + data[top - k]
        slope *= scale
        curve *= 2.0 * scale * scale
        r, p, v, c, w = twist_factor(r, p, v, c, data, twists, phi, slope * qd, curve * qd * qd + slope * qdd)
        subspace = scale_add6(subspace, slope, w)
        twists += TWIST_WIDTH + order
    if inverted:
        r, p = behind(r, p, data, row)
    return r, p, v, c, subspace, outside


@inline
def plain_cubic(data: Array, offset: int, q: float) -> bool:
    """Whether q lies on a spline curve that `cubic_factors` knows."""
    inside: bool = data[offset + SPLINE_LOWER] <= q <= data[offset + SPLINE_UPPER]
    return inside and data[offset + SPLINE_TURNED] != 0.0


@inline
def cubic(data: Array, offset: int, x: float, scale: float) -> Vector:
    """Value, first and second derivative of a polynomial of degree 3, by Horner's scheme."""
    top = data[offset + 3]
    a = top * x + data[offset + 2]
    b = top * x + a
    value = a * x + data[offset + 1]
    slope = b * x + value
    return value * x + data[offset], slope * scale, (top * x + b) * (2.0 * scale * scale)


@inline
def scaled6(factor: float, x: Twist) -> Twist:
    return (factor * x[0], factor * x[1], factor * x[2], factor * x[3], factor * x[4], factor * x[5])


@inline
def turned_twist(r: Rotation, p: Vector, data: Array, offset: int) -> Twist:
    """A twist g = (0, 0, |w|, v) in the axes that the pose is told in."""
    turn = data[offset]
    return twist_through((turn * r[2], turn * r[5], turn * r[8]), rotate(r, flat3(data, offset + 1)), p)


@inline
def turned_step(r: Rotation, p: Vector, data: Array, offset: int, phi: float) -> tuple[Rotation, Vector]:
    """The pose behind exp(g phi) of a twist g = (0, 0, |w|, v), and the constant rotation that follows it.

    As in `exp_twist`, with the axis n along z.
    """
    rate = data[offset]
    angle = rate * phi
    if abs(angle) < SMALL_ANGLE:
        sinc, versinc = small_turn(angle * angle)
        along, aside = phi * sinc, angle * phi * versinc
        sine, cosine = angle * sinc, 1.0 - angle * angle * versinc
    else:
        sine, cosine = sine_cosine(angle)
        half = math.sin(0.5 * angle)
        along, aside = sine / rate, 2.0 * half * half / rate
    v = flat3(data, offset + 1)
    step = (along * v[0] - aside * v[1], along * v[1] + aside * v[0], phi * v[2])
    p = add3(p, rotate(r, step))
    b = flat9(data, offset + 8)
    m = (
        cosine * b[0] - sine * b[3],
        cosine * b[1] - sine * b[4],
        cosine * b[2] - sine * b[5],
        sine * b[0] + cosine * b[3],
        sine * b[1] + cosine * b[4],
        sine * b[2] + cosine * b[5],
        b[6],
        b[7],
        b[8],
    )
    return multiply(r, m), p


@inline
def cubic_factors(data: Array, offset: int, q: float) -> tuple[Rotation, Vector, Twist, Twist]:
    """What `spline_factors` does on the spans of a cubic curve, in the curve's own axes: the pose, its twist a unit of
    q', and the derivative of that by q.
    """
    span, x, scale, _ = find_span(data, offset, q)
    row = offset + int(data[offset + SPLINE_TURNED]) + span * TURNED_WIDTH
    r, p = flat9(data, row), flat3(data, row + 9)
    w = flat6(data, row + 12)
    row += TURNED_FIRST
    phi, slope, curve = cubic(data, row + 4, x, scale)
    s, rate = scaled6(slope, w), scaled6(curve, w)
    r, p = turned_step(r, p, data, row, phi)
    for _ in range(2):
        row += TURNED_TWIST
        w, (phi, slope, curve) = turned_twist(r, p, data, row), cubic(data, row + 4, x, scale)
        rate = scale_add6(scale_add6(rate, curve, w), slope, bracket(s, w))
        s = scale_add6(s, slope, w)
        r, p = turned_step(r, p, data, row, phi)
    return r, p, s, rate


@inline
def weighted_sum(data: Array, offset: int, q: Array, first: int) -> float:
    """The argument of a function factor: weights times the coordinates from `first` on."""
    total = 0.0
    for j in range(int(data[offset])):
        total += data[offset + 1 + j] * q[first + j]
    return total


@jit
def function_factor(
    r: Rotation,
    p: Vector,
    v: Twist,
    c: Twist,
    data: Array,
    offset: int,
    first: int,
    q: Array,
    qd: Array,
    dof: Array,
) -> tuple[Rotation, Vector, Twist, Twist]:
    """exp(g f(u)) with u = weights . q: pose, velocity and bias after it; it adds to the coordinates' columns."""
    weights = offset + TWIST_WIDTH
    u, rate = weighted_sum(data, weights, q, first), weighted_sum(data, weights, qd, first)
    count = int(data[weights])
    phi, slope, curve = evaluate_function(data, weights + 1 + count, u)
    r, p, v, c, w = twist_factor(r, p, v, c, data, offset, phi, slope * rate, curve * rate * rate)
    for j in range(count):
        share = slope * data[weights + 1 + j]
        store6(dof, first + j, SUBSPACE, scale_add6(load6(dof, first + j, SUBSPACE), share, w))
    return r, p, v, c


@jit
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
