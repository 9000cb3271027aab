"""Looks at the scene's animation: what joints and free bodies do by it, from frame to frame and before the first.

Every `scene` is a snapshot, taken at the first frame of what is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation import follow_weights, led_joints
from ..animation.follow_weights import Curves, Strength
from ..animation.jump_search import Shown
from ..animation.led_joints import Followed
from ..animation.scene_model import ModelBody, SceneModel
from ..animation.start_states import LOOKS, Seen
from ..blender import compat, physics_access, units
from ..blender.physics_access import model_error
from ..curves import fcurve_values
from ..curves.fcurve_values import SEEN
from ..data import findings, references
from ..data import stored_joints as joints
from ..data.joints import FOLLOW_PATH, PRESCRIBED_PATH, slider_names
from ..data.references import Handle
from ..sliders import sliders
from . import keyed_poses, pose_springs, stepper
from .stepper import Stepper

# Keys nearer than this to one another [frames] are one to Blender.
ONE_KEY = 0.01
# A slider this far [m, rad] from its start value is told.
AWAY = 1e-3


def item_of(scene: Scene, each: Followed) -> Object | None:
    """The joint's Empty; None of what is followed without a joint."""
    return references.object_in(scene, each.handle.session_uid) if each.frame is None else None


def source_of(scene: Scene, each: Followed) -> keyed_poses.Source:
    """What moves in what."""
    if each.frame is None:
        return keyed_poses.source_of_joint(item_of(scene, each))
    base = None if each.base is None else each.base.find_in(scene)
    return keyed_poses.Source(each.name, each.handle.find_in(scene), base, each.frame)


def strength_curves(scene: Scene, each: Followed) -> Curves | None:
    """The curves of how strongly a joint follows its animation; None of what is followed without a joint."""
    item = item_of(scene, each)
    return None if item is None else _strength_curves(item)


def _strength_curves(item: Object) -> Curves:
    return fcurve_values.alone(item, PRESCRIBED_PATH), fcurve_values.alone(item, FOLLOW_PATH)


def sample(scene: Scene, read: SceneModel, frames: np.ndarray, led: Container[int] = ()) -> list[Followed]:
    """What the joints do that are prescribed, or drawn, at some time from the first of the frames (F,) to the last, or
    are among `led`, by session uid: as if these were prescribed. The scene is put back.

    Raises:
        ModelError: a joint whose surface moves by itself is to follow keys; a pose is not rigid.
    """
    chosen = []
    for entry in read.bodies:
        item = references.object_in(scene, entry.joint_uid)
        if item is not None and (item.session_uid in led or may_follow(item)):
            chosen.append((item, read.model.joints[entry.index], entry.name))
    if not chosen:
        return []
    prescribed: list[list[bool]] = [[] for _ in chosen]
    weights: list[list[float]] = [[] for _ in chosen]
    values: list[list[Any]] = [[] for _ in chosen]
    given = [keyed_poses.source_of_joint(item) for item, _, _ in chosen]
    with stepper.at_frame(scene, frames[0]) as now:
        for frame in frames:
            now.go(frame)
            for k, (item, _, _) in enumerate(chosen):
                weights[k].append(now.value(item, FOLLOW_PATH))
                prescribed[k].append(bool(now.value(item, PRESCRIBED_PATH)))
                values[k].append(shown(now, item, given[k], f"{given[k].child.name} at frame {frame:g}"))
    found = []
    for (item, joint, body), on, drawn, value in zip(chosen, prescribed, weights, values):
        controlled = is_controlled(item)
        if item.session_uid in led:
            on, drawn = [True] * len(frames), [0.0] * len(frames)
        follows = any(on) or any(drawn) or controlled or follow_weights.ever(_strength_curves(item), frames)
        if follows and joint.num_coordinates:
            strength = Strength(np.array(frames), np.array(drawn), np.array(on))
            made = followed_of(scene, item, joint, body, strength.held, np.array(value))
            made.time = item.condyle.joint.follow_time
            made.controller = item.name if controlled else ""
            found.append(led_joints.seen_at(made, strength))
    return found


def shown(
    now: Stepper, item: Object | None, source: keyed_poses.Source, name: str
) -> list[float] | np.ndarray:
    """What the animation shows of a joint as the scene is evaluated now: its sliders, or its child's pose."""
    if item is not None and item.condyle.joint.driven:
        return [now.slider(item, slider) for slider in slider_names(item.condyle.joint)]
    return keyed_poses.pose_now(source, name, now.matrix)


def measured(scene: Scene, item: Object | None, values: np.ndarray) -> np.ndarray:
    """Sliders (F, n), or poses (F, 4, 4), as they were shown, in metres and radians."""
    if item is None or not item.condyle.joint.driven:
        return units.to_metres(values, scene)
    metres = units.length_scale(scene)
    factors = [metres if row.unit == "m" else 1.0 for row in item.condyle.joint.coordinates]
    return values * factors


class Looks:
    """What joints show at any frames. The scene goes to each of them once, for all joints: that takes longest.

    Args:
        followed: the joints. now: takes the scene to other frames.
    """

    def __init__(self, scene: Scene, followed: Sequence[Followed], now: Stepper) -> None:
        self._scene, self._now = scene, now
        self._joints = [(each.name, item_of(scene, each), source_of(scene, each)) for each in followed]
        self._known: dict[float, list[Any]] = {}

    def take(self, at: float) -> None:
        """Know what is shown at a frame."""
        self._now.go(at)
        self._known[at] = [
            shown(self._now, item, source, f"{name} at frame {at:g}") for name, item, source in self._joints
        ]

    def __iter__(self) -> Iterator[Shown]:
        """What each joint shows at frames (k,), in metres and radians (k, ...)."""
        return map(self._of, range(len(self._joints)))

    def _of(self, number: int) -> Shown:
        def at(frames: np.ndarray) -> np.ndarray:
            for frame in frames.tolist():
                if frame not in self._known:
                    self.take(frame)
            values = [self._known[frame][number] for frame in frames.tolist()]
            return measured(self._scene, self._joints[number][1], np.array(values))

        return at


def may_follow(item: Object) -> bool:
    """Whether a joint is prescribed or drawn now, or that is animated."""
    settings = item.condyle.joint
    if settings.prescribed or settings.follow > 0.0 or is_controlled(item):
        return True
    return may_be_switched(item)


def is_controlled(item: Object) -> bool:
    """Whether a controller, or a spring to its animation, draws a joint to what may change with time."""
    return bool(item.condyle.joint.controller.enabled or pose_springs.leads(item))


def may_be_switched(item: Object) -> bool:
    """Whether it may change with time if a joint follows its animation."""
    data = item.animation_data
    if data is None:
        return False
    return bool(data.nla_tracks) or any(
        curve.data_path in (PRESCRIBED_PATH, FOLLOW_PATH)
        for curve in (*compat.curves_in_use(item), *data.drivers)
    )


def followed_of(
    scene: Scene,
    item: Object,
    joint: physics_access.Joint,
    body: str,
    switched: np.ndarray,
    values: np.ndarray,
) -> Followed:
    """What was seen of a joint: values are its sliders (F, n), or the child's poses (F, 4, 4) in its frame."""
    settings = item.condyle.joint
    if any(joint.prescribed):
        raise model_error(
            f"joint {item.name!r} moves by itself in time and cannot be prescribed as well; let it be simulated"
        )
    metres = units.length_scale(scene)
    after = units.to_metres(joints.child_in_joint(item), scene)
    scale = settings.length_scale * metres
    made = Followed(item.name, body, joint, after, scale, switched, handle=Handle(item.session_uid))
    if settings.driven:
        made.readings = measured(scene, item, values)
        turns, widths = sliders.periods(joint), np.ptp(sliders.slider_ranges(item, joint), axis=1)
        whole = np.round(widths / np.where(turns > 0.0, turns, np.inf))
        made.periods = np.where((whole > 0.0) & (np.abs(widths - whole * turns) < 1e-6 * turns), widths, 0.0)
        made.turns = np.where([row.limits == "CUSTOM" for row in settings.coordinates], 0.0, turns)
    else:
        made.poses = measured(scene, item, values)
    return made


@dataclass(frozen=True)
class _Chosen:
    """A body of the model whose start is read from the animation, by its index; `item`: its joint's Empty, `source`: of
    its poses on that; both None of a free body.
    """

    index: int
    entry: ModelBody
    body: references.Body
    joint: Any
    with_speed: bool
    exact: bool
    item: Any
    source: keyed_poses.Source | None


def see(
    scene: Scene, read: SceneModel, frame: float, given: set[str], moving: Container[int] = ()
) -> tuple[list[Seen], list[findings.Finding]]:
    """Look at the animation before and at a frame; returns what was seen, and warnings. The scene is put back.

    Args:
        read: the model at that frame. given: names of joints that follow their animation anyway.
        moving: session uids of joints that start in its pose with its speed, whatever they are set to.
    """
    chosen, told = [], []
    for entry, body, item, own in _starting(scene, read, given):
        source = "MOTION" if entry.joint_uid in moving else own
        joint = read.model.joints[entry.index]
        if source == "SETTINGS" or (item is None and source == "POSE"):
            continue  # a free body starts in its pose anyway
        if item is not None and pose_springs.settles(item) and not pose_springs.leads(item):
            continue  # about the pose that its child keeps: the model says where
        if any(joint.prescribed):
            told.append(findings.about(item, "start-of-moving-surface", joint=entry.joint_name))
            continue
        given_by = None if item is None else keyed_poses.source_of_joint(item)
        exact = source == "EXACT"
        chosen.append(
            _Chosen(entry.index, entry, body, joint, exact or source == "MOTION", exact, item, given_by)
        )
    told += left_behind(scene, read, given)
    if not chosen:
        return [], told
    with stepper.at_frame(scene, frame) as now:
        rows: dict[int, tuple[float, list[Any]]] = {}
        for span, bodies in _spans(frame, chosen).items():
            rows |= _looked(now, frame, span, bodies)
        first = frame <= scene.frame_start
        rows |= _looked(now, frame, -1.0, [each for each in chosen if _begins(each, frame, first, rows)])
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
            made.exact = each.exact
            made.followed = followed_of(
                scene, each.item, each.joint, each.entry.name, np.ones(len(LOOKS), dtype=bool), np.array(row)
            )
        seen.append(made)
    return seen, told


def _starting(
    scene: Scene, read: SceneModel, given: Container[str]
) -> Iterator[tuple[ModelBody, references.Body, Object | None, str]]:
    """Bodies of the model and of the scene, joints' Empties (None: free) and what they start from, of all that do not
    follow their animation anyway as joints of the names `given` do.
    """
    for entry in read.bodies:
        item, body = references.object_in(scene, entry.joint_uid), entry.handle.find_in(scene)
        own = body.data.body.start_from if item is None else item.condyle.joint.start_from
        if read.model.joints[entry.index].num_coordinates and (item is None or item.name not in given):
            yield entry, body, item, scene.condyle.start.source if own == "SCENE" else own


def settling(scene: Scene, read: SceneModel, given: Collection[str]) -> list[str]:
    """The model's bodies whose joints start settled; given: names of joints that follow their animation anyway."""
    found = []
    controlled = {controller.body for controller in read.model.controllers}
    for entry in read.bodies:
        item = references.object_in(scene, entry.joint_uid)
        if item is not None and item.name not in given and entry.index in controlled:
            found += [entry.name] * (item.condyle.joint.start_from == "SETTLED")
    return found


def left_behind(scene: Scene, read: SceneModel, given: Container[str]) -> list[findings.Finding]:
    """A finding where joints start with their start values though their sliders stand elsewhere.
    given: as of `see`.
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


def _begins(each: _Chosen, frame: float, first: bool, rows: dict[int, tuple[float, list[Any]]]) -> bool:
    """Whether a chosen body's animation begins at the frame, and it is at rest before. Without keys, where constraints
    or carriers move it, that is the scene's first frame (first).
    """
    keys = next((keys for keys in _keys(each) if len(keys)), np.empty(0))
    still = np.ptp(np.array(rows[each.index][1]), axis=0).max() < SEEN
    begins = abs(keys.min() - frame) < ONE_KEY if len(keys) else first
    return bool(each.with_speed and still and begins)


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
                point.co[0]
                for curve in compat.curves_in_use(owner)
                if curve.data_path in paths
                for point in curve.keyframe_points
            ],
            dtype=np.float64,
        )
        for owner, paths in moved
    ]


def _looked(
    now: Stepper, frame: float, span: float, chosen: list[_Chosen]
) -> dict[int, tuple[float, list[Any]]]:
    """By indices in the model the span, and what the animation shows of chosen bodies at the looks (looks, ...)."""
    rows: dict[int, list[Any]] = {each.index: [] for each in chosen}
    for before in span * LOOKS if chosen else ():
        at = frame - before
        now.go(at)
        for each in chosen:
            name = f"{each.entry.name} at frame {at:g}"
            if each.source is None:
                rows[each.index].append(units.split_scale(now.matrix(each.body), name, each.body.owner)[0])
            else:
                rows[each.index].append(shown(now, each.item, each.source, name))
    return {index: (span, row) for index, row in rows.items()}


def _left_behind(item: Object, metres: float) -> list[tuple[Any, str, str]]:
    """A joint's Empty, its start value and what its slider says, of the first slider that stands elsewhere."""
    settings = item.condyle.joint
    for row, slider in zip(settings.coordinates, slider_names(settings)):
        value = float(item[slider]) * (metres if row.unit == "m" else 1.0)
        if abs(value - row.start) > AWAY:
            return [(item, units.figure(row.start, row.unit), units.figure(value, row.unit))]
    return []
