"""Projects poses onto a joint: the coordinates at which it comes nearest, over its whole range."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..animation import led_joints, single_pose
from ..blender import compat, compute_process, physics_access, units
from ..blender.compute_process import Steps
from ..curves import rotation_channels
from ..data import findings, frame_times, references
from ..data import stored_joints as joints
from ..data.findings import Finding
from ..reading import keyed_poses
from ..sliders import sliders

#: frames between two keys where the slider of a closed joint jumps between its ends; Blender merges keys within 0.01
SEAM = 0.05
# Distance and angle [m, rad] of a child from the pose of its joint's sliders above which it is reported.
FAR, FAR_TURN = 1e-3, 1e-2


@dataclass(frozen=True)
class Nearest:
    """Projection of poses onto a joint.

    Attributes:
        readings: (n, k) of the joint, in SI.
        distances, angles: of the child from the joint there (n,), in millimetres and degrees.
    """

    readings: np.ndarray
    distances: np.ndarray
    angles: np.ndarray


def set_from_pose(scene: Scene, item: Any) -> Nearest:
    """Set a joint's sliders, or else its start values, from the child's present pose; blocks."""
    return compute_process.run(from_pose(scene, item))


def from_pose(scene: Scene, item: Object) -> Steps[Nearest]:
    """Steps of `set_from_pose`. Uses the child's own pose, without the effect of its sliders."""
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
    """Drive a joint by sliders, set to the joint's pose nearest to the child's present pose.

    Keyed sliders keep their values.

    Raises:
        ModelError: as of `sliders.set_driven`.
    """
    here = None
    if sliders.can_drive(item.condyle.joint) and not item.condyle.joint.driven:
        here = readings_here(scene, item)
    sliders.set_driven(scene, item, True)
    if here is not None:
        set_readings(scene, item, here)


def readings_here(scene: Scene, item: Object) -> np.ndarray | None:
    """Readings at which a joint is nearest to its child; None if the present readings must not change."""
    settings = item.condyle.joint
    paths = {f'["{name}"]' for name in sliders.slider_names(settings)}
    if sliders.driven_sliders(item) or any(curve.data_path in paths for curve in compat.curves_in_use(item)):
        return None
    joint = joints.read_joint(scene, item)
    # time determines the place of a prescribed joint; settings that do not match the joint raise an error later
    if any(joint.prescribed) or not 0 < joint.num_coordinates == len(settings.coordinates):
        return None
    given = keyed_poses.source_of_joint(item)
    after = units.to_metres(joints.child_in_joint(item), scene)
    pose = units.to_metres(
        keyed_poses.pose_now(given, given.child.name), scene
    ) @ physics_access.physics().lie.inverse(after)
    scale = settings.length_scale * units.length_scale(scene)
    if settings.type in {"spline_curve", "spline_surface"}:  # several of its readings may be near a pose
        q = physics_access.physics().project(joint, pose, bounds=_bounds(item, joint), length_scale=scale).q
    else:
        before = joint.from_readings(readings_now(scene, item))
        if single_pose.is_at(joint, before, pose):  # keep exact values and the number of turns
            return None
        q, _, _ = single_pose.place(joint, before, pose, scale if scale > 0.0 else 1.0)
    return joint.readings(q)


def readings_now(scene: Scene, item: Object) -> np.ndarray:
    """Readings (n,) of a joint's sliders, or its start values for missing sliders."""
    rows = item.condyle.joint.coordinates
    values = [
        item[name] * factor if isinstance(item.get(name), float) else row.start
        for row, name, factor in zip(rows, sliders.slider_names(item.condyle.joint), _factors(scene, item))
    ]
    return np.array(values, dtype=np.float64)


def from_keys(scene: Scene, item: Object) -> Steps[Nearest]:
    """Steps that key a joint's sliders at every key of the child, so that they reproduce its keyed motion.

    The child's keys are kept, and move it again when it is no longer driven.
    """
    scene_uid, item_uid, name = scene.session_uid, item.session_uid, item.name
    _check_own(item)
    # the poses between keys resolve ambiguous places and whole turns
    frames, poses, keyed = keyed_poses.keyed_motion(scene, keyed_poses.source_of_joint(item))
    moving = yield from _project(scene, item, poses, frames)
    frames = frames[keyed]
    found = Nearest(moving.readings[keyed], moving.distances[keyed], moving.angles[keyed])
    scene, item = references.find_scene(scene_uid), references.find_joint(item_uid, name)
    if item.condyle.joint.driven:
        sliders.refresh(scene, item)  # the range of a slider from an earlier version may exclude its keys
    else:
        sliders.set_driven(scene, item, True)
    _key(scene, item, frames, found.readings)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return found


def _check_own(item: Object) -> None:
    """ModelError if a slider has a driver."""
    for name in sliders.driven_sliders(item):
        raise physics_access.model_error(f"joint {item.name!r}: its slider {name!r} has a driver; remove it")


def _project(scene: Scene, item: Object, poses: np.ndarray, frames: np.ndarray) -> Steps[Nearest]:
    """Projection of poses (n, 4, 4) of the child, in the joint's frame and in metres."""
    joint = joints.read_joint(scene, item)
    after = units.to_metres(joints.child_in_joint(item), scene)
    poses = poses @ physics_access.physics().lie.inverse(after)
    requests = physics_access.part("worker.requests")
    options = {"length_scale": item.condyle.joint.length_scale * units.length_scale(scene)}
    bounds = _bounds(item, joint)
    times = (frames - frame_times.frame_range(scene)[0]) / units.frames_per_second(scene)
    groups = [slice(None)]
    if any(joint.prescribed):  # a moving surface is different at each time
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
    """Unwrap angles (F, 3) of a motion, whose middle one is within half a turn, through gimbal lock."""
    other = angles + np.pi
    other[:, 1] = (0.0 if sequence[0] == sequence[2] else np.pi) - angles[:, 1]
    return rotation_channels.one_branch(angles, other, angles[0])


def _bounds(item: Object, joint: physics_access.Joint) -> np.ndarray:
    """Bounds (n, 2) of coordinates: the joint's range within custom limits."""
    bounds = np.array(joint.range, dtype=np.float64)
    if joint.reading_names == joint.coordinate_names:
        for k, row in enumerate(item.condyle.joint.coordinates):
            if row.limits == "CUSTOM" and row.lower < row.upper:
                bounds[k] = np.clip((row.lower, row.upper), *bounds[k])
    return bounds


def _factors(scene: Scene, item: Object) -> list[float]:
    """SI units per unit of each slider."""
    length = units.length_scale(scene)
    return [length if row.unit == "m" else 1.0 for row in item.condyle.joint.coordinates]


def set_readings(scene: Scene, item: Object, readings: np.ndarray) -> None:
    """Set a joint's sliders within their limits, or the start values of a joint without sliders."""
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
    """As `set_readings`, in the units of the sliders; surplus values are ignored."""
    factors = np.array(_factors(scene, item))
    set_readings(scene, item, np.array(values, dtype=np.float64)[: len(factors)] * factors)


def _inside(scene: Scene, item: Object, readings: np.ndarray) -> np.ndarray:
    """Values of the sliders (n, k) for readings: periodic ones are shifted by whole turns into their range, all are
    clamped to it.
    """
    joint = joints.read_joint(scene, item)
    ranges = sliders.slider_ranges(item, joint)
    vector = led_joints.vector_readings(joint)
    if vector is not None:  # outside its range or with a limit, the rotation of at most half a turn is used
        lie, short = physics_access.physics().lie, readings.copy()
        short[:, vector] = lie.so3_log(lie.so3_exp(readings[:, vector]))
        outside = np.abs(np.clip(readings, *ranges.T) - readings)[:, vector].max(axis=1) > 0.0
        limited = len(joint.rotation_limits) > 0
        readings = np.where((outside | limited)[:, None], short, readings)
    values = np.clip(readings, *ranges.T)
    for k, (period, (lower, upper)) in enumerate(zip(sliders.periods(joint), ranges)):
        # ignores round-off at the ends
        outside = np.abs(readings[:, k] - values[:, k]) > 1e-6 * (upper - lower)
        if period > 0.0:
            whole = period * max(1.0, np.floor((upper - lower) / period * (1.0 + 1e-9)))
            turned = readings[:, k] + whole * np.round((0.5 * (lower + upper) - readings[:, k]) / whole)
            values[outside, k] = np.clip(turned, lower, upper)[outside]
    return values / np.array(_factors(scene, item))


def _key(scene: Scene, item: Object, frames: np.ndarray, readings: np.ndarray) -> None:
    """Key the sliders in place of their keys; at the seam of a closed joint they jump within a frame."""
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
        closes = turns > 0.5 and abs(turns - round(turns)) < 1e-6  # its ends coincide
        seams = _seams(frames, readings[:, k] / factors[k], values[:, k], ranges[k]) if closes else []
        for frame, value in [*zip(frames.tolist(), values[:, k].tolist()), *seams]:
            item[name] = value
            item.keyframe_insert(path, frame=frame)
        at_seam = np.array([frame for frame, _ in seams])
        for curve in [each for each in compat.curves_in_use(item) if each.data_path == path]:
            for key in curve.keyframe_points:  # smooth handles would overshoot at the jump
                if len(at_seam) and np.abs(at_seam - key.co.x).min() < 0.1 * SEAM:
                    key.handle_left_type = key.handle_right_type = "VECTOR"
            curve.update()


def _seams(
    frames: np.ndarray, unrolled: np.ndarray, values: np.ndarray, ends: np.ndarray
) -> list[tuple[float, float]]:
    """Two keys (frame, value) for each jump of values from one end of a closed joint to the other."""
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


def stale_sliders(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
    """Children whose evaluated pose differs from that of their joint at its sliders; joints that cannot be read are
    skipped. fitted: session uids of joints that were just fitted.
    """
    for item in references.joints_of(scene):
        if not item.condyle.joint.driven or item.condyle.joint.closes_loop or item.session_uid in fitted:
            continue
        try:
            away, turned = _apart(scene, item)
        except physics_access.physics().CondyleError:  # reported by the check of joints
            continue
        if away > FAR or turned > FAR_TURN:
            child, apart = references.resolve(item.condyle.joint.child), units.told_apart(away, turned)
            # only turned bones can follow where they are connected
            is_held = child.bone and child.pose_bone.bone.use_connect and turned <= FAR_TURN
            code = "slider-of-connected-bone" if is_held else "stale-slider"
            yield findings.about(item, code, joint=item.name, apart=apart)


def _apart(scene: Scene, item: Object) -> tuple[float, float]:
    """Distance and angle [m, rad] of a child from the pose of its joint's sliders; 0 if a slider is out of range."""
    joint, given = joints.read_joint(scene, item), keyed_poses.source_of_joint(item)
    readings, ranges = readings_now(scene, item), sliders.slider_ranges(item, joint)
    if any(joint.prescribed) or len(readings) != len(ranges):
        return 0.0, 0.0
    if np.abs(np.clip(readings, *ranges.T) - readings).max(initial=0.0) > 1e-6:
        return 0.0, 0.0
    after = units.to_metres(joints.child_in_joint(item), scene)
    shown = units.to_metres(keyed_poses.pose_now(given, given.child.name), scene)
    lie = physics_access.physics().lie
    missing = lie.log(lie.inverse(joint.transform(joint.from_readings(readings)) @ after) @ shown)
    return float(np.linalg.norm(missing[3:])), float(np.linalg.norm(missing[:3]))
