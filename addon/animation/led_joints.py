"""Joints that follow their animation in a simulation: their coordinates, from what was seen of them. Numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..blender import compute_process, physics_access, units
from ..blender.compute_process import Steps
from ..blender.physics_access import model_error
from ..curves import rotation_channels
from ..data import findings
from ..data.handles import Handle
from .follow_weights import Strength

# Keys this far from the joint [m, radians] are told: the joint takes the nearest pose that it can.
FAR, FAR_TURN = 1e-3, 1e-2
# Rotations as large as this [rad] are split into one about an axis and the rest.
FAR_AROUND = 3.0
# Longer than any run [s].
FOR_EVER = 1e6
# Beyond this length [rad] a step takes a rotation vector that is free for the shorter one of the same rotation
# (`CHART_LIMIT` of `kernels.rollout`, which Blender's process does not import), so that it would leave what leads it.
FARTHEST_TURN = np.pi + 0.5
# Beyond that, how far [rad] the vectors may be off between frames.
MISSED_TURN = np.radians(0.5)
NOTHING = Handle(0)


@dataclass
class Followed:
    """A joint that follows its animation; be it one of the scene, or that of what is followed without one.

    Attributes:
        name: of its Empty. body: of the model's body. joint: of physics, in metres.
        switched: whether it is held on its animation, at each frame (F,).
        weights: how strongly it is drawn to it otherwise, from 0 to 1 (F,); time: what that means, see `Pull` [s].
        strength: both of these as time goes by, between the frames, too.
        controller: name of the one that draws it there; empty: there is none.
        handle: of its Empty, or of what is followed without a joint; base: then, what that moves on (None: the world);
            frame: and where on it its joint is (4, 4), in Blender units. None of a joint of the scene.
        frames: at which it was seen (F,): whole ones, the last samples before leaps, and looks between them.
        again: by how much its curves go on from the first to the last, if they repeat themselves behind that, or None.
        leapt: whether it leaps to what it is there from what it is at the one before (F,). drawn: whether that draws it
            where it follows in part (F,): leaps do not.
        readings: of its sliders (F, n) in SI, or None. poses: of the child in the joint's frame (F, 4, 4) [m], or None.
        periods: of sliders whose ends are one place (n,), from end to end; 0 of others. turns: by how much those that
            are not limited bring the joint back to where it was (n,); 0: by nothing.
    """

    name: str
    body: str
    joint: Any
    after: np.ndarray
    length_scale: float
    switched: np.ndarray
    readings: np.ndarray | None = None
    poses: np.ndarray | None = None
    periods: np.ndarray = field(default_factory=lambda: np.empty(0))
    turns: np.ndarray = field(default_factory=lambda: np.empty(0))
    weights: np.ndarray = field(default_factory=lambda: np.zeros(1))
    strength: Strength = field(
        default_factory=lambda: Strength(np.zeros(1), np.zeros(1), np.ones(1, dtype=bool))
    )
    time: float = 0.1
    controller: str = ""
    handle: Handle = NOTHING
    base: Handle | None = None
    frame: np.ndarray | None = None
    frames: np.ndarray = field(default_factory=lambda: np.empty(0))
    again: np.ndarray | None = None
    leapt: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    drawn: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))


def seen_at(made: Followed, strength: Strength) -> Followed:
    """What was seen of a joint at the frames of its strength."""
    count = len(strength.frames)
    made.weights, made.strength, made.frames = strength.weights.copy(), strength, np.array(strength.frames)
    made.leapt, made.drawn = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    return made


def held_at_start(followed: list[Followed]) -> set[str]:
    """Names of the joints that follow their animation from the beginning."""
    return {each.name for each in followed if each.switched[0] and each.frame is None}


def coordinates(each: Followed, fitted: set[str], rows: np.ndarray | slice = slice(None)) -> Steps[Any]:
    """Steps that find the coordinates (R, n) of a joint at some of the frames; returns them, and warnings."""
    q, told = yield from _coordinates(each, fitted, rows)
    vector = rotation_vector(each.joint)
    if vector is not None:
        _check_turns(each, q[:, vector])
    return q, told


def _coordinates(each: Followed, fitted: set[str], rows: np.ndarray | slice) -> Steps[Any]:
    """As `coordinates`, be they too far around or not."""
    vector = rotation_vector(each.joint)
    told: list[findings.Finding] = []
    if each.readings is not None:
        q = each.joint.from_readings(going_on(each, each.readings)[rows])
    else:
        after = np.eye(4) if each.name in fitted else each.after
        poses = each.poses[rows] @ physics_access.physics().lie.inverse(after)
        if each.frame is None and not follows_poses(each.joint):
            raise model_error(
                f"joint {each.name!r} has {each.joint.num_coordinates} coordinates, more than can be told from its "
                "child's pose: drive it by sliders, so that it can follow these"
            )
        if each.joint.type == "composite":
            return _turning(each.joint, poses), told
        if each.joint.type == "spherical":
            told = _off(each, float(np.linalg.norm(poses[:, :3, 3], axis=1).max()), 0.0)
        elif each.joint.type != "free":
            q, told = yield from _projected(each, poses)
        if vector is not None:
            q = _turned(each.joint, poses)
    if vector is not None:
        q[:, vector] = physics_access.physics().lie.continuous_rotation_vectors(q[:, vector])
    return q, told


def _check_turns(each: Followed, vectors: np.ndarray) -> None:
    """ModelError where rotation vectors (R, 3) cannot lead a joint: where it is free at times they change their chart
    under what leads it, and near a whole turn they swing around.
    """
    most = float(np.linalg.norm(vectors, axis=1).max())
    if most > FARTHEST_TURN and not each.switched.all():
        raise model_error(
            f"joint {each.name!r} follows its animation by {np.degrees(most):.4g}° from its rest; a "
            f"{each.joint.type} joint can by {np.degrees(FARTHEST_TURN):.0f}° at most, unless it is prescribed in all "
            "frames"
        )
    missed = rotation_channels.missed_by_vectors(vectors) if len(vectors) > 1 else np.zeros(1)
    if most > FARTHEST_TURN and missed.max() > MISSED_TURN:
        raise model_error(
            f"joint {each.name!r} turns about another axis near a whole turn from its rest, where a {each.joint.type} "
            f"joint cannot follow its animation: it would be {np.degrees(missed.max()):.2g}° off between frames"
        )


def follows_poses(joint: physics_access.Joint) -> bool:
    """Whether a joint without sliders can follow its animation: whether its child's poses tell its coordinates."""
    return bool(joint.type == "free" or joint.num_coordinates <= 3)


def rotation_vector(joint: Any) -> slice | None:
    """Which coordinates of a joint are the vector of any rotation; None: there are none."""
    if joint.type in {"spherical", "euler"}:
        return slice(0, 3)
    if joint.type == "free":
        return slice(0, 3) if joint.rotation_first else slice(3, 6)
    return None


def _turned(joint: Any, poses: np.ndarray) -> np.ndarray:
    """Coordinates (R, n) of a joint with any rotation, and a free one's place, in poses (R, 4, 4)."""
    rotations, places = poses[:, :3, :3], poses[:, :3, 3]
    turns: np.ndarray = physics_access.physics().lie.so3_log(rotations)
    if joint.type != "free":
        return turns
    if joint.rotation_first:
        return np.hstack([turns, np.einsum("fji,fj->fi", rotations, places)])
    return np.hstack([places, turns])


def turning_axis(turns: np.ndarray) -> np.ndarray | None:
    """The axis (3,) without which rotations (F, 3, 3) are smallest; None where they are small anyway."""
    lie = physics_access.physics().lie
    vectors = lie.continuous_rotation_vectors(lie.so3_log(turns))
    if np.linalg.norm(vectors, axis=1).max() < FAR_AROUND:
        return None
    quaternions = lie.quaternion_from_matrix(turns)
    axes = [*np.eye(3), *np.linalg.eigh(quaternions[:, 1:].T @ quaternions[:, 1:])[1].T]
    about = [(quaternions[:, 0] ** 2 + (quaternions[:, 1:] @ axis) ** 2).min() for axis in axes]
    return np.asarray(axes[int(np.argmax(about))])


def _turning(joint: Any, poses: np.ndarray) -> np.ndarray:
    """Coordinates (R, 7) of a free joint with a hinge on it (`reading.carriers.joint_of`) in poses (R, 4, 4)."""
    free, hinge = joint.joints
    quaternions = physics_access.physics().lie.quaternion_from_matrix(poses[:, :3, :3])
    angles = np.unwrap(2.0 * np.arctan2(quaternions[:, 1:] @ hinge.axis, quaternions[:, 0]))
    aside = poses @ physics_access.physics().lie.inverse(hinge.transform(angles[:, None]))
    return np.column_stack([_turned(free, aside), angles])


def _projected(each: Followed, poses: np.ndarray) -> Steps[Any]:
    requests = physics_access.part("worker.requests")
    answer = yield requests.project(
        compute_process.client(), each.joint, poses, continuous=True, length_scale=each.length_scale
    )
    found = requests.project_answer(answer)
    return found.q, _off(each, float(found.translation.max()), float(found.rotation.max()))


def _off(each: Followed, far: float, turned: float) -> list[findings.Finding]:
    """A finding where a joint's animation leaves what the joint can do by so much [m, rad]."""
    if far <= FAR and turned <= FAR_TURN:
        return []
    apart = units.told_apart(far, turned)
    return [findings.about(each.handle, "keys-off-joint", joint=each.name, apart=apart)]


def rows_of(each: Followed) -> np.ndarray:
    """Which of a joint's frames lead it: those between which it is held, or drawn, at some time."""
    between = each.strength.led_between(each.frames)
    return np.flatnonzero(np.append(between, False) | np.append(False, between))


def windows_of(switched: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Spans of time (k, 2) in which a switch (F,) is on: from its frame to the frame at which it is off."""
    edges = np.diff(np.concatenate([[0], switched.astype(int), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    after = np.append(times, times[-1] + FOR_EVER)  # on at the last frame: to the end and beyond
    return np.stack([times[starts], after[ends]], axis=1)


def vector_readings(joint: physics_access.Joint) -> slice | None:
    """Which of a joint's readings are a rotation vector; None: there are none, or angles are read instead."""
    return rotation_vector(joint) if joint.reading_names == joint.coordinate_names else None


def going_on(each: Followed, readings: np.ndarray) -> np.ndarray:
    """Readings (F, n) of a joint without the jumps of sliders that start anew after a whole turn."""
    result, vector = unrolled(readings, each.periods), vector_readings(each.joint)
    if vector is not None:
        result[:, vector] = physics_access.physics().lie.continuous_rotation_vectors(result[:, vector])
    return result


def unrolled(values: np.ndarray, periods: np.ndarray) -> np.ndarray:
    """Values (F, n) without the jumps of sliders that start anew after a whole turn; period 0: it has no turns."""
    result = values.copy()
    for k in np.flatnonzero(periods > 0.0):
        steps = np.diff(values[:, k])
        turns = -np.round(steps / periods[k]) * (np.abs(steps) > 0.5 * periods[k])
        result[1:, k] += periods[k] * np.cumsum(turns)
    return result
