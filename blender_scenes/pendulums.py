"""Double pendulums whose heavy muscles wrap over cylinders, after Wang 2022, Fig. 6.5.

Each muscle weighs as much as either bone. Origin, insertion and cylinder differ; the last pendulum has half of a
muscle's mass on each bone instead. Checked: the energy, that no muscle enters its cylinder, and the shown poses.
"""

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import muscle_objects
from . import pendulums_model as model
from .gallery_parts import ball, box, moved, together
from .keys import key_bodies
from .mechanism import place_bodies
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, faceted_object, plain_material

FRAMES_A_SECOND, SLOWER = 24, 2  # shown at half the speed
FRAMES = 1 + FRAMES_A_SECOND * SLOWER * 4
APART = 0.36  # m between two pendulums
FLOOR = -1.0
BONE, PIN, BEAM = (0.86, 0.80, 0.66), (0.45, 0.47, 0.50), (0.12, 0.15, 0.19)
LOOK = Look(0.015, (0.05, 0.05))
TILES = (1, 14, 27, 42, 57, 118)


def lane(number: int) -> FloatArray:
    """Place of a pendulum's pivot (3,)."""
    return np.array([0.0, APART * (number - 0.5 * len(model.GROUP)), 0.0])


def add_pendulum(number: int, into: bpy.types.Collection) -> dict[tuple[int, str], bpy.types.Object]:
    """Bones of a pendulum."""
    variant = model.GROUP[number] if number < len(model.GROUP) else None
    bone, pin = plain_material("Bone", BONE, 0.5), plain_material("Pin", PIN, 0.3, metallic=1.0)
    made = {}
    for name in model.BONES:
        thick = 0.8 * model.THICKNESS * (1.0 if variant else 1.5**0.5)
        shaft = capsule(np.zeros(3), np.array([0.0, 0.0, -model.LENGTH]), thick, thick)
        made[number, name] = faceted_object(f"{name} {number + 1}", *shaft, into, bone, True)
        axle = faceted_object(f"{name} axle {number + 1}", *ball(1.7 * thick, 10, 20), into, pin, True)
        axle.parent = made[number, name]
    if variant:
        pieces = [moved(ball(0.011, 8, 16), variant.origin), moved(ball(0.011, 8, 16), variant.insertion)]
        for name, piece, at in zip(model.BONES, pieces, (variant.origin, variant.insertion)):
            arm = capsule(np.array([0.0, 0.0, at[2]]), np.array(at), 0.006)
            held = faceted_object(f"{name} end {number + 1}", *together(piece, arm), into, bone, True)
            held.parent = made[number, name]
    return made


def make() -> Made:
    """The group under its beam in a new file; bones by pendulum and name, muscles by pendulum and name."""
    scene, (things, stage) = new_file("Pendulums", ["Pendulums", "Stage"], FRAMES)
    bones, muscles = {}, {}
    for number in range(len(model.GROUP) + 1):
        bones.update(add_pendulum(number, things))
        if number < len(model.GROUP):
            muscles[number] = add_muscle(scene, number, bones)
    half = 0.5 * APART * (len(model.GROUP) + 1)
    beam = moved(box((0.02, half, 0.02)), (0.0, 0.0, 0.035))
    faceted_object("Beam", *beam, stage, plain_material("Beam", BEAM, 0.5))
    add_studio(scene, stage, (0.0, 0.0, -0.4), 1.9)
    add_backdrop(stage, FLOOR, 1.6).rotation_euler[2] = 0.5 * np.pi  # behind as seen from +x
    return Made(scene=scene, bones=bones, muscles=muscles)


def add_muscle(
    scene: bpy.types.Scene, number: int, bones: dict[tuple[int, str], bpy.types.Object]
) -> dict[str, bpy.types.Object]:
    """The add-on's muscle of a pendulum, and the cylinder that it wraps over."""
    of = model.build_model(model.GROUP[number])
    state = of.state(q=model.START)
    objects = {name: bones[number, name] for name in model.BONES}
    place_bodies(objects, of, state, lane(number))
    looks = {"Muscle": LOOK}
    return muscle_objects.add_muscles(scene, of, state, objects, looks, lane(number), f"{{}} {number + 1}")


def measure(made: Made, progress: Progress) -> tuple[list[ph.Result], dict[str, str]]:
    """Simulate and bake to keys and shape keys; raises SceneError if a figure is out of its bounds."""
    frames = np.arange(1, FRAMES + 1)
    seconds = (FRAMES - 1) / (FRAMES_A_SECOND * SLOWER)
    results, drifts, depths, world, off = [], [], [], {}, 0.0
    for number, variant in enumerate([*model.GROUP, None]):
        progress(number / (len(model.GROUP) + 1.0), f"simulating pendulum {number + 1}")
        of = model.build_model(variant)
        result = ph.simulate(
            of, of.state(q=model.START), seconds, model.TIME_STEP, "sdirk2",
            record_interval=1.0 / (FRAMES_A_SECOND * SLOWER),
        )  # fmt: skip
        drifts.append(check("the energy's drift over the swing", model.drift(result), 0.0, 1e-3))
        bones = [made.bones[number, name] for name in model.BONES]
        world |= key_bodies(bones, frames, result.poses, lane(number))
        if variant:
            depths.append(muscle_objects.clearance(of, result.q[::4]))
            baked = made.scene, made.muscles[number], of, result.q, frames, lane(number)
            off = max(off, muscle_objects.bake_muscles(*baked))
        results.append(result)
    # straight lines between the drawn points cut corners by a tenth of a millimetre
    deep = check("the deepest that a muscle's line goes into its cylinder", -min(depths), -1.0, 1.5e-3, "m")
    shown = check_shown(made.scene, frames, world)
    bent = [np.degrees(result.q[-1]) for result in results]
    apart = float(np.ptp([angles[0] for angles in bent]))
    check("the spread of the first angles at the end", apart, 5.0, 360.0, "degrees")
    return results, {
        "energy, drift over the swing": f"at most {max(drifts):.1e}",
        "muscle's line in its cylinder": f"at most {1e3 * max(deep, 0.0):.2f} mm",
        "spread of the angles at the end": f"{apart:.0f}°",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }


def draw(made: Made, results: list[ph.Result], progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "Double pendulums with heavy muscles",
        "muscles as heavy as either bone wrap over cylinders;",
        "the last has none, half of its mass on either bone",
    )
    captions = []
    for frame in TILES:
        angles = ", ".join(f"{np.degrees(result.q[frame - 1, 1]):.0f}" for result in results)
        captions.append((frame, (f"t = {(frame - 1) / (FRAMES_A_SECOND * SLOWER):.2f} s", f"{angles}°")))
    hero = Shot((2.9, -2.1, 0.12), (0.0, 0.03, -0.36), 2.08, 27)
    tile = Shot((3.2, -1.2, 0.05), (0.0, 0.0, -0.47), 2.35)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=12)


RECIPE = Recipe("pendulums", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
