"""Paths of muscles frame after frame: what frames have in common is kept, for a path is found in unjitted steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..reading import muscle_points, muscle_strands, obstacles
from ..reading.muscle_lengths import DRAWN, Strand, figures_of, wrapping_of

#: of a strand between its ends
SHARES = np.arange(1, DRAWN + 1) / (DRAWN + 1)


@dataclass(eq=False)
class _Known:
    """A strand while frames go by.

    Attributes:
        made_of: what its obstacles and smoothing are. parts: frames (parts, 4, 4) [m] of each obstacle's primitive
            surfaces in its own. ends: (2, 3) [m]. frames: (m, 4, 4) [m] of its obstacles. places: (n, 3) [m] between
            its ends, none where it is straight or not found.
    """

    strand: Strand
    made_of: Any
    parts: list[np.ndarray]
    ends: np.ndarray
    frames: np.ndarray
    places: np.ndarray

    def move(self, ends: np.ndarray, frames: np.ndarray) -> None:
        """Find the strand anew where anything has moved."""
        if np.array_equal(self.frames, frames) and np.array_equal(self.ends, ends):
            return
        self.ends, self.frames = ends, frames
        try:
            self.strand.move(_rows(self.parts, frames), *ends)
            self.places = _places(self.strand)
        except (physics_access.physics().CondyleError, np.linalg.LinAlgError, ArithmeticError, ValueError):
            self.places = np.empty((0, 3))


def _places(strand: Strand) -> np.ndarray:
    """Places (n, 3) [m] of a strand between its ends, none where it is straight or not found."""
    found = np.array([] if strand.is_straight else [strand.point(share) for share in SHARES]).reshape(-1, 3)
    return found if np.isfinite(found).all() else found[:0]


class Ways:
    """Paths of muscles over their obstacles, at one frame after another."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._metres = units.length_scale(scene)
        self._poses: dict[int, tuple[Any, float, np.ndarray]] = {}
        self._known: dict[tuple[int, int], _Known] = {}

    def go_on(self) -> None:
        """The scene has gone to another frame."""
        self._poses.clear()

    def path(self, item: Object) -> np.ndarray:
        """A muscle's path (n, 3) as the scene stands, in Blender units; ModelError where it has none."""
        points = muscle_points.points_of(item)
        strands = muscle_strands.strands_over(item, points)
        parts = [points[0].place[None]]
        for number, (start, end) in enumerate(pairwise(points)):
            if number in strands:
                ends = self._metres * np.array([start.place, end.place])
                parts.append(self._over(item, number, strands[number], ends) / self._metres)
            parts.append(end.place[None])
        return np.concatenate(parts)

    def straight(self, item: Object) -> np.ndarray:
        """Along a muscle's points (n, 3), without its obstacles."""
        return np.array([point.place for point in muscle_points.points_of(item)])

    def _over(self, item: Object, number: int, surfaces: list[Object], ends: np.ndarray) -> np.ndarray:
        """Places (n, 3) [m] of the strand of that number, between its ends (2, 3) [m]."""
        poses = [self._pose(surface) for surface in surfaces]
        made_of = [(figures, scale) for figures, scale, _ in poses], wrapping_of(self._scene, item)
        frames = np.array([frame for *_, frame in poses])
        known = self._known.get((item.session_uid, number))
        if known is not None and known.made_of == made_of:
            known.move(ends, frames)
            return known.places
        kinds, placed = (
            [
                obstacles.of_shape(surface, scale * self._metres, body=None, frame=at)
                for surface, (_, scale, _), at in zip(surfaces, poses, where, strict=True)
            ]
            for where in (np.broadcast_to(np.eye(4), frames.shape), frames)
        )
        parts = [np.array([place for place, _ in kind.parts()]) for kind in kinds]
        strand = Strand(placed, ends[0], ends[1], *made_of[1])
        known = _Known(strand, made_of, parts, ends, frames, _places(strand))
        self._known[item.session_uid, number] = known
        return known.places

    def _pose(self, surface: Object) -> tuple[Any, float, np.ndarray]:
        """An obstacle's settings, its scale and where it is (4, 4) [m]; ModelError where it cannot be had."""
        number = surface.session_uid
        if number not in self._poses:
            references.check_evaluated(surface, f"obstacle {surface.name!r}")
            pose, scale = units.split_scale(surface.matrix_world, f"obstacle {surface.name!r}", surface)
            self._poses[number] = figures_of(surface), scale, units.to_metres(pose, self._scene)
        return self._poses[number]


def _rows(parts: list[np.ndarray], frames: np.ndarray) -> np.ndarray:
    """Frames of all primitive surfaces as kernels have them (parts, 12): rotation by rows, place."""
    worlds = np.concatenate([frame @ part for part, frame in zip(parts, frames, strict=True)])
    return np.concatenate([worlds[:, :3, :3].reshape(-1, 9), worlds[:, :3, 3]], axis=1)
