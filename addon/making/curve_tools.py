"""A curve's control frames evened out, or the curve run the other way. The path stays; how far it moved is told.

A cumulative spline through the same frames in reverse order is another path, since rotations do not commute. So both
are fits to the curve as it is, sampled closely. What is set in its coordinate goes along: limits, rest, start, slider,
keys.
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
from ..data import references
from ..data.joints import PROPERTY, shapes
from ..posing import keep_sliders
from ..reading import joints
from ..sliders import sliders
from . import bodies_and_joints

#: poses of the old curve that the new one is fitted to, and places where its length is measured, a control frame
SAMPLES, PLACES = 12, 64
# A pose lies clearly between two frames where the way over it is longer by less than this share of the step from the
# nearer end: a cubic curve leaves its control frames by up to 0.1 of a step, its poses must be found again; the way
# back beside a hairpin must not. A pose continues the beginning where it turns by less than 60 degrees there.
BETWEEN, AHEAD, ON = 1.0 / 6.0, 0.5, 1e-3
#: modifiers of keys whose numbers are in units of what is keyed
MEASURED = {"GENERATOR", "FNGENERATOR", "ENVELOPE", "NOISE", "LIMITS"}
SAME = 1e-4  # two ways are as long: poses that are set by hand come in single precision

Map = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Reshaped:
    """What became of a curve.

    Attributes:
        joint_name: its Empty. num_frames: control frames that it has now.
        distance, angle: how far it left the old curve at most, in millimetres and degrees.
        unevenness: longest step between neighbouring control frames over the shortest, before and now.
        warnings: what was left as it was, one line each.
    """

    joint_name: str
    num_frames: int
    distance: float
    angle: float
    unevenness: tuple[float, float]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a curve shall become: samples (n, 4, 4) of the old one at parameters q (n,) of the new one, its knots, and
    its parameter as a function of the old one.
    """

    poses: np.ndarray
    q: np.ndarray
    knots: np.ndarray
    end: float
    map: Map


def reverse(scene: Scene, item: Object) -> Steps[Reshaped]:
    """Steps that make a curve run from its last control frame to its first."""
    return (yield from _reshape(scene, item, reversed_curve))


def even_out(scene: Scene, item: Object, num_frames: int = 0) -> Steps[Reshaped]:
    """Steps that spread control frames evenly along their curve, as many as there are (0) or another number."""
    return (yield from _reshape(scene, item, lambda curve: evened(curve, num_frames)))


def own_curve(scene: Scene, item: Object) -> physics_access.SplineCurve | None:
    """The spline curve of physics that a joint is, in metres; ModelError where it is none with frames of its own."""
    settings = item.condyle.joint
    if settings.type != "spline_curve" or settings.frames_of is not None:
        raise physics_access.model_error(
            f"joint {item.name!r} is no spline curve with control frames of its own"
        )
    joint: Any = joints.read_joint(scene, item)
    return joint.joint if settings.inverted else joint


def plain(curve: physics_access.SplineCurve) -> physics_access.SplineCurve:
    """The same path by the parameter of its knots."""
    return physics_access.physics().joints.SplineCurve(
        curve.frames, curve.order, curve.knots, curve.periodic, "extend", curve.length_scale
    )


def reversed_curve(curve: physics_access.SplineCurve) -> Wanted:
    """A curve from its end to its beginning, over the same parameters."""
    path, order, count = plain(curve), curve.order, len(curve.frames)
    first, last = path.domain
    at = _spread(first, last, SAMPLES * count, curve.periodic)
    poses, knots = path.transform(at[:, None])[::-1], curve.knots
    if curve.periodic:  # one sequence without end, of which the first of the range and the last change places
        knots = np.concatenate([knots, knots[order : 2 * order - 1] + path.period])[order - 1 :]
        poses = np.roll(poses, 1, axis=0)
    return Wanted(
        poses,
        at,
        (first + last - knots)[::-1],
        last,
        lambda u: first + last - u,
    )


def evened(curve: physics_access.SplineCurve, num_frames: int = 0) -> Wanted:
    """A curve with control frames at even lengths along it, in its metric; its parameter is that length."""
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
        rates = (
            (lengths[1] - lengths[0]) / (grid[1] - grid[0]),
            (lengths[-1] - lengths[-2]) / (grid[1] - grid[0]),
        )
        beyond = u - turns * period - inside  # it goes on straight
        found: np.ndarray = np.interp(inside, grid, lengths) + np.where(beyond < 0.0, *rates) * beyond
        return found + turns * lengths[-1]

    return Wanted(samples, at, knots, float(lengths[-1]), to_length)


def _spread(first: float, last: float, count: int, closed: bool) -> np.ndarray:
    """Even places (count,) from first to last; of a closed curve the end is the beginning and left out."""
    return np.linspace(first, last, count, endpoint=not closed)


def unevenness(curve: physics_access.SplineCurve) -> float:
    """Longest step between neighbouring control frames of a curve over the shortest, in its metric."""
    distances = physics_access.part("joints.spline_curve").frame_distances(
        curve.frames, curve.twist_metric, curve.periodic
    )
    return float(distances.max() / distances.min())


def _reshape(scene: Scene, item: Object, make: Callable[[Any], Wanted]) -> Steps[Reshaped]:
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
        converted: np.ndarray = fit.joint.coordinate_at(wanted.map(old.parameter_at(readings)))
        return converted

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
    """Put a curve (in metres) in the place of a joint's own, with all that is set in its coordinate."""
    settings = item.condyle.joint
    driven, settings.driven = settings.driven, False  # the slider follows once, at the end
    try:
        bodies_and_joints.set_control_frames(scene, item, units.to_blender(curve.frames, scene), curve.knots)
        convert_coordinate(item, convert)
    finally:
        settings.driven = driven
    keep_sliders.shape_changed(bpy.context.scene, item)


def convert_coordinate(item: Object, convert: Map) -> None:
    """Give everything that is set in the coordinate of a curve's joint its value in another coordinate."""
    settings = item.condyle.joint

    def one(value: float) -> float:
        return float(convert(np.array([value], dtype=np.float64))[0])

    def rate(value: float) -> float:
        return (one(value + 1e-4) - one(value - 1e-4)) / 2e-4

    row = settings.coordinates[0]
    row.lower, row.upper = sorted((one(row.lower), one(row.upper)))
    pace = rate(row.start)
    row.rest, row.start, row.start_speed = one(row.rest), one(row.start), pace * row.start_speed
    row.torque /= pace  # the same power, and with what follows the same motion near the start
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
    """What refers to the coordinate of a joint and does not follow when that counts otherwise."""
    told = [
        f"{other.name} couples this joint: check its ratio"
        for other in references.connections_of(scene)
        if item in (other.condyle.connection.coupling.joint, other.condyle.connection.coupling.leader)
    ]
    told += [
        f"{other.name} takes its frames from here: check its slider"
        for other in references.joints_of(scene)
        if any(shape.frames_of == item for shape in shapes(other.condyle.joint))
    ]
    told += [
        f"{other.name} is excited by this joint: check the target, gain and damping of its controller"
        for other in scene.objects
        if other.type == "CURVE" and other.condyle.muscle.excited_by == "CONTROLLER"
        if other.condyle.muscle.control.joint == item
    ]
    if item.animation_data is not None and len(item.animation_data.nla_tracks):
        told.append("Keys of the slider in NLA strips stay as they are")
    if sliders.driven_sliders(item):
        told.append("The driver of the slider stays as it is: the child may move")
    kinds = {
        each.type
        for curve in compat.curves_in_use(item)
        if curve.data_path == f'["{PROPERTY}"]'
        for each in curve.modifiers
        if not each.mute
    }
    if kinds & MEASURED:
        told.append("Modifiers of the slider's keys stay as they are: the child may move")
    if any(curve.data_path.endswith(".torque") for curve in compat.curves_in_use(item)):
        told.append("Keys of the torque stay as they are")
    return told


def duplicate(scene: Scene, item: Object, index: int, share: float = 0.25) -> Object:
    """A copy of control frame number `index` behind it, a share of the way to the next one (behind the last: beyond it,
    by a share of the last step); returns its Empty.

    Frames that coincide make no curve, so the copy never stands where its original does.
    """
    frames = joints.control_frames(scene, item)
    if not 0 <= index < len(frames):
        raise physics_access.model_error(f"joint {item.name!r} has no control frame {index}")
    lie = physics_access.physics().lie
    if len(frames) == 1:
        step = np.eye(4)
        step[:3, 3] = item.empty_display_size, 0.0, 0.0
    elif index + 1 < len(frames) or item.condyle.joint.periodic:
        step = lie.inverse(frames[index]) @ frames[(index + 1) % len(frames)]
    else:
        step = lie.inverse(frames[-2]) @ frames[-1]
    base = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)[0]
    made = base @ frames[index] @ lie.exp(share * lie.log(step))
    return bodies_and_joints.add_control_frame(scene, item, made, index + 1)


def index_in_order(scene: Scene, item: Object, matrix: Matrix | np.ndarray, anywhere: bool = False) -> int:
    """Before which control frame a pose (world matrix) belongs: at the end, unless it lies clearly between two others,
    or before the beginning and nearer to it. In a closed curve: where the chain of frames gets longer by the least.

    So a curve that is drawn pose by pose keeps its order, also where it comes back beside itself.
    `anywhere`: the end is no likelier than other places, as of a copy that was moved off the curve; there, too, the
    chain gets longer by the least.
    """
    frames = joints.control_frames(scene, item)
    if len(frames) < 2:
        return len(frames)
    settings = item.condyle.joint
    lie, metric = (
        physics_access.physics().lie,
        physics_access.part("geometry.twist_metric").TwistMetric.of_length(settings.length_scale),
    )
    base = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)[0]
    pose = lie.inverse(base) @ units.split_scale(matrix, "the control frame")[0]
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
    # on a frame itself it is no pose between: one that coincides with its neighbour makes no curve
    longer[np.minimum(away, np.roll(away, -1)) < ON * steps] = np.inf
    best = int(np.argmin(longer[:-1]))
    if longer[best] < BETWEEN * min(away[0], away[-1]):
        return best + 1
    is_nearer = (1.0 + SAME) * away[0] < away[-1]
    return 0 if is_nearer and away[0] + steps[0] - away[1] < AHEAD * away[0] else len(frames)


def rename_frames(item: Object) -> None:
    """Call the Empties of a curve's control frames by their numbers again; those that the user has named stay."""
    pattern = re.compile(rf"{re.escape(item.name)} Frame \d+(\.\d+)?")
    ours = [
        (number, frame.object)
        for number, frame in enumerate(item.condyle.joint.frames)
        if frame.object is not None and frame.object.condyle.frame_of == item
    ]
    ours = [(number, empty) for number, empty in ours if pattern.fullmatch(empty.name)]
    wrong = [
        (number, empty) for number, empty in ours if empty.name != bodies_and_joints.frame_name(item, number)
    ]
    for number, empty in wrong:
        empty.name = f"{item.name} {number}"  # out of the way of the others' new names
    for number, empty in wrong:
        empty.name = bodies_and_joints.frame_name(item, number)
