"""A walking leg whose muscles have most of the shank's mass; the calf's heads are modelled in three ways. No Blender.

Wang 2022, sec. 6.2.8 and Fig. 6.15: the motions of pelvis, hip, knee and ankle are prescribed, and inverse dynamics
give the moments. Soleus is straight (type I), tibialis anterior runs through a point (type II); the gastrocnemius heads
are straight, run through points behind the knee, or wrap over two cylinders there (type III). Axes are Blender's:
x forward, z up, y to the left.
"""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from physics.muscles import Cylinder, MassPoints, PathPoint, Wrap

from .anatomy.knee_kinematics import SHANK_CENTER, SHANK_INERTIA, SHANK_MASS
from .driven_knee_model import knee_coordinate
from .leg_model import (
    ANKLE,
    FOOT_CENTER,
    FOOT_INERTIA,
    FOOT_MASS,
    THIGH_CENTER,
    THIGH_INERTIA,
    THIGH_MASS,
    knee,
    turned_inertia,
)

CYCLE = 1.125  # s
HARMONICS = 6
# The thigh's lean forward, the knee's flexion and the ankle's dorsiflexion [degrees] at percents of the gait cycle,
# from heel strike to heel strike: rounded values of normal walking (Perry & Burnfield 2010, chs. 3-5).
PERCENT = (0, 5, 10, 15, 20, 30, 40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95)
ANGLES = {
    "Femur": (20, 18, 15, 11, 7, -3, -13, -20, -19, -14, -6, 4, 12, 17, 20, 21, 21),
    "Tibia": (5, 10, 16, 18, 17, 10, 6, 9, 19, 35, 51, 60, 60, 51, 35, 18, 7),
    "Foot": (0, -5, -5, -1, 3, 6, 9, 10, 3, -10, -17, -13, -6, -1, 1, 1, 0),
}
SOLE = 0.008  # m, of skin under the foot's bones
KINDS = ("I", "II", "III")
SHARE = 0.8  # of the shank's mass that is in the muscles, the paper's largest
NUM_POINTS = 20
SMOOTHING = 1e-3  # m, less than the distance of muscles' ends from the cylinders
PELVIS_MASS, TIME_STEP = 5.0, 1e-3

# Masses of cadavers' muscles [g] (Ward et al. 2009) and shares of the path at heel strike that are tendon.
MUSCLES = {
    "soleus": (275.8, (0.04, 0.30)),
    "gastrocnemius medialis": (113.5, (0.05, 0.45)),
    "gastrocnemius lateralis": (62.2, (0.05, 0.45)),
    "tibialis anterior": (80.1, (0.04, 0.42)),
}
# Places in the bodies' axes [m], as on the bones of the picture.
HEEL = (-0.0605, -0.001, -0.036)
SOLEUS = (-0.0065, -0.007, -0.1533)
TIBIALIS = (
    ("Tibia", (0.019, -0.011, -0.150)),
    ("Tibia", (0.0255, 0.012, -0.395)),
    ("Foot", (0.062, 0.021, -0.0185)),
)
HEADS = {"gastrocnemius medialis": 0.022, "gastrocnemius lateralis": -0.022}  # y [m]
ABOVE, BEHIND = (-0.0180, -0.386), (-0.0285, -0.406)  # x, z [m] in the femur
BELOW = (-0.0300, -0.047)  # x, z [m] in the tibia
# x, z and radius [m] of the cylinders behind the condyles and behind the tibia's plateau
CYLINDERS = {"Femur": (-0.005, -0.406, 0.0225), "Tibia": (-0.008, -0.046, 0.0215)}


def waves(times: FloatArray, order: int = 0) -> FloatArray:
    """1, cosines and sines of the cycle's harmonics (n, 2 HARMONICS + 1), or their derivatives by time."""
    rates = 2.0 * np.pi / CYCLE * np.arange(1, HARMONICS + 1)
    turns = np.outer(times, rates) + 0.5 * np.pi * order
    constant = np.full((len(times), 1), float(order == 0))
    return np.column_stack([constant, np.cos(turns) * rates**order, np.sin(turns) * rates**order])


def series(values: Any) -> FloatArray:
    """Fourier coefficients (2 HARMONICS + 1,) closest to values (n,) at PERCENT of the cycle."""
    times = CYCLE * np.array(PERCENT) / 100.0
    return np.linalg.lstsq(waves(times), np.asarray(values), rcond=None)[0]


@cache
def leg_series() -> FloatArray:
    """Fourier series of the coordinates of hip, knee and ankle (3, 2 HARMONICS + 1)."""
    hip, ankle = -np.radians(ANGLES["Femur"]), -np.radians(ANGLES["Foot"])
    bent = [knee_coordinate("Spline", float(np.radians(value))) for value in ANGLES["Tibia"]]
    return np.array([series(values) for values in (hip, bent, ankle)])


@cache
def all_series() -> FloatArray:
    """Fourier series of the hip's height and of hip, knee and ankle (4, 2 HARMONICS + 1).

    The height repeats twice a cycle: the foot in stance, of this or the other leg, is on the ground.
    """
    times = CYCLE * np.arange(80) / 80.0
    reach = -heights(np.column_stack([np.zeros(80), waves(times) @ leg_series().T]))
    needed = np.maximum(reach, np.roll(reach, 40))
    twice = [0, 2, 4, 6, HARMONICS + 2, HARMONICS + 4, HARMONICS + 6]
    height = np.zeros(2 * HARMONICS + 1)
    height[twice] = np.linalg.lstsq(waves(times)[:, twice], needed, rcond=None)[0]
    return np.vstack([height, leg_series()])


def coordinates(times: FloatArray, order: int = 0) -> FloatArray:
    """Coordinates of the hip's height, hip, knee and ankle (n, 4), or their derivatives by time."""
    return waves(times, order) @ all_series().T


def heights(q: FloatArray) -> FloatArray:
    """Height of the foot's lowest point over the ground (n,) [m] at coordinates (n, 4)."""
    of = build_model("I", 0.0)
    feet = [ph.body_poses(of, of.state(q=row))[of.index("Foot")] for row in q]
    return np.array([(pose[2, :3] @ soles().T + pose[2, 3]).min() for pose in feet]) - SOLE


@cache
def soles() -> FloatArray:
    """Points (n, 3) of the foot's underside: heel, ball and toes."""
    return np.array(
        [[-0.050, 0.0, -0.057], [0.124, 0.021, -0.059], [0.119, -0.018, -0.057], [0.170, 0.019, -0.062]]
    )


def cylinder(body: str, prefix: str) -> Cylinder:
    """A cylinder at the back of the knee, its axis to the left; the path passes behind it."""
    x, z, radius = CYLINDERS[body]
    frame = np.eye(4)
    frame[:3, :3] = lie.so3_exp(np.array([-0.5 * np.pi, 0.0, 0.0]))
    frame[:3, 3] = x, 0.0, z
    return Cylinder(body=f"{prefix}{body}", frame=frame, radius=radius, length=0.09, side="clockwise")


def path(muscle: str, kind: str, prefix: str = "") -> list[Any]:
    """The path of a muscle if the heads of gastrocnemius are of this type; prefix: of the bodies' names."""
    if muscle == "soleus":
        return [PathPoint(f"{prefix}Tibia", SOLEUS), PathPoint(f"{prefix}Foot", HEEL)]
    if muscle == "tibialis anterior":
        return [PathPoint(f"{prefix}{body}", place) for body, place in TIBIALIS]
    y, femur, heel = HEADS[muscle], f"{prefix}Femur", PathPoint(f"{prefix}Foot", HEEL)
    above, behind = (PathPoint(femur, (x, y, z)) for x, z in (ABOVE, BEHIND))
    if kind == "I":
        return [behind, heel]
    if kind == "II":
        return [above, behind, PathPoint(f"{prefix}Tibia", (BELOW[0], y, BELOW[1])), heel]
    return [above, Wrap([cylinder(body, prefix) for body in CYLINDERS], SMOOTHING), heel]


def add_leg(builder: ph.ModelBuilder, share: float, prefix: str = "", aside: float = 0.0) -> None:
    """Pelvis on an upright slide, thigh, shank with the rest of its mass, and foot."""
    place, ankle = np.eye(4), np.eye(4)
    place[1, 3], ankle[:3, 3] = aside, ANKLE
    across = ph.joints.Hinge((0.0, 1.0, 0.0))
    builder.add_body(
        f"{prefix}Pelvis", joint=ph.joints.Slider((0.0, 0.0, 1.0)), joint_in_parent=place, mass=PELVIS_MASS,
        inertia=np.diag([0.03, 0.03, 0.03]),
    )  # fmt: skip
    for name, parent, joint, frame, mass, center, inertia in (
        ("Femur", "Pelvis", across, None, THIGH_MASS, THIGH_CENTER, THIGH_INERTIA),
        ("Tibia", "Femur", knee(), None, (1.0 - share) * SHANK_MASS, SHANK_CENTER, SHANK_INERTIA),
        ("Foot", "Tibia", across, ankle, FOOT_MASS, FOOT_CENTER, FOOT_INERTIA),
    ):
        part = (1.0 - share) if name == "Tibia" else 1.0
        com = np.array(center) if name == "Foot" else upright(center)
        builder.add_body(
            f"{prefix}{name}", f"{prefix}{parent}", joint=joint, joint_in_parent=frame, mass=mass, com=com,
            inertia=part * turned_inertia(inertia),
        )  # fmt: skip


def upright(place: tuple[float, float, float]) -> FloatArray:
    """A place in OpenSim's axes in Blender's."""
    x, y, z = place
    return np.array([x, -z, y])


def belly(muscle: str, share: float, length: float) -> MassPoints:
    """A muscle's mass points: its part of a share of the shank's mass, in the belly between its tendons."""
    grams, tendons = MUSCLES[muscle]
    mass = share * SHANK_MASS * grams / sum(entry[0] for entry in MUSCLES.values())
    return MassPoints.belly(mass, NUM_POINTS, tendons=length * np.array(tendons))


@cache
def lengths(kind: str) -> dict[str, float]:
    """Lengths of the muscles at heel strike [m]."""
    builder = ph.ModelBuilder()
    add_leg(builder, 0.0)
    for muscle in MUSCLES:
        builder.add_muscle(muscle, path(muscle, kind))
    of = builder.build()
    found = ph.muscle_lengths(of, of.state(q=coordinates(np.zeros(1))[0])).lengths
    return dict(zip(MUSCLES, map(float, found)))


def add_muscles(builder: ph.ModelBuilder, kind: str, share: float, prefix: str = "") -> None:
    """The four muscles of a leg."""
    for muscle in MUSCLES:
        masses = belly(muscle, share, lengths(kind)[muscle])
        builder.add_muscle(f"{prefix}{muscle}", path(muscle, kind, prefix), masses=masses)


def build_model(kind: str, share: float = SHARE) -> ph.Model:
    """One leg; share 0: its muscles have no mass and are left out."""
    builder = ph.ModelBuilder()
    add_leg(builder, share)
    if share:
        add_muscles(builder, kind, share)
    return builder.build()


def build_all(lanes: dict[str, float]) -> ph.Model:
    """The legs side by side, {kind: y [m]}; names begin with the kind."""
    builder = ph.ModelBuilder()
    for kind, aside in lanes.items():
        add_leg(builder, SHARE, f"{kind} ", aside)
    for kind in lanes:
        add_muscles(builder, kind, SHARE, f"{kind} ")
    return builder.build()


def moments(of: ph.Model, times: FloatArray) -> FloatArray:
    """Generalized forces (n, 4) for the motion of one leg whose foot touches nothing."""
    q, qd, qdd = (coordinates(times, order) for order in range(3))
    return np.array([ph.inverse_dynamics(of, of.state(q[k], qd[k]), qdd[k]) for k in range(len(times))])
