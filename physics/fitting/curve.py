"""Fit a spline curve joint to poses (Lee & Terzopoulos 2008, sec. 6)."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FitError, ModelError
from ..joints import SplineCurve
from ..joints.spline_curve import OUTSIDE
from ..validation import chosen
from . import arguments, options, parameterization
from .arguments import fit_errors
from .linearization import poses as curve_poses
from .options import FitOptions
from .result import CurveFit, Residuals
from .robust import reweighted
from .rounds import HELD, Curve, Fitter, Progress
from .size import Tried, fewest

DEFAULT_FRAMES = 8
# powers of the distances between poses by which their parameters may grow, to keep residuals within limits
EXPONENTS = (1.0, 0.5, 0.0)


def fit_curve(
    poses: Any,
    q: Any = None,
    num_frames: int | None = None,
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
    **wishes: Any,
) -> CurveFit:
    """Fit a spline curve joint to poses, as closely and, with smoothing, as smoothly as possible.

    Gauss-Newton on SE(3) with the exact differential of the product of exponentials. Without q and knots the
    parameterization is natural (sec. 6.1). Parameters start as distances along the chain of poses; each round then
    projects the poses onto the curve and recomputes the knots from the control frames, as long as the fit improves.

    Args:
        poses: (N, 4, 4), in the order along the curve, neighbours less than half a turn apart.
        q: parameters of the poses (N,), increasing and kept; None: natural.
        num_frames: control frames m, at least `order`, 8 by default; more than N only with smoothing.
        smoothing: w in [0, 1): weight of the squared joint Hessian against the misfit (sec. 6.3). At 1/2, four full
            waves over the range lose half of their amplitude; see `gauss_newton.Objective`.
        order: 4 to 20; 3 with a warning.
        knots: (m + order,), kept; None: chosen by the fit. Without q the poses are spread over their range.
        periodic: whether the curve closes after the last pose. end: with q, the end of its period.
        length_scale: metres that count as one radian; None: the spread of the poses, four times the root mean square
            distance of their origins from the centre.
        outside: behaviour of the joint beyond its range, see `SplineCurve`.
        tolerance: the fit has converged if no frame moves by more in a step. max_iterations: for one set of knots.
        progress: called with the fraction done and a message; cancels by returning False.
        wishes: metric, weights, pinned, ends, robust, robust_scale, within, coordinate, axis: see `FitOptions`.

    Raises:
        FitError: poses, parameters or arguments cannot be fitted; the message names the thing and its value.
        CancelledError: progress returned False.
    """
    wanted = FitOptions(**wishes)
    with fit_errors():
        targets, centre = _centred(arguments.check_poses(poses))
        within = options.check_within(wanted.within, num_frames, knots)
        first = (DEFAULT_FRAMES if within is None else order) if num_frames is None else num_frames
        count, weight = arguments.check_size(len(targets), first, smoothing, order)
        chosen(outside, OUTSIDE, "outside")
        arguments.check_progress(progress)
        metric = options.check_metric(wanted.metric, length_scale, targets)
        limits = arguments.check_limits(tolerance, max_iterations)
        closed = arguments.check_closing(periodic, q, end)
        fitter = Fitter(targets, order, closed, weight, metric, *limits, progress)
        task = _Task(fitter, q, knots, end, wanted)
    if order == 3:
        warnings.warn("a spline curve of order 3 is only C1: use the joint for kinematics", stacklevel=2)
    if within is None:
        return _result(task, *task.fit(count), outside, centre)
    curve, factors, tried = task.fit_within(within)
    return replace(_result(task, curve, factors, outside, centre), tried=tried)


class _Task:
    """One fit, except for its number of control frames."""

    def __init__(self, fitter: Fitter, q: Any, knots: Any, end: float | None, wanted: FitOptions) -> None:
        count = len(fitter.targets)
        if wanted.weights is not None:
            fitter.weights = options.check_weights(wanted.weights, count)
        fitter.pinned = options.check_pinned(wanted.pinned, count)
        fitter.ends = options.check_ends(wanted.ends, fitter.periodic, q is None and knots is None)
        options.check_coordinate(wanted.coordinate, wanted.axis)
        self.scale = options.check_robust(wanted.robust, wanted.robust_scale)
        self.fitter, self.q, self.knots, self.end, self.wanted = fitter, q, knots, end, wanted

    def fit_within(self, within: tuple[float, float]) -> tuple[Curve, FloatArray, Tried]:
        """As `size.fewest`, of the parameterizations that may be chosen the one with the fewest control frames."""
        fitter = self.fitter
        exponents = EXPONENTS if self.q is None and self.knots is None else EXPONENTS[:1]
        best: tuple[Curve, FloatArray, Tried] | None = None
        most, errors = len(fitter.targets), []
        for k, exponent in enumerate(exponents):
            fitter.begun, fitter.share = 1.0 - 0.5**k, 0.5 ** (k + 1)
            try:
                best = fewest(partial(self.fit, exponent=exponent), fitter, within, most)
            except FitError as error:
                errors.append(error)
                continue
            most = len(best[0].frames) - 1
            if most < fitter.order:
                break
        if best is None:
            raise errors[0]
        return best

    def fit(self, count: int, exponent: float = 1.0) -> tuple[Curve, FloatArray]:
        """The best curve with this number of control frames, and the robust weights of the poses (N,)."""
        fitter = self.fitter
        q, knots, stop = _first_parameters(
            fitter, self.q, self.knots, count, self.end, self.wanted.robust is not None, exponent
        )
        frames = parameterization.first_frames(fitter.targets, q, knots, fitter.order, stop)
        free = self.q is None and self.knots is None
        if not free:
            _check_reach(fitter, q, knots)
        if self.wanted.robust is None:
            curve, factors = fitter.run(q, knots, frames, free=free), np.ones(len(q))
        else:
            curve, factors = reweighted(fitter, q, knots, frames, self.wanted.robust, self.scale, free)
        if curve.missing > HELD:
            raise FitError(
                f"{count} control frames could not meet {len(fitter.pinned)} pinned poses and {len(fitter.ends)} end "
                f"conditions, by {curve.missing:.3g}: use more frames, or fewer conditions"
            )
        for condition in fitter.ends:
            condition.check_sense(curve.frames, knots=curve.knots, order=fitter.order, metric=fitter.metric)
        return curve, factors


def _check_reach(fitter: Fitter, q: FloatArray, knots: FloatArray) -> None:
    """FitError if poses at given parameters do not determine every control frame."""
    used = (
        q if fitter.weights is None else q[(fitter.weights > 0.0) | np.isin(np.arange(len(q)), fitter.pinned)]
    )
    if fitter.smoothing == 0.0 and not parameterization.well_posed(
        used, knots, fitter.order, fitter.periodic
    ):
        raise FitError(
            f"the poses do not determine all of the {len(knots) - fitter.order} control frames: some have no pose "
            "between their knots; use fewer frames, other knots, or smoothing above 0"
        )


def _centred(poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Poses about the centre of their origins, and that centre (3,): poses far from the origin lose no digits.

    Moving all frames from the left changes neither twists nor residuals.
    """
    centre = poses[:, :3, 3].mean(axis=0)
    moved = poses.copy()
    moved[:, :3, 3] -= centre
    return moved, centre


@fit_errors()
def _first_parameters(
    fitter: Fitter, q: Any, knots: Any, count: int, end: float | None, robust: bool, exponent: float
) -> tuple[FloatArray, FloatArray, float | None]:
    """Parameters of the poses, knots, and the end of the period of a closed curve."""
    order, periodic = fitter.order, fitter.periodic
    fixed = None if knots is None else arguments.check_knots(knots, count, order, periodic)
    stop: float | None
    if q is not None:
        given, stop = arguments.check_parameters(q, len(fitter.targets), periodic, end)
    else:
        given, length = parameterization.chord_parameters(
            fitter.targets, fitter.metric, periodic, robust, exponent
        )
        if fixed is not None:
            first, last = fixed[order - 1], fixed[count + order - 1 if periodic else count]
            given, length = first + (last - first) / length * given, float(last)
            given[-1] = given[-1] if periodic else last
        stop = length if periodic else None
    if fixed is None:
        return given, parameterization.data_knots(given, count, order, stop), stop
    arguments.check_inside(given, fixed, order, stop)
    return given, fixed, stop


def _result(task: _Task, curve: Curve, factors: FloatArray, outside: str, centre: FloatArray) -> CurveFit:
    fitter, wanted = task.fitter, task.wanted
    frames = curve.frames.copy()
    frames[:, :3, 3] += centre
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit_curve has warned of order 3
        try:
            joint = SplineCurve(
                frames, fitter.order, curve.knots, fitter.periodic, outside, fitter.metric.length_scale,
                wanted.coordinate, wanted.axis, None if wanted.metric is None else fitter.metric.matrix,
            )  # fmt: skip
        except ModelError as error:
            raise FitError(f"the fitted curve is no valid joint: {error}") from error
    r = curve.objective.residuals(curve.frames)
    gap = fitter.targets[:, :3, 3] - curve_poses(curve.frames, curve.objective.sites)[:, :3, 3]
    residuals = Residuals(
        rotation=np.linalg.norm(r[:, :3], axis=1),
        translation=np.linalg.norm(gap, axis=1),
        distance=fitter.metric.norm(r),
    )
    return CurveFit(
        joint=joint,
        q=joint.coordinate_at(curve.q),
        residuals=residuals,
        iterations=len(fitter.steps),
        converged=curve.converged,
        hessian_integral=curve.objective.hessian_integral(curve.frames),
        length_scale=fitter.metric.length_scale,
        steps=tuple(fitter.steps),
        weights=factors,
        pinned=tuple(fitter.pinned.tolist()),
        missing=curve.missing,
        metric=fitter.metric.matrix,
    )
