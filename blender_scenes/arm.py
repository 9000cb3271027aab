"""An arm reaches out, its deltoid and triceps wrapping over obstacles, after Wang 2022, Fig. 6.20.

The three heads of deltoid run over the humerus' head and neck, those of triceps over a cylinder at the elbow; their
mass lies in bellies between tendons. They are Hill-type muscles, excited by keys. Bodies, joints, obstacles and muscles
are the add-on's, which simulates and bakes. Checked: energy without forces, lengths against physics, that paths clear
their obstacles, fibres of possible lengths, and the poses that Blender shows.
"""

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

import physics as ph
from physics._typing import FloatArray

from . import arm_model as model
from . import muscle_objects
from .anatomy import forearm, shoulder
from .mechanism import add_bodies, check_same_model
from .muscle_objects import Look
from .picture import Image, Shot
from .production import Made, Progress, Recipe, bake_shown, check, contact_sheet, new_file
from .shoulder_cage import add_cage
from .shoulder_model import clavicle_length, clavicle_pose
from .staging import add_studio, bone_material, mesh_object

FRAMES_A_SECOND = 48
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
RADII = {
    "deltoid anterior": 0.012, "deltoid middle": 0.0125, "deltoid posterior": 0.008,
    "triceps long": 0.0135, "triceps lateral": 0.012, "triceps medial": 0.011,
}  # fmt: skip
TILES = (1, 7, 12, 17, 25, 49)


def add_bones(into: bpy.types.Collection) -> dict[str, bpy.types.Object]:
    """The bones that move, by body; rib cage, blade and clavicle are static."""
    paint = bone_material("Bone")
    add_cage(into, paint)
    blade = mesh_object("Scapula", shoulder.scapula(), into, paint)
    blade.matrix_basis = Matrix(model.scapula().tolist())
    collar = mesh_object("Clavicle", shoulder.clavicle(clavicle_length()), into, paint)
    collar.matrix_basis = Matrix(clavicle_pose(model.scapula()).tolist())
    made = {
        "Humerus": mesh_object("Humerus", shoulder.humerus(), into, paint),
        "Forearm": mesh_object("Forearm", forearm.ulna(), into, paint),
    }
    for name, mesh in (("Radius", forearm.radius()), ("Hand", forearm.hand())):
        mesh_object(name, mesh, into, paint).parent = made["Forearm"]
    return made


def make() -> Made:
    """The arm in a new file, its muscles' excitations keyed."""
    scene, (things, stage) = new_file("Arm", ["Bones", "Stage"], FRAMES)
    scene.render.fps = FRAMES_A_SECOND
    scene.condyle.simulation.time_step = model.TIME_STEP
    scene.condyle.simulation.integrator = "rk4"
    of = model.build_model()
    state = model.start(of)
    bodies = add_bones(things)
    add_bodies(scene, of, state, bodies)
    looks = {name: Look(RADII[name], head.tendons) for name, head in model.HEADS.items()}
    muscles = muscle_objects.add_muscles(scene, of, state, bodies, looks)
    keyed = 1.0 + FRAMES_A_SECOND * np.array(model.TIMES)
    for name, head in model.HEADS.items():
        muscle_objects.key_excitation(muscles[name], keyed.tolist(), head.excitation)
    scene.frame_set(1)
    check_same_model(scene, of, state)
    add_studio(scene, stage, (0.05, -0.15, -0.1), 0.8)
    return Made(scene=scene, bodies=bodies, muscles=muscles)


def measure(made: Made, progress: Progress) -> tuple[Any, dict[str, str]]:
    """Simulate and bake by the add-on; raises SceneError if a figure is out of its bounds."""
    drift = check("the energy's drift over the swing where nothing pulls", model.drift(), 0.0, 1e-3)
    report, shown = bake_shown(made.scene, progress)
    frames, result = report.frames, report.result
    off = muscle_objects.check_shown(made.scene, made.muscles, result.model, result.q, frames)
    near = muscle_objects.clearance(result.model, result.q[::3])
    check("the deepest of a muscle in its obstacle", -near, -1.0, 2e-3, "m")
    lengths = check("lengths as shown, off physics by", length_error(made, result), 0.0, 1e-3)
    fibres = result.muscle_states[:, 1::2] / [head.fibre for head in model.HEADS.values()]
    check("the shortest fibre over its optimum", float(fibres.min()), 0.35, 1.0)
    check("the longest fibre over its optimum", float(fibres.max()), 1.0, 1.6)
    bent = np.degrees(elbow(result))
    check("the elbow's flexion at the start", float(bent[0]), 90.0, 140.0, "degrees")
    check("the elbow's flexion at the end", float(bent[-1]), 0.0, 60.0, "degrees")
    lift = lifted(result)
    check("the upper arm's lift at the end", float(lift[-1]), 45.0, 120.0, "degrees")
    return result, {
        "elbow": f"{bent[0]:.0f}° to {bent[-1]:.0f}° of flexion",
        "upper arm": f"{lift[0]:.0f}° to {lift[-1]:.0f}° from hanging",
        "fibres": f"{fibres.min():.2f} to {fibres.max():.2f} of their optima",
        "energy where nothing pulls": f"drift over the swing {drift:.1e}",
        "paths in their obstacles": f"at most {1e3 * max(-near, 0.0):.2f} mm",
        "lengths as shown": f"off physics by {lengths:.1e}",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; muscles {off:.1e} m",
    }


def length_error(made: Made, result: ph.Result) -> float:
    """Largest relative difference of the tubes' middle lines, which cut corners a little, from the muscles' lengths."""
    before, largest = made.scene.frame_current, 0.0
    for frame in range(1, FRAMES + 1, 12):
        made.scene.frame_set(frame)
        of = result.model
        wanted = ph.muscle_lengths(of, of.state(q=result.q[frame - 1])).lengths
        for muscle, length in zip(of.muscles, wanted):
            line = muscle_objects.middles(made.muscles[muscle.name])
            drawn = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
            largest = max(largest, abs(drawn / float(length) - 1.0))
    made.scene.frame_set(before)
    return largest


def elbow(result: ph.Result) -> FloatArray:
    """Flexion (n,) [rad]."""
    return result.q[:, result.model.coordinate_slice("Forearm").start]


def lifted(result: ph.Result) -> FloatArray:
    """Angle (n,) [degrees] of the upper arm from the vertical."""
    down = result.poses[:, result.model.index("Humerus"), 2, 2]
    return np.asarray(np.degrees(np.arccos(np.clip(down, -1.0, 1.0))))


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "An arm with heavy muscles",
        "three heads of deltoid over the humerus, three of",
        "triceps over a cylinder, excited by keys",
    )
    bent, lift = np.degrees(elbow(result)), lifted(result)
    captions = []
    for frame in TILES:
        angles = f"lifted {lift[frame - 1]:.0f}°, elbow {bent[frame - 1]:.0f}°"
        captions.append((frame, (f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s", angles)))
    hero = Shot((0.45, -2.0, 0.4), (0.21, -0.15, -0.06), 1.02, 15)
    tile = Shot((0.75, -2.0, 0.4), (0.19, -0.15, 0.0), 1.08)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress, samples=10)


RECIPE = Recipe("arm", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
