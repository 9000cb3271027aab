"""An arm with heavy muscles that reaches, by torques and excitations that gradients of its simulation find. No Blender.

After Wang 2022, Fig. 6.20 and sec. 6.2.11: constant torques at shoulder and elbow bring the hand to a target. Then, as
the paper proposes, more is wanted: that the hand is at rest there, that it follows a path, and that muscles do it. The
arm, its bones and the paths of its muscles are those of `arm_model`.
"""

from dataclasses import dataclass

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.muscles import MassPoints, Tension

from . import arm_model
from .arm_model import HEADS

SECONDS, TIME_STEP, INTEGRATOR = 0.4, 5e-3, "sdirk2"
HAND = (0.0, 0.0, -0.40)  # m, in the forearm: the middle of the fist
AWAY = np.array([0.10, -0.06, 0.12])  # m, from the hand's first place to the target
NUM_POINTS = 8
KNOTS = np.linspace(0.0, SECONDS, 8)
PULLS = np.linspace(0.0, SECONDS, 5)  # knots of the excitations
ARC = 0.06  # m, by which the path swings out to the right
# weights: of the squared speed at the end against the squared miss, and of efforts
SLOWNESS, TORQUE_WEIGHT, PULL_WEIGHT = 1e-2, 1e-9, 1e-6
MOST_GRADIENTS = {"constant torques": 40, "to rest": 120, "along a path": 40, "by excitations": 120}


def build_model(pulling: bool = False) -> ph.Model:
    """The arm with the mass of its muscles; pulling: each follows an excitation, its law a tension without delay."""
    builder = arm_model.skeleton()
    for name, head in HEADS.items():
        tendons = arm_model.lengths(*arm_model.START)[name] * np.array(head.tendons)
        masses = MassPoints.belly(head.mass, NUM_POINTS, tendons=tendons)
        law = Tension(head.force) if pulling else None
        builder.add_muscle(name, arm_model.path(name), masses=masses, law=law)
    return builder.build()


def hand(model: ph.Model, state: ph.State) -> FloatArray:
    """Its place (3,)."""
    frame = ph.body_poses(model, state)[model.index("Forearm")]
    return frame[:3, :3] @ HAND + frame[:3, 3]


def hand_along(result: ph.Result) -> FloatArray:
    """Its places (n, 3)."""
    frames = result.poses[:, result.model.index("Forearm")]
    return frames[:, :3, :3] @ HAND + frames[:, :3, 3]


def path(begin: FloatArray, times: FloatArray) -> FloatArray:
    """Places (n, 3) on an arc from the hand's first place to the target: it starts and ends slowly."""
    share = 0.5 - 0.5 * np.cos(np.pi * times / SECONDS)
    side = np.sin(np.pi * share)[:, None] * np.array([0.0, -ARC, 0.0])
    return begin + share[:, None] * AWAY + side


@dataclass(frozen=True)
class Solved:
    """A task's answer, simulated anew: its miss [m] (of a path: root mean square), the largest speed of a coordinate at
    the end [rad/s], and how many gradients it took. inputs: torques and excitations, constant or over time.
    """

    task: str
    result: ph.Result
    inputs: FloatArray | ph.Table
    miss: float
    speed: float
    gradients: int


def solve(task: str) -> Solved:
    """Search for what a task of `MOST_GRADIENTS` wants."""
    goals, pulling = ph.objectives, task == "by excitations"
    model = build_model(pulling)
    state = arm_model.start(model)
    begin = hand(model, state)
    target = begin + AWAY
    wanted = goals.Reach("Forearm", target, point=HAND)
    parameters = [ph.Parameter("torque", name) for name in model.coordinate_names]
    holding, tau = ph.inverse_dynamics(model, state), None
    effort = TORQUE_WEIGHT * goals.Effort()
    if task == "to rest":
        wanted = wanted + SLOWNESS * goals.Rest()
    elif task == "along a path":
        times = np.linspace(0.0, SECONDS, 17)
        wanted = goals.Path("Forearm", times, path(begin, times), point=HAND)
    elif pulling:
        parameters = [ph.Parameter("input", name) for name in model.input_names]
        effort = PULL_WEIGHT * goals.Effort(model.input_names)
        row = model.with_inputs({f"{name}.excitation": HEADS[name].excitation[0] for name in HEADS})
        tau = ph.Table(PULLS, np.tile(row, (len(PULLS), 1)))
    if task in ("to rest", "along a path"):
        tau = ph.Table(KNOTS, np.tile(holding, (len(KNOTS), 1)))
    found = ph.optimize(
        model, state, SECONDS, TIME_STEP, integrator=INTEGRATOR, objective=wanted + effort, parameters=parameters,
        tau=tau, most_gradients=MOST_GRADIENTS[task],
    )  # fmt: skip
    result = ph.simulate(found.model, found.state, SECONDS, TIME_STEP, INTEGRATOR, tau=found.inputs)
    places = hand_along(result)
    off = places[-1] - target
    if task == "along a path":
        off = (places - path(begin, result.t))[1:] / np.sqrt(len(places) - 1)
    speed = float(np.abs(result.qd[-1]).max())
    return Solved(task, result, found.inputs, float(np.linalg.norm(off)), speed, found.gradients)
