"""Preserves the child's motion when a control frame is inserted into a curve, and reports the largest change."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from . import bodies_and_joints, curve_tools, joint_frames

# Least distance of a new knot from its neighbours, as a share of their distance: coinciding knots reduce smoothness.
APART = 0.2


@dataclass(frozen=True)
class Moved:
    """Largest change of the child's motion, in millimetres and degrees."""

    distance: float
    angle: float


def curve_of(scene: Scene, item: Object) -> physics_access.SplineCurve:
    """The curve of a joint by `curve_tools.own_curve`; None for another or an incomplete joint."""
    try:
        return curve_tools.own_curve(scene, item)
    except physics_access.physics().CondyleError:
        return None


def grow(
    scene: Scene, item: Object, old: physics_access.SplineCurve, index: int, share: float
) -> Moved | None:
    """Keep a joint's motion along the old curve after frame number `index` was added at a share of the way between its
    neighbours; None if the joint is not a curve now.

    This inserts a knot (Boehm 1980): neighbouring frames move a little, the path and its coordinate are kept. After the
    last frame of an open curve there is no motion to keep.
    """
    if index == len(old.frames) and not old.periodic:
        return None
    frames, knots = _inserted(old, index, share)
    settings = item.condyle.joint
    for number, pose in frames.items():
        bodies_and_joints.place_frame(item, settings.frames[number].object, units.to_blender(pose, scene))
    joint_frames.set_knots(settings, knots)
    bpy.context.view_layer.update()
    new = curve_of(scene, item)
    if new is None:
        return None
    path = curve_tools.plain(old)
    start, end = path.domain
    grid = np.linspace(start, end, curve_tools.PLACES * len(old.frames) + 1)[:, None]
    before, now = path.transform(grid), curve_tools.plain(new).transform(grid)
    lie = physics_access.physics().lie
    turns = np.linalg.norm(lie.log(lie.inverse(now) @ before)[:, :3], axis=1)
    shifts = np.linalg.norm((now - before)[:, :3, 3], axis=1)
    return Moved(1e3 * float(shifts.max()), float(np.degrees(turns.max())))


def _inserted(
    old: physics_access.SplineCurve, index: int, share: float
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Changed control frames (4, 4) by number, and all knots, when frame number `index` is added."""
    lie, order, degree = physics_access.physics().lie, old.order, old.order - 1
    count = len(old.frames)
    knots = (
        physics_access.part("geometry.splines").unrolled_knots(old.knots, order)
        if old.periodic
        else old.knots
    )
    last_span = (count + degree if old.periodic else count) - 1
    place = knots[index] + share * (knots[index + degree] - knots[index])
    span = int(np.clip(np.searchsorted(knots, place, side="right") - 1, degree, last_span))
    margin = APART * (knots[span + 1] - knots[span])
    place = float(np.clip(place, knots[span] + margin, knots[span + 1] - margin))
    frames = {}
    for number in range(span - degree + 1, span + 1):
        before, after = old.frames[(number - 1) % count], old.frames[number % count]
        part = (place - knots[number]) / (knots[number + degree] - knots[number])
        moved = before @ lie.exp(part * lie.log(lie.inverse(before) @ after))
        frames[number % (count + 1)] = moved  # of a closed curve, wrapped around its end
    grown = np.insert(knots, span + 1, place)[: count + 1 + order]
    if old.periodic:  # keeps the start; the knots before it repeat those before the end, with the new one
        grown[:degree] = grown[count + 1 : count + order] - old.period
    return frames, grown
