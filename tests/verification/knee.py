"""The knee of the claims about energy, order and steps: a shank on a spline joint, with a level thigh.

Axes are those of OpenSim's gait2392: x forward, y up along the bone, z to the right. Since the thigh is level, gravity
points along its -x, and the equilibrium of the shank is at about 90 degrees of flexion.
"""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics._typing import FloatArray

GRAVITY = (-9.81, 0.0, 0.0)
FLEXION = knee_kinematics.FLEXION_DEGREES  # of the fitted poses
RELEASE = 70


def published_poses() -> FloatArray:
    """The 13 poses of the tibia in the femur from 0 to 120 degrees of flexion (13, 4, 4)."""
    return np.asarray(knee_kinematics.opensim_poses(np.radians(FLEXION)))


@cache
def fitted(order: int, num_frames: int = 8) -> Any:
    """The curve fitted to the published poses."""
    return ph.fit_curve(published_poses(), num_frames=num_frames, order=order)


def knee_model(order: int, damping: float = 0.0) -> Any:
    """The shank on the fitted knee, without limits, with viscous damping (torque over the rate of q)."""
    builder = ph.ModelBuilder(gravity=GRAVITY)
    builder.add_body(
        "shank",
        joint=fitted(order).joint,
        mass=knee_kinematics.SHANK_MASS,
        com=knee_kinematics.SHANK_CENTER,
        inertia=np.diag(knee_kinematics.SHANK_INERTIA),
        damping=damping,
    )
    return builder.build()


def released(model: Any, order: int) -> Any:
    """At rest, flexed by 70 degrees: the shank oscillates about the vertical, within the range of the data."""
    return model.state(q=[fitted(order).q[FLEXION.index(RELEASE)]])
