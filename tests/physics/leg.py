"""A leg for inverse kinematics: spherical hip, spline knee fitted to published poses, universal ankle."""

from functools import cache

import numpy as np

import physics as ph
from blender_scenes.anatomy.knee_kinematics import FLEXION_DEGREES, opensim_poses

HIP_CONE = np.radians(100.0)  # as far as the thigh may tilt from hanging down
ANKLE = np.radians([[-50.0, 30.0], [-30.0, 30.0]])  # flexion, then turning in and out
SHANK = 0.43  # m, from the knee's frame to the ankle


@cache
def knee() -> ph.joints.SplineCurve:
    poses = opensim_poses(np.radians(FLEXION_DEGREES))
    return ph.fit_curve(poses, num_frames=8, order=5).joint


@cache
def leg() -> ph.Model:
    """Axes of OpenSim's gait2392: x forward, y up, z to the right; the hip at the origin."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    hip = ph.joints.Spherical(limit=ph.joints.ReachCone((0.0, 1.0, 0.0), HIP_CONE))
    builder.add_body("femur", joint=hip, mass=9.3, com=(0, -0.17, 0), inertia=np.diag([0.13, 0.04, 0.14]))
    inertial = {"mass": 3.7, "com": (0, -0.19, 0), "inertia": np.diag([0.05, 0.005, 0.05])}
    builder.add_body("tibia", "femur", joint=knee(), limits="range", **inertial)
    ankle = np.eye(4)
    ankle[1, 3] = -SHANK
    link = {"joint": ph.joints.Universal((0, 0, 1), (1, 0, 0)), "inertia": np.diag([0.001, 0.004, 0.004])}
    builder.add_body("foot", "tibia", joint_in_parent=ankle, mass=1.0, limits=ANKLE, **link)
    return builder.build()


def random_leg_coordinates(rng: np.random.Generator) -> np.ndarray:
    """Anywhere within the limits, a little off them."""
    while True:
        hip = ph.lie.so3_log(ph.lie.matrix_from_quaternion(rng.normal(size=4)))
        if np.arccos(np.clip(ph.lie.so3_exp(hip)[1, 1], -1.0, 1.0)) < 0.97 * HIP_CONE:
            break
    lower, upper = knee().range[0]
    return np.concatenate([hip, [rng.uniform(lower, upper)], rng.uniform(*(0.97 * ANKLE.T))])
