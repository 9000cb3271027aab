"""Hill-type muscles extend and flex two knees, a hinge and a spline joint, after Wang 2022, Figs. 6.18 and 6.19.

The front knee is a spline joint fitted to the published motion, the rear one a hinge about a fixed axis. Rectus
femoris and semimembranosus are excited by keyframes, soleus and tibialis anterior by a controller of the ankle's angle.
The muscles have mass, and turn red with their activation. Checked: extension and flexion, the gap between
femur and tibia, fibres of possible lengths, and the poses that Blender shows.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

import physics as ph
from physics._typing import FloatArray

from . import driven_knee_model as model
from . import muscle_objects
from .anatomy import bones, hip_and_foot
from .keys import key_bodies, key_property
from .knee_scene import bone_gap
from .mechanism import place_bodies
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .staging import add_backdrop, add_studio, bone_material, mesh_object

FRAMES_A_SECOND = 48  # of the motion; shown at 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
LANES = {"Spline": -0.16, "Hinge": 0.16}  # y of the leg [m]
SLIM = 0.6 / 1060.0  # m^3/kg: drawn with less than their volume, so that the bones are seen
TENDONS = {  # shares of the path
    "rectus femoris": (0.10, 0.32), "semimembranosus": (0.08, 0.38), "gastrocnemius medialis": (0.03, 0.50),
    "gastrocnemius lateralis": (0.03, 0.50), "soleus": (0.05, 0.28), "tibialis anterior": (0.03, 0.38),
}  # fmt: skip
MIDDLE = (0.28, 0.0, -0.17)
TILES = (1, 22, 46, 76, 92, 132)


@dataclass(frozen=True)
class Drive:
    """A leg's motion: a sample a frame, flexion (n,) [rad] and the gap between femur and tibia (n,) [m]."""

    result: ph.Result
    flexion: FloatArray
    gap: FloatArray


def make() -> Made:
    """Both legs in a new file; bones by kind of knee and name, muscles by kind and name."""
    scene, (things, stage) = new_file("Driven knee", ["Legs", "Stage"], FRAMES)
    paint = bone_material("Bone")
    femur, tibia, fibula = bones.femur(), bones.tibia(), bones.fibula()
    pelvis, foot = hip_and_foot.hip_bone(), hip_and_foot.foot()
    moving, muscles = {}, {}
    for kind, lane in LANES.items():
        upright = mesh_object(f"{kind} hip bone", pelvis, things, paint)
        upright.location = (0.0, lane, 0.0)
        thigh = mesh_object(f"{kind} femur", femur, things, paint)
        place = model.FEMUR.copy()
        place[1, 3] = lane
        thigh.matrix_basis = Matrix(place.tolist())
        moving[kind, "Tibia"] = mesh_object(f"{kind} tibia", tibia, things, paint)
        moving[kind, "Foot"] = mesh_object(f"{kind} foot", foot, things, paint)
        outer = mesh_object(f"{kind} fibula", fibula, things, paint)
        outer.parent = moving[kind, "Tibia"]
        muscles[kind] = add_muscles(scene, kind, moving)
    add_studio(scene, stage, MIDDLE, 0.8)
    add_backdrop(stage, -0.62, 0.8)
    return Made(scene=scene, bones=moving, tibia=tibia, muscles=muscles)


def add_muscles(
    scene: bpy.types.Scene, kind: str, moving: dict[tuple[str, str], bpy.types.Object]
) -> dict[str, bpy.types.Object]:
    """The add-on's muscles of a leg."""
    of, shift = model.build_model(kind), (0.0, LANES[kind], 0.0)
    state = of.state(q=[model.knee_coordinate(kind, model.START), 0.0])
    objects = {name: moving[kind, name] for name in ("Tibia", "Foot")}
    place_bodies(objects, of, state, shift)
    lengths = ph.muscle_lengths(of, state).lengths
    looks = {
        name: Look.of_volume(SLIM * muscle.mass, float(length), TENDONS[name])
        for (name, muscle), length in zip(model.MUSCLES.items(), lengths)
    }
    title = f"{kind} {{}}"
    # the cylinders at the condyles would hide the gap
    return muscle_objects.add_muscles(scene, of, state, objects, looks, shift, title, surfaces_shown=False)


def bake_muscles(made: Made, kind: str, result: ph.Result, frames: FloatArray) -> float:
    """Bake a leg's muscles, coloured by their activation; returns their error as shown [m]."""
    states = list(result.model.muscle_state_names)
    columns = [states.index(f"{muscle.name}.activation") for muscle in result.model.muscles]
    baked = made.scene, made.muscles[kind], result.model, result.q, frames, (0.0, LANES[kind], 0.0)
    return muscle_objects.bake_muscles(*baked, activation=result.muscle_states[:, columns])


def measure(made: Made, progress: Progress) -> tuple[dict[str, Drive], dict[str, str]]:
    """Simulate and bake to keys and shape keys; raises SceneError if a figure is out of its bounds."""
    frames = np.arange(1, FRAMES + 1)
    drives, figures, world, off = {}, {}, {}, 0.0
    for number, kind in enumerate(LANES):
        progress(0.5 * number, f"simulating the leg with the {kind.lower()} knee")
        result = model.drive(kind, 1.0 / FRAMES_A_SECOND)
        moving = [made.bones[kind, name] for name in ("Tibia", "Foot")]
        world |= key_bodies(moving, frames, result.poses, (0.0, LANES[kind], 0.0))
        off = max(off, bake_muscles(made, kind, result, frames))
        inverse = np.linalg.inv(model.FEMUR)
        gap = np.array([bone_gap({"Tibia": made.tibia}, inverse @ poses[0]) for poses in result.poses])
        bent = np.array([model.flexion(poses[0]) for poses in result.poses])
        drives[kind] = Drive(result, bent, gap)
        key_property(made.bones[kind, "Tibia"], "gap", frames, gap)
        check("the least flexion", float(np.degrees(bent.min())), 0.0, 40.0, "degrees")
        check("the largest flexion", float(np.degrees(bent.max())), 95.0, 126.0, "degrees")
        fibres = result.muscle_states[:, 1::2] / [of.fibre for of in model.MUSCLES.values()]
        check("the shortest fibre over its optimum", float(fibres.min()), 0.3, 1.0)
        check("the longest fibre over its optimum", float(fibres.max()), 1.0, 1.8)
        figures[f"{kind.lower()} knee"] = (
            f"flexed {np.degrees(bent.min()):.0f}° to {np.degrees(bent.max()):.0f}°, "
            f"gap {1e3 * gap.min():.1f} to {1e3 * gap.max():.1f} mm, "
            f"fibres {fibres.min():.2f} to {fibres.max():.2f} of their optima"
        )
    check("the least gap of the spline knee", float(drives["Spline"].gap.min()), 2e-3, 8e-3, "m")
    check("the largest gap of the spline knee", float(drives["Spline"].gap.max()), 2e-3, 8e-3, "m")
    ranges = [float(np.ptp(drives[kind].gap)) for kind in ("Hinge", "Spline")]
    check("the gap's range at the hinge over that at the spline", ranges[0] / ranges[1], 2.0, 1e3)
    shown = check_shown(made.scene, frames, world)
    figures["bake against simulation"] = f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m"
    return drives, figures


def draw(made: Made, drives: dict[str, Drive], progress: Progress) -> Image:
    """The contact sheet."""
    ways = [f"{1e3 * drives[kind].gap.min():.0f} to {1e3 * drives[kind].gap.max():.0f} mm" for kind in LANES]
    lines = (
        "Knees driven by Hill-type muscles",
        "in front a spline joint, behind a hinge:",
        f"femur and tibia {ways[0]} and {ways[1]} apart",
    )
    captions = []
    for frame in TILES:
        angles = ", ".join(f"{np.degrees(drives[kind].flexion[frame - 1]):.0f}°" for kind in LANES)
        gaps = ", ".join(f"{1e3 * drives[kind].gap[frame - 1]:.1f}" for kind in LANES)
        captions.append(
            (frame, (f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s, flexed {angles}", f"gaps {gaps} mm"))
        )
    hero = Shot((1.25, -1.55, 0.3), (0.36, 0.0, -0.13), 1.12, 30)
    tile = Shot((0.75, -1.9, 0.15), (0.36, 0.0, -0.28), 1.4)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=8)


RECIPE = Recipe("driven_knee", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
