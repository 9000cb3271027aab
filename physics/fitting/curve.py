"""Fit a spline curve joint to poses (Lee & Terzopoulos 2008, sec. 6)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import lie
from .._typing import FloatArray
from ..errors import CancelledError, FitError, ModelError
from ..joints import SplineCurve
from ..validation import finite_array, number
from . import parameterization as parameters
from .gauss_newton import Objective, minimize
from .linearization import poses as curve_poses
from .result import CurveFit, Residuals

Progress = Callable[[float, str], "bool | None"]

# The outer loop ends where no pose's parameter moves by more than this share of the range. Its rounds but the last take
# few Gauss-Newton steps: the knots are about to change anyhow.
SETTLED = 1e-6
OUTER_ITERATIONS = 40
STEPS_A_ROUND = 2


def fit_curve(
    poses: Any,
    q: Any = None,
    num_frames: int = 8,
    smoothing: float = 0.0,
    *,
    order: int = 4,
    knots: Any = None,
    periodic: bool = False,
    end: float | None = None,
    length_scale: float | None = None,
    outside: str = "extend",
    tolerance: float = 1e-10,
    max_iterations: int = 50,
    progress: Progress | None = None,
) -> CurveFit:
    """Control frames whose spline passes poses as closely and, if asked for, as smoothly as can be.

    Gauss-Newton on SE(3) with the exact differential of the product of exponentials. The metric is
    sqrt(angle^2 + (length / length_scale)^2). Without q and knots the parameterization is natural (sec. 6.1): poses sit
    where the curve comes nearest to them, and an outer loop takes new knots and parameters as the frames move.

    Args:
        poses: (N, 4, 4), in the order along the curve.
        q: their parameters (N,), increasing; None: natural.
        num_frames: control frames m, at least `order`; more than N only with smoothing.
        smoothing: w in [0, 1): the weight of the squared joint Hessian beside the misfit (sec. 6.3). At 1/2 a wave that
            goes four times back and forth over the range loses half of its height; see `gauss_newton.Objective`.
        order: 4 to 6; 3 with a warning.
        knots: (m + order,), then kept; None chooses them.
        periodic: whether the curve closes after the last pose.
        end: with q, where the period of a periodic curve ends (the parameter of the first pose, one turn on).
        length_scale: metres that count as one radian; None takes the spread of the poses (four times
            the root mean square distance of their origins from the centre).
        outside: what the joint does beyond its range, see `SplineCurve`.
        tolerance: the fit has converged where a step moves no frame by more, in the metric.
        max_iterations: Gauss-Newton steps for one set of knots.
        progress: called with the done fraction and what goes on; False cancels.

    Raises:
        FitError: poses or parameters that cannot be fitted; the message names them.
        ModelError: other arguments out of their range.
        CancelledError: progress said so.
    """
    targets, given, num_frames = _checked_data(poses, q, num_frames, smoothing, order)
    scale = (
        parameters.spread(targets)
        if length_scale is None
        else number(length_scale, "length_scale", positive=True)
    )
    if order == 3:
        warnings.warn("a spline curve of order 3 is only C1: use the joint for kinematics", stacklevel=2)
    q_now, end = _first_parameters(targets, given, periodic, end, scale)
    free = given is None and knots is None
    if knots is None:
        knots_now = parameters.data_knots(q_now, num_frames, order, end)
    else:
        knots_now = _checked_knots(knots, q_now, num_frames, order, periodic)
    frames = parameters.first_frames(targets, q_now, knots_now, order, end)
    steps: list[float] = []

    def solve(limit: int, rounds: int) -> bool:
        nonlocal frames, objective
        objective = Objective.make(targets, q_now, knots_now, order, periodic, smoothing, scale)
        report = _reporter(progress, rounds, limit)
        frames, taken, converged = minimize(objective, frames, tolerance, limit, report)
        steps.extend(taken)
        return converged

    objective = Objective.make(targets, q_now, knots_now, order, periodic, smoothing, scale)
    for turn in range(OUTER_ITERATIONS if free else 0):
        solve(STEPS_A_ROUND, turn)
        moved = parameters.project(targets, q_now, frames, knots_now, order, periodic, scale)
        moved, fresh = parameters.reparameterize(moved, frames, knots_now, order, periodic, scale)
        settled = np.abs(moved - q_now).max() < SETTLED * (fresh[-1] - fresh[0])
        if settled or (smoothing == 0.0 and not periodic and not parameters.well_posed(moved, fresh, order)):
            break
        q_now, knots_now = moved, fresh
    converged = solve(max_iterations, OUTER_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # order 3 has been warned of
        joint = SplineCurve(frames, order, knots_now, periodic, outside, scale)
    return CurveFit(
        joint=joint,
        q=q_now,
        residuals=_residuals(frames, objective, scale),
        iterations=len(steps),
        converged=converged,
        hessian_integral=objective.hessian_integral(frames),
        length_scale=scale,
        steps=tuple(steps),
    )


def _checked_data(
    poses: Any, q: Any, num_frames: Any, smoothing: Any, order: Any
) -> tuple[FloatArray, FloatArray | None, int]:
    try:
        targets = lie.check_frames(poses, "pose")
    except ModelError as error:
        raise FitError(str(error)) from error
    if targets.ndim != 3:
        raise FitError(f"poses must have shape (N, 4, 4), got {targets.shape}")
    if order not in (3, 4, 5, 6):
        raise FitError(f"order must be 3, 4, 5 or 6, got {order!r}")
    if isinstance(num_frames, bool) or int(num_frames) != num_frames or num_frames < order:
        raise FitError(
            f"num_frames must be a whole number of at least {order} (the order), got {num_frames!r}"
        )
    w = number(smoothing, "smoothing")
    if not 0.0 <= w < 1.0:
        raise FitError(f"smoothing must lie in [0, 1), got {w:g}")
    if len(targets) < 2:
        raise FitError(f"a fit needs at least 2 poses, got {len(targets)}")
    if num_frames > len(targets) and w == 0.0:
        raise FitError(
            f"{num_frames} control frames are more than {len(targets)} poses can fix: take fewer, or smoothing above 0"
        )
    if q is None:
        return targets, None, int(num_frames)
    given = finite_array(q, (len(targets),), "q")
    if (np.diff(given) <= 0.0).any():
        k = int(np.argmax(np.diff(given) <= 0.0))
        raise FitError(f"q must increase, got {given[k]:g} at pose {k} before {given[k + 1]:g}")
    return targets, given, int(num_frames)


def _first_parameters(
    targets: FloatArray, given: FloatArray | None, periodic: bool, end: float | None, scale: float
) -> tuple[FloatArray, float | None]:
    """Parameters of the poses, and for a closed curve where its period ends."""
    if given is None:
        chord, length = parameters.chord_parameters(targets, scale, periodic)
        return chord, length if periodic else None
    if not periodic:
        return given, None
    if end is None:
        raise FitError("a periodic fit with given q needs `end`, the parameter where its period ends")
    if not end > given[-1]:
        raise FitError(f"the period must end after the last pose at {given[-1]:g}, got {end:g}")
    return given, float(end)


def _checked_knots(knots: Any, q: FloatArray, num_frames: int, order: int, periodic: bool) -> FloatArray:
    result = finite_array(knots, (num_frames + order,), "knots")
    if (np.diff(result) < 0.0).any() or not result[num_frames] > result[order - 1]:
        raise FitError(f"knots must not decrease and must span a range, got {result.tolist()}")
    start, stop = result[order - 1], result[num_frames]
    if not periodic and (q[0] < start or q[-1] > stop):
        raise FitError(f"q from {q[0]:g} to {q[-1]:g} leaves the knots' range [{start:g}, {stop:g}]")
    return result


def _residuals(frames: FloatArray, objective: Objective, scale: float) -> Residuals:
    r = objective.residuals(frames)
    gap = objective.targets[:, :3, 3] - curve_poses(frames, objective.sites)[:, :3, 3]
    return Residuals(
        rotation=np.linalg.norm(r[:, :3], axis=1),
        translation=np.linalg.norm(gap, axis=1),
        distance=np.linalg.norm(r / np.repeat([1.0, scale], 3), axis=1),
    )


def _reporter(progress: Progress | None, rounds: int, limit: int) -> Callable[[int, float], None]:
    def report(iteration: int, value: float) -> None:
        if progress is None:
            return
        # rounds and steps come to an end long before the most that are allowed: the fraction only has to rise
        fraction = (rounds + iteration / limit) / (OUTER_ITERATIONS + 1)
        if progress(fraction, f"fitting: round {rounds + 1}, step {iteration + 1}") is False:
            raise CancelledError(f"fit cancelled in step {iteration + 1}")

    return report
