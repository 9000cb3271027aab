"""Finds bones whose rest pose was turned, for example by their roll, after their joint was made.

A joint places the axes of its child's bone. If the rest pose is turned, the joint turns the skin with it. So each joint
stores the child's rest pose relative to its parent's, which joining armatures does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access
from ..data import findings, references
from ..data.findings import Finding
from . import shifted_meshes

FAR_TURN = 1e-2  # radians; smaller turns are not reported


def note(item: Object) -> None:
    """Store the present relative rest pose of a joint's bones, and the place of its child's mesh in its object."""
    shifted_meshes.note(item)
    bones, turn = _now(item)
    record = item.condyle.rest
    record.bones = bones
    if bones:
        record.turn = tuple(physics_access.physics().lie.quaternion_from_matrix(turn))


def renamed(item: Object, before: str, now: str) -> None:
    """Replace the uid of a joint's bone in its record, so that it stays valid when armatures are joined."""
    record = item.condyle.rest
    record.bones = " ".join(now if uid == before else uid for uid in record.bones.split())


def turned(item: Object) -> float:
    """Angle [rad] by which the child's rest pose was turned relative to its parent's since then; 0 if unknown."""
    bones, turn = _now(item)
    record = item.condyle.rest
    if not bones or bones != record.bones:
        return 0.0
    lie = physics_access.physics().lie
    then = lie.matrix_from_quaternion(np.array(record.turn, dtype=np.float64))
    return float(np.linalg.norm(lie.so3_log(then.T @ turn)))


def check(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
    """Joints whose bones were turned at rest since they were made. fitted: session uids of joints that were just
    fitted.
    """
    for item in references.joints_of(scene):
        angle = 0.0 if item.session_uid in fitted else turned(item)
        if angle > FAR_TURN:
            child, parent = (references.resolve(end) for end in _ends(item))
            is_spline = item.condyle.joint.type in {"spline_curve", "spline_surface"}
            yield findings.about(
                item,
                "rest-pose-turned-spline" if is_spline else "rest-pose-turned",
                bone=child.name,
                parent=parent.name,
                joint=item.name,
                angle=float(np.degrees(angle)),
            )


def _ends(item: Object) -> tuple[Any, Any]:
    return item.condyle.joint.child, item.condyle.joint.parent


def _now(item: Object) -> tuple[str, np.ndarray]:
    """Uids of a joint's bones and the rest rotation (3, 3) of the child in its parent; an empty text unless they are
    bones of one armature.
    """
    settings = item.condyle.joint
    child, parent = (references.resolve(end) for end in _ends(item))
    if settings.to_world or child is None or parent is None or not (child.bone and parent.bone):
        return "", np.eye(3)
    if child.object != parent.object:
        return "", np.eye(3)
    axes = [np.array(each.pose_bone.bone.matrix_local)[:3, :3] for each in (child, parent)]
    return f"{settings.child.bone_uid} {settings.parent.bone_uid}", axes[1].T @ axes[0]
