"""The coordinates at which a joint comes nearest to a pose, over its whole range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import JointRangeError, ModelError
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from ..joints.composite import Composite
from ..joints.curve_packing import kernel_poses
from ..joints.extent import extent, periods
from ..joints.inverted import Inverted
from ..joints.joint import Joint
from ..joints.packing import Workspace
from ..joints.spline_curve import SplineCurve
from ..joints.spline_surface import SplineSurface
from ..kernels import layout
from ..validation import float_array, number, truth

# samples of a turn (or of any stretch that is not a spline's), and of each knot span, for one, two, three coordinates:
# neighbours on a turn are 15, 20, 30 degrees apart
TURN_SAMPLES = (24, 18, 12)
SPAN_SAMPLES = (8, 5, 4)
LENGTH_SAMPLES = (9, 7, 5)
# how much farther than its neighbours a sample may hide a nearer pose
MARGIN = 1.5
# how many times farther off a pose may be where its motion goes on instead of leaping, and what counts as on the joint
# [of the metric, rad]
FARTHER = 1.5
NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Projection:
    """Nearest poses of a joint; arrays lead with the shape of the poses that were given, (...).

    Attributes:
        q: coordinates (..., n).
        poses: the joint there, (..., 4, 4).
        distance: from the given pose in the metric, (...) [rad].
        rotation, translation: angle [rad] and distance of the origins [m] of the two, (...).
    """

    q: FloatArray
    poses: FloatArray
    distance: FloatArray
    rotation: FloatArray
    translation: FloatArray


def project(
    joint: Joint,
    pose: Any,
    *,
    length_scale: float | None = None,
    metric: Any = None,
    bounds: Any = None,
    continuous: bool = False,
) -> Projection:
    """Coordinates at which a joint of one to three coordinates is nearest to each of some poses.

    Distance is sqrt(|w|^2 + |v|^2 / length_scale^2) of the twist log(G(q)^-1 P) (Lee & Terzopoulos 2008, eq. 36). The
    whole range is sampled (several times a knot span), every sample nearer than its neighbours is refined by Newton's
    method where it can lead to the nearest pose, and the nearest of all is the answer: not the minimum next to
    some start. What nothing bounds is searched over one turn or period, screws over as many turns and lengths over
    as far as the poses reach.

    Args:
        joint: with one to three coordinates.
        pose: (..., 4, 4) in the joint's fixed frame.
        length_scale: metres that count as one radian; None: 1, of a spline curve its own metric.
        metric: instead of a length_scale, any `TwistMetric`, a matrix (6, 6), or what `TwistMetric.of` takes.
        bounds: (n, 2) to stay within, such as the limits of a body; None: the joint's range. Equal ends hold a
            coordinate (the time of a moving surface).
        continuous: poses are a motion along their first axis: where a joint is almost as near in two places, its
            coordinates go on from pose to pose, and those of closed joints count whole turns.

    Raises:
        ModelError: the joint has none or more than three coordinates; bad poses or numbers; bounds that are reversed
            or outside the joint's range.
    """
    if not isinstance(joint, Joint) or not 1 <= joint.num_coordinates <= 3:
        count = joint.num_coordinates if isinstance(joint, Joint) else "none"
        raise ModelError(
            f"to project takes a joint with one to three coordinates, got {joint!r:.80} with {count}"
        )
    goals = lie.check_frames(pose, "pose to project")
    flat = goals.reshape(-1, 4, 4)
    measure = _metric(joint, length_scale, metric)
    within = _bounds(joint, bounds)
    turns, batch, n = periods(joint), goals.shape[:-2], joint.num_coordinates
    moves = truth(continuous, "continuous") and bool(batch) and len(flat) > 0
    q = np.zeros((len(flat), n))
    columns = int(np.prod(batch[1:])) if moves else 1
    for k in range(columns):
        search = _Search(joint, flat[k::columns], measure, within)
        found, far = search.nearest()
        q[k::columns] = search.joined(found, far, turns) if moves else found
    q = _in_turn(joint, q.reshape(*batch, n), within, turns, moves)
    poses = joint.transform(q)
    apart = lie.log(lie.inverse(poses) @ goals)
    turn = lie.so3_log(np.swapaxes(poses[..., :3, :3], -1, -2) @ goals[..., :3, :3])
    return Projection(
        q=q,
        poses=poses,
        distance=np.sqrt(np.einsum("...i,ij,...j->...", apart, measure, apart)),
        rotation=np.linalg.norm(turn, axis=-1),
        translation=np.linalg.norm(goals[..., :3, 3] - poses[..., :3, 3], axis=-1),
    )


def _in_turn(joint: Joint, q: FloatArray, within: FloatArray, turns: FloatArray, moves: bool) -> FloatArray:
    """Coordinates (..., n) by the turns and charts that are meant: the first, within bounds that nearest to 0; of a
    motion those in which it goes on.
    """
    box = extent(joint, 1.0)
    for i in np.flatnonzero(turns > 0.0):
        lower, upper = within[i]
        if np.isinf(within[i]).all():
            q[..., i] = box[i, 0] + np.mod(q[..., i] - box[i, 0], turns[i])
        else:
            goal = np.clip(0.0, lower, upper)
            q[..., i] += turns[i] * np.round((goal - q[..., i]) / turns[i])
        if moves:
            q[..., i] = _fitting(np.unwrap(q[..., i], axis=0, period=turns[i]), lower, upper, turns[i])
        # where no turn keeps all of a motion within bounds, it is cut
        for end, sense in ((lower, 1.0), (upper, -1.0)):
            beyond = np.ceil(sense * (end - q[..., i]) / turns[i] - 1e-9)
            q[..., i] += sense * turns[i] * np.where(beyond > 0.0, beyond, 0.0)
    blocks = joint._arrays[2]
    for first in blocks[blocks[:, layout.KIND] == layout.ROTATION_VECTOR, layout.COORDINATE]:
        here = slice(int(first), int(first) + 3)
        if np.isinf(within[here]).all():
            q[..., here] = lie.so3_log(lie.so3_exp(q[..., here]))
            if moves:
                q[..., here] = lie.continuous_rotation_vectors(q[..., here])
    return q


def _fitting(chain: FloatArray, lower: float, upper: float, turn: float) -> FloatArray:
    """Motions (F, ...) of a coordinate, each by so many turns on that it stays within bounds, where there are such."""
    over = np.ceil(np.maximum(chain.max(axis=0) - upper, 0.0) / turn - 1e-9)
    under = np.ceil(np.maximum(lower - chain.min(axis=0), 0.0) / turn - 1e-9)
    moved = chain + turn * np.where(over > 0.0, -over, under)
    fits = (moved.min(axis=0) >= lower - 1e-9) & (moved.max(axis=0) <= upper + 1e-9)
    result: FloatArray = np.where(fits, moved, chain)
    return result


def _metric(joint: Joint, length_scale: float | None, metric: Any) -> FloatArray:
    """The metric's matrix (6, 6)."""
    if metric is not None:
        if length_scale is not None:
            raise ModelError(
                f"a length_scale ({length_scale!r}) has no meaning beside a metric: give one of them"
            )
        return TwistMetric.of(metric).matrix
    if length_scale is None and isinstance(joint, SplineCurve):
        return joint.twist_metric.matrix
    scale = 1.0 if length_scale is None else number(length_scale, "length_scale", positive=True)
    return TwistMetric.of_length(scale).matrix


def _bounds(joint: Joint, bounds: Any) -> FloatArray:
    """Where to stay, (n, 2), inside the range."""
    range_ = np.array(joint.range, dtype=np.float64).reshape(-1, 2)
    if bounds is None:
        return range_
    given = float_array(bounds, "bounds of a projection")
    if given.shape != range_.shape:
        raise ModelError(f"bounds of a projection must have shape {range_.shape}, got {given.shape}")
    lower, upper = np.maximum(given[:, 0], range_[:, 0]), np.minimum(given[:, 1], range_[:, 1])
    if not (lower <= upper).all() or np.isnan(given).any():
        raise ModelError(
            f"bounds of a projection leave nothing of the joint's range {range_.tolist()}: {given.tolist()}"
        )
    return np.stack([lower, upper], axis=1)


class _Search:
    """The search for the coordinates of goals (N, 4, 4) within bounds (n, 2)."""

    def __init__(self, joint: Joint, goals: FloatArray, metric: FloatArray, bounds: FloatArray) -> None:
        self._kernel = kernels.search.projection
        self._joint, self._metric, self._bounds = joint, metric, bounds
        self._rows = kernel_poses(goals)[:, None].copy()
        distance = float(np.linalg.norm(goals[:, :3, 3], axis=1).max(initial=1e-3))
        self._axes, self._wraps = _samples(joint, bounds, 2.0 * distance)
        self._spacing = np.array(
            [float(np.diff(axis).min()) if len(axis) > 1 else 1.0 for axis in self._axes]
        )
        self._spaces = Workspace(1, joint.num_coordinates).clear()
        self._vectors = np.zeros((self._kernel.VECTOR_ROWS, joint.num_coordinates))

    def nearest(self) -> tuple[FloatArray, FloatArray]:
        """Nearest coordinates (N, n) and distances (N,)."""
        places = np.stack(np.meshgrid(*self._axes, indexing="ij"), axis=-1)
        n = self._joint.num_coordinates
        shape = np.array((*places.shape[:-1], 1, 1, 1)[:3], dtype=np.int64)
        poses = self._joint.transform(places)
        flat = np.ascontiguousarray(places.reshape(-1, n))
        grid = (
            flat,
            kernel_poses(poses.reshape(-1, 4, 4)),
            _reach(poses, self._wraps, self._metric),
            shape,
            np.array((*self._wraps, 0, 0, 0)[:3], dtype=np.int64),
            np.zeros(len(flat)),
        )
        q, apart = np.zeros((len(self._rows), n)), np.zeros(len(self._rows))
        problem = self._joint._arrays, self._rows, self._metric, grid, self._bounds, self._spacing
        self._kernel.project(*problem, q, apart, self._vectors, self._spaces)
        self._check()
        return q, apart

    def joined(self, q: FloatArray, apart: FloatArray, turns: FloatArray) -> FloatArray:
        """Nearest coordinates (N, n) of a motion, distances (N,) apart, without leaps that need not be.

        A joint may be as near to a pose, or almost, in two places: the motion goes on from where it is, over what
        comes or back over what came, wherever that is not much farther off.

        Args:
            turns: (n,) bring coordinates to where they were; 0: nothing does.
        """
        leapt = np.zeros(len(q), dtype=np.bool_)
        problem = self._joint._arrays, self._rows, self._metric, self._bounds, self._spacing
        self._kernel.find_leaps(*problem, turns, q, leapt, self._vectors, self._spaces)
        self._check()
        begins = np.flatnonzero(leapt)
        q, first = q.copy(), 0
        for begin, end in zip(begins, [*begins[1:], len(q)]):
            rows, past = np.arange(begin, end), np.arange(first, begin)[::-1]
            ways = [
                (cost, over, way)
                for over, start in ((rows, q[begin - 1]), (past, q[begin]))
                for cost, way in self._followed(over, start, apart)
            ]
            if ways:
                _, over, way = min(ways, key=lambda each: each[0])
                q[over] = way
            else:
                first = begin
        return q

    def _followed(
        self, rows: Any, start: FloatArray, apart: FloatArray
    ) -> Iterator[tuple[float, FloatArray]]:
        """How much farther off coordinates (R, n) are that go on from start over some rows, and these; nothing where
        one of them is much farther off than it need be, or than half of them are.
        """
        near = apart[rows]
        most = np.maximum(FARTHER * np.maximum(near, np.median(near)), NEAR)
        q, far = np.zeros((len(rows), len(start))), np.zeros(len(rows))
        problem = self._joint._arrays, self._rows[rows], self._metric, self._bounds, self._spacing
        reached = self._kernel.follow(*problem, start.copy(), most, q, far, self._vectors, self._spaces)
        self._check()
        if reached:
            yield float((far**2 - near**2).sum()), q

    def _check(self) -> None:
        if self._spaces[2][layout.STATUS] != layout.OK:
            joint = self._joint
            raise JointRangeError(f"{joint.type} joint left its range {joint.range.tolist()} in a projection")


def _samples(joint: Joint, bounds: FloatArray, distance: float) -> tuple[list[FloatArray], list[bool]]:
    """Places along each coordinate, and whether the last is next to the first."""
    axes, wraps = [], []
    turns = periods(joint)
    box = extent(joint, distance)
    for i, breaks in enumerate(_breaks(joint, box)):
        lower, upper = bounds[i]
        closed = bool(turns[i] > 0.0 and np.isinf(bounds[i]).all())
        if turns[i] > 0.0 and np.isfinite(bounds[i]).any():  # the stretch may begin on any turn
            start = lower if np.isfinite(lower) else upper - turns[i]
            upper = min(upper, start + turns[i])
            steps = np.arange(np.floor((upper - start) / turns[i] + 2.0))[:, None] * turns[i]
            first = breaks[0] + turns[i] * np.floor((start - breaks[0]) / turns[i])
            breaks = np.unique(first + steps + (breaks - breaks[0]))
            lower = start
        margin = 0.25 * float(np.diff(breaks).min(initial=np.inf))  # differences are by the least spacing
        margin = margin if np.isfinite(margin) else 0.0
        inside = breaks[(breaks > lower + margin) & (breaks < upper - margin)]
        low = lower if np.isfinite(lower) else breaks[0]
        high = upper if np.isfinite(upper) else breaks[-1]
        ends = np.unique(np.concatenate([[low], inside, [high]]))
        axes.append(ends[:-1] if closed else ends)
        wraps.append(closed)
    return axes, wraps


def _breaks(joint: Joint, box: FloatArray) -> list[FloatArray]:
    """Places along each coordinate over its extent: several in each knot span of splines, even ones elsewhere."""

    def walk(part: Joint, first: int, count: int) -> list[FloatArray]:
        if isinstance(part, Inverted):
            return walk(part.joint, first, count)
        if isinstance(part, Composite):
            found, start = [], first
            for inner in part.joints:
                found += walk(inner, start, count)
                start += inner.num_coordinates
            return found
        if isinstance(part, SplineCurve):
            knots = part.knots[part.order - 1 : None if part.periodic else len(part.frames) + 1]
            return [np.sort(part.coordinate_at(_divided(knots, SPAN_SAMPLES[count - 1])))]
        if isinstance(part, SplineSurface):
            spans = [np.unique(np.clip(knots, *ends)) for knots, ends in zip(part.knots, part.domain)]
            return [_divided(knots, SPAN_SAMPLES[count - 1]) for knots in spans]
        result = []
        for i, unit in enumerate(part.coordinate_units):
            lower, upper = box[first + i]
            per_turn = LENGTH_SAMPLES[count - 1] if unit == "m" else TURN_SAMPLES[count - 1]
            turns = (upper - lower) / (2.0 * np.pi) if unit == "rad" else 1.0
            result.append(np.linspace(lower, upper, int(np.ceil(max(per_turn * turns, 4.0))) + 1))
        return result

    return walk(joint, 0, joint.num_coordinates)


def _divided(knots: FloatArray, pieces: int) -> FloatArray:
    """Knots with each span divided evenly."""
    places: FloatArray = np.arange(pieces * (len(knots) - 1) + 1) / pieces
    result: FloatArray = np.interp(places, np.arange(len(knots)), knots)
    return result


def _reach(poses: FloatArray, wraps: list[bool], metric: FloatArray) -> FloatArray:
    """How far in the metric a sample's neighbours are (M,), all directions added, with a margin."""
    total = np.zeros(poses.shape[:-2])
    for axis, wrap in enumerate(wraps):
        behind = np.moveaxis(poses, axis, 0)
        ahead = np.roll(behind, -1, axis=0)
        steps = lie.log(lie.inverse(behind) @ ahead)
        length = np.sqrt(np.einsum("...i,ij,...j->...", steps, metric, steps))
        if not wrap:
            length[-1] = 0.0
        total += np.moveaxis(np.maximum(length, np.roll(length, 1, axis=0)), 0, axis)
    result: FloatArray = MARGIN * total.ravel()
    return result
