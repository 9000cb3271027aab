"""The demo knee: a femur, and a tibia with its fibula, keyed with the measured motion of a knee.

The example scene of the knee uses the same parts. Lengths are in Blender units unless stated otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Collection, Material, Object, Scene
from mathutils import Matrix

from ..anatomy.demo_meshes import Mesh, knee_poses, mesh
from ..blender import units
from ..data.references import Body
from . import bodies_and_joints
from .demo_shapes import free_spot, polygon_object

NAMES = ("Femur", "Tibia", "Fibula")
BONE_DENSITY = 1900.0  # kg/m^3, compact bone
# gait2392, body "tibia_r" in Blender's axes: the shank without the foot. kg, m and kg m^2, about the centre of mass
SHANK_MASS = 3.7075
SHANK_CENTER = np.array([0.0, 0.0, -0.1867])
SHANK_INERTIA = np.diag([0.0504, 0.0511, 0.0051])
# N m s per unit of the coordinate (about a radian): the swing loses a third of its width in 2 s.
DAMPING = 0.05
# Coordinate at 70 degrees of flexion: the length of the published motion up to there.
START = 1.265342528930376
LENGTH_SCALE = 0.05  # m equivalent to a radian in fits and comparisons: about a condyle's length
ORDER = 5  # residual with 8 control frames and 13 poses: 0.08 mm; of the cubic (order 4): 0.10 mm
LEVEL = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # horizontal thigh along +X

NUM_POSES = 5  # poses that the demo keys; a curve through them is up to 0.4 mm from the published motion
SHOWN = 2  # index of the pose to start from: bent, so that the shin swings in a bake
FRAMES_BETWEEN_KEYS = 12
REACH = np.array([[-0.1, -0.1, -0.5], [0.9, 0.1, 0.1]])  # m, bounds of the leg about its hip in all poses
BONE_COLOR = (0.86, 0.78, 0.62, 1.0)


@dataclass(frozen=True)
class Leg:
    """The objects of one leg, and the poses (n, 4, 4) [m] of its tibia in its femur that are keyed."""

    femur: Any
    tibia: Any
    fibula: Any
    poses: np.ndarray


def build(scene: Scene) -> Object:
    """Add the demo to a scene, ready to be fitted: a leg at the 3D cursor, or beside the objects there.

    Returns:
        The joint's Empty.
    """
    length = units.length_scale(scene)
    collection = bpy.data.collections.new("Knee")
    scene.collection.children.link(collection)
    material = bpy.data.materials.new("Bone")
    material.diffuse_color = BONE_COLOR
    animated = any(item.animation_data and item.animation_data.action for item in scene.objects)
    first = scene.frame_start
    frames = [first + FRAMES_BETWEEN_KEYS * k for k in range(NUM_POSES)]
    meshes, materials = {name: mesh(name) for name in NAMES}, dict.fromkeys(NAMES, material)
    hip, poses = free_spot(scene, *REACH), knee_poses()[::2]
    leg = add_leg(collection, meshes, materials, hip, poses, frames, length=length)
    if not animated:
        scene.frame_end = frames[-1]
    scene.frame_set(first)
    joint = add_joint(scene, leg, NUM_POSES)
    joint.condyle.joint.start_from = "POSE"  # a bake begins at the slider's value
    scene.frame_set(frames[SHOWN])  # a fit sets the slider by the pose at this frame
    joint.condyle.joint.fit.requested = False  # the user fits next
    return joint


def add_leg(
    collection: Collection,
    meshes: Mapping[str, Mesh],
    materials: Mapping[str, Material],
    hip: Sequence[float] | np.ndarray,
    poses: np.ndarray,
    frames: Sequence[int],
    suffix: str = "",
    length: float = 1.0,
) -> Leg:
    """Add a femur, a keyed tibia as its child, and a fibula as the tibia's child.

    Args:
        meshes, materials: by NAMES. hip: its place [m]. poses: of the tibia in the femur (n, 4, 4) [m].
        frames: of the keys (n,). suffix: of the objects' names. length: metres per Blender unit.
    """
    femur, tibia, fibula = (
        polygon_object(
            name + suffix, meshes[name].vertices / length, meshes[name].faces, collection, materials[name]
        )
        for name in NAMES
    )
    femur.rotation_mode = "QUATERNION"
    level = np.eye(4)
    level[:3, :3], level[:3, 3] = LEVEL, np.asarray(hip) / length
    femur.matrix_basis = Matrix(level.tolist())
    tibia.parent, fibula.parent = femur, tibia
    key_poses(tibia, units.scaled_translation(poses, 1.0 / length), frames)
    return Leg(femur, tibia, fibula, poses)


def key_poses(item: Object, poses: np.ndarray, frames: Sequence[int]) -> None:
    """Key location and quaternion of an object at poses (n, 4, 4)."""
    item.rotation_mode = "QUATERNION"
    before = None
    for frame, pose in zip(frames, poses):
        location, rotation, _ = Matrix(pose.tolist()).decompose()
        if before is not None and before.dot(rotation) < 0.0:
            rotation.negate()  # q and -q are the same rotation; mixed signs would add a turn between keys
        before = rotation
        item.location, item.rotation_quaternion = location, rotation
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_quaternion", frame=frame)
    item.animation_data.action.name = f"{item.name} keyed"


def add_joint(scene: Scene, leg: Leg, num_frames: int) -> Object:
    """Fixed femur, and tibia (with the whole shank's mass) on a joint to be fitted; returns the joint's Empty."""
    length = units.length_scale(scene)
    bpy.context.view_layer.update()
    bodies_and_joints.make_body(scene, Body(leg.femur), motion="HELD", density=BONE_DENSITY)
    center = tuple(SHANK_CENTER / length)
    bodies_and_joints.make_body(scene, Body(leg.tibia), mass=SHANK_MASS, center=center, inertia=SHANK_INERTIA)
    name = "Knee" + leg.tibia.name.removeprefix("Tibia")
    joint = bodies_and_joints.add_joint(
        scene, parent=Body(leg.femur), child=Body(leg.tibia), kind="spline_curve", name=name
    )
    joint.empty_display_size = 0.02 / length
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.damping, row.start = "RANGE", DAMPING, START
    joint.condyle.joint.order = ORDER
    settings = joint.condyle.joint.fit
    settings.num_frames, settings.length_scale, settings.requested = num_frames, LENGTH_SCALE / length, True
    return joint
