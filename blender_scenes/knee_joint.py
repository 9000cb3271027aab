"""The knee's bodies, joints, fits and swing, through the add-on; and their measurements."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from addon.jobs import bake as tasks
from addon.making.demo_knee import LENGTH_SCALE, Leg
from physics._typing import FloatArray

from . import SceneError
from .anatomy.knee_kinematics import FLEXION_DEGREES, NOISE_ROTATION, NOISE_TRANSLATION, tibia_poses
from .knee_scene import KneeScene, flexion_degrees, relative_pose
from .production import Progress, bake_shown, object_pose

# The shank is vertical at about 92 degrees: undamped it swings from here to about 115, inside the keyed 0 to 120.
RELEASE_DEGREES = 70.0
SECONDS = 2.0
TIME_STEP = 1e-3
FRAMES_KEPT, FRAMES_FINE = 8, 10
SMOOTHING = 0.8


def fit(
    scene: bpy.types.Scene,
    joint: bpy.types.Object,
    num_frames: int,
    smoothing: float = 0.0,
    progress: Progress | None = None,
) -> Any:
    """Fit the keyed poses by the add-on; returns its report."""

    settings = joint.condyle.joint.fit
    settings.num_frames, settings.smoothing = num_frames, smoothing
    report = tasks.fit_now(scene, joint, progress)
    settings.requested = False
    return report


def dense_curve(
    joint: bpy.types.Object, leg: Leg, curve: Any, count: int = 2001
) -> tuple[FloatArray, FloatArray]:
    """Coordinates (n,) over the curve's range, and the poses (n, 4, 4) of the tibia in the femur that they give."""
    (lower, upper) = np.asarray(curve.range)[0]
    q = np.linspace(lower, upper, count)
    in_joint = np.asarray(curve.transform(q[:, None]))
    joint_in_femur = np.linalg.inv(object_pose(leg.femur)) @ object_pose(joint)
    return q, joint_in_femur @ in_joint


def release(joint: bpy.types.Object, q: FloatArray, poses: FloatArray) -> float:
    """Set the coordinate's start to a flexion of RELEASE_DEGREES; returns its value."""
    flexion = np.array([flexion_degrees(pose) for pose in poses])
    start = float(np.interp(RELEASE_DEGREES, flexion, q))
    joint.condyle.joint.coordinates[0].start = start
    return start


def distance_from_published(poses: FloatArray) -> float:
    """Root mean square distance [m] of the published poses, at every half degree, from the nearest of `poses`.

    Rotation counts with LENGTH_SCALE: a radian is as far as 50 mm.
    """
    truth = tibia_poses(np.radians(np.arange(0.0, 120.25, 0.5)))
    nearest = []
    for pose in truth:
        chord = np.linalg.norm(poses[:, :3, :3] - pose[:3, :3], axis=(1, 2))
        angle = 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
        shift = np.linalg.norm(poses[:, :3, 3] - pose[:3, 3], axis=1)
        nearest.append(np.min((LENGTH_SCALE * angle) ** 2 + shift**2))
    return float(np.sqrt(np.mean(nearest)))


@dataclass(frozen=True)
class Fits:
    """Reports of the fits, and distances of the two noisy ones from the published motion [m]."""

    kept: Any
    fine: Any
    noisy: Any
    smoothed: Any
    noisy_error: float
    smoothed_error: float


def fit_all(
    knee: KneeScene, joint: bpy.types.Object, twin_joint: bpy.types.Object, progress: Progress | None = None
) -> Fits:
    """Fit the clean keys with 10 and with 8 control frames, the noisy ones with 10 without and with smoothing.

    The curves kept in the file are the clean one with 8 control frames and the smoothed one.
    """
    scene = knee.scene
    fine = fit(scene, joint, FRAMES_FINE, progress=progress)
    kept = fit(scene, joint, FRAMES_KEPT, progress=progress)
    noisy = fit(scene, twin_joint, FRAMES_FINE, progress=progress)
    _, noisy_poses = dense_curve(twin_joint, knee.twin, noisy.curve)
    smoothed = fit(scene, twin_joint, FRAMES_FINE, SMOOTHING, progress)
    q, smoothed_poses = dense_curve(twin_joint, knee.twin, smoothed.curve)
    release(twin_joint, q, smoothed_poses)
    release(joint, *dense_curve(joint, knee.leg, kept.curve))
    errors = [distance_from_published(poses) for poses in (noisy_poses, smoothed_poses)]
    return Fits(kept, fine, noisy, smoothed, *errors)


def check_fits(fits: Fits) -> None:
    """Raise SceneError if a fit is worse than its bound."""
    for name, report, bound in (("8", fits.kept, 0.1), ("10", fits.fine, 0.05)):
        if not (report.worst_distance_mm < bound and report.worst_angle_deg < 0.05):
            raise SceneError(
                f"with {name} control frames the fit misses a pose by {report.worst_distance_mm:.3f} mm, "
                f"{report.worst_angle_deg:.3f} degrees; the bounds are {bound} mm and 0.05 degrees"
            )
    ratio = fits.noisy.hessian_integral / fits.smoothed.hessian_integral
    if not ratio >= 5.0:
        raise SceneError(
            f"smoothing cuts the integral of the squared joint Hessian only {ratio:.2f}-fold, not 5-fold"
        )
    # Over three axes the noise itself has a root mean square of sqrt(3) sigma.
    bounds = np.sqrt(3.0) * np.array([1e3 * NOISE_TRANSLATION, np.degrees(NOISE_ROTATION)])
    if not (fits.smoothed.rms_distance_mm < bounds[0] and fits.smoothed.rms_angle_deg < bounds[1]):
        raise SceneError(
            f"the smoothed curve misses the noisy poses by {fits.smoothed.rms_distance_mm:.2f} mm, "
            f"{fits.smoothed.rms_angle_deg:.2f} degrees (rms), more than the noise"
        )
    if not fits.smoothed_error < fits.noisy_error:
        raise SceneError(
            f"smoothing leads away from the published motion: {1e3 * fits.smoothed_error:.3f} mm, "
            f"{1e3 * fits.noisy_error:.3f} mm without"
        )


@dataclass(frozen=True)
class Swing:
    """Measurements of the bake."""

    report: Any
    flexion: FloatArray  # degrees at each frame
    bake_error: float  # largest difference of the shown poses from the simulation, m and matrix entries


def bake(knee: KneeScene, progress: Progress | None = None) -> Swing:
    """Simulate and bake both legs; the shown poses are compared with the simulation."""
    scene = knee.scene
    report, error = bake_shown(scene, progress or (lambda share, what: None))
    flexion = []
    for frame in report.frames:
        scene.frame_set(int(frame))
        flexion.append(flexion_degrees(relative_pose(knee.leg)))
    scene.frame_set(scene.frame_start)
    return Swing(report, np.array(flexion), error)


def check_swing(swing: Swing) -> None:
    """Raise SceneError if the baked motion leaves the keyed range, or is too small."""
    low, high = float(swing.flexion.min()), float(swing.flexion.max())
    if not FLEXION_DEGREES[0] < low < high < FLEXION_DEGREES[-1]:
        raise SceneError(f"the swing from {low:.1f} to {high:.1f} degrees leaves the range that was keyed")
    if not high - low > 30.0:
        raise SceneError(f"the leg hardly swings: from {low:.1f} to {high:.1f} degrees of flexion")
