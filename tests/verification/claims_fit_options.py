"""Coordinates of curves: arc length, and an angle about an axis."""

import numpy as np

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics.geometry import lie

from .claim import Measurement, claim
from .generators import closed_frames, smooth_frames


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
