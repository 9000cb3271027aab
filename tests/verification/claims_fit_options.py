"""Options of fits: pinned poses, conditions at the ends, robust weights, a given coordinate."""

from __future__ import annotations

import numpy as np

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics.geometry import lie

from .claim import Measurement, claim
from .generators import closed_frames, smooth_frames

PINNED = (0, 17, 40, 59)


@claim("fitting.pinned", at_most=1e-11)
def pinned() -> Measurement:
    """Noisy knee, 10 control frames, four poses pinned and both ends straight: largest distance of a pinned pose from
    the curve, and change of the twist at an end, in the metric.
    """
    poses = knee_kinematics.noisy_poses()
    numbers = [k % len(poses) for k in PINNED]
    fit = ph.fit_curve(poses, num_frames=10, pinned=numbers, ends=("straight", "straight"))
    away = float(fit.residuals.distance[numbers].max())
    ends = [fit.joint.evaluate(q)[2][:, 0, 0] for q in np.ravel(fit.joint.range)]
    bend = float(np.max(np.linalg.norm(ends, axis=1)))
    return Measurement(
        max(away, bend), {"pinned poses": away, "dS at the ends": bend, "steps": fit.iterations}
    )


@claim("fitting.outliers", at_most=0.25)
def outliers() -> Measurement:
    """60 poses of a smooth motion, 6 of them up to 0.5 rad off, 16 control frames: mean distance from the motion with
    Tukey's weights over that without weights.
    """
    rng = np.random.default_rng(5)
    truth = ph.joints.SplineCurve(smooth_frames(rng, 12))
    q = np.linspace(*np.ravel(truth.range), 60)
    clean = truth.transform(q[:, None])
    poses = clean @ lie.exp(0.003 * rng.standard_normal((60, 6)))
    wrong = rng.choice(np.arange(4, 56), 6, replace=False)
    poses[wrong] = clean[wrong] @ lie.exp(0.5 * rng.uniform(-1.0, 1.0, (6, 6)))
    errors = {}
    for robust in (None, "tukey"):
        fit = ph.fit_curve(poses, q, num_frames=16, robust=robust)
        off = lie.log(lie.inverse(fit.joint.transform(q[:, None])) @ clean)
        errors[str(robust)] = float(np.linalg.norm(off, axis=1).mean())
    return Measurement(errors["tukey"] / errors["None"], errors)


@claim("fitting.arc_length", source="Lee & Terzopoulos 2008, sec. 6.1", at_most=1e-10)
def arc_length() -> Measurement:
    """Curves by arc length, open and closed, order 4 to 6: largest | |s(q)| - 1 | at 1000 points each."""
    rng = np.random.default_rng(6)
    worst = {}
    for order in (4, 5, 6):
        for name, frames in (("open", smooth_frames(rng, 10)), ("closed", closed_frames(rng, 12))):
            closed = name == "closed"
            joint = ph.joints.SplineCurve(frames, order=order, periodic=closed, coordinate="arc_length")
            places = np.linspace(*joint.domain, 1000)
            speeds = [np.linalg.norm(joint.evaluate(q)[1]) for q in places]
            worst[f"{name}, order {order}"] = float(np.abs(np.array(speeds) - 1.0).max())
    return Measurement(max(worst.values()), worst)


@claim("fitting.flexion", unit="rad", at_most=1e-10)
def flexion() -> Measurement:
    """The knee by its flexion: largest difference of the coordinate from the angle about the axis, 1000 points."""
    axis = knee_kinematics.tibia_poses(np.array([0.0, 1.0]))
    turn = lie.so3_log(axis[0, :3, :3].T @ axis[1, :3, :3])
    direction = axis[0, :3, :3] @ turn / np.linalg.norm(turn)
    poses = knee_kinematics.tibia_poses(np.radians(np.linspace(0.0, 120.0, 30)))
    fit = ph.fit_curve(poses, num_frames=10, coordinate="angle", axis=direction)
    return Measurement(float(fit.joint.coordinate_error), {"range": np.ravel(fit.joint.range).tolist()})
