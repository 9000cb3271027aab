"""The knot span of a parameter: found at once where knots are even, and right wherever they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.joints.curve_packing import bucket_table, kernel_breaks
from physics.kernels import layout
from physics.kernels.joints.factors import find_span

EPS = np.finfo(float).eps


def packed(breaks):
    """Header, buckets and breaks of a spline, as the kernels have them."""
    buckets, table = bucket_table(breaks)
    header = np.zeros(layout.SPLINE_HEADER)
    header[layout.SPLINE_LOWER], header[layout.SPLINE_UPPER] = breaks[0], breaks[-1]
    header[layout.SPLINE_SPANS], header[layout.SPLINE_BUCKETS] = len(breaks) - 1, buckets
    header[layout.SPLINE_BUCKET_SCALE] = buckets / (breaks[-1] - breaks[0])
    return np.concatenate([header, table, kernel_breaks(breaks)])


def check(breaks, q):
    data = packed(breaks)
    span, x, scale, first = find_span(data, 0, q)
    # sums and products of these numbers are off by a few units in the last place of the largest
    slack = 40.0 * EPS * (abs(breaks[0]) + abs(breaks[-1]) + breaks[-1] - breaks[0])
    assert breaks[span] - slack <= q <= breaks[span + 1] + slack
    assert scale == 1.0 / (breaks[span + 1] - breaks[span]) and x == (q - breaks[span]) * scale
    assert first == len(data)


widths = st.lists(st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 1.0, 7.0]), min_size=1, max_size=30)


@settings(deadline=None)  # the machine may be busy
@given(widths, st.sampled_from([0.0, -3.0, 1e3, -1e-3]), st.floats(0.0, 1.0))
def test_every_parameter_lies_in_its_span(widths, start, share):
    breaks = start + np.concatenate([[0.0], np.cumsum(widths)])
    check(breaks, min(breaks[0] + share * (breaks[-1] - breaks[0]), breaks[-1]))
    for knot in breaks:
        for q in (knot, np.nextafter(knot, -np.inf), np.nextafter(knot, np.inf)):
            check(breaks, float(np.clip(q, breaks[0], breaks[-1])))


@pytest.mark.parametrize("spans", [1, 2, 3, 7, 10, 1000])
def test_buckets_of_even_knots_hold_no_knot(spans):
    _, table = bucket_table(np.linspace(-0.3, 2.1, spans + 1))
    assert (table == np.repeat(np.arange(spans), 2)).all()
