"""Aeroplanes along the coastlines of a globe that turns on its axle.

After Lee & Terzopoulos 2008, Fig. 5b. Each coast is a closed spline curve, each plane has one coordinate along it; they
glide under gravity, and their weight turns the globe. Checked: the planes keep their height, their keels down and their
noses along the coast, do not meet, the energy only falls, and without damping it is constant.
"""

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from . import globe_model, globe_parts
from .anatomy.implicit import sphere
from .coastlines import FLOWN, LANDS
from .globe_model import ALTITUDE, GLOBE, RADIUS, plane
from .mechanism import add_bodies, bake_checked, check_same_model
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, contact_sheet, new_file, object_pose, set_simulation
from .shapes import solid, tube
from .staging import add_backdrop, add_studio, faceted_object, mesh_object, plain_material

SECONDS, TIME_STEP = 6.0, 5e-4
FLOOR = -0.40  # m
COLORS = {
    "Africa": (0.90, 0.12, 0.08),
    "South America": (0.95, 0.75, 0.10),
    "North America": (0.85, 0.85, 0.88),
    "Eurasia": (0.95, 0.40, 0.05),
    "Australia": (0.60, 0.15, 0.70),
    "Greenland": (0.10, 0.65, 0.75),
}


def make() -> Made:
    """Make the file, ready to bake; objects and the joints' Empties by body."""
    scene, (stage, world, planes) = new_file("Globe", ("Stage", "World", "Planes"))
    sea = plain_material("Sea", (0.03, 0.12, 0.30), roughness=0.25)
    objects = {
        GLOBE: mesh_object(GLOBE, solid(sphere((0.0, 0.0, 0.0), RADIUS), 1.05 * RADIUS, 8e-3), world, sea)
    }
    add_lands(world, objects[GLOBE])
    body = globe_parts.aeroplane()
    for land in FLOWN:
        paint = plain_material(plane(land), COLORS[land], roughness=0.3)
        objects[plane(land)] = mesh_object(plane(land), body, planes, paint)
        line = mesh_object(f"{land} coast", tube(globe_model.curve_poses(land, 900), 0.0014, 6), world, paint)
        line.parent = objects[GLOBE]
    brass = plain_material("Brass", (0.55, 0.38, 0.16), roughness=0.35, metallic=1.0)
    vertices, faces = globe_parts.ring_stand(FLOOR)
    faceted_object("Stand", vertices, faces, stage, brass, smooth=True)
    model = globe_model.build_model()
    state = globe_model.start(model)
    joints = add_bodies(scene, model, state, objects)
    set_simulation(scene, SECONDS, TIME_STEP)
    add_studio(scene, stage, (0.0, 0.0, 0.0), 0.8)
    add_backdrop(stage, FLOOR, 0.9)
    check_same_model(scene, model, state)
    return Made(scene=scene, objects=objects, joints=joints)


def add_lands(collection: bpy.types.Collection, globe: bpy.types.Object) -> None:
    """Add plates of land that are fixed to the globe."""
    ground = plain_material("Land", (0.22, 0.34, 0.10), roughness=0.7)
    ice = plain_material("Ice", (0.80, 0.84, 0.88), roughness=0.5)
    for land in LANDS:
        vertices, faces = globe_parts.land_plate(land)
        paint = ice if land in ("Antarctica", "Greenland") else ground
        faceted_object(land, vertices, faces, collection, paint).parent = globe


def measure(made: Made, progress: Progress) -> tuple[Any, Mapping[str, str]]:
    """Bake and check."""
    # Runge-Kutta 4 at 0.5 ms; the cubic bends its accelerations at knots, of which a plane passes one in 5 ms, and at a
    # cape it turns about within four
    report, figures = bake_checked(made, progress, 5e-3)
    height, lean, nose, gap = along_the_coasts(made, report)
    # single precision of the baked keys, a quarter of a metre from the middle
    check("the largest change of a plane's height", 1e3 * height, 0.0, 1e-3, "mm")
    check("the angle of a plane's mast to the globe's normal", lean, 0.0, 0.01, "degrees")
    check("the angle of a plane's nose to its coast", nose, 0.0, 30.0, "degrees")
    check("the smallest distance of two planes", 1e3 * gap, 1.3e3 * globe_parts.SPAN, 600.0, "mm")
    return report, figures | {
        "planes' height": f"changes by {1e3 * height:.1e} mm",
        "planes' masts and noses": f"within {lean:.1e} and {nose:.1f} degrees",
        "planes apart": f"{1e3 * gap:.0f} mm",
    }


def along_the_coasts(made: Made, report: Any) -> tuple[float, float, float, float]:
    """Figures of the shown scene: largest change [m] of a plane's height over the globe, largest angles [degrees]
    between mast and normal and between nose and coast, smallest distance [m] between two planes.
    """
    lines = {land: globe_model.curve_poses(land, 6000)[:, :3, 3] for land in FLOWN}
    height, lean, nose, gap = 0.0, 0.0, 1.0, np.inf
    for frame in report.frames[::2]:
        made.scene.frame_set(int(frame))
        base = np.linalg.inv(object_pose(made.objects[GLOBE]))
        places = []
        for land, line in lines.items():
            pose = base @ object_pose(made.objects[plane(land)])
            distance = float(np.linalg.norm(pose[:3, 3]))
            places.append(pose[:3, 3])
            height = max(height, abs(distance - RADIUS - ALTITUDE))
            lean = max(lean, float(np.linalg.norm(np.cross(pose[:3, 2], pose[:3, 3] / distance))))
            nearest = int(np.argmin(np.linalg.norm(line - pose[:3, 3], axis=1)))
            along = line[(nearest + 1) % len(line)] - line[nearest - 1]
            nose = min(nose, float(pose[:3, 0] @ along / np.linalg.norm(along)))
        apart = np.linalg.norm(np.array(places)[:, None] - np.array(places), axis=2)
        gap = min(gap, float(apart[np.triu_indices(len(places), 1)].min()))
    made.scene.frame_set(made.scene.frame_start)
    return height, float(np.degrees(np.arcsin(lean))), float(np.degrees(np.arccos(nose))), gap


def draw(made: Made, report: Any, progress: Progress) -> Image:
    """Draw the globe large, and six instants."""
    hero = Shot(eye=(0.35, -1.6, 0.45), target=(0.0, 0.0, 0.0), width=0.66, frame=1)
    tile = Shot(eye=(0.2, -2.0, 0.35), target=(0.0, 0.0, -0.055), width=1.0)
    picked = [0, 12, 30, 54, 84, 120]
    captions = [(int(report.frames[k]), (f"t = {report.times[k]:.2f} s",)) for k in picked]
    count = sum(len(globe_model.coast_curve(land).frames) for land in FLOWN)
    lines = ("Aeroplanes along coastlines", "six closed spline curves,", f"{count} control frames")
    return contact_sheet(made.scene, hero, tile, captions, lines, progress)


RECIPE = Recipe("globe", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
