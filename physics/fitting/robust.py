"""Robust weights: iteratively reweighted least squares against outliers (Huber 1981; Beaton & Tukey 1974)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import FloatArray
from .rounds import STEPS_A_ROUND, Curve, Fitter

# A good pose's distance, divided by the noise of one of its six components, follows the chi distribution with six
# degrees of freedom. Its median; and the tunings at which a mean of six-dimensional normal data keeps 95 % of its
# efficiency (by quadrature of that density).
MEDIAN = 2.3126
HUBER = 1.869
TUKEY = 6.356
# poses of smaller weights are put aside: they do not say where the curve runs
ASIDE = 0.5
ROUND_OFF = 1e-12


def huber(distance: FloatArray) -> FloatArray:
    """Weight of a distance in units of the noise: 1 up to `HUBER`, then falling like its inverse."""
    return np.asarray(HUBER / np.maximum(distance, HUBER), dtype=np.float64)


def tukey(distance: FloatArray) -> FloatArray:
    """Weight of a distance in units of the noise: Tukey's biweight, 0 beyond `TUKEY`."""
    result: FloatArray = np.square(np.maximum(0.0, 1.0 - np.square(distance / TUKEY)))
    return result


LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {"huber": huber, "tukey": tukey}


def noise(distances: FloatArray, num_frames: int) -> float:
    """Standard deviation of one residual component from the poses' distances, whatever a minority of them does.

    A fit with m of N frames comes closer to its data than the truth does, by sqrt((N - m) / N).
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

    Huber's weights first, whose objective is the easier one, with the parameters held still; then parameters and
    knots follow the poses that are left, where they may; then they and the noise rest until the weights converge.
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
