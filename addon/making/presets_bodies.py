"""Simple bodies for a preset that has none, in metres about the joint, in the pose where all sliders are 0."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ..blender import units
from ..data.references import Body
from .demo_shapes import ball, capsule, free_spot, joined, polygon_object, slab
from .presets import Preset

COLORS = ((0.32, 0.42, 0.55, 1.0), (0.86, 0.62, 0.35, 1.0))
WIRE = ((-0.3, 0.0, 0.1), (-0.15, 0.1, -0.05), (0.0, 0.0, 0.06), (0.15, -0.1, -0.05), (0.3, 0.0, 0.1))


def _jaw(side: float) -> list[Any]:
    """Half of a lower jaw: from its head, near the skull, down to its angle and on to the chin."""
    places = (
        (side, 0.0, 0.03),
        (0.95 * side, -0.006, -0.042),
        (0.62 * side, -0.06, -0.056),
        (0.0, -0.088, -0.058),
    )
    return [capsule(*ends, 0.01) for ends in pairwise(places)]


#: shape of the parent and of the child
SHAPES: dict[str, tuple[Any, Any]] = {
    "knee": (capsule((0, 0, 0.42), (0, 0, 0.06), 0.06), capsule((0, 0, -0.05), (0, 0, -0.4), 0.045)),
    "hip": (ball((0, 0, 0.1), (0.16, 0.1, 0.12)), capsule((0.09, 0, -0.05), (0.09, 0, -0.45), 0.06)),
    "elbow": (capsule((0, 0, 0.3), (0, 0, 0.04), 0.04), capsule((0, 0, -0.035), (0, 0, -0.25), 0.032)),
    "shoulder": (ball((0, 0, 0), (0.15, 0.11, 0.2)), ball((-0.06, 0.13, 0.05), (0.05, 0.012, 0.075))),
    "wrist": (capsule((0, 0, 0.25), (0, 0, 0.025), 0.025), ball((0, 0, -0.09), (0.042, 0.015, 0.09))),
    "thumb": (ball((0, 0, 0.012), (0.012, 0.012, 0.012)), capsule((0, 0, -0.009), (0, 0, -0.09), 0.009)),
    "jaw": (ball((0, 0, 0.09), (0.075, 0.095, 0.09)), joined(*_jaw(-0.048), *_jaw(0.048))),
    "finger": (capsule((0, 0.05, 0), (0, 0.009, 0), 0.009), capsule((0, -0.008, 0), (0, -0.035, 0), 0.008)),
    "bead": (None, ball((-0.3, 0, 0.1), (0.025, 0.025, 0.025))),
    "hinge": (capsule((0, 0, -0.5), (0, 0, 0.5), 0.03), slab((0.03, -0.02, -0.5), (0.6, 0.02, 0.5))),
}


def make(scene: Any, preset: Preset) -> tuple[Body, Body]:
    """Parent and child of a preset, at the 3D cursor or right of what stands there."""
    length = units.length_scale(scene)
    shapes = SHAPES[preset.name]
    points = np.vstack([WIRE if shape is None else shape[0] for shape in shapes])
    spot = free_spot(scene, points.min(axis=0), points.max(axis=0))
    collection = bpy.data.collections.new(preset.label)
    scene.collection.children.link(collection)
    made = []
    for shape, name, color in zip(shapes, (preset.parent, preset.child), COLORS):
        if shape is None:
            item = _wire(name, collection, length)
        else:
            material = bpy.data.materials.new(name)
            material.diffuse_color = color
            # its origin in its middle, so that it turns about a place of its own
            middle = 0.5 * (shape[0].min(axis=0) + shape[0].max(axis=0))
            smooth = len(shape[0]) > 8
            item = polygon_object(name, (shape[0] - middle) / length, shape[1], collection, material, smooth)
            item.location = middle / length
        item.location = np.array(item.location) + spot / length
        item.rotation_mode = "QUATERNION"  # baked angles of Euler's would jump where the body turns far
        made.append(Body(item))
    bpy.context.view_layer.update()
    return made[0], made[1]


def _wire(name: str, collection: Any, length: float) -> Any:
    """A smooth wavy curve object."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.005 / length
    line = data.splines.new("BEZIER")
    line.bezier_points.add(len(WIRE) - 1)
    for point, place in zip(line.bezier_points, WIRE):
        point.co = np.array(place) / length
        point.handle_left_type = point.handle_right_type = "AUTO"
    item = bpy.data.objects.new(name, data)
    collection.objects.link(item)
    return item
