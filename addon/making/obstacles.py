"""Creates obstacles, updates their meshes, and sizes them to the muscles nearby."""

from typing import Any

import bpy
import numpy as np
from bpy.types import Material, Object, Scene, View3DCursor
from mathutils import Matrix, Vector

from ..blender import physics_access, units
from ..data import collection, schema
from ..data.obstacles import SHAPES
from ..data.references import Body
from ..reading.obstacles import nearness, of_shape
from . import bodies_and_joints

MATERIAL, COLOR = "Condyle Obstacle", (0.25, 0.55, 0.95, 0.35)


AROUND, ALONG = 32, 16

# Size of a new obstacle as a share of the distance to a muscle's nearest point; its least share of the default size.
ROOM, LEAST = 0.8, 0.1


def add_obstacle(
    scene: Scene,
    body: Body | None,
    shape: str = "cylinder",
    matrix: Matrix | None = None,
    name: str = "",
    update: bool = True,
    **settings: Any,
) -> Object:
    """Add a surface that muscles can wrap over.

    Args:
        body: its parent, an object or bone; None: the world.
        shape: one of `data.obstacles.SHAPES`.
        matrix: its world matrix (4, 4); the 3D cursor's if None.
        update: as of `bodies_and_joints.attach`.
        settings: radius, length, radii, major_radius, side as in `ObstacleProperties`.

    Returns:
        The mesh object that shows it, in Blender a child of the body.

    Raises:
        ModelError: unknown shape, or a transform that is not rigid with uniform scale.
    """
    if shape not in SHAPES:
        raise physics_access.model_error(f"unknown obstacle {shape!r}; use one of {', '.join(SHAPES)}")
    given = scene.cursor.matrix.normalized() if matrix is None else matrix
    world = Matrix(units.split_scale(given, "the place of the obstacle")[0].tolist())
    if body is not None:
        bodies_and_joints.check_own(body)
    label = name or (f"{body.name} {shape.replace('_', ' ').title()}" if body else shape.title())
    mesh = bpy.data.meshes.new(label)
    item = bpy.data.objects.new(label, mesh)
    collection.collection_of(scene, body.object if body else None).objects.link(item)
    bodies_and_joints.attach(item, body, world, update)
    item.hide_render = True
    found = item.condyle.obstacle
    for key, value in settings.items():
        setattr(found, key, value)
    found.shape = shape
    found.enabled = True
    reshape(item)
    mesh.materials.append(_material())
    schema.stamp(item.condyle, scene.condyle)
    return item


def _material() -> Material:
    found = bpy.data.materials.get(MATERIAL)
    if found is None:
        found = bpy.data.materials.new(MATERIAL)
        found.diffuse_color = COLOR
    return found


def reshape(item: Object) -> None:
    """Rebuild an obstacle's mesh by its settings; keeps the present mesh for invalid settings."""
    try:
        parts = of_shape(item).parts()
    except physics_access.physics().ModelError:
        return
    points: list[np.ndarray] = []
    faces: list[list[int]] = []
    smooth: list[bool] = []
    for frame, part in parts:
        grid = part.grid(AROUND, ALONG) @ frame[:3, :3].T + frame[:3, 3]
        rings, around, _ = grid.shape
        index = sum(map(len, points)) + np.arange(rings * around).reshape(rings, around)
        following = np.roll(index, -1, axis=1)
        sides = np.stack([index[:-1], following[:-1], following[1:], index[1:]], axis=-1).reshape(-1, 4)
        caps = [index[0, ::-1].tolist(), index[-1].tolist()] if part.open_ends else []
        points.append(grid.reshape(-1, 3))
        faces += sides.tolist() + caps
        smooth += [True] * len(sides) + [False] * len(caps)
    mesh = item.data
    mesh.clear_geometry()
    mesh.from_pydata(np.concatenate(points).tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", smooth)
    mesh.update()


def across(cursor: View3DCursor, places: np.ndarray) -> Matrix:
    """World matrix (4, 4) of an obstacle at the 3D cursor, with z across the nearest strand between points (n, 3).

    The cursor's own matrix if the cursor is rotated, or lies on the strand.
    """
    matrix = cursor.matrix.normalized()
    if not np.allclose(np.array(matrix.to_3x3()), np.eye(3), atol=1e-6):
        return matrix
    origin = np.array(matrix.translation)
    starts, strands = places[:-1], np.diff(places, axis=0)
    shares = ((origin - starts) * strands).sum(axis=1) / np.maximum((strands * strands).sum(axis=1), 1e-30)
    to_them = starts + np.clip(shares, 0.0, 1.0)[:, None] * strands - origin
    k = int(np.linalg.norm(to_them, axis=1).argmin())
    axis = Vector(np.cross(strands[k], to_them[k]))
    if axis.length < 1e-3 * np.linalg.norm(strands[k]) ** 2:
        return matrix
    return Matrix.Translation(matrix.translation) @ axis.to_track_quat("Z", "Y").to_matrix().to_4x4()


def make_room(item: Object, places: np.ndarray) -> None:
    """Shrink an obstacle so that world points (n, 3) are outside, unless it would become too small."""
    near = float(nearness(item, places).min())
    settings = item.condyle.obstacle
    if not LEAST < near * ROOM < 1.0:
        return
    shape, about = SHAPES[settings.shape], of_shape(item).settings()
    for name in shape.settings:
        if about.get(shape.arguments.get(name, name), {}).get("thickness"):
            setattr(settings, name, near * ROOM * getattr(settings, name))
