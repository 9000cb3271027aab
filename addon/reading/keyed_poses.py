"""The keyed poses of a body, relative to its joint: what a fit starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from bpy.types import Object, PoseBone, Scene
from mathutils import Matrix

from ..animation import follow_weights
from ..animation.scene_model import SceneModel
from ..baked import temporarily
from ..blender import compat, physics_access, scales, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.joints import slider_names
from ..sliders import sliders
from . import carriers, driving_keys
from .own_animation import Stillness

ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def keyed_frames(body: references.Body, selected: bool = False) -> np.ndarray:
    """Frames (n,), increasing, at which the location or rotation of a body has a key, or has one that is selected."""
    wanted = {f"{body.path_prefix}{path}" for path in ("location", *ROTATIONS)}
    found: set[float] = set()
    for curve in compat.curves_in_use(body.object):
        if curve.data_path in wanted:
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            chosen = np.ones(len(points) // 2, dtype=bool)
            if selected:
                curve.keyframe_points.foreach_get("select_control_point", chosen)
            found.update(np.round(points[::2].astype(np.float64), 4)[chosen])
    return np.array(sorted(found))


def frames_of(scene: Scene, body: references.Body, keys: str = "ALL") -> np.ndarray:
    """Keyed frames (n,) of a body that a fit shall read.

    Args:
        keys: "ALL", "SELECTED" (in an animation editor), or "PREVIEW": those inside the preview range.

    Raises:
        ModelError: fewer than two, or there is no preview range.
    """
    frames = keyed_frames(body, selected=keys == "SELECTED")
    if keys == "PREVIEW":
        if not scene.use_preview_range:
            raise model_error("there is no preview range: set one in the Timeline (P), or fit all keys")
        first, last = scene.frame_preview_start, scene.frame_preview_end
        frames = frames[(frames >= first) & (frames <= last)]
        where = f" from frame {first} to {last}"
    else:
        where = " selected" if keys == "SELECTED" else ""
    if len(frames) < 2:
        count = "no keyframes" if len(frames) == 0 else "only one keyframe"
        raise model_error(
            f"{body.name} has {count}{where} to fit; key its location and rotation at several poses"
            if keys == "ALL"
            else f"{body.name} has {count}{where}; a fit wants several, or all keys"
        )
    return frames


@dataclass(frozen=True)
class Source:
    """What a fit reads: a child keyed against a parent (None: the world), and where between them the joint's frame is.

    ``joint_in_parent`` is (4, 4), rigid, in Blender units.
    """

    name: str
    child: references.Body
    parent: references.Body | None
    joint_in_parent: np.ndarray


def source_of_joint(item: Object) -> Source:
    """The source of a joint, on its Empty where it has no parent and may move, or its parent may stretch; ModelError
    where its child or parent is missing.
    """
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    parent = None if settings.to_world else references.resolve(settings.parent)
    if child is None or (parent is None and not settings.to_world):
        raise model_error(f"joint {item.name!r}: its {'child' if child is None else 'parent'} is missing")
    references.check_evaluated(item, f"joint {item.name!r}")
    if (parent is None and not Stillness().holds([item])) or (
        parent is not None and scales.may_stretch(parent.pose_bone) and carriers.placed_by(item)
    ):
        parent = references.Body(item)
    return source(f"joint {item.name!r}", child, parent, item.matrix_world, item)


def source(
    name: str,
    child: references.Body,
    parent: references.Body | None,
    matrix: Matrix | np.ndarray,
    carrier: Object | PoseBone | None = None,
) -> Source:
    """A source by the world matrix of the joint's frame, as the scene is evaluated now.

    carrier: as of `split_scale`.
    """
    for body in (child, parent):
        if body is not None:
            references.check_evaluated(body.object, body.name)
    frame = units.split_scale(matrix, name, carrier)[0]
    if parent is not None:
        base = units.split_scale(parent.matrix, parent.name, parent.owner)[0]
        frame = physics_access.part("geometry.lie").inverse(base) @ frame
    return Source(name, child, parent, frame)


def keyed_joints(scene: Scene, read: SceneModel) -> dict[str, Object]:
    """Joints' Empties by bodies of the model, of those that are Animated, or whose sliders, or else child, have keys of
    their own.
    """
    found = {}
    for entry in read.bodies:
        item, body = references.object_in(scene, entry.joint_uid), entry.handle.find_in(scene)
        if item is None or not read.model.joints[entry.index].num_coordinates:
            continue
        owner, paths = body.object, {f"{body.path_prefix}{path}" for path in ("location", *ROTATIONS)}
        if item.condyle.joint.driven:
            owner, paths = item, {f'["{name}"]' for name in slider_names(item.condyle.joint)}
        has_keys = any(curve.data_path in paths for curve in compat.curves_in_use(owner))
        if has_keys or follow_weights.holds(item.condyle.joint):
            found[entry.name] = item
    return found


def keyed_motion(scene: Scene, given: Source) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames (F,) from the child's first key to its last, whole ones and keyed ones, its poses (F, 4, 4) there in the
    joint's frame, and which of them are keyed (n,); see `keyed_samples`.
    """
    keyed = _own_frames(scene, given, "ALL")
    between = np.arange(np.ceil(keyed[0]), keyed[-1])
    frames = np.unique(np.concatenate([keyed, between]))
    poses, _ = _sampled(scene, given, frames, ())
    return frames, poses, np.searchsorted(frames, keyed)


def keyed_samples(
    scene: Scene, given: Source, names: tuple[str, ...] = (), keys: str = "ALL"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keyed frames (n,) of the child, and there its poses (n, 4, 4) in the joint's frame, in metres, and the values
    (n, k) of k named properties, see `property_value`; `keys` as of `frames_of`.

    The scene is evaluated at every key and put back; a slider that drives the child is held off meanwhile.

    Raises:
        ModelError: no keys or a single one, a bake in place, a pose that is not rigid, or a property that is no number.
    """
    frames = _own_frames(scene, given, keys)
    poses, values = _sampled(scene, given, frames, names)
    return frames, poses, values


def _own_frames(scene: Scene, given: Source, keys: str) -> np.ndarray:
    """`frames_of` the child; of one without keys that something else leads (inverse kinematics, constraints, drivers)
    whole frames of the scene's range. ModelError where it shows a bake.
    """
    child = given.child
    if temporarily.is_baked(child.object) and child.data.channels.baked:
        raise model_error(f"{child.name} shows a bake now, not its own keys; use Free Bake first")
    preview = keys == "PREVIEW" and scene.use_preview_range
    names = ("frame_preview_start", "frame_preview_end") if preview else ("frame_start", "frame_end")
    first, last = (getattr(scene, name) for name in names)
    if keys == "SELECTED" or len(keyed_frames(child)) or last <= first:
        return frames_of(scene, child, keys)
    whole = np.arange(first, last + 1.0)
    is_led = any(len(found) for found in driving_keys.of_joint(None, child, given.parent, whole))
    return whole if is_led else frames_of(scene, child, keys)


def _sampled(
    scene: Scene, given: Source, frames: np.ndarray, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (F, 4, 4) of the child in the joint's frame, in metres, and values (F, k) of its named properties."""
    child = given.child
    poses, values = [], []
    with sliders.held_off(child), temporarily.at_frame(scene, scene.frame_current) as go:
        for frame in frames:
            go(frame)
            poses.append(pose_now(given, f"{child.name} at frame {frame:g}"))
            values.append([property_value(child, name) for name in names])
    return units.to_metres(np.array(poses), scene), np.array(values)


def pose_now(
    given: Source, name: str, matrix: Callable[[references.Body], Matrix] = attrgetter("matrix")
) -> np.ndarray:
    """Pose (4, 4) of the child in the joint's frame as the scene is evaluated now, in Blender units; matrix: tells it
    of the bodies of a snapshot (`reading.stepper`).
    """
    base, child, parent = given.joint_in_parent, given.child, given.parent
    if parent is not None:
        base = units.split_scale(matrix(parent), parent.name, parent.owner)[0] @ base
    own = units.split_scale(matrix(child), name, child.owner)[0]
    return np.asarray(physics_access.part("geometry.lie").inverse(base) @ own)


def property_value(body: references.Body, name: str) -> float:
    """Value now of a body's custom property or data path (``location[0]``); ModelError where it is no number."""
    owners = [body.owner, body.object]
    value = next((owner[name] for owner in owners if name and name in owner), None)
    if value is None:
        try:
            value = body.owner.path_resolve(name)
        except ValueError as error:
            raise model_error(
                f"{body.name} has no custom property {name!r}; add and animate it, or name another"
            ) from error
    if not isinstance(value, (int, float)):
        raise model_error(f"{body.name}: its property {name!r} is no number ({value!r:.40})")
    return float(value)
