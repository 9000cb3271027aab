"""The keyed poses of a body, relative to its joint: what a fit starts from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import actions, compat, core, drive, references, units

ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


def keyed_frames(body: references.Body) -> np.ndarray:
    """Frames (n,), increasing, at which the location or rotation of a body has a key."""
    wanted = {f"{body.path_prefix}{path}" for path in ("location", *ROTATIONS)}
    found: set[float] = set()
    for curve in compat.curves_in_use(body.object):
        if curve.data_path in wanted:
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            found.update(np.round(points[::2].astype(np.float64), 4))
    return np.array(sorted(found))


@contextmanager
def at_frame(scene: Any, frame: int) -> Iterator[None]:
    """The scene evaluated at a frame; afterwards as it was."""
    current, subframe = scene.frame_current, scene.frame_subframe
    scene.frame_set(frame)
    try:
        yield
    finally:
        scene.frame_set(current, subframe=subframe)


def keyed_poses(scene: Any, item: Any) -> tuple[np.ndarray, np.ndarray]:
    """Keyed frames (n,) of a joint's child, and its poses (n, 4, 4) there in the joint's frame, in metres.

    The scene is evaluated at every key and put back; a slider that drives the child is held off meanwhile.

    Raises:
        ModelError: no child, no keys or a single one, a bake in place, or a pose that is not rigid.
    """
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    parent = None if settings.to_world else references.resolve(settings.parent)
    if child is None or (parent is None and not settings.to_world):
        raise core.model_error(
            f"joint {item.name!r}: its {'child' if child is None else 'parent'} is missing"
        )
    if actions.is_baked(child.object) and child.data.channels.baked:
        raise core.model_error(f"{child.name} shows a bake now, not its own keys; use Free Bake first")
    frames = keyed_frames(child)
    if len(frames) < 2:
        count = "no keyframes" if len(frames) == 0 else "only one keyframe"
        raise core.model_error(
            f"{child.name} has {count} to fit; key its location and rotation at several poses"
        )
    lie = core.physics().lie
    name = f"joint {item.name!r}"
    poses = []
    with drive.held_off(child):
        # the joint's place on its parent, seen once: the Empty need not be the parent's child in Blender
        joint_in_parent = units.split_scale(item.matrix_world, name)[0]
        if parent is not None:
            joint_in_parent = lie.inverse(units.split_scale(parent.matrix, parent.name)[0]) @ joint_in_parent
        with at_frame(scene, scene.frame_current):
            for frame in frames:
                scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
                base = joint_in_parent
                if parent is not None:
                    base = units.split_scale(parent.matrix, parent.name)[0] @ joint_in_parent
                poses.append(
                    lie.inverse(base) @ units.split_scale(child.matrix, f"{child.name} at frame {frame:g}")[0]
                )
    return frames, units.to_metres(np.array(poses), scene)
