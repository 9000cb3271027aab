"""Two lower legs that Hill-type muscles extend and flex: the knee is a hinge, or a spline joint. No Blender.

Wang 2022, sec. 6.2.10 and Figs. 6.18-6.19: rectus femoris (over a cylinder at the condyles) and semimembranosus are
excited by keyframes, soleus and tibialis anterior by a proportional controller of the ankle's angle, both heads of
gastrocnemius a little all the time. Axes are Blender's: x forward, z up, y to the left.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from physics.muscles import Cylinder, Keyframes, Millard, PathPoint, Proportional, Wrap

from .anatomy.knee_kinematics import (
    BLENDER_FROM_OPENSIM,
    SHANK_CENTER,
    SHANK_INERTIA,
    SHANK_MASS,
    tibia_poses,
)
from .leg_model import ANKLE, FOOT_CENTER, FOOT_INERTIA, FOOT_MASS, knee, turned_inertia

# the thigh is level along x and static, the pelvis upright
FEMUR = np.eye(4)
FEMUR[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
KINDS = ("Hinge", "Spline")
SECONDS, TIME_STEP = 3.0, 5e-4
START = np.radians(85.0)  # of flexion
KNEE_DAMPING, ANKLE_DAMPING = 0.6, 0.15  # N m s/rad
CONDYLE, CONDYLE_RADIUS = (0.002, -0.398, 0.0), 0.036  # in the femur's axes of OpenSim [m]


@dataclass(frozen=True)
class Kind:
    """A muscle: largest force [N], fibre length [m], pennation [rad] and mass [kg], and its points.

    Forces, fibres, pennations and points are gait2392's (Delp et al. 1990; the knee's tendon ends at the tuberosity),
    masses those of cadavers (Ward et al. 2009). Points are in OpenSim's axes of femur, tibia, foot, or of the pelvis
    with the hip as origin.
    """

    force: float
    fibre: float
    pennation: float
    mass: float
    points: tuple[tuple[str, tuple[float, float, float]], ...]


HEEL = (-0.0488, -0.0110, 0.0026)
MUSCLES = {
    "rectus femoris": Kind(1169.0, 0.114, 0.087, 0.1105, (
        ("pelvis", (0.0412, 0.0350, 0.0133)), ("tibia", (0.0370, -0.0600, 0.0)))),
    "semimembranosus": Kind(1288.0, 0.080, 0.262, 0.1343, (
        ("pelvis", (-0.0485, -0.0354, -0.0140)), ("tibia", (-0.0243, -0.0536, -0.0194)))),
    "gastrocnemius medialis": Kind(1558.0, 0.060, 0.297, 0.1135, (
        ("femur", (-0.0190, -0.3929, -0.0235)), ("foot", HEEL))),
    "gastrocnemius lateralis": Kind(683.0, 0.064, 0.140, 0.0622, (
        ("femur", (-0.0220, -0.3946, 0.0272)), ("foot", HEEL))),
    "soleus": Kind(3549.0, 0.050, 0.436, 0.2758, (("tibia", (-0.0024, -0.1533, 0.0071)), ("foot", HEEL))),
    "tibialis anterior": Kind(905.0, 0.098, 0.087, 0.0801, (
        ("tibia", (0.0179, -0.1624, 0.0115)), ("tibia", (0.0329, -0.3951, -0.0177)),
        ("foot", (0.0678, -0.0242, -0.0226)))),
}  # fmt: skip
# of the ankle
TARGET = Keyframes([0.2, 0.7, 1.2, 1.7, 2.2, 2.7], np.radians([0.0, -12.0, -12.0, 25.0, 25.0, 0.0]))
MIDDLE = np.radians(50.0)  # of flexion, where fibres have their optimal lengths


def path(name: str) -> list[Any]:
    """The path of a muscle; rectus femoris and gastrocnemius wrap over the condyles (type III)."""
    found: list[Any] = []
    for frame, place in MUSCLES[name].points:
        point = BLENDER_FROM_OPENSIM @ np.array(place)
        body = {"tibia": "Tibia", "foot": "Foot"}.get(frame)
        if frame == "femur":
            point = FEMUR[:3, :3] @ point
        found.append(PathPoint(body, point))
    if name == "rectus femoris":
        turn = np.eye(4)
        turn[:3, :3] = lie.so3_exp(np.array([-0.5 * np.pi, 0.0, 0.0]))  # z to the left
        turn[:3, 3] = BLENDER_FROM_OPENSIM @ np.array(CONDYLE)
        over = Cylinder(frame=FEMUR @ turn, radius=CONDYLE_RADIUS, side="counterclockwise")
        found.insert(1, Wrap(over))
    return found


def skeleton(kind: str) -> ph.ModelBuilder:
    """Shank and foot; the hinge lies where the published motion has the tibia's origin in extension."""
    builder = ph.ModelBuilder()
    turn = BLENDER_FROM_OPENSIM
    if kind == "Hinge":
        joint: Any = ph.joints.Hinge((0.0, 1.0, 0.0))
        place = FEMUR @ tibia_poses(np.zeros(1))[0]
        limits: Any = np.radians([[0.0, 125.0]])
    else:
        joint, place, limits = knee(), FEMUR, "range"
    builder.add_body(
        "Tibia", joint=joint, joint_in_parent=place, limits=limits, damping=KNEE_DAMPING, mass=SHANK_MASS,
        com=turn @ np.array(SHANK_CENTER), inertia=turned_inertia(SHANK_INERTIA),
    )  # fmt: skip
    ankle = np.eye(4)
    ankle[:3, 3] = ANKLE
    builder.add_body(
        "Foot", "Tibia", joint=ph.joints.Hinge((0.0, 1.0, 0.0)), joint_in_parent=ankle, damping=ANKLE_DAMPING,
        limits=np.radians([[-35.0, 55.0]]), mass=FOOT_MASS, com=FOOT_CENTER, inertia=turned_inertia(FOOT_INERTIA),
    )  # fmt: skip
    return builder


def flexion(pose: FloatArray) -> float:
    """Flexion [rad] of a tibia's world pose."""
    relative = FEMUR[:3, :3].T @ pose[:3, :3]
    return float(np.arctan2(relative[0, 2] - relative[2, 0], relative[0, 0] + relative[2, 2]))


@cache
def knee_coordinate(kind: str, angle: float) -> float:
    """The knee's coordinate at an angle of flexion [rad]."""
    if kind == "Hinge":
        return angle
    lower, upper = knee().range[0]
    values = np.linspace(lower, upper, 400)[:, None]
    angles = [flexion(FEMUR @ pose) for pose in knee().transform(values)]
    return float(np.interp(angle, angles, values[:, 0]))


@cache
def tendons() -> dict[str, float]:
    """Slack lengths [m] with which the fibres have their optimal lengths at half flexion, the foot level."""
    builder = skeleton("Spline")
    for name in MUSCLES:
        builder.add_muscle(name, path(name))
    model = builder.build()
    state = model.state(q=[knee_coordinate("Spline", MIDDLE), 0.0])
    lengths = ph.muscle_lengths(model, state).lengths
    return {
        name: float(length - of.fibre * np.cos(of.pennation))
        for length, (name, of) in zip(lengths, MUSCLES.items())
    }


def build_model(kind: str) -> ph.Model:
    """The leg with its muscles and their mass."""
    builder = skeleton(kind)
    for name, of in MUSCLES.items():
        law = Millard(
            max_isometric_force=of.force, optimal_fibre_length=of.fibre,
            tendon_slack_length=tendons()[name], pennation=of.pennation,
        )  # fmt: skip
        builder.add_muscle(name, path(name), mass=of.mass, num_points=12, law=law)
    return builder.build()


def signals() -> dict[str, Any]:
    """Excitations of the muscles."""
    return {
        "rectus femoris": Keyframes([0.2, 0.35, 1.0, 1.15], [0.0, 0.45, 0.45, 0.0]),
        "semimembranosus": Keyframes([1.2, 1.35, 1.8, 1.95], [0.0, 0.22, 0.22, 0.0]),
        "gastrocnemius medialis": 0.03,
        "gastrocnemius lateralis": 0.03,
        "soleus": Proportional("Foot.angle", gain=0.6, target=TARGET, rest=0.02),
        "tibialis anterior": Proportional("Foot.angle", gain=-1.5, target=TARGET, rest=0.05),
    }


def drive(kind: str, interval: float, progress: Any = None) -> ph.Result:
    """The motion from rest, a sample each interval."""
    model = build_model(kind)
    state = model.state(q=[knee_coordinate(kind, START), 0.0])
    tau = ph.excite(model, signals())
    return ph.simulate(
        model, state, SECONDS, TIME_STEP, "rk4", tau=tau, record_interval=interval, progress=progress
    )
