"""Coordinates of a curve with a geometric meaning: its arc length, or an angle about an axis.

The knots' parameter u becomes a function of the coordinate q: pieces of degree 5 with exact value, slope and curvature
at both ends. The path is unchanged to round-off. The coordinate's rate is exact up to `CoordinateMap.error`; pieces are
halved until that is below `GOOD`, at most `HALVINGS` times. u(q) is C2 where the curve is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie, splines
from ..geometry.twist_metric import TwistMetric
from ..kernels import layout
from .spline_sites import Sites, derivatives, poses

COORDINATES = ("parameter", "arc_length", "angle")
# largest relative error of du/dq in a piece that is not halved, and how often quarters of a knot span are halved
GOOD = 1e-13
HALVINGS = 8
ANGLE_ROUND_OFF = 2e-15
# fractions of a piece: its beginning, and where the error is sampled
SAMPLES = np.array([0.0, 0.15, 0.5, 0.85])
# a coordinate whose rate is below this share of the mean does not move
STILL = 1e-6
# Gauss-Legendre points on [0, 1] and weights, exact for polynomials of degree 15
POINTS = 0.5 + 0.5 * np.array(
    [
        -0.9602898564975363,
        -0.7966664774136267,
        -0.5255324099163290,
        -0.1834346424956498,
        0.1834346424956498,
        0.5255324099163290,
        0.7966664774136267,
        0.9602898564975363,
    ]
)
WEIGHTS = 0.5 * np.array([0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
                          0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763])  # fmt: skip

#: a coordinate at increasing parameters (n,): first value, steps between neighbours (n - 1,), slope, curvature (n,)
Measure = Callable[[FloatArray], tuple[float, FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Curve:
    """The data of a spline curve."""

    frames: FloatArray
    knots: FloatArray
    order: int
    periodic: bool

    @property
    def breaks(self) -> FloatArray:
        """Distinct knots inside the range, ends included (one turn of a closed curve)."""
        knots = splines.unrolled_knots(self.knots, self.order) if self.periodic else self.knots
        return np.unique(knots[self.order - 1 : len(knots) - self.order + 1])

    def sites(self, u: FloatArray) -> Sites:
        return Sites.at(u, self.knots, self.order, self.periodic)


@dataclass(frozen=True, eq=False)
class CoordinateMap:
    """u(q): increasing breaks (n + 1,) in q, and rows (n, 6) of coefficients by rising powers of q - break.

    Attributes:
        period: of q, 0 for an open curve.
        error: largest relative error of du/dq in the samples.
    """

    breaks: FloatArray
    rows: FloatArray
    period: float
    error: float

    def parameter(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """u and du/dq at q of any shape; linear beyond the ends of an open curve, over whole turns of a closed one."""
        turns = np.floor((q - self.breaks[0]) / self.period) if self.period else np.zeros_like(q)
        q = q - self.period * turns
        inside = np.clip(q, self.breaks[0], self.breaks[-1])
        piece = np.clip(np.searchsorted(self.breaks, inside, side="right") - 1, 0, len(self.rows) - 1)
        x = inside - self.breaks[piece]
        rows = self.rows[piece]
        powers = x[..., None] ** np.arange(6)
        value = (rows * powers).sum(axis=-1)
        slope = (rows[..., 1:] * np.arange(1, 6) * powers[..., :-1]).sum(axis=-1)
        ends, _ = self._ends()
        return value + slope * (q - inside) + turns * (ends[1] - ends[0]), slope

    def coordinate(self, u: FloatArray) -> FloatArray:
        """q at parameters u of any shape: the inverse of `parameter`, to round-off."""
        (first, last), at = self._ends()
        turns = np.floor((u - min(first, last)) / abs(last - first)) if self.period else np.zeros_like(u)
        inside = u - turns * abs(last - first)
        sense = 1.0 if last > first else -1.0
        order = slice(None) if sense > 0.0 else slice(None, None, -1)
        q = np.interp(inside, at[order], self.breaks[order])
        for _ in range(4):  # Newton's method from inside the right piece
            value, slope = self.parameter(q)
            q = q + (inside - value) / slope
        return q + sense * turns * self.period

    def _ends(self) -> tuple[tuple[float, float], FloatArray]:
        width = self.breaks[-1] - self.breaks[-2]
        last = float((self.rows[-1] * width ** np.arange(6)).sum())
        at = np.append(self.rows[:, 0], last)
        return (float(at[0]), last), at

    def data(self) -> FloatArray:
        """Record for the kernels (`layout.PACE_LOWER` and following)."""
        head = [self.breaks[0], self.breaks[-1], self.period, layout.PIECEWISE, len(self.rows), 6]
        return np.concatenate([head, self.breaks, self.rows.ravel()])


def arc_length(
    curve: Curve, metric: TwistMetric, u: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Arc length in the metric from the first of increasing parameters u, as a `Measure`; its slope is |s|.

    |s| is smooth within knot spans: quadrature between close neighbours is exact to round-off.
    """
    steps = np.diff(u)
    between = (u[:-1, None] + steps[:, None] * POINTS).ravel()
    speeds = metric.norm(derivatives(curve.frames, curve.sites(between))[0]).reshape(-1, len(POINTS))
    s, h = derivatives(curve.frames, curve.sites(u))
    speed = metric.norm(s)
    lengths = np.asarray(steps * (speeds @ WEIGHTS), dtype=np.float64)
    return 0.0, lengths, speed, metric.inner(s, h) / np.where(speed > 0.0, speed, 1.0)


def angle_about(
    curve: Curve, axis: FloatArray, u: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Twist angle [rad] of the rotation about an axis, unwrapped along increasing parameters u, as a `Measure`.

    The rotation is a twist about the axis and a swing about an axis across it. With the quaternion (w, v) the twist is
    2 atan2(axis . v, w).

    Raises:
        ModelError: the swing is half a turn somewhere, and the twist undefined.
    """
    sites = curve.sites(u)
    s, h = derivatives(curve.frames, sites)
    quaternions = lie.continuous_quaternions(
        lie.quaternion_from_matrix(poses(curve.frames, sites)[:, :3, :3])
    )
    w, v = quaternions[:, 0], quaternions[:, 1:]
    rate, change = s[:, :3], h[:, :3]

    def moved(w: FloatArray, v: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -0.5 * (v * rate).sum(axis=1), 0.5 * (w[:, None] * rate + np.cross(v, rate))

    w1, v1 = moved(w, v, rate)
    w2, v2 = (a + b for a, b in zip(moved(w1, v1, rate), moved(w, v, change)))
    p, p1, p2 = v @ axis, v1 @ axis, v2 @ axis
    square = w * w + p * p
    if square.min() < 1e-6:
        k = int(np.argmin(square))
        raise ModelError(
            f"the angle about {axis.tolist()} is undefined at parameter {u[k]:g} of the curve, "
            "which swings half a turn away from the axis there"
        )
    slope = 2.0 * (w * p1 - p * w1) / square
    curvature = 2.0 * (w * p2 - p * w2) / square - slope * 2.0 * (w * w1 + p * p1) / square
    steps: FloatArray = 2.0 * np.arctan2(p[1:] * w[:-1] - p[:-1] * w[1:], w[1:] * w[:-1] + p[1:] * p[:-1])
    start = float(2.0 * np.arctan2(p[0], w[0]))
    return np.remainder(start + np.pi, 2.0 * np.pi) - np.pi, steps, slope, curvature


def measure(curve: Curve, coordinate: str, axis: FloatArray | None, metric: TwistMetric) -> Measure:
    """The `Measure` of a coordinate."""
    if coordinate == "angle" and axis is not None:
        return partial(angle_about, curve, axis)
    return partial(arc_length, curve, metric)


def coordinate_map(
    curve: Curve, coordinate: str, axis: FloatArray | None, metric: TwistMetric
) -> CoordinateMap:
    """The parameter as a function of the coordinate.

    Raises:
        ModelError: the coordinate stops or turns back along the curve; the message says where.
    """
    function = measure(curve, coordinate, axis, metric)
    name = "arc length" if axis is None else f"angle about {axis.tolist()}"
    spans = curve.breaks
    u = np.append((spans[:-1, None] + np.diff(spans)[:, None] * np.arange(4) / 4.0).ravel(), spans[-1])
    for _ in range(HALVINGS):
        found, errors, widths = _hermite(curve, function, u, name)
        # the round-off of an angle's steps does not shrink with their width
        poor = errors > (GOOD if axis is None else np.maximum(GOOD, ANGLE_ROUND_OFF / widths))
        if not poor.any():
            break
        u = np.sort(np.concatenate([u, 0.5 * (u[:-1] + u[1:])[poor]]))
    return found


def _hermite(
    curve: Curve, function: Measure, u: FloatArray, name: str
) -> tuple[CoordinateMap, FloatArray, FloatArray]:
    """Quintic pieces between parameters u, the sampled error of each, and its width."""
    dense = np.append((u[:-1, None] + np.diff(u)[:, None] * SAMPLES).ravel(), u[-1])
    start, steps, slopes, curvatures = function(dense)
    _check_monotone(dense, slopes, name)
    # lengths of pieces: differences of sums would lose digits
    inside = np.cumsum(steps.reshape(-1, len(SAMPLES)), axis=1)
    x, slope, curvature = inside[:, -1], slopes[:: len(SAMPLES)], curvatures[:: len(SAMPLES)]
    rate, bend = 1.0 / slope, -curvature / slope**3
    rise = np.diff(u) - x * rate[:-1] - 0.5 * x**2 * bend[:-1]
    turn = (np.diff(rate) - x * bend[:-1]) * x
    bow = np.diff(bend) * x**2
    rows = np.stack(
        [
            u[:-1],
            rate[:-1],
            0.5 * bend[:-1],
            (10.0 * rise - 4.0 * turn + 0.5 * bow) / x**3,
            (-15.0 * rise + 7.0 * turn - bow) / x**4,
            (6.0 * rise - 3.0 * turn + 0.5 * bow) / x**5,
        ],
        axis=1,
    )
    between = inside[:, :-1, None] ** np.arange(5)
    pace = (rows[:, None, 1:] * np.arange(1, 6) * between).sum(axis=2)
    true = slopes[:-1].reshape(-1, len(SAMPLES))[:, 1:]
    error = np.abs(true * pace - 1.0).max(axis=1)
    breaks = start + np.concatenate([[0.0], np.cumsum(x)])
    if slopes[0] < 0.0:
        breaks, rows = breaks[::-1].copy(), _reversed(rows, x)
    period = float(breaks[-1] - breaks[0]) if curve.periodic else 0.0
    return CoordinateMap(breaks, rows, period, float(error.max())), error, np.abs(x)


def _reversed(rows: FloatArray, x: FloatArray) -> FloatArray:
    """The pieces in reverse order, each by powers of the distance from its end; x (< 0): from end to beginning."""
    result = np.zeros_like(rows)
    for k in range(6):
        for j in range(k, 6):
            result[:, k] += comb(j, k) * rows[:, j] * x ** (j - k)
    return result[::-1].copy()


def _check_monotone(u: FloatArray, slopes: FloatArray, name: str) -> None:
    mean = float(np.abs(slopes).mean())
    sense = 1.0 if slopes.sum() > 0.0 else -1.0
    wrong = sense * slopes <= STILL * mean
    if wrong.any():
        k = int(np.argmax(wrong))
        does = "stands still" if abs(slopes[k]) <= STILL * mean else "turns back"
        raise ModelError(
            f"the {name} cannot be the curve's coordinate: it {does} at parameter {u[k]:g} "
            f"(range {u[0]:g} to {u[-1]:g})"
        )
