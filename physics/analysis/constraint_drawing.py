"""Points and lines that show a constraint, for plots and the add-on's overlay, like ``joints.drawing`` for joints.

A connector is drawn as a patch of its surface with the normal, a distance as a line between the points, a point as a
ball, a hinge as an axis with a ring, a weld as a box. A bead marks the body's own point or frame.
"""

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from .._typing import FloatArray
from ..constraints.base import Constraint
from ..constraints.distance import DistanceConstraint
from ..constraints.frames import FrameConstraint, HingeConstraint, PointConstraint, WeldConstraint
from ..constraints.planar import Connector, SegmentedPlanarConnector
from ..errors import ModelError
from ..joints.symbols import Drawing, Pen, ball, facing, joined, translation
from ..validation import number

Poses = Mapping[str | None, FloatArray]

BEAD = 0.12  # half the width of the bead at a body's point, as a share of the size
PATCH_LINES = 5  # lines in each direction across a patch of a plane
SIDE_MARKS = 3  # lines across a segment
COILS, COIL_POINTS = 8, 12


def drawing(constraint: Constraint, poses: Poses, size: float = 0.1) -> Drawing:
    """Points and lines that show a constraint, in the world; empty for a constraint between coordinates.

    Args:
        constraint: any constraint.
        poses: of its bodies (4, 4) by name; the pose of None is the world's, the identity if not given.
        size: of its symbols [m]; distances and segments have their true size.

    Raises:
        ModelError: the size is not positive; a body has no pose.
    """
    size = number(size, "size of a drawing", positive=True)
    pen = Pen()
    for kind, draw in DRAWN.items():
        if isinstance(constraint, kind):
            draw(pen, constraint, poses, size)
            break
    return pen.drawing()


def _pose(poses: Poses, name: str | None) -> FloatArray:
    if name in poses:
        return poses[name]
    if name is None:
        return np.eye(4)
    raise ModelError(f"a drawing needs the pose of body {name!r}")


def _point(pen: Pen, constraint: PointConstraint, poses: Poses, size: float) -> None:
    place = _pose(poses, constraint.other) @ translation(constraint.other_point)
    signs = Pen()
    ball(signs, 0.5 * size)
    pen.add(signs.drawing().moved(place))
    pen.bead(_pose(poses, constraint.body) @ translation(constraint.point), BEAD * size, "value")


def _hinge(pen: Pen, constraint: HingeConstraint, poses: Poses, size: float) -> None:
    place = _pose(poses, constraint.other) @ constraint.other_frame
    pen.stroke([[0, 0, -size], [0, 0, size]], "axis", place)
    pen.ring(place, 0.5 * size, "axis")
    _moving(pen, constraint, poses, size)


def _weld(pen: Pen, constraint: WeldConstraint, poses: Poses, size: float) -> None:
    signs = Pen()
    signs.box(0.4 * size, "axis")
    pen.add(signs.drawing().moved(_pose(poses, constraint.other) @ constraint.other_frame))
    _moving(pen, constraint, poses, size)


def _moving(pen: Pen, constraint: FrameConstraint, poses: Poses, size: float) -> None:
    pen.bead(_pose(poses, constraint.body) @ constraint.frame, BEAD * size, "value")


def _distance(pen: Pen, constraint: DistanceConstraint, poses: Poses, size: float) -> None:
    start = _pose(poses, constraint.other) @ translation(constraint.other_point)
    end = _pose(poses, constraint.body) @ translation(constraint.point)
    for place in (start, end):
        pen.bead(place, BEAD * size, "value")
    ends = np.stack([start[:3, 3], end[:3, 3]])
    away = ends[1] - ends[0]
    distance = float(np.linalg.norm(away))
    if constraint.sense != "rope" or distance <= 1e-12 or distance >= constraint.length:
        pen.stroke(ends, "path")
    else:
        pen.stroke(slack(ends, constraint.length), "path")
    if constraint.sense != "rod" and distance > 1e-12:  # the one-sided limit
        stop = ends[0] + constraint.length * away / distance
        pen.plate(facing(stop, away), 0.2 * size, "limit")


def slack(ends: FloatArray, length: float) -> FloatArray:
    """An arc (k, 3) of about this length that sags below two points (2, 3): a slack rope."""
    share = np.linspace(0.0, 1.0, 17)
    span = float(np.linalg.norm(ends[1] - ends[0]))
    depth = np.sqrt(0.375 * span * max(length - span, 0.0))  # of a flat parabola
    line: FloatArray = ends[0] + share[:, None] * (ends[1] - ends[0])
    line[:, 2] -= 4.0 * depth * share * (1.0 - share)
    return line


def _connector(pen: Pen, constraint: Connector, poses: Poses, size: float) -> None:
    place = _pose(poses, constraint.other) @ constraint.frame
    signs = Pen()
    if isinstance(constraint, SegmentedPlanarConnector):
        _segments(signs, constraint, size)
    else:
        plane(signs, size)
    pen.add(signs.drawing().moved(place))
    pen.bead(_pose(poses, constraint.body) @ translation(constraint.point), BEAD * size, "value")


def plane(pen: Pen, size: float) -> None:
    """A patch of the x-y plane, and its normal."""
    for share in np.linspace(-1.0, 1.0, PATCH_LINES):
        pen.stroke(size * np.array([[share, -1, 0], [share, 1, 0]]), "surface")
        pen.stroke(size * np.array([[-1, share, 0], [1, share, 0]]), "surface")
    _arrow(pen, np.zeros(3), np.array([0.0, 0.0, 1.0]), size)


def _arrow(pen: Pen, start: FloatArray, direction: FloatArray, size: float) -> None:
    tip = start + 0.6 * size * direction
    pen.stroke([start, tip], "axis")
    pen.head(tip, direction, 0.15 * size, "axis")


def _segments(pen: Pen, constraint: SegmentedPlanarConnector, size: float) -> None:
    """The polyline extruded along y, and the normal at the middle of each segment."""
    corners = constraint.segments
    line = np.stack([corners[:, 0], np.zeros(len(corners)), corners[:, 1]], axis=1)
    aside = np.array([0.0, size, 0.0])
    for share in (-1.0, 0.0, 1.0):
        pen.stroke(line + share * aside, "path" if share == 0.0 else "surface")
    for start, end in itertools.pairwise(line):
        for place in np.linspace(start, end, SIDE_MARKS):
            pen.stroke([place - aside, place + aside], "surface")
        _, normal = constraint.surface(0.5 * (start + end))
        _arrow(pen, 0.5 * (start + end), normal, size)


def spring(start: FloatArray, end: FloatArray, size: float = 0.1) -> Drawing:
    """A coil from one point (3,) to another; straight ends, and a dot where they coincide."""
    pen = Pen()
    away = np.asarray(end, dtype=np.float64) - start
    length = float(np.linalg.norm(away))
    for place in (start, end):
        pen.bead(translation(place), BEAD * size, "value")
    if length > 1e-12:
        turn = np.linspace(0.0, 2.0 * np.pi * COILS, COILS * COIL_POINTS + 1)
        radius = min(0.2 * size, 0.2 * length) * np.minimum(1.0, 4.0 * np.minimum(turn, turn[-1] - turn))
        height = np.linspace(0.1, 0.9, len(turn)) * length
        coil = np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)
        pen.stroke(
            np.concatenate([[[0, 0, 0]], coil, [[0, 0, length]]]), "path", facing(np.asarray(start), away)
        )
    return pen.drawing()


def ground(plane_pose: FloatArray, points: FloatArray, size: float = 0.1) -> Drawing:
    """A patch of a plane (4, 4) with hatching below it, and beads at points (n, 3) in the world."""
    pen = Pen()
    plane(pen, size)
    for share in np.linspace(-1.0, 1.0, PATCH_LINES):
        pen.stroke(size * np.array([[share, -1, 0], [share - 0.2, -1, -0.2]]), "surface")
    beads = Pen()
    for point in points:
        beads.bead(translation(point), 0.5 * BEAD * size, "value")
    return joined([pen.drawing().moved(plane_pose), beads.drawing()])


DRAWN: dict[type[Constraint], Callable[..., None]] = {
    PointConstraint: _point,
    HingeConstraint: _hinge,
    WeldConstraint: _weld,
    DistanceConstraint: _distance,
    Connector: _connector,
}
