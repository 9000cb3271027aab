"""Drawings of joints: points and lines in the fixed frame, for plots and for the add-on's overlay.

Drawings follow from a joint's factors, so that a new joint needs no code of its own. A coordinate along a constant
screw gets a shaft and an arc, an arrow or a helix; a rotation vector gets a ball; all others get the path, surface or
volume that they sweep. A `Sketch` keeps the drawing in rigid pieces, one per frame along the chain of the joint's
links, so that another configuration only moves the pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..kernels import layout
from ..validation import finite_array, number
from .base import IDENTITY, screw_frame
from .composite import Composite
from .elementary import turning
from .inverted import Inverted
from .joint import Joint
from .links import Link, links_of
from .rotation_limits import RotationLimit
from .swept import Sweep, draw_swept
from .symbols import (
    FULL_TURN,
    Drawing,
    Pen,
    ball,
    cone,
    double_arrow,
    helix,
    joined,
    limit_arc,
    limit_range,
    rotation_region,
    translation,
    turning_arc,
)

Frames = tuple[list[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Sketch:
    """The drawing of a joint in rigid pieces.

    Attributes:
        pieces: each fixed in its own frame.
        place: readings (n,) of the joint -> the frames (4, 4) of the pieces in the joint's fixed frame, and the pose of
            the moving frame.
        readings: default readings (n,): 0, or the nearest value inside the range and limits.
    """

    pieces: tuple[Drawing, ...]
    place: Callable[[FloatArray], Frames]
    readings: FloatArray

    def drawing(self, readings: FloatArray) -> Drawing:
        """All pieces at these readings, in the joint's fixed frame."""
        return joined(piece.moved(frame) for piece, frame in zip(self.pieces, self.place(readings)[0]))


def drawing(joint: Joint, size: float = 0.1, limits: Any = None, q: Any = None) -> Drawing:
    """Points and lines that show a joint, in its fixed frame.

    Args:
        joint: any joint. size: of its symbols [m]; paths and ranges have their true size.
        limits: (n, 2) of the readings as in ``Body.limits``; infinite or None where open.
        q: coordinates (n,) at which it is drawn; None: at rest.

    Raises:
        ModelError: a value is not finite, not positive or of the wrong shape.
        JointRangeError: q lies outside a joint whose policy is ``"error"``.
    """
    result = sketch(joint, size, limits, None if q is None else joint.readings(np.atleast_1d(q)))
    return result.drawing(result.readings)


def sketch(joint: Joint, size: float = 0.1, limits: Any = None, readings: Any = None) -> Sketch:
    """As `drawing`, in pieces that another configuration only moves.

    A surface that deforms is drawn at the time in `readings` (n,); another time needs another sketch.
    """
    size = number(size, "size of a drawing", positive=True)
    n = joint.num_coordinates
    bounds = _bounds(limits, n)
    if readings is None:
        readings = _resting(joint, bounds)
    readings = finite_array(readings, (n,), f"{joint.type} joint readings")
    result = _sketch(joint, size, bounds, readings)
    return Sketch(result.pieces, result.place, readings)


def _bounds(limits: Any, n: int) -> FloatArray:
    bounds = np.tile([-np.inf, np.inf], (n, 1))
    if limits is None:
        return bounds
    listed = np.asarray(limits, dtype=object)
    if listed.shape == (2,) and n == 1:
        listed = listed[None]
    if listed.shape != (n, 2) and not (n == 0 and listed.size == 0):
        raise ModelError(f"limits of a drawing must have shape ({n}, 2), got {listed.shape}")
    for index, value in np.ndenumerate(listed.reshape(n, 2)):
        if value is not None:
            bounds[index] = value
    if not (bounds[:, 0] <= bounds[:, 1]).all():
        raise ModelError(f"limits of a drawing must not be reversed, got {bounds.tolist()}")
    return bounds


def _resting(joint: Joint, bounds: FloatArray) -> FloatArray:
    inside = joint.range.reshape(-1, 2)
    return np.clip(np.clip(0.0, bounds[:, 0], bounds[:, 1]), inside[:, 0], inside[:, 1])


def _sketch(joint: Joint, size: float, limits: FloatArray, readings: FloatArray) -> Sketch:
    if isinstance(joint, Composite):
        return _row(joint, size, limits, readings)
    if isinstance(joint, Inverted) and _sweeps(joint):
        # the path of the inner joint is fixed to this joint's child
        inner = _sketch(joint.joint, size, limits, readings)

        def backward(values: FloatArray) -> Frames:
            frames, end = inner.place(values)
            start = lie.inverse(end)
            return [start @ frame for frame in frames], start

        return Sketch(inner.pieces, backward, readings)
    return _chain(joint, size, limits, readings)


def _sweeps(joint: Joint) -> bool:
    simple = (layout.SCREW, layout.ROTATION_VECTOR)
    return any(block.kind not in simple for block in joint.factorization().blocks)


def _row(joint: Composite, size: float, limits: FloatArray, readings: FloatArray) -> Sketch:
    """The sketches of a composite joint's parts, each placed after the one before it."""
    cuts = np.cumsum([part.num_coordinates for part in joint.joints])[:-1]
    parts = [
        _sketch(part, size, bounds, values)
        for part, bounds, values in zip(joint.joints, np.split(limits, cuts), np.split(readings, cuts))
    ]

    def place(values: FloatArray) -> Frames:
        frames: list[FloatArray] = []
        start = IDENTITY
        for part, own in zip(parts, np.split(values, cuts)):
            inner, end = part.place(own)
            frames += [start @ frame for frame in inner]
            start = start @ end
        return frames, start

    return Sketch(tuple(piece for part in parts for piece in part.pieces), place, readings)


def _chain(joint: Joint, size: float, limits: FloatArray, readings: FloatArray) -> Sketch:
    """The sketch of a joint that is one row of factors."""
    links = links_of(joint)
    pens = [Pen() for _ in range(len(links) + 1)]
    screws = [_screw(link) for link in links]
    turns = [k for k, screw in enumerate(screws) if screw is not None and screw[:3].any()]
    for k, (link, screw) in enumerate(zip(links, screws)):
        if not link.used:
            continue
        bounds = limits[list(link.used)]
        if screw is not None:
            level = turns.index(k) if len(turns) > 1 and k in turns else None
            _draw_screw(pens[k], pens[k + 1], link, screw, bounds[0], size, level)
        elif link.blocks[0].kind == layout.ROTATION_VECTOR:
            _draw_ball(pens[k], pens[k + 1], bounds, dict(joint.rotation_limits).get(link.first), size)
        else:
            free = tuple(c for c in link.used if not joint.prescribed[c])
            draw_swept(pens[k], pens[k + 1], Sweep(link, free, limits, readings), size)
    if not any(link.used for link in links):
        pens[0].box(0.2 * size, "axis")
        pens[0].frame(IDENTITY, 0.5 * size)

    def place(values: FloatArray) -> Frames:
        frames: list[FloatArray] = [IDENTITY]
        for link in links:
            frames.append(frames[-1] @ link.transform(values[link.own]))
        if not links:  # a fixed joint
            return frames, joint.factorization().after
        return frames, frames[-1]

    return Sketch(tuple(pen.drawing() for pen in pens), place, readings)


def _screw(link: Link) -> FloatArray | None:
    """The constant twist (6,) of a link's only coordinate, in the frame before the link; None if it changes."""
    constant = all(block.kind in (layout.SCREW, layout.FUNCTION) for block in link.blocks)
    if len(link.used) != 1 or not constant:
        return None
    twists = []
    for value in (0.0, 0.4, 0.9, -0.7):
        pose, subspace, _ = link.evaluate(value)
        twists.append(lie.adjoint(pose) @ subspace[:, 0])
    same = np.ptp(twists, axis=0).max() <= 1e-9 * np.abs(twists).max()
    return twists[0] if same else None


def _draw_screw(
    before: Pen, after: Pen, link: Link, screw: FloatArray, bounds: FloatArray, size: float, level: int | None
) -> None:
    """Draw a link along a constant screw; `level` is its index among several turns, drawn as nested rings."""
    pose, rate, lead = screw_frame(screw)
    carried = lie.inverse(link.transform(np.zeros(1))) @ pose
    limited = bool(np.isfinite(bounds).any())
    half = 0.5 * size
    if rate == 0.0:
        if limited:
            limit_range(before, pose, lead * bounds, size)
        else:
            double_arrow(before, pose, half)
        after.plate(carried, 0.04 * size, "value")
        return
    radius = size * (0.36 if level is None else 0.42 * 0.8**level)
    inner = 0.25 if level is None else 0.82  # symbols of nested rings leave the middle free
    before.stroke([[0, 0, -min(half, 1.25 * radius)], [0, 0, min(half, 1.25 * radius)]], "axis", pose)
    angles, rise = rate * bounds, lead / rate
    if abs(lead) > 1e-12:
        if limited:
            ends = np.where(np.isfinite(angles), angles, 0.0)
            ends = np.where(np.isfinite(angles), angles, ends[::-1] + [-FULL_TURN, FULL_TURN])
            helix(before, pose, ends, rise, radius, "limit")
            for bound in angles[np.isfinite(angles)]:
                spoke = _turned(radius, bound, rise)
                before.stroke(np.outer([0.25, 1.18], spoke) * [1, 1, 0] + [0, 0, spoke[2]], "limit", pose)
        else:
            turns = min(1.5, 0.5 * size / (FULL_TURN * abs(rise)))
            helix(before, pose, np.array([-turns, turns]) * FULL_TURN, rise, radius, "axis")
    else:
        if level is not None:
            before.ring(pose, radius, "axis")
        elif not limited:
            turning_arc(before, pose, radius)
        if limited:
            limit_arc(before, pose, angles, radius, inner)
    after.stroke([[0.0 if level is None else inner * radius, 0.0, 0.0], [radius, 0.0, 0.0]], "value", carried)
    after.bead(carried @ translation([radius, 0.0, 0.0]), 0.03 * size, "value")


def _turned(radius: float, angle: float, rise: float) -> FloatArray:
    return np.array([radius * np.cos(angle), radius * np.sin(angle), rise * angle])


def _draw_ball(before: Pen, after: Pen, bounds: FloatArray, limit: Any, size: float) -> None:
    """Draw a rotation vector: a ball, the region of its limit, and the axes that turn with it."""
    radius = 0.3 * size
    ball(before, radius)
    after.frame(IDENTITY, 1.3 * radius)
    after.bead(translation([0.0, 0.0, radius]), 0.03 * size, "value")
    if isinstance(limit, RotationLimit):
        # half a turn is drawn as long as the symbols of other joints
        rotation_region(before, np.asarray(limit.most), 0.5 * size / np.pi)
    elif limit is not None:
        axis = np.asarray(limit.axis)
        cone(before, axis, limit.angle, 0.5 * size)
        after.stroke([np.zeros(3), 0.5 * size * axis], "value")
    for axis, pair in zip(np.eye(3), bounds):
        if np.isfinite(pair).any():
            limit_arc(before, screw_frame(turning(axis))[0], pair, 1.15 * radius)
