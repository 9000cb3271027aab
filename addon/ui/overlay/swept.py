"""The motion of the child along a curve: the axis of rotation at each place, and the child's outline."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Object

from ...blender import physics_access
from ...data import stored_joints as joints
from ...data.overlay import OverlayProperties
from ...sliders import sliders
from .ghosts import outline
from .shown import Shown

AXES, POSES = 13, 7
# Half the length of an axis, in lengths of the axes of control frames.
AXIS_SIZE = 2.0
# An axis that moves by less than this share of its half length counts as fixed.
STILL = 1e-6
AXIS_COLOR, POSE_COLOR = (0.78, 0.52, 1.00), (0.62, 0.74, 0.90)
AXIS_ALPHA, POSE_ALPHA = 0.45, 0.40
# An axis farther from the child than this many half lengths is not drawn: the motion there hardly rotates.
FAR = 6.0


def has_path(joint: physics_access.Joint | None) -> bool:
    """Whether a joint of physics has one free coordinate, and so one axis at each place."""
    return joint is not None and joint.num_coordinates == 1 and not any(joint.prescribed)


def places(item: Object, known: Shown, count: int) -> np.ndarray:
    """Readings (count,) spread evenly over a joint's range, within its limits."""
    (lower, upper) = sliders.slider_ranges(item, known.joint)[0]
    closed = bool(np.isinf(known.joint.range).any())
    return np.linspace(lower, upper, count, endpoint=not closed)


def axis_line(known: Shown, reading: float, half: float) -> np.ndarray | None:
    """Ends (2, 3) of the axis of rotation at a reading, in the joint's frame; None if the joint hardly rotates there.

    The axis of the body twist (w, v) passes through w x v / |w|^2 along w (Murray, Li & Sastry 1994, eq. 2.42).
    """
    pose, subspace, _ = known.joint.evaluate(known.joint.from_readings(np.array([reading])))
    w, v = subspace[:3, 0], subspace[3:, 0] * known.metre
    square = float(w @ w)
    if not square > 0.0 or np.linalg.norm(v) > FAR * half * np.sqrt(square):
        return None
    point, along = np.cross(w, v) / square, half * w / np.sqrt(square)
    return np.array([point - along, point + along]) @ pose[:3, :3].T + known.metre * pose[:3, 3]


def axes(item: Object, known: Shown, half: float) -> np.ndarray:
    """Ends (k, 2, 3) of the axes along a joint, in its frame; none for a fixed axis, as of a hinge."""
    found = [axis_line(known, float(reading), half) for reading in places(item, known, AXES)]
    lines = np.array([each for each in found if each is not None]).reshape(-1, 2, 3)
    stays = len(lines) == AXES and np.ptp(lines, axis=0).max() < STILL * half
    return lines[:0] if stays else lines


def outlines(item: Object, known: Shown) -> np.ndarray:
    """Ends (k, 2, 3) of the child's outlines along a joint, in its frame."""
    corners, edges = outline(item)
    if not len(corners):
        return np.empty((0, 2, 3))
    rest = joints.child_in_joint(item)
    lines = []
    for reading in places(item, known, POSES):
        pose = known.joint.transform(known.joint.from_readings(np.array([reading])))
        pose[:3, 3] *= known.metre
        placed = pose @ rest
        lines.append((corners @ placed[:3, :3].T + placed[:3, 3])[edges])
    return np.concatenate(lines)


def along(item: Object, known: Shown, settings: OverlayProperties) -> list[tuple[np.ndarray, Any]]:
    """Lines (k, 2, 3) in the joint's frame and their colours (4,): axes and outlines, each if shown by `settings`."""
    found: list[tuple[np.ndarray, Any]] = []
    try:
        if settings.show_swept:
            found.append((axes(item, known, AXIS_SIZE * known.frame_size), (*AXIS_COLOR, AXIS_ALPHA)))
        if settings.show_poses:
            found.append((outlines(item, known), (*POSE_COLOR, POSE_ALPHA)))
    except physics_access.physics().CondyleError:  # limits beyond the curve's ends: the panel warns
        return []
    return found


def now(known: Shown, reading: float) -> np.ndarray:
    """Ends (1 or 0, 2, 3) of the present axis of rotation, in the joint's frame."""
    try:
        found = axis_line(known, reading, 1.5 * AXIS_SIZE * known.frame_size)
    except physics_access.physics().CondyleError:
        found = None
    return np.empty((0, 2, 3)) if found is None else found[None]


def style_of(item: Object, settings: OverlayProperties) -> tuple[Any, ...]:
    """The settings that `along` depends on, besides the joint's shape."""
    (row,) = item.condyle.joint.coordinates
    return settings.show_swept, settings.show_poses, row.limits, row.lower, row.upper
