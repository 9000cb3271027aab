"""Control frames of the presets that are curves: knee, jaw, wire. In the joint's frame, Blender units."""

from dataclasses import dataclass, field

import bpy
import numpy as np
from bpy.types import Object

from ..anatomy.demo_meshes import knee_poses
from ..blender import units
from ..blender.physics_access import model_error
from ..data.references import Body
from .presets import Preset
from .presets_placing import Box

SHANK = 0.43  # m from knee to ankle of the measured leg
JAW_DEGREES = np.linspace(0.0, 30.0, 6)
# Slide of the heads of a fully opened jaw, as a share of its length: 15 mm of 0.1 m, forward and down along the skull's
# tubercle (Ferrario 2005).
JAW_SLIDE = 0.15
TUBERCLE = np.radians(40.0)  # slope of the slide
#: from the published motion's axes (forward, left, up) to a joint's: x to the left, z up
JOINT_FROM_ANATOMY = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
LEAST_FRAMES, MOST_FRAMES = 8, 48
WIRE_TURN = np.radians(20.0)  # largest turn of the wire between control frames


@dataclass(frozen=True)
class Curve:
    """Control frames (m, 4, 4) of a preset.

    Attributes:
        length_scale: length equivalent to a radian. closed: whether it is periodic. angle: whether its coordinate is
            the angle about x. in_parent: whether the joint's frame is the parent's own.
    """

    frames: np.ndarray = field(default_factory=lambda: np.empty((0, 4, 4)))
    length_scale: float = 1.0
    closed: bool = False
    angle: bool = False
    in_parent: bool = False


def of(preset: Preset, parent: Body, child: Box) -> Curve:
    """The curve of a preset; without frames for other presets.

    Raises:
        ModelError: the wire is not a curve object, or too short.
    """
    # of a bone its length, though a short one is drawn wider
    size = 2.0 * float(child.half.max() if child.head is None else child.half[1])
    if preset.name == "knee":
        return knee(size)
    if preset.name == "jaw":
        return jaw(size)
    if preset.anchor == "WIRE":
        return wire(parent, size)
    return Curve()


def knee(length: float) -> Curve:
    """The published motion of a knee, scaled to a shin's length."""
    poses = knee_poses()
    poses = np.linalg.inv(poses[0]) @ poses
    turned = np.eye(4)
    turned[:3, :3] = JOINT_FROM_ANATOMY
    poses = turned @ poses @ turned.T
    poses[:, :3, 3] *= length / SHANK
    return Curve(poses, 0.1 * length, angle=True)


def jaw(length: float) -> Curve:
    """Rotation that increasingly slides forward and down."""
    angle = np.radians(JAW_DEGREES)
    share = angle / angle[-1]
    slide = JAW_SLIDE * length * share**2 * (3.0 - 2.0 * share)
    frames = np.tile(np.eye(4), (len(angle), 1, 1))
    frames[:, 1, 1] = frames[:, 2, 2] = np.cos(angle)
    frames[:, 2, 1], frames[:, 1, 2] = np.sin(angle), -np.sin(angle)
    frames[:, 1, 3], frames[:, 2, 3] = slide * np.sin(TUBERCLE), -slide * np.cos(TUBERCLE)
    return Curve(frames, 0.5 * length, angle=True)


def wire(parent: Body, size: float) -> Curve:
    """Frames along a curve object with x as the tangent and minimal rotation about it."""
    if parent.bone or parent.object.type != "CURVE":
        raise model_error(
            f"{parent.name} is not a curve, but a bead needs one as its wire: select a curve object and the bead, or "
            "nothing"
        )
    points, closed = points_of(parent.object)
    points = points * units.split_scale(parent.matrix, parent.name, parent.owner)[1]
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = float(steps.sum())
    if not length > 0.0:
        raise model_error(f"the curve {parent.name} has no length: move its points apart")
    chords = np.diff(points, axis=0)[steps > 1e-9 * length]
    directions = chords / np.linalg.norm(chords, axis=1)[:, None]
    turns = np.arccos(np.clip((directions[:-1] * directions[1:]).sum(axis=1), -1.0, 1.0)).sum()
    count = int(np.clip(np.ceil(turns / WIRE_TURN) + 4, LEAST_FRAMES, MOST_FRAMES))
    reached = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.linspace(0.0, length, count + closed)[:count]
    places = np.column_stack([np.interp(at, reached, column) for column in points.T])
    # places are on the wire itself; directions are those between points a hundredth of the wire before and after
    near = 0.01 * length
    wrapped = [np.mod(s, length) if closed else np.clip(s, 0.0, length) for s in (at + near, at - near)]
    ends = [np.column_stack([np.interp(s, reached, column) for column in points.T]) for s in wrapped]
    return Curve(transported(places, ends[0] - ends[1], closed), size, closed=closed, in_parent=True)


def points_of(item: Object) -> tuple[np.ndarray, bool]:
    """The first spline of a curve object as a polyline (n, 3) in its own axes, and whether it is closed.

    A closed polyline ends with its first point.
    """
    data = item.data.copy()
    data.bevel_depth = data.extrude = 0.0
    data.bevel_object, data.bevel_mode = None, "ROUND"
    bare = bpy.data.objects.new("Condyle wire", data)
    mesh = bpy.data.meshes.new_from_object(bare)
    try:
        points = np.array([vertex.co for vertex in mesh.vertices], dtype=np.float64).reshape(-1, 3)
        edges = {tuple(sorted(edge.vertices)) for edge in mesh.edges}
    finally:
        bpy.data.meshes.remove(mesh)
        bpy.data.objects.remove(bare)
        bpy.data.curves.remove(data)
    last = 0
    while (last, last + 1) in edges:
        last += 1
    if last < 1:
        raise model_error(f"the curve {item.name} needs at least two points")
    closed = last > 1 and (0, last) in edges
    points = points[: last + 1]
    return (np.vstack([points, points[:1]]) if closed else points), closed


def transported(places: np.ndarray, ahead: np.ndarray, closed: bool) -> np.ndarray:
    """Frames (m, 4, 4) at places (m, 3) with tangents x `ahead` (m, 3), and y by parallel transport.

    The total twist of a closed wire is distributed evenly, so that its end matches its start.
    """
    ahead = ahead / np.linalg.norm(ahead, axis=1)[:, None]
    side = np.cross(ahead[0], np.eye(3)[np.argmin(np.abs(ahead[0]))])
    sides = []
    for direction in (*ahead, *ahead[:closed]):
        side = side - (side @ direction) * direction
        side = side / np.linalg.norm(side)
        sides.append(side)
    twist = 0.0
    if closed:
        up = np.cross(ahead[0], sides[0])
        twist = float(np.arctan2(sides[-1] @ up, sides[-1] @ sides[0]))
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    for k, (place, x, y) in enumerate(zip(places, ahead, sides)):
        back = -twist * k / len(places)
        z = np.cross(x, y)
        turned = np.cos(back) * y + np.sin(back) * z
        frames[k, :3, :3] = np.column_stack([x, turned, np.cross(x, turned)])
        frames[k, :3, 3] = place
    return frames
