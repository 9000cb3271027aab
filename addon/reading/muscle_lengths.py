"""Length and path of a muscle in the evaluated scene, for the panel and the overlay; unjitted."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from . import muscle_points, obstacles
from .muscle_points import Point

# Points drawn of each strand over obstacles.
DRAWN = 24
# Paths that take longer [s] are not computed again at every frame.
SLOW = 0.02
MOST_KNOWN = 500
_known: dict[int, tuple[Any, np.ndarray, float]] = {}


def path_now(scene: Scene, item: Object) -> np.ndarray:
    """The muscle's path (n, 3) in the evaluated scene, in Blender units; ModelError where it has none.

    A path over obstacles takes milliseconds, over an ellipsoid or a torus tenths of a second. So it is computed again
    only after a move, and slow paths not during playback.
    """
    points = muscle_points.points_of(item)
    strands = muscle_points.strands_over(item, points)
    key = _key(points, strands), _wrapping_of(scene, item)
    found = _known.get(item.session_uid)
    if found is not None and (found[0] == key or (found[2] > SLOW and _playing())):
        return found[1]
    began = time.perf_counter()
    path = _path(scene, item, points, strands)
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[item.session_uid] = key, path, time.perf_counter() - began
    return path


def length_now(scene: Scene, item: Object) -> float:
    """Length of a muscle's drawn path in the evaluated scene, in Blender units; ModelError where it has none."""
    return float(np.linalg.norm(np.diff(path_now(scene, item), axis=0), axis=1).sum())


def true_length(scene: Scene, item: Object) -> float:
    """Length [m] of a muscle's path in the evaluated scene, by physics; ModelError where it has none."""
    points = muscle_points.points_of(item)
    strands = muscle_points.strands_over(item, points)
    metres, total = units.length_scale(scene), 0.0
    for number, (start, end) in enumerate(pairwise(points)):
        if number in strands:
            surfaces = [obstacles.placed(scene, each, None, np.eye(4)) for each in strands[number]]
            ends = metres * start.place, metres * end.place
            total += Strand(surfaces, *ends, *_wrapping_of(scene, item)).length
        else:
            total += metres * float(np.linalg.norm(end.place - start.place))
    return total


def _playing() -> bool:
    screen = bpy.context.screen
    return screen is not None and screen.is_animation_playing


def forget() -> None:
    """Drop all paths."""
    _known.clear()


def _key(points: list[Point], strands: dict[int, list[Object]]) -> Any:
    surfaces = []
    for number, row in strands.items():
        for item in row:
            matrix = units.array4(item.matrix_world).tobytes()
            surfaces.append((number, _figures_of(item), matrix))
    return b"".join(point.place.tobytes() for point in points), tuple(surfaces)


def _figures_of(item: Object) -> Any:
    """The settings of an obstacle that a path over it depends on, to be compared."""
    settings = item.condyle.obstacle
    figures = (settings.shape, settings.radius, settings.major_radius, settings.length, settings.side)
    second = (settings.second_radius, *settings.second_place, *settings.second_turn, settings.second_side)
    return (*figures, *second, *settings.radii)


def _wrapping_of(scene: Scene, item: Object) -> tuple[float | None, bool]:
    """Smoothing [m] of a muscle's path over obstacles, and whether the muscle has mass; the path depends on both."""
    return muscle_points.smoothing_of(scene, item), item.condyle.muscle.mass > 0.0


def _path(scene: Scene, item: Object, points: list[Point], strands: dict[int, list[Object]]) -> np.ndarray:
    metres = units.length_scale(scene)
    places = [points[0].place]
    for number, (start, end) in enumerate(pairwise(points)):
        if number in strands:
            surfaces = [obstacles.placed(scene, item, None, np.eye(4)) for item in strands[number]]
            strand = Strand(surfaces, metres * start.place, metres * end.place, *_wrapping_of(scene, item))
            shares = np.arange(1, DRAWN + 1) / (DRAWN + 1)
            places += [strand.point(share) / metres for share in shares]
        places.append(end.place)
    return np.array(places)


class Strand:
    """The path over obstacles fixed in the world, between two points [m].

    Attributes:
        length: [m].
    """

    def __init__(
        self,
        surfaces: list[physics_access.Obstacle],
        start: np.ndarray,
        end: np.ndarray,
        smoothing: float | None,
        massive: bool,
    ) -> None:
        self._kernels = physics_access.part("kernels.wrapping.strand")
        wrap = physics_access.physics().muscles.Wrap(surfaces, smoothing)
        self._data = wrap.packed({}, np.zeros((0, 4, 4)), massive)
        count = int(self._data[0])
        size = 6 + 6 * count
        self._rates, self._own, self._gradient = np.zeros(size), np.zeros(wrap.workspace_size), np.zeros(size)
        frames = self._data[1 + count : 1 + 13 * count].reshape(count, 12)
        ends = np.concatenate([start, end])
        length, _ = self._kernels.wrap_length(
            self._data, 0, ends, frames, self._rates, self._own, self._gradient
        )
        self.length = float(length)

    def point(self, share: float) -> np.ndarray:
        """Place (3,) [m] at a share of the length."""
        point, tangent, bias = np.zeros(3), np.zeros(3), np.zeros(3)
        jacobian = np.zeros((3, len(self._rates)))
        along = share * self.length
        self._kernels.wrap_point(
            self._data, 0, along, 0.0, self._rates, self._own, point, tangent, jacobian, bias
        )
        return point
