"""A figure of five links that jumps down on a stiff plank, takes off again and turns a somersault. No Blender.

Ertl et al. 1993, Fig. 5: the figure moves in a vertical plane; feet meet the plank by eq. 8. It is either rigid, or
most of its trunk, thighs and shanks wobbles on the bones (eq. 16). Torques at its four joints move them towards keyed
angles; a search (`jumper_search`) found the keys for each figure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import physics as ph
from physics._typing import FloatArray

# both legs and both arms of a person of 70 kg and 1.75 m as one link each; shares of mass after Winter 2009, table 4.1
HIP_SHOULDER, HEAD = 0.50, 0.80  # above the hip [m]
THIGH, SHANK, ARM = 0.43, 0.43, 0.62
HEEL, TOE = (-0.06, -0.07), (0.18, -0.07)  # from the ankle, forward and up [m]
MASSES = {"Trunk": 40.4, "Arms": 7.0, "Thighs": 14.0, "Shanks": 6.5, "Feet": 2.0}  # kg
CENTERS = {
    "Trunk": (0.0, 0.34),
    "Arms": (0.0, -0.30),
    "Thighs": (0.0, -0.186),
    "Shanks": (0.0, -0.186),
    "Feet": (0.05, -0.04),
}
INERTIAS = {
    "Trunk": 2.2,
    "Arms": 0.26,
    "Thighs": 0.23,
    "Shanks": 0.11,
    "Feet": 0.018,
}  # kg m^2 about the mass centre
LINKS = tuple(MASSES)
JOINTS = ("Arms", "Thighs", "Shanks", "Feet")  # shoulder, hip, knee, ankle by their child bodies

STRENGTH = {"Arms": 200.0, "Thighs": 800.0, "Shanks": 700.0, "Feet": 500.0}  # N m, at most
STIFFNESS = {"Arms": 160.0, "Thighs": 1100.0, "Shanks": 1100.0, "Feet": 700.0}  # N m/rad of the controllers
DAMPING = {"Arms": 12.0, "Thighs": 60.0, "Shanks": 45.0, "Feet": 18.0}  # N m s/rad

PLANK = {"stiffness": 5e5, "exponent": 1.0, "damping": 2500.0, "friction": 0.9, "smooth_speed": 0.05}
SOLE = 0.012  # radius of the points of contact [m]

# share of a segment that wobbles, and its coupling to the bone (eq. 16): c along, c across, d along, d across, a, b
WOBBLING = {
    "Trunk": (0.55, 6e6, 3e6, 900.0, 900.0, 600.0, 25.0),
    "Thighs": (0.65, 1.5e7, 1e7, 500.0, 500.0, 250.0, 5.0),
    "Shanks": (0.45, 2e7, 1e7, 200.0, 200.0, 80.0, 1.5),
}

TIME_STEP = 1.0 / 2400.0
FLIGHT = 0.2  # s off the plank that count as a flight
SECONDS = 2.0
START_HEIGHT = 0.70  # of the hip above its place in upright stance on the plank [m]
STANDING = THIGH + SHANK - HEEL[1] + SOLE
# the plane's axes: x as in the world, y upward
UPWARD = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Plan:
    """The figure's actions as numbers that can be searched.

    Angles are those of shoulder, hip, knee, ankle [rad]: 0 hanging arms, straight legs, soles square to the shanks;
    positive is forward for the arms and thighs, and toes up; bent knees are negative.

    Attributes:
        speed: forward at first [m/s]. lean: of the trunk at first, forward is negative [rad]. turn: its rate [rad/s].
        down: angles for the landing. crouch, push, tuck, open, land: angles that come after it.
        times: from the first touch to crouch, then from each to the next: push, tuck, open and land [s].
    """

    speed: float
    lean: float
    turn: float
    down: tuple[float, ...]
    crouch: tuple[float, ...]
    push: tuple[float, ...]
    tuck: tuple[float, ...]
    open: tuple[float, ...]
    land: tuple[float, ...]
    times: tuple[float, ...]

    def vector(self) -> FloatArray:
        """All numbers in a row (32,)."""
        poses = (self.down, self.crouch, self.push, self.tuck, self.open, self.land)
        return np.array([self.speed, self.lean, self.turn, *(x for pose in poses for x in pose), *self.times])

    @classmethod
    def of(cls, numbers: FloatArray) -> Plan:
        """The plan from a row of numbers (32,)."""
        values = [float(x) for x in numbers]
        poses = [tuple(values[3 + 4 * k : 7 + 4 * k]) for k in range(6)]
        return cls(*values[:3], *poses, tuple(values[27:]))


BEGIN = (1.2, 0.25, -0.35, -0.2)  # angles at the start
FIRST_GUESS = Plan(
    speed=2.2, lean=-0.1, turn=0.0, down=(2.2, 0.55, -0.5, 0.05), crouch=(1.2, 1.0, -1.1, 0.25),
    push=(2.9, 0.25, -0.1, -0.6), tuck=(0.6, 2.2, -2.3, -0.3), open=(1.2, 0.6, -0.5, 0.0),
    land=(1.4, 1.1, -1.2, 0.25), times=(0.12, 0.16, 0.18, 0.30, 0.35),
)  # fmt: skip

# found by `jumper_search`, from the first guess and then from its results (--again, --wobbling)
RIGID = Plan(
    speed=2.2149, lean=-0.0219, turn=0.1695, down=(1.4938, 0.5496, -0.7238, 0.3147),
    crouch=(1.0856, -0.0218, -1.3401, 0.3093), push=(2.4689, 0.7766, -0.0904, -0.1198),
    tuck=(0.1728, 2.1625, -2.3073, -0.5255), open=(2.0408, 0.7982, -0.5796, -0.1359),
    land=(1.449, 1.1222, -0.9394, 0.0966), times=(0.1675, 0.1399, 0.2727, 0.3531, 0.3768),
)  # fmt: skip
WOBBLING_PLAN = Plan(
    speed=2.3475, lean=-0.0119, turn=0.1795, down=(1.5412, 0.653, -0.763, 0.2788),
    crouch=(1.0775, 0.01, -1.4165, 0.3242), push=(2.4014, 0.7903, -0.02, -0.1322),
    tuck=(0.2296, 2.323, -2.2335, -0.4838), open=(2.0117, 0.8332, -0.6821, -0.158),
    land=(1.4173, 1.0226, -0.9489, 0.1506), times=(0.1685, 0.1606, 0.2638, 0.3475, 0.3701),
)  # fmt: skip


def shifted(x: float, y: float) -> FloatArray:
    """A frame (4, 4) at a point of the plane."""
    frame = np.eye(4)
    frame[:2, 3] = x, y
    return frame


def turning(inertia: float) -> FloatArray:
    """An inertia (3, 3) for planar motion: that of a ball with this moment about the normal."""
    return inertia * np.eye(3)


def build_model(wobbling: bool = False, lane: float = 0.0) -> ph.Model:
    """The figure in the plane at y = `lane`; body axes are x forward, y up where all angles are zero."""
    builder = ph.ModelBuilder()
    plane = UPWARD.copy()
    plane[1, 3] = lane
    parents = {
        "Trunk": (None, ph.joints.Planar(), plane),
        "Arms": ("Trunk", ph.joints.Hinge(), shifted(0.0, HIP_SHOULDER)),
        "Thighs": ("Trunk", ph.joints.Hinge(), np.eye(4)),
        "Shanks": ("Thighs", ph.joints.Hinge(), shifted(0.0, -THIGH)),
        "Feet": ("Shanks", ph.joints.Hinge(), shifted(0.0, -SHANK)),
    }
    for name, (parent, joint, place) in parents.items():
        share = WOBBLING[name][0] if wobbling and name in WOBBLING else 0.0
        builder.add_body(
            name, parent, joint=joint, joint_in_parent=place, mass=(1.0 - share) * MASSES[name],
            com=(*CENTERS[name], 0.0), inertia=(1.0 - share) * turning(INERTIAS[name]),
        )  # fmt: skip
    if wobbling:
        for name in WOBBLING:
            add_wobbling(builder, name)
    builder.add_ground("Plank", "Feet", [(*HEEL, 0.0), (*TOE, 0.0)], radius=SOLE, **PLANK)
    for name in JOINTS:
        builder.add_controller(
            name, name, stiffness=STIFFNESS[name], damping=DAMPING[name], force_limit=STRENGTH[name]
        )
    return builder.build()


def add_wobbling(builder: ph.ModelBuilder, name: str) -> None:
    """Add the soft part of a segment, with the same mass centre as its bones."""
    share, along, across, slow_along, slow_across, turn, slow_turn = WOBBLING[name]
    builder.add_wobbling_mass(
        f"{name} soft", name, mass=share * MASSES[name], inertia=share * turning(INERTIAS[name]),
        axis=(0.0, 1.0, 0.0), normal=(0.0, 0.0, 1.0), stiffness_along=along, stiffness_across=across,
        damping_along=slow_along, damping_across=slow_across, stiffness_rotation=turn,
        damping_rotation=slow_turn,
    )  # fmt: skip


def start(model: ph.Model, plan: Plan) -> ph.State:
    """First state: in the air above the plank's end, moving forward."""
    q = {"Trunk": [0.0, STANDING + START_HEIGHT, plan.lean], **dict(zip(JOINTS, BEGIN))}
    return model.state(q=q, qd={"Trunk": [plan.speed, 0.0, plan.turn]})


def first_touch(plan: Plan) -> float:
    """Approximate time [s] at which the feet meet the plank: the hip falls to the reach of the legs at the target
    angles."""
    lean, hip, knee = plan.lean, plan.down[1], plan.down[2]
    legs = THIGH * np.cos(lean + hip) + SHANK * np.cos(lean + hip + knee) - HEEL[1] + SOLE
    return float(np.sqrt(2.0 * max(STANDING + START_HEIGHT - legs, 0.05) / 9.81))


def controls(model: ph.Model, plan: Plan) -> ph.Table:
    """Target angles over time."""
    touch = first_touch(plan)
    times = [0.0, 0.6 * touch, touch, *(touch + np.cumsum(plan.times))]
    poses = [BEGIN, plan.down, plan.down, plan.crouch, plan.push, plan.tuck, plan.open, plan.land]
    keys = {f"{name}.angle": (times, [pose[k] for pose in poses]) for k, name in enumerate(JOINTS)}
    return ph.keyframe_table(model, keys)


def jump(model: ph.Model, plan: Plan, seconds: float = SECONDS, every: int = 10) -> ph.Result:
    """The motion, with a sample after every `every` steps."""
    return ph.simulate(
        model, start(model, plan), seconds, TIME_STEP, "sdirk2", tau=controls(model, plan),
        record_interval=every * TIME_STEP,
    )  # fmt: skip


@dataclass(frozen=True)
class Course:
    """Result of a plan, from the samples (n,) of a motion.

    Attributes:
        height: of the lower end of the sole above the plank, without deformation [m].
        center: of mass, x and z (n, 2) [m].
        touch, takeoff, landing: samples of the first touch, the last contact before the flight, and the touch after
            it; -1 if there is none.
    """

    height: FloatArray
    center: FloatArray
    touch: int
    takeoff: int
    landing: int


def course(result: ph.Result) -> Course:
    """The phases of a jump."""
    model = result.model
    feet = result.poses[:, model.index("Feet")]
    height = np.min([(feet @ np.array([*point, 0.0, 1.0]))[:, 2] for point in (HEEL, TOE)], axis=0) - SOLE
    masses = np.array([body.mass for body in model.bodies])
    centers = np.stack(
        [(result.poses[:, k] @ np.append(body.com, 1.0))[:, [0, 2]] for k, body in enumerate(model.bodies)],
        axis=1,
    )
    center = np.einsum("k,nkj->nj", masses, centers) / masses.sum()
    touching = height < 0.0
    touch = int(np.argmax(touching)) if touching.any() else -1
    takeoff = landing = -1
    if touch >= 0:
        edges = np.flatnonzero(np.diff(np.concatenate([[1], touching[touch:].astype(int), [1]])))
        spans = [(edges[k], edges[k + 1]) for k in range(0, len(edges) - 1, 2)]
        spans = [span for span in spans if result.t[touch + span[1] - 1] - result.t[touch + span[0]] > FLIGHT]
        if spans:
            takeoff = touch + int(spans[0][0]) - 1
            landing = touch + int(spans[0][1])
            landing = landing if landing < len(height) else -1
    return Course(height, center, touch, takeoff, landing)


def angular_momentum(result: ph.Result, samples: slice = slice(None)) -> FloatArray:
    """Angular momentum (n,) [kg m^2/s] about the mass centre, backward positive, from the root's momenta."""
    model, found = result.model, []
    for q, qd, center in zip(result.q[samples], result.qd[samples], course(result).center[samples]):
        p = ph.mass_matrix(model, model.state(q=q))[:3] @ qd
        away = center - q[:2]
        found.append(p[2] - away[0] * p[1] + away[1] * p[0])
    return np.array(found)
