"""A shoulder blade that glides on the thorax by a fitted surface joint, with clavicle and arm. No Blender.

After Lee & Terzopoulos 2008, Fig. 4: the scapula slides over the rib cage with two coordinates; the clavicle is a body
of its own on the sternum, and a damped spring joins its outer end to the acromion. The poses to fit are made here: the
blade lies on an ellipsoid a finger's breadth outside the ribs, and turns about its own upright axis until the acromion
is at the clavicle's length from the sternum.

Axes are Blender's: x forward, y to the left, z up; the origin is the middle of the thorax, metres and kilograms.
"""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .anatomy.knee_kinematics import rotation_matrix

THORAX = np.array([0.092, 0.130, 0.185])  # m, semi-axes of the ribs' outside
GLIDING = THORAX + 0.016  # m, of the ellipsoid on which the blade's middle moves
STERNUM = np.array([0.052, -0.024, 0.080])  # m, where the clavicle begins
ACROMION = np.array([0.066, 0.052, 0.020])  # m, in the scapula
SHOULDER = np.array([0.080, 0.026, -0.002])  # m, middle of the humerus' head in the scapula

# range of the blade's middle on the thorax
AROUND, UPWARD = np.radians([26.0, 55.0]), np.radians([0.0, 22.0])
REST = np.radians([40.0, 10.0])
TURN_UPWARD = 0.5  # rad that the blade turns upward per radian that it rises

SCAPULA_MASS, CLAVICLE_MASS, ARM_MASS = 0.7, 0.16, 3.6
# forces that hold the blade, of muscles that are not modelled: N m and N m s per radian of its path on the thorax
STIFFNESS, DAMPING = 70.0, 3.0
ARM_DAMPING, CLAVICLE_DAMPING = 0.35, 0.01  # N m s
SPRING, SPRING_DAMPING = 2.0e4, 30.0  # N/m, N s/m, at the acromion
SAMPLES = (9, 8)
CONTROL_VALUES = (7, 6)
SECONDS = 4.0
TIME_STEP = 5e-4


def gliding_pose(around: float, upward: float, turn: float) -> FloatArray:
    """Pose (4, 4) of the scapula in the thorax: x outward along the ribs, y up the blade, z away from the ribs."""
    normal = np.array([-np.cos(around) * np.cos(upward), -np.sin(around) * np.cos(upward), np.sin(upward)])
    pose = np.eye(4)
    pose[:3, 3] = GLIDING * normal
    z = normal / GLIDING
    z /= np.linalg.norm(z)
    x = np.array([np.sin(around) * GLIDING[0], -np.cos(around) * GLIDING[1], 0.0])
    x -= z * (x @ z)
    x /= np.linalg.norm(x)
    pose[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    roll = TURN_UPWARD * (upward - REST[1])
    pose[:3, :3] = pose[:3, :3] @ rotation_matrix((0.0, 0.0, roll)) @ rotation_matrix((0.0, turn, 0.0))
    return pose


def reach(pose: FloatArray) -> float:
    """Distance [m] of the acromion from the sternum's end of the clavicle."""
    return float(np.linalg.norm(pose[:3, :3] @ ACROMION + pose[:3, 3] - STERNUM))


@cache
def clavicle_length() -> float:
    """Length [m] for which the blade lies flat at its rest place."""
    return reach(gliding_pose(*REST, 0.0))


def braced_pose(around: float, upward: float) -> FloatArray:
    """The pose at which the clavicle fits: the turn about the upright axis is found by bisection."""
    low, high = -0.6, 0.6
    length = clavicle_length()
    rising = reach(gliding_pose(around, upward, high)) > reach(gliding_pose(around, upward, low))
    for _ in range(50):
        middle = 0.5 * (low + high)
        if (reach(gliding_pose(around, upward, middle)) > length) == rising:
            high = middle
        else:
            low = middle
    return gliding_pose(around, upward, 0.5 * (low + high))


def sample_places() -> FloatArray:
    """Places (n, 2) of the sample poses: angles around and up the thorax [rad]."""
    axes = (np.linspace(*limits, count) for limits, count in zip((AROUND, UPWARD), SAMPLES, strict=True))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


@cache
def sample_poses() -> FloatArray:
    """The poses (n, 4, 4) that the surface is fitted to."""
    poses = np.array([braced_pose(*place) for place in sample_places()])
    poses.flags.writeable = False
    return poses


@cache
def fitted() -> Any:
    """The surface joint through the sample poses, with its report."""
    return ph.fit_surface(
        sample_poses(), sample_places(), num_frames=CONTROL_VALUES, domain=(AROUND, UPWARD), length_scale=0.1
    )


def rod_inertia(mass: float, length: float, radius: float, axis: int) -> FloatArray:
    """Inertia of a solid rod about its middle (3, 3)."""
    along, across = 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0
    moments = np.full(3, across)
    moments[axis] = along
    return np.diag(moments)


def clavicle_pose(scapula: FloatArray) -> FloatArray:
    """Pose (4, 4) of the clavicle that points from the sternum to the acromion, x along it, z as far up as can be."""
    x = scapula[:3, :3] @ ACROMION + scapula[:3, 3] - STERNUM
    x /= np.linalg.norm(x)
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack([x, y, np.cross(x, y)], axis=1), STERNUM
    return pose


def shoulder_frame() -> FloatArray:
    """Frame (4, 4) of the shoulder joint in the scapula: upright in the world at the blade's rest place."""
    frame = np.eye(4)
    frame[:3, :3] = gliding_pose(*REST, 0.0)[:3, :3].T
    frame[:3, 3] = SHOULDER
    return frame


def model(joint: Any = None, damped: float = 1.0) -> ph.Model:
    """Scapula, arm and clavicle; `damped` scales every damping."""
    builder = ph.ModelBuilder()
    scapula_inertia = SCAPULA_MASS * np.diag([0.045**2, 0.03**2, 0.05**2])
    builder.add_body(
        "Scapula", joint=fitted().joint if joint is None else joint, mass=SCAPULA_MASS,
        com=(0.0, 0.01, 0.0), inertia=scapula_inertia,
        stiffness=STIFFNESS, rest=rest_of_muscles(), damping=damped * DAMPING, limits="range",
    )  # fmt: skip
    builder.add_body(
        "Humerus", "Scapula", joint=ph.joints.Spherical(), joint_in_parent=shoulder_frame(), mass=ARM_MASS,
        com=(0.0, 0.0, -0.30), inertia=rod_inertia(ARM_MASS, 0.6, 0.04, 2), damping=damped * ARM_DAMPING,
    )  # fmt: skip
    length = clavicle_length()
    at_sternum = clavicle_pose(gliding_pose(*REST, 0.0))
    builder.add_body(
        "Clavicle", joint=ph.joints.Spherical(), joint_in_parent=at_sternum, mass=CLAVICLE_MASS,
        com=(0.5 * length, 0.0, 0.0), inertia=rod_inertia(CLAVICLE_MASS, length, 0.012, 0),
        damping=damped * CLAVICLE_DAMPING,
    )  # fmt: skip
    builder.add_spring(
        "Acromioclavicular", "Clavicle", (length, 0.0, 0.0), "Scapula", ACROMION,
        stiffness=SPRING, damping=damped * SPRING_DAMPING,
    )  # fmt: skip
    return builder.build()


def rest_of_muscles() -> FloatArray:
    """Angles [rad] at which the muscles hold the blade without the arm's weight, which lowers it."""
    return REST + np.radians([0.0, 9.0])


def start(of: ph.Model, arm: float = 1.2) -> ph.State:
    """First state, at rest: the blade forward and up with the clavicle, the arm lifted forward and out by `arm`."""
    place = np.radians([52.0, 20.0])
    scapula = of.bodies[0].joint.transform(place)
    turn = np.linalg.inv(clavicle_pose(gliding_pose(*REST, 0.0))) @ clavicle_pose(scapula)
    # about -y the arm, which points along -z, comes forward; about -x it comes out to the right
    upright = (scapula @ shoulder_frame())[:3, :3]
    arm_turn = upright.T @ rotation_matrix(arm * np.array([-0.45, -0.9, 0.0]))
    return of.state(q=[*place, *ph.lie.so3_log(arm_turn), *ph.lie.so3_log(turn[:3, :3])])
