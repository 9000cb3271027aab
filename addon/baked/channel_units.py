"""Units of channels in metres."""

from __future__ import annotations

from typing import Any

from ..blender import units


def metres_of(body: Any, scene: Any) -> float:
    """How many metres in the world a unit of the body's location is."""
    _, scale = units.split_scale(body.matrix, body.name, body.owner)
    own = abs(float(body.owner.scale[0])) or 1.0
    return units.length_scale(scene) * scale / own
