"""Fit a spline curve joint to poses (Lee & Terzopoulos 2008, sec. 6)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FitError, ModelError
from ..joints import SplineCurve
from . import arguments
from . import parameterization as parameters
from .linearization import poses as curve_poses
from .result import CurveFit, Residuals
from .rounds import Curve, Fitter, Progress


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
    sqrt(angle^2 + (length / length_scale)^2). Without q and knots the parameterization is natural (sec. 6.1): at
    first poses sit at their distance along the chain of poses; then, round by round, where the curve comes nearest to
    them, measured along the curve, with knots after the control frames, for as long as that brings it closer.

    Args:
        poses: (N, 4, 4), in the order along the curve, neighbours less than half a turn apart.
        q: their parameters (N,), increasing, which are then kept; None: natural.
        num_frames: control frames m, at least `order`; more than N only with smoothing.
        smoothing: w in [0, 1): the weight of the squared joint Hessian beside the misfit (sec. 6.3). At 1/2 a wave
            that goes four times back and forth over the range loses half of its height; see
            `gauss_newton.Objective`.
        order: 4 to 6; 3 with a warning.
        knots: (m + order,), then kept; None chooses them. Without q the poses spread over their range.
        periodic: whether the curve closes after the last pose.
        end: with q, where the period of a periodic curve ends (the parameter of the first pose, one turn on).
        length_scale: metres that count as one radian; None takes the spread of the poses, four times the root mean
            square distance of their origins from the centre.
        outside: what the joint does beyond its range, see `SplineCurve`.
        tolerance: the fit has converged where a step moves no frame by more, in the metric.
        max_iterations: Gauss-Newton steps for one set of knots.
        progress: called with the done fraction and what goes on; False cancels.

    Raises:
        FitError: poses, parameters or arguments that cannot be fitted; the message names the thing and its value.
        CancelledError: progress said so.
    """
    targets, centre = _centred(arguments.check_poses(poses))
    count, weight = arguments.check_size(len(targets), num_frames, smoothing, order)
    arguments.check_outside(outside)
    scale = arguments.check_length_scale(length_scale, targets)
    small, most = arguments.check_limits(tolerance, max_iterations)
    fitter = Fitter(targets, order, bool(periodic), weight, scale, small, most, progress)
    q_first, knots_first, stop = _first_parameters(fitter, q, knots, count, end)
    if order == 3:
        warnings.warn("a spline curve of order 3 is only C1: use the joint for kinematics", stacklevel=2)
    frames = parameters.first_frames(targets, q_first, knots_first, order, stop)
    free = q is None and knots is None
    if not free:
        _check_reach(fitter, q_first, knots_first)
    curve = fitter.run(q_first, knots_first, frames, free=free)
    return _result(fitter, curve, outside, centre)


def _check_reach(fitter: Fitter, q: FloatArray, knots: FloatArray) -> None:
    """FitError where poses at given parameters leave a control frame to chance."""
    if fitter.smoothing == 0.0 and not parameters.well_posed(q, knots, fitter.order, fitter.periodic):
        raise FitError(
            f"the poses leave some of the {len(knots) - fitter.order} control frames free: no pose lies in their "
            "knots' reach; take fewer frames, other knots, or smoothing above 0"
        )


def _centred(poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Poses about the centre of their origins, and that centre (3,): a curve far away loses no digits.

    Moving all frames from the left changes neither twists nor residuals.
    """
    centre = poses[:, :3, 3].mean(axis=0)
    moved = poses.copy()
    moved[:, :3, 3] -= centre
    return moved, centre


def _first_parameters(
    fitter: Fitter, q: Any, knots: Any, count: int, end: float | None
) -> tuple[FloatArray, FloatArray, float | None]:
    """Parameters of the poses, knots, and for a closed curve where its period ends."""
    order, periodic = fitter.order, fitter.periodic
    fixed = None if knots is None else arguments.check_knots(knots, count, order, periodic)
    stop: float | None
    if q is not None:
        given, stop = arguments.check_parameters(q, len(fitter.targets), periodic, end)
    else:
        given, length = parameters.chord_parameters(fitter.targets, fitter.scale, periodic)
        if fixed is not None:
            first, last = fixed[order - 1], fixed[count + order - 1 if periodic else count]
            given, length = first + (last - first) / length * given, float(last)
            given[-1] = given[-1] if periodic else last
        stop = length if periodic else None
    if fixed is None:
        return given, parameters.data_knots(given, count, order, stop), stop
    arguments.check_inside(given, fixed, order, stop)
    return given, fixed, stop


def _result(fitter: Fitter, curve: Curve, outside: str, centre: FloatArray) -> CurveFit:
    frames = curve.frames.copy()
    frames[:, :3, 3] += centre
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # order 3 has been warned of
        try:
            joint = SplineCurve(frames, fitter.order, curve.knots, fitter.periodic, outside, fitter.scale)
        except ModelError as error:
            raise FitError(f"the fitted curve makes no joint: {error}") from error
    r = curve.objective.residuals(curve.frames)
    gap = fitter.targets[:, :3, 3] - curve_poses(curve.frames, curve.objective.sites)[:, :3, 3]
    residuals = Residuals(
        rotation=np.linalg.norm(r[:, :3], axis=1),
        translation=np.linalg.norm(gap, axis=1),
        distance=np.linalg.norm(r * curve.objective.metric, axis=1),
    )
    return CurveFit(
        joint=joint,
        q=curve.q,
        residuals=residuals,
        iterations=len(fitter.steps),
        converged=curve.converged,
        hessian_integral=curve.objective.hessian_integral(curve.frames),
        length_scale=fitter.scale,
        steps=tuple(fitter.steps),
    )
