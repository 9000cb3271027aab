"""The short way for a single cubic spline curve: told in frames whose z axes are the axes of its twists, by vectors in
`lanes` (Lee & Terzopoulos 2008, eqs. 21-24; see `layout` for what of it is prepared).
"""

from __future__ import annotations

import math

from ._jit import inline
from .factors import find_span
from .lanes import (
    Columns,
    Lanes,
    Pair,
    add_lanes,
    bracket_pair,
    columns_product,
    columns_times,
    flat_lanes,
    numbers_of,
    scale_add_lanes,
    scale_add_pair,
    scale_lanes,
    scale_pair,
    screwed_pair,
    turned_columns,
)
from .layout import (
    SPLINE_LOWER,
    SPLINE_TURNED,
    SPLINE_UPPER,
    TURNED_FIRST,
    TURNED_POLYNOMIALS,
    TURNED_TWIST,
    TURNED_WIDTH,
)
from .spatial import SMALL_ANGLE, Array, Vector, flat3, flat9, sine_cosine, small_turn


@inline
def plain_cubic(data: Array, offset: int, q: float) -> bool:
    """Whether q lies on a spline curve that `cubic_motion` knows."""
    inside: bool = data[offset + SPLINE_LOWER] <= q <= data[offset + SPLINE_UPPER]
    return inside and data[offset + SPLINE_TURNED] != 0.0


@inline
def cubics(data: Array, offset: int, x: float, scale: float) -> tuple[Vector, Vector, Vector]:
    """Values, first and second derivatives of three polynomials of degree 3, by Horner's scheme."""
    top, b = flat_lanes(data, offset + 12), flat_lanes(data, offset + 8)
    a = scale_add_lanes(b, x, top)
    b = scale_add_lanes(a, x, top)
    value = scale_add_lanes(flat_lanes(data, offset + 4), x, a)
    slope = scale_lanes(scale, scale_add_lanes(value, x, b))
    curve = scale_lanes(2.0 * scale * scale, scale_add_lanes(b, x, top))
    phi = scale_add_lanes(flat_lanes(data, offset), x, value)
    return numbers_of(phi), numbers_of(slope), numbers_of(curve)


@inline
def turned_twist(axes: Columns, p: Lanes, data: Array, offset: int) -> Pair:
    """A twist g = (0, 0, |w|, v) in the axes that the pose is told in."""
    turn = scale_lanes(data[offset], axes[2])
    return screwed_pair(turn, columns_times(axes, flat3(data, offset + 1)), p)


@inline
def turned_step(axes: Columns, p: Lanes, data: Array, offset: int, phi: float) -> tuple[Columns, Lanes]:
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
    p = add_lanes(p, columns_times(axes, step))
    return columns_product(turned_columns(axes, sine, cosine), flat9(data, offset + 4)), p


@inline
def cubic_motion(data: Array, offset: int, q: float) -> tuple[Columns, Lanes, Pair, Pair]:
    """What `factors.spline_factors` does on the spans of a cubic curve, in the curve's own axes: the pose, its twist a
    unit of q', and the derivative of that by q.
    """
    span, x, scale, _ = find_span(data, offset, q)
    row = offset + int(data[offset + SPLINE_TURNED]) + span * TURNED_WIDTH
    axes = flat_lanes(data, row), flat_lanes(data, row + 4), flat_lanes(data, row + 8)
    p, w = flat_lanes(data, row + 12), (flat_lanes(data, row + 16), flat_lanes(data, row + 20))
    phi, slope, curve = cubics(data, row + TURNED_POLYNOMIALS, x, scale)
    row += TURNED_FIRST
    s, rate = scale_pair(slope[0], w), scale_pair(curve[0], w)
    axes, p = turned_step(axes, p, data, row, phi[0])
    for k in range(1, 3):
        row += TURNED_TWIST
        w = turned_twist(axes, p, data, row)
        rate = scale_add_pair(scale_add_pair(rate, curve[k], w), slope[k], bracket_pair(s, w))
        s = scale_add_pair(s, slope[k], w)
        axes, p = turned_step(axes, p, data, row, phi[k])
    return axes, p, s, rate
