"""The search for the plan of the jumping figure: goals, met one after the other along gradients of the motion.

    python -m blender_scenes.jumper_search [--wobbling]      prints the plan that it found

It begins with a guess of the joints' targets, which falls on its head; the figure that wobbles begins with the plan of
the rigid one. Each stage asks for poses at times, over a longer span than the one before: to jump up and turn, to tuck
and open, to land on the feet, and to stand at rest.
"""

import argparse
from typing import NamedTuple

import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import jumper_model as model
from .jumper_model import JOINTS, Plan

ANGLES = np.array([[-0.6, 3.1], [-0.3, 2.4], [-2.5, -0.02], [-0.8, 0.6]])  # shoulder, hip, knee, ankle
TARGETS = [ph.Parameter("input", f"{name}.angle.target") for name in JOINTS]
SPEED, TURN, LEAN = (
    ph.Parameter(kind, f"Trunk.{name}")
    for kind, name in (("speed", "x"), ("speed", "angle"), ("position", "angle"))
)
BOUNDS = {
    **{each: tuple(ends) for each, ends in zip(TARGETS, ANGLES)},
    SPEED: (0.5, 4.0),
    TURN: (-2.0, 2.0),
    LEAN: (-0.6, 0.4),
}
#: targets at the knots of the first guess: landing, crouch, push, tuck, opening, landing
GUESS = Plan(
    2.2, -0.1, 0.0,
    tuple(
        tuple(float(np.interp(t, (0.0, 0.2, 0.35, 0.47, 0.63, 0.81, 1.11, 1.46), column)) for column in zip(
            model.BEGIN, (2.2, 0.55, -0.5, 0.05), (2.2, 0.55, -0.5, 0.05), (1.2, 1.0, -1.1, 0.25),
            (2.9, 0.25, -0.1, -0.6), (0.6, 2.2, -2.3, -0.3), (1.2, 0.6, -0.5, 0.0), (1.4, 1.1, -1.2, 0.25)))
        for t in model.KNOTS
    ),
)  # fmt: skip


class Goal(NamedTuple):
    """Values that coordinates should have at a time [s], and how much their squared distances count."""

    time: float
    weight: float
    values: dict[str, float]


UP = Goal(1.0, 1.0, {"Trunk.angle": -3.3, "Trunk.y": 1.55})
TUCKED = Goal(1.0, 0.1, {"Thighs.angle": 2.2, "Shanks.angle": -2.2})
OPEN = Goal(1.25, 1.0, {"Trunk.angle": -6.0, "Trunk.y": 0.9, "Thighs.angle": 1.2, "Shanks.angle": -0.8})
SQUAT = {"Thighs.angle": 1.2, "Shanks.angle": -1.1, "Feet.angle": 0.3}
LANDED = Goal(1.5, 1.0, {"Trunk.angle": -6.6, "Trunk.y": 0.75, **SQUAT})
STANDING = Goal(model.SECONDS, 1.0, {"Trunk.angle": -6.8, "Trunk.y": 0.8, **SQUAT})
#: goals of each stage, how much rest at its end counts, and its gradients
STAGES = (
    ((UP, TUCKED), 0.0, 40),
    ((UP._replace(weight=0.3), OPEN), 0.0, 40),
    ((UP._replace(weight=0.1), OPEN._replace(weight=0.3), LANDED), 0.02, 40),
    ((LANDED._replace(weight=0.3), STANDING), 0.05, 80),
)


def clearances(result: ph.Result) -> FloatArray:
    """Height [m] of the lowest of head, hands, hips and knees over the plank (n,)."""
    of = result.model
    points = {"Trunk": ((0.0, model.HEAD), (0.0, 0.0)), "Arms": ((0.0, -model.ARM),), "Shanks": ((0.0, 0.0),)}
    heights = [
        (result.poses[:, of.index(name)] @ np.array([*point, 0.0, 1.0]))[:, 2]
        for name, places in points.items()
        for point in places
    ]
    return np.min(heights, axis=0)


def search(of: ph.Model, guess: Plan = GUESS) -> tuple[Plan, int]:
    """The plan that meets the goals, and the number of gradients that it took."""
    state, inputs, gradients = model.start(of, guess), model.controls(of, guess), 0
    for goals, rest, most in STAGES:
        wanted: ph.objectives.Objective = rest * ph.objectives.Rest()
        for goal in goals:
            wanted = wanted + goal.weight * ph.objectives.Pose(goal.values, time=goal.time)
        found = ph.optimize(
            of, state, max(goal.time for goal in goals), model.TIME_STEP, integrator="sdirk2", objective=wanted,
            parameters=[*TARGETS, SPEED, TURN, LEAN], tau=inputs, bounds=BOUNDS, most_gradients=most,
        )  # fmt: skip
        state, inputs, gradients = found.state, found.inputs, gradients + found.gradients
    first = of.coordinate_slice("Trunk").start
    targets = np.round(np.asarray(inputs.values)[:, model.target_columns(of)], 4)
    speed, lean, turn = (
        round(float(x), 4) for x in (state.qd[first], state.q[first + 2], state.qd[first + 2])
    )
    return Plan(speed, lean, turn, tuple(tuple(row) for row in targets.tolist())), gradients


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wobbling", action="store_true")
    options = parser.parse_args()
    plan, gradients = search(model.build_model(options.wobbling), model.RIGID if options.wobbling else GUESS)
    print(plan, gradients)


if __name__ == "__main__":
    main()
