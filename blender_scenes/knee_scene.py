"""The knee as objects in a Blender scene: bones, keyed motion, the noisy twin. No physics."""

from dataclasses import dataclass

import bpy
import numpy as np

from addon.making.demo_knee import NAMES, Leg, add_leg
from physics._typing import FloatArray

from . import SceneError
from .anatomy import bones
from .anatomy.knee_kinematics import (
    BLENDER_FROM_OPENSIM,
    FLEXION_DEGREES,
    keyed_poses,
    noisy_poses,
    tibia_poses,
)
from .anatomy.surface import Mesh
from .picture import Shot, add_camera
from .production import new_file, object_pose
from .staging import add_studio, bone_material

FRAMES_BETWEEN_KEYS = 10
HIP = (0.0, 0.0, 0.2)  # m; the thigh lies level along +X, its front upward, the shank about the height 0
TWIN_ASIDE = 0.3  # m to the left
CLEAR_BELOW = -0.345  # m, in the femur's axes: below it pictures show the joint's curve through the bone
WHOLE_LEG = Shot(
    eye=(HIP[0] + 0.365, HIP[1] - 1.4, HIP[2] + 0.1),
    target=(HIP[0] + 0.31, HIP[1], HIP[2] - 0.2),
    width=0.70,
    frame=1,
    pixels=(360, 264),
)


@dataclass(frozen=True)
class KneeScene:
    """A new file with the two legs."""

    scene: bpy.types.Scene
    leg: Leg
    twin: Leg
    meshes: dict[str, Mesh]
    stage: bpy.types.Collection


def new_scene(cell: float = 2.5e-3) -> KneeScene:
    """An empty file with the bones, their keys and the light; `cell` is the size of the meshes' faces [m]."""
    scene, collections = new_file("Knee", ("Leg", "Noisy twin", "Stage"))
    scene.frame_start, scene.frame_end = 1, 1 + FRAMES_BETWEEN_KEYS * (len(FLEXION_DEGREES) - 1)
    meshes = dict(zip(NAMES, (bones.femur(cell), bones.tibia(cell), bones.fibula(0.8 * cell)), strict=True))
    bone = bone_material("Bone")
    materials = {"Femur": bone_material("Femur", CLEAR_BELOW), "Tibia": bone, "Fibula": bone}
    frames = [1 + FRAMES_BETWEEN_KEYS * index for index in range(len(FLEXION_DEGREES))]
    leg = add_leg(collections[0], meshes, materials, HIP, keyed_poses(), frames)
    aside = (HIP[0], HIP[1] + TWIN_ASIDE, HIP[2])
    twin = add_leg(collections[1], meshes, materials, aside, noisy_poses(), frames, " (noisy)")
    add_studio(scene, collections[2], (0.32, 0.0, HIP[2] - 0.12), 0.6)
    add_camera(scene, WHOLE_LEG, collections[2])
    scene.frame_set(1)
    return KneeScene(scene, leg, twin, meshes, collections[2])


def relative_pose(leg: Leg) -> FloatArray:
    """Pose (4, 4) of the tibia in the femur at the current frame."""
    return np.linalg.inv(object_pose(leg.femur)) @ object_pose(leg.tibia)


def flexion_degrees(pose: FloatArray) -> float:
    """Flexion angle of a pose of the tibia in the femur: the turn about the femur's y axis."""
    return float(np.degrees(np.arctan2(pose[0, 2] - pose[2, 0], pose[0, 0] + pose[2, 2])))


def bone_gap(meshes: dict[str, Mesh], pose: FloatArray) -> float:
    """Smallest distance [m] from the tibia's upper end to the femur in a pose; negative if they overlap."""
    vertices = meshes["Tibia"].vertices
    upper = vertices[vertices[:, 2] > -0.07]
    in_femur = upper @ pose[:3, :3].T + pose[:3, 3]
    return float(bones.femur_shape()(in_femur @ BLENDER_FROM_OPENSIM).min())


def check_bones(knee: KneeScene) -> dict[str, float]:
    """Check figures of the scene before any physics; raises SceneError if one is out of its bounds."""

    key_error = 0.0
    for index, pose in enumerate(knee.leg.poses):
        knee.scene.frame_set(1 + FRAMES_BETWEEN_KEYS * index)
        key_error = max(key_error, float(np.abs(relative_pose(knee.leg) - pose).max()))
    knee.scene.frame_set(1)
    gaps = [bone_gap(knee.meshes, pose) for pose in tibia_poses(np.radians(FLEXION_DEGREES))]
    # Blender keeps single precision: half a unit in the last place of 0.4 m, composed thrice
    if key_error > 2e-6:
        raise SceneError(f"the keyed poses differ from the published ones by {key_error:.2e}, more than 2e-6")
    if not 2e-3 < min(gaps) <= max(gaps) < 8e-3:
        raise SceneError(
            f"the bones are {1e3 * min(gaps):.1f} to {1e3 * max(gaps):.1f} mm apart; cartilage fills 2 to 8"
        )
    return {"key_error": key_error, "smallest_gap": min(gaps), "largest_gap": max(gaps)}
