"""A hand of 25 degrees of freedom that holds a ball, the motions of elbow and ball prescribed. No Blender.

Wang 2022, Fig. 6.3: the joint at the end of each finger follows the one before it (hyper-reduced coordinates, sec.
4.6.2), the elbow's angle and the fingertips are prescribed (sec. 4.6.5), all else is simulated. The fingertips stick to
the ball, whose motion is given; forces and motion are computed together.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

import physics as ph
from physics import constraints
from physics._typing import FloatArray
from physics.geometry import lie

# right hand, palm down; x towards the fingertips, y towards the thumb, z towards its back
FOREARM, FOREARM_RADII = 0.25, (0.042, 0.027)  # m
ULNA_MASS, RADIUS_MASS, PALM_MASS = 0.65, 0.55, 0.40  # kg
DENSITY = 1100.0  # of the fingers [kg/m^3]
COUPLING = 2.0 / 3.0  # flexion of a finger's last joint by that of the one before (Rijpkema & Girard 1991)


@dataclass(frozen=True)
class Finger:
    """A finger: place of its first joint in the frame of the palm, lengths of its three bones, radii at their four ends
    [m]; rotation of its first joint's frame (about z, y and x [rad], one after the other); guesses of its coordinates
    when it holds the ball, and the direction from the ball's middle to its tip.
    """

    name: str
    place: tuple[float, float, float]
    lengths: tuple[float, float, float]
    radii: tuple[float, float, float, float]
    turns: tuple[float, float, float]
    guess: tuple[float, ...]
    holds: tuple[float, float, float]

    @property
    def bones(self) -> tuple[str, str, str]:
        """Names of its bodies."""
        parts = ("metacarpal", "proximal", "distal") if self.is_thumb else ("proximal", "middle", "distal")
        return tuple(f"{self.name} {part}" for part in parts)

    @property
    def is_thumb(self) -> bool:
        return self.name == "Thumb"

    @property
    def tip(self) -> FloatArray:
        """The pad that holds (3,), in the frame of the last bone."""
        return np.array([self.lengths[2] + 0.6 * self.radii[3], 0.0, -0.7 * self.radii[3]])


FINGERS = (
    Finger("Thumb", (0.018, 0.030, -0.018), (0.044, 0.032, 0.022), (0.013, 0.011, 0.010, 0.008),
           (0.80, 0.40, -0.5), (0.2, 0.0, 0.5, 0.0, 0.5), (-0.15, 0.90, -0.42)),
    Finger("Index", (0.090, 0.026, 0.000), (0.044, 0.026, 0.019), (0.0100, 0.0090, 0.0080, 0.0065),
           (0.08, 0.0, 0.0), (0.8, 0.0, 0.8, 0.53), (0.80, 0.50, -0.33)),
    Finger("Middle", (0.092, 0.004, 0.002), (0.048, 0.030, 0.020), (0.0100, 0.0092, 0.0082, 0.0068),
           (0.0, 0.0, 0.0), (0.8, 0.0, 0.7, 0.46), (0.92, 0.08, -0.38)),
    Finger("Ring", (0.086, -0.017, 0.000), (0.044, 0.028, 0.020), (0.0096, 0.0087, 0.0078, 0.0064),
           (-0.08, 0.0, 0.0), (0.8, 0.0, 0.7, 0.46), (0.83, -0.40, -0.38)),
    Finger("Little", (0.078, -0.035, -0.004), (0.036, 0.021, 0.018), (0.0086, 0.0077, 0.0070, 0.0058),
           (-0.16, 0.0, 0.0), (0.7, 0.0, 0.9, 0.6), (0.40, -0.90, -0.15)),
)  # fmt: skip

BALL_RADIUS, BALL_MASS = 0.036, 0.15  # m, kg
BALL_PLACE = np.array([0.090, 0.000, -0.053])  # of its middle, from the wrist of the straight arm [m]
# of the joints, towards their first positions: N m/rad and N m s/rad
FINGER_SPRING, FINGER_DAMPING = 0.25, 1.5e-3
WRIST_SPRING, WRIST_DAMPING = 3.0, 0.08

SECONDS = 5.0
TIME_STEP = 1.0 / 4800.0
ELBOW, LIFT, TURN = np.radians(6.0), 0.018, np.radians(20.0)  # amplitudes of elbow and ball


def at(point: FloatArray | tuple[float, ...]) -> FloatArray:
    """A frame (4, 4) at a point, with unrotated axes."""
    frame = np.eye(4)
    frame[:3, 3] = point
    return frame


def cone(length: float, first: float, last: float, mass: float | None = None) -> dict[str, object]:
    """Mass, mass centre and inertia of a tapered bone along x, as a rod with the mean of its sections."""
    square = (first**2 + first * last + last**2) / 3.0
    mass = DENSITY * np.pi * square * length if mass is None else mass
    across = mass * (length**2 / 12.0 + 0.25 * square)
    return {
        "mass": mass,
        "com": (0.5 * length, 0.0, 0.0),
        "inertia": np.diag([0.5 * mass * square, across, across]),
    }


def build_model(couples: bool = True, holds: bool = True, rest: FloatArray | None = None) -> ph.Model:
    """Forearm, hand and ball. Elbow and ball are moved by `motions`.

    couples, holds: whether the ends of the fingers follow, and whether the fingertips stick to the ball. rest: rest
    angles of the joints' springs by coordinate of the arm (25,); the guesses if not given.
    """
    rest = guesses() if rest is None else rest
    builder = ph.ModelBuilder()
    hinge, universal = ph.joints.Hinge((0.0, 1.0, 0.0)), ph.joints.Universal((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    builder.add_body("Ulna", joint=hinge, **cone(FOREARM, *FOREARM_RADII, ULNA_MASS))
    builder.add_body(
        "Radius", "Ulna", joint=ph.joints.Hinge((1.0, 0.0, 0.0)), stiffness=WRIST_SPRING, rest=rest[1],
        damping=WRIST_DAMPING, **cone(FOREARM, *FOREARM_RADII, RADIUS_MASS),
    )  # fmt: skip
    builder.add_body(
        "Palm", "Radius", joint=universal, joint_in_parent=at((FOREARM, 0.0, 0.0)), mass=PALM_MASS,
        com=(0.05, 0.0, 0.0), inertia=PALM_MASS / 12.0 * np.diag([0.085**2, 0.10**2, 0.13**2]),
        stiffness=WRIST_SPRING, rest=rest[2:4], damping=WRIST_DAMPING,
    )  # fmt: skip
    column = 4
    for finger in FINGERS:
        parent, place = "Palm", at(finger.place)
        for axis, angle in zip((2, 1, 0), finger.turns):
            place[:3, :3] = place[:3, :3] @ lie.so3_exp(angle * np.eye(3)[axis])
        for number, name in enumerate(finger.bones):
            joint = universal if number < (2 if finger.is_thumb else 1) else hinge
            count = joint.num_coordinates
            builder.add_body(
                name, parent, joint=joint, joint_in_parent=place, stiffness=FINGER_SPRING, damping=FINGER_DAMPING,
                rest=rest[column : column + count],
                **cone(finger.lengths[number], *finger.radii[number : number + 2]),
            )  # fmt: skip
            parent, place, column = name, at((finger.lengths[number], 0.0, 0.0)), column + count
    builder.add_body(
        "Ball", joint=ph.joints.Free(), mass=BALL_MASS, inertia=0.4 * BALL_MASS * BALL_RADIUS**2 * np.eye(3)
    )
    for finger in FINGERS:
        if couples and not finger.is_thumb:
            follows = constraints.CouplingConstraint(
                f"{finger.bones[2]}.angle", {f"{finger.bones[1]}.angle": COUPLING}
            )
            builder.add_constraint(f"{finger.name} coupling", follows)
        if holds:
            held = BALL_RADIUS * np.array(finger.holds) / np.linalg.norm(finger.holds)
            builder.add_constraint(
                f"{finger.name} tip", constraints.PointConstraint(finger.bones[2], "Ball", finger.tip, held)
            )
    return builder.build()


def guesses() -> FloatArray:
    """Approximate coordinates (25,) of the arm when the hand holds the ball."""
    return np.array([0.0, 0.0, -0.25, 0.0, *(angle for finger in FINGERS for angle in finger.guess)])


@cache
def start_coordinates() -> tuple[float, ...]:
    """All coordinates at first: the fingers hold the ball, the arm is nearest to the guesses."""
    model = build_model()
    ball = [FOREARM + BALL_PLACE[0], BALL_PLACE[1], BALL_PLACE[2], 0.0, 0.0, 0.0]
    # the ball and the arm do not move; their motions are given
    found = ph.assemble(model, model.state(q=[*guesses(), *ball]))
    return tuple(found.q)


@cache
def the_model() -> ph.Model:
    """The whole model; its springs are slack at first."""
    return build_model(rest=np.array(start_coordinates())[:25])


def start(model: ph.Model) -> ph.State:
    """First state: at rest, holding the ball."""
    return model.state(q=start_coordinates())


def swing(times: FloatArray, turns: float) -> FloatArray:
    """A curve that goes from 0 smoothly into this number of waves of height 1, and smoothly back to 0."""
    ramp = np.clip(np.minimum(times, times[-1] - times) / 0.8, 0.0, 1.0)
    return ramp**2 * (3.0 - 2.0 * ramp) * np.sin(2.0 * np.pi * turns * times / times[-1])


def motions(seconds: float = SECONDS) -> dict[str, ph.Motion]:
    """Motions of elbow and ball: the forearm swings up and down, the ball half as far, and turning about the
    vertical."""
    times = np.linspace(0.0, seconds, 101)
    begin = np.array(start_coordinates())
    ball = np.tile(begin[25:], (len(times), 1))
    ball[:, 2] += LIFT * swing(times, 2.0)
    ball[:, 5] += TURN * swing(times, 1.0)
    return {"Ulna": ph.Motion(times, begin[0] - ELBOW * swing(times, 2.0)), "Ball": ph.Motion(times, ball)}


def tip_forces(result: ph.Result) -> dict[str, FloatArray]:
    """Force (n, 3) [N] of the ball on each fingertip, in the world's axes."""
    ball = result.poses[:, result.model.index("Ball"), :3, :3]
    forces = result.constraint_forces
    return {finger.name: np.einsum("nij,nj->ni", ball, forces[f"{finger.name} tip"]) for finger in FINGERS}


def tip_gap(result: ph.Result) -> float:
    """Largest distance [m] of a fingertip from its place on the ball."""
    model, largest = result.model, 0.0
    for finger in FINGERS:
        tip = model.constraints[f"{finger.name} tip"]
        pair = [
            result.poses[:, model.index(body)] @ np.append(point, 1.0)
            for body, point in ((tip.body, tip.point), (tip.other, tip.other_point))
        ]
        largest = max(largest, float(np.abs(pair[0] - pair[1]).max()))
    return largest


def coupling_gap(result: ph.Result) -> float:
    """Largest error [rad] of the coupling of a finger's last joint."""
    model = result.model
    pairs = [[model.coordinate_slice(bone).start for bone in finger.bones[1:]] for finger in FINGERS[1:]]
    return float(max(np.abs(result.q[:, last] - COUPLING * result.q[:, lead]).max() for lead, last in pairs))


def work_balance(result: ph.Result) -> float:
    """Difference between the energy and the work of elbow, ball and dampers, over the largest work."""
    damping = np.concatenate([body.damping for body in result.model.bodies])
    power = np.sum(result.efforts * result.qd, axis=1) - result.qd**2 @ damping
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(result.t))])
    gained = result.energy[:, 2] - result.energy[0, 2]
    return float(np.abs(gained - work).max() / np.abs(work).max())


def hyper_reduced() -> ph.HyperReduced:
    """The same hand without ball and constraints, the fingers' ends coupled to the joints before them."""
    function = ph.joints.functions.Linear(COUPLING)
    model = build_model(couples=False, holds=False)
    return ph.HyperReduced.coupled(
        model, {f"{finger.bones[2]}.angle": (f"{finger.bones[1]}.angle", function) for finger in FINGERS[1:]}
    )


def free_accelerations() -> tuple[FloatArray, FloatArray]:
    """Accelerations (31,) of the open, moving hand: hyper-reduced, and with the couplings as constraints."""
    reduced = hyper_reduced()
    rng = np.random.default_rng(3)
    h, hd = rng.uniform(0.1, 0.6, reduced.num_coordinates), rng.uniform(-2.0, 2.0, reduced.num_coordinates)
    coupled = build_model(holds=False)
    state = reduced.state(h, hd)
    constrained = ph.constrained_dynamics(coupled, coupled.state(q=state.q, qd=state.qd)).qdd
    return reduced.accelerations(h, hd, reduced.forward_dynamics(h, hd)), constrained
