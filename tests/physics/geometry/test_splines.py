"""B-spline bases: partition of unity, derivatives, cumulative form, span polynomials, and knots of every kind."""

import numpy as np
import pytest

import physics as ph
from physics.geometry import splines

ORDERS = (2, 3, 4, 5, 6, 7)


def knots_of(kind, order, count=9):
    rng = np.random.default_rng(order)
    if kind == "clamped":
        return splines.clamped_knots(count, order, -1.0, 3.0)
    if kind == "uniform":
        return splines.uniform_knots(count, order, 2.0, 5.0)
    if kind == "averaged":
        return splines.averaged_knots(np.cumsum(rng.uniform(0.2, 1.5, count)), order)
    if kind == "periodic":
        return splines.unrolled_knots(splines.periodic_knots(count, order, 0.5, 6.0), order)
    if kind == "uneven":
        return np.cumsum(rng.uniform(0.1, 1.0, count + order))
    inner = np.sort(rng.uniform(0.0, 1.0, count - order))
    inner[1] = inner[0]  # a double knot: an empty span
    return np.concatenate([np.zeros(order), inner, np.ones(order)])


KINDS = ("clamped", "uniform", "averaged", "periodic", "uneven", "double")
all_knots = pytest.mark.parametrize(
    ("kind", "order"), [(kind, order) for kind in KINDS for order in ORDERS if kind != "double" or order < 7]
)


def inside(knots, order, samples=101):
    """Places over the whole domain, its ends among them."""
    return np.linspace(knots[order - 1], knots[len(knots) - order], samples)


def de_boor(knots, order, j, q):
    """The textbook's recursion for one basis function at one place."""
    if order == 1:
        return 1.0 if knots[j] <= q < knots[j + 1] else 0.0
    total = 0.0
    if knots[j + order - 1] > knots[j]:
        total += (q - knots[j]) / (knots[j + order - 1] - knots[j]) * de_boor(knots, order - 1, j, q)
    if knots[j + order] > knots[j + 1]:
        total += (
            (knots[j + order] - q) / (knots[j + order] - knots[j + 1]) * de_boor(knots, order - 1, j + 1, q)
        )
    return total


@all_knots
def test_basis_is_the_textbook_recursion(kind, order):
    knots = knots_of(kind, order)
    q = inside(knots, order, 23)[:-1]  # the recursion's half-open spans leave out the end
    expected = [[de_boor(knots, order, j, x) for j in range(len(knots) - order)] for x in q]
    np.testing.assert_allclose(splines.basis(knots, order, q), expected, atol=1e-14)


@all_knots
def test_basis_sums_to_one_and_is_not_negative(kind, order):
    knots = knots_of(kind, order)
    values = splines.basis(knots, order, inside(knots, order))
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-14)
    assert values.min() >= -1e-16


@all_knots
def test_cumulative_basis_runs_from_one_to_the_last_basis(kind, order):
    knots = knots_of(kind, order)
    q = inside(knots, order)
    cumulative, plain = splines.cumulative_basis(knots, order, q), splines.basis(knots, order, q)
    np.testing.assert_allclose(cumulative[:, 0], 1.0, atol=1e-14)
    np.testing.assert_allclose(-np.diff(cumulative, axis=1), plain[:, :-1], atol=1e-14)
    assert (np.diff(cumulative, axis=1) <= 1e-16).all()


@all_knots
def test_cumulative_derivative_is_one_basis_of_lower_order(kind, order):
    """Lee & Terzopoulos 2008, eq. 23."""
    knots = knots_of(kind, order)
    q = inside(knots, order)[:-1]  # lower orders have wider domains: at the end they look to the other side
    rates = splines.cumulative_basis(knots, order, q, derivative=1)
    lower = splines.basis(knots, order - 1, q)
    for j in range(1, len(knots) - order):
        width = knots[j + order - 1] - knots[j]
        expected = (order - 1) / width * lower[:, j] if width > 0.0 else 0.0 * q
        np.testing.assert_allclose(rates[:, j], expected, atol=1e-12 / np.diff(np.unique(knots)).min())


@all_knots
@pytest.mark.parametrize("derivative", [1, 2])
def test_derivatives_by_differences(kind, order, derivative):
    knots = knots_of(kind, order)
    breaks = np.unique(knots[order - 1 : len(knots) - order + 1])
    q = 0.5 * (breaks[1:] + breaks[:-1])
    h = 1e-3 * np.diff(breaks).min()
    ahead, behind = (splines.basis(knots, order, q + side, derivative - 1) for side in (h, -h))
    values = splines.basis(knots, order, q, derivative)
    # central differences: h^2 / 6 of the third derivative, about 1e-6 of the scale, and round-off 1e-16 / h
    scale = max(1.0, np.abs(values).max(), np.abs(ahead).max() / np.diff(breaks).min())
    np.testing.assert_allclose(values, (ahead - behind) / (2.0 * h), atol=1e-4 * scale)


@all_knots
def test_span_polynomials_are_the_cumulative_bases(kind, order):
    knots = knots_of(kind, order)
    count = len(knots) - order
    breaks, first, coefficients = splines.span_polynomials(knots, order, count)
    assert coefficients.shape == (len(breaks) - 1, order - 1, order)
    assert breaks[0] == knots[order - 1] and breaks[-1] == knots[count]
    x = np.linspace(0.0, 1.0, 9)[:-1]
    for span, base in enumerate(first):
        q = breaks[span] + x * (breaks[span + 1] - breaks[span])
        cumulative = splines.cumulative_basis(knots, order, q)
        values = np.array([[np.polyval(p[::-1], y) for p in coefficients[span]] for y in x])
        np.testing.assert_allclose(values, cumulative[:, base + 1 : base + order], atol=2e-14)
        np.testing.assert_allclose(cumulative[:, : base + 1], 1.0, atol=1e-14)
        np.testing.assert_allclose(cumulative[:, base + order :], 0.0, atol=1e-14)


@all_knots
def test_splines_reproduce_polynomials(kind, order):
    """Marsden: control values at the Greville abscissae make a straight line of any knots."""
    knots = knots_of(kind, order)
    q = inside(knots, order)
    line = splines.basis(knots, order, q) @ splines.greville(knots, order)
    np.testing.assert_allclose(line, q, atol=1e-13)


@pytest.mark.parametrize("order", ORDERS)
def test_clamped_spline_meets_its_end_values(order):
    knots = splines.clamped_knots(9, order, -1.0, 3.0)
    ends = splines.basis(knots, order, np.array([-1.0, 3.0]))
    np.testing.assert_allclose(ends, np.eye(9)[[0, -1]], atol=1e-15)


@pytest.mark.parametrize("order", ORDERS)
def test_averaged_knots_put_control_values_at_the_parameters(order):
    parameters = np.linspace(2.0, 5.0, 12)
    knots = splines.averaged_knots(parameters, order)
    middle = slice(order, 12 - order)
    np.testing.assert_allclose(splines.greville(knots, order)[middle], parameters[middle], atol=1e-14)
    assert knots[0] == 2.0 and knots[-1] == 5.0
    assert (np.diff(knots[order - 1 : 13]) > 0.0).all()


@pytest.mark.parametrize("order", ORDERS)
def test_unrolled_periodic_spline_repeats(order):
    count, period = 8, 6.0
    own = splines.periodic_knots(count, order, 0.5, period)
    knots = splines.unrolled_knots(own, order)
    assert len(own) == count + order and len(knots) == count + 2 * order - 1
    assert knots[order - 1] == pytest.approx(0.5) and knots[count + order - 1] == pytest.approx(0.5 + period)
    values = np.random.default_rng(0).normal(size=count)
    unrolled = values[np.arange(count + order - 1) % count]
    for derivative in range(order - 1):
        # just inside both ends: the spline is C^(k-2) across the seam
        ends = splines.basis(knots, order, np.array([0.5, 0.5 + period]), derivative) @ unrolled
        assert ends[0] == pytest.approx(ends[1], abs=1e-11)


def test_outside_the_domain_the_end_polynomials_go_on():
    knots = splines.clamped_knots(6, 4)
    line = splines.basis(knots, 4, np.array([-0.5, 1.5])) @ splines.greville(knots, 4)
    np.testing.assert_allclose(line, [-0.5, 1.5], atol=1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_beyond_an_open_end_values_and_derivatives_are_of_one_polynomial(order):
    knots = splines.uniform_knots(9, order)
    values = np.random.default_rng(order).normal(size=9)
    for q in (-0.1, 0.0, 1.0, 1.1):
        slope = splines.basis(knots, order, np.array([q]), 1) @ values
        # the polynomial of the end span, fitted to samples inside it
        start = 0.0 if q < 0.5 else 1.0 - 1.0 / (10 - order)
        inner = np.linspace(start, start + 1.0 / (10 - order), order)
        inner = 0.999 * inner + 0.001 * inner.mean()
        polynomial = np.polyfit(inner - q, splines.basis(knots, order, inner) @ values, order - 1)
        assert slope == pytest.approx(polynomial[-2], rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: splines.clamped_knots(5, 1), "order must be at least 2, got 1"),
        (lambda: splines.clamped_knots(3, 4), "needs 4 or more control values, got 3"),
        (lambda: splines.clamped_knots(5, 4, 1.0, 1.0), r"empty or reversed: \[1, 1\]"),
        (lambda: splines.uniform_knots(5, 4, 2.0, 1.0), r"empty or reversed: \[2, 1\]"),
        (lambda: splines.uniform_knots(5, 4, np.nan, 1.0), r"empty or reversed: \[nan, 1\]"),
        (lambda: splines.periodic_knots(5, 4, 0.0, -1.0), "period must be positive, got -1"),
        (lambda: splines.averaged_knots([0.0, 1.0], 4), "needs 4 or more control values, got 2"),
        (lambda: splines.span_polynomials(np.arange(9.0), 4, 6), "need 10 knots, got 9"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ph.ModelError, match=message):
        make()
