"""Smoothing splines of sampled signals, with their derivatives (Woltring 1985)."""

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import bounded, rising

DEGREES = (3, 5, 7)
REFINEMENTS = 5
LATEST = 1e40  # s: the powers of a step up to the largest degree stay finite


def check_times(times: Any, least: int) -> FloatArray:
    """The times (T,) of samples; ModelError if they do not increase or are too few."""
    return bounded(rising(times, "times of the samples", least), "times of the samples", LATEST)


def _mean_step(times: FloatArray) -> float:
    return float(times[-1] - times[0]) / (len(times) - 1)


def weight_of_cutoff(times: FloatArray, cutoff: float, degree: int) -> float:
    """Roughness weight for which a signal of this frequency [Hz] loses 3 dB.

    A smoothing spline of degree 2 m - 1 is a Butterworth filter of order m run forward and back, with the response 1 /
    (1 + weight dt w^(2 m)) (Woltring 1985); -3 dB is 1 / sqrt(2).
    """
    return float((np.sqrt(2.0) - 1.0) / (_mean_step(times) * (2.0 * np.pi * cutoff) ** (degree + 1)))


def spline_derivatives(times: FloatArray, values: FloatArray, degree: int, weight: float) -> FloatArray:
    """Value, first and second derivative (3, T, k) of the smoothing spline of samples (T, k), at their times.

    Of the splines with a knot at each sample it minimizes the sum of squared distances from the samples + weight * the
    integral of the squared derivative m = (degree + 1) / 2. At weight 0 it interpolates them (not-a-knot).
    """
    from scipy.interpolate import BSpline, make_interp_spline

    step = _mean_step(times)
    x = (times - times[0]) / step  # unit spacing: high derivatives neither overflow nor underflow
    if weight > 0.0:
        knots, coefficients = _smoothed(x, values, degree, weight / step**degree)
        spline = BSpline(knots, coefficients, degree)
    else:
        try:
            spline = make_interp_spline(x, values, k=degree)
        except np.linalg.LinAlgError as error:
            raise ModelError("times of the samples are spaced too unevenly for a spline") from error
    return np.stack([spline(x, nu=k) / step**k for k in range(3)])


def _smoothed(x: FloatArray, values: FloatArray, degree: int, weight: float) -> tuple[FloatArray, FloatArray]:
    """Knots and coefficients of the smoothing spline.

    The banded normal equations B^T B + weight D^T D lose digits as the weight grows. Iterative refinement with the
    residual B^T (y - B c) - weight D^T (D c) restores them.
    """
    from scipy.interpolate import BSpline
    from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

    knots = np.concatenate([np.full(degree, x[0]), x, np.full(degree, x[-1])])
    basis = BSpline.design_matrix(x, knots, degree)
    rough = _roughness(knots, degree) * np.sqrt(weight)
    matrix = (basis.T @ basis + rough.T @ rough).tocsr()
    size = matrix.shape[0]
    bands = np.zeros((degree + 1, size))
    for k in range(degree + 1):
        bands[k, : size - k] = matrix.diagonal(-k)
    try:
        factor = cholesky_banded(bands, lower=True)
    except (LinAlgError, ValueError) as error:  # an overflow
        raise ModelError(
            f"the cutoff is too low for the spacing of the samples (roughness weight {weight:g}): raise it"
        ) from error
    coefficients = np.zeros((size, values.shape[1]))
    for _ in range(1 + REFINEMENTS):
        residual = basis.T @ (values - basis @ coefficients) - rough.T @ (rough @ coefficients)
        if not np.isfinite(residual).all():
            raise ModelError(f"values of up to {np.abs(values).max():g} are too large to smooth")
        coefficients = coefficients + cho_solve_banded((factor, True), residual)
    return knots, coefficients


def _roughness(knots: FloatArray, degree: int) -> Any:
    """Sparse D: |D c|^2 is the integral of the spline's squared derivative (degree + 1) / 2, c its coefficients."""
    from scipy.interpolate import BSpline
    from scipy.sparse import diags
    from scipy.special import roots_legendre

    order = (degree + 1) // 2
    size = len(knots) - degree - 1
    chain = diags(np.ones(size))
    inner, k = knots, degree
    for _ in range(order):  # c'_i = k (c_{i+1} - c_i) / (t_{i+k+1} - t_{i+1})
        count = len(inner) - k - 1
        slope = k / (inner[k + 1 : k + count] - inner[1:count])
        chain = diags([-slope, slope], [0, 1], shape=(count - 1, count)) @ chain
        inner, k = inner[1:-1], k - 1
    breaks = np.unique(knots)
    points, weights = roots_legendre(k + 1)  # exact for the square of degree k
    half = 0.5 * np.diff(breaks)[:, None]
    places = (0.5 * (breaks[:-1] + breaks[1:])[:, None] + half * points).ravel()
    return diags(np.sqrt((half * weights).ravel())) @ BSpline.design_matrix(places, inner, k) @ chain
