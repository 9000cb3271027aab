"""A character with tail, ponytail and ears trips at the top of a flight of stairs, and falls down as a ragdoll.

Stairs and floor become colliders by one call of Add Collider each; Add Ragdoll and Add Chain do the rest. Checked: that
no collider enters another by more than a millimetre in any step, that every step meets its equations, that energy falls
but for what the chains' springs give back, and that the figure falls past half of the flight and comes to rest.
"""

from typing import Any

import bpy
import numpy as np

from addon.jobs import bake
from physics._typing import FloatArray

from . import SceneError
from .character import Character, add_rig, add_skin, key, select
from .gallery_parts import box
from .picture import Image, Shot
from .production import Progress, Recipe, check, contact_sheet, new_file
from .staging import add_backdrop, add_studio, faceted_object, plain_material

FRAMES, TILES = 240, (8, 28, 40, 60, 118, 240)
STEPS, RISE, RUN, WIDTH = 9, 0.17, 0.28, 2.4  # the flight [m]
LANDING = 1.1  # m: length of the landing on top
SPEED, TURN = 1.9, 2.4  # m/s and rad/s, of the hips at the first frame
CHAINS = ("TAIL", "HAIR", "EAR")
OVERLAP, RESIDUAL = 1e-3, 1e-8  # m; of the contacts' equations, relative
# share of the energy lost: what the chains' springs, which it leaves out, give back in a frame
SPRINGS = 1e-3
STILL = 1e-3  # m: how far a bone moves in the last second
STONE = (0.20, 0.21, 0.24)


def add_stairs(into: bpy.types.Collection) -> list[bpy.types.Object]:
    """A landing and the steps below it, as boxes; the figure falls along -y."""
    made, paint = [], plain_material("Stone", STONE, 0.7)
    for number in range(STEPS):
        top, front = -number * RISE, -0.2 - number * RUN
        half = 0.5 * WIDTH, 0.5 * (RUN if number else LANDING), 0.5 * (STEPS - number) * RISE
        step = faceted_object(f"Step {number + 1}", *box(half), into, paint)
        step.location = (0.0, front + half[1], top - half[2])
        made.append(step)
    return made


def trip(rig: bpy.types.Object) -> None:
    """Two keys of the hips, which give pose and speed at the first frame."""
    poses, second = rig.pose.bones, bpy.context.scene.render.fps
    for bone in poses:
        bone.rotation_mode = "QUATERNION"
    poses["Hips"].rotation_mode = "XYZ"
    for frame in (1, 1 + second):
        key(poses["Hips"], "location", frame, (0.0, -SPEED * (frame - 1) / second, 0.0))
        key(poses["Hips"], "rotation_euler", frame, (0.2 + TURN * (frame - 1) / second, 0.15, 0.0))


def make() -> Character:
    """Figure and stairs in a new file, ready to bake."""
    scene, (things, stage) = new_file("Ragdoll", ["Character", "Stage"], FRAMES)
    rig = add_rig(things)
    add_skin(rig, things)
    made = Character(scene, rig)
    trip(rig)
    scene.frame_set(1)
    choose(*add_stairs(stage))
    bpy.ops.condyle.add_collider(shape="BOX")
    floor = add_backdrop(stage, -STEPS * RISE, 3.0)
    floor.rotation_euler[2] = 0.5 * np.pi
    ground = bpy.data.objects.new("Ground", None)
    ground.location.z = -STEPS * RISE
    stage.objects.link(ground)
    choose(ground)
    bpy.ops.condyle.add_collider(shape="PLANE")
    choose(rig)
    bpy.ops.condyle.add_ragdoll()
    bpy.ops.object.mode_set(mode="POSE")
    for preset in CHAINS:
        select(made, made.names(preset))
        bpy.ops.condyle.add_chain(preset=preset)
    bpy.ops.object.mode_set(mode="OBJECT")
    add_studio(scene, stage, (0.0, -1.6, 0.0), 4.2)
    return made


def choose(*items: bpy.types.Object) -> None:
    """Select these objects alone."""
    bpy.ops.object.select_all(action="DESELECT")
    for item in items:
        item.select_set(True)
    bpy.context.view_layer.objects.active = items[0]


def measure(made: Character, progress: Progress) -> tuple[Any, dict[str, str]]:
    """Simulate and bake; raises SceneError if a figure is out of its bounds."""
    report = bake.bake_now(made.scene, progress)
    for finding in report.warnings:
        if finding.code != "swinging-angles":
            raise SceneError(f"the bake warns: {finding.text}")
    met = report.result.info["constraints"]
    deep = check("how deep a collider enters another", met["overlap"], 0.0, OVERLAP, "m")
    left = check("what contacts miss of their equations", met["residual"], 0.0, RESIDUAL)
    check("steps that miss them", met["steps_unmet"], 0, 0)
    energy = report.energy[:, 2]
    lost = energy[0] - energy[-1]
    gain = check("what energy gains in a frame", float(np.diff(energy).max() / lost), -np.inf, SPRINGS)
    hips = places(report, "Hips")
    fall = check("how far the hips fall", hips[0, 2] - hips[-1, 2], 0.5 * STEPS * RISE, np.inf, "m")
    last = np.array([places(report, name)[-made.scene.render.fps :] for name in report.poses])
    still = check(
        "how far a bone moves in the last second", float(np.ptp(last, axis=1).max()), 0.0, STILL, "m"
    )
    return report, {
        "bones": f"{len(report.poses)} in {report.result.info['steps']} steps, most contact rows {met['most_rows']}",
        "fall of the hips": f"{fall:.2f} m; energy falls by {lost:.0f} J, in a frame gains at most {gain:.0e} of it",
        "deepest overlap in any step": f"{1e3 * deep:.2f} mm; residual {left:.0e}",
        "motion in the last second": f"{1e3 * still:.3f} mm",
    }


def places(report: Any, bone: str) -> FloatArray:
    """Places (F, 3) of a body, or of a bone of the rig, at all frames."""
    return report.poses[bone if "/" in bone else f"Rig/{bone}"][:, :3, 3]


def draw(made: Character, _report: Any, progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "A ragdoll on the stairs",
        "Add Ragdoll and Add Chain: limbs, tail, hair",
        "and ears fall together, and collide",
    )
    captions = [(frame, (f"frame {frame}",)) for frame in TILES]
    hero = Shot((4.5, -4.6, 1.2), (0.0, -1.2, -0.4), 3.1, TILES[2])
    return contact_sheet(made.scene, hero, Shot(*VIEW), captions, lines, progress, samples=6)


#: camera's place, what it looks at, and the width of its view [m]
VIEW = ((5.0, -4.2, 1.4), (0.0, -1.3, -0.05), 5.2)
RECIPE = Recipe("ragdoll", make, measure, draw, [Shot(*VIEW, frame) for frame in range(1, 193)])
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
