"""A shoulder blade that glides on the ribs, after Lee & Terzopoulos 2008, Fig. 4.

The scapula moves by a spline surface joint that is fitted to 72 poses; the clavicle is a body on the sternum, and a
damped spring connects it to the acromion. The scapula's frame sweeps the grey sheet; arrows are its orientations at
sample places, the red box is its pose. The arm is released and swings to rest.
"""

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import SceneError, gallery_parts, staging
from . import shoulder_model as model
from .anatomy import shoulder
from .keys import key_bodies, key_property
from .picture import Image, Shot
from .production import TILES, Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shoulder_cage import add_cage

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
BODIES = ("Scapula", "Humerus", "Clavicle")
SHEET, BOX = (0.45, 0.50, 0.56), (0.85, 0.06, 0.04)
TILE_FRAMES = tuple(1 + 5 * k for k in range(TILES))
# m, of the blade's middle lines from the ribs' outside, over all sample poses
BLADE_CLEARANCE = (-0.004, 0.030)


def make() -> Made:
    """Rib cage, scapula, clavicle, humerus and the swept surface in a new file."""
    scene, (cage, bones, swept, stage) = new_file(
        "Shoulder", ["Cage", "Bones", "Swept surface", "Stage"], FRAMES
    )
    bone = staging.bone_material("Bone")
    add_cage(cage, bone)
    clear = staging.plain_material("Clear bone", (0.86, 0.78, 0.62), 0.4, alpha=0.45)
    bodies = {
        "Scapula": staging.mesh_object("Scapula", shoulder.scapula(), bones, clear),
        "Humerus": staging.mesh_object("Humerus", shoulder.humerus(), bones, bone),
        "Clavicle": staging.mesh_object("Clavicle", shoulder.clavicle(model.clavicle_length()), bones, bone),
    }
    add_swept_surface(swept, bodies["Scapula"])
    staging.add_studio(scene, stage, (0.0, -0.06, -0.05), 0.55)
    return Made(scene=scene, bodies=bodies, stage=stage)


def add_swept_surface(into: bpy.types.Collection, scapula: bpy.types.Object) -> None:
    """The surface that the frame's origin sweeps, the frame at sample places, and the red box on the scapula."""
    joint = model.fitted().joint
    axes = [np.linspace(*limits, 33) for limits in joint.range]
    points = joint.transform(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1))[..., :3, 3]
    staging.surface_object(
        "Swept surface", points, into, staging.plain_material("Sheet", SHEET, 0.5, alpha=0.75)
    )
    places = np.stack(np.meshgrid(*(axis[::8] for axis in axes), indexing="ij"), axis=-1)
    staging.frames_object("Sample frames", joint.transform(places.reshape(-1, 2)), 0.011, into)
    box = staging.faceted_object(
        "Place", *gallery_parts.box((0.006, 0.006, 0.003)), into, staging.plain_material("Place", BOX)
    )
    box.parent = scapula


def acromion_gaps(result: ph.Result) -> FloatArray:
    """Distance [m] between the clavicle's outer end and the acromion, (n,)."""
    end = result.poses[:, 2] @ np.array([model.clavicle_length(), 0.0, 0.0, 1.0])
    top = result.poses[:, 0] @ np.append(model.ACROMION, 1.0)
    return np.linalg.norm(end - top, axis=1)


def blade_clearance(poses: FloatArray) -> tuple[float, float]:
    """Smallest and largest distance [m] of the blade's plate from the thorax' ellipsoid, for poses (n, 4, 4)."""
    u, v = np.meshgrid(np.linspace(-0.03, 0.03, 9), np.linspace(-0.06, 0.04, 9))
    radius = 1e-3 * shoulder.BLADE_RADIUS
    plate = np.stack([u, v, -(u**2 + v**2) / (2.0 * radius), np.ones_like(u)], axis=-1).reshape(-1, 4)
    points = np.einsum("nij,kj->nki", poses, plate)[..., :3]
    scaled = np.linalg.norm(points / model.THORAX, axis=-1)
    away = scaled * (scaled - 1.0) / np.linalg.norm(points / model.THORAX**2, axis=-1)
    return float(away.min()), float(away.max())


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and bake to keys; raises SceneError if a joint opens or the bake differs from the simulation."""
    fit = model.fitted()
    off, turned = fit.residuals.translation.max(), np.degrees(fit.residuals.rotation.max())
    check("the fit's largest distance from a sample pose", float(off), 0.0, 5e-4, "m")
    check("the fit's largest angle from a sample pose", float(turned), 0.0, 0.5, "degrees")
    reaches = [model.reach(pose) for pose in fit.joint.transform(dense_places(fit.joint))]
    stretch = float(np.abs(np.array(reaches) - model.clavicle_length()).max())
    check("the acromion's distance from the clavicle's reach on the surface", stretch, 0.0, 5e-4, "m")
    of = model.model()
    result = ph.simulate(
        of, model.start(of), model.SECONDS, model.TIME_STEP, record_interval=1.0 / FRAMES_A_SECOND,
        progress=lambda share: progress(share, "simulating"),
    )  # fmt: skip
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies([made.bodies[name] for name in BODIES], frames, result.poses)
    for k, name in enumerate(("around", "upward")):
        key_property(made.bodies["Scapula"], name, frames, result.q[:, k])
    shown = check_shown(made.scene, frames, world)
    gap = check("the gap at the acromion", float(acromion_gaps(result).max()), 0.0, 1e-3, "m")
    near, far = blade_clearance(result.poses[:, 0])
    check("the blade's clearance", near, *BLADE_CLEARANCE, "m")
    check("the blade's clearance", far, *BLADE_CLEARANCE, "m")
    q = np.degrees(result.q[:, :2])
    low, high = q.min(axis=0), q.max(axis=0)
    # the limits are compliant
    if (low < np.degrees(fit.joint.range[:, 0]) - 1.0).any() or (
        high > np.degrees(fit.joint.range[:, 1]) + 1.0
    ).any():
        raise SceneError(
            f"the scapula leaves the fitted surface: {low.round(1).tolist()} to {high.round(1).tolist()}°"
        )
    return result, {
        "fit of the surface": f"{len(model.sample_poses())} poses, largest residual {1e3 * off:.1e} mm, {turned:.1e}°",
        "acromion off the clavicle's reach": f"{1e3 * stretch:.3f} mm over the surface",
        "gap at the acromion": f"at most {1e3 * gap:.3f} mm in the motion",
        "scapula": f"{low[0]:.0f} to {high[0]:.0f}° around, {low[1]:.0f} to {high[1]:.0f}° up",
        "blade off the ribs' ellipsoid": f"{1e3 * near:.1f} to {1e3 * far:.1f} mm",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry",
    }


def dense_places(joint: ph.joints.Joint) -> FloatArray:
    """Places (n, 2) all over the joint's range."""
    axes = (np.linspace(*limits, 25) for limits in joint.range)
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet: the swept surface with its frames close up, and instants of the motion."""
    lines = (
        "The scapula on a fitted surface",
        f"{len(model.sample_poses())} poses, "
        f"{model.CONTROL_VALUES[0]} × {model.CONTROL_VALUES[1]} control values",
        f"Gap at the acromion at most {1e3 * acromion_gaps(result).max():.2f} mm",
    )
    q = np.degrees(result.q)
    captions = []
    for frame in TILE_FRAMES:
        around, upward = q[frame - 1, :2]
        captions.append(
            (frame, (f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s", f"{around:.0f}° around, {upward:.0f}° up"))
        )
    hero = Shot((-1.0, -1.0, 0.35), (-0.055, -0.085, 0.045), 0.27, 1 + 12, hidden=["Humerus"])
    tile = Shot((-0.75, -1.3, 0.35), (0.03, -0.09, -0.115), 0.90)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=20)


RECIPE = Recipe("shoulder", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
