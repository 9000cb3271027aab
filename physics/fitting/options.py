"""Further options of a curve fit: metric, weights, constraints, number of frames, coordinate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import FitError
from ..geometry.twist_metric import TwistMetric
from ..joints.curve_coordinate import COORDINATES
from ..validation import chosen, finite_array, number, truth
from .arguments import check_length_scale
from .constraints import EndCondition
from .robust import LOSSES


@dataclass(frozen=True, eq=False)
class FitOptions:
    """Keywords of `fit_curve`.

    Attributes:
        metric: the metric of residuals, scaled to read as radians (`TwistMetric.of_matrix`): a symmetric positive
            definite matrix (6, 6) on body twists [angular, linear]; weights ``{"rotation": per rad^2, "translation":
            per m^2}``, each one number or one for each body axis; or the moving body's ``{"mass", "com", "inertia"}``
            (Kaufman's metric: kinetic energy). None: angle and length by `length_scale`.
        weights: of the poses' squared residuals (N,), not negative; only their ratios count.
        pinned: indices of poses (negative ones count from the last), or booleans (N,): the curve passes these exactly.
        ends: conditions at the first and at the last end of an open curve. Each is None, six numbers (the twist s =
            G^-1 dG/dq in the body frame, of which only the direction counts without q and knots), ``"straight"`` (no
            curvature: ds/dq = 0), or ``{"twist": six numbers, "straight": True}``.
        robust: ``"huber"`` or ``"tukey"`` to give outliers less weight, ``"tukey"`` down to none (see `robust`).
        robust_scale: standard deviation of one of a good pose's six residuals, in the metric; None: estimated.
        within: (metres, radians): use the fewest control frames that keep every residual within both, instead of
            `num_frames`. Without q and knots, parameters by the distances between poses, by their roots and even ones
            are tried. Poses with a robust weight below 1/2 do not count. Give q where the motion has a parameter of
            its own, such as a joint's angle: others may need twice as many frames.
        coordinate: the joint's coordinate: ``"parameter"`` (that of the knots), ``"arc_length"`` (|s| = 1 in the metric
            everywhere) or ``"angle"`` (the angle [rad] about `axis`). See `SplineCurve`.
        axis: of ``coordinate="angle"``, a direction in the fixed frame.
    """

    metric: Any = None
    weights: Any = None
    pinned: Any = ()
    ends: Any = (None, None)
    robust: str | None = None
    robust_scale: float | None = None
    within: Any = None
    coordinate: str = "parameter"
    axis: Any = None


def check_metric(given: Any, length_scale: Any, targets: FloatArray) -> TwistMetric:
    """The metric of a fit: the one given, or that of a length scale."""
    if given is None:
        return TwistMetric.of_length(check_length_scale(length_scale, targets))
    if length_scale is not None:
        raise FitError(f"metric and length_scale {length_scale!r} exclude each other: give one of them")
    return TwistMetric.of(given)


def check_weights(weights: Any, num_poses: int) -> FloatArray:
    """Weights (N,) scaled to the mean 1."""
    if weights is None:
        return np.ones(num_poses)
    values = finite_array(weights, (num_poses,), "weights")
    if (values < 0.0).any():
        k = int(np.argmax(values < 0.0))
        raise FitError(f"weights must not be negative, got {values[k]:g} for pose {k}")
    if not values.any():
        raise FitError("weights must not all be 0")
    values = values / values.max()
    return values / values.mean()


def check_pinned(pinned: Any, num_poses: int) -> IntArray:
    """Indices of the pinned poses, increasing and distinct."""
    if pinned is None:
        return np.zeros(0, dtype=np.int64)
    try:
        given = np.asarray(pinned)
    except ValueError as error:
        raise FitError(f"pinned must be indices of poses, got {pinned!r:.80}") from error
    if given.dtype == np.bool_:
        if given.shape != (num_poses,):
            raise FitError(f"pinned must have {num_poses} booleans, one per pose, got shape {given.shape}")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise FitError(f"pinned must be indices of poses, got {pinned!r:.80}")
    wrong = (given < -num_poses) | (given >= num_poses)
    if wrong.any():
        raise FitError(f"pinned pose {given[wrong][0]} does not exist: there are {num_poses} poses")
    return np.unique(given.astype(np.int64) % num_poses)


def check_ends(ends: Any, periodic: bool, direction_only: bool) -> tuple[EndCondition, ...]:
    """The conditions at the ends."""
    if ends is None:
        return ()
    if isinstance(ends, str | Mapping) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise FitError(f"ends must be two conditions, one for each end, got {ends!r:.80}")
    result = []
    for at_start, given in ((True, ends[0]), (False, ends[1])):
        if given is None:
            continue
        if periodic:
            raise FitError(f"ends need an open curve: leave out ends, got {given!r:.80} for a closed one")
        result.append(_end_condition(given, at_start, direction_only))
    return tuple(end for end in result if end.twist is not None or end.straight)


def _end_condition(given: Any, at_start: bool, direction_only: bool) -> EndCondition:
    name = f"ends[{0 if at_start else 1}]"
    if isinstance(given, str):
        if given != "straight":
            raise FitError(f"{name} must be a twist, 'straight', or a mapping of both, got {given!r}")
        return EndCondition(at_start, None, direction_only, True)
    wishes = given if isinstance(given, Mapping) else {"twist": given}
    if not set(wishes) <= {"twist", "straight"}:
        raise FitError(f"{name} takes the keys twist and straight, got {', '.join(map(str, wishes))}")
    twist = wishes.get("twist")
    if twist is not None:
        twist = finite_array(twist, (6,), f"{name} twist")
    straight = truth(wishes.get("straight", False), f"{name} straight")
    if twist is not None and not twist.any():
        raise FitError(f"{name} twist must not be zero: the joint would stand still there")
    return EndCondition(at_start, twist, direction_only, straight)


def check_robust(robust: Any, robust_scale: Any) -> float | None:
    """The scale of robust weights; None: to be estimated."""
    if robust is not None:
        chosen(robust, LOSSES, "robust")
    if robust_scale is None:
        return None
    if robust is None:
        raise FitError(f"robust_scale needs robust weights: set robust, got {robust_scale!r} without")
    return number(robust_scale, "robust_scale", positive=True)


def check_coordinate(coordinate: Any, axis: Any) -> None:
    """FitError if the coordinate is unknown, or does not suit the axis."""
    chosen(coordinate, COORDINATES, "coordinate")
    if (coordinate == "angle") != (axis is not None):
        raise FitError(f"coordinate 'angle' needs an axis, no other does: got {coordinate!r} and {axis!r}")


def check_within(within: Any, num_frames: Any, knots: Any) -> tuple[float, float] | None:
    """Largest residuals in metres and in radians, or None if the number of frames is given."""
    if within is None:
        return None
    if num_frames is not None:
        raise FitError(f"within determines the number of frames: leave out num_frames, got {num_frames!r}")
    if knots is not None:
        raise FitError("within determines the number of control frames: leave out knots, which fix it")
    metres, radians = finite_array(within, (2,), "within").tolist()
    if not (metres > 0.0 and radians > 0.0):
        raise FitError(f"within must be positive metres and radians, got {metres:g} m and {radians:g} rad")
    return metres, radians
