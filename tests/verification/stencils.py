"""Finite differences of high order, on stencils that never cross a discontinuity of the function."""

from collections.abc import Callable

import numpy as np

from physics._typing import FloatArray

POINTS = 9  # nine points differentiate polynomials of degree 8 exactly


def first_derivative_weights(offsets: FloatArray) -> FloatArray:
    """Weights w with sum(w f(x + offset)) = f'(x) for polynomials up to degree len(offsets) - 1.

    Barycentric form of the derivative of Lagrange's polynomials at 0, which is one of the offsets.
    """
    here = int(np.argmin(np.abs(offsets)))
    gaps = offsets[:, None] - offsets[None, :]
    np.fill_diagonal(gaps, 1.0)
    barycentric = 1.0 / np.prod(gaps, axis=1)
    weights = np.zeros_like(offsets)
    others = np.arange(len(offsets)) != here
    weights[others] = barycentric[others] / barycentric[here] / (offsets[here] - offsets[others])
    weights[here] = -np.sum(weights[others])
    return weights


def stencil(x: float, lower: float, upper: float, step: float) -> FloatArray:
    """Offsets of equally spaced points around x, shifted and narrowed to stay in [lower, upper].

    Args:
        x: a point of [lower, upper].
        lower, upper: where the function is smooth (infinite if everywhere).
        step: distance of the points if the interval is wide enough.
    """
    width = min(step * (POINTS - 1), upper - lower)
    distance = width / (POINTS - 1)
    room_below = np.floor((x - lower) / distance + 1e-9) if np.isfinite(lower) else np.inf
    room_above = np.floor((upper - x) / distance + 1e-9) if np.isfinite(upper) else np.inf
    if room_below + room_above < POINTS - 1:  # x lies between two points of a stencil as wide as the span
        distance *= (POINTS - 1) / POINTS
        room_below = np.floor((x - lower) / distance + 1e-9)
        room_above = np.floor((upper - x) / distance + 1e-9)
    below = int(np.clip(POINTS // 2, (POINTS - 1) - room_above, room_below))
    return distance * (np.arange(POINTS) - below)


def differentiate(
    function: Callable[[float], FloatArray], x: float, lower: float, upper: float, step: float
) -> FloatArray:
    """df/dx of an array-valued function that is smooth on [lower, upper]."""
    offsets = stencil(x, lower, upper, step)
    values = np.array([function(x + offset) for offset in offsets])
    # Differences to the value at x limit the round-off of the large weights of a one-sided stencil.
    values = values - values[int(np.argmin(np.abs(offsets)))]
    return np.tensordot(first_derivative_weights(offsets), values, axes=1)
