"""Fits the shapes of colliders to meshes and to the skin of bones.

A shape is given in its body's axes without the body's scale: lengths are in Blender units, over `frame_of`'s size.
"""

import importlib.util
from typing import Any

import numpy as np
from bpy.types import Scene
from mathutils import Vector

from ..blender import physics_access, units
from ..data import references
from ..data.references import Body
from . import masses
from .meshes import mesh_arrays, skin_points

#: objects that have a surface
SURFACES = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
# Flat: thinner than this share of its extent. Round: all vertices within this share of the radius. Full: a box has at
# least this share of the volume of the box about it.
FLAT, ROUND, FULL = 1e-3, 0.02, 0.98
# A limb's skin is wider where it joins the next one: this share of its points lies within the shape.
WITHIN = 0.9


def frame_of(matrix: Any) -> tuple[np.ndarray, float]:
    """The rigid pose (4, 4) nearest to a matrix of any scale, and its mean scale."""
    pose = units.array4(matrix)
    left, sizes, right = np.linalg.svd(pose[:3, :3])
    turn = left @ right
    if np.linalg.det(turn) < 0.0:  # of a mirrored object
        turn[:, 0] *= -1.0
    pose[:3, :3] = turn
    return pose, float(np.cbrt(sizes.prod()))


def surface(scene: Scene, body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of an object's evaluated mesh in its own space; of a bone the points of its
    skin in its rest axes, without triangles.
    """
    if body.bone:
        return skin_points(scene, body.object, body.bone), np.empty((0, 3), dtype=np.int32)
    references.check_evaluated(body.object, body.name)
    return mesh_arrays(body.object)


def fit(scene: Scene, body: Body, shape: str = "AUTO") -> dict[str, Any]:
    """Settings of `ColliderProperties` for a shape about an object or bone.

    shape: one of `colliders.SHAPES`; "AUTO": a capsule for a bone, a plane for an Empty and for what is flat, a sphere
    or box for what is one, all triangles of an open mesh, else the convex hull.

    Raises:
        ModelError: there is nothing to fit the shape to; names the body.
    """
    item = body.object
    if not body.bone and item.type == "EMPTY":
        return _about_empty(body, "PLANE" if shape == "AUTO" else shape)
    if not body.bone and item.type not in SURFACES:
        way = (
            "select its bones in Pose Mode" if item.type == "ARMATURE" else "select a mesh, an Empty or bones"
        )
        raise physics_access.model_error(f"{body.name} has no surface to collide with: {way}")
    points, triangles = surface(scene, body)
    if shape == "MESH" and not len(triangles):
        raise physics_access.model_error(f"{body.name} has no faces to collide with: choose another shape")
    if body.bone and len(points) < 4:
        if shape == "CONVEX":
            raise physics_access.model_error(f"{body.name} moves no skin: choose another shape")
        return _along_bone(body, "CAPSULE" if shape == "AUTO" else shape)
    if not len(points):
        raise physics_access.model_error(f"{body.name} has no vertices to collide with")
    pose, size = frame_of(body.matrix)
    relative = physics_access.physics().lie.inverse(pose) @ units.array4(body.matrix)
    points = (points @ relative[:3, :3].T + relative[:3, 3]) / size
    if shape == "AUTO":
        shape = "CAPSULE" if body.bone else _kind(points, triangles)
    return {"shape": shape, **_fitted(shape, points, triangles, bool(body.bone))}


def _kind(points: np.ndarray, triangles: np.ndarray) -> str:
    """The shape that a mesh is, or is nearest to."""
    extents = np.ptp(points, axis=0)
    away = np.linalg.norm(points - 0.5 * (points.min(axis=0) + points.max(axis=0)), axis=1)
    if _spread(points)[1] < FLAT * extents.max():
        return "PLANE"
    if len(points) > 8 and np.ptp(away) < ROUND * away.max():
        return "SPHERE"
    edges = np.sort(np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    if (counts == 1).any():
        return "MESH"
    corners = points[triangles]
    volume = np.einsum("ki,ki->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    if abs(volume) > FULL * extents.prod() or importlib.util.find_spec("scipy") is None:
        return "BOX"
    return "CONVEX"


def _spread(points: np.ndarray) -> tuple[np.ndarray, float]:
    """The direction (3,) across which points are nearest to a plane, and their extent along it."""
    normal = np.linalg.svd(np.cov(points.T))[0][:, 2]
    return normal, float(np.ptp(points @ normal))


def _fitted(shape: str, points: np.ndarray, triangles: np.ndarray, is_skin: bool) -> dict[str, Any]:
    """Centre, rotation and lengths of a shape about points (n, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, share = 0.5 * (low + high), WITHIN if is_skin else 1.0
    if shape == "SPHERE":
        radius = np.quantile(np.linalg.norm(points - middle, axis=1), share)
        return {"center": middle, "radius": radius}
    if shape == "CAPSULE":
        axis = 1 if is_skin else int(np.argmax(high - low))
        across = np.delete(points - middle, axis, axis=1)
        radius = float(np.quantile(np.linalg.norm(across, axis=1), share))
        return {
            "center": middle,
            "radius": radius,
            "length": max(float(high[axis] - low[axis]) - 2.0 * radius, 0.0),
            "rotation": _turn(np.eye(3)[axis]),
        }
    if shape == "BOX":
        return {"center": middle, "size": high - low}
    if shape == "PLANE":
        normal, corners = _spread(points)[0], points[triangles]
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
        facing = float(areas @ normal) if len(triangles) else normal[2]
        return {"center": middle, "rotation": _turn(normal if facing >= 0.0 else -normal)}
    return {}


def _turn(axis: np.ndarray) -> tuple[float, ...]:
    """The rotation, as a quaternion, that turns z to an axis (3,)."""
    return tuple(Vector((0.0, 0.0, 1.0)).rotation_difference(Vector(axis)))


def _along_bone(body: Body, shape: str) -> dict[str, Any]:
    """A shape about a bone without skin, as slender as its mass is assumed to be."""
    length = body.pose_bone.bone.length
    radius = masses.SLIMNESS * length
    return {
        "shape": shape,
        "center": (0.0, 0.5 * length, 0.0),
        "radius": radius if shape == "CAPSULE" else 0.5 * length,
        "length": max(length - 2.0 * radius, 0.0),
        "size": (2.0 * radius, length, 2.0 * radius),
        "rotation": _turn(np.array([0.0, 1.0, 0.0]) if shape == "CAPSULE" else np.array([0.0, 0.0, 1.0])),
    }


def _about_empty(body: Body, shape: str) -> dict[str, Any]:
    """A shape about the origin of an Empty, as large as that is drawn."""
    if shape in {"CONVEX", "MESH"}:
        raise physics_access.model_error(f"{body.name} has no mesh: choose another shape")
    radius = float(body.object.empty_display_size)
    return {"shape": shape, "radius": radius, "length": 2.0 * radius, "size": (2.0 * radius,) * 3}
