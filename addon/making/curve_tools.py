"""Spreads a curve's control frames evenly, or reverses the curve. The path is kept; its small change is reported.

A cumulative spline through the reversed frames is another path, since rotations do not commute. So both operations fit
a new curve to close samples of the old one, and convert limits, rest, start, slider and keys to its coordinate.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ..blender import compat, compute_process, physics_access, units
from ..blender.compute_process import Steps
from ..blender.physics_access import model_error
from ..data import references
from ..data import stored_joints as joints
from ..data.joints import PROPERTY, shapes
from ..posing import keep_sliders
from ..sliders import sliders
from . import bodies_and_joints, joint_frames

#: per control frame: poses of the old curve to fit, and samples to measure its length
SAMPLES, PLACES = 12, 64
# BETWEEN: a pose lies between two frames if the detour through it is less than this share of its distance from the
# nearer end of the curve. This holds for poses on a cubic curve, up to 0.1 of a step from its frames, and not for the
# way back of a hairpin. AHEAD: a pose extends the start if it turns by less than 60 degrees there.
BETWEEN, AHEAD, ON = 1.0 / 6.0, 0.5, 1e-3
#: f-curve modifiers whose numbers are in units of the keyed property
MEASURED = {"GENERATOR", "FNGENERATOR", "ENVELOPE", "NOISE", "LIMITS"}
SAME = 1e-4  # relative tolerance of equal distances: poses set by hand are float32

Map = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Reshaped:
    """Result of a reshaped curve.

    Attributes:
        joint_name: its Empty. num_frames: its new number of control frames.
        distance, angle: largest deviation from the old curve, in millimetres and degrees.
        unevenness: ratio of longest to shortest step between neighbouring control frames, before and after.
        warnings: settings that were not converted, one line each.
    """

    joint_name: str
    num_frames: int
    distance: float
    angle: float
    unevenness: tuple[float, float]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Wanted:
    """A curve to fit: samples (n, 4, 4) of the old one at parameters q (n,) of the new one, its knots and end, and its
    parameter as a function of the old one.
    """

    poses: np.ndarray
    q: np.ndarray
    knots: np.ndarray
    end: float
    map: Map


def reverse(scene: Scene, item: Object) -> Steps[Reshaped]:
    return (yield from _reshape(scene, item, reversed_curve))


def even_out(scene: Scene, item: Object, num_frames: int = 0) -> Steps[Reshaped]:
    """Steps that spread control frames evenly along their curve; num_frames 0 keeps their number."""
    return (yield from _reshape(scene, item, lambda curve: evened(curve, num_frames)))


def own_curve(scene: Scene, item: Object) -> physics_access.SplineCurve | None:
    """The spline curve of physics of a joint, in metres; ModelError unless it is one with its own control frames."""
    settings = item.condyle.joint
    if settings.type != "spline_curve" or settings.frames_of is not None:
        raise model_error(f"joint {item.name!r} must be a spline curve with control points")
    joint: Any = joints.read_joint(scene, item)
    return joint.joint if settings.inverted else joint


def plain(curve: physics_access.SplineCurve) -> physics_access.SplineCurve:
    """The same path with the knots' parameter as its coordinate."""
    return physics_access.physics().joints.SplineCurve(
        curve.frames, curve.order, curve.knots, curve.periodic, "extend", curve.length_scale
    )


def reversed_curve(curve: physics_access.SplineCurve) -> Wanted:
    """The curve reversed, with the same range of parameters."""
    path, order, count = plain(curve), curve.order, len(curve.frames)
    first, last = path.domain
    at = _spread(first, last, SAMPLES * count, curve.periodic)
    poses, knots = path.transform(at[:, None])[::-1], curve.knots
    if curve.periodic:  # an endless sequence: the ends of the range change places
        knots = np.concatenate([knots, knots[order : 2 * order - 1] + path.period])[order - 1 :]
        poses = np.roll(poses, 1, axis=0)
    return Wanted(poses, at, (first + last - knots)[::-1], last, lambda u: first + last - u)


def evened(curve: physics_access.SplineCurve, num_frames: int = 0) -> Wanted:
    """A curve with control frames evenly spaced in its metric; its parameter is the length in that metric."""
    path, count = plain(curve), num_frames or len(curve.frames)
    lie, splines = physics_access.physics().lie, physics_access.part("geometry.splines")
    first, last = path.domain
    grid = np.linspace(first, last, PLACES * len(curve.frames) + 1)
    poses = path.transform(grid[:, None])
    steps = curve.twist_metric.norm(lie.log(lie.inverse(poses[:-1]) @ poses[1:]))
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    at = _spread(0.0, lengths[-1], SAMPLES * count, curve.periodic)
    samples = path.transform(np.interp(at, lengths, grid)[:, None])
    if curve.periodic:
        knots = splines.periodic_knots(count, curve.order, 0.0, lengths[-1])
    else:
        knots = splines.averaged_knots(np.linspace(0.0, lengths[-1], count), curve.order)
    period = path.period

    def to_length(u: np.ndarray) -> np.ndarray:
        turns = np.floor((u - first) / period) if period else np.zeros_like(u)
        inside = np.clip(u - turns * period, first, last)
        rates = np.array([lengths[1] - lengths[0], lengths[-1] - lengths[-2]]) / (grid[1] - grid[0])
        beyond = u - turns * period - inside  # linear extrapolation
        found: np.ndarray = np.interp(inside, grid, lengths) + np.where(beyond < 0.0, *rates) * beyond
        return found + turns * lengths[-1]

    return Wanted(samples, at, knots, float(lengths[-1]), to_length)


def _spread(first: float, last: float, count: int, closed: bool) -> np.ndarray:
    """Even places (count,) from first to last; without the end of a closed curve, which equals its start."""
    return np.linspace(first, last, count, endpoint=not closed)


def unevenness(curve: physics_access.SplineCurve) -> float:
    """Ratio of longest to shortest step between neighbouring control frames of a curve, in its metric."""
    distances = physics_access.part("joints.spline_curve").frame_distances(
        curve.frames, curve.twist_metric, curve.periodic
    )
    return float(distances.max() / distances.min())


def _reshape(
    scene: Scene, item: Object, make: Callable[[physics_access.SplineCurve], Wanted]
) -> Steps[Reshaped]:
    scene_uid, item_uid, name = scene.session_uid, item.session_uid, item.name
    old = own_curve(scene, item)
    wanted = make(old)
    keywords: dict[str, Any] = {"metric": old.metric} if old.metric is not None else {}
    if old.metric is None:
        keywords["length_scale"] = old.length_scale
    if old.periodic:
        keywords["end"] = wanted.end
    else:
        keywords["pinned"] = [0, len(wanted.q) - 1]
    if old.coordinate != "parameter":
        keywords["coordinate"] = old.coordinate
    if old.axis is not None:
        keywords["axis"] = old.axis
    requests = physics_access.part("worker.requests")
    answer = yield requests.fit_curve(
        compute_process.client(),
        wanted.poses,
        q=wanted.q,
        knots=wanted.knots,
        num_frames=len(wanted.knots) - old.order,
        order=old.order,
        periodic=old.periodic,
        **keywords,
    )
    fit = requests.fit_curve_answer(answer)
    scene, item = references.find_scene(scene_uid), references.find_joint(item_uid, name)

    def convert(readings: np.ndarray) -> np.ndarray:
        return fit.joint.coordinate_at(wanted.map(old.parameter_at(readings)))

    warnings = left_alone(scene, item)
    place(scene, item, fit.joint, convert)
    return Reshaped(
        name,
        len(fit.joint.frames),
        1e3 * float(fit.residuals.translation.max()),
        float(np.degrees(fit.residuals.rotation.max())),
        (unevenness(old), unevenness(fit.joint)),
        tuple(warnings),
    )


def place(scene: Scene, item: Object, curve: physics_access.SplineCurve, convert: Map) -> None:
    """Replace the curve of a joint by another (in metres), and convert all values of its coordinate."""
    with joint_frames.sliders_later(item.condyle.joint):
        bodies_and_joints.set_control_frames(scene, item, units.to_blender(curve.frames, scene), curve.knots)
        convert_coordinate(item, convert)
    keep_sliders.shape_changed(bpy.context.scene, item)


def convert_coordinate(item: Object, convert: Map) -> None:
    """Convert all values of the coordinate of a curve's joint to another coordinate."""
    settings = item.condyle.joint

    def one(value: float) -> float:
        return float(convert(np.array([value], dtype=np.float64))[0])

    def rate(value: float) -> float:
        return (one(value + 1e-4) - one(value - 1e-4)) / 2e-4

    row = settings.coordinates[0]
    row.lower, row.upper = sorted((one(row.lower), one(row.upper)))
    pace = rate(row.start)
    row.rest, row.start, row.start_speed = one(row.rest), one(row.start), pace * row.start_speed
    row.torque /= pace  # keeps the power, and with the next lines the motion near the start
    for name in ("stiffness", "damping", "armature", "limit_stiffness", "limit_damping"):
        setattr(row, name, getattr(row, name) / pace**2)
    for pose in settings.fit.residuals:
        pose.q = (one(pose.q[0]), *tuple(pose.q)[1:])
    if not isinstance(item.get(PROPERTY), float):
        return
    item[PROPERTY] = one(item[PROPERTY])
    for curve in compat.curves_in_use(item):
        if curve.data_path != f'["{PROPERTY}"]':
            continue
        for key in curve.keyframe_points:
            before, after, slope = key.co.y, one(key.co.y), rate(key.co.y)
            for handle in (key.handle_left, key.handle_right):
                handle.y = after + slope * (handle.y - before)
            key.co.y = after
        curve.update()


def left_alone(scene: Scene, item: Object) -> list[str]:
    """Warnings about everything that uses a joint's coordinate and is not converted to the new one."""
    notes = [
        f"{other.name} couples this joint: check its ratio"
        for other in references.connections_of(scene)
        if item in (other.condyle.connection.coupling.joint, other.condyle.connection.coupling.leader)
    ]
    notes += [
        f"{other.name} uses the control points of this joint: check its slider"
        for other in references.joints_of(scene)
        if any(shape.frames_of == item for shape in shapes(other.condyle.joint))
    ]
    notes += [
        f"{other.name} is excited by this joint: check the target, gain and damping of its controller"
        for other in scene.objects
        if other.type == "CURVE" and other.condyle.muscle.excited_by == "CONTROLLER"
        if other.condyle.muscle.control.joint == item
    ]
    notes += [
        f"{other.name} has feedback laws with this joint's coordinate: check their gain and level"
        for other in references.joints_of(scene)
        if any((law.signal_joint or other) == item for law in other.condyle.joint.feedback_laws)
    ]
    if item.animation_data is not None and len(item.animation_data.nla_tracks):
        notes.append("Keys of the slider in NLA strips are unchanged")
    if sliders.driven_sliders(item):
        notes.append("The driver of the slider is unchanged: the child may move")
    kinds = {
        each.type
        for curve in compat.curves_in_use(item)
        if curve.data_path == f'["{PROPERTY}"]'
        for each in curve.modifiers
        if not each.mute
    }
    if kinds & MEASURED:
        notes.append("Modifiers of the slider's keys are unchanged: the child may move")
    if any(curve.data_path.endswith(".torque") for curve in compat.curves_in_use(item)):
        notes.append("Keys of the torque are unchanged")
    return notes


def duplicate(scene: Scene, item: Object, index: int, share: float = 0.25) -> Object:
    """Copy control frame number `index` and insert the copy after it; returns its Empty.

    The copy is moved by a share of the step to the next frame (of the last step, after the last frame), since a curve
    cannot have coinciding frames.
    """
    frames = joints.control_frames(scene, item)
    if not 0 <= index < len(frames):
        raise model_error(f"joint {item.name!r} has no control point {index}")
    lie = physics_access.physics().lie
    if len(frames) == 1:
        step = np.eye(4)
        step[:3, 3] = item.empty_display_size, 0.0, 0.0
    elif index + 1 < len(frames) or item.condyle.joint.periodic:
        step = lie.inverse(frames[index]) @ frames[(index + 1) % len(frames)]
    else:
        step = lie.inverse(frames[-2]) @ frames[-1]
    pose = joint_frames.pose_of(item) @ frames[index] @ lie.exp(share * lie.log(step))
    return bodies_and_joints.add_control_frame(scene, item, pose, index + 1)


def index_in_order(scene: Scene, item: Object, matrix: Matrix | np.ndarray, anywhere: bool = False) -> int:
    """Index at which to insert a pose (world matrix) as a control frame.

    This is the end, unless the pose lies clearly between two frames or extends the start: a curve added pose by pose
    keeps its order. In a closed curve, or with `anywhere` (for a copy that was moved), it is the place that lengthens
    the chain of frames least.
    """
    frames = joints.control_frames(scene, item)
    if len(frames) < 2:
        return len(frames)
    settings = item.condyle.joint
    lie = physics_access.physics().lie
    metric = physics_access.part("geometry.twist_metric").TwistMetric.of_length(settings.length_scale)
    pose = lie.inverse(joint_frames.pose_of(item)) @ units.split_scale(matrix, "the control point")[0]
    away = metric.norm(lie.log(lie.inverse(frames) @ pose))
    following = np.roll(frames, -1, axis=0)
    steps = metric.norm(lie.log(lie.inverse(frames) @ following))
    longer = away + np.roll(away, -1) - steps
    if settings.periodic:
        return int(np.argmin(longer)) + 1
    if anywhere:
        costs = np.array([away[0], *longer[:-1], away[-1]])
        shortest = int(np.argmin(costs))
        return len(frames) if away[-1] <= (1.0 + SAME) * costs[shortest] else shortest
    # excludes places beside a coinciding frame: a curve cannot have coinciding frames
    longer[np.minimum(away, np.roll(away, -1)) < ON * steps] = np.inf
    best = int(np.argmin(longer[:-1]))
    if longer[best] < BETWEEN * min(away[0], away[-1]):
        return best + 1
    is_nearer = (1.0 + SAME) * away[0] < away[-1]
    return 0 if is_nearer and away[0] + steps[0] - away[1] < AHEAD * away[0] else len(frames)


def rename_frames(item: Object) -> None:
    """Rename the Empties of a curve's control frames by their numbers, except those that the user has renamed."""
    pattern = re.compile(rf"{re.escape(item.name)} Frame \d+(\.\d+)?")
    names = {
        frame.object: bodies_and_joints.frame_name(item, number)
        for number, frame in enumerate(item.condyle.joint.frames)
        if frame.object is not None and pattern.fullmatch(frame.object.name)
    }
    joint_frames.rename(item, names)
