"""Spline curve joint: a smooth SE(3) curve through control frames (Lee & Terzopoulos 2008, sec. 5.1)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..geometry import lie, splines
from ..geometry.twist_metric import TwistMetric
from ..kernels import layout
from ..validation import chosen, finite_array, float_array, number, truth, unit_axis, whole_number
from .base import IDENTITY, Block, Factorization
from .curve_coordinate import COORDINATES, CoordinateMap, Curve, coordinate_map
from .curve_packing import bucket_table, kernel_breaks, kernel_poses, kernel_twists, with_turned
from .joint import Joint

MOST_ORDER = layout.SURFACE_MOST_ORDER  # as for a surface

OUTSIDE = {"extend": layout.OUTSIDE_EXTEND, "clamp": layout.OUTSIDE_CLAMP, "error": layout.OUTSIDE_ERROR}


def frame_distances(frames: FloatArray, metric: TwistMetric, periodic: bool) -> FloatArray:
    """Distances |log(F_{j-1}^-1 F_j)| between neighbours (m - 1,), or (m,) if periodic."""
    following = np.roll(frames, -1, axis=0) if periodic else frames[1:]
    before = frames if periodic else frames[:-1]
    return metric.norm(lie.log(lie.inverse(before) @ following))


def natural_knots(frames: FloatArray, order: int, periodic: bool, metric: TwistMetric) -> FloatArray:
    """Knots (m + order,) by natural parameterization (Lee & Terzopoulos 2008, sec. 6.1), beginning at 0.

    The paper gives each control frame one parameter: its distance from the first along the chain of frames. Each inner
    knot is the mean of order - 1 neighbouring parameters, and the end knots are repeated: the Greville abscissae follow
    the parameters, and the speed |s(q)| stays near 1. A periodic curve takes cyclic means of the distances; its range
    is one period, the sum of all distances.
    """
    steps = frame_distances(frames, metric, periodic)
    if not periodic:
        return splines.averaged_knots(np.concatenate([[0.0], np.cumsum(steps)]), order)
    count = len(frames)
    # Greville abscissae j and j + 1 differ by the mean of intervals j + 1 to j + order - 1 (interval i: from knot i to
    # i + 1), so interval i takes the mean of steps i - order + 1 to i - 1
    window = np.arange(count)[:, None] - (order - 1) + np.arange(order - 1)
    intervals = steps[window % count].mean(axis=1)
    knots = np.concatenate([[0.0], np.cumsum(intervals[np.arange(count + order - 1) % count])])
    return knots - knots[order - 1]


@dataclass(frozen=True, eq=False, repr=False)
class SplineCurve(Joint):
    """A 1-DOF joint along a cumulative B-spline through control frames, eqs. 21-24.

    Attributes:
        frames: control frames (m, 4, 4), m >= order; for a periodic curve one period, closed by the first frame.
        order: 4 to 20 for dynamics (C2 and smoother); 3 is only C1: kinematics, with a warning.
        knots: (m + order,), not decreasing; None: natural parameterization. Knots of a periodic curve repeat with the
            period: knots[m + j] - knots[j] is the same for every j. In an open curve order - 1 equal knots inside the
            range make a cusp: the curve passes through its control frame there and turns at once. Only the integrator
            ``"event_driven"`` simulates it. Fewer equal knots are for kinematics.
        periodic: whether the curve is closed; every coordinate is then inside.
        outside: beyond the range, ``"extend"`` along the end's twist, ``"clamp"`` (kinematics only) or ``"error"``.
        length_scale: metres that count as one radian in the natural parameterization.
        coordinate: ``"parameter"``: q is the knots' parameter. ``"arc_length"``: q is the length from the beginning in
            the metric, so that |s(q)| = 1. ``"angle"``: q is the twist angle [rad] of the rotation about `axis`. All
            three share one path and its knots, see `parameter_at`.
        axis: of the angle, a direction in the fixed frame.
        metric: (6, 6) on body twists, see `TwistMetric.of_matrix`, or None: that of `length_scale`.
        cusp_restitution: of the impulse at cusps, 0 to 1: 1 keeps the energy, as the limit of a small fillet does.
    """

    frames: Any
    order: int = 4
    knots: Any = None
    periodic: bool = False
    outside: str = "extend"
    length_scale: float = 1.0
    coordinate: str = "parameter"
    axis: Any = None
    metric: Any = None
    cusp_restitution: float = 1.0
    type: ClassVar[str] = "spline_curve"
    coordinate_names = ("q",)
    coordinate_units = ("1",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", whole_number(self.order, "spline curve order"))
        object.__setattr__(self, "periodic", truth(self.periodic, "spline curve periodic"))
        if not 3 <= self.order <= MOST_ORDER:
            raise ModelError(f"spline curve order must be 3 to {MOST_ORDER}, got {self.order!r}")
        chosen(self.outside, OUTSIDE, "spline curve outside")
        scale = number(self.length_scale, "spline curve length_scale", positive=True)
        frames = lie.check_frames(self.frames, "control frame")
        if frames.ndim != 3 or len(frames) < self.order:
            raise ModelError(
                f"a spline curve of order {self.order} needs at least {self.order} control frames (m, 4, 4), "
                f"got shape {frames.shape}"
            )
        if self.order == 3:
            warnings.warn(
                "a spline curve of order 3 is only C1: its accelerations jump, use it for kinematics",
                stacklevel=3,
            )
        metric = TwistMetric.of_length(scale)
        if self.metric is not None:
            metric = TwistMetric.of_matrix(self.metric, "spline curve metric")
            object.__setattr__(self, "metric", frozen_array(self.metric))
        self._check_distinct(frames, metric)
        if self.knots is None:
            knots = natural_knots(frames, self.order, self.periodic, metric)
        else:
            name = "spline curve knots"
            knots = finite_array(self.knots, (len(frames) + self.order,), name)
            most = 1 if self.periodic or self.coordinate != "parameter" else self.order - 1
            knots = splines.check_knots(knots, self.order, self.periodic, name, most)
        frames.flags.writeable = knots.flags.writeable = False
        vars(self).update(frames=frames, knots=knots, length_scale=scale)
        self._check_coordinate()
        name = "spline curve cusp_restitution"
        restitution = number(self.cusp_restitution, name, not_negative=True, most=1.0)
        object.__setattr__(self, "cusp_restitution", restitution)

    def _check_coordinate(self) -> None:
        chosen(self.coordinate, COORDINATES, "spline curve coordinate")
        if (self.coordinate == "angle") != (self.axis is not None):
            raise ModelError(
                "spline curve coordinate 'angle' needs an axis, and no other takes one; "
                f"got {self.coordinate!r} and {self.axis!r:.80}"
            )
        if self.axis is not None:
            object.__setattr__(self, "axis", frozen_array(unit_axis(self.axis, "spline curve axis")))
            object.__setattr__(self, "coordinate_units", ("rad",))
        _ = self._mapping  # raises now if the coordinate is not monotone

    @property
    def twist_metric(self) -> TwistMetric:
        """The metric of arc length and natural parameterization."""
        if self.metric is None:
            return TwistMetric.of_length(self.length_scale)
        return TwistMetric.of_matrix(self.metric)

    @cached_property
    def _mapping(self) -> CoordinateMap | None:
        if self.coordinate == "parameter":
            return None
        curve = Curve(self.frames, self.knots, self.order, self.periodic)
        return coordinate_map(curve, self.coordinate, self.axis, self.twist_metric)

    @property
    def coordinate_error(self) -> float:
        """Largest sampled relative error of the coordinate's rate (of |s| = 1, say); 0 for the parameter."""
        return 0.0 if self._mapping is None else self._mapping.error

    def _check_distinct(self, frames: FloatArray, metric: TwistMetric) -> None:
        steps = frame_distances(frames, metric, self.periodic)
        if not (steps > 1e-12).all():
            j = int(np.argmin(steps))
            raise ModelError(
                f"control frames {j} and {(j + 1) % len(frames)} coincide (distance {steps[j]:.3g}): "
                "the joint would stand still there"
            )

    def __repr__(self) -> str:
        return f"SplineCurve({len(self.frames)} frames, order={self.order}, periodic={self.periodic})"

    @property
    def range(self) -> FloatArray:
        if self.periodic:
            return np.array([[-np.inf, np.inf]])
        return self.domain[None]

    @property
    def kinematic_only(self) -> str:
        values, counts = self._inner_knots
        bent = values[(counts > max(self.order - 3, 1)) & (counts < self.order - 1)]
        if len(bent):
            return f"(knot {bent[0]:g} repeated): dynamics needs a curve that is C2, or cusps"
        if self.order >= 4 and OUTSIDE[self.outside] != layout.OUTSIDE_CLAMP:
            return ""
        return f"(order {self.order}, outside {self.outside!r}): dynamics needs order >= 4, not clamped"

    @property
    def _inner_knots(self) -> tuple[FloatArray, IntArray]:
        """Knots between the ends of the range, and how often each stands there."""
        inner = self.knots[(self.knots > self.domain[0]) & (self.knots < self.domain[1])]
        return np.unique(inner, return_counts=True)

    @property
    def cusps(self) -> tuple[tuple[int, FloatArray, float], ...]:
        if self.coordinate != "parameter":
            return ()
        values, counts = self._inner_knots
        places = values[counts == self.order - 1]
        return ((0, places, self.cusp_restitution),) if len(places) else ()

    @property
    def domain(self) -> FloatArray:
        """First and last coordinate (2,) of the range, or of one turn of a closed curve."""
        if self._mapping is not None:
            return self._mapping.breaks[[0, -1]]
        first = self.knots[self.order - 1]
        return np.array([first, first + self.period if self.periodic else self.knots[len(self.frames)]])

    @property
    def period(self) -> float:
        """Length of one turn of a periodic curve in its coordinate; 0 for an open one."""
        if self._mapping is not None:
            return self._mapping.period
        return float(self.knots[len(self.frames)] - self.knots[0]) if self.periodic else 0.0

    def parameter_at(self, q: Any) -> FloatArray:
        """The knots' parameter at coordinates q of any shape."""
        values = float_array(q, "spline curve coordinates")
        return values if self._mapping is None else self._mapping.parameter(values)[0]

    def coordinate_at(self, parameter: Any) -> FloatArray:
        """The coordinate at parameters of any shape inside the range."""
        values = float_array(parameter, "spline curve parameters")
        return values if self._mapping is None else self._mapping.coordinate(values)

    def to_dict(self) -> dict[str, Any]:
        # defaults are left out, so that older readers accept the file
        more: dict[str, Any] = {} if self.metric is None else {"metric": self.metric.tolist()}
        if self.coordinate != "parameter":
            more["coordinate"] = self.coordinate
        if self.axis is not None:
            more["axis"] = self.axis.tolist()
        if self.cusp_restitution != 1.0:
            more["cusp_restitution"] = self.cusp_restitution
        return {
            "type": self.type,
            "frames": self.frames.tolist(),
            "order": self.order,
            "knots": self.knots.tolist(),
            "periodic": self.periodic,
            "outside": self.outside,
            "length_scale": self.length_scale,
            **more,
        }

    @cached_property
    def _spans(self) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:
        """Frames and twists (closed curves unrolled by order - 1), and the polynomials of every knot span."""
        frames, knots = self.frames, self.knots
        if self.periodic:
            count = len(frames)
            extra = np.arange(count, count + self.order - 1)
            frames = frames[np.concatenate([np.arange(count), extra % count])]
            knots = splines.unrolled_knots(knots, self.order)
        breaks, first, coefficients = splines.span_polynomials(knots, self.order, len(frames))
        twists = np.concatenate([np.zeros((1, 6)), lie.log(lie.inverse(frames[:-1]) @ frames[1:])])
        for array in (frames, breaks, first, coefficients, twists):
            array.flags.writeable = False
        return frames, breaks, first, coefficients, twists

    def factorization(self) -> Factorization:
        frames, breaks, first, coefficients, twists = self._spans
        k = self.order
        rows = first[:, None] + np.arange(1, k)
        constants = kernel_twists(twists)[rows]
        spans = np.concatenate(
            [
                kernel_poses(frames[first]),
                np.concatenate([constants, coefficients], axis=2).reshape(len(first), -1),
            ],
            axis=1,
        )
        buckets, table = bucket_table(breaks)
        lower, upper = breaks[0], breaks[-1]
        header = [
            lower,
            upper,
            float(self.knots[len(self.frames)] - self.knots[0]) if self.periodic else 0.0,
            len(first),
            buckets,
            buckets / (upper - lower),
            k,
            OUTSIDE[self.outside],
            *(0.0, 0.0, 0.0),
        ]
        ends = [self._end(0, 0.0), self._end(len(first) - 1, 1.0)]
        data = np.concatenate([np.array(header), table, kernel_breaks(breaks), spans.ravel(), *ends])
        if self._mapping is not None:
            data[layout.SPLINE_PACE] = len(data)
            data = np.concatenate([data, self._mapping.data()])
        return Factorization((Block(layout.SPLINE_CURVE, 0, IDENTITY, with_turned(data)),), IDENTITY)

    def _end(self, span: int, x: float) -> FloatArray:
        """Pose and twist of one end of the curve (eq. 29 at x = 0 or 1 of a span), as a record for the kernels."""
        frames, breaks, first, coefficients, twists = self._spans
        powers = x ** np.arange(self.order)
        slopes = np.arange(self.order) * np.concatenate([[0.0], powers[:-1]])
        pose = frames[first[span]]
        twist = np.zeros(6)
        for twist_k, polynomial in zip(twists[first[span] + 1 :], coefficients[span]):
            step = lie.exp(twist_k * (polynomial @ powers))
            pose = pose @ step
            rate = (polynomial @ slopes) / (breaks[span + 1] - breaks[span])
            twist = lie.adjoint_inverse(step) @ twist + twist_k * rate
        return np.concatenate([kernel_poses(pose[None])[0], kernel_twists(twist[None])[0]])


def frozen_array(value: Any) -> FloatArray:
    """A read-only float64 copy."""
    array = np.array(value, dtype=np.float64)
    array.flags.writeable = False
    return array
