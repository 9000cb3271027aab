"""The chain of letters SIGGRAPH, with single spline joints and with double ones.

After Lee & Terzopoulos 2008, Fig. 5c. The word starts as a level row and falls about the pin in its S. With single
joints each letter touches its parent with one fixed point, which slides along the parent's outline; with double joints
the point slides on both outlines. Checked: neighbours always touch, no letters overlap, the energy only falls.
"""

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from physics._typing import FloatArray

from . import letters_model, production
from .anatomy.surface import Mesh
from .gallery_parts import box, moved, together
from .letters_model import BEHIND, KINDS, WORD, name
from .letters_shapes import SCALE, STROKE, skeleton
from .mechanism import add_bodies, check_same_model
from .picture import Image, Shot
from .shapes import solid
from .staging import add_backdrop, add_studio, faceted_object, mesh_object, plain_material

SECONDS, TIME_STEP = 4.0, 2.5e-4
# the colours of a box of wooden letters
COLORS = (
    (0.75, 0.06, 0.05),
    (0.90, 0.42, 0.03),
    (0.88, 0.68, 0.05),
    (0.22, 0.52, 0.10),
    (0.03, 0.42, 0.45),
    (0.05, 0.22, 0.62),
    (0.30, 0.10, 0.52),
    (0.70, 0.12, 0.38),
)


def letter_mesh(letter: str) -> Mesh:
    """Round strokes about the letter's skeleton."""
    x, z = skeleton(letter).T
    middle = np.column_stack([x, np.zeros(len(x)), z])

    def distance(points: FloatArray) -> FloatArray:
        nearest = np.full(len(points), np.inf)
        for chunk in range(0, len(points), 20000):
            away = points[chunk : chunk + 20000, None] - middle
            nearest[chunk : chunk + 20000] = np.einsum("nmk,nmk->nm", away, away).min(axis=1)
        return np.sqrt(nearest) - STROKE

    return solid(distance, 0.6 * SCALE, 2.5e-3)


def make() -> production.Made:
    """Make the file, ready to bake; objects by body, and the names of the objects of each kind of chain."""
    scene, (stage, *collections) = production.new_file("Letters", ("Stage", "Single joints", "Double joints"))
    meshes = {letter: letter_mesh(letter) for letter in set(WORD)}
    objects, parts = {}, {}
    for double, collection in zip(KINDS, collections):
        for number, letter in enumerate(WORD):
            paint = plain_material(f"Letter {number + 1}", COLORS[number], roughness=0.35)
            body = name(number, double)
            objects[body] = mesh_object(body, meshes[letter], collection, paint)
        hanger = add_hanger("Hanger double" if double else "Hanger", BEHIND if double else 0.0, collection)
        parts[double] = [name(number, double) for number in range(len(WORD))] + [hanger.name]
    model = letters_model.build_model()
    state = letters_model.start(model)
    add_bodies(scene, model, state, objects)
    production.set_simulation(scene, SECONDS, TIME_STEP)
    # of fourth order, because a point passes the round end of a stroke in a few milliseconds
    scene.condyle.simulation.integrator = "rk4"
    add_studio(scene, stage, (0.0, 0.0, -0.35), 1.5)
    add_backdrop(stage, -1.5, 1.6)
    check_same_model(scene, model, state)
    return production.Made(scene=scene, objects=objects, parts=parts)


def add_hanger(title: str, depth: float, collection: bpy.types.Collection) -> bpy.types.Object:
    """A pin through the S and an upright rod behind it."""
    half = 0.5 * (0.05 + STROKE + 0.012)
    pin = moved(box((0.006, half, 0.006)), (0.0, depth + 0.05 - half, 0.0))
    rod = moved(box((0.009, 0.01, 0.61)), (0.0, depth + 0.05, 0.59))
    steel = plain_material("Steel", (0.55, 0.57, 0.60), roughness=0.3, metallic=1.0)
    return faceted_object(title, *together(pin, rod), collection, steel)


def measure(made: production.Made, progress: production.Progress) -> tuple[Any, Mapping[str, str]]:
    """Bake and check."""
    report, shown = production.bake_shown(made.scene, progress)
    total = report.energy[:, 2]
    rise = float(np.diff(total).max()) / float(report.energy[:, 0].max())
    production.check("the largest rise of the energy over the kinetic", rise, -1.0, 1e-3)
    figures = {
        "bake against simulation": f"{shown:.1e}, m and matrix entries",
        "energy": f"{total[0]:.2f} to {total[-1]:.2f} J, largest rise {rise:.1e} of the kinetic",
    }
    for double in KINDS:
        kind = "double" if double else "single"
        low, high, others = touch(made, report, double)
        # the cubic through frames 8 degrees apart smooths the places where the strokes' round ends begin
        production.check(f"the smallest gap of neighbours with {kind} joints", 1e3 * low, -0.1, 0.1, "mm")
        production.check(f"the largest gap of neighbours with {kind} joints", 1e3 * high, -0.1, 0.1, "mm")
        production.check(
            f"the smallest gap of other letters with {kind} joints", 1e3 * others, 0.0, 1e3, "mm"
        )
        figures[f"{kind} joints, neighbours' gaps"] = f"{1e3 * low:.3f} to {1e3 * high:.3f} mm"
        figures[f"{kind} joints, others' gaps"] = f"at least {1e3 * others:.1f} mm"
    slid = max(np.ptp(report.coordinates[f"{name(k, True)} joint.2.q"]) for k in range(1, len(WORD)))
    production.check("the longest way on a letter's own outline", slid, 0.5, 20.0)
    return report, figures


def touch(made: production.Made, report: Any, double: bool) -> tuple[float, float, float]:
    """Figures of the shown scene: smallest and largest gap [m] of neighbours, and smallest gap of other letters."""
    low, high, others = np.inf, -np.inf, np.inf
    count = len(WORD)
    neighbours = np.abs(np.subtract.outer(np.arange(count), np.arange(count))) == 1
    for frame in report.frames[::3]:
        made.scene.frame_set(int(frame))
        poses = {
            number: production.object_pose(made.objects[name(number, double)]) for number in range(count)
        }
        found = letters_model.gaps(poses)
        low, high = min(low, found[neighbours].min()), max(high, found[neighbours].max())
        others = min(others, found[~neighbours].min())
    made.scene.frame_set(made.scene.frame_start)
    return float(low), float(high), float(others)


def draw(made: production.Made, report: Any, progress: production.Progress) -> Image:
    """Draw the single chain large, then three instants of either chain."""
    hidden = {double: made.parts[not double] for double in KINDS}
    hero = Shot(eye=(0.35, -2.0, -0.15), target=(0.26, 0.0, -0.28), width=0.78, frame=9, hidden=hidden[False])
    tiles, captions = [], []
    for double in KINDS:
        middle = BEHIND if double else 0.0
        eye, target = (0.2, middle - 3.0, -0.2), (0.03, middle, -0.50)
        for index in (0, 6, 13):
            tiles.append(Shot(eye, target, 2.0, hidden=hidden[double]))
            kind = "double joints" if double else "single joints"
            captions.append((int(report.frames[index]), (f"t = {report.times[index]:.2f} s", kind)))
    order = [0, 3, 1, 4, 2, 5]  # single joints to the left, double to the right
    lines = ("SIGGRAPH by spline joints", "eight letters fall about a pin,", "each touching the one before")
    tiles, captions = ([entries[k] for k in order] for entries in (tiles, captions))
    return production.contact_sheet(made.scene, hero, tiles, captions, lines, progress, top=0.15)


RECIPE = production.Recipe("letters", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
