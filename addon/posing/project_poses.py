"""A joint's coordinates from poses: those at which the joint comes nearest, over its whole range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..animation import keyed_poses, led_joints, single_pose
from ..blender import compat, compute_process, physics_access, units
from ..blender.compute_process import Steps
from ..curves import rotation_channels
from ..data import frame_times, references
from ..reading import joints
from ..sliders import sliders

#: frames that a slider of a closed joint takes from its one end to the other; keys nearer than 0.01 are one to Blender
SEAM = 0.05


@dataclass(frozen=True)
class Nearest:
    """Where a joint is nearest to poses; distances in millimetres, angles in degrees.

    Attributes:
        readings: (n, k), in SI, k what is read off the joint.
        distances, angles: how far the child is off the joint there (n,).
    """

    readings: np.ndarray
    distances: np.ndarray
    angles: np.ndarray


def set_from_pose(scene: Scene, item: Any) -> Nearest:
    """Set a joint's sliders, or where it has none its start values, by the child's pose now; blocks."""
    return compute_process.run(from_pose(scene, item))


def key_from_poses(scene: Scene, item: Any) -> Nearest:
    """Key a joint's sliders at every key of the child, so that they move it as its keys do; blocks."""
    return compute_process.run(from_keys(scene, item))


def from_pose(scene: Scene, item: Object) -> Steps[Nearest]:
    """Steps of `set_from_pose`. The child's own pose counts, not where a slider holds it."""
    scene_uid, item_uid, name = scene.session_uid, item.session_uid, item.name
    _check_own(item)
    given = keyed_poses.source_of_joint(item)
    with sliders.held_off(given.child):
        bpy.context.view_layer.update()
        pose = units.to_metres(keyed_poses.pose_now(given, given.child.name), scene)
    bpy.context.view_layer.update()
    found = yield from _project(scene, item, pose[None], np.array([scene.frame_current_final]))
    scene, item = references.find_scene(scene_uid), references.find_joint(item_uid, name)
    set_readings(scene, item, found.readings[0])
    return found


def drive_here(scene: Scene, item: Object) -> None:
    """Let a joint's sliders move the child from where it stands, or as near to that as the joint comes.

    Keyed sliders begin where they are.

    Raises:
        ModelError: as of `drive.set_driven`.
    """
    here = None
    if sliders.can_drive(item.condyle.joint) and not item.condyle.joint.driven:
        here = readings_here(scene, item)
    sliders.set_driven(scene, item, True)
    if here is not None:
        set_readings(scene, item, here)


def readings_here(scene: Scene, item: Object) -> np.ndarray | None:
    """Readings of a joint where it is nearest to its child; None where they stay as they are."""
    settings = item.condyle.joint
    paths = {f'["{name}"]' for name in sliders.slider_names(settings)}
    if sliders.driven_sliders(item) or any(curve.data_path in paths for curve in compat.curves_in_use(item)):
        return None
    joint = joints.read_joint(scene, item)
    # the time of a joint that moves by itself says where it is; a joint whose settings are not its own is refused later
    if any(joint.prescribed) or not 0 < joint.num_coordinates == len(settings.coordinates):
        return None
    given = keyed_poses.source_of_joint(item)
    after = units.to_metres(joints.child_in_joint(item), scene)
    pose = units.to_metres(
        keyed_poses.pose_now(given, given.child.name), scene
    ) @ physics_access.physics().lie.inverse(after)
    scale = settings.length_scale * units.length_scale(scene)
    if settings.type in {"spline_curve", "spline_surface"}:  # poses may lie near to several places of it
        q = physics_access.physics().project(joint, pose, bounds=_bounds(item, joint), length_scale=scale).q
    else:
        before = joint.from_readings(readings_now(scene, item))
        if single_pose.is_at(joint, before, pose):  # exactly where it was put, and at its own number of turns
            return None
        q, _, _ = single_pose.place(joint, before, pose, scale if scale > 0.0 else 1.0)
    readings: np.ndarray = joint.readings(q)
    return readings


def readings_now(scene: Scene, item: Object) -> np.ndarray:
    """Readings (n,) at which a joint's sliders stand, or where it has none yet its start values."""
    rows = item.condyle.joint.coordinates
    values = [
        item[name] * factor if isinstance(item.get(name), float) else row.start
        for row, name, factor in zip(rows, sliders.slider_names(item.condyle.joint), _factors(scene, item))
    ]
    return np.array(values, dtype=np.float64)


def from_keys(scene: Scene, item: Object) -> Steps[Nearest]:
    """Steps of `key_from_poses`. The child's keys stay; they move it again when it is no longer driven."""
    scene_uid, item_uid, name = scene.session_uid, item.session_uid, item.name
    _check_own(item)
    # where a key lies in two places of the joint, or turns lie between two keys, what is between them tells
    frames, poses, keyed = keyed_poses.keyed_motion(scene, keyed_poses.source_of_joint(item))
    moving = yield from _project(scene, item, poses, frames)
    frames = frames[keyed]
    found = Nearest(moving.readings[keyed], moving.distances[keyed], moving.angles[keyed])
    scene, item = references.find_scene(scene_uid), references.find_joint(item_uid, name)
    if item.condyle.joint.driven:
        sliders.refresh(scene, item)  # a slider of an earlier version may end where its keys do not
    else:
        sliders.set_driven(scene, item, True)
    _key(scene, item, frames, found.readings)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return found


def _check_own(item: Object) -> None:
    """ModelError where a driver says where a slider stands."""
    for name in sliders.driven_sliders(item):
        raise physics_access.model_error(
            f"joint {item.name!r}: a driver moves its slider {name!r}, whatever it is set to; remove that first"
        )


def _project(scene: Scene, item: Object, poses: np.ndarray, frames: np.ndarray) -> Steps[Nearest]:
    """Coordinates for poses (n, 4, 4) of the child in the joint's frame, in metres."""
    joint = joints.read_joint(scene, item)
    after = units.to_metres(joints.child_in_joint(item), scene)
    poses = poses @ physics_access.physics().lie.inverse(after)
    requests = physics_access.part("worker.requests")
    options = {"length_scale": item.condyle.joint.length_scale * units.length_scale(scene)}
    bounds = _bounds(item, joint)
    times = (frames - frame_times.frame_range(scene)[0]) / units.frames_per_second(scene)
    groups = [slice(None)]
    if any(joint.prescribed):  # a moving surface is another one at each time
        groups = [slice(k, k + 1) for k in range(len(poses))]
    q, distances, angles = [], [], []
    for group in groups:
        for k in np.flatnonzero(joint.prescribed):
            bounds[k] = np.clip(times[group][0], *joint.range[k])
        answer = yield requests.project(
            compute_process.client(), joint, poses[group], bounds=bounds, continuous=True, **options
        )
        found = requests.project_answer(answer)
        q.append(found.q)
        distances.append(1e3 * found.translation)
        angles.append(np.degrees(found.rotation))
    readings = joint.readings(np.concatenate(q))
    for first, sequence in joint.angle_groups:
        here = slice(first, first + 3)
        readings[:, here] = _through_lock(readings[:, here], sequence)
    return Nearest(readings, np.concatenate(distances), np.concatenate(angles))


def _through_lock(angles: np.ndarray, sequence: str) -> np.ndarray:
    """Angles (F, 3) of a motion, the middle one in half a turn, as ones that go on where it leaves that."""
    other = angles + np.pi
    other[:, 1] = (0.0 if sequence[0] == sequence[2] else np.pi) - angles[:, 1]
    return rotation_channels.one_branch(angles, other, angles[0])


def _bounds(item: Object, joint: physics_access.Joint) -> np.ndarray:
    """From where to where coordinates may go (n, 2): the joint's range, within limits of the user's own."""
    bounds = np.array(joint.range, dtype=np.float64)
    if joint.reading_names == joint.coordinate_names:
        for k, row in enumerate(item.condyle.joint.coordinates):
            if row.limits == "CUSTOM" and row.lower < row.upper:
                bounds[k] = np.clip((row.lower, row.upper), *bounds[k])
    return bounds


def _factors(scene: Scene, item: Object) -> list[float]:
    """SI units in one of each slider."""
    length = units.length_scale(scene)
    return [length if row.unit == "m" else 1.0 for row in item.condyle.joint.coordinates]


def set_readings(scene: Scene, item: Object, readings: np.ndarray) -> None:
    """Set a joint's sliders, within their limits, or where it has none its start values."""
    settings = item.condyle.joint
    if not settings.driven:
        for row, value in zip(settings.coordinates, readings):
            row.start = value
        return
    values = _inside(scene, item, readings[None])[0]
    for name, value in zip(sliders.slider_names(settings), values):
        item[name] = float(value)
    item.update_tag()
    bpy.context.view_layer.update()


def set_sliders(scene: Scene, item: Object, values: Any) -> None:
    """As `set_readings`, in the units of the sliders; values beyond their number are left out."""
    factors = np.array(_factors(scene, item))
    set_readings(scene, item, np.array(values, dtype=np.float64)[: len(factors)] * factors)


def _inside(scene: Scene, item: Object, readings: np.ndarray) -> np.ndarray:
    """Values of the sliders (n, k) for readings: what goes round is brought back by whole turns, as near to its range
    as they come; what stays outside stands at the nearer end.
    """
    joint = joints.read_joint(scene, item)
    ranges = sliders.slider_ranges(item, joint)
    vector = led_joints.vector_readings(joint)
    if vector is not None:  # beyond a slider's ends, or a limit, only that of up to half a turn is there
        lie, short = physics_access.physics().lie, readings.copy()
        short[:, vector] = lie.so3_log(lie.so3_exp(readings[:, vector]))
        outside = np.abs(np.clip(readings, *ranges.T) - readings)[:, vector].max(axis=1) > 0.0
        limited = len(joint.rotation_limits) > 0
        readings = np.where((outside | limited)[:, None], short, readings)
    values = np.clip(readings, *ranges.T)
    for k, (period, (lower, upper)) in enumerate(zip(sliders.periods(joint), ranges)):
        outside = np.abs(readings[:, k] - values[:, k]) > 1e-6 * (
            upper - lower
        )  # round-off at an end is no turn
        if period > 0.0:
            whole = period * max(1.0, np.floor((upper - lower) / period * (1.0 + 1e-9)))
            turned = readings[:, k] + whole * np.round((0.5 * (lower + upper) - readings[:, k]) / whole)
            values[outside, k] = np.clip(turned, lower, upper)[outside]
    return values / np.array(_factors(scene, item))


def _key(scene: Scene, item: Object, frames: np.ndarray, readings: np.ndarray) -> None:
    """Key the sliders in place of the keys that they have; over the seam of a closed joint they jump within a frame."""
    settings = item.condyle.joint
    values = _inside(scene, item, readings)
    joint, factors = joints.read_joint(scene, item), np.array(_factors(scene, item))
    ranges = sliders.slider_ranges(item, joint) / factors[:, None]
    periods = sliders.periods(joint) / factors
    for k, name in enumerate(sliders.slider_names(settings)):
        path = f'["{name}"]'
        for curve in [each for each in compat.curves_in_use(item) if each.data_path == path]:
            curve.keyframe_points.clear()
        turns = np.ptp(ranges[k]) / periods[k] if periods[k] > 0.0 else 0.0
        closes = turns > 0.5 and abs(turns - round(turns)) < 1e-6  # its ends are one place
        seams = _seams(frames, readings[:, k] / factors[k], values[:, k], ranges[k]) if closes else []
        for frame, value in [*zip(frames.tolist(), values[:, k].tolist()), *seams]:
            item[name] = value
            item.keyframe_insert(path, frame=frame)
        at_seam = np.array([frame for frame, _ in seams])
        for curve in [each for each in compat.curves_in_use(item) if each.data_path == path]:
            for key in curve.keyframe_points:  # smooth handles would overshoot at the step
                if len(at_seam) and np.abs(at_seam - key.co.x).min() < 0.1 * SEAM:
                    key.handle_left_type = key.handle_right_type = "VECTOR"
            curve.update()


def _seams(
    frames: np.ndarray, unrolled: np.ndarray, values: np.ndarray, ends: np.ndarray
) -> list[tuple[float, float]]:
    """Two keys for each place where values step from one end of a closed joint to the other: the last, the first."""
    period = ends[1] - ends[0]
    turns = np.round((unrolled - values) / period)
    extra = []
    for k in np.flatnonzero(np.diff(turns)):
        up = turns[k + 1] > turns[k]
        seam = ends[1 if up else 0] + turns[k] * period
        share = float((seam - unrolled[k]) / (unrolled[k + 1] - unrolled[k]))
        frame = float(frames[k] + share * (frames[k + 1] - frames[k]))
        frame = float(np.clip(frame, frames[k] + SEAM, frames[k + 1] - SEAM))
        before, after = float(ends[1 if up else 0]), float(ends[0 if up else 1])
        extra += [(frame - 0.5 * SEAM, before), (frame + 0.5 * SEAM, after)]
    return extra
