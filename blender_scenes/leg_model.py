"""A leg whose foot follows a target: hip, fitted knee and ankle by inverse kinematics. No Blender.

After Lee & Terzopoulos 2008, Fig. 3. Axes are Blender's: x forward, z up, y to the left; the origin is the
hip's centre.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import physics as ph
from physics._typing import FloatArray

from .anatomy.knee_kinematics import (
    BLENDER_FROM_OPENSIM,
    SHANK_CENTER,
    SHANK_INERTIA,
    SHANK_MASS,
    keyed_poses,
    rotation_matrix,
)

ANKLE = BLENDER_FROM_OPENSIM @ np.array([0.0, -0.430, 0.003])  # m, in the tibia
HIP_CONE = np.radians(100.0)  # largest tilt of the thigh from the vertical
# toes up, toes down; then the sole inward and outward
ANKLE_LIMITS = np.radians([[-40.0, 60.0], [-30.0, 30.0]])
THIGH_MASS, THIGH_CENTER, THIGH_INERTIA = 9.3014, (0.0, -0.17, 0.0), (0.1339, 0.0351, 0.1412)  # gait2392
FOOT_MASS, FOOT_CENTER, FOOT_INERTIA = 1.25, (0.05, -0.03, 0.0), (0.0014, 0.0039, 0.0041)

FRAMES_A_SECOND = 24
STEP_SECONDS, REACH_SECONDS = 4.0, 3.0  # the foot goes round once, then out of reach, and back
MIDDLE, LENGTH, HEIGHT = (0.06, -0.06, -0.665), 0.24, 0.10  # of the round, m
BEYOND = 0.32  # m beyond the round


@dataclass(frozen=True)
class Follow:
    """The solution at each frame.

    Attributes:
        times: (F,) [s].
        targets: poses for the foot (F, 4, 4).
        q: coordinates (F, 6).
        poses: of the bodies (F, 3, 4, 4).
        distances, angles: between foot and target (F,) [m, rad].
        reachable: whether the target was met (F,).
    """

    times: FloatArray
    targets: FloatArray
    q: FloatArray
    poses: FloatArray
    distances: FloatArray
    angles: FloatArray
    reachable: NDArray[np.bool_]


def turned_inertia(diagonal: tuple[float, float, float]) -> FloatArray:
    """Principal moments of OpenSim's axes in Blender's (3, 3)."""
    return BLENDER_FROM_OPENSIM @ np.diag(diagonal) @ BLENDER_FROM_OPENSIM.T


@cache
def knee() -> ph.joints.SplineCurve:
    """The knee fitted to the published poses, as in the scene of the knee."""
    return ph.fit_curve(keyed_poses(), num_frames=8, order=5).joint


@cache
def leg() -> ph.Model:
    """Femur, tibia and foot."""
    builder = ph.ModelBuilder()
    hip = ph.joints.Spherical(limit=ph.joints.ReachCone((0.0, 0.0, 1.0), HIP_CONE))
    masses = (
        (THIGH_MASS, THIGH_CENTER, THIGH_INERTIA),
        (SHANK_MASS, SHANK_CENTER, SHANK_INERTIA),
        (FOOT_MASS, FOOT_CENTER, FOOT_INERTIA),
    )
    thigh, shank, foot = (
        {"mass": mass, "com": BLENDER_FROM_OPENSIM @ np.array(center), "inertia": turned_inertia(inertia)}
        for mass, center, inertia in masses
    )
    builder.add_body("Femur", joint=hip, **thigh)
    builder.add_body("Tibia", "Femur", joint=knee(), limits="range", **shank)
    ankle = np.eye(4)
    ankle[:3, 3] = ANKLE
    builder.add_body(
        "Foot", "Tibia", joint=ph.joints.Universal((0, 1, 0), (1, 0, 0)), joint_in_parent=ankle,
        limits=ANKLE_LIMITS, **foot,
    )  # fmt: skip
    return builder.build()


def target_poses(times: FloatArray) -> FloatArray:
    """Target poses of the foot (n, 4, 4): a round like a slow step, then a reach beyond the leg's length."""
    phase = 2.0 * np.pi * np.minimum(times / STEP_SECONDS, 1.0)
    beyond = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.clip((times - STEP_SECONDS) / REACH_SECONDS, 0.0, 1.0))
    poses = np.tile(np.eye(4), (len(times), 1, 1))
    poses[:, 0, 3] = MIDDLE[0] + LENGTH * np.cos(phase) + BEYOND * beyond
    poses[:, 1, 3] = MIDDLE[1] - 0.05 * np.sin(phase)
    poses[:, 2, 3] = MIDDLE[2] + HEIGHT * np.sin(phase)
    pitch = np.radians(18.0 - 26.0 * np.cos(phase + 0.5))  # toes up in front, down behind
    yaw = np.radians(-8.0 + 6.0 * np.sin(phase))  # a turn about y towards the ground is positive
    for pose, about_y, about_z in zip(poses, pitch, yaw, strict=True):
        pose[:3, :3] = rotation_matrix((0.0, 0.0, about_z)) @ rotation_matrix((0.0, about_y, 0.0))
    return poses


def follow() -> Follow:
    """The leg's coordinates at every frame, each search beginning where the frame before ended."""
    model = leg()
    times = np.arange(round((STEP_SECONDS + REACH_SECONDS) * FRAMES_A_SECOND) + 1) / FRAMES_A_SECOND
    targets = target_poses(times)
    solver = ph.InverseKinematics(model, ph.Target.pose("Foot", targets[0]))
    lower, upper = knee().range[0]
    state = model.state(q=[0.0, -0.5, 0.0, lower + 0.4 * (upper - lower), 0.0, 0.0])
    found = []
    for index, target in enumerate(targets):
        solver.set_goal(0, target[:3, 3], target[:3, :3])
        found.append(solver.solve(state, starts=30 if index == 0 else 1))
        state = found[-1].state
    q = np.array([solution.state.q for solution in found])
    return Follow(
        times,
        targets,
        q,
        np.array([ph.body_poses(model, solution.state) for solution in found]),
        np.array([solution.position_errors[0] for solution in found]),
        np.array([solution.rotation_errors[0] for solution in found]),
        np.array([solution.reachable for solution in found]),
    )
