"""Polygon objects of demos and presets, and free places for them in the scene."""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import Collection, Material, Object, Scene
from mathutils import Vector

from ..blender import units

ROOM = 0.3  # m to existing objects
# an object is a floor if it is this many times wider than the new one, and reaches at most this share of its height
WIDER, UNDER = 4.0, 0.25


def polygon_object(
    name: str,
    vertices: np.ndarray,
    faces: Sequence[Sequence[int]] | np.ndarray,
    collection: Collection,
    material: Material = None,
    smooth: bool = True,
) -> Object:
    """Create an object in a collection from vertices (n, 3) and polygons, counter-clockwise from outside."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(vertices).tolist(), [], [[int(index) for index in face] for face in faces])
    data.polygons.foreach_set("use_smooth", np.full(len(data.polygons), smooth))
    if material is not None:
        data.materials.append(material)
    data.update()
    item = bpy.data.objects.new(name, data)
    collection.objects.link(item)
    return item


def free_spot(
    scene: Scene, low: np.ndarray, high: np.ndarray, at: np.ndarray | None = None, around: float = 0.0
) -> np.ndarray:
    """Free place for a new object: `at` (3,) [m], else the 3D cursor, or to the right (+X) of objects there.

    Args:
        low, high: bounds of the new object (3,) [m]. around: margin about these [m].
    """
    length = units.length_scale(scene)
    cursor = np.array(scene.cursor.location, dtype=np.float64) * length
    spot = cursor if at is None else np.array(at, dtype=np.float64)
    there = [
        (length * bounds[0], length * bounds[1])
        for bounds in (_bounds(item) for item in scene.objects)
        if bounds is not None
    ]
    floor = spot[2] + low[2] + around + UNDER * (high[2] - low[2])
    low, high = low - around, high + around
    there = [
        (lower, upper)
        for lower, upper in there
        if upper[2] > floor or np.any((upper - lower)[:2] < WIDER * (high - low)[:2])
    ]
    for _ in there:  # each object can shift it once
        ends = [
            float(upper[0])
            for lower, upper in there
            if np.all(lower < spot + high) and np.all(upper > spot + low)
        ]
        if not ends:
            break
        spot[0] = max(ends) - low[0] + ROOM
    return spot


def _bounds(item: Object) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper corner of an object in the world; None for hidden objects and those without size.

    The Empty of a body counts as a point, since its meshes may be deleted.
    """
    if item.type == "EMPTY" and item.condyle.body.enabled and item.visible_get():
        place = np.array(item.matrix_world.translation)
        return place, place
    if item.type in {"EMPTY", "CAMERA", "LIGHT"} or not item.visible_get():
        return None
    corners = np.array([item.matrix_world @ Vector(corner) for corner in item.bound_box])
    return corners.min(axis=0), corners.max(axis=0)
