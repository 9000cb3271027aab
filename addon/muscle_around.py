"""Baked muscles before a bake's first frame and behind its last: where what they are stuck to moves, they follow it.

There a bake's bodies may have keys of what sliders show, or keys of their own that the bake left; and what a
simulation holds may move at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from . import compat, core, muscle_lengths, muscle_points, transforms, units
from .stillness import Stillness, is_level


def seen_frames(scene: Any) -> tuple[int, int]:
    """First and last frame that are played or rendered."""
    if not scene.use_preview_range:
        return scene.frame_start, scene.frame_end
    return (
        min(scene.frame_start, scene.frame_preview_start),
        max(scene.frame_end, scene.frame_preview_end),
    )


def follow(
    scene: Any, frames: np.ndarray, items: Sequence[Any], count: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Frames (E,) beside those of a bake and world points (E, count, 3) there, in Blender units, of each muscle.

    The bodies have their bake, the muscles have not. Without frames: the muscle is to stay as it is at the nearest
    frame of the bake.

    Args:
        frames: of the bake (F,), rising.
    """
    wanted = _frames_wanted(scene, int(np.floor(frames[0])), int(np.ceil(frames[-1])), items)
    rows: list[list[np.ndarray]] = [[] for _ in items]
    at = np.unique(np.concatenate([np.empty(0, dtype=int), *wanted]))
    if len(at):
        current, subframe = scene.frame_current, scene.frame_subframe
        sets = [set(each.tolist()) for each in wanted]
        try:
            for frame in at.tolist():
                scene.frame_set(frame)
                for item, mine, row in zip(items, sets, rows, strict=True):
                    if frame in mine:
                        row.append(_points(scene, item, count))
        finally:
            scene.frame_set(current, subframe=subframe)
    found = []
    for each, row in zip(wanted, rows, strict=True):
        points = np.array(row).reshape(-1, count, 3)
        needed = _needed(each, points)
        found.append((each[needed], points[needed]))
    return found


class Spaces:
    """The spaces of muscles' objects at rising frames (F,), looked at frame by frame where something carries them."""

    def __init__(self, scene: Any, frames: np.ndarray, items: Sequence[Any]) -> None:
        self._frames = frames
        if any(item.parent is not None for item in items):  # on a body, which has its bake since just now
            scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        carried = [item for item in items if _is_carried(item, (float(frames[0]), float(frames[-1])))]
        self._samples = transforms.sample_matrices(scene, carried, frames)

    def local(self, item: Any, frames: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Points (S, n, 3) in a muscle's space, of such in the world at some of the frames (S,)."""
        inverse = units.inverses(self._worlds(item, frames))
        found: np.ndarray = points @ inverse[:, :3, :3].swapaxes(1, 2) + inverse[:, None, :3, 3]
        return found

    def sized(self, item: Any, local: np.ndarray) -> np.ndarray:
        """Points of `local` as large as in the world."""
        linear = self._worlds(item, self._frames[:1])[0, :3, :3]
        found: np.ndarray = local * np.cbrt(abs(np.linalg.det(linear)))
        return found

    def is_carried(self, item: Any) -> bool:
        """Whether a muscle's object may move."""
        return item.name_full in self._samples

    def _worlds(self, item: Any, frames: np.ndarray) -> np.ndarray:
        if not self.is_carried(item):
            return units.array4(item.matrix_world)[None]
        return self._samples[item.name_full][""][np.searchsorted(self._frames, frames)]


def _is_carried(item: Any, span: tuple[float, float]) -> bool:
    """Whether a muscle's object may move in these frames: not by bones that it is not parented to."""
    while item is not None:
        data = item.animation_data
        if data is not None:
            curves = [
                curve for curve in compat.curves_in_use(item) if not curve.data_path.startswith("pose.")
            ]
            drivers = [
                curve for curve in data.drivers if not curve.data_path.startswith(("pose.", "condyle."))
            ]
            if drivers or data.nla_tracks or not all(is_level(curve, *span) for curve in curves):
                return True
        if item.rigid_body is not None or any(not constraint.mute for constraint in item.constraints):
            return True
        if item.parent is not None and (
            item.parent_type not in ("OBJECT", "ARMATURE") or item.parent.type == "CURVE"
        ):
            return True
        item = item.parent
    return False


def _frames_wanted(scene: Any, begin: int, end: int, items: Sequence[Any]) -> list[np.ndarray]:
    """Rising frames at which each muscle is to be looked at, for a bake from frame `begin` to `end`.

    Keys before a bake that nothing moves end with a jump to its first: then the outermost frames tell all.
    """
    first, last = seen_frames(scene)
    sides = []
    if first < begin:
        sides.append((np.arange(first, begin), Stillness((first, begin)), Stillness((first, begin - 1))))
    if last > end:
        sides.append((np.arange(end + 1, last + 1), Stillness((end, last)), Stillness((end + 1, last))))
    found = []
    for item in items:
        holders, chosen = _holders(item) if sides else [], [np.empty(0, dtype=int)]
        for outside, joined, alone in sides:
            if not joined.holds(holders):
                chosen.append(np.unique(outside[[0, -1]]) if alone.holds(holders) else outside)
        found.append(np.concatenate(chosen))
    return found


def _holders(item: Any) -> list[Any]:
    """What decides where a muscle runs: itself, what its points are stuck to, and its obstacles."""
    hooked = [modifier.object for modifier in muscle_points.hooks(item).values()]
    over = [row.obstacle for row in item.condyle.muscle.obstacles if row.obstacle is not None]
    return [item, *hooked, *over]


def _points(scene: Any, item: Any, count: int) -> np.ndarray:
    """Points (count, 3) along a muscle as the scene stands: over its obstacles, straight on where no way is found."""
    try:
        path = muscle_lengths.path_of(scene, item)
    except core.physics().CondyleError:
        path = np.array([point.place for point in muscle_points.points_of(item)])
    found: np.ndarray = core.part("muscles.drawing").sampled(path, count)[0]
    return found


def _needed(frames: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Mask (E,) of the frames that lines between the others cannot do without: those amid equal ones are not needed."""
    needed = np.ones(len(frames), dtype=bool)
    same = [np.array_equal(one, other) for one, other in pairwise(points)]
    for k, (before, after) in enumerate(pairwise(same), start=1):
        needed[k] = not (before and after and frames[k + 1] - frames[k - 1] == 2)
    return needed
