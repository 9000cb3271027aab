"""Symbols that joints are drawn with: strokes of points, each with a role, collected by a `Pen`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..geometry.immutable import ReadOnlyArrays
from .base import rotation_to

FRAME_ROLES = ("frame_x", "frame_y", "frame_z")
#: axes of frames along a path or on a surface, which show how the joint turns there
SAMPLE_ROLES = ("sample_x", "sample_y", "sample_z")
#: role of a line in a drawing, which sets its colour
ROLES = ("axis", "path", "surface", *FRAME_ROLES, *SAMPLE_ROLES, "limit", "value")
FULL_TURN = 2.0 * np.pi
# Step of an arc [rad], fine enough for a ring that fills the screen.
TURN_STEP = FULL_TURN / 64
# More turns are not drawn: their spiral would look like a disc.
MOST_TURNS = 6.0
# Sizes of a sign beyond which a length is drawn as open: its line would only cross the view.
FARTHEST = 20.0
# Growth of a spiral's radius per turn, so that turns do not overlap.
SPIRAL = 0.06


@dataclass(frozen=True, eq=False)
class Drawing(ReadOnlyArrays):
    """Points and the lines between them.

    Attributes:
        points: (p, 3) [m]. lines: (l, 2), indices of points. roles: (l,), one of `ROLES` for each line.
    """

    points: FloatArray
    lines: IntArray
    roles: tuple[str, ...]

    def moved(self, pose: FloatArray) -> Drawing:
        """The drawing carried by a pose (4, 4)."""
        return Drawing(self.points @ pose[:3, :3].T + pose[:3, 3], self.lines, self.roles)

    def segments(self, *roles: str) -> FloatArray:
        """Both ends (k, 2, 3) of the lines with these roles, or of all lines."""
        chosen = [not roles or role in roles for role in self.roles]
        return self.points[self.lines[np.array(chosen, dtype=bool)]]


def joined(drawings: Any) -> Drawing:
    """Several drawings as one."""
    parts = list(drawings)
    starts = np.cumsum([0, *(len(each.points) for each in parts)])
    points = np.concatenate([np.empty((0, 3)), *(each.points for each in parts)])
    lines = [each.lines + start for each, start in zip(parts, starts)]
    return Drawing(
        points,
        np.concatenate([np.empty((0, 2), dtype=np.int64), *lines]),
        tuple(role for each in parts for role in each.roles),
    )


class Pen:
    """Collects strokes in one frame."""

    def __init__(self) -> None:
        self._strokes: list[tuple[FloatArray, str]] = []

    def drawing(self) -> Drawing:
        """All strokes so far."""
        parts = []
        for points, role in self._strokes:
            count = len(points)
            lines = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
            parts.append(Drawing(points, lines, (role,) * (count - 1)))
        return joined(parts)

    def stroke(self, points: Any, role: str, pose: FloatArray | None = None) -> None:
        """Add a line through points (k, 3), given in a frame `pose` (4, 4)."""
        array = np.asarray(points, dtype=np.float64)
        if pose is not None:
            array = array @ pose[:3, :3].T + pose[:3, 3]
        self._strokes.append((array, role))

    def add(self, drawing: Drawing) -> None:
        """Add the lines of another drawing."""
        for (start, end), role in zip(drawing.lines, drawing.roles):
            self._strokes.append((drawing.points[[start, end]], role))

    def frame(self, pose: FloatArray, length: float, roles: tuple[str, ...] = FRAME_ROLES) -> None:
        """Add the three axes of a frame."""
        for axis, role in enumerate(roles):
            self.stroke([pose[:3, 3], pose[:3, 3] + length * pose[:3, axis]], role)

    def ring(self, pose: FloatArray, radius: float, role: str) -> None:
        """Add a circle about the z axis of a frame."""
        self.stroke(arc_points(0.0, FULL_TURN, radius), role, pose)

    def head(self, tip: FloatArray, direction: FloatArray, length: float, role: str) -> None:
        """Add the head of an arrow: four strokes from its tip, which points along `direction`."""
        pose = facing(tip, direction)
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            self.stroke([[0, 0, 0], [0.35 * length * x, 0.35 * length * y, -length]], role, pose)

    def plate(self, pose: FloatArray, half: float, role: str) -> None:
        """Add a square with its diagonals across the z axis of a frame: a stop."""
        corners = half * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [1, 1, 0]])
        self.stroke(corners, role, pose)
        self.stroke(corners[[0, 2]], role, pose)
        self.stroke(corners[[1, 3]], role, pose)

    def bead(self, pose: FloatArray, radius: float, role: str) -> None:
        """Add an octahedron: the moving frame."""
        ends = radius * np.eye(3)
        for first, second in ((0, 1), (1, 2), (2, 0)):
            a, b = ends[first], ends[second]
            self.stroke([a, b, -a, -b, a], role, pose)

    def box(self, half: float, role: str) -> None:
        """Add a cube about the origin."""
        square = half * np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1], [1, 1, 1]])
        self.stroke(square, role)
        self.stroke(square * [1, 1, -1], role)
        for corner in square[:4]:
            self.stroke([corner, corner * [1, 1, -1]], role)


def facing(place: FloatArray, direction: FloatArray) -> FloatArray:
    """A frame (4, 4) at a place with its z axis along a direction."""
    pose = np.eye(4)
    pose[:3, :3] = rotation_to(direction / np.linalg.norm(direction))
    pose[:3, 3] = place
    return pose


def arc_points(start: float, end: float, radius: float, lead: float = 0.0, spiral: float = 0.0) -> FloatArray:
    """Points (k, 3) of an arc about z from angle `start` to `end`, rising by `lead` metres a radian."""
    steps = max(2, int(np.ceil(abs(end - start) / TURN_STEP)) + 1)
    angle = np.linspace(start, end, steps)
    reach = radius * (1.0 + spiral * (angle - min(start, end)) / FULL_TURN)
    return np.stack([reach * np.cos(angle), reach * np.sin(angle), lead * angle], axis=1)


def turning_arc(pen: Pen, pose: FloatArray, radius: float) -> None:
    """Draw an arc about z with a head that shows the sense of rotation."""
    points = arc_points(np.radians(-130.0), np.radians(130.0), radius)
    pen.stroke(points, "axis", pose)
    tip, before = (pose[:3, :3] @ points[[-1, -3]].T + pose[:3, 3:]).T
    pen.head(tip, tip - before, 0.28 * radius, "axis")


def limit_arc(pen: Pen, pose: FloatArray, bounds: FloatArray, radius: float, inner: float = 0.25) -> None:
    """Draw an arc from the lower to the upper angle, with a radial stop at each that begins at `inner` times the
    radius. An infinite limit is drawn a sixth of a turn from the other.
    """
    lower, upper = bounds
    if not np.isfinite(lower):
        lower = upper - FULL_TURN / 6.0
    if not np.isfinite(upper):
        upper = lower + FULL_TURN / 6.0
    end = min(upper, lower + MOST_TURNS * FULL_TURN)
    spiral = SPIRAL if end - lower > FULL_TURN else 0.0
    points = arc_points(lower, end, radius, spiral=spiral)
    pen.stroke(points, "limit", pose)
    for bound, point in zip(bounds, (points[0], points[-1])):
        if np.isfinite(bound):
            pen.stroke([inner * point, 1.18 * point], "limit", pose)


def double_arrow(pen: Pen, pose: FloatArray, half: float) -> None:
    """Draw an arrow both ways along the z axis of a frame; the positive head is larger."""
    pen.stroke([[0, 0, -half], [0, 0, half]], "axis", pose)
    axis = pose[:3, 2]
    pen.head(pose[:3, 3] + half * axis, axis, 0.24 * half, "axis")
    pen.head(pose[:3, 3] - half * axis, -axis, 0.14 * half, "axis")


def limit_range(pen: Pen, pose: FloatArray, bounds: FloatArray, size: float) -> None:
    """Draw a bar along z from the lower to the upper length, with a plate at each, or an arrow where it is open or far
    away.
    """
    bounds = np.where(np.abs(bounds) > FARTHEST * size, [-np.inf, np.inf], bounds)
    ends = np.where(np.isfinite(bounds), bounds, 0.0)
    for sense, (this, other) in zip((-1.0, 1.0), ((0, 1), (1, 0))):
        if not np.isfinite(bounds[this]):
            ends[this] = ends[other] + sense * 0.5 * size
    pen.stroke([[0, 0, ends[0]], [0, 0, ends[1]]], "limit", pose)
    for sense, bound, end in zip((-1.0, 1.0), bounds, ends):
        place = pose @ translation([0.0, 0.0, end])
        if np.isfinite(bound):
            pen.plate(place, 0.08 * size, "limit")
        else:
            pen.head(place[:3, 3], sense * pose[:3, 2], 0.12 * size, "limit")


def helix(pen: Pen, pose: FloatArray, bounds: FloatArray, lead: float, radius: float, role: str) -> None:
    """Draw a helix about z between two angles, with an arrow head unless it is a limit."""
    points = arc_points(float(bounds[0]), float(bounds[1]), radius, lead)
    pen.stroke(points, role, pose)
    if role != "limit":
        tip, before = (pose[:3, :3] @ points[[-1, -2]].T + pose[:3, 3:]).T
        pen.head(tip, tip - before, 0.28 * radius, role)


def ball(pen: Pen, radius: float) -> None:
    """Draw three great circles about the origin."""
    for axis in np.eye(3):
        pen.ring(facing(np.zeros(3), axis), radius, "axis")


def cone(pen: Pen, axis: FloatArray, angle: float, radius: float) -> None:
    """Draw the rim and eight sides of a reach cone, in which the axis may point (Kim, Lee & Park 2014, Fig. 6)."""
    pose = facing(np.zeros(3), axis)
    rim = arc_points(0.0, FULL_TURN, radius * np.sin(angle)) + [0.0, 0.0, radius * np.cos(angle)]
    pen.stroke(rim, "limit", pose)
    for point in rim[:-1][:: (len(rim) - 1) // 8]:
        pen.stroke([np.zeros(3), point], "limit", pose)


def rotation_region(pen: Pen, most: FloatArray, scale: float) -> None:
    """Draw the region of a limited rotation vector as its outline in three planes (ArtiSynth's guide, eq. 3.27).

    `scale`: metres per radian.
    """
    circle = arc_points(0.0, FULL_TURN, 1.0)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        direction = circle[:, order]
        theta = np.linalg.norm(most * direction, axis=1, keepdims=True)
        pen.stroke(scale * theta * direction, "limit")


def translation(vector: Any) -> FloatArray:
    pose = np.eye(4)
    pose[:3, 3] = vector
    return pose
