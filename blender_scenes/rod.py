"""A falling rod, three times, on ground that damps more and more, after Ertl et al. 1993, Fig. 2.

The rods start alike. The ground yields under their ends by eq. 8. Checked: free flight by eqs. 5, energy against the
work of damping and friction, and that a rod rises less with more damping. The still rods are a stroboscopic series.
"""

import bpy
import numpy as np
from mathutils import Matrix

import physics as ph
from physics._typing import FloatArray

from . import SceneError
from . import rod_model as model
from .gallery_parts import Solid, moved, together
from .keys import key_bodies, key_property
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, curve_object, faceted_object, plain_material

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
FLASH = 2  # frames between two flashes
HALF_TIME = 1.0  # s: shown by the left pictures
MIDDLE, PATH_COLOR = (0.72, 0.75, 0.80), (0.10, 0.75, 0.95)
ENDS = ((0.10, 0.32, 0.85), (0.95, 0.42, 0.05))


def part(low: float, high: float, radius: float) -> Solid:
    return capsule(np.array([low, 0.0, 0.0]), np.array([high, 0.0, 0.0]), radius)


def add_rod(name: str, collection: bpy.types.Collection) -> bpy.types.Object:
    """A grey rod with a blue and an orange end, one mesh."""
    half = 0.5 * model.LENGTH
    pieces = (part(-0.7 * half, 0.7 * half, 0.97 * model.RADIUS), part(-half, -0.7 * half, model.RADIUS))
    pieces += (moved(part(0.0, 0.3 * half, model.RADIUS), (0.7 * half, 0.0, 0.0)),)
    made = faceted_object(name, *together(*pieces), collection, plain_material("Middle", MIDDLE, 0.3), True)
    for number, color in enumerate(ENDS):
        made.data.materials.append(plain_material(f"End {number + 1}", color, 0.3))
    colors = np.repeat(np.arange(3, dtype=np.int32), [len(faces) for _, faces in pieces])
    made.data.polygons.foreach_set("material_index", colors)
    return made


def make() -> Made:
    """Three rods over the ground in a new file."""
    scene, (rods, flashes, stage) = new_file("Rod", ["Rods", "Flashes", "Stage"], FRAMES)
    bodies = {name: add_rod(name, rods) for name in model.NAMES}
    for lane in model.LANES:
        corners = [(-0.75, lane - 0.3), (3.3, lane - 0.3), (3.3, lane + 0.3), (-0.75, lane + 0.3)]
        points = np.column_stack([np.array(corners), np.full(4, 0.001)])
        paint = plain_material("Lane", (0.16, 0.20, 0.25), 0.6)
        faceted_object(f"Lane at {lane:g} m", points, [(0, 1, 2, 3)], stage, paint)
    add_studio(scene, stage, (1.2, 0.0, 0.6), 2.2)
    add_backdrop(stage, 0.0, 2.4)
    return Made(scene=scene, bodies=bodies, flashes=flashes, stage=stage)


def rise_again(result: ph.Result) -> FloatArray:
    """Height (3,) [m] to which each rod's middle rises after its first lowest place."""
    heights = []
    for k in range(len(model.NAMES)):
        z = result.q[:, 3 * k + 1]
        lowest = int(np.argmax((np.diff(z) >= 0.0) & (result.t[1:] > model.first_touch())))
        heights.append(z[lowest:].max())
    return np.array(heights)


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and bake to keys; raises SceneError if flight, energy or heights are out of their bounds."""
    of = model.build_model()
    result = ph.simulate(
        of, model.start(of), model.SECONDS, model.TIME_STEP, "rk4",
        progress=lambda share: progress(share, "simulating"),
    )  # fmt: skip
    flown = result.t < model.first_touch()
    wanted = np.tile(model.free_flight(result.t[flown]), len(model.NAMES))
    free = check(
        "free flight, off eqs. 5 by", float(np.abs(result.q[flown] - wanted).max()), 0.0, 1e-10, "m or rad"
    )
    # the trapezoidal rule has an error at the jump of the damping force when an end touches down
    balance = check(
        "the energy's distance from the ground's work", float(model.balance(result).max()), 0.0, 0.02
    )
    total = np.array([model.rod_energy(result.q[:, k : k + 3], result.qd[:, k : k + 3]) for k in (0, 3, 6)])
    check(
        "the largest rise of a rod's energy in a step", float(np.diff(total).max() / total[0, 0]), -1.0, 1e-6
    )
    heights = rise_again(result)
    if not (np.diff(heights) < -0.05).all():
        raise SceneError(f"more damping must let a rod rise less, got {heights.round(3).tolist()} m")
    step = round(1.0 / (FRAMES_A_SECOND * model.TIME_STEP))
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies(list(made.bodies.values()), frames, result.poses[::step])
    for item, energy in zip(made.bodies.values(), total):
        key_property(item, "energy", frames, energy[::step])
    shown = check_shown(made.scene, frames, world)
    left = total[:, -1] / total[:, 0]
    return result, {
        "free flight against eqs. 5": f"{free:.1e} m or rad",
        "energy against the ground's work": f"{balance:.1e} of the energy at first",
        "middles rise again to": ", ".join(f"{height:.2f} m" for height in heights),
        "energy left after 2 s": ", ".join(f"{100.0 * share:.0f} %" for share in left),
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry",
    }


def add_flashes(made: Made, poses: FloatArray) -> dict[tuple[int, int], str]:
    """Add a static copy of each rod every FLASH frames, and the rods' paths; returns names by lane and frame."""
    names = {}
    for lane, (name, item) in enumerate(made.bodies.items()):
        for index in range(0, len(poses), FLASH):
            still = bpy.data.objects.new(f"{name} at {index / FRAMES_A_SECOND:.2f} s", item.data)
            still.matrix_world = Matrix(poses[index, lane].tolist())
            made.flashes.objects.link(still)
            names[lane, index] = still.name
        curve_object(f"Way of {name}", poses[:, lane, :3, 3], 0.006, PATH_COLOR, made.stage)
    return names


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet: all three series, and each in two halves from the side."""
    step = round(1.0 / (FRAMES_A_SECOND * model.TIME_STEP))
    names = add_flashes(made, result.poses[::step])
    turn = round(HALF_TIME * FRAMES_A_SECOND)
    captions, shots = [], []
    for lane, damping in enumerate(model.DAMPINGS):
        beside = [f"Way of {name}" for k, name in enumerate(model.NAMES) if k != lane]
        beside += [f"Lane at {y:g} m" for y in model.LANES if y != model.LANES[lane]]
        for half, (low, high) in enumerate(((0, turn), (turn, 10**6))):
            others = [name for (k, index), name in names.items() if k != lane or not low <= index <= high]
            y = model.LANES[lane]
            hidden = [*others, *model.NAMES, *beside]
            shots.append(Shot((1.25, y - 8.0, 1.2), (1.25, y, 0.86), 3.9, hidden=hidden))
            span = f"t = {half * HALF_TIME:g} to {HALF_TIME + half * (model.SECONDS - HALF_TIME):g} s"
            captions.append((1, (f"d = {damping:g} N s/m", span)))
    lines = (
        "A falling rod, three dampings",
        f"F = a δ^{model.EXPONENT:g} + d δ' on the ground, friction {model.FRICTION:g}",
        f"flashes every {1e3 * FLASH / FRAMES_A_SECOND:.0f} ms",
    )
    hero = Shot((0.5, -6.0, 4.6), (1.32, 0.0, 0.62), 4.75, hidden=model.NAMES)
    return contact_sheet(made.scene, hero, shots, captions, lines, progress)


RECIPE = Recipe("rod", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
