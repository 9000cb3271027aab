"""Paths of muscles frame after frame: what frames have in common is kept, for a path is found in unjitted steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from . import muscle_points, muscle_reading, obstacles, references, units
from .muscle_lengths import DRAWN, Strand, figures_of, wrapping_of

SHARES = np.arange(1, DRAWN + 1) / (DRAWN + 1)


@dataclass(eq=False)
class _Known:
    """A strand as it lay last.

    Attributes:
        made_of: what its obstacles and smoothing were. parts: frames (parts, 4, 4) [m] of each obstacle's primitive
            surfaces in its own. laid: where its ends and obstacles were. places: (n, 3) between its ends, in
            Blender units.
    """

    strand: Strand
    made_of: Any
    parts: list[np.ndarray]
    laid: bytes
    places: np.ndarray


class Ways:
    """Paths of muscles over their obstacles, at one frame after another."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._metres = units.length_scale(scene)
        self._poses: dict[int, tuple[Any, float, np.ndarray]] = {}
        self._known: dict[tuple[int, int], _Known] = {}

    def moved(self) -> None:
        """The scene has gone to another frame."""
        self._poses.clear()

    def path(self, item: Any) -> np.ndarray:
        """A muscle's path (n, 3) as the scene stands, in Blender units; ModelError where it has none."""
        points = muscle_points.points_of(item)
        strands = muscle_reading.strands_over(item, points)
        places = [points[0].place[None]]
        for number, (start, end) in enumerate(pairwise(points)):
            if number in strands:
                places.append(self._over(item, number, strands[number], start.place, end.place))
            places.append(end.place[None])
        return np.concatenate(places)

    def _over(
        self, item: Any, number: int, surfaces: list[Any], start: np.ndarray, end: np.ndarray
    ) -> np.ndarray:
        """Places (n, 3) of a strand between its ends; none where it is straight."""
        poses = [self._pose(surface) for surface in surfaces]
        made_of = [(figures, scale) for figures, scale, _ in poses], wrapping_of(self._scene, item)
        frames = np.array([frame for *_, frame in poses])
        ends = self._metres * start, self._metres * end
        laid = np.concatenate([*ends, frames.ravel()]).tobytes()
        known = self._known.get((item.session_uid, number))
        if known is not None and known.made_of == made_of:
            if known.laid == laid:
                return known.places
            known.strand.move(_rows(known.parts, frames), *ends)
        else:
            kinds = [
                obstacles.of_shape(surface, scale * self._metres, body=None, frame=np.eye(4))
                for surface, (_, scale, _) in zip(surfaces, poses, strict=True)
            ]
            parts = [np.array([place for place, _ in kind.parts()]) for kind in kinds]
            placed = [
                obstacles.of_shape(surface, scale * self._metres, body=None, frame=frame)
                for surface, (_, scale, frame) in zip(surfaces, poses, strict=True)
            ]
            known = _Known(Strand(placed, *ends, *made_of[1]), made_of, parts, laid, np.empty((0, 3)))
            self._known[item.session_uid, number] = known
        strand = known.strand
        found = [] if strand.is_straight else [strand.point(share) / self._metres for share in SHARES]
        known.laid, known.places = laid, np.array(found).reshape(-1, 3)
        return known.places

    def _pose(self, surface: Any) -> tuple[Any, float, np.ndarray]:
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
