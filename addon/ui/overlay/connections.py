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
from .pieces import STYLES, Kept, piece_lines

# Drawings of connections, their coloured lines, and points of bodies that can touch ground, in their frames.
_drawings, _lines, _points = Kept(), Kept(), Kept()


def forget() -> None:
    """Drop all drawings."""
    for each in (_drawings, _lines, _points):
        each.forget()


def drawing(scene: Scene, item: Object) -> physics_access.Drawing | None:
    """A connection's drawing in the world, in Blender units; None for a gear or an incomplete connection."""
    return _drawings.of(item.session_uid, _key(scene, item), lambda: _drawn(scene, item))


def lines(item: Any, shape: Any, strength: float) -> Any:
    """Coloured lines of a drawing, cached until the drawing changes."""
    made = (shape, tuple(STYLES), 1.0, strength)
    return _lines.of(item.session_uid, (shape, strength), lambda: piece_lines(*made))


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


def _drawn(scene: Scene, item: Object) -> physics_access.Drawing | None:
    try:
        return _draw(scene, item)
    except physics_access.physics().CondyleError:
        return None


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
        points = end[None, :3, 3] if settings.ground.points == "END" else _touching(settings)
        return drawings.ground(frame, points, size)
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

    def read() -> np.ndarray:
        try:
            return connections.touching_points(ground, body, evaluated=False)
        except physics_access.physics().CondyleError:
            return np.empty((0, 3))

    base = np.array(body.matrix.normalized())
    return _points.of(settings.id_data.session_uid, key, read) @ base[:3, :3].T + base[:3, 3]


def visible(context: Context) -> list[tuple[Any, bool]]:
    """The connections to draw, and whether each is active."""
    at_hand = active_connection(context)
    return [
        (item, item == at_hand)
        for item in references.connections_of(context.scene)
        if item.condyle.connection.kind in KINDS and item.visible_get()
    ]
