"""Creates simple bodies for a preset, with meshes in metres about the joint, in the pose where all sliders are 0."""

import bpy
import numpy as np
from bpy.types import Collection, Object, Scene

from ..anatomy.demo_meshes import mesh
from ..blender import units
from ..data.references import Body
from .demo_shapes import free_spot, polygon_object
from .presets import Preset

COLORS = ((0.32, 0.42, 0.55, 1.0), (0.86, 0.62, 0.35, 1.0))


def make(scene: Scene, preset: Preset) -> tuple[Body, Body]:
    """Create parent and child of a preset, at the 3D cursor or to the right of objects there."""
    length = units.length_scale(scene)
    shapes = [mesh(f"{preset.name}_{role}") for role in ("parent", "child")]
    points = np.vstack([shape.vertices for shape in shapes])
    spot = free_spot(scene, points.min(axis=0), points.max(axis=0))
    collection = bpy.data.collections.new(preset.label)
    scene.collection.children.link(collection)
    bodies = []
    for shape, name, color in zip(shapes, (preset.parent, preset.child), COLORS):
        if not shape.faces:
            item = _wire(name, shape.vertices / length, 0.005 / length, collection)
        else:
            material = bpy.data.materials.new(name)
            material.diffuse_color = color
            # its origin is at its middle
            middle = 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))
            points, smooth = (shape.vertices - middle) / length, len(shape.vertices) > 8
            item = polygon_object(name, points, shape.faces, collection, material, smooth)
            item.location = middle / length
        item.location = np.array(item.location) + spot / length
        item.rotation_mode = "QUATERNION"  # baked Euler angles would jump at large rotations
        bodies.append(Body(item))
    bpy.context.view_layer.update()
    return bodies[0], bodies[1]


def _wire(name: str, points: np.ndarray, radius: float, collection: Collection) -> Object:
    """Create a smooth curve object through points (n, 3)."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", radius
    line = data.splines.new("BEZIER")
    line.bezier_points.add(len(points) - 1)
    for point, place in zip(line.bezier_points, points):
        point.co = place
        point.handle_left_type = point.handle_right_type = "AUTO"
    item = bpy.data.objects.new(name, data)
    collection.objects.link(item)
    return item
