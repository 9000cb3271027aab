"""Finds bones whose rest pose was turned (their roll, say), and meshes that were moved within their objects (by Set
Origin or Apply), after their joint was made.

A joint places the axes of its child's bone, and its child's origin: the skin turns with it, or the mesh jumps. So each
joint stores the child's rest pose relative to its parent's, which joining armatures does not change, and a few points
of the child's mesh, in the object's axes and scale: if they moved rigidly, the whole mesh was moved.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import findings, references
from ..data.findings import Finding
from ..reading import meshes

FAR_TURN = 1e-2  # radians; smaller turns are not reported


def note(item: Object) -> None:
    """Store the present relative rest pose of a joint's bones, and the place of its child's mesh in its object."""
    _note_mesh(item)
    bones, turn = _now(item)
    record = item.condyle.rest
    record.bones = bones
    if bones:
        record.turn = tuple(physics_access.physics().lie.quaternion_from_matrix(turn))


def turned(item: Object) -> float:
    """Angle [rad] by which the child's rest pose was turned relative to its parent's since then; 0 if unknown."""
    return float(_turned([item])[0])


def _turned(items: Sequence[Object]) -> np.ndarray:
    """As `turned`, of joints (n,)."""
    lie = physics_access.part("geometry.lie")
    present, found = [_now(item) for item in items], np.zeros(len(items))
    known = [
        number
        for number, (bones, _) in enumerate(present)
        if bones and bones == items[number].condyle.rest.bones
    ]
    then = np.array([items[number].condyle.rest.turn for number in known], dtype=np.float64).reshape(-1, 4)
    turns = np.array([present[number][1] for number in known]).reshape(-1, 3, 3)
    found[known] = np.linalg.norm(
        lie.so3_log(lie.matrix_from_quaternion(then).swapaxes(1, 2) @ turns), axis=1
    )
    return found


def check(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
    """Joints whose bones were turned at rest since they were made. fitted: session uids of joints that were just
    fitted.
    """
    joints = [item for item in references.joints_of(scene) if item.session_uid not in fitted]
    for item, angle in zip(joints, _turned(joints).tolist()):
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


POINTS = 4
#: tolerance of a rigid motion, and least reported distance, as shares of the mesh's size
CLOSE, FAR = 1e-4, 1e-3


def _note_mesh(item: Object) -> None:
    """Store the present place of a joint's child's mesh in its object."""
    record, found = item.condyle.rest, _mesh_now(item)
    record.vertices = 0 if found is None else found[0]
    if found is not None:
        record.points = tuple(found[1].ravel())


def shifted(item: Object) -> float:
    """Distance [Blender units] by which the mesh of a joint's child was moved as a whole since then; 0 if unknown."""
    record, found = item.condyle.rest, _mesh_now(item)
    if found is None or found[0] != record.vertices:
        return 0.0
    now, then = found[1], np.array(record.points, dtype=np.float64).reshape(POINTS, 3)
    sides = [np.linalg.norm(each[:, None] - each, axis=-1) for each in (now, then)]
    size, away = float(sides[1].max()), float(np.linalg.norm(now - then, axis=1).max())
    if np.abs(sides[0] - sides[1]).max() > CLOSE * size or not away > FAR * size:
        return 0.0
    return away


def check_meshes(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
    """Joints whose child's mesh was moved in its object since they were made. fitted: session uids of joints that were
    just fitted.
    """
    for item in references.joints_of(scene):
        away = 0.0 if item.session_uid in fitted else shifted(item)
        if away > 0.0:
            child = references.resolve(item.condyle.joint.child)
            code = "mesh-moved"
            if item.condyle.joint.type in {"spline_curve", "spline_surface"}:
                code = "mesh-moved-spline"
            distance = units.told_length(away * units.length_scale(scene))
            yield findings.about(child, code, body=child.name, joint=item.name, distance=distance)


def points_of(item: Object) -> tuple[int, np.ndarray] | None:
    """Number of vertices of the stored mesh of a joint's child, and points (POINTS, 3) of it; None without a mesh."""
    child = references.resolve(item.condyle.joint.child)
    if child is None or child.bone or child.object.type != "MESH":
        return None
    vertices = meshes.stored_vertices(child.object)
    count = len(vertices)
    return (count, vertices[np.arange(POINTS) * count // POINTS]) if count else None


def _mesh_now(item: Object) -> tuple[int, np.ndarray] | None:
    """Number of vertices of the child's mesh, and points (POINTS, 3) of it in the child's axes, with its scale."""
    found = points_of(item)
    if found is None:
        return None
    child = references.resolve(item.condyle.joint.child)
    try:
        _, scale = units.split_scale(child.matrix, child.name, child.owner)
    except physics_access.physics().CondyleError:  # reported by the check of scales
        return None
    return found[0], scale * found[1]
