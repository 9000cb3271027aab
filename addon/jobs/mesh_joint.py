"""Finding a joint from two meshes: a generator of jobs for the compute process, as in `bake`."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, Scene

from ..baked import ik_chains
from ..blender import compute_process, physics_access
from ..blender.compute_process import Steps
from ..data import references
from ..making import mesh_joints
from ..posing import project_poses


def add(context: Context, swap: bool, wished: dict[str, Any]) -> Steps[physics_access.MeshJointFit]:
    """Add the joint that the surfaces of the two selected meshes suggest, and make it the active one.

    Args:
        swap: the active one is the child. wished: keywords of ``fit_joint_to_meshes``, in metres and radians.
    """
    scene, pair = context.scene, references.parent_and_child(context)
    parent, child = reversed(pair) if swap else pair
    above = references.joint_of(scene, parent)
    joined = above is not None and references.same(references.resolve(above.condyle.joint.parent), child)
    if joined or references.joint_of(scene, child) is not None:
        name = parent.name if joined else child.name
        raise physics_access.model_error(f"{name} already has a joint: remove it first")
    _check(scene, child, parent)
    (*first, base), (*second, place) = (mesh_joints.surface(scene, body) for body in (parent, child))
    pose = physics_access.physics().lie.inverse(base) @ place
    names, uid = [(body.handle(), body.name) for body in (parent, child)], scene.session_uid
    requests = physics_access.part("worker.requests")
    answer = yield requests.fit_meshes(compute_process.client(), first, second, pose, **wished)
    found = requests.fit_meshes_answer(answer)
    scene = references.find_scene(uid)
    parent, child = (references.find_body(handle, name) for handle, name in names)
    _check(scene, child, parent)
    item = mesh_joints.add(scene, parent, child, pose, found)
    project_poses.set_readings(scene, item, np.zeros(1))
    references.make_active(context, child)
    return found


def _check(scene: Scene, child: references.Body, parent: references.Body) -> None:
    """ModelError where the child cannot follow a joint's sliders in time."""
    late = ik_chains.why_late(scene, child, parent)
    if late:
        raise physics_access.model_error(late)
