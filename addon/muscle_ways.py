"""Paths of muscles frame after frame: what frames have in common is kept, for a path is found in unjitted steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from . import core, muscle_points, muscle_reading, obstacles, references, units
from .muscle_lengths import DRAWN, Strand, figures_of, wrapping_of

#: of a strand between its ends
SHARES = np.arange(1, DRAWN + 1) / (DRAWN + 1)
#: how far a strand's ends go, seen from its obstacle, before it is found again: of the distance between them
STEP = 0.04
#: of that, over several surfaces, which a strand may touch or not: a part
SEVERAL = 8
#: finds of a bent strand after which it becomes twice as far
MANY = 100
#: times as far as its ends that a strand goes only to another side
JUMP = 2.0


@dataclass(eq=False)
class _Piece:
    """A strand at one frame.

    Attributes:
        ends: (2, 3) [m]. frames: (m, 4, 4) [m] of its obstacles. seen: (k,) all these, as seen from the first obstacle
            [m]. places: (n, 3) between its ends [m]; none where it is straight; None: not known yet.
    """

    ends: np.ndarray
    frames: np.ndarray
    seen: np.ndarray
    places: np.ndarray | None = None


@dataclass(eq=False)
class _Known:
    """A strand while frames go by.

    Attributes:
        made_of: what its obstacles and smoothing are. parts: frames (parts, 4, 4) [m] of each obstacle's primitive
            surfaces in its own. found: where it lay last. waiting: frames since then. finds: how many bent.
    """

    strand: Strand
    made_of: Any
    parts: list[np.ndarray]
    found: _Piece
    waiting: list[_Piece] = field(default_factory=list)
    finds: int = 0

    def add(self, piece: _Piece) -> _Piece:
        """The piece of one more frame: that of the frame before where nothing has moved."""
        newest = self.waiting[-1] if self.waiting else self.found
        if np.array_equal(newest.frames, piece.frames) and np.array_equal(newest.ends, piece.ends):
            return newest
        self.waiting.append(piece)
        apart = float(np.linalg.norm(piece.ends[1] - piece.ends[0]))
        step = STEP * (1 + self.finds // MANY) / (1 if sum(map(len, self.parts)) == 1 else SEVERAL)
        if np.abs(piece.seen - self.found.seen).max() > step * apart:
            self.settle()
        return piece

    def settle(self) -> None:
        """Find the strand at the last frame that waits, and what lies between: anew where it is straight at either, or
        jumps.
        """
        if not self.waiting:
            return
        before, last = self.found, self.waiting.pop()
        self._find(last)
        bends = len(before.places) and len(last.places) and not _is_jump(before, last)
        for piece in self.waiting:
            if bends:
                piece.places = _between(before, last, piece)
            else:
                self._find(piece)
        self.found, self.waiting = last, []

    def _find(self, piece: _Piece) -> None:
        try:
            self.strand.move(_rows(self.parts, piece.frames), *piece.ends)
            piece.places = _places(self.strand)
            self.finds += len(piece.places) > 0
        except (core.physics().CondyleError, np.linalg.LinAlgError, ArithmeticError, ValueError):
            piece.places = np.empty((0, 3))


def _places(strand: Strand) -> np.ndarray:
    """Places (n, 3) [m] of a strand between its ends, none where it is straight or not found."""
    found = np.array([] if strand.is_straight else [strand.point(share) for share in SHARES]).reshape(-1, 3)
    return found if np.isfinite(found).all() else found[:0]


def _local(piece: _Piece) -> np.ndarray:
    """Places (n, 3) of a strand as seen from its first obstacle."""
    found: np.ndarray = (piece.places - piece.frames[0, :3, 3]) @ piece.frames[0, :3, :3]
    return found


def _is_jump(before: _Piece, after: _Piece) -> bool:
    """Whether a bent strand goes farther than what it depends on: to another side of its obstacle."""
    gone = np.linalg.norm(_local(after) - _local(before), axis=1).max()
    return bool(gone > JUMP * np.linalg.norm(after.seen - before.seen))


def _between(before: _Piece, after: _Piece, piece: _Piece) -> np.ndarray:
    """Places (n, 3) of a bent strand, from those shortly before and after, all as seen from the first obstacle."""
    way = after.seen - before.seen
    part = float(np.clip((piece.seen - before.seen) @ way / max(way @ way, 1e-300), 0.0, 1.0))
    one, other = _local(before), _local(after)
    off = (piece.seen - before.seen - part * way)[:6].reshape(2, 3)
    local = one + part * (other - one) + (1.0 - SHARES)[:, None] * off[0] + SHARES[:, None] * off[1]
    found: np.ndarray = local @ piece.frames[0, :3, :3].T + piece.frames[0, :3, 3]
    return found


class Way:
    """A muscle's path at a frame, to be had when `Ways.settle` has been called."""

    def __init__(self, parts: list[Any], metres: float) -> None:
        self._parts = parts
        self._metres = metres

    def places(self) -> np.ndarray:
        """The path (n, 3), in Blender units."""
        parts = [part.places / self._metres if isinstance(part, _Piece) else part for part in self._parts]
        return np.concatenate(parts)


class Ways:
    """Paths of muscles over their obstacles, at one frame after another.

    A bent strand is found only where its ends have gone on by a little since it was; between it bends little by little.
    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._metres = units.length_scale(scene)
        self._frame: int | None = None
        self._poses: dict[int, tuple[Any, float, np.ndarray]] = {}
        self._known: dict[tuple[int, int], _Known] = {}

    def at(self, frame: int) -> None:
        """The scene has gone to a frame."""
        if self._frame is not None and frame != self._frame + 1:
            self.settle()
        self._frame = frame
        self._poses.clear()

    def settle(self) -> None:
        """There are no more frames after the last, or not right after it."""
        for known in self._known.values():
            known.settle()
        self._known.clear()

    def path(self, item: Any) -> Way:
        """A muscle's path as the scene stands; ModelError where it has none."""
        points = muscle_points.points_of(item)
        strands = muscle_reading.strands_over(item, points)
        parts: list[Any] = [points[0].place[None]]
        for number, (start, end) in enumerate(pairwise(points)):
            if number in strands:
                ends = self._metres * np.array([start.place, end.place])
                parts.append(self._over(item, number, strands[number], ends))
            parts.append(end.place[None])
        return Way(parts, self._metres)

    def straight(self, item: Any) -> Way:
        """Along a muscle's points, without its obstacles."""
        return Way([np.array([point.place for point in muscle_points.points_of(item)])], self._metres)

    def _over(self, item: Any, number: int, surfaces: list[Any], ends: np.ndarray) -> _Piece:
        """The strand of that number, with ends (2, 3) [m]."""
        poses = [self._pose(surface) for surface in surfaces]
        made_of = [(figures, scale) for figures, scale, _ in poses], wrapping_of(self._scene, item)
        frames = np.array([frame for *_, frame in poses])
        piece = _Piece(ends, frames, _seen(ends, frames))
        known = self._known.get((item.session_uid, number))
        if known is not None and known.made_of == made_of:
            return known.add(piece)
        if known is not None:
            known.settle()
        kinds, placed = (
            [
                obstacles.of_shape(surface, scale * self._metres, body=None, frame=at)
                for surface, (_, scale, _), at in zip(surfaces, poses, where, strict=True)
            ]
            for where in (np.broadcast_to(np.eye(4), frames.shape), frames)
        )
        parts = [np.array([place for place, _ in kind.parts()]) for kind in kinds]
        strand = Strand(placed, *ends, *made_of[1])
        piece.places = _places(strand)
        self._known[item.session_uid, number] = _Known(strand, made_of, parts, piece)
        return piece

    def _pose(self, surface: Any) -> tuple[Any, float, np.ndarray]:
        """An obstacle's settings, its scale and where it is (4, 4) [m]; ModelError where it cannot be had."""
        number = surface.session_uid
        if number not in self._poses:
            references.check_evaluated(surface, f"obstacle {surface.name!r}")
            pose, scale = units.split_scale(surface.matrix_world, f"obstacle {surface.name!r}", surface)
            self._poses[number] = figures_of(surface), scale, units.to_metres(pose, self._scene)
        return self._poses[number]


def _seen(ends: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Ends (2, 3) and obstacles (m, 4, 4) as seen from the first obstacle (k,); turns as what they move the ends by."""
    turn, place = frames[0, :3, :3], frames[0, :3, 3]
    apart = float(np.linalg.norm(ends[1] - ends[0]))
    others = (frames[1:, :3, 3] - place) @ turn
    return np.concatenate(
        [((ends - place) @ turn).ravel(), others.ravel(), (apart * (turn.T @ frames[1:, :3, :3])).ravel()]
    )


def _rows(parts: list[np.ndarray], frames: np.ndarray) -> np.ndarray:
    """Frames of all primitive surfaces as kernels have them (parts, 12): rotation by rows, place."""
    worlds = np.concatenate([frame @ part for part, frame in zip(parts, frames, strict=True)])
    return np.concatenate([worlds[:, :3, :3].reshape(-1, 9), worlds[:, :3, 3]], axis=1)
