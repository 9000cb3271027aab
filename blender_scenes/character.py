"""A character walks by keys and inverse kinematics; tail, ponytail, ears and belly swing after it by Add Chain, and do
not enter it.

The left knee is fitted to what inverse kinematics makes of the leg, and simulated: it gives way at each step, while
the thigh goes as before (live runs refuse that leg until its IK constraint is muted). Each chain is one call of the
operator with a preset. Their carriers are not set up: all that is not simulated follows its animation. Trunk, head,
arms and thighs are colliders, by one call of Add Collider. Checked: that no link enters them by more than a
millimetre, that tail, hair and knee leave what they hang on by less than a tenth of a millimetre, at frames and between
them, that the knee leads the heel away and every chain swings, that nothing drops at the first frame, and that nothing
is warned of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from addon.blender import compat
from addon.data import references
from addon.jobs import bake
from addon.reading import colliders
from addon.reading import scene as scene_to_model
from physics._typing import FloatArray

from . import SceneError
from .anatomy.implicit import sphere, tube, union
from .anatomy.surface import mesh_from_shape
from .picture import Image, Shot
from .production import Progress, Recipe, check, contact_sheet, new_file
from .staging import add_backdrop, add_studio, mesh_object, plain_material

FRAMES, TILES = 96, (6, 18, 36, 54, 66, 84)
STRIDE, PERIOD, SWING = 1.2, 24, 10  # m and frames of two steps, and frames in which a foot is in the air
TAIL, LINK = 20, 0.042  # bones, and the length of each [m]
HAIR, STRAND = 9, 0.055  # bones of the ponytail, and the length of each [m]
HELPERS = ("Root", "Step.L", "Step.R")  # bones without skin
TORN = 1e-4  # m
SOLID = ("Hips", "Spine", "Chest", "Neck", "Head", "Thigh.L", "Thigh.R", "Arm.L", "Arm.R")  # the colliders
THICKNESS, ENTERED = 0.03, 1e-3  # m; what links keep off the skin, and how deep they may enter that
#: least and most that the chains' tips swing against their carriers [m]
SWINGS = {"TAIL": (0.05, 1.5), "HAIR": (0.03, 0.8), "EAR": (0.002, 0.1), "BELLY": (0.003, 0.06)}
BENT = range(13, 19)  # frames from the least flexion of the knee to the largest
# Spring and damper of its coordinate [J and J s, for the unit of the fitted curve]: the foot, which goes with the shin,
# slides 8 mm after it is set down.
KNEE = (2000.0, 56.0)
GIVEN = (0.02, 0.2)  # least and most that the knee leads the heel away from its animation [m]
SKIN = (0.78, 0.42, 0.20)
#: name: head, tail, parent
BODY = {
    "Root": ((0, 0, 0), (0, -0.3, 0), ""),
    "Hips": ((0, 0, 0.94), (0, 0, 1.08), "Root"),
    "Spine": ((0, 0, 1.08), (0, -0.02, 1.26), "Hips"),
    "Chest": ((0, -0.02, 1.26), (0, 0.01, 1.48), "Spine"),
    "Neck": ((0, 0.01, 1.48), (0, -0.02, 1.58), "Chest"),
    "Head": ((0, -0.02, 1.58), (0, -0.03, 1.80), "Neck"),
}
SIDE = {
    "Thigh": ((0.10, 0, 0.94), (0.10, -0.20, 0.515), "Hips"),
    "Shin": ((0.10, -0.20, 0.515), (0.10, 0, 0.09), "Thigh"),
    "Foot": ((0.10, 0, 0.09), (0.10, -0.17, 0.03), "Shin"),
    "Step": ((0.10, 0, 0.09), (0.10, -0.17, 0.03), ""),
    "Arm": ((0.19, 0.01, 1.42), (0.25, 0.03, 1.15), "Chest"),
    "Forearm": ((0.25, 0.03, 1.15), (0.27, -0.06, 0.90), "Arm"),
}
#: radii of the limbs at both ends [m]
GIRTH = {
    "Belly": (0.115, 0.105),
    "Hips": (0.125, 0.115), "Spine": (0.105, 0.115), "Chest": (0.13, 0.11), "Neck": (0.055, 0.05),
    "Thigh": (0.085, 0.06), "Shin": (0.058, 0.038), "Foot": (0.042, 0.03), "Arm": (0.05, 0.04),
    "Forearm": (0.04, 0.03),
}  # fmt: skip


#: presets of the chains, and what their bones' names begin with
CHAINS = {"TAIL": "Tail", "HAIR": "Hair", "EAR": "Ear", "BELLY": "Belly"}


@dataclass(frozen=True)
class Character:
    """The scene before it is simulated, and its rig."""

    scene: bpy.types.Scene
    rig: bpy.types.Object

    def names(self, chain: str) -> list[str]:
        """Names of the bones of a chain, from its root."""
        return [bone.name for bone in self.rig.data.bones if bone.name.startswith(CHAINS[chain])]


def bones() -> dict[str, tuple[FloatArray, FloatArray, str]]:
    """Head, tail and parent of every bone."""
    found = {name: (np.array(head), np.array(tail), parent) for name, (head, tail, parent) in BODY.items()}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, (head, tail, parent) in SIDE.items():
            ends = [np.array(end) * (sign, 1.0, 1.0) for end in (head, tail)]
            found[f"{name}.{side}"] = (*ends, f"{parent}.{side}" if parent in SIDE else parent)
    at, above = np.array([0.0, 0.10, 0.98]), "Hips"
    for number in range(1, TAIL + 1):
        turn = -1.2 + 0.035 * number  # an arc
        end = at + LINK * np.array([0.0, np.cos(turn), np.sin(turn)])
        found[f"Tail.{number:02d}"] = (at, end, above)
        at, above = end, f"Tail.{number:02d}"
    at, above = np.array([0.0, 0.06, 1.79]), "Head"
    for number in range(1, HAIR + 1):
        turn = 0.5 - 0.32 * number  # up and back, then down
        end = at + STRAND * np.array([0.0, np.cos(max(turn, -1.5)), np.sin(max(turn, -1.5))])
        found[f"Hair.{number:02d}"] = (at, end, above)
        at, above = end, f"Hair.{number:02d}"
    for side, sign in (("L", 1.0), ("R", -1.0)):
        at, above = np.array([0.065 * sign, -0.03, 1.78]), "Head"
        for number in (1, 2):
            end = at + (0.03 * sign, 0.01, 0.075)
            found[f"Ear.{side}.{number}"] = (at, end, above)
            at, above = end, f"Ear.{side}.{number}"
    found["Belly"] = (np.array([0.0, -0.01, 1.19]), np.array([0.0, -0.05, 1.18]), "Spine")
    return found


def add_rig(into: bpy.types.Collection) -> bpy.types.Object:
    """The armature, with inverse kinematics of both legs."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    into.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in bones().items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[parent] if parent else None
        # those that are moved go along the world's axes
        bone.use_local_location = not name.startswith(("Root", "Hips", "Step"))
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        step = rig.pose.bones["Shin." + side].constraints.new("IK")
        level = rig.pose.bones["Foot." + side].constraints.new("COPY_ROTATION")
        step.target = level.target = rig
        step.subtarget = level.subtarget = "Step." + side
        step.chain_count = 2
        shin = rig.pose.bones["Shin." + side]
        shin.lock_ik_y = shin.lock_ik_z = True  # a knee is a hinge
    return rig


def animate(rig: bpy.types.Object) -> None:
    """The walk: the root goes evenly, hips bob, feet step and arms swing."""
    poses, speed = rig.pose.bones, STRIDE / PERIOD
    for bone in poses:
        bone.rotation_mode = "QUATERNION" if bone.name.startswith("Tail") else "XYZ"
    for frame in (1, FRAMES + PERIOD):
        key(poses["Root"], "location", frame, (0.0, -speed * (frame - 1), 0.0))
    for curve in compat.curves_in_use(rig):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    for number in range((FRAMES + PERIOD) // 6 + 1):
        frame, phase = 1 + 6 * number, 0.5 * np.pi * number
        key(poses["Hips"], "location", frame, (0.02 * np.sin(phase), 0.0, 0.015 * np.cos(2.0 * phase) - 0.01))
        key(poses["Hips"], "rotation_euler", frame, (0.02, 0.14 * np.cos(phase), 0.05 * np.sin(phase)))
        key(poses["Chest"], "rotation_euler", frame, (0.0, -0.2 * np.cos(phase), 0.0))
        for side, sign in (("L", 1.0), ("R", -1.0)):
            swing = sign * np.cos(phase)
            key(poses[f"Arm.{side}"], "rotation_euler", frame, (0.35 * swing, 0.0, 0.0))
            key(poses[f"Forearm.{side}"], "rotation_euler", frame, (0.2 * swing - 0.25, 0.0, 0.0))
    for side, begin in (("L", 1 - PERIOD // 2), ("R", 1)):
        for lift in range(begin, FRAMES + PERIOD, PERIOD):
            land = -speed * (lift + SWING - 1) - 0.35  # in front of the hips
            for frame, back, up, tilt in ((lift, STRIDE, 0.0, 0.0), (lift + SWING // 2, 0.45, 0.13, 0.6)):
                key(poses[f"Step.{side}"], "location", frame, (0.0, land + back, up))
                key(poses[f"Step.{side}"], "rotation_euler", frame, (tilt, 0.0, 0.0))
            key(poses[f"Step.{side}"], "location", lift + SWING, (0.0, land, 0.0))
            key(poses[f"Step.{side}"], "rotation_euler", lift + SWING, (0.0, 0.0, 0.0))


def key(bone: bpy.types.PoseBone, path: str, frame: int, value: tuple[float, float, float]) -> None:
    setattr(bone, path, value)
    bone.keyframe_insert(path, frame=frame)


def add_skin(rig: bpy.types.Object, into: bpy.types.Collection) -> bpy.types.Object:
    """One mesh about all bones, each vertex moved by the bones that it is nearest to."""
    limbs = {name: (head, tail) for name, (head, tail, _) in bones().items() if name not in HELPERS}
    shapes = [sphere((0.0, -0.04, 1.70), 0.115)]
    for name, (head, tail) in limbs.items():
        if name.partition(".")[0] in GIRTH:
            shapes.append(tube((head, tail), GIRTH[name.partition(".")[0]]))
    for name, count, radii in (("Tail", TAIL, (0.034, 0.012)), ("Hair", HAIR, (0.035, 0.014))):
        links = [limbs[f"{name}.{number:02d}"] for number in range(1, count + 1)]
        path = np.array([head for head, _ in links] + [links[-1][1]])
        shapes.append(tube(path, np.linspace(*radii, len(path)), 4 * count))
    for side in "LR":
        path = np.array([*limbs[f"Ear.{side}.1"], limbs[f"Ear.{side}.2"][1]])
        shapes.append(tube(path, (0.026, 0.022, 0.008)))
    mesh = mesh_from_shape(union(shapes, 0.04), (-0.5, -0.4, -0.1), (0.5, 1.2, 2.0), 0.014)
    made = mesh_object("Skin", mesh, into, plain_material("Skin", SKIN, 0.5))
    names = list(limbs)
    away = np.array([distance(mesh.vertices, *limbs[name]) for name in names])
    weights = np.exp(-(((away - away.min(axis=0)) / 0.02) ** 2))
    weights[weights < 0.02] = 0.0
    for name, row in zip(names, weights / weights.sum(axis=0)):
        group = made.vertex_groups.new(name=name)
        for index in np.flatnonzero(row).tolist():
            group.add([index], float(row[index]), "REPLACE")
    made.parent = rig
    made.modifiers.new("Rig", "ARMATURE").object = rig
    return made


def distance(points: FloatArray, head: FloatArray, tail: FloatArray) -> FloatArray:
    """Distances (n,) of points (n, 3) from the line from a bone's head to its tail."""
    along = tail - head
    share = np.clip((points - head) @ along / max(along @ along, 1e-12), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - head - share[:, None] * along, axis=1))


def add_chains(made: Character) -> None:
    """All chains, each by the operator on its bones, and what they collide with."""
    bpy.context.view_layer.objects.active = made.rig
    made.rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for preset in CHAINS:
        select(made, made.names(preset))
        bpy.ops.condyle.add_chain(preset=preset)
    select(made, SOLID)
    bpy.ops.condyle.add_collider(margin=THICKNESS)
    bpy.ops.object.mode_set(mode="OBJECT")


def add_knee(made: Character) -> None:
    """A joint fitted to the poses of the left leg, with a spring to them; the leg's inverse kinematics stay on."""
    scene, rig = made.scene, made.rig
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    select(made, ["Shin.L"])
    rig.data.bones.active = rig.data.bones["Shin.L"]
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, BENT[0], BENT[-1]
    bpy.ops.condyle.fit(keys="PREVIEW", num_frames=len(BENT), smoothing=0.0)
    scene.use_preview_range = False
    bpy.ops.condyle.stop_driving()  # sliders switch the inverse kinematics off
    shin = rig.pose.bones["Shin.L"]
    shin.rotation_mode = "QUATERNION"
    references.joint_of(scene, references.Body(rig, "Shin.L")).condyle.joint.start_from = "MOTION"
    spring = shin.condyle.body.spring
    spring.enabled, spring.strength = True, "STIFFNESS"
    spring.stiffness, spring.damping = KNEE
    shin.condyle.body.gravity = 0.0  # the walk carries it already
    shin.condyle.collider.active = False
    bpy.ops.object.mode_set(mode="OBJECT")


def select(made: Character, names: Sequence[str]) -> None:
    """Select these bones alone, in Pose Mode."""
    for bone in made.rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names


def make() -> Character:
    """The character on its floor in a new file."""
    scene, (things, stage) = new_file("Character", ["Character", "Stage"], FRAMES)
    rig = add_rig(things)
    add_skin(rig, things)
    animate(rig)
    scene.frame_set(1)
    made = Character(scene, rig)
    add_knee(made)
    add_chains(made)
    add_studio(scene, stage, (0.0, -2.2, 1.0), 4.2)
    add_backdrop(stage, 0.0, 2.2).rotation_euler[2] = 0.5 * np.pi  # behind as seen from +x
    return made


def measure(made: Character, progress: Progress) -> tuple[Any, dict[str, str]]:
    """Simulate and bake; raises SceneError where a chain leaves its carrier, hardly swings, drops at the start, or
    something is warned of.
    """
    hip, ankle = seen(made, "Thigh.L", "Hips"), seen(made, "Shin.L", "Hips")
    made.scene.frame_set(1)
    report = bake.bake_now(made.scene, progress)
    for finding in report.warnings:
        raise SceneError(f"the bake warns: {finding.text}")
    torn = [apart(made, *pair) for pair in (("Hips", "Tail.01"), ("Head", "Hair.01"), ("Head", "Ear.L.1"))]
    torn += [apart(made, "Thigh.L", "Shin.L"), float(np.abs(seen(made, "Thigh.L", "Hips") - hip).max())]
    given = float(np.linalg.norm(seen(made, "Shin.L", "Hips") - ankle, axis=1).max())
    check("how far the knee leads the heel away", given, *GIVEN, "m")
    far = check("how far a chain leaves its carrier", max(torn), 0.0, TORN, "m")
    deep = check("how deep a link enters a collider", entered(made), -np.inf, ENTERED, "m")
    figures = {"chains in colliders": f"at most {1e3 * max(deep, 0.0):.3f} mm"}
    figures |= {"heel away from its animation": f"at most {100.0 * given:.1f} cm"}
    figures |= {"chains and knee off what they hang on, also between frames": f"at most {1e3 * far:.3f} mm"}
    for preset, carrier in (("TAIL", "Hips"), ("HAIR", "Head"), ("EAR", "Head"), ("BELLY", "Spine")):
        tip = seen(made, made.names(preset)[-1], carrier)
        swing = check(f"how far the {preset} swings", float(np.ptp(tip, axis=0).max()), *SWINGS[preset], "m")
        drop = float(np.linalg.norm(tip[1] - tip[0]))
        check(f"how far the {preset} drops at the first frame", drop, 0.0, 0.25 * swing, "m")
        figures[f"swing of the {CHAINS[preset].lower()}'s tip"] = f"{100.0 * swing:.1f} cm"
    return report, figures


def seen(made: Character, bone: str, carrier: str) -> FloatArray:
    """Places (F, 3) of a bone's tip in another bone, at all frames."""
    poses, found = made.rig.pose.bones, []
    for frame in range(1, FRAMES + 1):
        made.scene.frame_set(frame)
        found.append(poses[carrier].matrix.inverted() @ poses[bone].tail)
    return np.array(found)


def entered(made: Character) -> float:
    """How deep [m] the capsules of links are in those of colliders at any frame, of pairs that may touch."""
    scene, poses, far = made.scene, made.rig.pose.bones, -np.inf
    solids = {each.name.partition("/")[2]: each for each in scene_to_model.read(scene).model.colliders}
    pairs = [
        (link, solid)
        for link in solids
        for solid in SOLID
        if link not in SOLID and colliders.may_touch(solids[link], solids[solid])
    ]
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        for link, solid in pairs:
            bone, radius = poses[link], solids[link].shape.radius
            shape = poses[solid].condyle.collider
            to_solid = poses[solid].matrix.inverted()
            ends = [np.array(to_solid @ end) - shape.center for end in (bone.head, bone.tail)]
            inset = (ends[1] - ends[0]) * min(radius / np.linalg.norm(ends[1] - ends[0]), 0.5)
            along = np.linspace(ends[0] + inset, ends[1] - inset, 9)
            half = np.array([0.0, 0.5 * shape.length, 0.0])
            far = max(far, radius + shape.radius + shape.margin - float(distance(along, -half, half).min()))
    scene.frame_set(1)
    return far


def apart(made: Character, carrier: str, root: str) -> float:
    """How far [m] a bone leaves its place on another at any frame, or between two."""
    scene, poses, data, far = made.scene, made.rig.pose.bones, made.rig.data.bones, 0.0
    rest: Vector = data[carrier].matrix_local.inverted() @ data[root].head_local
    for frame in np.arange(1.0, FRAMES + 0.25, 0.5):
        scene.frame_set(int(frame), subframe=float(frame % 1.0))
        far = max(far, (poses[carrier].matrix @ rest - poses[root].matrix.translation).length)
    scene.frame_set(1)
    return far


def draw(made: Character, _report: Any, progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "Secondary motion in two clicks",
        "keys and inverse kinematics move the body;",
        "tail, hair, ears and belly swing after it",
    )
    captions = [(frame, (f"frame {frame}",)) for frame in TILES]
    tiles = [beside(frame) for frame in TILES]
    at = -STRIDE / PERIOD * 44
    hero = Shot((3.4, at + 2.6, 1.5), (0.0, at + 0.2, 0.95), 1.9, 44)
    return contact_sheet(made.scene, hero, tiles, captions, lines, progress, samples=6)


def beside(frame: int) -> Shot:
    """The camera that goes with the character."""
    at = -STRIDE / PERIOD * frame
    return Shot((4.6, at + 1.4, 1.3), (0.0, at + 0.25, 1.02), 2.9, frame)


RECIPE = Recipe("character", make, measure, draw, [beside(frame) for frame in range(1, FRAMES + 1)])
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
