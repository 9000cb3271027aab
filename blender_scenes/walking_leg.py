"""A walking leg with muscles of types I, II and III across the ankle, after Wang 2022, Fig. 6.15.

Three legs walk alike on the spot. Most of the shank's mass is in soleus (straight), tibialis anterior (through a point)
and both heads of gastrocnemius: straight in the front leg, through points behind the knee in the middle one, over two
cylinders in the rear one. Bodies, joints and muscles are the add-on's, the joints follow their keys, and its bake gives
the moments. Checked: these against inverse dynamics, the poses that Blender shows, and that paths of types II and III
clear the bones.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.analysis.muscle_drawing import muscle_curves

from . import muscle_objects
from . import walking_leg_model as model
from .anatomy import bones, hip_and_foot
from .keys import key_bodies
from .mechanism import add_bodies, check_same_model
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, bake_shown, check, contact_sheet, new_file
from .staging import add_backdrop, add_studio, bone_material, mesh_object

FRAMES_A_SECOND = 48
FRAMES = 1 + round(model.CYCLE * FRAMES_A_SECOND)
LANES = {"I": -0.34, "II": 0.0, "III": 0.34}  # y of the leg [m]
LOOKS = {
    "soleus": 0.021, "gastrocnemius medialis": 0.017, "gastrocnemius lateralis": 0.014, "tibialis anterior": 0.014,
}  # fmt: skip
SWING = 58  # percent of the cycle, when the foot leaves the ground
TILES = (1, 12, 28, 37, 42, 49)
MIDDLE = (0.02, 0.0, 0.5)


@dataclass(frozen=True)
class Walk:
    """The bake's report; the ankle's moment at the frames (F,) [N m] by kind, under ``"lumped"`` that of a rigid shank;
    and the depth [m] by which calves enter bones.
    """

    report: Any
    ankle: dict[str, FloatArray]
    depths: dict[str, float]


def add_bones(into: bpy.types.Collection) -> dict[str, bpy.types.Object]:
    """Bones of the three legs by body."""
    paint = bone_material("Bone")
    meshes = {
        "Pelvis": hip_and_foot.hip_bone(), "Femur": bones.femur(), "Tibia": bones.tibia(), "Foot": hip_and_foot.foot(),
    }  # fmt: skip
    fibula, made = bones.fibula(), {}
    for kind in LANES:
        for name, mesh in meshes.items():
            made[f"{kind} {name}"] = mesh_object(f"{kind} {name}", mesh, into, paint)
        outer = mesh_object(f"{kind} Fibula", fibula, into, paint)
        outer.parent = made[f"{kind} Tibia"]
    return made


def make() -> Made:
    """The legs in a new file, their bones keyed, their joints prescribed."""
    scene, (things, stage) = new_file("Walking leg", ["Legs", "Stage"], FRAMES)
    scene.render.fps = FRAMES_A_SECOND
    scene.condyle.simulation.time_step = model.TIME_STEP
    of = model.build_all(LANES)
    times = np.arange(FRAMES) / FRAMES_A_SECOND
    q = np.tile(model.coordinates(times), len(LANES))
    bodies = add_bones(things)
    state = of.state(q=q[0])
    joints = add_bodies(scene, of, state, bodies)
    looks = {f"{kind} {name}": Look(LOOKS[name], model.MUSCLES[name][1]) for kind in LANES for name in LOOKS}
    muscles = muscle_objects.add_muscles(scene, of, state, bodies, looks)
    check_same_model(scene, of, state)
    poses = np.array([ph.body_poses(of, of.state(q=row)) for row in q])
    key_bodies([bodies[name] for name in of.body_names], np.arange(1, FRAMES + 1), poses)
    for name in of.body_names:
        joints[name].condyle.joint.prescribed = True
    add_studio(scene, stage, MIDDLE, 1.1)
    add_backdrop(stage, 0.0, 1.1)
    return Made(scene=scene, model=of, bodies=bodies, muscles=muscles)


def bone_depths(of: ph.Model, q: FloatArray) -> dict[str, float]:
    """Largest depth [m] of the calf's lines in femur or tibia, between their ends, by kind, at q (n, nv)."""
    lines, _ = muscle_curves(of, q, 60)
    poses = [ph.body_poses(of, of.state(q=row)) for row in q]
    shapes = {"Femur": bones.femur_shape(), "Tibia": bones.tibia_shape()}
    deepest = dict.fromkeys(LANES, 0.0)
    for m, muscle in enumerate(of.muscles):
        if "gastrocnemius" not in muscle.name:
            continue
        kind = muscle.name.split()[0]
        for (name, shape), (t, pose) in product(shapes.items(), enumerate(poses)):
            there = pose[of.index(f"{kind} {name}")]
            local = (lines[t, m, 1:-1] - there[:3, 3]) @ there[:3, :3]
            opensim = np.column_stack([local[:, 0], local[:, 2], -local[:, 1]])
            deepest[kind] = max(deepest[kind], -float(shape(opensim).min()))
    return deepest


def measure(made: Made, progress: Progress) -> tuple[Walk, dict[str, str]]:
    """Bake by the add-on; raises SceneError if a figure is out of its bounds."""
    report, shown = bake_shown(made.scene, progress)
    frames, result = report.frames, report.result
    off = muscle_objects.check_shown(made.scene, made.muscles, result.model, result.q, frames)
    baked, times = ankle_moments(result), np.arange(FRAMES) / FRAMES_A_SECOND
    stands = model.heights(model.coordinates(np.linspace(0.02, 0.54, 27) * model.CYCLE))
    check("the least height of a foot in stance", float(stands.min()), -0.012, 0.0, "m")
    check("the largest height of a foot in stance", float(stands.max()), 0.0, 0.012, "m")
    ankle = {kind: model.moments(model.build_model(kind), times)[:, 3] for kind in LANES}
    peak = max(float(np.abs(values).max()) for values in ankle.values())
    # the bake's motion is a spline through the frames, whose accelerations near its ends are not those of the gait
    apart = max(float(np.abs(baked[kind] - ankle[kind])[4:-4].max()) for kind in LANES) / peak
    check("the ankle's moment in the bake, off inverse dynamics by", apart, 0.0, 0.05)
    ankle["lumped"] = model.moments(model.build_model("I", 0.0), times)[:, 3]
    swing = slice(round(0.01 * SWING * (FRAMES - 1)), FRAMES)
    largest = float(np.abs(ankle["lumped"][swing]).max())
    change = {kind: float(np.abs(ankle[kind] - ankle["lumped"])[swing].max()) / largest for kind in LANES}
    for kind, value in change.items():
        check(f"the change of the ankle's moment, type {kind}", value, 0.05, 5.0)
    deep = bone_depths(result.model, result.q[::6])
    for kind, most in (("I", 0.015), ("II", 2e-3), ("III", 2e-3)):
        check(f"a calf's line of type {kind} in femur or tibia", deep[kind], 0.0, most, "m")
    near = muscle_objects.clearance(result.model, result.q[::6])
    check("the deepest of a muscle in its cylinder", -near, -1.0, 2e-3, "m")
    return Walk(report, ankle, deep), {
        "ankle's moment in the swing": ", ".join(
            f"type {kind} {100.0 * value:.0f} %" for kind, value in change.items()
        ) + f" off that of a rigid shank, whose peak is {largest:.2f} N m",
        "bake against inverse dynamics": f"ankle's moment {100.0 * apart:.1f} % of its peak",
        "feet in stance": f"{1e3 * stands.min():.0f} to {1e3 * stands.max():.0f} mm over the ground",
        "calf's lines in bones": ", ".join(f"type {k} {1e3 * v:.1f} mm" for k, v in deep.items()),
        "muscles in cylinders": f"at most {1e3 * max(-near, 0.0):.2f} mm",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }  # fmt: skip


def ankle_moments(result: ph.Result) -> dict[str, FloatArray]:
    """Moments of each leg's ankle in the bake (F,) [N m]."""
    of = result.model
    return {kind: result.efforts[:, of.coordinate_slice(f"{kind} Foot").start] for kind in LANES}


def draw(made: Made, walk: Walk, progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "A walking leg whose muscles have mass",
        f"{100.0 * model.SHARE:.0f} % of the shank's mass is in four muscles; gastrocnemius is",
        f"straight ({1e3 * walk.depths['I']:.0f} mm into the tibia), runs through points, or wraps",
    )
    captions = []
    for frame in TILES:
        percent = 100.0 * (frame - 1) / (FRAMES - 1)
        values = ", ".join(f"{walk.ankle[kind][frame - 1]:.1f}" for kind in LANES)
        rigid = f"{walk.ankle['lumped'][frame - 1]:.1f}"
        text = f"ankle {values} N m, rigid {rigid}" if percent > SWING else "in stance"
        captions.append((frame, (f"{percent:.0f} % of the cycle", text)))
    hero = Shot((-1.9, -2.2, 0.75), MIDDLE, 1.25, 42)
    tile = Shot((-1.3, -2.4, 0.6), (0.0, 0.0, 0.28), 1.6)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=8)


RECIPE = Recipe("walking_leg", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
