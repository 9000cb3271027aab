"""Joints between two meshes in contact: the surfaces as physics takes them, and the joint that it found."""

from __future__ import annotations

import numpy as np
from bpy.types import Context, Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..data.references import Body
from ..reading import masses, meshes
from ..sliders import sliders
from . import bodies_and_joints, joint_places, presets_making, rest_poses
from .presets import BY_NAME
from .presets_placing import box_of


def why_not(context: Context) -> str:
    """Why no joint can be found for what is selected; empty: one can."""
    chosen = references.selected_bodies(context)
    if len(chosen) != 2 or any(each.bone or each.object.type != "MESH" for each in chosen):
        return "Select two mesh objects, in Object Mode: the child, then the parent"
    active = references.active_body(context)
    if not any(references.same(each, active) for each in chosen):
        return "The active object is not one of the two selected: select the parent last"
    return ""


def surface(scene: Scene, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a mesh object in its own axes, and its pose (4, 4) [m]."""
    pose, scale = units.split_scale(body.matrix, body.name, body.owner)
    vertices, triangles = meshes.mesh_arrays(body.object)
    if not len(triangles):
        raise physics_access.model_error(f"{body.name} has no faces: a joint from meshes needs two surfaces")
    length = units.length_scale(scene)
    return vertices * (scale * length), triangles.astype(np.int64), units.scaled_translation(pose, length)


def add(
    scene: Scene, parent: Body, child: Body, pose: np.ndarray, found: physics_access.MeshJointFit
) -> Object:
    """Add the joint that was found from the surfaces of two bodies, driven by its slider; returns its Empty.

    Its frame stands on the flexion axis, x along it; the control frames are poses of that frame with the child.
    pose: that of the child in the parent (4, 4) [m] when the joint was looked for.
    """
    known = [body.data.body.enabled for body in (parent, child)]
    if known[1]:
        masses.mass_properties(scene, child)  # before anything is changed
    in_parent = _on_axis(found)
    above = units.split_scale(parent.matrix, parent.name, parent.owner)[0]
    item = bodies_and_joints.add_joint(
        scene, parent, child, matrix=above @ units.to_blender(in_parent, scene)
    )
    for body, before in zip((parent, child), known):
        if not before:
            presets_making.weigh(scene, body, box_of(body))
    settings = item.condyle.joint
    settings.fit.coordinate, settings.fit.angle_axis = "ANGLE", (1.0, 0.0, 0.0)
    settings.length_scale = found.joint.length_scale / units.length_scale(scene)
    lie = physics_access.physics().lie
    back = lie.inverse(in_parent)
    at_rest = back @ pose
    frames = back @ found.joint.frames @ lie.inverse(at_rest)
    bodies_and_joints.set_control_frames(scene, item, units.to_blender(frames, scene), found.joint.knots)
    settings.child_in_joint = tuple(units.to_blender(at_rest, scene).ravel())
    presets_making.settle(scene, item, BY_NAME["knee"], child, box_of(child), False)
    row = settings.coordinates[0]
    row.lower, row.upper = float(found.angles.min()), float(found.angles.max())
    rest_poses.note(item)
    joint_places.begin_as_shown(scene, item)
    sliders.set_driven(scene, item, True)
    return item


def _on_axis(found: physics_access.MeshJointFit) -> np.ndarray:
    """A pose (4, 4) [m] at the middle of the contact on the flexion axis, x along it, z up from the second mesh."""
    x = found.axis
    contact = found.contacts.mean(axis=(0, 1))
    pose = np.eye(4)
    pose[:3, 3] = found.center + ((contact - found.center) @ x) * x
    away = pose[:3, 3] - contact
    away -= (away @ x) * x
    z = away / np.linalg.norm(away) if away.any() else np.cross(x, np.eye(3)[np.abs(x).argmin()])
    pose[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return pose
