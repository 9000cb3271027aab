"""Strands of a muscle: the obstacles that it wraps over between each two points."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from . import muscle_points, obstacles

LENGTHS = ("fibre_length", "tendon_length")


SAMPLES = 33


def smoothing_of(scene: Scene, item: Object) -> float | None:
    """Distance [m] over which contact with obstacles is smoothed; None: the default of physics."""
    set_to = item.condyle.muscle.smoothing
    return set_to * units.length_scale(scene) if set_to > 0.0 else None


def strands_over(item: Object, points: list[muscle_points.Point]) -> dict[int, list[Object]]:
    """The obstacles that each strand of a muscle wraps over, in order, by the index of the strand's first point."""
    placed: list[tuple[int, float, Any]] = []
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    for row in item.condyle.muscle.obstacles:
        surface = row.obstacle
        if surface is None or not surface.condyle.obstacle.enabled:
            lost = (
                "an obstacle is missing" if surface is None else f"{surface.name!r} is no obstacle any more"
            )
            raise physics_access.model_error(f"{lost}; choose one under Wraps over, or remove the row")
        if row.strand >= len(points):
            raise physics_access.model_error(
                f"it wraps over {surface.name!r} between points {row.strand} and {row.strand + 1}, but has only "
                f"{len(points)} points"
            )
        tried = range(len(points) - 1) if row.strand == 0 else [row.strand - 1]
        if len(points) == 2 and len(item.condyle.muscle.obstacles) == 1:
            return {0: [surface]}
        found = []
        for k in tried:
            line = points[k].place + shares * (points[k + 1].place - points[k].place)
            near = obstacles.nearness(surface, line)
            found.append((float(near.min()), k, float(near.argmin())))
        _, k, along = min(found)
        placed.append((k, along, surface))
    strands: dict[int, list[Any]] = {}
    for k, _, surface in sorted(placed, key=lambda entry: entry[:2]):
        strands.setdefault(k, []).append(surface)
    return strands
