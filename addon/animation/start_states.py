"""Pose and speed with which a simulation starts, by what the animation shows: of joints, and of free bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..blender import physics_access, units
from ..curves.fcurve_values import SEEN
from ..data import findings
from . import led_joints, single_pose
from .scene_model import SceneModel

# The animation is looked at this far before the start [frames]. Slopes of second order from the looks before it:
# between linear keys the very slope, of a swing once a second at 24 frames a second 0.15 % off. What is stepped at the
# start has come there since the last of them, and has no part in its speed.
LOOKS = np.array([*np.linspace(0.5, 2.0**-8, 5), 0.0])
SPACING, LAST = LOOKS[0] - LOOKS[1], LOOKS[-2]
# What is so many times as fast between two looks as between any others is the leap of a key: of a motion whose speed
# changes evenly, three times at most, where it turns back.
LEAPT = 10.0


@dataclass
class Seen:
    """What the animation shows of one body at the looks.

    Attributes:
        name: of the model's body. joint: of physics. with_speed: whether its speed is wanted, too.
        span: how long before the frame the looks begin, of LOOKS; negative: so long after it.
        followed: as given motions have it; None for a free body. exact: its joint's rest takes what the joint cannot do
            of its pose. poses: of a free body in its joint (looks, 4, 4) [m].
    """

    name: str
    joint: Any
    with_speed: bool
    span: float = 1.0
    followed: led_joints.Followed | None = None
    exact: bool = False
    poses: np.ndarray | None = None


def exact(read: SceneModel, seen: Sequence[Seen], fitted: set[str]) -> tuple[SceneModel, list[Seen]]:
    """The model and what was seen with rest poses that make joints that start exactly meet their child's pose; but for
    those of the names `fitted`, whose curve goes through it.
    """
    if not any(each.exact for each in seen):
        return read, list(seen)
    inverse, made = physics_access.physics().lie.inverse, list[Seen]()
    rests = {body.name: body for body in read.model.bodies}
    for each in seen:
        if each.exact and each.followed.poses is not None and each.followed.name not in fitted:
            pose, near = each.followed.poses[-1], read.state.q[read.model.coordinate_slice(each.name)]
            scale = each.followed.length_scale or 1.0
            q, _, _ = single_pose.place(each.joint, near, pose @ inverse(each.followed.after), scale)
            after = inverse(each.joint.transform(q)) @ pose
            rests[each.name] = replace(rests[each.name], body_in_joint=after)
            each = replace(each, followed=replace(each.followed, after=after))
        made.append(each)
    model = read.model.altered(bodies=list(rests.values()))
    return replace(read, model=model, state=model.state(read.state.q, read.state.qd, read.state.time)), made


def find(
    seen: list[Seen], read: SceneModel, fps: float, fitted: set[str]
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


def _leaps(read: SceneModel, each: Seen) -> list[findings.Finding]:
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
    read: SceneModel,
    given: dict[str, np.ndarray],
    found: dict[str, tuple[np.ndarray, np.ndarray]],
) -> SceneModel:
    """The model with coordinates of joints that follow their animation where it begins, and with what was found of
    others in theirs: coordinates and velocities.
    """
    q, qd = np.array(read.state.q), np.array(read.state.qd)
    for name, (place, speed) in found.items():
        where = read.model.coordinate_slice(name)
        q[where], qd[where] = place, speed
    for name, values in given.items():
        q[read.model.coordinate_slice(name)] = values
    return replace(read, state=read.model.state(q, qd, read.state.time))
