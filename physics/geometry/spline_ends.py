"""Cubic splines whose ends are as good as what lies between, for motions that were sampled a few times a swing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import MissingDependencyError

#: order of the highest difference that has a part in the slope at an end, and of the one that it takes at the least
MOST, LEAST = 6, 5
#: a difference that is no smaller than this share of the greater of the two before is one of a corner, or of noise
SMALLER = 0.7


def cubic_spline(times: FloatArray, values: FloatArray, first: FloatArray | None = None) -> Any:
    """SciPy's `CubicSpline` through values (K, n) at times (K,), two or more.

    Slopes at the ends are those of Newton's polynomial through seven values there, or six, where its terms become
    smaller and smaller, and the one behind these, too. Where corners or noise make them grow, or there are too few
    values to tell, they are those of the spline that has one cubic for two stretches at an end (not-a-knot): at twelve
    samples a swing that is 2.6 % off, and the polynomial 0.3 %.

    Args:
        first: slopes (n,) at the first time, where they are known.

    Raises:
        MissingDependencyError: SciPy is not installed.
    """
    try:
        from scipy.interpolate import CubicSpline
    except ImportError as error:
        raise MissingDependencyError(
            "cubics through given values need SciPy, which is not installed"
        ) from error
    spline = CubicSpline(times, values)
    before = spline(times[[0, -1]], 1)
    slopes = before.copy()
    for row, side in ((0, 1), (-1, -1)):
        slopes[row] = _end_slopes(times[::side][: MOST + 2], values[::side][: MOST + 2], before[row])
    if first is not None:
        slopes[0] = first
    if np.array_equal(slopes, before):
        return spline
    return CubicSpline(times, values, bc_type=((1, slopes[0]), (1, slopes[1])))


def _end_slopes(times: FloatArray, values: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Slopes (n,) at the first of some times (m,), by Newton's divided differences of values (m, n) there; those that
    they are otherwise, where these do not become smaller.
    """
    terms, sizes = [], []
    differences, reach, product = values, 1.0, 1.0
    for order in range(1, len(times)):
        differences = np.diff(differences, axis=0) / (times[order:] - times[:-order])[:, None]
        reach *= abs(times[order] - times[0])
        sizes.append(np.abs(differences[0]) * reach)  # of even times the very difference
        terms.append(differences[0] * product)
        product *= times[0] - times[order]
    if len(sizes) <= LEAST:
        return otherwise
    smaller = [sizes[k] <= SMALLER * np.maximum(sizes[k - 1], sizes[k - 2]) for k in range(3, len(sizes))]
    taken = (
        np.logical_and.accumulate(smaller)[1:].sum(axis=0) + 3
    )  # orders, each with a smaller one behind it
    slopes = np.cumsum(terms, axis=0)[taken - 1, np.arange(values.shape[1])]
    return np.where(taken >= LEAST, slopes, otherwise)
