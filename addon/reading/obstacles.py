"""Reads the obstacles that muscles wrap over into surfaces of physics. Matrices are in Blender units."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..blender.units import in_si
from ..data import references
from ..data.obstacles import SHAPES, ObstacleProperties


def of_shape(item: Object, metres: float = 1.0, **place: Any) -> physics_access.Obstacle:
    """The obstacle of physics.

    Args:
        metres: metres per unit of the object's own lengths. place: body and frame (4, 4) [m].

    Raises:
        ModelError: a setting is invalid for the shape; names the object.
    """
    settings = item.condyle.obstacle
    shape = SHAPES[settings.shape]
    arguments = {
        shape.arguments.get(name, name): in_si(ObstacleProperties, settings, name, metres)
        for name in shape.settings
    }
    if settings.shape == "cylinder" and settings.length == 0.0:
        arguments["length"] = None
    side = side_of(settings)
    if settings.shape == "double_cylinder":
        frame, turn = np.eye(4), np.diag(arguments.pop("second_turn"))
        about_x, about_y, about_z = physics_access.physics().lie.so3_exp(turn)
        frame[:3, :3], frame[:3, 3] = about_z @ about_y @ about_x, arguments.pop("second_place")
        arguments |= {"second_frame": frame, "second_side": side_of(settings, "second_side")}
    kind = physics_access.part("muscles.obstacles").REGISTRY[settings.shape]
    try:
        return kind(side=side, always=settings.always_side and side != "shorter", **arguments, **place)
    except physics_access.physics().ModelError as error:
        raise physics_access.model_error(f"obstacle {item.name!r}: {error}") from error


def side_of(settings: ObstacleProperties, name: str = "side") -> str:
    """The chosen side, or "shorter" for a shape without that side."""
    side = getattr(settings, name)
    return side if side in SHAPES[settings.shape].sides else "shorter"


def placed(scene: Scene, item: Object, body: str | None, base: np.ndarray) -> physics_access.Obstacle | None:
    """The obstacle in the evaluated scene, on a body of the model with world pose base (4, 4) in Blender units."""
    references.check_evaluated(item, f"obstacle {item.name!r}")
    pose, scale = units.split_scale(item.matrix_world, f"obstacle {item.name!r}", item)
    frame = units.to_metres(physics_access.physics().lie.inverse(base) @ pose, scene)
    return of_shape(item, scale * units.length_scale(scene), body=body, frame=frame)


def nearness(item: Object, points: np.ndarray) -> np.ndarray:
    """Relative distance (n,) of world points (n, 3) from an obstacle: below 1 inside, for a torus in its hole."""
    pose, scale = units.split_scale(item.matrix_world, f"obstacle {item.name!r}", item)
    local = (points - pose[:3, 3]) @ pose[:3, :3] / scale
    return np.asarray(of_shape(item).nearness(local))
