"""Pose and speed with which a simulation starts, read from the animation: of joints, and of free bodies."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..baked import temporarily
from ..blender import compat, physics_access, units
from ..curves.fcurve_values import SEEN
from ..data import findings, references
from ..data.joints import slider_names
from ..reading import pose_springs
from ..reading import scene as scene_to_model
from . import keyed_poses, led_joints, single_pose

# The animation is looked at this far before the start [frames]. Slopes of second order from the looks before it:
# between linear keys the very slope, of a swing once a second at 24 frames a second 0.15 % off. What is stepped at the
# start has come there since the last of them, and has no part in its speed.
LOOKS = np.array([*np.linspace(0.5, 2.0**-8, 5), 0.0])
SPACING, LAST = LOOKS[0] - LOOKS[1], LOOKS[-2]
# Keys nearer than this to one another [frames] are one to Blender.
ONE_KEY = 0.01
# What is so many times as fast between two looks as between any others is the leap of a key: of a motion whose speed
# changes evenly, three times at most, where it turns back.
LEAPT = 10.0
# A slider this far [m, rad] from its start value is told.
AWAY = 1e-3


@dataclass
class Seen:
    """What the animation shows of one body at the looks.

    Attributes:
        name: of the model's body. joint: of physics. with_speed: whether its speed is wanted, too.
        span: how long before the frame the looks begin, of LOOKS; negative: so long after it.
        followed: as given motions have it; None for a free body. poses: of a free body in its joint (looks, 4, 4) [m].
    """

    name: str
    joint: Any
    with_speed: bool
    span: float = 1.0
    followed: led_joints.Followed | None = None
    poses: np.ndarray | None = None


@dataclass(frozen=True)
class _Chosen:
    """A body of the model whose start is read from the animation, by its index; `item`: its joint's Empty, `source`: of
    its poses on that; both None of a free body.
    """

    index: int
    entry: scene_to_model.ModelBody
    body: references.Body
    joint: Any
    with_speed: bool
    item: Any
    source: keyed_poses.Source | None


def see(
    scene: Scene, read: scene_to_model.SceneModel, frame: float, given: set[str]
) -> tuple[list[Seen], list[findings.Finding]]:
    """Look at the animation before and at a frame; returns what was seen, and warnings. The scene is put back.

    Args:
        read: the model, with the scene at that frame. given: names of joints that follow their animation anyway.
    """
    chosen, told = [], []
    for entry, body, item, source in _starting(scene, read, given):
        joint = read.model.joints[entry.index]
        if source == "SETTINGS" or (item is None and source == "POSE"):
            continue  # a free body starts in its pose anyway
        if item is not None and pose_springs.starts_at_target(item):
            continue  # the model says where
        if any(joint.prescribed):
            told.append(findings.about(item, "start-of-moving-surface", joint=entry.joint_name))
            continue
        given_by = None if item is None else keyed_poses.source_of_joint(item)
        chosen.append(_Chosen(entry.index, entry, body, joint, source == "MOTION", item, given_by))
    told += left_behind(scene, read, given)
    if not chosen:
        return [], told
    with temporarily.at_frame(scene, int(frame)) as go:
        rows: dict[int, tuple[float, list[Any]]] = {}
        for span, bodies in _spans(frame, chosen).items():
            rows |= _looked(go, frame, span, bodies)
        rows |= _looked(go, frame, -1.0, [each for each in chosen if _begins(each, frame, rows)])
    seen = []
    for each in chosen:
        span, row = rows[each.index]
        made = Seen(each.entry.name, each.joint, each.with_speed, span)
        if each.item is None:
            frame_of = read.model.bodies[each.index].joint_in_parent
            made.poses = physics_access.physics().lie.inverse(frame_of) @ units.to_metres(
                np.array(row), scene
            )
        else:
            made.followed = led_joints.followed_of(
                scene, each.item, each.joint, each.entry.name, np.ones(len(LOOKS), dtype=bool), np.array(row)
            )
        seen.append(made)
    return seen, told


def _starting(
    scene: Scene, read: scene_to_model.SceneModel, given: Container[str]
) -> Iterator[tuple[scene_to_model.ModelBody, references.Body, Object | None, str]]:
    """Bodies of the model and of the scene, joints' Empties (None: free) and what they start from, of all that do not
    follow their animation anyway as joints of the names `given` do.
    """
    for entry in read.bodies:
        item = references.object_by_session_uid(entry.joint_uid) if entry.joint_uid else None
        body = references.find_body(entry.handle, entry.name)
        own = body.data.body.start_from if item is None else item.condyle.joint.start_from
        if read.model.joints[entry.index].num_coordinates and (item is None or item.name not in given):
            yield entry, body, item, scene.condyle.start.source if own == "SCENE" else own


def left_behind(
    scene: Scene, read: scene_to_model.SceneModel, given: Container[str]
) -> list[findings.Finding]:
    """A finding where joints start with their start values though their sliders stand elsewhere, as the scene is
    evaluated now. given: as of `see`.
    """
    behind = []
    for _, _, item, source in _starting(scene, read, given):
        if source == "SETTINGS" and item is not None and item.condyle.joint.driven:
            behind += _left_behind(item, units.length_scale(scene))
    if not behind:
        return []
    first, start, slider = behind[0]
    joints = findings.few(item.name for item, _, _ in behind)
    return [findings.about(first, "start-not-slider", joints=joints, start=start, slider=slider)]


def _spans(frame: float, chosen: list[_Chosen]) -> dict[float, list[_Chosen]]:
    """Chosen bodies by how far the looks at them go back, of LOOKS: to the last key before the frame where that is
    nearer, since before it they went on otherwise.
    """
    found: dict[float, list[_Chosen]] = {}
    for each in chosen:
        bends = np.concatenate(_keys(each))
        near = bends[(bends > frame - LOOKS[0]) & (bends < frame - ONE_KEY)]
        found.setdefault((frame - float(near.max())) / LOOKS[0] if len(near) else 1.0, []).append(each)
    return found


def _begins(each: _Chosen, frame: float, rows: dict[int, tuple[float, list[Any]]]) -> bool:
    """Whether a chosen body's animation begins at the frame, and it stands still before."""
    keys = next((keys for keys in _keys(each) if len(keys)), np.empty(0))
    still = np.ptp(np.array(rows[each.index][1]), axis=0).max() < SEEN
    return bool(each.with_speed and still and len(keys) and abs(keys.min() - frame) < ONE_KEY)


def _keys(each: _Chosen) -> list[np.ndarray]:
    """Frames of all keys by which a chosen body moves on its joint: its own, then those of what it is joined to."""
    if each.item is not None and each.item.condyle.joint.driven:
        moved = [(each.item, {f'["{name}"]' for name in slider_names(each.item.condyle.joint)})]
    else:
        parent = None if each.source is None else each.source.parent
        moved = [
            (one.object, {f"{one.path_prefix}{path}" for path in ("location", *keyed_poses.ROTATIONS)})
            for one in (each.body, *(() if parent is None else (parent,)))
        ]
    return [
        np.array(
            [
                point.co.x
                for curve in compat.curves_in_use(owner)
                if curve.data_path in paths
                for point in curve.keyframe_points
            ],
            dtype=np.float64,
        )
        for owner, paths in moved
    ]


def _looked(
    go: Callable[[float], None], frame: float, span: float, chosen: list[_Chosen]
) -> dict[int, tuple[float, list[Any]]]:
    """By indices in the model the span, and what the animation shows of chosen bodies at the looks (looks, ...)."""
    rows: dict[int, list[Any]] = {each.index: [] for each in chosen}
    for before in span * LOOKS if chosen else ():
        at = frame - before
        go(at)
        for each in chosen:
            name = f"{each.entry.name} at frame {at:g}"
            if each.source is None:
                found: Any = units.split_scale(each.body.matrix, name, each.body.owner)[0]
            elif each.item.condyle.joint.driven:
                found = [float(each.item[slider]) for slider in slider_names(each.item.condyle.joint)]
            else:
                found = keyed_poses.pose_now(each.source, name)
            rows[each.index].append(found)
    return {index: (span, row) for index, row in rows.items()}


def _left_behind(item: Object, metres: float) -> list[tuple[Any, str, str]]:
    """A joint's Empty, its start value and what its slider says, of the first slider that stands elsewhere."""
    settings = item.condyle.joint
    for row, slider in zip(settings.coordinates, slider_names(settings)):
        value = float(item[slider]) * (metres if row.unit == "m" else 1.0)
        if abs(value - row.start) > AWAY:
            return [(item, units.figure(row.start, row.unit), units.figure(value, row.unit))]
    return []


def find(
    seen: list[Seen], read: scene_to_model.SceneModel, fps: float, fitted: set[str]
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], list[findings.Finding]]:
    """The start: coordinates and velocities by body; and warnings.

    Args:
        fitted: names of joints whose curve was fitted just now.
    """
    start: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    warnings: list[findings.Finding] = []
    for each in seen:
        if each.followed is None:
            q = np.zeros(each.joint.num_coordinates)
            speed, leapt = _speed(each.joint, q, each.poses, fps / each.span)
            warnings += _leaps(read, each) if leapt else []
            start[each.name] = q, speed
            continue
        followed, readings = each.followed, None
        if followed.readings is not None:
            readings = led_joints.going_on(followed, followed.readings)
            q = each.joint.from_readings(readings)
        else:
            set_values = np.array(read.state.q[read.model.coordinate_slice(each.name)])
            q, told = _placed(each, set_values, fitted)
            warnings += told
        speed = np.zeros(q.shape[1])
        if each.with_speed and readings is not None:
            speed, leapt = _speed_of_sliders(each.joint, q[-1], readings, fps / each.span)
            warnings += _leaps(read, each) if leapt else []
        elif each.with_speed:
            poses = np.array([each.joint.transform(row) for row in q])
            speed, leapt = _speed(each.joint, q[-1], poses, fps / each.span)
            warnings += _leaps(read, each) if leapt else []
        start[each.name] = q[-1], speed
    return start, warnings


def _leaps(read: scene_to_model.SceneModel, each: Seen) -> list[findings.Finding]:
    """A finding where what was seen of a body leaps at the start."""
    (entry,) = (entry for entry in read.bodies if entry.name == each.name)
    return [findings.about(entry.culprit, "start-jump", body=entry.joint_name or entry.name)]


def _placed(each: Seen, near: np.ndarray, fitted: set[str]) -> tuple[np.ndarray, list[findings.Finding]]:
    """Coordinates (looks, n) of a joint in its child's poses at the looks, the last of them searched for first."""
    followed = each.followed
    after = np.eye(4) if followed.name in fitted else followed.after
    poses = followed.poses @ physics_access.physics().lie.inverse(after)
    scale = followed.length_scale if followed.length_scale > 0.0 else 1.0
    last, far, turn = single_pose.place(each.joint, near, poses[-1], scale)
    rows = [last]
    for pose in poses[-2::-1]:
        rows.insert(0, single_pose.place(each.joint, rows[0], pose, scale, near=True)[0])
    if far <= led_joints.FAR and turn <= led_joints.FAR_TURN:
        return np.array(rows), []
    apart = units.told_apart(far, turn)
    return np.array(rows), [
        findings.about(followed.handle, "start-off-pose", joint=followed.name, apart=apart)
    ]


def _speed_of_sliders(
    joint: physics_access.Joint, q: np.ndarray, readings: np.ndarray, fps: float
) -> tuple[np.ndarray, bool]:
    """Velocities (n,) of a joint at q, from its sliders (looks, n), each by itself; and whether one leaps."""
    each = [slice(k, k + 1) for k in range(readings.shape[1])]
    rates, leapt = _slopes(np.diff(readings, axis=0), each, fps)
    if np.array_equal(q, readings[-1]):
        return rates, leapt
    # sliders that are not the coordinates: by what they do to the pose, which has no other values a turn away
    little = 1e-4 / max(1.0, float(np.abs(rates).max()))
    before, after = (
        joint.transform(joint.from_readings(readings[-1] + side * little * rates)) for side in (-1.0, 1.0)
    )
    lie = physics_access.physics().lie
    return _velocities(joint, q, lie.log(lie.inverse(before) @ after) / (2.0 * little)), leapt


def _speed(
    joint: physics_access.Joint, q: np.ndarray, poses: np.ndarray, fps: float
) -> tuple[np.ndarray, bool]:
    """Velocities (n,) of a joint at q, from its poses (looks, 4, 4); and whether they leap."""
    rotations = poses[:, :3, :3]
    turns = physics_access.physics().lie.so3_log(rotations[1:] @ rotations[:-1].swapaxes(1, 2))
    # both as the joint's parent sees them: so what leaps in turning has no part in what goes on in going
    changes = np.hstack([turns, np.diff(poses[:, :3, 3], axis=0)])
    slopes, leapt = _slopes(changes, [slice(0, 3), slice(3, 6)], fps)
    twist = (slopes.reshape(2, 3) @ rotations[-1]).ravel()
    return _velocities(joint, q, twist), leapt


def _slopes(changes: np.ndarray, parts: list[slice], fps: float) -> tuple[np.ndarray, bool]:
    """Rates (n,) at the last look before the start, from the changes (looks - 1, n) between looks, and whether any of
    the parts, which are keyed in ways of their own, leaps.
    """
    ways = changes[:-1] * (fps / SPACING)
    leapt = False
    for part in parts:
        fast = np.linalg.norm(ways[:, part], axis=1)
        k = int(np.argmax(fast))
        if fast[k] > LEAPT * np.delete(fast, k).max() + SEEN * abs(fps) / SPACING:
            ways[k, part] = ways[k + 1 if k + 1 < len(ways) else k - 1, part]
            leapt = True
    earlier, later = ways[:2].mean(axis=0), ways[2:].mean(axis=0)
    slopes = later + 0.5 * (later - earlier)
    for part in parts:
        at_once, goes_on = np.linalg.norm(changes[-1, part]), np.linalg.norm(slopes[part]) * LAST / abs(fps)
        leapt |= bool(at_once > LEAPT * goes_on + SEEN)
    return slopes, leapt


def _velocities(joint: physics_access.Joint, q: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Velocities (n,) with which a joint at q comes nearest to its child's twist (6,)."""
    return np.linalg.lstsq(joint.evaluate(q)[1], twist, rcond=1e-9)[0]


def started(
    read: scene_to_model.SceneModel,
    given: dict[str, np.ndarray],
    found: dict[str, tuple[np.ndarray, np.ndarray]],
) -> physics_access.State:
    """The state with coordinates of joints that follow their animation where it begins, and with what was found of
    others in theirs: coordinates and velocities.
    """
    q, qd = np.array(read.state.q), np.array(read.state.qd)
    for name, (place, speed) in found.items():
        where = read.model.coordinate_slice(name)
        q[where], qd[where] = place, speed
    for name, values in given.items():
        q[read.model.coordinate_slice(name)] = values
    return read.model.state(q, qd, read.state.time)
