"""Spline joint of several coordinates: three translations and three Euler angles, each a tensor-product B-spline.

Lee & Terzopoulos 2008, eq. 25. In data: header, one table a direction (as a spline curve's up to its breaks, then for
each knot span the index of its first control value and its bases by rising powers), then the control values, six
numbers each: angles in the order of their factors, then x, y, z.
"""

import math

from .. import layout as at
from ..algebra.spatial import bracket, column, rotate, sine_cosine, twist_through
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, add3, scale_add6
from ..compiler.jit import inline, shared
from .factors import Motion, add_column, find_span, range_of
from .functions import horner_down


@inline
def find_bases(data: Array, table: int, q: float) -> tuple[int, float, float, float]:
    """Offset of the bases of q's span, position of q in it (0 to 1), 1 / its width, and how far q is beyond an end."""
    lower, upper, period = range_of(data, table)
    order = int(data[table + at.SPLINE_ORDER])
    if period > 0.0:
        q -= period * math.floor((q - lower) / period)
    inside = min(max(q, lower), upper)
    span, x, scale, first = find_span(data, table, inside)
    return first + span * (1 + order * order), x, scale, q - inside


@inline
def direction_bases(data: Array, table: int, q: float, work: Array, row: int) -> tuple[int, bool]:
    """Bases of one direction at q and their two derivatives, into three stretches of a workspace row.

    They are extrapolated linearly beyond an open end. Returns the index of the first control value in the sum, and
    whether q was beyond an end.
    """
    order = int(data[table + at.SPLINE_ORDER])
    piece, x, scale, beyond = find_bases(data, table, q)
    for j in range(order):
        top = piece + 1 + j * order + order - 1
        value, slope, curve = horner_down(data, top, order, x, scale)
        if beyond != 0.0:
            value += slope * beyond
            curve = 0.0
        work[row, j] = value
        work[row, at.SURFACE_MOST_ORDER + j] = slope
        work[row, 2 * at.SURFACE_MOST_ORDER + j] = curve
    return int(data[piece]), beyond != 0.0


@inline
def control_value(data: Array, start: int) -> Twist:
    return data[start], data[start + 1], data[start + 2], data[start + 3], data[start + 4], data[start + 5]


@inline
def line_sums(
    data: Array, start: int, order: int, rate: float, work: Array, row: int
) -> tuple[Twist, Twist, Twist]:
    """A third direction's sum over its control values, its slope, and its curvature times the rate squared."""
    y, y1, y2 = STILL, STILL, STILL
    for k in range(order):
        value = control_value(data, start + 6 * k)
        y = scale_add6(y, work[row, k], value)
        y1 = scale_add6(y1, work[row, at.SURFACE_MOST_ORDER + k], value)
        y2 = scale_add6(y2, work[row, 2 * at.SURFACE_MOST_ORDER + k] * rate * rate, value)
    return y, y1, y2


@inline
def surface_sums(
    data: Array, offset: int, q: Array, qd: Array, first: int, work: Array, row: int
) -> tuple[Twist, Twist, Twist, Twist, Twist, bool]:
    """The six splines, their slopes along three directions (0 along missing ones), and the part of their second time
    derivative without accelerations; returns whether a coordinate left its range.
    """
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    outside = False
    start_1, start_2, start_3 = 0, 0, 0
    order_1, order_2, order_3 = 1, 1, 1
    rate_1, rate_2, rate_3 = qd[first], 0.0, 0.0
    for i in range(3):
        table = offset + int(data[offset + at.SURFACE_TABLES + i])
        if i < directions:
            start, left = direction_bases(data, table, q[first + i], work, row + i)
            outside |= left
            order = int(data[table + at.SPLINE_ORDER])
        else:  # one control value whose basis is 1
            work[row + i, 0] = 1.0
            work[row + i, at.SURFACE_MOST_ORDER] = 0.0
            work[row + i, 2 * at.SURFACE_MOST_ORDER] = 0.0
            start, order = 0, 1
        if i == 0:
            start_1, order_1 = start, order
        elif i == 1:
            start_2, order_2 = start, order
            rate_2 = qd[first + 1] if directions > 1 else 0.0
        else:
            start_3, order_3 = start, order
            rate_3 = qd[first + 2] if directions > 2 else 0.0
    count_2, count_3 = int(data[offset + at.SURFACE_COUNTS + 1]), int(data[offset + at.SURFACE_COUNTS + 2])
    values = offset + int(data[offset + at.SURFACE_VALUES])
    total, slope_1, slope_2, slope_3, curve = STILL, STILL, STILL, STILL, STILL
    d, dd = at.SURFACE_MOST_ORDER, 2 * at.SURFACE_MOST_ORDER
    for a in range(order_1):
        u, u1, u2 = work[row, a], work[row, d + a] * rate_1, work[row, dd + a] * rate_1 * rate_1
        for b in range(order_2):
            v, v1 = work[row + 1, b], work[row + 1, d + b] * rate_2
            v2 = work[row + 1, dd + b] * rate_2 * rate_2
            uv, uv1 = u * v, u1 * v + u * v1
            uv2 = u2 * v + 2.0 * u1 * v1 + u * v2
            control = values + 6 * (((start_1 + a) * count_2 + start_2 + b) * count_3 + start_3)
            y = control_value(data, control)
            if directions > 2:
                y, y1, y2 = line_sums(data, control, order_3, rate_3, work, row + 2)
                slope_3 = scale_add6(slope_3, uv, y1)
                curve = scale_add6(scale_add6(curve, 2.0 * uv1 * rate_3, y1), uv, y2)
            total = scale_add6(total, uv, y)
            slope_1 = scale_add6(slope_1, work[row, d + a] * v, y)
            if directions > 1:
                slope_2 = scale_add6(slope_2, u * work[row + 1, d + b], y)
            curve = scale_add6(curve, uv2, y)
    return total, slope_1, slope_2, slope_3, curve, outside


@inline
def turned(r: Rotation, axis: int, angle: float) -> Rotation:
    """r after a rotation about one of its own axes."""
    s, c = sine_cosine(angle)
    x, y, z = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
    if axis == 0:
        y, z = mixed(y, z, c, s), mixed(z, y, c, -s)
    elif axis == 1:
        z, x = mixed(z, x, c, s), mixed(x, z, c, -s)
    else:
        x, y = mixed(x, y, c, s), mixed(y, x, c, -s)
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inline
def mixed(a: Vector, b: Vector, c: float, s: float) -> Vector:
    return c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]


@inline
def slide(
    r: Rotation, p: Vector, v: Twist, c: Twist, shift: Vector, rate: Vector, curve: Vector
) -> tuple[Vector, Twist, Twist]:
    """Position, velocity and bias after a translation in the current axes."""
    still = (0.0, 0.0, 0.0)
    w = twist_through(still, rotate(r, rate), p)
    c = scale_add6(scale_add6(c, 1.0, twist_through(still, rotate(r, curve), p)), 1.0, bracket(v, w))
    return add3(p, rotate(r, shift)), scale_add6(v, 1.0, w), c


@inline
def add_columns(
    dof: Array, first: int, directions: int, sign: float, columns: tuple[Twist, Twist, Twist]
) -> None:
    """Add to the columns of the coordinates of all directions."""
    add_column(dof, first, sign, columns[0])
    if directions > 1:
        add_column(dof, first + 1, sign, columns[1])
    if directions > 2:
        add_column(dof, first + 2, sign, columns[2])


@shared
def surface_factors(
    before: Motion,
    data: Array,
    offset: int,
    first: int,
    q: Array,
    qd: Array,
    work: Array,
    row: int,
    dof: Array,
) -> tuple[Rotation, Vector, Twist, Twist, bool]:
    """All six factors: pose, velocity and bias after them; they add to the coordinates' columns.

    The last result is whether a coordinate left the range of a joint that does not extrapolate.
    """
    r, p, v, c = before
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    sign = data[offset + at.SURFACE_SIGN]
    phi, g1, g2, g3, curve, left = surface_sums(data, offset, q, qd, first, work, row)
    rate = scale_add6(STILL, sign * qd[first], g1)
    if directions > 1:
        rate = scale_add6(rate, sign * qd[first + 1], g2)
    if directions > 2:
        rate = scale_add6(rate, sign * qd[first + 2], g3)
    phi, curve = scale_add6(STILL, sign, phi), scale_add6(STILL, sign, curve)
    rotation_first = data[offset + at.SURFACE_ROTATION_FIRST] != 0.0
    still, s1, s2, s3 = (0.0, 0.0, 0.0), STILL, STILL, STILL
    for part in range(2):
        if (part == 0) == rotation_first:
            for j in range(3):
                axis = int(data[offset + at.SURFACE_AXES + j])
                w = twist_through(column(r, axis), still, p)
                s1 = scale_add6(s1, g1[j], w)
                if directions > 1:
                    s2 = scale_add6(s2, g2[j], w)
                if directions > 2:
                    s3 = scale_add6(s3, g3[j], w)
                c = scale_add6(scale_add6(c, curve[j], w), rate[j], bracket(v, w))
                v = scale_add6(v, rate[j], w)
                r = turned(r, axis, phi[j])
        else:
            s1 = scale_add6(s1, 1.0, twist_through(still, rotate(r, (g1[3], g1[4], g1[5])), p))
            if directions > 1:
                s2 = scale_add6(s2, 1.0, twist_through(still, rotate(r, (g2[3], g2[4], g2[5])), p))
            if directions > 2:
                s3 = scale_add6(s3, 1.0, twist_through(still, rotate(r, (g3[3], g3[4], g3[5])), p))
            p, v, c = slide(
                r,
                p,
                v,
                c,
                (phi[3], phi[4], phi[5]),
                (rate[3], rate[4], rate[5]),
                (curve[3], curve[4], curve[5]),
            )
    add_columns(dof, first, directions, sign, (s1, s2, s3))
    return r, p, v, c, left and data[offset + at.SURFACE_OUTSIDE] == at.OUTSIDE_ERROR
