"""Beads on two spinning flower-shaped wires, fixed to the wire's frame or free to spin about the wire.

After Lee & Terzopoulos 2008, Fig. 5a. The beads slide in gravity and slow or speed up the wires, which spin freely
about the vertical. Checked: the beads stay on the drawn wire and along it, do not meet, the energy only falls, and
without damping it is constant.
"""

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from . import beads_model
from .anatomy.implicit import sphere, union
from .anatomy.surface import Mesh
from .beads_model import BEAD_RING, BEAD_THICKNESS, BEADS, FLOWERS, KNOB, Flower
from .gallery_parts import moved
from .mechanism import add_bodies, bake_checked, check_same_model
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, contact_sheet, new_file, object_pose, set_simulation
from .shapes import revolved, ring, solid, tube
from .staging import add_backdrop, add_studio, faceted_object, mesh_object, plain_material

SECONDS, TIME_STEP = 4.0, 1e-3
FLOOR = -0.42  # m
COLORS = ((0.85, 0.11, 0.09), (0.95, 0.62, 0.05), (0.07, 0.38, 0.85))


def bead_mesh() -> Mesh:
    """A ring about the wire with a knob on its outward side."""
    shape = union((ring(BEAD_RING, BEAD_THICKNESS), sphere(KNOB, 0.011)), 0.006)
    return solid(shape, 0.045, 1.2e-3)


def make() -> Made:
    """Make the file, ready to bake; objects and the joints' Empties by body."""
    scene, (stage, *collections) = new_file("Beads", ["Stage", *(flower.name for flower in FLOWERS)])
    wire_mesh, bead = tube(beads_model.curve_poses(900), beads_model.WIRE_RADIUS), bead_mesh()
    steel = plain_material("Wire", (0.75, 0.77, 0.80), roughness=0.25)
    objects = {}
    for flower, collection in zip(FLOWERS, collections):
        objects[flower.wire] = mesh_object(flower.wire, wire_mesh, collection, steel)
        for number in BEADS:
            paint = plain_material(f"Bead {number + 1}", COLORS[number], roughness=0.3)
            objects[flower.bead(number)] = mesh_object(flower.bead(number), bead, collection, paint)
        add_stand(flower, stage)
    model = beads_model.build_model()
    state = beads_model.start(model)
    joints = add_bodies(scene, model, state, objects)
    set_simulation(scene, SECONDS, TIME_STEP)
    add_studio(scene, stage, (0.0, 0.0, -0.05), 1.0)
    add_backdrop(stage, FLOOR, 1.0)
    check_same_model(scene, model, state)
    return Made(scene=scene, objects=objects, joints=joints)


def add_stand(flower: Flower, stage: bpy.types.Collection) -> None:
    """A post from a foot on the floor up to the wire's lowest place on its axis."""
    points = beads_model.curve_poses(900)[:, :3, 3]
    below = points[points[:, 2] < 0.0]
    top = below[np.argmin(np.abs(below[:, 0])), 2]
    wood = plain_material("Stand", (0.16, 0.10, 0.07), roughness=0.5)
    foot = ((0.0, 0.0), (0.075, 0.0), (0.075, 0.012), (0.012, 0.022), (0.005, 0.05))
    profile = [(radius, FLOOR + height) for radius, height in foot]
    profile += [(0.005, top - 0.012), (0.009, top - 0.008), (0.009, top + 0.003), (0.0, top + 0.006)]
    stand = moved(revolved(profile, 48), flower.center)
    faceted_object(f"{flower.name} stand", *stand, stage, wood)


def measure(made: Made, progress: Progress) -> tuple[Any, Mapping[str, str]]:
    """Bake and check."""
    # Runge-Kutta 4 at 1 ms; the cubic bends its accelerations at knots, of which a bead passes one in 3 ms
    report, figures = bake_checked(made, progress, 1e-3)
    off, tilt, gap = on_the_wire(made, report)
    check("a bead's distance from its wire", 1e3 * off, 0.0, 0.02, "mm")
    check("the angle of a bead's ring to its wire", tilt, 0.0, 5.0, "degrees")
    check("the smallest distance of two beads' middles", 1e3 * gap, 60.0, 500.0, "mm")
    free = [flower.bead(number) for flower in FLOWERS if flower.free for number in BEADS]
    spun = max(np.ptp(report.coordinates[f"{bead} joint.2.angle"]) for bead in free)
    check("the largest turn of a free bead about its wire", float(np.degrees(spun)), 30.0, 1e5, "degrees")
    return report, figures | {
        "beads off the wire": f"{1e3 * off:.4f} mm, {tilt:.2f} degrees",
        "beads apart": f"{1e3 * gap:.0f} mm",
        "free beads turn": f"{np.degrees(spun):.0f} degrees",
    }


def on_the_wire(made: Made, report: Any) -> tuple[float, float, float]:
    """Figures of the shown scene: largest distance [m] of a bead's middle from the wire's, largest angle [degrees]
    between ring and wire, smallest distance [m] between two beads of a wire.
    """
    poses = beads_model.curve_poses(20000)
    points = poses[:, :3, 3]
    tangents = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    off, tilt, gap = 0.0, 1.0, np.inf
    for frame in report.frames[::2]:
        made.scene.frame_set(int(frame))
        for flower in FLOWERS:
            base = np.linalg.inv(object_pose(made.objects[flower.wire]))
            beads = [base @ object_pose(made.objects[flower.bead(number)]) for number in BEADS]
            for bead in beads:
                away = points - bead[:3, 3]
                nearest = int(np.argmin(np.einsum("ij,ij->i", away, away)))
                aside = np.cross(away[nearest], tangents[nearest])  # between two points of the wire
                off, tilt = max(off, float(np.linalg.norm(aside))), min(tilt, bead[:3, 0] @ tangents[nearest])
            middles = np.array([bead[:3, 3] for bead in beads])
            gap = min(gap, *np.linalg.norm(middles - np.roll(middles, 1, axis=0), axis=1))
    made.scene.frame_set(made.scene.frame_start)
    return off, float(np.degrees(np.arccos(tilt))), float(gap)


def draw(made: Made, report: Any, progress: Progress) -> Image:
    """Draw one flower large, and six instants of both."""
    hero = Shot(eye=(0.05, -1.6, 0.25), target=(0.33, 0.0, -0.045), width=0.60, frame=9)
    tile = Shot(eye=(0.0, -2.6, 0.35), target=(0.0, 0.0, -0.085), width=1.3)
    picked = [0, 6, 12, 20, 32, 48]
    captions = [(int(report.frames[k]), (f"t = {report.times[k]:.2f} s",)) for k in picked]
    lines = ("Beads on spinning wires", "left fast to the wire's frame,", "right free to spin about it")
    return contact_sheet(made.scene, hero, tile, captions, lines, progress)


RECIPE = Recipe("beads", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
