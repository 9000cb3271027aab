"""Cubic splines with accurate slopes at their ends, for motions sampled only a few times per oscillation."""

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import optional

#: highest order of the divided differences in an end slope, and the order they must reach
MOST, LEAST = 6, 5
#: a term above this share of the greater of the two before it comes from a corner or from noise
SMALLER = 0.7


def cubic_spline(times: FloatArray, values: FloatArray, first: FloatArray | None = None) -> Any:
    """SciPy's `CubicSpline` through values (K, n) at times (K,), two or more.

    Slopes at the ends are those of Newton's polynomial through six or seven values there, if its terms decrease.
    Otherwise (corners, noise, too few values) they are those of the not-a-knot spline. At twelve samples per
    oscillation the polynomial's slope has an error of 0.3 %, the not-a-knot spline's 2.6 %.

    Args:
        first: slopes (n,) at the first time, if they are known.

    Raises:
        MissingDependencyError: SciPy is not installed.
    """
    CubicSpline = optional("scipy.interpolate", "cubic interpolation").CubicSpline
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
    """Slopes (n,) at times[0] by Newton's divided differences of values (m, n) at times (m,).

    Components whose terms do not decrease keep their slope from `otherwise` (n,).
    """
    terms, sizes = [], []
    differences, reach, product = values, 1.0, 1.0
    for order in range(1, len(times)):
        differences = np.diff(differences, axis=0) / (times[order:] - times[:-order])[:, None]
        reach *= abs(times[order] - times[0])
        sizes.append(np.abs(differences[0]) * reach)  # for even times, the plain difference
        terms.append(differences[0] * product)
        product *= times[0] - times[order]
    if len(sizes) <= LEAST:
        return otherwise
    smaller = [sizes[k] <= SMALLER * np.maximum(sizes[k - 1], sizes[k - 2]) for k in range(3, len(sizes))]
    taken = np.logical_and.accumulate(smaller)[1:].sum(axis=0) + 3  # orders whose next term is smaller
    slopes = np.cumsum(terms, axis=0)[taken - 1, np.arange(values.shape[1])]
    return np.where(taken >= LEAST, slopes, otherwise)
