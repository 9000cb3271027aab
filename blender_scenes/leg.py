"""Inverse kinematics of a leg with a fitted knee, after Lee & Terzopoulos 2008, Fig. 3.

The foot follows a target through a slow step; then the target moves out of reach, and the foot comes as near as
possible. The coordinates that the inverse kinematics find are baked to keys.
"""

import numpy as np

from . import SceneError
from . import leg_model as model
from .anatomy import bones, hip_and_foot
from .keys import key_bodies, key_property
from .knee_scene import bone_gap
from .picture import Image, Shot
from .production import TILES, Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .staging import add_studio, bone_material, curve_object, frames_object, mesh_object

FRAMES = 1 + round((model.STEP_SECONDS + model.REACH_SECONDS) * model.FRAMES_A_SECOND)
BODIES = ("Femur", "Tibia", "Foot")
PATH_COLOR, JOINT_COLOR = (0.16, 0.34, 0.42), (1.0, 0.55, 0.08)
MIDDLE = (0.07, -0.03, -0.36)
TILE_FRAMES = (*(round(1 + 19.2 * k) for k in range(TILES - 1)), 133)  # five of the step, and the far reach


def make() -> Made:
    """Hip bone, leg and target in a new file, in the pose of the straight leg."""
    scene, (things, stage) = new_file("Leg", ["Leg", "Stage"], FRAMES)
    bone = bone_material("Bone")
    mesh_object("Hip bone", hip_and_foot.hip_bone(), things, bone)
    femur = bone_material("Femur", clear_below=-0.345)
    tibia = bones.tibia()
    bodies = {
        "Femur": mesh_object("Femur", bones.femur(), things, femur),
        "Tibia": mesh_object("Tibia", tibia, things, bone),
        "Foot": mesh_object("Foot", hip_and_foot.foot(), things, bone),
    }
    fibula = mesh_object("Fibula", bones.fibula(), things, bone)
    fibula.parent = bodies["Tibia"]
    target = frames_object("Target", np.eye(4)[None], 0.09, stage)
    add_studio(scene, stage, MIDDLE, 0.9)
    return Made(scene=scene, bodies=bodies, target=target, tibia=tibia, stage=stage)


def measure(leg: Made, progress: Progress) -> tuple[model.Follow, dict[str, str]]:
    """Solve, bake to keys and check: the foot is on all targets within reach, joints stay closed, nothing jumps."""
    progress(0.0, "inverse kinematics")
    found = model.follow()
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies([leg.bodies[name] for name in BODIES], frames, found.poses)
    world |= key_bodies([leg.target], frames, found.targets[:, None])
    key_property(leg.bodies["Tibia"], "knee", frames, found.q[:, 3])
    shown = check_shown(leg.scene, frames, world)
    near = found.reachable
    if not near[found.times <= model.STEP_SECONDS].all():
        raise SceneError(f"the step is out of reach at t = {found.times[~near][0]:.2f} s")
    check("the distance left in the step", float(found.distances[near].max()), 0.0, 1e-6, "m")
    check("the angle left in the step", float(found.angles[near].max()), 0.0, 1e-6, "rad")
    short = check("the distance left beyond the reach", float(found.distances.max()), 0.01, model.BEYOND, "m")
    # the knee is fastest when the leg becomes straight; a jump to another solution would turn it by more
    jump = check(
        "the largest turn in a frame", float(np.abs(np.diff(found.q, axis=0)).max()), 0.0, 0.35, "rad"
    )
    gaps = [bone_gap({"Tibia": leg.tibia}, np.linalg.inv(femur) @ tibia)
            for femur, tibia in found.poses[::12, :2]]  # fmt: skip
    check("the gap in the knee", min(gaps), 2e-3, 8e-3, "m")
    check("the gap in the knee", max(gaps), 2e-3, 8e-3, "m")
    return found, {
        "foot on its target": f"{near.sum()} of {len(near)} frames, to {found.distances[near].max():.1e} m, "
        f"{found.angles[near].max():.1e} rad",
        "beyond the reach": f"at most {1e3 * short:.0f} mm short",
        "largest turn in a frame": f"{np.degrees(jump):.1f}°",
        "gap in the knee": f"{1e3 * min(gaps):.1f} to {1e3 * max(gaps):.1f} mm",
        "bake against solution": f"{shown:.1e} m, or of a matrix entry",
    }


def draw(leg: Made, found: model.Follow, progress: Progress) -> Image:
    """The contact sheet, with the target's path and the knee's curve as threads."""
    curve_object("Way of the target", found.targets[:, :3, 3], 0.0018, PATH_COLOR, leg.stage)
    lower, upper = model.knee().range[0]
    curve = model.knee().transform(np.linspace(lower, upper, 120)[:, None])
    thread = curve_object("Knee curve", curve[:, :3, 3], 0.0012, JOINT_COLOR, leg.stage)
    thread.parent = leg.bodies["Femur"]
    lines = (
        "Inverse kinematics of a leg",
        "Hip 3, fitted spline knee 1, ankle 2 coordinates",
        f"{found.reachable.sum()} of {len(found.reachable)} targets met, to 1 µm and 1 µrad",
    )
    captions = []
    for frame in TILE_FRAMES:
        left = found.distances[frame - 1]
        text = "on target" if found.reachable[frame - 1] else f"{1e3 * left:.0f} mm short: out of reach"
        captions.append((frame, (f"t = {(frame - 1) / model.FRAMES_A_SECOND:.1f} s", text)))
    hero = Shot((0.75, -1.2, 0.225), (0.05, -0.03, -0.27), 0.88, 61)
    tile = Shot((0.55, -1.4, 0.0), MIDDLE, 1.52)
    return contact_sheet(leg.scene, hero, tile, captions, lines, progress, samples=20)


RECIPE = Recipe("leg", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
