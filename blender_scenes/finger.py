"""Two fingers are flicked at the tip, after Wang 2022, Fig. 1.1.

The mass of the front finger's two long flexors lies along their paths; that of the rear finger's is lumped into the
fixed forearm. Both tips are pushed alike for two milliseconds. Sixty times slower than life. Checked: the energy after
the push, and that the finger whose flexors have mass is the slower one.
"""

import bpy
import numpy as np

from . import finger_model as model
from . import muscle_objects
from .gallery_parts import ball, moved
from .keys import key_bodies
from .mechanism import place_bodies
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, faceted_object, plain_material

FRAMES_A_SECOND = 1440  # of the motion; shown at 24
FRAMES = 97
SECONDS = (FRAMES - 1) / FRAMES_A_SECOND
STEP = 1.0 / 14400.0
FORCE = 2.0  # N, the peak of typing
HANDS = {"Inertial": (True, -0.065), "Lumped": (False, 0.065)}  # y of the hand [m]
BONE, PULLEY, LIGHT = (0.86, 0.80, 0.66), (0.10, 0.42, 0.62), (0.62, 0.42, 0.38)
# drawn slimmer than their mass, as thick as a finger's tendons
LOOKS = dict.fromkeys(model.MUSCLES, Look(0.0085, (0.03, 0.38)))
FLOOR = -0.14
TILES = (1, 9, 19, 33, 57, 97)


def add_hand(hand: str, lane: float, into: bpy.types.Collection) -> dict[tuple[str, str], bpy.types.Object]:
    """Forearm, metacarpal and the three bones of a finger, with the pulleys on them."""
    bone, pulley = plain_material("Bone", BONE, 0.5), plain_material("Pulley", PULLEY, 0.35)
    elbow, wrist = np.array([model.ELBOW - 0.01, 0.0, 0.0]), np.array([model.WRIST - 0.004, 0.0, 0.0])
    fixed = {}
    for name, aside, radius in (("Radius", 0.011, 0.0075), ("Ulna", -0.011, 0.008)):
        begin, end = elbow + (0.0, 1.2 * aside, 0.0), wrist + (0.0, 0.8 * aside, 0.0)
        fixed[name] = capsule(begin, end, radius, 0.9 * radius)
    fixed["Metacarpal"] = capsule(wrist + (0.008, 0.0, 0.0), np.array([-0.004, 0.0, 0.0]), 0.0058, 0.0062)
    for name, solid in fixed.items():
        faceted_object(f"{hand} {name.lower()}", *moved(solid, (0.0, lane, 0.0)), into, bone, True)
    for x, z in model.PULLEYS[None]:
        place = moved(ball(0.0030, 8, 16), (x, lane, z))
        faceted_object(f"{hand} pulley at {1e3 * x:.0f} mm", *place, into, pulley, True)
    made = {}
    for number, name in enumerate(model.BONES):
        end = np.array([model.LENGTHS[number], 0.0, 0.0])
        solid = capsule(np.zeros(3), end, *model.RADII[number : number + 2], sides=24, rings=8)
        made[hand, name] = faceted_object(f"{hand} {name.lower()}", *solid, into, bone, True)
        for x, z in model.PULLEYS[name]:
            item = faceted_object(
                f"{hand} {name.lower()} pulley {1e3 * x:.0f}", *moved(ball(0.0022, 8, 16), (x, 0.0, z)), into,
                pulley, True,
            )  # fmt: skip
            item.parent = made[hand, name]
    return made


def make() -> Made:
    """Both hands in a new file; bones by hand and name, muscles by hand and name."""
    scene, (things, stage) = new_file("Finger", ["Hands", "Stage"], FRAMES)
    bones, muscles = {}, {}
    for hand, (inertial, lane) in HANDS.items():
        bones.update(add_hand(hand, lane, things))
        of, shift = model.build_model(inertial), (0.0, lane, 0.0)
        state, objects = of.state(q=model.BENT), {name: bones[hand, name] for name in model.BONES}
        place_bodies(objects, of, state, shift)
        muscles[hand] = muscle_objects.add_muscles(scene, of, state, objects, LOOKS, shift, f"{hand} {{}}")
        if not inertial:
            for item in muscles[hand].values():
                item.data.materials[0] = plain_material("Light muscle", LIGHT, 0.45)
    add_studio(scene, stage, (-0.06, 0.0, 0.0), 0.34)
    add_backdrop(stage, FLOOR, 0.34)
    return Made(scene=scene, bones=bones, muscles=muscles)


def measure(made: Made, progress: Progress) -> tuple[dict[str, model.Flick], dict[str, str]]:
    """Simulate and bake to keys and shape keys; raises SceneError if a figure is out of its bounds."""
    frames = np.arange(1, FRAMES + 1)
    flicks, figures, world, off = {}, {}, {}, 0.0
    for number, (hand, (inertial, lane)) in enumerate(HANDS.items()):
        progress(0.5 * number, f"simulating the {hand.lower()} finger")
        flick = model.flick(inertial, FORCE, "rk4", STEP, SECONDS, 1.0 / FRAMES_A_SECOND)
        flicks[hand] = flick
        after = flick.result.energy[flick.result.t > model.PUSHED_STEPS * model.TIME_STEP + 1e-6, 2]
        kept = check("the energy's change after the push", float(np.ptp(after) / after[0]), 0.0, 1e-6)
        shift, result = (0.0, lane, 0.0), flick.result
        world |= key_bodies([made.bones[hand, name] for name in model.BONES], frames, result.poses, shift)
        muscles = made.muscles[hand]
        off = max(
            off, muscle_objects.bake_muscles(made.scene, muscles, result.model, result.q, frames, shift)
        )
        fastest = float(np.abs(flick.result.qd).max())
        figures[hand.lower()] = (
            f"{fastest:.0f} rad/s at most, {1e3 * flick.pushed:.2f} mJ, kept to {kept:.1e}"
        )
    shown = check_shown(made.scene, frames, world)
    speeds = [float(np.abs(flicks[hand].result.qd).max()) for hand in HANDS]
    check("the speed of the lumped finger over the other's", speeds[1] / speeds[0], 2.0, 100.0)
    return flicks, {
        **figures,
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }


def draw(made: Made, flicks: dict[str, model.Flick], progress: Progress) -> Image:
    """The contact sheet."""
    speeds = {hand: float(np.abs(flick.result.qd).max()) for hand, flick in flicks.items()}
    lines = (
        "A flicked finger",
        "in front 2 x 200 g of muscle move with the finger,",
        "behind they are part of the forearm;",
        f"{FORCE:.0f} N at the tip for 2 ms: {speeds['Inertial']:.0f} and {speeds['Lumped']:.0f} rad/s",
    )
    captions = []
    for frame in TILES:
        turned = [
            np.degrees(flicks[hand].result.q[frame - 1] - model.BENT)[np.newaxis].sum() for hand in HANDS
        ]
        text = f"tip {turned[0]:.0f}° and {turned[1]:.0f}°"
        captions.append((frame, (f"t = {1e3 * (frame - 1) / FRAMES_A_SECOND:.0f} ms", text)))
    hero = Shot((0.12, -0.50, 0.16), (-0.115, 0.0, 0.0), 0.50, 33)
    tile = Shot((0.16, -0.40, 0.12), (-0.005, 0.0, -0.005), 0.27)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=12)


RECIPE = Recipe("finger", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
