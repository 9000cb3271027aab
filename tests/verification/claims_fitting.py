"""Fits of the published knee, of random smooth motions, and of a noisy knee with and without smoothing."""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics._typing import FloatArray
from physics.geometry import lie

from .claim import Measurement, Plot, claim
from .fitting_data import published_fit, squared_hessian, wandering_poses

SOURCE = "Lee & Terzopoulos 2008, sec. 6.2"
SMOOTHING_SOURCE = "Lee & Terzopoulos 2008, sec. 6.3"
SMOOTHING = 0.8
NOISY_FRAMES = 10
ROUND_OFF = 1e-12  # Gauss-Newton steps below this contain no information on convergence


@cache
def clean_fit(num_frames: int) -> Any:
    """The fit of the 13 published poses."""
    return ph.fit_curve(knee_kinematics.keyed_poses(), num_frames=num_frames)


def residual_plot(label: str, fit: Any) -> Plot:
    """Plot of the residual of each pose of a knee fit."""
    line = {label: (knee_kinematics.FLEXION_DEGREES, 1e3 * fit.residuals.translation)}
    return Plot("fit_residuals", "Residuals of the knee fits", "flexion [degree]", "residual [mm]", line)


TRANSLATION, ROTATION = (
    f"largest {residual} residual of 13 published knee poses (0 to 120 degrees) fitted with {{num_frames}} control "
    "frames"
    for residual in ("translation", "rotation")
)


@claim("fitting.knee_10_translation", TRANSLATION, unit="mm", source=SOURCE, at_most=0.05, num_frames=10)
@claim("fitting.knee_8_translation", TRANSLATION, unit="mm", source=SOURCE, at_most=0.1, num_frames=8)
def largest_translation(num_frames: int) -> Measurement:
    """Largest distance between a pose's origin and that of its projection on the curve, in mm."""
    fit = clean_fit(num_frames)
    plot = residual_plot(f"{num_frames} control frames", fit)
    return Measurement(1e3 * float(fit.residuals.translation.max()), fit.report(), (plot,))


@claim("fitting.knee_10_rotation", ROTATION, unit="degree", source=SOURCE, at_most=0.05, num_frames=10)
@claim("fitting.knee_8_rotation", ROTATION, unit="degree", source=SOURCE, at_most=0.05, num_frames=8)
def largest_rotation(num_frames: int) -> Measurement:
    """Largest angle between a pose and its projection on the curve, in degrees."""
    fit = clean_fit(num_frames)
    return Measurement(float(np.rad2deg(fit.residuals.rotation.max())), fit.report())


@cache
def random_motions() -> tuple[FloatArray, ...]:
    """Five random smooth motions of 200 poses, from fine to coarse."""
    turns = (0.1, 0.3, 0.6, 0.9, 1.2)
    return tuple(wandering_poses(np.random.default_rng(seed), 200, turn) for seed, turn in enumerate(turns))


@cache
def random_fits() -> tuple[Any, ...]:
    """Fits with frozen knots and as many control frames as poses."""
    return tuple(ph.fit_curve(poses, q=np.arange(200.0), num_frames=200) for poses in random_motions())


RANDOM = "five random smooth motions of 200 poses, 200 control frames, knots frozen"


@claim("fitting.random_poses_residual", unit="rad", source=SOURCE, at_most=1e-9)
def random_poses_residual() -> float:
    """{RANDOM}: largest residual in the metric."""
    return max(float(fit.residuals.distance.max()) for fit in random_fits())


@claim("fitting.random_poses_iterations", source=SOURCE, at_most=10)
def random_poses_iterations() -> float:
    """{RANDOM}: Gauss-Newton steps."""
    return max(fit.iterations if fit.converged else np.inf for fit in random_fits())


@claim("fitting.random_poses_quadratic", unit="1/rad", source=SOURCE, at_most=2.0)
def random_poses_quadratic() -> Measurement:
    """{RANDOM}: largest ratio of a Gauss-Newton step to the square of the previous one (bounded: quadratic)."""
    steps = [fit.steps for fit in random_fits()]
    ratios = [
        following / before**2
        for taken in steps
        for before, following in pairwise(taken)
        if following > ROUND_OFF
    ]
    lines = {f"motion {index + 1}": (range(1, len(taken) + 1), taken) for index, taken in enumerate(steps)}
    plot = Plot("fit_convergence", "Gauss-Newton", "iteration", "step [rad]", lines, "y")
    return Measurement(max(ratios), {"steps": steps}, (plot,))


@claim("fitting.random_poses_published_step", source="Lee & Terzopoulos 2008, eqs. 34-36", at_least=2.0)
def random_poses_published_step() -> Measurement:
    """{RANDOM}: Gauss-Newton steps with the paper's approximate differential over ours with the exact one."""
    published = [len(published_fit(poses, np.arange(200.0), 200)[0]) for poses in random_motions()]
    exact = [fit.iterations for fit in random_fits()]
    return Measurement(min(a / b for a, b in zip(published, exact)), {"published": published, "exact": exact})


@cache
def noisy_fit(smoothing: float) -> Any:
    """Fit of the knee with noise of 0.5 mm and 0.5 degree along and about each axis (sigma)."""
    return ph.fit_curve(knee_kinematics.noisy_poses(), num_frames=NOISY_FRAMES, smoothing=smoothing)


def distance_from_published(fit: Any, samples: int = 2001) -> float:
    """Root mean square distance of the published motion, every half degree, from the fitted curve, in the metric."""
    weights = np.repeat([1.0, 1.0 / fit.length_scale], 3)
    curve = lie.inverse(fit.joint.transform(np.linspace(*np.ravel(fit.joint.range), samples)[:, None]))
    published = knee_kinematics.tibia_poses(np.radians(np.arange(0.0, 120.25, 0.5)))
    nearest = [np.min(np.sum((weights * lie.log(curve @ pose)) ** 2, axis=1)) for pose in published]
    return float(np.sqrt(np.mean(nearest)))


NOISY = f"knee poses with noise of 0.5 mm and 0.5 degree on each axis, {NOISY_FRAMES} control frames"


@claim("fitting.smoothing_hessian", source=SMOOTHING_SOURCE, at_least=5.0)
def smoothing_hessian() -> Measurement:
    """{NOISY}: integral of the squared joint Hessian, plain over smoothed (weight {SMOOTHING:g})."""
    integrals = [squared_hessian(noisy_fit(smoothing)) for smoothing in (0.0, SMOOTHING)]
    plots = tuple(
        residual_plot(f"noisy, smoothing {smoothing:g}", noisy_fit(smoothing))
        for smoothing in (0.0, SMOOTHING)
    )
    return Measurement(integrals[0] / integrals[1], {"plain": integrals[0], "smoothed": integrals[1]}, plots)


@claim("fitting.smoothing_residual", source=SMOOTHING_SOURCE, at_most=1.0)
def smoothing_residual() -> Measurement:
    """{NOISY}: residual after smoothing (weight {SMOOTHING:g}), root mean square per axis over the noise's sigma."""
    residuals = noisy_fit(SMOOTHING).residuals
    ratios = {
        "translation": per_axis(residuals.translation) / knee_kinematics.NOISE_TRANSLATION,
        "rotation": per_axis(residuals.rotation) / knee_kinematics.NOISE_ROTATION,
    }
    return Measurement(max(ratios.values()), ratios)


def per_axis(lengths: FloatArray) -> float:
    """Root mean square of the components of vectors, from their lengths."""
    return float(np.sqrt(np.mean(lengths**2) / 3.0))


@claim("fitting.smoothing_accuracy", source=SMOOTHING_SOURCE, at_most=0.95)
def smoothing_accuracy() -> Measurement:
    """{NOISY}: distance of the published motion from the smoothed curve over that from the plain one."""
    plain, smoothed = (distance_from_published(noisy_fit(smoothing)) for smoothing in (0.0, SMOOTHING))
    return Measurement(smoothed / plain, {"plain [rad]": plain, "smoothed [rad]": smoothed})
