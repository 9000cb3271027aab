"""Projection of poses onto a joint: the coordinates at which it is nearest, over its whole range."""

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
from ..processors import slices
from ..validation import float_array, number, truth

# samples of a turn, of a knot span, and of a length, for one, two, three coordinates: neighbours on a turn are 15, 20,
# 30 degrees apart
TURN_SAMPLES = (24, 18, 12)
SPAN_SAMPLES = (8, 5, 4)
LENGTH_SAMPLES = (9, 7, 5)
# safety factor on the distance of neighbouring samples, within which a nearer pose may lie
MARGIN = 1.5
# a motion continues instead of jumping if its distance is at most FARTHER times as large, or less than NEAR [rad]
FARTHER = 1.5
NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Projection:
    """Nearest poses of a joint; arrays have the leading shape (...) of the given poses.

    Attributes:
        q: coordinates (..., n).
        poses: the joint there, (..., 4, 4).
        distance: from the given pose in the metric, (...) [rad].
        rotation, translation: angle [rad] and distance of the origins [m] between both, (...).
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
    whole range is sampled (several times a knot span). Newton's method refines each sample that is nearer than its
    neighbours and may lead to the nearest pose; the nearest result is the global minimum, not that next to some start.
    A coordinate without bounds is searched over one turn or period, a screw over as many turns and a length over as far
    as the poses reach.

    Args:
        joint: with one to three coordinates.
        pose: (..., 4, 4) in the joint's fixed frame.
        length_scale: metres that count as one radian; None: 1, or the metric of a spline curve.
        metric: instead of a length_scale, any `TwistMetric`, a matrix (6, 6), or another argument of `TwistMetric.of`.
        bounds: (n, 2) of the coordinates, such as the limits of a body; None: the joint's range. Equal ends fix a
            coordinate (the time of a moving surface).
        continuous: whether poses are a motion along their first axis. If a joint is almost equally near in two places,
            its coordinates then continue from pose to pose; those of closed joints count whole turns.

    Raises:
        ModelError: the joint has no coordinates or more than three, poses or numbers are invalid, or bounds are
            reversed or outside the joint's range.
    """
    if not isinstance(joint, Joint) or not 1 <= joint.num_coordinates <= 3:
        count = joint.num_coordinates if isinstance(joint, Joint) else "none"
        raise ModelError(
            f"project needs a joint with one to three coordinates, got {joint!r:.80} with {count}"
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
    """Coordinates (..., n) shifted by whole turns: to the first turn, or the one nearest to 0 within bounds.

    Those of a motion continue from pose to pose, in rotation vectors too.
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
        # a motion that no turn keeps within bounds is cut
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
    """Motions (F, ...) of a coordinate, each shifted by whole turns to stay within bounds if it can."""
    over = np.ceil(np.maximum(chain.max(axis=0) - upper, 0.0) / turn - 1e-9)
    under = np.ceil(np.maximum(lower - chain.min(axis=0), 0.0) / turn - 1e-9)
    moved = chain + turn * np.where(over > 0.0, -over, under)
    fits = (moved.min(axis=0) >= lower - 1e-9) & (moved.max(axis=0) <= upper + 1e-9)
    return np.where(fits, moved, chain)


def _metric(joint: Joint, length_scale: float | None, metric: Any) -> FloatArray:
    """The metric's matrix (6, 6)."""
    if metric is not None:
        if length_scale is not None:
            raise ModelError(f"metric and length_scale {length_scale!r} exclude each other: give one of them")
        return TwistMetric.of(metric).matrix
    if length_scale is None and isinstance(joint, SplineCurve):
        return joint.twist_metric.matrix
    scale = 1.0 if length_scale is None else number(length_scale, "length_scale", positive=True)
    return TwistMetric.of_length(scale).matrix


def _bounds(joint: Joint, bounds: Any) -> FloatArray:
    """Bounds (n, 2) inside the range."""
    range_ = np.array(joint.range, dtype=np.float64).reshape(-1, 2)
    if bounds is None:
        return range_
    given = float_array(bounds, "bounds of a projection")
    if given.shape != range_.shape:
        raise ModelError(f"bounds of a projection must have shape {range_.shape}, got {given.shape}")
    lower, upper = np.maximum(given[:, 0], range_[:, 0]), np.minimum(given[:, 1], range_[:, 1])
    if not (lower <= upper).all() or np.isnan(given).any():
        raise ModelError(
            f"bounds of a projection must overlap the joint's range {range_.tolist()}, got {given.tolist()}"
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
        self._workspace = Workspace(1, joint.num_coordinates).clear()
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
        joint = self._joint._arrays
        for part in slices(len(q)):
            problem = joint, self._rows[part], self._metric, grid, self._bounds, self._spacing
            self._kernel.project(*problem, q[part], apart[part], self._vectors, self._workspace)
            self._check()
        return q, apart

    def joined(self, q: FloatArray, apart: FloatArray, turns: FloatArray) -> FloatArray:
        """Coordinates (N, n) of a motion without avoidable jumps, from the nearest ones q at distances (N,) `apart`.

        If a joint is (almost) equally near to a pose in two places, the motion continues from one side of the jump over
        the poses on the other side, unless that is much farther away.

        Args:
            turns: periods of the coordinates (n,); 0 without.
        """
        leapt = np.zeros(len(q), dtype=np.bool_)
        joint, rest = self._joint._arrays, (self._metric, self._bounds, self._spacing, turns)
        for part in slices(len(q)):
            near = slice(max(part.start - 1, 0), part.stop)
            own = self._rows[near], *rest, q[near], leapt[near]
            self._kernel.find_leaps(joint, *own, self._vectors, self._workspace)
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
        """Additional squared distance, and coordinates (R, n), of a motion that continues from start over some rows.

        Yields nothing if one of them is much farther than both its nearest place and the median of nearest places.
        """
        near = apart[rows]
        most = np.maximum(FARTHER * np.maximum(near, np.median(near)), NEAR)
        q, far = np.zeros((len(rows), len(start))), np.zeros(len(rows))
        goals, before, rest = self._rows[rows], start.copy(), (self._metric, self._bounds, self._spacing)
        for part in slices(len(q)):
            own = goals[part], *rest, before, most[part], q[part], far[part]
            reached = self._kernel.follow(self._joint._arrays, *own, self._vectors, self._workspace)
            self._check()
            if not reached:
                return
            before = q[part.stop - 1].copy()
        yield float((far**2 - near**2).sum()), q

    def _check(self) -> None:
        if self._workspace[2][layout.STATUS] != layout.OK:
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
        if turns[i] > 0.0 and np.isfinite(bounds[i]).any():  # the interval may begin on any turn
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
    """Samples of each coordinate over its extent: several in each knot span of splines, even ones elsewhere."""

    def walk(part: Joint, first: int, count: int) -> list[FloatArray]:
        if isinstance(part, Inverted):
            return walk(part.joint, first, count)
        if isinstance(part, Composite):
            places, start = [], first
            for inner in part.joints:
                places += walk(inner, start, count)
                start += inner.num_coordinates
            return places
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
    return np.interp(places, np.arange(len(knots)), knots)


def _reach(poses: FloatArray, wraps: list[bool], metric: FloatArray) -> FloatArray:
    """Distance of each sample's neighbours in the metric (M,), summed over directions, with a margin."""
    total = np.zeros(poses.shape[:-2])
    for axis, wrap in enumerate(wraps):
        before = np.moveaxis(poses, axis, 0)
        after = np.roll(before, -1, axis=0)
        steps = lie.log(lie.inverse(before) @ after)
        length = np.sqrt(np.einsum("...i,ij,...j->...", steps, metric, steps))
        if not wrap:
            length[-1] = 0.0
        total += np.moveaxis(np.maximum(length, np.roll(length, 1, axis=0)), 0, axis)
    return MARGIN * total.ravel()
