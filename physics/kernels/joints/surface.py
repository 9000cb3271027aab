"""Spline joint of several coordinates: three translations and three Euler angles, each a tensor-product B-spline.

Lee & Terzopoulos 2008, eq. 25. In data: header, one table a direction (as a spline curve's up to its breaks, then for
each knot span the index of its first control value and its bases by rising powers), then the control values, six
numbers each: angles in the order of their factors, then x, y, z.
"""

import math

from .. import layout as at
from ..algebra.lanes import (
    Columns,
    Lanes,
    Pair,
    add_columns_times,
    add_pair,
    bracket_pair,
    columns_times,
    flat_lanes,
    load_pair,
    numbers_of,
    pair_of,
    scale_add_pair,
    scale_pair,
    screwed_pair,
    store_pair,
    turned_columns,
)
from ..algebra.spatial import sine_cosine
from ..algebra.vectors import STILL, Array, Vector
from ..compiler.jit import inline, shared
from .factors import find_span, range_of
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
def control_value(data: Array, start: int) -> Pair:
    return flat_lanes(data, start), flat_lanes(data, start + 3)


@inline
def line_sums(data: Array, start: int, order: int, work: Array, row: int) -> tuple[Pair, Pair, Pair]:
    """A third direction's sum over its control values, its slope and its curvature."""
    y = y1 = y2 = pair_of(STILL)
    for k in range(order):
        value = control_value(data, start + 6 * k)
        y = scale_add_pair(y, work[row, k], value)
        y1 = scale_add_pair(y1, work[row, at.SURFACE_MOST_ORDER + k], value)
        y2 = scale_add_pair(y2, work[row, 2 * at.SURFACE_MOST_ORDER + k], value)
    return y, y1, y2


@inline
def surface_sums(
    data: Array, offset: int, q: Array, rates: Vector, first: int, work: Array, row: int
) -> tuple[Pair, Pair, Pair, Pair, Pair, bool]:
    """The six splines, their slopes along three directions (0 along missing ones), and the part of their second time
    derivative without accelerations; returns whether a coordinate left its range.
    """
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    outside = False
    start_1, start_2, start_3 = 0, 0, 0
    order_1, order_2, order_3 = 1, 1, 1
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
        else:
            start_3, order_3 = start, order
    count_2, count_3 = int(data[offset + at.SURFACE_COUNTS + 1]), int(data[offset + at.SURFACE_COUNTS + 2])
    values = offset + int(data[offset + at.SURFACE_VALUES])
    total = slope_1 = slope_2 = slope_3 = curve = none = pair_of(STILL)
    d, dd = at.SURFACE_MOST_ORDER, 2 * at.SURFACE_MOST_ORDER
    for a in range(order_1):
        y = y2 = y3 = y22 = y23 = y33 = none
        for b in range(order_2):
            v, v1, v2 = work[row + 1, b], work[row + 1, d + b], work[row + 1, dd + b]
            control = values + 6 * (((start_1 + a) * count_2 + start_2 + b) * count_3 + start_3)
            if directions > 2:
                z, z3, z33 = line_sums(data, control, order_3, work, row + 2)
                y3 = scale_add_pair(y3, v, z3)
                y23, y33 = scale_add_pair(y23, v1, z3), scale_add_pair(y33, v, z33)
            else:
                z = control_value(data, control)
            y, y2, y22 = scale_add_pair(y, v, z), scale_add_pair(y2, v1, z), scale_add_pair(y22, v2, z)
        u, u1, u2 = work[row, a], work[row, d + a], work[row, dd + a]
        total, slope_1 = scale_add_pair(total, u, y), scale_add_pair(slope_1, u1, y)
        slope_2, slope_3 = scale_add_pair(slope_2, u, y2), scale_add_pair(slope_3, u, y3)
        along = scale_add_pair(scale_pair(rates[1], y2), rates[2], y3)
        bend = scale_add_pair(scale_pair(rates[1] * rates[1], y22), 2.0 * rates[1] * rates[2], y23)
        bend = scale_add_pair(bend, rates[2] * rates[2], y33)
        curve = scale_add_pair(scale_add_pair(curve, u2 * rates[0] * rates[0], y), u, bend)
        curve = scale_add_pair(curve, 2.0 * u1 * rates[0], along)
    return total, slope_1, slope_2, slope_3, curve, outside


@inline
def axis_of(axes: Columns, k: int) -> Lanes:
    """Axis k of a frame."""
    if k == 0:
        return axes[0]
    return axes[1] if k == 1 else axes[2]


@inline
def turned(axes: Columns, k: int, angle: float) -> Columns:
    """Axes of a frame after a rotation about axis k."""
    sine, cosine = sine_cosine(angle)
    x, y, z = axes
    if k == 0:
        y, z, x = turned_columns((y, z, x), sine, cosine)
    elif k == 1:
        z, x, y = turned_columns((z, x, y), sine, cosine)
    else:
        x, y, z = turned_columns((x, y, z), sine, cosine)
    return x, y, z


@shared
def surface_factors(
    axes: Columns,
    p: Lanes,
    v: Pair,
    c: Pair,
    data: Array,
    offset: int,
    first: int,
    q: Array,
    qd: Array,
    work: Array,
    row: int,
    dof: Array,
) -> tuple[Columns, Lanes, Pair, Pair, bool]:
    """All six factors: pose, velocity and bias after them; they add to the coordinates' columns.

    The last result is whether a coordinate left the range of a joint that does not extrapolate.
    """
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    sign, still = data[offset + at.SURFACE_SIGN], pair_of(STILL)
    rates = qd[first], qd[first + 1] if directions > 1 else 0.0, qd[first + 2] if directions > 2 else 0.0
    phi, g1, g2, g3, curve, left = surface_sums(data, offset, q, rates, first, work, row)
    g1, g2, g3 = scale_pair(sign, g1), scale_pair(sign, g2), scale_pair(sign, g3)
    phi, curve = scale_pair(sign, phi), scale_pair(sign, curve)
    rate = scale_add_pair(scale_add_pair(scale_pair(rates[0], g1), rates[1], g2), rates[2], g3)
    rotation_first = data[offset + at.SURFACE_ROTATION_FIRST] != 0.0
    s1 = s2 = s3 = still
    for part in range(2):
        if (part == 0) == rotation_first:
            angles, speeds, bends = numbers_of(phi[0]), numbers_of(rate[0]), numbers_of(curve[0])
            t1, t2, t3 = numbers_of(g1[0]), numbers_of(g2[0]), numbers_of(g3[0])
            for j in range(3):
                axis = int(data[offset + at.SURFACE_AXES + j])
                w = screwed_pair(axis_of(axes, axis), still[1], p)
                s1, s2 = scale_add_pair(s1, t1[j], w), scale_add_pair(s2, t2[j], w)
                s3 = scale_add_pair(s3, t3[j], w)
                c = scale_add_pair(scale_add_pair(c, bends[j], w), speeds[j], bracket_pair(v, w))
                v = scale_add_pair(v, speeds[j], w)
                axes = turned(axes, axis, angles[j])
        else:
            s1, s2, s3 = slid(s1, axes, g1), slid(s2, axes, g2), slid(s3, axes, g3)
            w = still[0], columns_times(axes, numbers_of(rate[1]))
            c = scale_add_pair(slid(c, axes, curve), 1.0, bracket_pair(v, w))
            p, v = add_columns_times(p, axes, numbers_of(phi[1])), add_pair(v, w)
    for k in range(directions):
        column = s1 if k == 0 else s2 if k == 1 else s3
        store_pair(dof, first + k, at.SUBSPACE, add_pair(load_pair(dof, first + k, at.SUBSPACE), column))
    return axes, p, v, c, left and data[offset + at.SURFACE_OUTSIDE] == at.OUTSIDE_ERROR


@inline
def slid(v: Pair, axes: Columns, x: Pair) -> Pair:
    """A twist, and the linear part of one in the current axes."""
    return v[0], add_columns_times(v[1], axes, numbers_of(x[1]))
