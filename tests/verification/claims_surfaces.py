"""Surface fits: in the metric of SE(3) against component by component, noisy poses of known surfaces; times."""

from time import perf_counter

import numpy as np

import physics as ph
from physics.geometry import lie

from . import surface_study
from .claim import Measurement, Plot, claim

SOURCE = "own, for Lee & Terzopoulos 2008, sec. 8 (future work)"
SPREADS = (20, 45, 70)
STUDY = (
    f"{surface_study.DATA_SETS} paired data sets of {surface_study.POSES} poses with isotropic noise of "
    f"{surface_study.NOISE:g} rad, middle Euler angle from -{{degrees}} to {{degrees}} degrees: p of a one-sided "
    "paired t test that the surface fitted in the metric is "
)
FARTHER = STUDY + "farther from the truth than the naive one"


def study_plot() -> Plot:
    """Differences from the naive fit with two standard errors on both sides, for every spread."""
    found = [surface_study.compare(degrees) for degrees in SPREADS]
    middle = np.array([1e3 * comparison.difference for comparison in found])
    errors = np.array([1e3 * comparison.standard_error for comparison in found])
    lines = {
        "mean": (SPREADS, middle),
        "- 2 standard errors": (SPREADS, middle - 2.0 * errors),
        "+ 2 standard errors": (SPREADS, middle + 2.0 * errors),
    }
    title = "Distance from the truth, in the metric minus component by component"
    return Plot("surface_study", title, "spread of the middle angle [degree]", "difference [mrad]", lines)


@claim("surfaces.study_70_not_worse", FARTHER, source=SOURCE, at_least=0.05, degrees=70)
@claim("surfaces.study_45_not_worse", FARTHER, source=SOURCE, at_least=0.05, degrees=45)
@claim("surfaces.study_20_not_worse", FARTHER, source=SOURCE, at_least=0.05, degrees=20)
def not_worse(degrees: int) -> Measurement:
    """p of the hypothesis that the fit in the metric is no farther from the truth."""
    comparison = surface_study.compare(degrees)
    return Measurement(comparison.worse, comparison.details())


CLOSER = STUDY + "closer to the truth than the naive one"


@claim("surfaces.study_70_better", CLOSER, source=SOURCE, at_most=0.01, degrees=70)
def better(degrees: int) -> Measurement:
    comparison = surface_study.compare(degrees)
    return Measurement(comparison.better, comparison.details(), (study_plot(),))


@claim("surfaces.study_70_difference", unit="rad", source=SOURCE, at_most=0.0)
def study_70_difference() -> Measurement:
    """The same data sets of 70 degrees: distance from the truth, mean of fit in the metric minus naive fit, plus two
    standard errors.
    """
    comparison = surface_study.compare(70)
    return Measurement(comparison.difference + 2.0 * comparison.standard_error, comparison.details())


@claim("surfaces.places_found", unit="rad", source=SOURCE, at_most=0.01)
def places_found() -> Measurement:
    """400 poses of a surface more than 2 rad wide and long, coordinates not given: largest distance from the fit."""
    rng = np.random.default_rng(0)
    truth = surface_study.true_surface(rng, np.radians(45.0), bump=0.03)
    poses = truth.transform(rng.uniform(size=(400, 2)))
    fit = ph.fit_surface(poses, num_frames=8, length_scale=surface_study.LENGTH)
    return Measurement(float(fit.residuals.distance.max()), {"extent [rad]": fit.joint.domain[:, 1].tolist()})


@claim("surfaces.fit_seconds", unit="s", at_most=1.5)
def fit_seconds() -> Measurement:
    """Fit of 10 x 10 control values to 3000 noisy poses with given coordinates."""
    rng = np.random.default_rng(1)
    q = rng.uniform(size=(3000, 2))
    truth = surface_study.true_surface(rng, np.radians(45.0))
    poses = truth.transform(q) @ lie.exp(0.03 * rng.normal(size=(3000, 6)))
    ph.fit_surface(poses[:100], q[:100], 4)
    began = perf_counter()
    fit = ph.fit_surface(poses, q, 10)
    return Measurement(perf_counter() - began, {"iterations": fit.iterations, "converged": fit.converged})
