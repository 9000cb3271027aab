"""Draws colliders over the 3D view: those that are selected, or all."""

from __future__ import annotations

import numpy as np
from bpy.types import Context
from mathutils import Quaternion

from ...blender import units
from ...data import colliders, references
from ...data.references import Body
from ...reading import collider_fit
from ...reading.meshes import stored_vertices
from .pieces import Kept, Lines, painted

COLOR, WIDTH, PLANE_SIZE = (0.35, 0.85, 0.55), 1.5, 1.0
# A mesh with more edges is drawn by every second, third ... of them.
MOST_EDGES = 4000

_lines = Kept()
_turn = np.linspace(0.0, 2.0 * np.pi, 33)
RING = np.stack([np.cos(_turn), np.sin(_turn), 0.0 * _turn], axis=1)


def forget() -> None:
    """Drop all drawings."""
    _lines.forget()


def visible(context: Context) -> list[Body]:
    """The colliders to draw: those that are selected, and all if the overlay shows all."""
    chosen = colliders.chosen(references.selected_bodies(context))
    if context.scene.condyle.overlay.show_colliders:
        known = {references.key_of(body): body for body in (*colliders.colliders_of(context.scene), *chosen)}
        chosen = list(known.values())
    return [body for body in chosen if body.object.visible_get()]


def lines(body: Body, strength: float) -> list[Lines]:
    """Coloured lines of a collider in its body's axes, cached until it changes."""
    settings = body.data.collider
    kind = settings.shape
    lengths = settings.radius, settings.length, settings.margin, *settings.size, *settings.center
    mesh = body.object.data if kind in {"CONVEX", "MESH"} and body.object.type == "MESH" else None
    size = 0.0 if mesh is None else (len(mesh.vertices), body.object.matrix_world.to_scale()[:])
    key = (kind, *lengths, *settings.rotation, size, strength)
    name = references.key_of(body)
    return _lines.of(name, key, lambda: [painted(WIDTH, _ends(body, settings), COLOR, strength)])


def place(body: Body) -> np.ndarray:
    """Pose (4, 4) of the lines in the world."""
    pose, size = collider_fit.frame_of(body.matrix)
    if body.data.collider.shape not in {"CONVEX", "MESH"}:
        pose[:3, :3] *= size
    return pose


def _ends(body: Body, settings: colliders.ColliderProperties) -> np.ndarray:
    """Ends (k, 2, 3) of a collider's lines."""
    if settings.shape in {"CONVEX", "MESH"}:
        return _edges(body)
    turn = np.array(Quaternion(settings.rotation).normalized().to_matrix())
    return _SHAPES[settings.shape](settings) @ turn.T + np.array(settings.center)


def _joined(*loops: np.ndarray) -> np.ndarray:
    """Lines (k, 2, 3) along polygons (n, 3)."""
    return np.concatenate([np.stack([loop[:-1], loop[1:]], axis=1) for loop in loops])


def _ball(settings: colliders.ColliderProperties) -> np.ndarray:
    ring = (settings.radius + settings.margin) * RING
    return _joined(ring, ring[:, [0, 2, 1]], ring[:, [2, 0, 1]])


def _rod(settings: colliders.ColliderProperties) -> np.ndarray:
    ring, half = (settings.radius + settings.margin) * RING, 0.5 * settings.length
    up = np.array([0.0, 0.0, half])
    arcs = []
    for across in (ring[:, [0, 2, 1]], ring[:, [2, 0, 1]]):
        stretched = across + np.where(across[:, 2:] > 1e-9, up, -up)
        arcs.append(np.concatenate([stretched, stretched[:1]]))
    return _joined(ring + up, ring - up, *arcs)


def _box(settings: colliders.ColliderProperties) -> np.ndarray:
    half = 0.5 * np.array(settings.size) + settings.margin
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    pairs = [(a, b) for a in range(8) for b in range(a) if bin(a ^ b).count("1") == 1]
    return np.asarray(corners[np.array(pairs)])


def _grid(settings: colliders.ColliderProperties) -> np.ndarray:
    steps = np.linspace(-PLANE_SIZE, PLANE_SIZE, 5)
    along = [[[x, -PLANE_SIZE, settings.margin], [x, PLANE_SIZE, settings.margin]] for x in steps]
    across = [[[-PLANE_SIZE, y, settings.margin], [PLANE_SIZE, y, settings.margin]] for y in steps]
    return np.array([*along, *across, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.25 * PLANE_SIZE]]])


_SHAPES = {"SPHERE": _ball, "CAPSULE": _rod, "BOX": _box, "PLANE": _grid}


def _edges(body: Body) -> np.ndarray:
    """Edges of a mesh as it is stored, in the rigid axes of its object; of a bone a cross in its head."""
    if body.object.type != "MESH":
        return np.array([[-0.05 * axis, 0.05 * axis] for axis in np.eye(3)])
    mesh = body.object.data
    pairs = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", pairs)
    pairs = pairs.reshape(-1, 2)[:: len(mesh.edges) // MOST_EDGES + 1]
    pose, _ = collider_fit.frame_of(body.matrix)
    linear = pose[:3, :3].T @ units.array4(body.matrix)[:3, :3]
    return np.asarray(stored_vertices(body.object)[pairs] @ linear.T)
