"""Finds meshes that were moved within their objects after a joint was made, for example by Set Origin or Apply.

A joint places its child's origin. If the mesh is moved relative to the origin, it jumps. So each joint stores a few
points of the mesh, in the object's axes and scale: if they moved rigidly, the whole mesh was moved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import findings, references
from ..data.findings import Finding

POINTS = 4
#: tolerance of a rigid motion, and least reported distance, as shares of the mesh's size
CLOSE, FAR = 1e-4, 1e-3


def note(item: Object) -> None:
    """Store the present place of a joint's child's mesh in its object."""
    record, found = item.condyle.rest, _now(item)
    record.vertices = 0 if found is None else found[0]
    if found is not None:
        record.points = tuple(found[1].ravel())


def shifted(item: Object) -> float:
    """Distance [Blender units] by which the mesh of a joint's child was moved as a whole since then; 0 if unknown."""
    record, found = item.condyle.rest, _now(item)
    if found is None or found[0] != record.vertices:
        return 0.0
    now, then = found[1], np.array(record.points, dtype=np.float64).reshape(POINTS, 3)
    sides = [np.linalg.norm(each[:, None] - each, axis=-1) for each in (now, then)]
    size, away = float(sides[1].max()), float(np.linalg.norm(now - then, axis=1).max())
    if np.abs(sides[0] - sides[1]).max() > CLOSE * size or not away > FAR * size:
        return 0.0
    return away


def check(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
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


def points_of(item: Object) -> np.ndarray | None:
    """Points (POINTS, 3) of the stored mesh of a joint's child; None without a mesh."""
    child = references.resolve(item.condyle.joint.child)
    if child is None or child.bone or child.object.type != "MESH" or not len(child.object.data.vertices):
        return None
    vertices = child.object.data.vertices
    return np.array([vertices[k * len(vertices) // POINTS].co for k in range(POINTS)], dtype=np.float64)


def _now(item: Object) -> tuple[int, np.ndarray] | None:
    """Number of vertices of the child's mesh, and points (POINTS, 3) of it in the child's axes, with its scale."""
    points = points_of(item)
    if points is None:
        return None
    child = references.resolve(item.condyle.joint.child)
    try:
        _, scale = units.split_scale(child.matrix, child.name, child.owner)
    except physics_access.physics().CondyleError:  # reported by the check of scales
        return None
    return len(child.object.data.vertices), scale * points
