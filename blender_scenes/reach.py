"""An arm with heavy muscles reaches a target, by torques and excitations that are found, after Wang 2022, Fig. 6.20.

Four motions, one after the other, four times slower than life: constant torques bring the hand to the target; torques
over time also bring it to rest there; they lead it along an arc; excitations of the muscles bring it there. Searches
along gradients of the simulation find them. Checked: misses, the speed at rest, the number of gradients, energy where
nothing pulls, and the poses that Blender shows.
"""

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.motions.table import force_table, interpolated

from . import arm_model, muscle_objects
from . import reach_model as model
from .arm import RADII, add_bones
from .gallery_parts import ball, moved
from .keys import key_bodies
from .mechanism import add_bodies
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .staging import add_studio, curve_object, faceted_object, plain_material

EVERY = 2  # steps a frame
A_TASK = 1 + round(model.SECONDS / model.TIME_STEP) // EVERY  # frames
FRAMES = A_TASK * len(model.MOST_GRADIENTS)
COLORS = {
    "constant torques": (0.95, 0.55, 0.10), "to rest": (0.10, 0.75, 0.95),
    "along a path": (0.35, 0.90, 0.25), "by excitations": (0.95, 0.20, 0.45),
}  # fmt: skip
# the greatest miss [m] and, where it is wanted, speed [rad/s]
MISSES = {"constant torques": 1e-3, "to rest": 1e-3, "along a path": 2e-3, "by excitations": 2e-3}
AT_REST = 1e-3
TARGET, TARGET_RADIUS = (1.0, 0.85, 0.10), 0.012  # colour; m


def make() -> Made:
    """The arm and its target in a new file."""
    scene, (things, stage) = new_file("Reach", ["Bones", "Stage"], FRAMES)
    of = model.build_model(pulling=True)
    state = arm_model.start(of)
    bodies = add_bones(things)
    add_bodies(scene, of, state, bodies)
    looks = {name: Look(RADII[name], head.tendons) for name, head in arm_model.HEADS.items()}
    muscles = muscle_objects.add_muscles(scene, of, state, bodies, looks)
    target = moved(ball(TARGET_RADIUS, 14, 28), model.hand(of, state) + model.AWAY)
    faceted_object("Target", *target, stage, plain_material("Target", TARGET, 0.35), True)
    add_studio(scene, stage, (0.05, -0.15, -0.1), 0.8)
    return Made(scene=scene, stage=stage, bodies=bodies, muscles=muscles)


def measure(made: Made, progress: Progress) -> tuple[dict[str, model.Solved], dict[str, str]]:
    """Solve and bake to keys; raises SceneError if a task is missed."""
    drift = check("the energy's drift over the swing where nothing pulls", arm_model.drift(0.1), 0.0, 1e-6)
    solved, figures = {}, {}
    for number, task in enumerate(model.MOST_GRADIENTS):
        progress(number / len(model.MOST_GRADIENTS), f"solving {task}")
        found = solved[task] = model.solve(task)
        check(f"the miss of {task}", found.miss, 0.0, MISSES[task], "m")
        if task == "to rest":
            check("the speed at rest", found.speed, 0.0, AT_REST, "rad/s")
        figures[task] = f"{1e3 * found.miss:.2g} mm, {found.speed:.2g} rad/s, {found.gradients} gradients"
    check("gradients for constant torques", solved["constant torques"].gradients, 1, 40)
    q, poses = (
        np.concatenate([getattr(each.result, of)[::EVERY] for each in solved.values()])
        for of in ("q", "poses")
    )
    frames, of = np.arange(1, FRAMES + 1), solved["by excitations"].result.model
    world = key_bodies([made.bodies[name] for name in of.body_names], frames, poses)
    off = muscle_objects.bake_muscles(
        made.scene, made.muscles, of, q, frames, activation=excitations(solved, of)
    )
    shown = check_shown(made.scene, frames, world)
    return solved, {
        **figures,
        "energy where nothing pulls": f"drift over the swing {drift:.1e}",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }


def excitations(solved: dict[str, model.Solved], of: ph.Model) -> FloatArray:
    """Of all muscles at all frames (F, muscles); 0 where torques move the arm."""
    found = np.zeros((FRAMES, len(of.muscles)))
    times, values = force_table(of, solved["by excitations"].inputs)
    shown = model.TIME_STEP * EVERY * np.arange(A_TASK)
    rows = np.array([interpolated(t, times, values) for t in shown])[:, of.num_coordinates :]
    found[-A_TASK:] = rows[:, [of.input_names.index(muscle.tension) for muscle in of.muscles]]
    return found


def draw(made: Made, solved: dict[str, model.Solved], progress: Progress) -> Image:
    """The contact sheet; the ways of the hand stay in the scene."""
    for task, found in solved.items():
        curve_object(f"Way {task}", model.hand_along(found.result), 0.0022, COLORS[task], made.stage)
    lines = (
        "An arm that learns to reach",
        "torques and excitations found along gradients of",
        "the simulation, muscles' mass included: constant",
        "(orange), to rest (blue), along an arc (green), by",
        "excitations (red)",
    )
    captions = [(1, ("the start", "the ball is the target"))]
    for number, (task, found) in enumerate(solved.items()):
        end = f"off {1e6 * found.miss:.1f} µm, {found.gradients} gradients"
        if task == "along a path":
            middle = A_TASK * number + A_TASK // 2
            captions.append((middle, (task, "half way")))
            end = f"off {1e3 * found.miss:.1f} mm (rms), {found.gradients} gradients"
        captions.append((A_TASK * (number + 1), (task, end)))
    hero = Shot((0.45, -2.0, 0.5), (0.21, -0.15, 0.10), 0.92, A_TASK * 3)
    return contact_sheet(made.scene, hero, Shot(*VIEW), captions, lines, progress, samples=10)


#: camera's place, what it looks at, and the width of its view [m]
VIEW = ((0.75, -2.0, 0.5), (0.17, -0.15, 0.10), 1.0)
RECIPE = Recipe("reach", make, measure, draw, [Shot(*VIEW, frame) for frame in range(1, FRAMES + 1)])
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
