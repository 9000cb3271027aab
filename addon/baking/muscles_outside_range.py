"""Baked muscles before a bake's first frame and behind its last: where what they are stuck to moves, they follow it.

There a bake's bodies may have keys of what sliders show, or keys of their own that the bake left; and what a
simulation holds may move at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..animation.static_objects import Stillness, is_level
from ..blender import compat, physics_access, units
from ..reading import muscle_points
from . import local_matrices
from .muscle_paths import Ways

#: of a space's largest stretch, what counts as none: single precision
FLAT = 1e-6
#: a frame, a muscle's path (n, 3) there, and the space (4, 4) of its object
_Look = tuple[int, np.ndarray, np.ndarray]


def seen_frames(scene: Scene) -> tuple[int, int]:
    """First and last frame that are played or rendered."""
    if not scene.use_preview_range:
        return scene.frame_start, scene.frame_end
    return (min(scene.frame_start, scene.frame_preview_start), max(scene.frame_end, scene.frame_preview_end))


@dataclass(frozen=True, eq=False)
class Beside:
    """A muscle beside its bake: frames (E,), points (E, n, 3) there in the world and in its object's space."""

    frames: np.ndarray
    points: np.ndarray
    local: np.ndarray


def check(scene: Scene, frames: np.ndarray, items: Sequence[Object], bodies: Sequence[Any]) -> None:
    """ModelError where a muscle's object is flat, or nowhere, at a frame (F,) of a bake: no points can be kept in it.

    The scene is without its bake.

    Args:
        bodies: objects that the bake will move; what their keys are now does not matter.
    """
    carried = [item for item in items if _is_carried(item, (float(frames[0]), float(frames[-1])))]
    above = {item.name_full: _first_above(item, bodies) for item in carried}
    looked = {each.name_full: each for each in (*carried, *above.values()) if each is not None}
    samples = local_matrices.sample_matrices(scene, looked.values(), frames)
    for item in items:
        worlds = samples[item.name_full][""] if item in carried else units.array4(item.matrix_world)[None]
        bad = ~_usable(worlds)
        body = above.get(item.name_full)
        if body is not None:
            bad &= _usable(samples[body.name_full][""])
        if bad.any():
            when = f" at frame {frames[bad.argmax()]:g}" if item in carried else ""
            raise physics_access.model_error(
                f"muscle {item.name!r}: its scale, or that of a parent, is zero along some axis{when}, or its place "
                "not finite; make it greater, or begin the bake later"
            )


def _first_above(item: Object, bodies: Sequence[Any]) -> Object | None:
    """The nearest of these bodies that carries an object; None: none does."""
    while item.parent is not None:
        item = item.parent
        if item in bodies:
            return item
    return None


def follow(scene: Scene, frames: np.ndarray, items: Sequence[Object], count: int) -> list[Beside]:
    """Each muscle, with so many points, at frames beside those of a bake; lengths are in Blender units.

    The bodies have their bake, the muscles have not. Without frames: the muscle is to stay as it is at the nearest
    frame of the bake; so it is at frames where no points can be had, or none that its object's space can hold.

    Args:
        frames: of the bake (F,), rising.
    """
    wanted = _frames_wanted(scene, int(np.floor(frames[0])), int(np.ceil(frames[-1])), items)
    rows: list[list[_Look]] = [[] for _ in items]
    at = np.unique(np.concatenate([np.empty(0, dtype=int), *wanted]))
    if len(at):
        current, subframe = scene.frame_current, scene.frame_subframe
        sets, ways = [set(each.tolist()) for each in wanted], Ways(scene)
        window_manager = bpy.context.window_manager
        window_manager.progress_begin(0, len(at))  # at the mouse: over several ellipsoids it may take seconds
        try:
            for number, frame in enumerate(at.tolist()):
                window_manager.progress_update(number)
                scene.frame_set(frame)
                ways.go_on()
                for item, mine, row in zip(items, sets, rows, strict=True):
                    way = _way(ways, item) if frame in mine else None
                    if way is not None:
                        row.append((frame, way, units.array4(item.matrix_world)))
        finally:
            window_manager.progress_end()
            scene.frame_set(current, subframe=subframe)
    return [_beside(row, count) for row in rows]


def _beside(row: list[_Look], count: int) -> Beside:
    """What was seen at frames, where it can be kept and is needed."""
    sampled = physics_access.part("analysis.muscle_drawing").sampled
    seen = [each for each in row if np.isfinite(each[1]).all()]
    frames = np.array([frame for frame, _, _ in seen], dtype=int)
    points = np.array([sampled(path, count)[0] for _, path, _ in seen]).reshape(-1, count, 3)
    worlds = np.array([world for _, _, world in seen]).reshape(-1, 4, 4)
    good = _usable(worlds)
    frames, points = frames[good], points[good]
    local = _moved(units.inverses(worlds[good]), points)
    needed = _needed(frames, local)
    return Beside(frames[needed], points[needed], local[needed])


def _moved(matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (S, n, 3) moved by matrices (S, 4, 4), or by one for all."""
    return points @ matrices[:, :3, :3].swapaxes(1, 2) + matrices[:, None, :3, 3]


def _usable(worlds: np.ndarray) -> np.ndarray:
    """Mask (F,) of the spaces (F, 4, 4) that can hold points: finite, and not flat along any axis."""
    finite = np.isfinite(worlds).all(axis=(1, 2))
    stretch = np.linalg.svd(np.where(finite[:, None, None], worlds, 0.0)[:, :3, :3], compute_uv=False)
    return stretch[:, 2] > FLAT * stretch[:, 0]


class Spaces:
    """The spaces of muscles' objects at the rising frames (F,) of a bake, looked at where something carries them."""

    def __init__(self, scene: Scene, frames: np.ndarray, items: Sequence[Object]) -> None:
        self._frames = frames
        if any(item.parent is not None for item in items):  # on a body, which has its bake since just now
            scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        # the present frame, too: of what is not carried the present place is taken
        span = min(float(frames[0]), scene.frame_current), max(float(frames[-1]), scene.frame_current_final)
        carried = [item for item in items if _is_carried(item, span)]
        self._samples = local_matrices.sample_matrices(scene, carried, frames)

    def local(self, item: Object, points: np.ndarray) -> np.ndarray:
        """Points (F, n, 3) in a muscle's space, of such in the world."""
        return _moved(units.inverses(self._worlds(item)), points)

    def sized(self, item: Object, local: np.ndarray) -> np.ndarray:
        """Points of `local` as large as in the world."""
        linear = self._worlds(item)[0, :3, :3]
        return local * np.cbrt(abs(np.linalg.det(linear)))

    def is_carried(self, item: Object) -> bool:
        """Whether a muscle's object may move."""
        return item.name_full in self._samples

    def _worlds(self, item: Object) -> np.ndarray:
        """Spaces (F, 4, 4), or one for all frames; one that holds no points counts as the nearest that does."""
        if self.is_carried(item):
            worlds = self._samples[item.name_full][""]
        else:
            worlds = units.array4(item.matrix_world)[None]
        good = np.flatnonzero(_usable(worlds))
        if not len(good):
            return np.eye(4)[None]
        nearest = np.abs(np.arange(len(worlds))[:, None] - good).argmin(axis=1)
        return worlds[good[nearest]]


def _is_carried(item: Object, span: tuple[float, float]) -> bool:
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


def _frames_wanted(scene: Scene, begin: int, end: int, items: Sequence[Object]) -> list[np.ndarray]:
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


def _holders(item: Object) -> list[Object]:
    """What decides where a muscle runs: itself, what its points are stuck to, and its obstacles."""
    hooked = [modifier.object for modifier in muscle_points.hooks(item).values()]
    over = [row.obstacle for row in item.condyle.muscle.obstacles if row.obstacle is not None]
    return [item, *hooked, *over]


def _way(ways: Ways, item: Object) -> np.ndarray | None:
    """A muscle's path (n, 3) as the scene stands: over its obstacles, straight on where no way is found.

    None where it has no points: an error here would leave half of a bake behind.
    """
    for found in (ways.path, ways.straight):
        try:
            return found(item)
        except (physics_access.physics().CondyleError, np.linalg.LinAlgError, ArithmeticError, ValueError):
            continue
    return None


def _needed(frames: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Mask (E,) of the frames that lines between the others cannot do without: those amid equal ones are not needed.

    Args:
        points: (E, n, 3) in the muscle's space, where they are kept: what stands still in the world may move there.
    """
    needed = np.ones(len(frames), dtype=bool)
    same = [np.array_equal(one, other) for one, other in pairwise(points)]
    for k, (before, after) in enumerate(pairwise(same), start=1):
        needed[k] = not (before and after and frames[k + 1] - frames[k - 1] == 2)
    return needed
