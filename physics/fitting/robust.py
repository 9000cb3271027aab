"""Robust weights: iteratively reweighted least squares against outliers (Huber 1981; Beaton & Tukey 1974)."""

from collections.abc import Callable

import numpy as np

from .._typing import FloatArray
from .rounds import STEPS_A_ROUND, Curve, Fitter

# The distance of a pose without outliers, divided by the noise of one of its six components, follows the chi
# distribution with six degrees of freedom. Its median, and the tunings for 95 % efficiency of the mean of normal data
# (by quadrature of that density).
MEDIAN = 2.3126
HUBER = 1.869
TUKEY = 6.356
# poses of smaller weights have no influence on parameters
ASIDE = 0.5
ROUND_OFF = 1e-12


def huber(distance: FloatArray) -> FloatArray:
    """Weight of a distance in units of the noise: 1 up to `HUBER`, then falling like its inverse."""
    return np.asarray(HUBER / np.maximum(distance, HUBER), dtype=np.float64)


def tukey(distance: FloatArray) -> FloatArray:
    """Weight of a distance in units of the noise: Tukey's biweight, 0 beyond `TUKEY`."""
    return np.square(np.maximum(0.0, 1.0 - np.square(distance / TUKEY)))


LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {"huber": huber, "tukey": tukey}


def noise(distances: FloatArray, num_frames: int) -> float:
    """Standard deviation of one residual component, from the median of the poses' distances.

    A fit of m control frames to N poses is closer to the poses than the true curve, by sqrt((N - m) / N).
    """
    count = len(distances)
    share = max(count - num_frames, 1) / count
    return float(np.median(distances)) / MEDIAN / float(np.sqrt(share))


def reweighted(
    fitter: Fitter,
    q: FloatArray,
    knots: FloatArray,
    frames: FloatArray,
    loss: str,
    scale: float | None,
    free: bool,
) -> tuple[Curve, FloatArray]:
    """The curve that fits with robust weights, and these weights (N,).

    It begins with Huber's weights, whose objective is easier, and fixed parameters. If `free`, parameters and knots
    then follow the poses with enough weight. Finally parameters, knots and noise are fixed until the weights converge.
    """
    given = np.ones(len(fitter.targets)) if fitter.weights is None else fitter.weights
    asked = given > 0.0
    asked[fitter.pinned] = False
    factors, sigma = np.ones(len(given)), 0.0
    curve = fitter.solve(q, knots, frames, fitter.max_iterations, 0)
    end = fitter.begun + fitter.share
    for stage, (name, most, settled) in enumerate((("huber", 20, 1e-2), (loss, 10, 1e-2), (loss, 100, 1e-6))):
        for _ in range(most):
            fitter.begun, fitter.share = 0.5 * (fitter.begun + end), 0.5 * (end - fitter.begun)
            distances = np.sqrt(given) * fitter.metric.norm(curve.objective.residuals(curve.frames))
            if stage < 2:
                sigma = scale or noise(distances[asked], len(curve.frames))
            if not sigma > ROUND_OFF:
                break
            before, factors = factors, np.ones(len(given))
            factors[asked] = LOSSES[name](distances[asked] / sigma)
            fitter.weights = given * factors
            fitter.aside = factors < ASIDE
            if stage == 1 and free:
                curve = fitter.run(curve.q, curve.knots, curve.frames, True)
            else:
                curve = fitter.solve(curve.q, curve.knots, curve.frames, STEPS_A_ROUND, 0)
            if np.abs(factors - before).max() < settled:
                break
    if not curve.converged:
        curve = fitter.solve(curve.q, curve.knots, curve.frames, fitter.max_iterations, 0)
    fitter.weights, fitter.aside = given, None
    return curve, factors
