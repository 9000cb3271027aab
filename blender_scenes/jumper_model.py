"""A figure of five links that jumps down on a stiff plank, takes off again and turns a somersault. No Blender.

Ertl et al. 1993, Fig. 5: the figure moves in a vertical plane; feet meet the plank by eq. 8. It is either rigid, or
most of its trunk, thighs and shanks wobbles on the bones (eq. 16). Torques at its four joints move them towards target
angles; a search along gradients (`jumper_search`) found these for each figure.
"""

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
# kg m^2 about the mass centre
INERTIAS = {"Trunk": 2.2, "Arms": 0.26, "Thighs": 0.23, "Shanks": 0.11, "Feet": 0.018}
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


@dataclass(frozen=True, eq=False)
class Plan:
    """The figure's actions as numbers that can be searched.

    Angles are those of shoulder, hip, knee, ankle [rad]: 0 hanging arms, straight legs, soles square to the shanks;
    positive is forward for the arms and thighs, and toes up; bent knees are negative.

    Attributes:
        speed: forward at first [m/s]. lean: of the trunk at first, forward is negative [rad]. turn: its rate [rad/s].
        targets: of the joints at the knots (K, 4), straight between them.
    """

    speed: float
    lean: float
    turn: float
    targets: tuple[tuple[float, ...], ...]


#: times of the targets [s]
KNOTS = (0.0, 0.2, 0.36, 0.45, 0.55, 0.65, 0.75, 0.85, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, SECONDS)
BEGIN = (1.2, 0.25, -0.35, -0.2)  # angles at the start
# found by `jumper_search`, the second from the first
RIGID = Plan(
    2.8195, 0.0224, 0.6552,
    (
        (0.8421, 0.694, -0.2521, -0.1975), (2.3601, 0.3048, -1.1502, 0.0118), (2.6384, 0.3803, -0.965, 0.1716),
        (2.1082, 0.5355, -1.0316, 0.3068), (1.5925, 1.5737, -0.4991, -0.4425), (2.0547, 1.3196, -0.02, -0.1981),
        (0.8196, 1.965, -1.4225, -0.3761), (0.3171, 2.2446, -2.365, -0.2574), (0.7466, 2.2906, -1.8656, -0.0989),
        (1.1717, 1.2344, -0.8019, 0.0319), (1.4512, 1.0569, -1.0177, 0.1176), (1.2605, 1.1796, -1.099, 0.2611),
        (1.3587, 1.1614, -1.1551, 0.2516), (1.4001, 1.1003, -1.2007, 0.2502), (1.3998, 1.1014, -1.1984, 0.2498),
    ),
)  # fmt: skip
WOBBLING_PLAN = Plan(
    3.0059, 0.011, 0.8089,
    (
        (0.7383, 0.8142, -0.2446, -0.1974), (2.2733, 0.3253, -1.2748, -0.0027), (2.6024, 0.4455, -1.0955, 0.1019),
        (2.1289, 0.3742, -1.1152, 0.4301), (1.8569, 1.4291, -0.6313, -0.3442), (2.2236, 0.8671, -0.02, -0.3478),
        (0.808, 1.8668, -1.3686, -0.3828), (0.2002, 2.085, -2.3814, -0.2585), (0.4622, 2.4, -2.0952, -0.0999),
        (1.0852, 1.4246, -0.8819, 0.0224), (1.5863, 0.9884, -0.9722, 0.1118), (1.0782, 1.3199, -1.0141, 0.2995),
        (1.3086, 1.1993, -1.1738, 0.236), (1.4182, 1.1473, -1.175, 0.2552), (1.3819, 1.1118, -1.1349, 0.2298),
    ),
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


def controls(model: ph.Model, plan: Plan) -> ph.Table:
    """Target angles over time."""
    values = np.tile(model.with_inputs(None), (len(KNOTS), 1))
    values[:, target_columns(model)] = plan.targets
    return ph.Table(KNOTS, values)


def target_columns(model: ph.Model) -> list[int]:
    """Columns of the targets of the joints, after coordinates, among forces and inputs."""
    return [model.num_coordinates + model.input_names.index(f"{name}.angle.target") for name in JOINTS]


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
