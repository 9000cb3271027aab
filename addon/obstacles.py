"""Surfaces that muscles wrap over: objects that show them, and what physics makes of them.

Lengths and matrices are in Blender units as Blender has them.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from . import authoring, core, migrations, references, units
from .features.muscles.obstacle_properties import SHAPE_SETTINGS, SIDES_OF
from .references import Body

MATERIAL, COLOR = "Condyle Obstacle", (0.25, 0.55, 0.95, 0.35)
AROUND, ALONG = 32, 16
THICKNESSES = {"radius", "second_radius", "radii"}
# of the distance to the nearest point of a muscle, what a new obstacle takes; and how small a share of the usual size
ROOM, LEAST = 0.8, 0.1


def add_obstacle(
    scene: Any,
    body: Body | None,
    shape: str = "cylinder",
    matrix: Any = None,
    name: str = "",
    **settings: Any,
) -> Any:
    """A surface that muscles can wrap over.

    Args:
        body: what carries it, an object or bone; None: the world.
        shape: one of `features.muscles.obstacle_properties.SHAPES`.
        matrix: its world matrix (4, 4); at the 3D cursor if None.
        settings: radius, length, radii, major_radius, side as `ObstacleProperties` has them.

    Returns:
        The mesh object that shows it, a child of the body in Blender.

    Raises:
        ModelError: unknown shape, or a transform that is not rigid with uniform scale.
    """
    if shape not in SHAPE_SETTINGS:
        raise core.model_error(
            f"unknown shape of an obstacle {shape!r}; known are {', '.join(SHAPE_SETTINGS)}"
        )
    given = scene.cursor.matrix.normalized() if matrix is None else matrix
    world = Matrix(units.split_scale(given, "the place of the obstacle")[0].tolist())
    if body is not None:
        authoring.check_own(body)
    label = name or (f"{body.name} {shape.replace('_', ' ').title()}" if body else shape.title())
    mesh = bpy.data.meshes.new(label)
    item = bpy.data.objects.new(label, mesh)
    authoring.collection_of(scene).objects.link(item)
    authoring.attach(item, body, world)
    item.hide_render = True
    found = item.condyle.obstacle
    for key, value in settings.items():
        setattr(found, key, value)
    found.shape = shape
    found.enabled = True
    reshape(item)
    mesh.materials.append(_material())
    migrations.stamp(item.condyle)
    migrations.stamp(scene.condyle)
    return item


def _material() -> Any:
    found = bpy.data.materials.get(MATERIAL)
    if found is None:
        found = bpy.data.materials.new(MATERIAL)
        found.diffuse_color = COLOR
    return found


def of_shape(item: Any, metres: float = 1.0, **place: Any) -> Any:
    """The obstacle of physics.

    Args:
        metres: in one unit of the object's own lengths. place: body and frame (4, 4) [m].

    Raises:
        ModelError: a setting is not acceptable to the shape; it names the object.
    """
    settings = item.condyle.obstacle
    arguments: dict[str, Any] = {}
    for name in SHAPE_SETTINGS[settings.shape]:
        value = getattr(settings, name)
        if name == "second_turn":
            arguments[name] = tuple(value)
        elif name in ("radii", "second_place"):
            arguments[name] = np.array(value, dtype=np.float64) * metres
        else:
            arguments[name] = value * metres
    if settings.shape == "torus":
        arguments["minor_radius"] = arguments.pop("radius")
    if settings.shape == "cylinder" and settings.length == 0.0:
        arguments["length"] = None
    side = side_of(settings)
    if settings.shape == "double_cylinder":
        frame, turn = np.eye(4), np.diag(arguments.pop("second_turn"))
        about_x, about_y, about_z = core.physics().lie.so3_exp(turn)
        frame[:3, :3], frame[:3, 3] = about_z @ about_y @ about_x, arguments.pop("second_place")
        arguments |= {"second_frame": frame, "second_side": side_of(settings, "second_side")}
    kind = core.part("muscles.obstacles").REGISTRY[settings.shape]
    try:
        return kind(side=side, **arguments, **place)
    except core.physics().ModelError as error:
        raise core.model_error(f"obstacle {item.name!r}: {error}") from error


def side_of(settings: Any, name: str = "side") -> str:
    """The side that is set, or the shorter way where the shape does not have that one."""
    side = getattr(settings, name)
    return side if side in SIDES_OF[settings.shape] else "shorter"


def placed(scene: Any, item: Any, body: str | None, base: np.ndarray) -> Any:
    """The obstacle as it stands now, on a body of the model whose world pose (4, 4) in Blender units is base."""
    references.check_evaluated(item, f"obstacle {item.name!r}")
    pose, scale = units.split_scale(item.matrix_world, f"obstacle {item.name!r}", item)
    frame = units.to_metres(core.physics().lie.inverse(base) @ pose, scene)
    return of_shape(item, scale * units.length_scale(scene), body=body, frame=frame)


def reshape(item: Any) -> None:
    """Make an obstacle's mesh anew by its settings; one that cannot be keeps the mesh that it has."""
    try:
        parts = of_shape(item).parts()
    except core.physics().ModelError:
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
        caps = [index[0, ::-1].tolist(), index[-1].tolist()] if part.type == "cylinder" else []
        points.append(grid.reshape(-1, 3))
        faces += sides.tolist() + caps
        smooth += [True] * len(sides) + [False] * len(caps)
    mesh = item.data
    mesh.clear_geometry()
    mesh.from_pydata(np.concatenate(points).tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", smooth)
    mesh.update()


def across(cursor: Any, places: np.ndarray) -> Any:
    """World matrix (4, 4) of an obstacle at the 3D cursor, its axis z across the nearest strand between points (n, 3);
    as the cursor lies where that is turned, or the strand goes through it.
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


def make_room(item: Any, places: np.ndarray) -> None:
    """Make an obstacle small enough to leave out points (n, 3) in the world, if it can at all be so small."""
    near = float(nearness(item, places).min())
    settings = item.condyle.obstacle
    if settings.shape == "torus" or not LEAST < near * ROOM < 1.0:
        return
    for name in THICKNESSES & set(SHAPE_SETTINGS[settings.shape]):
        value = getattr(settings, name)
        setattr(settings, name, value * near * ROOM)


def nearness(item: Any, points: np.ndarray) -> np.ndarray:
    """How near points (n, 3) in the world are to an obstacle: below 1 inside, for a torus in its hole."""
    settings = item.condyle.obstacle
    pose, scale = units.split_scale(item.matrix_world, f"obstacle {item.name!r}", item)
    local = (points - pose[:3, 3]) @ pose[:3, :3] / scale
    if settings.shape == "double_cylinder":
        found = []
        for frame, part in of_shape(item).parts():
            there = (local - frame[:3, 3]) @ frame[:3, :3]
            found.append(np.linalg.norm(there[:, :2], axis=1) / part.radius)
        return np.minimum(*found)
    if settings.shape == "ellipsoid":
        return np.linalg.norm(local / np.array(settings.radii), axis=1)
    if settings.shape == "torus":
        return np.linalg.norm(local, axis=1) / settings.major_radius
    if settings.shape == "sphere":
        return np.linalg.norm(local, axis=1) / settings.radius
    half = 0.5 * settings.length if settings.length > 0.0 else np.inf
    beyond = np.maximum(np.abs(local[:, 2]) - half, 0.0)
    return np.hypot(np.linalg.norm(local[:, :2], axis=1), beyond) / settings.radius
