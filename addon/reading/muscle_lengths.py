"""Length and path of a muscle in the evaluated scene, for the panel and the overlay; unjitted."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import attachments, physics_access, redraw, units
from . import muscle_points, obstacles
from .muscle_points import Point

# Points drawn of each strand over obstacles.
DRAWN = 24
MOST_KNOWN = 500
_known: dict[int, tuple[Any, np.ndarray, float]] = {}


class Budget:
    """The time [s] that all paths of a redraw may take. While things move, none begins that would exceed it."""

    SECONDS = 0.05
    LATER = 0.05  # until a redraw for the paths that are left

    def __init__(self, moving: bool) -> None:
        self._left, self._moving = self.SECONDS, moving

    def allows(self, cost: float) -> bool:
        """Whether a path of this cost [s] may be computed now; else the views are drawn again soon."""
        if self._left > (cost if self._moving else 0.0):
            return True
        if not bpy.app.background:
            attachments.soon(redraw.views, self.LATER)
        return False

    def spend(self, cost: float) -> None:
        """Count what a path took."""
        self._left -= cost


def path_now(scene: Scene, item: Object, budget: Budget | None = None) -> np.ndarray:
    """The muscle's path (n, 3) in the evaluated scene, in Blender units; ModelError where it has none.

    A path over obstacles takes milliseconds, over an ellipsoid or a torus tenths of a second. So it is computed again
    only after a move.

    Args:
        budget: of a redraw; what exceeds it is straight from point to point.
    """
    points = muscle_points.points_of(item)
    key = _key(item, points), _wrapping_of(scene, item)
    before, path, cost = _known.get(item.session_uid, (None, np.empty((0, 3)), 0.0))
    if before == key:
        return path
    if budget is not None and not budget.allows(cost):
        return np.array([point.place for point in points])
    began = time.perf_counter()
    path = _path(scene, item, points, muscle_points.strands_over(item, points))
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    cost = time.perf_counter() - began
    _known[item.session_uid] = key, path, cost
    if budget is not None:
        budget.spend(cost)
    return path


def length_now(scene: Scene, item: Object) -> float:
    """Length of a muscle's drawn path in the evaluated scene, in Blender units; ModelError where it has none."""
    return float(np.linalg.norm(np.diff(path_now(scene, item), axis=0), axis=1).sum())


def true_length(scene: Scene, item: Object) -> float:
    """Length [m] of a muscle's path in the evaluated scene, by physics; ModelError where it has none."""
    points = muscle_points.points_of(item)
    strands = _strands(scene, item, points, muscle_points.strands_over(item, points))
    metres, total = units.length_scale(scene), 0.0
    for number, (start, end) in enumerate(pairwise(points)):
        if number in strands:
            total += strands[number].length
        else:
            total += metres * float(np.linalg.norm(end.place - start.place))
    return total


def forget() -> None:
    """Drop all paths."""
    _known.clear()


def _key(item: Object, points: list[Point]) -> Any:
    surfaces = [(row.strand, _figures_of(row.obstacle)) for row in item.condyle.muscle.obstacles]
    once = item.condyle.muscle.wraps_once
    return b"".join(point.place.tobytes() for point in points), surfaces, once


def _figures_of(item: Object | None) -> Any:
    """Place and settings of an obstacle that a path over it depends on, to be compared; None without one."""
    if item is None:
        return None
    settings = item.condyle.obstacle
    place = settings.enabled, units.array4(item.matrix_world).tobytes()
    figures = (*place, settings.shape, settings.radius, settings.major_radius, settings.length, settings.side)
    second = (settings.second_radius, *settings.second_place, *settings.second_turn, settings.second_side)
    return (*figures, *second, *settings.radii)


def _wrapping_of(scene: Scene, item: Object) -> tuple[float | None, bool]:
    """Smoothing [m] of a muscle's path over obstacles, and whether the muscle has mass; the path depends on both."""
    return muscle_points.smoothing_of(scene, item), item.condyle.muscle.mass > 0.0


def _path(scene: Scene, item: Object, points: list[Point], over: dict[int, list[Object]]) -> np.ndarray:
    metres, strands = units.length_scale(scene), _strands(scene, item, points, over)
    places = [points[0].place]
    for number, end in enumerate(points[1:]):
        if number in strands:
            shares = np.arange(1, DRAWN + 1) / (DRAWN + 1)
            places += [strands[number].point(share) / metres for share in shares]
        places.append(end.place)
    return np.array(places)


def _strands(
    scene: Scene, item: Object, points: list[Point], over: dict[int, list[Object]]
) -> dict[int, Strand]:
    """The paths of the strands over obstacles; an obstacle of several may be left to one of them."""
    metres, strands = units.length_scale(scene), {}
    for number, objects in over.items():
        surfaces = [obstacles.placed(scene, each, None, np.eye(4)) for each in objects]
        start, end = (metres * point.place for point in points[number : number + 2])
        strands[number] = Strand(surfaces, start, end, *_wrapping_of(scene, item))
    if item.condyle.muscle.wraps_once:
        physics_access.part("muscles.wrapping").number_shared([each.record for each in strands.values()])
        claims: dict[float, list[Any]] = {}
        for number in sorted(strands):
            for k in range(int(strands[number].record[0])):
                shared, much = strands[number].claim(k)
                claims.setdefault(shared, []).append((much, strands[number], k))
        claims.pop(0.0, None)
        for rivals in claims.values():
            most = max(rivals, key=lambda rival: rival[0])
            for _, strand, k in (rival for rival in rivals if rival is not most):
                strand.leave(k)
    return strands


class Strand:
    """The path over obstacles fixed in the world, between two points [m].

    Attributes:
        length: [m]. record: of its obstacles, for the kernels.
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
        self.record = wrap.packed({}, np.zeros((0, 4, 4)), massive)
        size = 6 + 6 * int(self.record[0])
        self._rates, self._own, self._gradient = np.zeros(size), np.zeros(wrap.workspace_size), np.zeros(size)
        self._ends = np.concatenate([start, end])
        self._lay()

    def _lay(self) -> None:
        count = int(self.record[0])
        frames = self.record[1 + count : 1 + 13 * count].reshape(count, 12)
        length, _ = self._kernels.wrap_length(
            self.record, 0, self._ends, frames, self._rates, self._own, self._gradient
        )
        self.length = float(length)

    def claim(self, obstacle: int) -> tuple[float, float]:
        """Number of an obstacle of several strands, and how much this one claims it (`kernels.wrapping.strand`)."""
        return self._kernels.claim(self.record, 0, self._own, obstacle)

    def leave(self, obstacle: int) -> None:
        """Leave an obstacle to another strand."""
        self._kernels.leave(self.record, 0, self._own, obstacle, 1.0)
        self._lay()

    def point(self, share: float) -> np.ndarray:
        """Place (3,) [m] at a share of the length."""
        point, tangent, bias = np.zeros(3), np.zeros(3), np.zeros(3)
        jacobian = np.zeros((3, len(self._rates)))
        along = share * self.length
        self._kernels.wrap_point(
            self.record, 0, along, 0.0, self._rates, self._own, point, tangent, jacobian, bias
        )
        return point
