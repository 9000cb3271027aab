"""Fast path for a single cubic spline curve, in frames whose z axes are the axes of its twists, on `lanes` (Lee &
Terzopoulos 2008, eqs. 21-24; `layout` describes the data).
"""

import math

from .. import layout as at
from ..algebra.access import flat3, flat9
from ..algebra.lanes import (
    Columns,
    Lanes,
    Pair,
    add_columns_times,
    bracket_pair,
    columns_product,
    columns_times,
    flat_lanes,
    lanes_of,
    numbers_of,
    scale_add_lanes,
    scale_add_pair,
    scale_lanes,
    scale_pair,
    screwed_pair,
    series_lanes,
    store_lanes,
    times_lanes,
    turned_columns,
)
from ..algebra.spatial import SINC, SMALL_ANGLE, VERSINC, sine_cosine
from ..algebra.vectors import Array
from ..compiler.jit import inline
from .factors import find_span

# columns of intermediate results of a curve, in its body's row
PHI, SLOPE, CURVE, SINE, COSINE, ALONG, ASIDE, SPAN = range(at.COLUMNS, at.COLUMNS + 32, 4)


@inline
def plain_cubic(data: Array, offset: int, q: float) -> bool:
    """Whether q lies on a spline curve that `cubic_motion` supports."""
    inside: bool = data[offset + at.SPLINE_LOWER] <= q <= data[offset + at.SPLINE_UPPER]
    return inside and data[offset + at.SPLINE_TURNED] != 0.0


@inline
def cubics(data: Array, offset: int, x: float, scale: float) -> Columns:
    """Values, first and second derivatives of three cubic polynomials, by Horner's scheme."""
    top, b = flat_lanes(data, offset + 12), flat_lanes(data, offset + 8)
    a = scale_add_lanes(b, x, top)
    b = scale_add_lanes(a, x, top)
    value = scale_add_lanes(flat_lanes(data, offset + 4), x, a)
    slope = scale_lanes(scale, scale_add_lanes(value, x, b))
    curve = scale_lanes(2.0 * scale * scale, scale_add_lanes(b, x, top))
    phi = scale_add_lanes(flat_lanes(data, offset), x, value)
    return phi, slope, curve


@inline
def turns_by(rates: Lanes, phi: Lanes) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """For three factors exp(g phi) with g = (0, 0, rate, v): sine and cosine of the angle, and the factors of v along
    and across the axis in the translation.

    As in `exp_twist`, with the axis n along z.
    """
    angle = times_lanes(rates, phi)
    square = times_lanes(angle, angle)
    sinc, versinc = series_lanes(square, SINC), series_lanes(square, VERSINC)
    sine, along = times_lanes(angle, sinc), times_lanes(phi, sinc)
    cosine = scale_add_lanes(lanes_of((1.0, 1.0, 1.0)), -1.0, times_lanes(square, versinc))
    aside = times_lanes(times_lanes(angle, phi), versinc)
    a, r = numbers_of(angle), numbers_of(rates)
    if max(abs(a[0]), abs(a[1]), abs(a[2])) < SMALL_ANGLE:
        return sine, cosine, along, aside
    s, c, f, g = numbers_of(sine), numbers_of(cosine), numbers_of(along), numbers_of(aside)
    x = large_turn(a[0], r[0], (s[0], c[0], f[0], g[0]))
    y = large_turn(a[1], r[1], (s[1], c[1], f[1], g[1]))
    z = large_turn(a[2], r[2], (s[2], c[2], f[2], g[2]))
    return (
        lanes_of((x[0], y[0], z[0])),
        lanes_of((x[1], y[1], z[1])),
        lanes_of((x[2], y[2], z[2])),
        lanes_of((x[3], y[3], z[3])),
    )


@inline
def large_turn(
    angle: float, rate: float, small: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """`turns_by` of one factor; takes the series' results if the angle is small."""
    if abs(angle) < SMALL_ANGLE:
        return small
    sine, cosine = sine_cosine(angle)
    half = math.sin(0.5 * angle)
    return sine, cosine, sine / rate, 2.0 * half * half / rate


@inline
def prepare_cubic(data: Array, offset: int, q: float, work: Array, i: int) -> None:
    """The part of `cubic_motion` that needs no axes, stored in body i's row where its inertia is stored later. It is
    done for all bodies together, so that their latencies overlap.
    """
    span, x, scale, _ = find_span(data, offset, q)
    row = offset + int(data[offset + at.SPLINE_TURNED]) + span * at.TURNED_WIDTH
    phi, slope, curve = cubics(data, row + at.TURNED_POLYNOMIALS, x, scale)
    sine, cosine, along, aside = turns_by(flat_lanes(data, row + at.TURNED_RATES), phi)
    store_lanes(work, i, PHI, phi)
    store_lanes(work, i, SLOPE, slope)
    store_lanes(work, i, CURVE, curve)
    store_lanes(work, i, SINE, sine)
    store_lanes(work, i, COSINE, cosine)
    store_lanes(work, i, ALONG, along)
    store_lanes(work, i, ASIDE, aside)
    work[i, SPAN] = row


@inline
def turned_twist(axes: Columns, p: Lanes, rate: float, data: Array, offset: int) -> Pair:
    """A twist g = (0, 0, rate, v) in the axes of the pose."""
    return screwed_pair(scale_lanes(rate, axes[2]), columns_times(axes, flat3(data, offset)), p)


@inline
def turned_step(
    axes: Columns, p: Lanes, data: Array, offset: int, k: int, work: Array, i: int
) -> tuple[Columns, Lanes]:
    """The pose after the k-th factor exp(g phi), g = (0, 0, rate, v), and the constant rotation that follows it."""
    along, aside, v = work[i, ALONG + k], work[i, ASIDE + k], flat3(data, offset)
    step = (along * v[0] - aside * v[1], along * v[1] + aside * v[0], work[i, PHI + k] * v[2])
    p = add_columns_times(p, axes, step)
    axes = turned_columns(axes, work[i, SINE + k], work[i, COSINE + k])
    return columns_product(axes, flat9(data, offset + 3)), p


@inline
def cubic_motion(data: Array, work: Array, i: int) -> tuple[Columns, Lanes, Pair, Pair]:
    """`factors.spline_factors` on the spans of a cubic curve, in the curve's own axes: the pose, its twist per unit of
    q', and the derivative of that by q; after `prepare_cubic`.
    """
    row = int(work[i, SPAN])
    axes = flat_lanes(data, row), flat_lanes(data, row + 4), flat_lanes(data, row + 8)
    p, w = flat_lanes(data, row + 12), (flat_lanes(data, row + 16), flat_lanes(data, row + 20))
    rates = flat3(data, row + at.TURNED_RATES)
    row += at.TURNED_FIRST
    s, rate = scale_pair(work[i, SLOPE], w), scale_pair(work[i, CURVE], w)
    axes, p = turned_step(axes, p, data, row, 0, work, i)
    for k in range(1, 3):
        row += at.TURNED_TWIST
        w, slope = turned_twist(axes, p, rates[k], data, row), work[i, SLOPE + k]
        rate = scale_add_pair(scale_add_pair(rate, work[i, CURVE + k], w), slope, bracket_pair(s, w))
        s = scale_add_pair(s, slope, w)
        axes, p = turned_step(axes, p, data, row, k, work, i)
    return axes, p, s, rate
