"""A hand that holds a ball: elbow and ball have prescribed motions, after Wang 2022, Fig. 6.3.

The last joint of each finger follows the one before it. Arrows show the forces of the ball on the fingertips. Checked:
fingertips and couplings stay closed, the work of elbow and ball equals the energy gained and dissipated, and couplings
as constraints move the hand like hyper-reduced coordinates.
"""

import bpy
import numpy as np
from mathutils import Vector

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie

from . import hand_model as model
from .anatomy.implicit import ellipsoid, tube, union
from .anatomy.surface import Mesh, mesh_from_shape
from .gallery_parts import ball
from .keys import key_bodies, key_poses, key_property, key_values
from .picture import Image, Shot, glow
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_studio, arrow, curves_object, faceted_object, mesh_object, plain_material

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
SKIN, SLEEVE, BALL = (0.78, 0.52, 0.40), (0.12, 0.22, 0.45), (0.85, 0.83, 0.78)
COLORS = ((0.95, 0.30, 0.10), (0.98, 0.72, 0.08), (0.25, 0.80, 0.25), (0.12, 0.60, 0.98), (0.75, 0.30, 0.95))
ELBOW_COLOR = (0.95, 0.95, 0.98)
ARROW, NEWTON = 0.05, 0.014  # length of the arrow's mesh, and of an arrow for a newton [m]
PAD = 0.0015  # m by which the pads of the fingers are pressed in
PLOT, WIDE, HIGH = np.array([4.0, 0.0, 0.0]), 0.36, 0.22  # place of the diagram, its size [m]
MIDDLE = (0.26, 0.0, -0.02)
TILE_FRAMES = (1, 18, 48, 72, 103)


def palm_mesh() -> Mesh:
    """The palm between the wrist and the fingers' first joints."""
    knuckles = {finger.name: finger for finger in model.FINGERS}
    rays = [
        tube([(0.0, 0.35 * finger.place[1], 0.0), finger.place], [0.019, 1.05 * finger.radii[0]])
        for finger in knuckles.values()
        if not finger.is_thumb
    ]
    thumb = knuckles["Thumb"]
    rays.append(tube([(0.0, 0.008, -0.004), thumb.place], [0.018, 1.15 * thumb.radii[0]]))
    shape = union((ellipsoid((0.052, -0.004, -0.004), (0.050, 0.042, 0.0135)), *rays), 0.014)
    return mesh_from_shape(shape, (-0.04, -0.07, -0.05), (0.13, 0.07, 0.04), 0.0025)


def bone_object(name: str, finger: model.Finger, number: int, into: bpy.types.Collection) -> bpy.types.Object:
    """One bone of a finger with its flesh."""
    end = np.array([finger.lengths[number], 0.0, 0.0])
    solid = capsule(np.zeros(3), end, *finger.radii[number : number + 2], sides=24, rings=8)
    return faceted_object(name, *solid, into, plain_material("Skin", SKIN, 0.5), True)


def make() -> Made:
    """Arm, hand, ball and arrows in a new file."""
    scene, (things, stage) = new_file("Hand", ["Hand", "Stage"], FRAMES)
    skin, sleeve = plain_material("Skin", SKIN, 0.5), plain_material("Sleeve", SLEEVE, 0.7)
    origin, wrist = np.zeros(3), np.array([model.FOREARM, 0.0, 0.0])
    wide, narrow = model.FOREARM_RADII
    upper = capsule(origin, np.array([-0.075, 0.0, 0.17]), 1.1 * wide, 1.25 * wide, 32, 10)
    faceted_object("Upper arm", *upper, things, sleeve, True)
    ulna = capsule(origin, 0.55 * wrist, 1.08 * wide, 0.95 * wide, 32, 10)
    radius = capsule(0.1 * wrist, wrist, 0.98 * wide, narrow, 32, 10)
    bodies = {
        "Ulna": faceted_object("Ulna", *ulna, things, sleeve, True),
        "Radius": faceted_object("Radius", *radius, things, skin, True),
        "Palm": mesh_object("Palm", palm_mesh(), things, skin),
    }
    arrows = {}
    for finger, color in zip(model.FINGERS, COLORS):
        for number, name in enumerate(finger.bones):
            bodies[name] = bone_object(name, finger, number, things)
        arrows[finger.name] = faceted_object(
            f"{finger.name} force", *arrow(ARROW, 0.0016), stage, glow(f"{finger.name} force", color, 1.2)
        )
    bodies["Ball"] = faceted_object(
        "Ball", *ball(model.BALL_RADIUS - PAD, 24, 48), things, plain_material("Ball", BALL, 0.3), True
    )
    add_seams(bodies["Ball"], things)
    add_studio(scene, stage, MIDDLE, 0.42)
    for light in ("Key", "Rim", "Fill"):  # the camera looks from the thumb's side
        turn_over(stage.objects[light])
    return Made(scene=scene, bodies=bodies, arrows=arrows, stage=stage)


def turn_over(light: bpy.types.Object) -> None:
    """Move a light to the other side of the plane y = 0; it shines on the same place."""
    light.location.y = -light.location.y
    light.rotation_quaternion = (light.location - Vector(MIDDLE)).to_track_quat("Z", "Y")


def add_seams(made: bpy.types.Object, into: bpy.types.Collection) -> None:
    """Three great circles on the ball: they show how it turns."""
    turn = np.linspace(0.0, 2.0 * np.pi, 65)
    circle = (model.BALL_RADIUS - PAD) * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    ways = [np.roll(circle, k, axis=1) for k in range(3)]
    seams = curves_object("Seams", ways, 0.0008, (0.0, 0.0, 0.0), into)
    seams.data.materials.clear()
    seams.data.materials.append(plain_material("Seams", (0.65, 0.05, 0.04), 0.4))
    seams.parent = made


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and bake to keys; raises SceneError if a fingertip or a coupling opens."""
    of = model.the_model()
    result = ph.simulate(
        of, model.start(of), model.SECONDS, model.TIME_STEP, motions=model.motions(),
        record_interval=2.0 * model.TIME_STEP, progress=lambda share: progress(share, "simulating"),
    )  # fmt: skip
    step = round(1.0 / (FRAMES_A_SECOND * 2.0 * model.TIME_STEP))
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies([made.bodies[name] for name in of.body_names], frames, result.poses[::step])
    key_property(made.bodies["Ulna"], "torque", frames, elbow_torque(result)[::step])
    key_arrows(made, result, step, frames)
    shown = check_shown(made.scene, frames, world)
    gap = check("a fingertip's distance from its place", model.tip_gap(result), 0.0, 1e-8, "m")
    coupling = check("a coupling's error", model.coupling_gap(result), 0.0, 1e-9, "rad")
    # of first order, like the method
    work = check("the energy's distance from the work done", model.work_balance(result), 0.0, 5e-3)
    reduced, constrained = model.free_accelerations()
    apart = float(np.abs(reduced - constrained).max() / np.abs(reduced).max())
    check("hyper-reduced against constrained accelerations", apart, 0.0, 1e-10)
    low, high = bending(result)
    check("the least bending of a finger", low, 0.0, 45.0, "degrees")
    check("the greatest bending of a finger", high, 45.0, 110.0, "degrees")
    most = {
        name: float(np.linalg.norm(force, axis=1).max()) for name, force in model.tip_forces(result).items()
    }
    check("the greatest force on a fingertip", max(most.values()), 0.1, 50.0, "N")
    torque = elbow_torque(result)
    return result, {
        "fingertips": f"{len(model.FINGERS)} held to {gap:.1e} m",
        "couplings": f"held to {coupling:.1e} rad",
        "bending of the fingers": f"{low:.0f} to {high:.0f}°",
        "energy against work": f"{work:.1e} of the work",
        "hyper-reduced against constrained": f"{apart:.1e} of the largest acceleration",
        "force on a fingertip": ", ".join(f"{name} {value:.1f} N" for name, value in most.items()),
        "torque of the elbow": f"{torque.min():.2f} to {torque.max():.2f} N m",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry",
    }


def elbow_torque(result: ph.Result) -> FloatArray:
    """Torque that bends the elbow (n,) [N m], upward positive."""
    return -result.efforts[:, result.model.coordinate_slice("Ulna").start]


def bending(result: ph.Result) -> tuple[float, float]:
    """Least and greatest angle of a finger's three joints over the motion [degrees]."""
    of = result.model
    bends = []
    for finger in model.FINGERS[1:]:
        columns = [of.coordinate_slice(bone).start for bone in finger.bones]
        bends.append(np.degrees(result.q[:, columns]))
    return float(np.min(bends)), float(np.max(bends))


def key_arrows(made: Made, result: ph.Result, step: int, frames: FloatArray) -> None:
    """Each arrow starts at its fingertip along the ball's force on it; its length is proportional to the force."""
    of = result.model
    for finger in model.FINGERS:
        force = model.tip_forces(result)[finger.name][::step]
        size = np.maximum(np.linalg.norm(force, axis=1), 1e-3)
        tip = (result.poses[::step, of.index(finger.bones[2])] @ np.append(finger.tip, 1.0))[:, :3]
        poses = np.tile(np.eye(4), (len(tip), 1, 1))
        poses[:, :3, :3] = [turn_to(direction) for direction in force / size[:, None]]
        poses[:, :3, 3] = tip
        item = made.arrows[finger.name]
        key_poses(item, frames, poses)
        length = NEWTON * size / ARROW
        key_values(item, "scale", frames, np.column_stack([np.ones_like(length)] * 2 + [length]))
        key_property(item, "force", frames, size)


def turn_to(direction: FloatArray) -> FloatArray:
    """A rotation (3, 3) that brings z to a direction, the shortest way."""
    axis = np.cross([0.0, 0.0, 1.0], direction)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        return np.eye(3) if direction[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
    return lie.so3_exp(np.arctan2(sine, direction[2]) * axis / sine)


def add_plot(made: Made, result: ph.Result) -> None:
    """A diagram of the fingertips' forces and the elbow's torque over time, as objects of the scene."""
    base = PLOT - np.array([0.5 * WIDE, 0.0, 0.5 * HIGH])
    panel = base + np.array([[-1.0, 0.01, -1.0], [2.0, 0.01, -1.0], [2.0, 0.01, 1.5], [-1.0, 0.01, 1.5]])
    faceted_object("Diagram", panel, [(0, 1, 2, 3)], made.stage, glow("Diagram", (0.030, 0.036, 0.048), 1.0))
    share = result.t[::40] / result.t[-1]
    forces = {name: np.linalg.norm(force, axis=1)[::40] for name, force in model.tip_forces(result).items()}
    torque = elbow_torque(result)[::40]
    most = 1.05 * max(*(float(force.max()) for force in forces.values()), float(torque.max()))

    def line(name: str, values: FloatArray, color: tuple[float, float, float], radius: float) -> None:
        points = base + np.column_stack([WIDE * share, 0.0 * share, HIGH * values / most])
        curves_object(name, [points], radius, color, made.stage)

    for (name, values), color in zip(forces.items(), COLORS):
        line(f"{name} force over time", values, color, 0.0011)
    line("Elbow torque over time", torque, ELBOW_COLOR, 0.0007)
    ticks = [np.array([[0.0, 0.0, HIGH], [0.0, 0.0, 0.0], [WIDE, 0.0, 0.0]])]
    ticks += [
        np.array([[0.0, 0.0, HIGH * k / most], [WIDE, 0.0, HIGH * k / most]]) for k in range(1, int(most) + 1)
    ]
    for k, way in enumerate(ticks):
        curves_object(f"Axis {k}", [base + way], 0.0005 if k == 0 else 0.0002, (0.35, 0.40, 0.46), made.stage)


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet: the hand, instants of its motion, and the forces over time."""
    add_plot(made, result)
    lines = (
        "A hand with two prescribed motions",
        "elbow and ball prescribed, 25 degrees of freedom between,",
        f"ends of the fingers follow by 2/3; fingertips hold to {model.tip_gap(result):.0e} m",
    )
    step = round(1.0 / (FRAMES_A_SECOND * 2.0 * model.TIME_STEP))
    force = {
        name: np.linalg.norm(values, axis=1)[::step] for name, values in model.tip_forces(result).items()
    }
    torque = elbow_torque(result)[::step]
    captions, shots = [], []
    for frame in TILE_FRAMES:
        now = f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s, elbow {torque[frame - 1]:.1f} N m"
        text = f"thumb {force['Thumb'][frame - 1]:.1f} N, index {force['Index'][frame - 1]:.1f} N"
        captions.append((frame, (now, text)))
        shots.append(Shot((0.75, 1.1, 0.22), (0.165, 0.0, 0.025), 0.63))
    captions.append(
        (1, ("red thumb to violet little finger, 1 N a line", "white: torque of the elbow, 1 N m a line"))
    )
    shots.append(Shot((PLOT[0], -2.0, 0.0), (PLOT[0], 0.0, -0.028), 0.43))
    hero = Shot((0.95, 0.66, 0.06), (0.318, 0.0, -0.012), 0.245, 76)
    return contact_sheet(made.scene, hero, shots, captions, lines, progress, samples=16)


RECIPE = Recipe("hand", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
