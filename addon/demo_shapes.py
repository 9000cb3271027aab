"""Bodies to be seen where the user has none: objects of polygons, and capsules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np


def polygon_object(
    name: str,
    vertices: np.ndarray,
    faces: Sequence[Sequence[int]] | np.ndarray,
    collection: Any,
    material: Any = None,
    smooth: bool = True,
) -> Any:
    """An object of vertices (n, 3) and polygons, counter-clockwise seen from outside, in a collection."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.asarray(vertices).tolist(), [], [[int(index) for index in face] for face in faces])
    data.polygons.foreach_set("use_smooth", np.full(len(data.polygons), smooth))
    if material is not None:
        data.materials.append(material)
    data.update()
    made = bpy.data.objects.new(name, data)
    collection.objects.link(made)
    return made


def capsule(
    start: Any, end: Any, radius: float, sides: int = 24, rings: int = 8
) -> tuple[np.ndarray, list[Any]]:
    """A closed rod with round ends from start to end (3,): vertices (n, 3) and faces, outward."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    axis = (end - start) / np.linalg.norm(end - start)
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * second
    tilts = 0.5 * np.pi * np.arange(1, rings + 1) / rings
    loops = [start + radius * (np.sin(t) * circle - np.cos(t) * axis) for t in tilts]
    loops += [end + radius * (np.sin(t) * circle + np.cos(t) * axis) for t in tilts[::-1]]
    vertices = np.vstack([start - radius * axis, *loops, end + radius * axis])
    last = len(vertices) - 1
    faces: list[Any] = []
    for k in range(sides):
        after = (k + 1) % sides
        faces.append((0, 1 + after, 1 + k))
        for ring in range(len(loops) - 1):
            low, high = 1 + ring * sides, 1 + (ring + 1) * sides
            faces.append((low + k, low + after, high + after, high + k))
        faces.append((last, last - sides + k, last - sides + after))
    return vertices, faces
