"""An arm that Hill-type muscles with mass lift and stretch: deltoid and triceps over obstacles. No Blender.

After Wang 2022, Fig. 6.20: the three heads of deltoid run over the humerus, a sphere-capped cylinder about its head and
neck, those of triceps over a cylinder at the elbow. The shoulder is a ball joint, its blade is static; the elbow is
a hinge. Axes are Blender's: x forward, y to the left, z up.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from physics.muscles import Cylinder, MassPoints, Millard, PathPoint, SphereCappedCylinder, Wrap

from .anatomy.forearm import ELBOW
from .shoulder_model import REST, clavicle_length, clavicle_pose, gliding_pose, rod_inertia, shoulder_frame

SECONDS, TIME_STEP = 1.0, 1e-3
# Winter 2009, table 4.1, for 75 kg: the upper arm's 2.1 kg without triceps; forearm and hand
UPPER_MASS, LOWER_MASS = 1.7, 1.65
SHOULDER_DAMPING, ELBOW_DAMPING = 2.5, 0.5  # N m s
START = np.radians([45.0, 15.0, 118.0])  # forward and outward at the shoulder, flexed at the elbow
NUM_POINTS = 16
# m, of the obstacle of deltoid: its radius about the head, its length down the bone
HEAD_RADIUS, NECK = 0.0375, 0.08
ELBOW_RADIUS = 0.025  # m
SMOOTHING = 1.5e-3  # m, less than the distance of muscles' ends from the obstacles
TUBEROSITY, OLECRANON = (0.0, -0.038, -0.135), (-0.0205, 0.008, 0.0235)  # m, in humerus and forearm


@dataclass(frozen=True)
class Head:
    """A head of a muscle: largest force [N], fibre length [m] and pennation [rad] of Holzbaur et al. 2005, mass [kg] by
    its share of the muscle's volume (Holzbaur et al. 2007), shares of the path that are tendon; bone and place [m] of
    its origin; excitation at TIMES.
    """

    force: float
    fibre: float
    pennation: float
    mass: float
    tendons: tuple[float, float]
    bone: str
    origin: tuple[float, float, float]
    excitation: tuple[float, ...]


TIMES = (0.0, 0.1, 0.4, 0.6)  # s
HEADS = {
    "deltoid anterior": Head(1142.6, 0.0976, 0.384, 0.17, (0.05, 0.22), "Clavicle", (0.80, 0.010, 0.006),
                             (0.25, 0.22, 0.22, 0.22)),
    "deltoid middle": Head(1142.6, 0.1078, 0.262, 0.18, (0.05, 0.22), "Scapula", (0.0735, 0.0605, 0.024),
                           (0.35, 0.42, 0.42, 0.42)),
    "deltoid posterior": Head(259.9, 0.1367, 0.314, 0.05, (0.05, 0.22), "Scapula", (0.040, 0.0535, 0.0275),
                              (0.02, 0.05, 0.05, 0.05)),
    "triceps long": Head(798.5, 0.1340, 0.209, 0.17, (0.06, 0.40), "Scapula", (0.046, 0.004, -0.006),
                         (0.01, 0.04, 0.04, 0.08)),
    "triceps lateral": Head(624.3, 0.1138, 0.157, 0.12, (0.05, 0.45), "Humerus", (-0.0105, -0.030, -0.085),
                            (0.01, 0.04, 0.04, 0.08)),
    "triceps medial": Head(624.3, 0.1138, 0.157, 0.10, (0.05, 0.45), "Humerus", (-0.0125, -0.020, -0.140),
                           (0.01, 0.04, 0.04, 0.08)),
}  # fmt: skip


def scapula() -> FloatArray:
    """Pose (4, 4) of the static blade."""
    return gliding_pose(*REST, 0.0)


def place(head: Head) -> tuple[str | None, FloatArray]:
    """Body and place (3,) of a head's origin; x on the clavicle is a share of its length."""
    origin = np.array(head.origin)
    if head.bone == "Humerus":
        return "Humerus", origin
    base = scapula()
    if head.bone == "Clavicle":
        base, origin = clavicle_pose(base), origin * (clavicle_length(), 1.0, 1.0)
    return None, base[:3, :3] @ origin + base[:3, 3]


def path(name: str) -> list[Any]:
    head = HEADS[name]
    body, origin = place(head)
    frame = np.eye(4)
    if name.startswith("deltoid"):
        frame[2, 3] = -0.5 * NECK
        side = "+x" if name == "deltoid anterior" else "shorter"
        over: Any = SphereCappedCylinder(
            body="Humerus", frame=frame, radius=HEAD_RADIUS, length=NECK, side=side
        )
        return [PathPoint(body, origin), Wrap(over, SMOOTHING), PathPoint("Humerus", TUBEROSITY)]
    frame[:3, :3] = lie.so3_exp(np.array([-0.5 * np.pi, 0.0, 0.0]))  # z to the left
    frame[:3, 3] = ELBOW
    over = Cylinder(body="Humerus", frame=frame, radius=ELBOW_RADIUS, length=0.08, side="-x")
    return [PathPoint(body, origin), Wrap(over, SMOOTHING), PathPoint("Forearm", OLECRANON)]


def skeleton(free: bool = False) -> ph.ModelBuilder:
    """Upper arm and forearm; free: without damping and limits."""
    damped = 0.0 if free else 1.0
    builder = ph.ModelBuilder()
    shoulder, elbow = scapula() @ shoulder_frame(), np.eye(4)
    elbow[:3, 3] = ELBOW
    builder.add_body(
        "Humerus", joint=ph.joints.Spherical(), joint_in_parent=shoulder, mass=UPPER_MASS,
        com=(0.0, -0.02, -0.14), inertia=rod_inertia(UPPER_MASS, 0.30, 0.045, 2), damping=damped * SHOULDER_DAMPING,
    )  # fmt: skip
    builder.add_body(
        "Forearm", "Humerus", joint=ph.joints.Hinge((0.0, -1.0, 0.0)), joint_in_parent=elbow, mass=LOWER_MASS,
        com=(0.0, 0.0, -0.17), inertia=rod_inertia(LOWER_MASS, 0.40, 0.035, 2), damping=damped * ELBOW_DAMPING,
        limits=None if free else np.radians([[2.0, 140.0]]),
    )  # fmt: skip
    return builder


def coordinates(forward: float, outward: float, flexion: float) -> FloatArray:
    """Coordinates of shoulder and elbow (4,) for the hanging arm moved forward and outward by these angles [rad]."""
    # about -y the arm, which points along -z, comes forward; about -x it comes out to the right
    turn = lie.so3_exp(np.array([-outward, 0.0, 0.0])) @ lie.so3_exp(np.array([0.0, -forward, 0.0]))
    upright = (scapula() @ shoulder_frame())[:3, :3]
    return np.array([*lie.so3_log(upright.T @ turn @ upright), flexion])


@cache
def lengths(*angles: float) -> dict[str, float]:
    """Lengths of all heads' paths [m] with the arm at these angles of `coordinates`."""
    builder = skeleton()
    for name in HEADS:
        builder.add_muscle(name, path(name), masses=MassPoints.uniform(HEADS[name].mass, 1))
    of = builder.build()
    found = ph.muscle_lengths(of, of.state(q=coordinates(*angles))).lengths
    return dict(zip(HEADS, map(float, found)))


def law(name: str) -> Millard:
    """The force law of a head: fibres have their optimal lengths with the arm half lifted and the elbow half bent."""
    head = HEADS[name]
    tendon = lengths(*np.radians([40.0, 15.0, 60.0]))[name] - head.fibre * np.cos(head.pennation)
    return Millard(
        max_isometric_force=head.force, optimal_fibre_length=head.fibre, tendon_slack_length=tendon,
        pennation=head.pennation,
    )  # fmt: skip


def build_model(free: bool = False) -> ph.Model:
    """The arm with its muscles and their mass, in bellies between tendons; free: nothing pulls, damps or limits."""
    builder = skeleton(free)
    for name, head in HEADS.items():
        tendons = lengths(*START)[name] * np.array(head.tendons)
        masses = MassPoints.belly(head.mass, NUM_POINTS, tendons=tendons)
        given = {} if free else {"law": law(name), "activation": head.excitation[0]}
        builder.add_muscle(name, path(name), masses=masses, **given)
    return builder.build()


def start(of: ph.Model) -> ph.State:
    """First state: at rest, the elbow bent."""
    return of.state(q=coordinates(*START))


def drift(seconds: float = 0.2) -> float:
    """Change of the total energy over the largest kinetic energy, without pull and damping; Runge-Kutta 4.

    After 0.19 s the free arm has turned inward so far that the anterior head winds half round the humerus: its side
    keeps it in front. After 0.27 s, turned by 110 degrees, which no shoulder can, it slips off over the head, and its
    mass jumps.
    """
    of = build_model(free=True)
    state = of.state(q=coordinates(*np.radians([25.0, 15.0, 30.0])))
    result = ph.simulate(of, state, seconds, TIME_STEP, "rk4", record_interval=0.01)
    return float(np.ptp(result.energy[:, 2]) / result.energy[:, 0].max())
