"""What the numbers of an object's channels count from and in."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import units
from ..data.references import Body


def metres_of(body: Body, scene: Scene) -> float:
    """How many metres in the world a unit of the body's location is."""
    _, scale = units.split_scale(body.matrix, body.name, body.owner)
    own = abs(float(body.owner.scale[0])) or 1.0
    return units.length_scale(scene) * scale / own


def delta_rotation(item: Object, mode: str) -> Any:
    """The turn (3, 3) that an object has before that of its own channels, in a rotation mode."""
    if mode == "QUATERNION":
        return item.delta_rotation_quaternion.normalized().to_matrix()  # as Blender takes it
    if mode == "AXIS_ANGLE":  # Blender has no delta for it in the interface
        return np.eye(3)
    return item.delta_rotation_euler.to_matrix()
