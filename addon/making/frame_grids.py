"""Control frames of a spline surface as a grid of Empties: rows, columns, and layers for three directions.

In the joint's list of control frames, number = (row * columns + column) * layers + layer.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.joints import JointProperties
from ..reading import scene as scene_to_model
from . import bodies_and_joints, joint_frames

DIRECTIONS = ("Row", "Column", "Layer")
# fewest lines of a used direction: the lowest order that Condyle fits and simulates
LEAST_LINES = 4


def directions(settings: JointProperties) -> int:
    """Number of directions in which a joint's grid has several lines."""
    grid = tuple(settings.grid)
    return max((k + 1 for k in range(3) if grid[k] > 1), default=1)


def place_of(item: Object, empty: Object) -> tuple[int, int, int] | None:
    """Row, column and layer of a control frame's Empty; None for an Empty of no frame of this joint."""
    for number, frame in enumerate(item.condyle.joint.frames):
        if frame.object is not None and frame.object == empty:
            return place(item.condyle.joint, number)
    return None


def place(settings: JointProperties, number: int) -> tuple[int, int, int]:
    """Row, column and layer of a control frame by its number in the list."""
    row, column, layer = (
        int(k) for k in np.unravel_index(number % math.prod(settings.grid), tuple(settings.grid))
    )
    return row, column, layer


def complete(settings: JointProperties) -> bool:
    """Whether the number of control frames matches the grid."""
    return len(settings.frames) == math.prod(settings.grid)


def poses(scene: Scene, item: Object) -> np.ndarray:
    """Control frames (rows, columns, layers, 4, 4) in the joint's frame, in Blender units.

    Raises:
        ModelError: an Empty is missing or not rigid, or their number does not match the grid.
    """
    settings = item.condyle.joint
    if not complete(settings):
        raise model_error(
            f"joint {item.name!r}: its grid needs {' x '.join(map(str, settings.grid))} control points, but has "
            f"{len(settings.frames)}: build the grid again"
        )
    return scene_to_model.control_frames(scene, item).reshape(*settings.grid, 4, 4)


def build(
    scene: Scene,
    item: Object,
    frames: np.ndarray,
    *,
    periodic: bool | Sequence[bool] = False,
    orders: int = 4,
    knots: list[list[float]] | None = None,
    sequence: str | None = None,
    rotation_first: bool | None = None,
) -> None:
    """Make a joint a spline surface over frames; reuses its Empties.

    Args:
        frames: (rows, columns[, layers], 4, 4) in the joint's frame, in Blender units.
        periodic, orders: of each direction, or one for all.
        knots: one array per direction; None: uniform.
        sequence: axes of the angles; None: those farthest from gimbal lock.
    """
    settings = item.condyle.joint
    shape = np.shape(frames)[:-2]
    with joint_frames.sliders_later(settings):
        settings.type = "spline_surface"
        if len(shape) < directions(settings):  # otherwise the columns would become time
            settings.moving = False
        settings.sequence = sequence or best_sequence(frames)
        if rotation_first is not None:
            settings.rotation_first = rotation_first
        flat = np.reshape(frames, (-1, 4, 4))
        bodies_and_joints.set_control_frames(
            scene, item, flat, None if knots is None else np.concatenate(knots)
        )
        settings.grid = (*shape, 1, 1)[:3]
        settings.grid_periodic = _three(periodic, len(shape), False)
        settings.grid_orders = _three(orders, len(shape), 4)
        rename(item)


def place_joint(scene: Scene, item: Object, joint: physics_access.SplineSurface) -> None:
    """As `build`, from a spline surface of physics (in metres)."""
    build(
        scene,
        item,
        units.to_blender(joint.control_frames, scene),
        periodic=joint.periodic,
        orders=joint.order,
        knots=joint.knots,
        sequence=joint.sequence,
        rotation_first=joint.rotation_first,
    )


def _three(value: Any, count: int, missing: bool | int) -> tuple[Any, ...]:
    given = tuple(value) if np.ndim(value) else (value,) * count
    return (*given, missing, missing, missing)[:3]


def best_sequence(frames: np.ndarray) -> str:
    """The sequence of three axes whose angles are farthest from gimbal lock on frames (..., 4, 4)."""
    rotations = np.reshape(frames, (-1, 4, 4))[:, :3, :3]
    return physics_access.part("fitting.surface_angles").best_sequence(rotations)


def around(
    scene: Scene, item: Object, body: references.Body, rows: int, columns: int, opening: float, closed: bool
) -> np.ndarray:
    """A grid (rows, columns, 4, 4) on the ellipsoid of a body's bounding box, z outward, in the joint's frame.

    An open grid covers the angle `opening` [rad] to each side of the child's present direction. The rows of a closed
    grid are rings about the joint's z axis.
    """
    middle, radii, axes = _ellipsoid(item, body)
    u = np.linspace(-opening, opening, rows)
    v = np.linspace(-opening, opening, columns)
    if closed:
        v = np.arange(columns) * 2.0 * np.pi / columns
    tilt, turn = np.meshgrid(u, v, indexing="ij")
    # on the unit sphere: longitude `turn` about the last axis, latitude `tilt`
    normal = np.stack([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)], axis=-1)
    along = np.stack([-np.sin(turn), np.cos(turn), np.zeros_like(turn)], axis=-1)
    basis = np.eye(3)
    if not closed:  # the middle of the grid lies towards the child
        basis = _towards(axes.T @ (child_place(item) - middle) / radii)
    normal, along = normal @ basis.T, along @ basis.T
    points = middle + (normal * radii) @ axes.T
    outward = _unit(normal / radii) @ axes.T
    side = (along * radii) @ axes.T
    side = _unit(side - np.sum(side * outward, axis=-1, keepdims=True) * outward)
    frames = np.zeros((rows, columns, 4, 4))
    frames[..., :3, 0], frames[..., :3, 1] = side, np.cross(outward, side)
    frames[..., :3, 2], frames[..., :3, 3], frames[..., 3, 3] = outward, points, 1.0
    return frames


def child_place(item: Object) -> np.ndarray:
    """Origin (3,) of the child in the joint's frame, in Blender units."""
    child, base = joint_frames.child_of(item), joint_frames.pose_of(item)
    return (physics_access.physics().lie.inverse(base) @ units.array4(child.matrix))[:3, 3]


def _ellipsoid(item: Object, body: references.Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Middle (3,), radii (3,) and axes (3, 3) of the ellipsoid of a body's bounding box, in the joint's frame."""
    inverse = physics_access.physics().lie.inverse(joint_frames.pose_of(item))
    matrix = inverse @ units.array4(body.matrix)
    if body.bone:
        half = 0.5 * body.pose_bone.bone.length
        middle, radii = np.array([0.0, half, 0.0]), np.full(3, half)
    else:
        corners = np.array(body.object.bound_box, dtype=np.float64)
        middle, radii = 0.5 * (corners.min(axis=0) + corners.max(axis=0)), 0.5 * np.ptp(corners, axis=0)
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    radii = radii * lengths
    largest = radii.max()
    if not largest > 0.0:
        largest, radii = bodies_and_joints.typical_length(body), np.zeros(3)
    radii = np.maximum(radii, 0.05 * largest)
    return matrix[:3, :3] @ middle + matrix[:3, 3], radii, matrix[:3, :3] / lengths


def _towards(direction: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) with its first axis along a direction and its last as upright as possible."""
    size = float(np.linalg.norm(direction))
    first = direction / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])
    up = np.array([0.0, 0.0, 1.0]) if abs(first[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    second = _unit(np.cross(up, first))
    return np.stack([first, second, np.cross(first, second)], axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def add_line(scene: Scene, item: Object, direction: int, index: int) -> None:
    """Add a row (direction 0), column or layer after line `index`: halfway to the next, or extrapolated after the last.

    Raises:
        ModelError: the grid is incomplete, or has one line in that direction.
    """
    frames = poses(scene, item)
    settings = item.condyle.joint
    count = frames.shape[direction]
    if count == 1:
        raise model_error(
            f"joint {item.name!r}: its grid has no {DIRECTIONS[direction].lower()}s yet, so none can be added"
        )
    index = int(np.clip(index, 0, count - 1))
    lines = np.moveaxis(frames, direction, 0)
    lie = physics_access.physics().lie
    last = index == count - 1
    if not last or settings.grid_periodic[direction]:
        first, following = lines[index], lines[(index + 1) % count]
        line = first @ lie.exp(0.5 * lie.log(lie.inverse(first) @ following))
    else:
        line = lines[-1] @ (lie.inverse(lines[-2]) @ lines[-1])
    _change(scene, item, direction, index + 1, line)


def remove_line(scene: Scene, item: Object, direction: int, index: int) -> None:
    """Remove a row (direction 0), column or layer; ModelError if too few would remain."""
    settings = item.condyle.joint
    if not complete(settings):
        poses(scene, item)  # raises with the numbers
    count, least = settings.grid[direction], max(LEAST_LINES, settings.grid_orders[direction])
    if count <= least:
        raise model_error(
            f"joint {item.name!r}: a surface of order {settings.grid_orders[direction]} needs at least {least} "
            f"{DIRECTIONS[direction].lower()}s, so none of its {count} can be removed"
        )
    _change(scene, item, direction, int(np.clip(index, 0, count - 1)), None)


def _change(scene: Scene, item: Object, direction: int, index: int, made: np.ndarray | None) -> None:
    """Insert a line of frames (..., 4, 4) at an index, or (None) remove it; keeps the other Empties."""
    settings = item.condyle.joint
    with joint_frames.sliders_later(settings):
        old = np.arange(len(settings.frames)).reshape(tuple(settings.grid))
        if made is None:
            for number in sorted(np.take(old, index, axis=direction).ravel().tolist(), reverse=True):
                bodies_and_joints.remove_control_frame(item, number)
        else:
            new = np.insert(old, index, -1, axis=direction)  # -1: a new frame
            base, fresh = joint_frames.pose_of(item), iter(made.reshape(-1, 4, 4))
            for number in np.flatnonzero(new.ravel() < 0).tolist():
                bodies_and_joints.add_control_frame(scene, item, base @ next(fresh), number)
        grid = list(settings.grid)
        grid[direction] += -1 if made is None else 1
        settings.grid = grid
        rename(item)


def rename(item: Object) -> None:
    """Name the Empties after their places in the grid."""
    settings, names = item.condyle.joint, {}
    for number, frame in enumerate(settings.frames):
        if frame.object is not None:
            row, column, layer = place(settings, number)
            name = f"{item.name} Row {row:02d} Column {column:02d}"
            names[frame.object] = name + (f" Layer {layer:02d}" if settings.grid[2] > 1 else "")
    joint_frames.rename(item, names)


def warnings_of(scene: Scene, item: Object) -> list[str]:
    """Warnings of physics for the surface: near gimbal lock, or an order that allows only kinematics."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene_to_model.read_joint(scene, item)
    return [str(each.message) for each in caught]
