"""Third derivatives of a spline surface, and `tangent` through its six factors."""

from .. import layout as at
from ..algebra.lanes import axes_of, rotation_of
from ..algebra.spatial import column, twist_through
from ..algebra.vectors import Array, Vector, scale_add6
from ..compiler.jit import shared
from .functions import horner_third
from .surface import direction_bases, find_bases, turned
from .tangent import CURVE, HESSIAN, SHARE, SLOPE, SUM_ROWS, SUMS, Moved, Own, carry_factor, clear_factor


@shared
def four_bases(data: Array, table: int, q: float, scratch: Array, row: int) -> int:
    """Bases of one direction and three derivatives, into four stretches of a row; returns the first control value's
    index."""
    start, outside = direction_bases(data, table, q, scratch, row)
    order = int(data[table + at.SPLINE_ORDER])
    piece, x, scale, _ = find_bases(data, table, q)
    for j in range(order):
        third = horner_third(data, piece + 1 + j * order, order, x) * scale * scale * scale
        scratch[row, 3 * at.SURFACE_MOST_ORDER + j] = 0.0 if outside else third
    return start


@shared
def add_control(scratch: Array, a: int, b: int, c: int, data: Array, start: int, rates: Vector) -> None:
    """Add one control value's share to all sums: value, 3 slopes, 6 second derivatives (11, 12, 13, 22, 23, 33), and 3
    third ones, contracted twice with the rates.
    """
    n = at.SURFACE_MOST_ORDER
    u, u1, u2, u3 = scratch[0, a], scratch[0, n + a], scratch[0, 2 * n + a], scratch[0, 3 * n + a]
    v, v1, v2, v3 = scratch[1, b], scratch[1, n + b], scratch[1, 2 * n + b], scratch[1, 3 * n + b]
    w, w1, w2, w3 = scratch[2, c], scratch[2, n + c], scratch[2, 2 * n + c], scratch[2, 3 * n + c]
    x, y, z = rates
    mixed = u1 * v1 * w1
    third_1 = (u3 * x * x * v * w + u1 * (v2 * y * y * w + v * w2 * z * z)) + 2.0 * (
        u2 * x * (v1 * y * w + v * w1 * z) + mixed * y * z
    )
    third_2 = (v3 * y * y * u * w + v1 * (u2 * x * x * w + u * w2 * z * z)) + 2.0 * (
        v2 * y * (u1 * x * w + u * w1 * z) + mixed * x * z
    )
    third_3 = (w3 * z * z * u * v + w1 * (u2 * x * x * v + u * v2 * y * y)) + 2.0 * (
        w2 * z * (u1 * x * v + u * v1 * y) + mixed * x * y
    )
    shares = (
        *(u * v * w, u1 * v * w, u * v1 * w, u * v * w1),
        *(u2 * v * w, u1 * v1 * w, u1 * v * w1, u * v2 * w, u * v1 * w1, u * v * w2),
        *(third_1, third_2, third_3),
    )
    for m in range(SUM_ROWS):
        for k in range(6):
            scratch[SUMS + m, k] += shares[m] * data[start + k]


@shared
def third_sums(data: Array, offset: int, q: Array, first: int, scratch: Array, rates: Vector) -> None:
    """The six splines and their derivatives, into the sums; 0 along missing directions."""
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    for m in range(SUM_ROWS):
        for k in range(6):
            scratch[SUMS + m, k] = 0.0
    start_1, start_2, start_3 = 0, 0, 0
    order_1, order_2, order_3 = 1, 1, 1
    for i in range(3):
        table = offset + int(data[offset + at.SURFACE_TABLES + i])
        start, order = 0, 1
        if i < directions:
            start = four_bases(data, table, q[first + i], scratch, i)
            order = int(data[table + at.SPLINE_ORDER])
        else:  # one control value whose basis is 1
            for m in range(4):
                scratch[i, m * at.SURFACE_MOST_ORDER] = 1.0 if m == 0 else 0.0
        if i == 0:
            start_1, order_1 = start, order
        elif i == 1:
            start_2, order_2 = start, order
        else:
            start_3, order_3 = start, order
    count_2, count_3 = int(data[offset + at.SURFACE_COUNTS + 1]), int(data[offset + at.SURFACE_COUNTS + 2])
    values = offset + int(data[offset + at.SURFACE_VALUES])
    for a in range(order_1):
        for b in range(order_2):
            for c in range(order_3):
                control = values + 6 * (((start_1 + a) * count_2 + start_2 + b) * count_3 + start_3 + c)
                add_control(scratch, a, b, c, data, control, rates)


@shared
def second_sum(i: int, j: int) -> int:
    """Row of the second derivative along directions i and j among the sums."""
    low, high = min(i, j), max(i, j)
    return SUMS + 4 + high + (0 if low == 0 else low + 1)


@shared
def follow_sums(
    tangent: Array, own: Own, directions: int, k: int, sign: float, scratch: Array, rates: Vector
) -> tuple[float, float]:
    """A factor that follows sign times spline k; its phi' and the velocity-dependent part of phi''."""
    first, count, d = own
    clear_factor(tangent, first, count)
    rate, curve = 0.0, 0.0
    for i in range(directions):
        share = sign * scratch[SUMS + 1 + i, k]
        tangent[d + i, SHARE] = share
        tangent[d + i, CURVE] = sign * scratch[SUMS + 10 + i, k]
        for j in range(directions):
            second = sign * scratch[second_sum(i, j), k]
            tangent[d + i, HESSIAN + d - first + j] = second
            tangent[d + i, SLOPE] += second * rates[j]
        rate += share * rates[i]
        curve += tangent[d + i, SLOPE] * rates[i]
    return rate, curve


@shared
def surface_tangent(
    before: Moved, data: Array, offset: int, tangent: Array, own: Own, q: Array, qd: Array, scratch: Array
) -> Moved:
    """Three rotations and three translations along the current axes, each a factor that follows its spline."""
    r, p, v = before
    directions = int(data[offset + at.SURFACE_DIRECTIONS])
    sign = data[offset + at.SURFACE_SIGN]
    joint, count, d = own
    rates = (qd[d], qd[d + 1] if directions > 1 else 0.0, qd[d + 2] if directions > 2 else 0.0)
    third_sums(data, offset, q, d, scratch, rates)
    rotation_first = data[offset + at.SURFACE_ROTATION_FIRST] != 0.0
    for part in range(6):
        k = part if rotation_first else (part + 3) % 6
        rate, curve = follow_sums(tangent, own, directions, k, sign, scratch, rates)
        phi = sign * scratch[SUMS, k]
        if k < 3:
            axis = int(data[offset + at.SURFACE_AXES + k])
            w = twist_through(column(r, axis), (0.0, 0.0, 0.0), p)
            r = rotation_of(turned(axes_of(r), axis, phi))
        else:
            along = column(r, k - 3)
            w = (0.0, 0.0, 0.0, along[0], along[1], along[2])
            p = (p[0] + phi * along[0], p[1] + phi * along[1], p[2] + phi * along[2])
        carry_factor(tangent, joint, count, v, w, rate, curve)
        v = scale_add6(v, rate, w)
    return r, p, v
