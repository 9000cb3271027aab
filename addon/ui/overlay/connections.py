"""Draws constraints, springs and ground over the 3D view, at the present places of their Empties and ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene

from ...blender import physics_access
from ...data import references
from ...data.connection_kinds import KINDS
from ...data.connections import ConnectionProperties
from ...data.property_options import active_connection
from ...reading import connections
from .pieces import STYLES, piece_lines

# Drawing of each connection with its key, and its coloured lines.
_cache: dict[int, tuple[Any, Any]] = {}
_lines: dict[int, tuple[Any, float, Any]] = {}
# Points of bodies that can touch ground, in their frames.
_points: dict[int, tuple[Any, np.ndarray]] = {}


def forget() -> None:
    """Drop all drawings."""
    _cache.clear()
    _lines.clear()
    _points.clear()


def drawing(scene: Scene, item: Object) -> physics_access.Drawing | None:
    """A connection's drawing in the world, in Blender units; None for a gear or an incomplete connection."""
    key = _key(scene, item)
    known = _cache.get(item.session_uid)
    if known is not None and known[0] == key:
        return known[1]
    try:
        shape = _draw(scene, item)
    except physics_access.physics().CondyleError:
        shape = None
    _cache[item.session_uid] = key, shape
    return shape


def lines(item: Any, shape: Any, strength: float) -> Any:
    """Coloured lines of a drawing, cached until the drawing changes."""
    known = _lines.get(item.session_uid)
    if known is None or known[0] is not shape or known[1] != strength:
        known = shape, strength, piece_lines(shape, tuple(STYLES), 1.0, strength)
        _lines[item.session_uid] = known
    return known[2]


def _key(scene: Scene, item: Object) -> Any:
    settings = item.condyle.connection
    ground = settings.ground
    objects = [item, settings.end, settings.body.object, ground.surface, settings.profile]
    facts = [
        settings.kind,
        settings.sense,
        settings.as_placed,
        settings.length,
        settings.body.bone_name,
        scene.condyle.overlay.axis_size,
        item.empty_display_size,
        tuple(tuple(row.place) for row in settings.corners),
    ]
    if settings.kind == "ground":
        facts += [ground.points, ground.num_points, ground.vertex_group]
    body = references.resolve(settings.body) if settings.body.bone_uid else None
    places = [None if each is None else each.matrix_world.copy() for each in objects]
    return facts, places, body and body.matrix.copy()


def _draw(scene: Scene, item: Object) -> physics_access.Drawing | None:
    settings = item.condyle.connection
    size = scene.condyle.overlay.axis_size or 2.0 * item.empty_display_size
    size = max(float(size), 1e-6)
    drawings = physics_access.part("analysis.constraint_drawing")
    frame, end = connections.placed(scene, item)
    if settings.kind == "coupling":
        return None
    if settings.kind == "spring":
        return drawings.spring(frame[:3, 3], end[:3, 3], size)
    if settings.kind == "ground":
        return drawings.ground(frame, _touching(settings), size)
    length = float(settings.length)
    if settings.as_placed:
        length = float(np.linalg.norm(end[:3, 3] - frame[:3, 3]))
    sides = connections.Sides("body", None, end, frame)
    constraint = connections.constraint(scene, item, sides, max(length, 1e-12), 1.0)
    return drawings.drawing(constraint, {"body": np.eye(4)}, size)


def _touching(settings: ConnectionProperties) -> np.ndarray:
    """Points (n, 3) in the world that can touch the ground; none if they cannot be read.

    They are cached in the body's frame, since the body moves at every frame.
    """
    body = references.resolve(settings.body)
    if body is None:
        return np.empty((0, 3))
    ground, shape = settings.ground, body.data.body.shape or body.object
    vertices = len(shape.data.vertices) if shape.type == "MESH" else 0
    key = (ground.points, ground.num_points, ground.vertex_group, body.handle(), shape.session_uid, vertices)
    uid = settings.id_data.session_uid
    if uid not in _points or _points[uid][0] != key:
        try:
            found = connections.touching_points(ground, body, evaluated=False)
        except physics_access.physics().CondyleError:
            found = np.empty((0, 3))
        _points[uid] = key, found
    base = np.array(body.matrix.normalized())
    return _points[uid][1] @ base[:3, :3].T + base[:3, 3]


def visible(context: Context) -> list[tuple[Any, bool]]:
    """The connections to draw, and whether each is active."""
    at_hand = active_connection(context)
    return [
        (item, item == at_hand)
        for item in references.connections_of(context.scene)
        if item.condyle.connection.kind in KINDS and item.visible_get()
    ]
