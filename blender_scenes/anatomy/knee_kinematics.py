"""Published motion of the right knee: the tibia's pose in the femur at a flexion angle.

Source: Delp, Loan, Hoy, Zajac, Topp & Rosen 1990, IEEE Trans. Biomed. Eng. 37, 757-767 (after Yamaguchi & Zajac
1989), in the form of the OpenSim model *gait2392* (Delp, Loan, Hoy, Zajac, Topp, Rosen, Thelen, Anderson, Seth;
CC BY 3.0): a rotation about the femur's lateral axis and two splines for the translation.

Two sets of axes occur. *OpenSim*: x forward, y up, z to the right, femur's origin at the hip's centre.
*Blender*: x forward, y to the left, z up, same origins. Flexion is positive here; in gait2392 it is negative.
"""

import numpy as np
from numpy.typing import ArrayLike

from physics._typing import FloatArray

# gait2392, CustomJoint "knee_r": knots are knee angles [rad], values metres in the femur's frame.
FORWARD_ANGLES = (-2.0944, -1.74533, -1.39626, -1.0472, -0.698132, -0.349066,
                  -0.174533, 0.197344, 0.337395, 0.490178, 1.52146, 2.0944)  # fmt: skip
FORWARD_VALUES = (-0.0032, 0.00179, 0.00411, 0.0041, 0.00212, -0.001,
                  -0.0031, -0.005227, -0.005435, -0.005574, -0.005435, -0.00525)  # fmt: skip
UPWARD_ANGLES = (-2.0944, -1.22173, -0.523599, -0.349066, -0.174533, 0.159149, 2.0944)
UPWARD_VALUES = (-0.4226, -0.4082, -0.399, -0.3976, -0.3966, -0.395264, -0.396)

# gait2392, body "tibia_r": the shank without the foot. kg, m and kg m^2, about the centre of mass, OpenSim axes.
SHANK_MASS = 3.7075
SHANK_CENTER = (0.0, -0.1867, 0.0)
SHANK_INERTIA = (0.0504, 0.0051, 0.0511)

BLENDER_FROM_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])

FLEXION_DEGREES = tuple(range(0, 121, 10))  # the thirteen keyed poses
NOISE_TRANSLATION = 0.5e-3  # m, sigma along each axis
NOISE_ROTATION = np.radians(0.5)  # rad, sigma about each axis
NOISE_SEED = 20080811


def cubic_spline(knots: ArrayLike, values: ArrayLike, at: ArrayLike) -> FloatArray:
    """Cubic spline after Forsythe, Malcolm & Moler 1977 (OpenSim's SimmSpline), linear outside its knots.

    Its third derivative at each end is that of the cubic through the four points there, which a natural or a
    not-a-knot spline does not have. Takes knots and values (n >= 4,) and any array of places; returns its shape.
    """
    x, y, place = (np.asarray(a, dtype=np.float64) for a in (knots, values, at))
    step = np.diff(x)
    sixth = sixth_of_curvature(x, y)
    slope = np.diff(y) / step
    left = np.clip(np.searchsorted(x, place, side="right") - 1, 0, len(step) - 1)
    inner = np.clip(place, x[0], x[-1])
    t = inner - x[left]
    first = slope[left] - step[left] * (sixth[left + 1] + 2.0 * sixth[left])
    second = 3.0 * sixth[left]
    third = (sixth[left + 1] - sixth[left]) / step[left]
    derivative = first + t * (2.0 * second + t * 3.0 * third)
    return y[left] + t * (first + t * (second + t * third)) + derivative * (place - inner)


def sixth_of_curvature(x: FloatArray, y: FloatArray) -> FloatArray:
    """A sixth of the spline's second derivative at its knots (n,)."""
    step = np.diff(x)
    slope = np.diff(y) / step
    count = len(x)
    system = np.diag(np.concatenate([[-step[0]], 2.0 * (step[:-1] + step[1:]), [-step[-1]]]))
    system += np.diag(step, 1) + np.diag(step, -1)
    right = np.zeros(count)
    right[1:-1] = np.diff(slope)
    second = right[1:-1] / (x[2:] - x[:-2])
    right[0] = (second[1] - second[0]) * step[0] ** 2 / (x[3] - x[0])
    right[-1] = -(second[-1] - second[-2]) * step[-1] ** 2 / (x[-1] - x[-4])
    return np.linalg.solve(system, right)


def opensim_poses(flexion: ArrayLike) -> FloatArray:
    """Poses (n, 4, 4) of the tibia in the femur, OpenSim axes, at the flexion angles (n,) [rad]."""
    angle = -np.asarray(flexion, dtype=np.float64)
    poses = np.tile(np.eye(4), (*angle.shape, 1, 1))
    poses[..., 0, 0] = poses[..., 1, 1] = np.cos(angle)
    poses[..., 1, 0] = np.sin(angle)
    poses[..., 0, 1] = -np.sin(angle)
    poses[..., 0, 3] = cubic_spline(FORWARD_ANGLES, FORWARD_VALUES, angle)
    poses[..., 1, 3] = cubic_spline(UPWARD_ANGLES, UPWARD_VALUES, angle)
    return poses


def tibia_poses(flexion: ArrayLike) -> FloatArray:
    """Poses (n, 4, 4) of the tibia in the femur, Blender axes, at the flexion angles (n,) [rad]."""
    change = np.eye(4)
    change[:3, :3] = BLENDER_FROM_OPENSIM
    return change @ opensim_poses(flexion) @ change.T


def keyed_poses() -> FloatArray:
    """The thirteen poses (13, 4, 4) of the scene, 0 to 120 degrees of flexion."""
    return tibia_poses(np.radians(FLEXION_DEGREES))


def noisy_poses(seed: int = NOISE_SEED) -> FloatArray:
    """The thirteen poses as a motion capture might give them: with noise of half a millimetre and half a degree."""
    poses = keyed_poses()
    random = np.random.default_rng(seed)
    for pose in poses:
        pose[:3, 3] += random.normal(0.0, NOISE_TRANSLATION, 3)
        pose[:3, :3] = pose[:3, :3] @ rotation_matrix(random.normal(0.0, NOISE_ROTATION, 3))
    return poses


def rotation_matrix(vector: ArrayLike) -> FloatArray:
    """Rotation (3, 3) about `vector` (3,) by its length [rad] (Rodrigues)."""
    turn = np.asarray(vector, dtype=np.float64)
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = turn / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
