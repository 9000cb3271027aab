"""Reads a joint's Empty into a joint of physics."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..blender.units import in_si
from . import references
from .fitting import FitProperties
from .joint_shape import JointShape
from .joint_types import TYPES, grid_directions
from .joints import JointPart, JointProperties, has_surface


def read_joint(scene: Scene, item: Object) -> physics_access.Joint:
    """The joint of physics that an Empty describes; ModelError names the Empty."""
    settings = item.condyle.joint
    try:
        if settings.type != "composite":
            return read_shape(scene, item, settings)
        parts = tuple(read_shape(scene, item, part) for part in settings.parts)
        joint = physics_access.physics().joints.Composite(joints=parts)
        return physics_access.physics().joints.Inverted(joint) if settings.inverted else joint
    except (physics_access.physics().ModelError, physics_access.physics().FormatError) as error:
        raise model_error(f"joint {item.name!r}: {error}") from error


def child_in_joint(item: Object) -> np.ndarray:
    """Pose (4, 4) of the child in the joint's frame at coordinates 0, in Blender units."""
    matrix = np.array(item.condyle.joint.child_in_joint, dtype=np.float64).reshape(4, 4)
    return units.split_scale(matrix, f"rest pose of joint {item.name!r}")[0]


def frame_of_child(item: Object, child: references.Body) -> np.ndarray:
    """World pose (4, 4) of a joint's moving frame at its child's present pose, in Blender units; control frames are
    compared with it.
    """
    pose = units.split_scale(child.matrix, child.name, child.owner)[0]
    return pose @ physics_access.physics().lie.inverse(child_in_joint(item))


def start_of(item: Object, joint: physics_access.Joint) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (n,) and velocities (n,) at the start values of a joint's readings."""
    rows = item.condyle.joint.coordinates
    start = np.array([row.start for row in rows], dtype=np.float64)
    speed = np.array([row.start_speed for row in rows], dtype=np.float64)
    speed[list(joint.prescribed)] = 1.0  # time
    q = np.asarray(joint.from_readings(start))
    if joint.reading_names == joint.coordinate_names:
        return q, speed
    step = 1e-6  # central differences of analytic functions, with a relative error of 1e-10
    after, before = joint.from_readings(start + step * speed), joint.from_readings(start - step * speed)
    return q, (after - before) / (2.0 * step)


def starts_as_set(scene: Scene, item: Object) -> bool:
    """Whether a joint starts from its start values, not from its animation."""
    own = item.condyle.joint.start_from
    return bool((scene.condyle.start.source if own == "SCENE" else own) == "SETTINGS")


def read_shape(scene: Scene, item: Object, shape: Any) -> physics_access.Joint:
    """The joint of physics for a joint's settings, or for one part of a composite."""
    joints = physics_access.physics().joints
    if shape.type in FRAMED:
        owner = shape.frames_of or item
        if not references.in_scene(scene, owner):
            raise model_error(f"the Empty {owner.name!r}, whose control points it uses, is not in the scene")
        joint = FRAMED[shape.type](scene, owner, shape)
    elif shape.type == "custom":
        described = json_object(shape.custom_text, "its description")
        joint = physics_access.part("joints").from_dict({**described, "type": "custom"})
    else:
        metres = units.length_scale(scene)
        values = {name: in_si(JointShape, shape, name, metres) for name in TYPES[shape.type].settings}
        convert = ARGUMENTS.get(shape.type)
        joint = joints.REGISTRY[shape.type](**(convert(values, shape) if convert else values))
    return joints.Inverted(joint) if shape.inverted else joint


def _spherical(values: dict[str, Any], shape: JointShape) -> dict[str, Any]:
    joints = physics_access.physics().joints
    if values["ball_limit"] == "CONE":
        return {"limit": joints.ReachCone(in_si(JointShape, shape, "axis", 1.0), shape.cone_angle)}
    if values["ball_limit"] == "ROTATION":
        most = in_si(JointShape, shape, "rotation_limit", 1.0)
        return {"limit": joints.RotationLimit(np.minimum(most, np.pi))}
    return {}


LAWS = ("elastic", "viscosity", "damper")  # of coordinates

#: arguments of physics' classes from a type's settings, by their names, where those are no arguments themselves
ARGUMENTS: dict[str, Callable[[dict[str, Any], Any], dict[str, Any]]] = {
    "universal": lambda values, _: {"axis_1": values["axis"], "axis_2": values["axis_2"]},
    "elliptic": lambda values, _: dict(zip("ab", values["semi_axes"])),
    "ellipsoid": lambda values, _: dict(zip("abc", values.pop("semi_axes"))) | values,
    "scapulothoracic": lambda values, _: {"radii": values.pop("semi_axes")} | values,
    "spherical": _spherical,
}


def json_object(text: str, what: str) -> dict[str, Any]:
    """A stored description of a part of physics; ModelError that begins with `what` if it is none."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise model_error(f"{what} is not JSON ({error}): {text!r:.60}") from error
    if not isinstance(found, dict):
        raise model_error(f"{what} must be a JSON object, got {text!r:.60}")
    return found


def laws_of(item: Object) -> dict[str, list[Any]]:
    """Elastic laws, viscosities and dampers of a joint's coordinates, as descriptions; ModelError if one is none."""
    rows = item.condyle.joint.coordinates
    given = [json_object(row.laws, f"joint {item.name!r}: Laws") if row.laws else {} for row in rows]
    unknown = next((name for laws in given for name in laws if name not in LAWS), None)
    if unknown is not None:
        raise model_error(f"joint {item.name!r}: Laws has {unknown!r:.60}; there are {', '.join(LAWS)}")
    return {name: [laws.get(name) for laws in given] for name in LAWS}


def control_frames(scene: Scene, item: Object) -> np.ndarray:
    """Control frames (m, 4, 4) of a spline joint in its own frame, in Blender units.

    Raises:
        ModelError: an Empty is missing, or its matrix is not rigid.
    """
    settings = item.condyle.joint
    base = physics_access.physics().lie.inverse(
        units.split_scale(item.matrix_world, f"joint {item.name!r}", item)[0]
    )
    poses = []
    for number, frame in enumerate(settings.frames):
        if not references.in_scene(scene, frame.object):
            remedy = "build the grid again" if has_surface(settings) else "remove it from the list"
            raise model_error(f"control point {number} was deleted: undo that, or {remedy}")
        name = f"control point {number} ({frame.object.name!r})"
        poses.append(base @ units.split_scale(frame.object.matrix_world, name, frame.object)[0])
    return np.array(poses).reshape(-1, 4, 4)


def _read_curve(
    scene: Scene, owner: Object, _shape: JointPart | JointProperties
) -> physics_access.SplineCurve:
    settings = owner.condyle.joint
    frames = units.to_metres(control_frames(scene, owner), scene)
    if not len(frames):
        raise model_error("it has no control points: fit it to keyframes, or add some under Curve")
    if len(frames) < settings.order:
        raise model_error(
            f"it has {len(frames)} control points, but a curve of order {settings.order} needs at least "
            f"{settings.order}: add some under Curve, or lower its Order"
        )
    return physics_access.physics().joints.SplineCurve(
        frames,
        order=settings.order,
        knots=stored_knots(settings),
        periodic=settings.periodic,
        outside=settings.outside,
        length_scale=settings.length_scale * units.length_scale(scene),
        **_coordinate(settings.fit),
    )


def _coordinate(fit: FitProperties) -> dict[str, Any]:
    """Arguments for the coordinate of a curve; by arc length also the metric of the fit, if it is not the default."""
    if fit.coordinate == "ANGLE":
        return {"coordinate": "angle", "axis": np.array(fit.angle_axis, dtype=np.float64)}
    if fit.coordinate == "ARC_LENGTH":
        metric = np.zeros((6, 6))
        metric[np.triu_indices(6)] = fit.metric_values
        whole = metric + np.triu(metric, 1).T
        return {"coordinate": "arc_length", "metric": whole if whole.any() else None}
    return {}


def _read_surface(scene: Scene, owner: Object, shape: JointProperties) -> physics_access.SplineSurface:
    settings = owner.condyle.joint
    grid = tuple(settings.grid)
    if len(settings.frames) != np.prod(grid):
        raise model_error(
            f"its surface needs {' x '.join(map(str, grid))} control points, but has {len(settings.frames)}: "
            "build its grid again"
        )
    count = grid_directions(grid)
    frames = units.to_metres(control_frames(scene, owner), scene).reshape(*grid[:count], 4, 4)
    return physics_access.physics().joints.SplineSurface.from_frames(
        frames,
        sequence=shape.sequence,
        rotation_first=shape.rotation_first,
        order=tuple(settings.grid_orders)[:count],
        periodic=tuple(settings.grid_periodic)[:count],
        knots=_timed(settings, stored_grid_knots(settings)),
        moving=settings.moving and count > 1,
        outside="error" if settings.outside == "error" else "extend",
    )


FRAMED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "spline_curve": _read_curve,
    "spline_surface": _read_surface,
}


def stored_knots(settings: JointProperties) -> np.ndarray | None:
    """Knots (m + order,) of a fit; None without any for this number of frames, for natural parameterization."""
    count = len(settings.frames)
    if len(settings.knots) != count + settings.order:
        return None
    knots = np.array([knot.value for knot in settings.knots], dtype=np.float64)
    return _closed(knots, count, settings.order) if settings.periodic else knots


def stored_grid_knots(settings: JointProperties) -> list[np.ndarray] | None:
    """Knots of a fit for each direction of a surface; None without any for this grid, for uniform knots."""
    count = grid_directions(tuple(settings.grid))
    sizes, orders = settings.grid[:count], settings.grid_orders[:count]
    lengths = [size + order for size, order in zip(sizes, orders)]
    if len(settings.knots) != sum(lengths):
        return None
    values = np.array([knot.value for knot in settings.knots], dtype=np.float64)
    knots = np.split(values, np.cumsum(lengths)[:-1])
    return [
        _closed(each, size, order) if closed else each
        for each, size, order, closed in zip(knots, sizes, orders, settings.grid_periodic)
    ]


def _timed(settings: JointProperties, knots: list[Any] | None) -> list[Any] | None:
    """Knots of each direction of a surface; those of time, the last direction, scaled to its seconds."""
    count = grid_directions(tuple(settings.grid))
    size, order = settings.grid[count - 1], settings.grid_orders[count - 1]
    if not settings.moving or count == 1 or settings.line_seconds == 0.0 or size < order:
        return knots
    closed, splines = settings.grid_periodic[count - 1], physics_access.part("geometry.splines")
    *others, times = [None] * count if knots is None else knots
    if times is None:
        times = (splines.periodic_knots if closed else splines.clamped_knots)(size, order)
    begin = times[order - 1]
    length = times[size] - (times[0] if closed else begin)
    lines = size if closed else size - 1
    return [*others, begin + (times - begin) * (settings.line_seconds * lines / length)]


def _closed(knots: np.ndarray, count: int, order: int) -> np.ndarray:
    """Knots of a closed direction with exact periods, which float32 storage rounds."""
    knots[count:] = knots[:order] + (knots[count] - knots[0])
    return knots
