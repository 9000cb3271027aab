"""A finger with the mass of its two long flexors, flicked at the tip. No Blender.

Wang 2022, sec. 6.2.5 and Fig. 1.1: flexor digitorum profundus and superficialis come from near the elbow and end on the
last and the middle bone. If lumped, their mass lies in the fixed forearm and does not affect the finger.
"""

from dataclasses import dataclass

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.muscles import PathPoint

# x towards the fingertip, z towards the back of the hand; the origin is the finger's first joint [m]
BONES = ("Proximal", "Middle", "Distal")
LENGTHS = (0.042, 0.026, 0.019)
RADII = (0.0050, 0.0042, 0.0036, 0.0026)  # at the joints and the tip
DENSITY = 5000.0  # kg/m^3: the bones carry the mass of the whole finger
MUSCLE_MASS, NUM_POINTS = 0.2, 20  # kg each
ELBOW, WRIST = -0.320, -0.070  # x of the muscles' origins, and of the wrist [m]
BENT = np.radians([20.0, 25.0, 15.0])  # at first, towards the palm
PULLEYS = {  # x and z in the bone (None: the hand) [m]; z is taken times the muscle's depth
    None: ((WRIST, -0.016), (-0.018, -0.011)),
    "Proximal": ((0.007, -0.0085), (0.026, -0.0080)),
    "Middle": ((0.005, -0.0065), (0.016, -0.0065)),
    "Distal": ((0.004, -0.0045),),
}
MUSCLES = {  # where it ends, how deep it runs, and y and z at the elbow [m]
    "Profundus": ("Distal", 1.0, 0.019, -0.018),
    "Superficialis": ("Middle", 1.15, -0.019, -0.024),
}

TIME_STEP, PUSHED_STEPS = 1e-3, 2
SECONDS = 0.25
GREATEST = 3.0  # times the energy from the push: more is a failure


@dataclass(frozen=True)
class Flick:
    """Result of a push.

    Attributes:
        result: the motion, up to where it ended.
        pushed: energy at the end of the push [J].
        greatest: largest energy since then, over `pushed`; infinite if the motion diverged.
    """

    result: ph.Result
    pushed: float
    greatest: float

    @property
    def failed(self) -> bool:
        """Whether the energy grew above GREATEST after the push."""
        return not self.greatest <= GREATEST


def bone_volume(number: int) -> float:
    """Volume of a bone's tapering shaft [m^3]."""
    first, last = RADII[number], RADII[number + 1]
    return float(np.pi * LENGTHS[number] * (first**2 + first * last + last**2) / 3.0)


def solid(number: int) -> dict[str, object]:
    """Mass, centre and inertia of a bone, as a cylinder of its volume."""
    length, mass = LENGTHS[number], DENSITY * bone_volume(number)
    square = bone_volume(number) / (np.pi * length)
    across = mass * (length**2 / 12.0 + square / 4.0)
    return {
        "mass": mass,
        "com": (0.5 * length, 0.0, 0.0),
        "inertia": np.diag([0.5 * mass * square, across, across]),
    }


def path(muscle: str) -> list[PathPoint]:
    """The path of a flexor: from the elbow under the pulleys to its end."""
    end, depth, aside, height = MUSCLES[muscle]
    points = [PathPoint(None, (ELBOW, aside, height))]
    for bone, places in PULLEYS.items():
        used = places if bone != end or end == "Distal" else places[:1]
        points += [PathPoint(bone, (x, 0.0, depth * z)) for x, z in used]
        if bone == end:
            break
    return points


def build_model(inertial: bool, velocity_terms: bool = True) -> ph.Model:
    """Three hinges that bend towards the palm; without `inertial` the muscles' mass is in the fixed forearm."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    parent, place = None, np.eye(4)
    for number, name in enumerate(BONES):
        builder.add_body(
            name, parent, joint=ph.joints.Hinge((0.0, 1.0, 0.0)), joint_in_parent=place, **solid(number)
        )
        parent, place = name, np.eye(4)
        place[0, 3] = LENGTHS[number]
    for name in MUSCLES:
        builder.add_muscle(
            name,
            path(name),
            mass=MUSCLE_MASS if inertial else 0.0,
            num_points=NUM_POINTS,
            velocity_terms=velocity_terms,
        )
    return builder.build()


def push(model: ph.Model, force: float) -> object:
    """A force towards the back of the hand, across the last bone at its tip, for the first two steps [N]."""

    def torque(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        if t > PUSHED_STEPS * TIME_STEP - 1e-9:
            return np.zeros(3)
        poses = ph.body_poses(model, model.state(q=q))
        tip = poses[2] @ np.array([LENGTHS[2], 0.0, 0.0, 1.0])
        across = force * poses[2][:3, 2]
        return np.array([np.cross(tip[:3] - pose[:3, 3], across)[1] for pose in poses])

    return torque


def flick(
    inertial: bool,
    force: float,
    integrator: str = "symplectic_euler",
    dt: float = TIME_STEP,
    seconds: float = SECONDS,
    record_interval: float | None = None,
) -> Flick:
    """Push the tip, then simulate its free motion."""
    model = build_model(inertial)
    state = model.state(q=BENT)
    broken = False
    try:
        result = ph.simulate(
            model, state, seconds, dt, integrator, tau=push(model, force), record_interval=record_interval
        )
    except ph.DivergedError as error:
        result, broken = error.result, True
    total = result.energy[:, 2]
    let_go = int(np.searchsorted(result.t, PUSHED_STEPS * TIME_STEP - 1e-9))
    if len(total) <= let_go:
        return Flick(result, float("nan"), float("inf"))
    greatest = float(np.max(total[let_go:]) / total[let_go])
    return Flick(result, float(total[let_go]), float("inf") if broken else greatest)
