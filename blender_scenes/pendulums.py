"""Double pendulums whose heavy muscles wrap over cylinders, after Wang 2022, Fig. 6.5.

    python -m blender_scenes.pendulums --out out      writes out/pendulums.blend and out/pendulums.png

Each muscle weighs as much as either bone. Origin, insertion and cylinder differ; the last pendulum has no muscle, and
half of its mass on either bone. Checked: the energy, that no muscle goes into its cylinder, and what Blender shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

import physics as ph

from . import pendulums_model as model
from .gallery_parts import ball, box, disc, moved, together
from .keys import SHOWN_WITHIN, key_poses, shown_error
from .muscle_tubes import Tube, add_tube, centerlines, tube_error
from .picture import Image, Shot
from .process import leave
from .production import Progress, Recipe, check, contact_sheet, new_file, produce, script
from .shapes import capsule
from .staging import add_backdrop, add_studio, faceted_object, plain_material

FloatArray = NDArray[np.float64]

FRAMES_A_SECOND, SLOWER = 24, 2  # shown at half the speed
FRAMES = 1 + FRAMES_A_SECOND * SLOWER * 4
APART = 0.36  # m between two pendulums
FLOOR = -1.0
BONE, PIN, OBSTACLE, BEAM = (0.86, 0.80, 0.66), (0.45, 0.47, 0.50), (0.10, 0.42, 0.62), (0.12, 0.15, 0.19)
TUBE = Tube(2.4e-4, (0.0, 1.0), 0.004)
TILES = (1, 14, 27, 42, 57, 118)


@dataclass(frozen=True)
class Pendulums:
    """The scene before it is simulated; objects by pendulum and bone."""

    scene: bpy.types.Scene
    bones: dict[tuple[int, str], bpy.types.Object]
    muscles: bpy.types.Collection
    stage: bpy.types.Collection


@dataclass(frozen=True)
class Swing:
    """A pendulum's motion, a sample a frame, and where its muscle runs (frames, rings, 3), or None."""

    result: ph.Result
    lines: FloatArray | None


def lane(number: int) -> FloatArray:
    """Where a pendulum hangs (3,)."""
    return np.array([0.0, APART * (number - 0.5 * len(model.GROUP)), 0.0])


def add_pendulum(number: int, into: bpy.types.Collection) -> dict[tuple[int, str], bpy.types.Object]:
    """Bones of a pendulum, the cylinder on the proximal one."""
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
        frame = model.cylinder_frame(variant)
        vertices, faces = disc(variant.radius, -0.09, 0.09, 48)
        placed = vertices @ frame[:3, :3].T + frame[:3, 3]
        paint = plain_material("Obstacle", OBSTACLE, 0.35)
        over = faceted_object(f"Cylinder {number + 1}", placed, faces, into, paint)
        over.parent = made[number, "Proximal"]
        pieces = [moved(ball(0.011, 8, 16), variant.origin), moved(ball(0.011, 8, 16), variant.insertion)]
        for name, piece, at in zip(model.BONES, pieces, (variant.origin, variant.insertion)):
            arm = capsule(np.array([0.0, 0.0, at[2]]), np.array(at), 0.006)
            held = faceted_object(f"{name} end {number + 1}", *together(piece, arm), into, bone, True)
            held.parent = made[number, name]
    return made


def make() -> Pendulums:
    """The group under its beam in a new file."""
    scene, (things, muscles, stage) = new_file("Pendulums", ["Pendulums", "Muscles", "Stage"])
    scene.frame_start, scene.frame_end = 1, FRAMES
    bones = {}
    for number in range(len(model.GROUP) + 1):
        bones.update(add_pendulum(number, things))
    half = 0.5 * APART * (len(model.GROUP) + 1)
    beam = moved(box((0.02, half, 0.02)), (0.0, 0.0, 0.035))
    faceted_object("Beam", *beam, stage, plain_material("Beam", BEAM, 0.5))
    add_studio(scene, stage, (0.0, 0.0, -0.4), 1.9)
    add_backdrop(stage, FLOOR, 1.6).rotation_euler[2] = 0.5 * np.pi  # behind as seen from +x
    return Pendulums(scene, bones, muscles, stage)


def clearance(variant: model.Variant, result: ph.Result, lines: FloatArray) -> float:
    """Least distance of a muscle's line from its cylinder's surface [m]; negative inside."""
    frame = model.cylinder_frame(variant)
    least = np.inf
    for poses, line in zip(result.poses, lines):
        there = poses[0] @ frame
        local = (line - there[:3, 3]) @ there[:3, :3]
        least = min(least, float(np.hypot(local[:, 0], local[:, 1]).min() - variant.radius))
    return least


def measure(made: Pendulums, progress: Progress) -> tuple[list[Swing], dict[str, str]]:
    """Simulate and bake to keys and shape keys; raises SceneError where anything is not as it must be."""
    frames = np.arange(1, FRAMES + 1)
    seconds = (FRAMES - 1) / (FRAMES_A_SECOND * SLOWER)
    swings, drifts, depths, world, off = [], [], [], {}, 0.0
    for number, variant in enumerate([*model.GROUP, None]):
        progress(number / (len(model.GROUP) + 1.0), f"simulating pendulum {number + 1}")
        of = model.build_model(variant)
        result = ph.simulate(
            of, of.state(q=model.START), seconds, model.TIME_STEP, "sdirk2",
            record_interval=1.0 / (FRAMES_A_SECOND * SLOWER),
        )  # fmt: skip
        drifts.append(check("the energy's drift over the swing", model.drift(result), 0.0, 1e-3))
        for k, name in enumerate(model.BONES):
            poses = result.poses[:, k].copy()
            poses[:, :3, 3] += lane(number)
            item = made.bones[number, name]
            world[item.name] = poses
            key_poses(item, frames, poses)
        lines = None
        if variant:
            lines = centerlines(result, "Muscle")
            depths.append(clearance(variant, result, lines))
            tube = add_tube(f"Muscle {number + 1}", lines + lane(number), TUBE, frames, made.muscles)
            off = max(off, tube_error(made.scene, tube, lines + lane(number), frames))
        swings.append(Swing(result, lines))
    # straight pieces between the points that are drawn cut corners by a tenth of a millimetre
    deep = check("the deepest that a muscle's line goes into its cylinder", -min(depths), -1.0, 1.5e-3, "m")
    shown = check("what Blender shows, off by", shown_error(made.scene, frames, world), 0.0, SHOWN_WITHIN)
    check("muscles as shown, off their lines by", off, 0.0, SHOWN_WITHIN, "m")
    bent = [np.degrees(swing.result.q[-1]) for swing in swings]
    apart = float(np.ptp([angles[0] for angles in bent]))
    check("the spread of the first angles at the end", apart, 5.0, 360.0, "degrees")
    return swings, {
        "energy, drift over the swing": f"at most {max(drifts):.1e}",
        "muscle's line in its cylinder": f"at most {1e3 * max(deep, 0.0):.2f} mm",
        "spread of the angles at the end": f"{apart:.0f}°",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }


def draw(made: Pendulums, swings: list[Swing], progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "Double pendulums with heavy muscles",
        "muscles as heavy as either bone wrap over cylinders;",
        "the last has none, half of its mass on either bone",
    )
    captions = []
    for frame in TILES:
        angles = ", ".join(f"{np.degrees(swing.result.q[frame - 1, 1]):.0f}" for swing in swings)
        captions.append((frame, (f"t = {(frame - 1) / (FRAMES_A_SECOND * SLOWER):.2f} s", f"{angles}°")))
    hero = Shot((2.9, -2.1, 0.12), (0.0, 0.03, -0.36), 2.08, 27, (1, 1))
    tile = Shot((3.2, -1.2, 0.05), (0.0, 0.0, -0.47), 2.35, 1, (1, 1))
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=12)


RECIPE = Recipe("pendulums", make, measure, draw)


def build(out: Path) -> Path:
    """Build, simulate, bake, check and draw the pendulums into the folder `out`. Raises SceneError."""
    return produce(RECIPE, out)


if __name__ == "__main__":
    leave(script(RECIPE, __doc__))
