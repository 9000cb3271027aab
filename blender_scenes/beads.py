"""Beads on two spinning flower-shaped wires, fast to the wire's frame and free to spin about it.

    python -m blender_scenes.beads --out out       out/beads.blend and out/beads.png

After Lee & Terzopoulos 2008, Fig. 5a. The beads slide in gravity and slow or speed up the wires, which spin freely
about the vertical. Checked: the beads stay on the drawn wire and along it, do not meet, the energy only falls, and
without damping it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import beads_model
from .anatomy.implicit import sphere, union
from .anatomy.surface import Mesh
from .beads_model import BEAD_RING, BEAD_THICKNESS, BEADS, FLOWERS, KNOB, Flower
from .mechanism import add_bodies, check_same_model
from .picture import Image, Shot
from .process import leave
from .production import (
    Progress,
    Recipe,
    bake_shown,
    check,
    contact_sheet,
    energy_drift,
    new_file,
    object_pose,
    produce,
    script,
    set_simulation,
)
from .shapes import ring, solid, tube
from .staging import add_backdrop, add_studio, faceted_object, mesh_object, plain_material

FloatArray = NDArray[np.float64]

SECONDS, TIME_STEP = 4.0, 1e-3
FLOOR = -0.42  # m
COLORS = ((0.85, 0.11, 0.09), (0.95, 0.62, 0.05), (0.07, 0.38, 0.85))


@dataclass(frozen=True)
class Beads:
    """The scene, its objects by body and the joints' Empties by body."""

    scene: bpy.types.Scene
    objects: dict[str, bpy.types.Object]
    joints: dict[str, bpy.types.Object]


def bead_mesh() -> Mesh:
    """A ring about the wire with a knob on its outward side."""
    shape = union((ring(BEAD_RING, BEAD_THICKNESS), sphere(KNOB, 0.011)), 0.006)
    return solid(shape, 0.045, 1.2e-3)


def make() -> Beads:
    """The file, ready to bake."""
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
    return Beads(scene, objects, joints)


def add_stand(flower: Flower, stage: bpy.types.Collection) -> None:
    """A post from a foot on the floor up to the wire's lowest place on its axis."""
    points = beads_model.curve_poses(900)[:, :3, 3]
    below = points[points[:, 2] < 0.0]
    top = below[np.argmin(np.abs(below[:, 0])), 2]
    wood = plain_material("Stand", (0.16, 0.10, 0.07), roughness=0.5)
    profile = (
        (0.0, FLOOR),
        (0.075, FLOOR),
        (0.075, FLOOR + 0.012),
        (0.012, FLOOR + 0.022),
        (0.005, FLOOR + 0.05),
    )
    profile += ((0.005, top - 0.012), (0.009, top - 0.008), (0.009, top + 0.003), (0.0, top + 0.006))
    turn = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    rings = [
        np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(48, height)])
        for radius, height in profile
    ]
    corner = np.arange(48 * len(profile)).reshape(len(profile), 48)
    beside = np.roll(corner, -1, axis=1)
    faces = np.stack([corner[:-1], beside[:-1], beside[1:], corner[1:]], axis=-1).reshape(-1, 4)
    vertices = np.vstack(rings) + flower.center
    faceted_object(f"{flower.name} stand", vertices, faces.tolist(), stage, wood)


def measure(made: Beads, progress: Progress) -> tuple[Any, Mapping[str, str]]:
    """Bake and check."""
    drift = energy_drift(made.scene, list(made.joints.values()), progress)
    # Runge-Kutta 4 at 1 ms; the cubic bends its accelerations at knots, of which a bead passes one in 3 ms
    check("the energy drift without damping", drift, 0.0, 1e-3)
    report, shown = bake_shown(made.scene, progress)
    total = report.energy[:, 2]
    swing = float(report.energy[:, 0].max())
    rise = check("the largest rise of the energy", float(np.diff(total).max()) / swing, -1.0, 5e-3)
    off, tilt, gap = on_the_wire(made, report)
    check("a bead's distance from its wire", 1e3 * off, 0.0, 0.02, "mm")
    check("the angle of a bead's ring to its wire", tilt, 0.0, 5.0, "degrees")
    check("the smallest distance of two beads' middles", 1e3 * gap, 60.0, 500.0, "mm")
    spun = max(np.ptp(report.coordinates[f"{bead} joint.2.angle"]) for bead in free_beads())
    check("the largest turn of a free bead about its wire", float(np.degrees(spun)), 30.0, 1e5, "degrees")
    return report, {
        "bake against simulation": f"{shown:.1e}, m and matrix entries",
        "energy drift, undamped, RK4": f"{drift:.1e} of the largest kinetic",
        "energy, damped": f"{total[0]:.3f} to {total[-1]:.3f} J, largest rise {rise:.1e} of the kinetic",
        "beads off the wire": f"{1e3 * off:.4f} mm, {tilt:.2f} degrees",
        "beads apart": f"{1e3 * gap:.0f} mm",
        "free beads turn": f"{np.degrees(spun):.0f} degrees",
    }


def free_beads() -> list[str]:
    return [flower.bead(number) for flower in FLOWERS if flower.free for number in BEADS]


def on_the_wire(made: Beads, report: Any) -> tuple[float, float, float]:
    """As Blender shows it: the largest distance [m] of a bead's middle from the wire's, the largest angle [degrees]
    between ring and wire, the smallest distance [m] of two beads of a wire.
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


def draw(made: Beads, report: Any, progress: Progress) -> Image:
    """One flower large, and six instants of both."""
    hero = Shot(eye=(0.05, -1.6, 0.25), target=(0.33, 0.0, -0.045), width=0.60, frame=9)
    tile = Shot(eye=(0.0, -2.6, 0.35), target=(0.0, 0.0, -0.085), width=1.3)
    picked = [0, 6, 12, 20, 32, 48]
    captions = [(int(report.frames[k]), (f"t = {report.times[k]:.2f} s",)) for k in picked]
    lines = ("Beads on spinning wires", "left fast to the wire's frame,", "right free to spin about it")
    return contact_sheet(made.scene, hero, tile, captions, lines, progress)


RECIPE = Recipe("beads", make, measure, draw)


def build(out: Path) -> Path:
    """Build beads.blend and beads.png into the folder `out`. Raises SceneError."""
    return produce(RECIPE, out)


if __name__ == "__main__":
    leave(script(RECIPE, __doc__))
