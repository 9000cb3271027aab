"""B-spline bases of any order k >= 2 on given knots: plain, cumulative, and as polynomials of each knot span.

m control values of order k have m + k knots t_0 <= ... <= t_{m+k-1} and the domain [t_{k-1}, t_m]. A periodic spline is
evaluated unrolled: its first k - 1 control values and its knots repeat after one period.
"""

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError


def _check(num_control: int, order: int) -> None:
    if order < 2:
        raise ModelError(f"spline order must be at least 2, got {order}")
    if num_control < order:
        raise ModelError(f"a spline of order {order} needs {order} or more control values, got {num_control}")


def clamped_knots(num_control: int, order: int, start: float = 0.0, end: float = 1.0) -> FloatArray:
    """Knots (m + k,), even in [start, end] with k-fold ends: the spline begins and ends at its outer values."""
    _check(num_control, order)
    if not end > start:
        raise ModelError(f"spline range is empty or reversed: [{start:g}, {end:g}]")
    inner = np.linspace(start, end, num_control - order + 2)
    return np.concatenate([np.full(order - 1, start), inner, np.full(order - 1, end)])


def uniform_knots(num_control: int, order: int, start: float = 0.0, end: float = 1.0) -> FloatArray:
    """Even knots (m + k,) whose domain is [start, end]."""
    _check(num_control, order)
    if not end > start:
        raise ModelError(f"spline range is empty or reversed: [{start:g}, {end:g}]")
    step = (end - start) / (num_control - order + 1)
    return start + step * (np.arange(num_control + order) - (order - 1))


def periodic_knots(num_control: int, order: int, start: float = 0.0, period: float = 1.0) -> FloatArray:
    """Even knots (m + k,) of a closed spline with m control values a period; the domain begins at start."""
    _check(num_control, order)
    if not period > 0.0:
        raise ModelError(f"spline period must be positive, got {period:g}")
    return start + period / num_control * (np.arange(num_control + order) - (order - 1))


def unrolled_knots(knots: Any, order: int) -> FloatArray:
    """Knots (m + 2 k - 1,) of a closed spline with its first k - 1 control values repeated, from its own (m + k,)."""
    knots = np.asarray(knots, dtype=np.float64)
    count = len(knots) - order
    return np.concatenate([knots, knots[order : 2 * order - 1] + (knots[count] - knots[0])])


def averaged_knots(parameters: Any, order: int) -> FloatArray:
    """Clamped knots (m + k,) for control values placed at increasing parameters (m,).

    De Boor's rule: each inner knot is the mean of k - 1 neighbouring parameters; Greville abscissae follow them.
    """
    parameters = np.asarray(parameters, dtype=np.float64)
    count = len(parameters)
    _check(count, order)
    sums = np.concatenate([[0.0], np.cumsum(parameters)])
    inner = (sums[order:count] - sums[1 : count - order + 1]) / (order - 1)
    return np.concatenate([np.full(order, parameters[0]), inner, np.full(order, parameters[-1])])


def check_knots(knots: FloatArray, order: int, periodic: bool, name: str, most: int = 1) -> FloatArray:
    """Return the knots (m + k,), which must not decrease; inside the range none stands more than `most` times.

    Those of a periodic curve must repeat with its period.

    Raises:
        ModelError: they do not; the message begins with the name and contains the values.
    """
    steps = np.diff(knots)
    if (steps < 0.0).any():
        j = int(np.argmax(steps < 0.0))
        raise ModelError(f"{name} must not decrease, got {knots[j]:g} before {knots[j + 1]:g}")
    # a closed curve's range ends with its last knot, one period after the first of the range
    inner = knots[order - 1 : len(knots) if periodic else len(knots) - order + 1]
    if not inner[-1] > inner[0]:
        raise ModelError(f"{name} have an empty range: [{inner[0]:g}, {inner[-1]:g}]")
    values, counts = np.unique(inner, return_counts=True)
    if (counts > most).any():
        often = " twice" if most == 1 else f" more than {most} times"
        raise ModelError(f"{name} inside the range must increase, got {values[counts > most][0]:g}{often}")
    periods = knots[len(knots) - order :] - knots[:order]
    if periodic and float(np.ptp(periods)) > 1e-9 * float(abs(periods).max()):
        raise ModelError(f"{name} of a periodic curve must repeat, got periods {periods.tolist()}")
    return knots


def greville(knots: Any, order: int) -> FloatArray:
    """Greville abscissae (m,), the means of k - 1 knots: the parameter at which each control value acts."""
    knots = np.asarray(knots, dtype=np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(knots[1:-1], order - 1)
    return windows.mean(axis=-1)


def span_index(knots: FloatArray, order: int, q: FloatArray) -> IntArray:
    """Index j of the span [t_j, t_{j+1}) of each q (n,); the domain's end belongs to its last span."""
    last = len(knots) - order
    j = np.searchsorted(knots, q, side="right") - 1
    top = int(np.searchsorted(knots, knots[last], side="left")) - 1
    return np.clip(j, order - 1, top).astype(np.int64)


def basis(knots: Any, order: int, q: Any, derivative: int = 0) -> FloatArray:
    """Values (n, m) of the B-splines at q (n,), or of one of their derivatives (de Boor's recursion).

    Outside the domain the polynomials of the first and the last span are extrapolated.
    """
    knots, q = np.asarray(knots, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return _basis_in_spans(knots, order, q, span_index(knots, order, q), derivative)


def _basis_in_spans(
    knots: FloatArray, order: int, q: FloatArray, spans: IntArray, derivative: int
) -> FloatArray:
    """The polynomials of the given spans (n,), so that values and derivatives agree at and beyond the ends."""
    count = len(knots) - order
    if derivative > 0:
        if order == 1:
            return np.zeros((len(q), count))
        lower = _basis_in_spans(knots, order - 1, q, spans, derivative - 1)
        scaled = (order - 1) * _over_width(lower, knots[order - 1 :] - knots[: count + 1])
        return scaled[:, :-1] - scaled[:, 1:]
    values = np.zeros((len(q), len(knots) - 1))
    values[np.arange(len(q)), spans] = 1.0
    for k in range(2, order + 1):
        width = knots[k - 1 :] - knots[: len(knots) - k + 1]
        up = _over_width(q[:, None] - knots[: len(width)], width)
        values = up[:, :-1] * values[:, :-1] + np.where(width[1:] > 0.0, 1.0 - up[:, 1:], 0.0) * values[:, 1:]
    return values


def _over_width(values: FloatArray, width: FloatArray) -> FloatArray:
    """Values (n, i) divided by the widths (i,) of supports; 0 where a support is empty."""
    return np.divide(values, width, out=np.zeros(values.shape), where=width > 0.0)


def cumulative_basis(knots: Any, order: int, q: Any, derivative: int = 0) -> FloatArray:
    """Cumulative bases B~_j = sum_{l >= j} B_l (n, m), or their derivatives (Lee & Terzopoulos 2008, eq. 22)."""
    return np.cumsum(basis(knots, order, q, derivative)[:, ::-1], axis=1)[:, ::-1]


def span_polynomials(knots: Any, order: int, num_control: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """The k - 1 cumulative bases that vary in each non-empty span of the domain, as polynomials.

    Returns:
        breaks (s + 1,): ends of the spans; first (s,): index j - k + 1 of each span's base control frame;
        coefficients (s, k - 1, k): of B~_{j-k+2}, ..., B~_j by rising powers of x = (q - left) / (right - left).
    """
    knots = np.asarray(knots, dtype=np.float64)
    _check(num_control, order)
    if len(knots) != num_control + order:
        raise ModelError(
            f"{num_control} control values of order {order} need {num_control + order} knots, got {len(knots)}"
        )
    spans = np.nonzero(np.diff(knots[order - 1 : num_control + 1]) > 0.0)[0] + order - 1
    left, width = knots[spans], knots[spans + 1] - knots[spans]
    # de Boor's recursion on coefficients: pieces[:, i] is B_{j-k'+1+i} of order k' in the span
    pieces = np.zeros((len(spans), 1, order))
    pieces[:, 0, 0] = 1.0
    for k in range(2, order + 1):
        raised = np.zeros((len(spans), k, order))
        for i in range(k - 1):
            lower, upper = knots[spans - k + 2 + i], knots[spans + 1 + i]
            share = pieces[:, i] / (upper - lower)[:, None]
            shifted = np.zeros_like(share)
            shifted[:, 1:] = share[:, :-1] * width[:, None]
            rising = (left - lower)[:, None] * share + shifted  # (q - lower) share
            raised[:, i + 1] += rising
            raised[:, i] += (upper - left)[:, None] * share - shifted  # (upper - q) share
        pieces = raised
    cumulative = np.cumsum(pieces[:, ::-1], axis=1)[:, ::-1]
    breaks = np.append(left, knots[num_control])
    return breaks, (spans - order + 1).astype(np.int64), np.ascontiguousarray(cumulative[:, 1:])
