"""Spline surface joints from scattered poses, left as future work by Lee & Terzopoulos 2008, sec. 8."""

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import CancelledError, FitError, ModelError
from ..joints import SplineSurface
from ..validation import truth
from . import surface_arguments
from .arguments import check_limits, check_progress, fit_errors
from .blas import one_blas_thread
from .result import Residuals
from .rounds import Progress
from .surface_result import SurfaceFit
from .surface_steps import minimize
from .surface_task import SurfaceOptions, Task, prepare

OTHER_OPTIONS = ("refine", "tolerance", "max_iterations", "progress")


def fit_surface(
    poses: Any,
    q: Any = None,
    num_frames: Any = 6,
    smoothing: float = 0.0,
    *,
    refine: bool | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 50,
    progress: Progress | None = None,
    **options: Any,
) -> SurfaceFit:
    """Fit a spline surface joint to scattered poses, as closely and, with smoothing, as smoothly as possible.

    Gauss-Newton on the residuals log(G(q_k)^-1 T_k) in the metric of SE(3), with the exact differentials of log and of
    the product of exponentials: this gives the closest surface, unlike `naive_surface_fit`. Without q the places start
    from a smooth embedding of the cloud (`surface_embedding`) and slide to the nearest point of the surface during the
    fit. Noise across the surface then needs smoothing, or the surface folds to follow it.

    The normal matrix is never singular: there is always a little smoothing where the poses do not determine all control
    values (`SurfaceFit.coverage` below 1e-3), and where they slide. Smoothing spans holes like a thin plate.

    Args:
        poses: (N, 4, 4), in any order.
        q: their places (N, n), n = 1, 2 or 3; None: found, as distances along the surface in the metric [rad], longer
            directions first.
        num_frames: control values m_i of each direction, at least its order; one number for all.
        smoothing: w in [0, 1): weight of the squared Hessian against the misfit (sec. 6.3). At 1/2, four full waves
            over the range lose half of their amplitude; see `surface_system.Problem`.
        refine: whether poses slide to the nearest point of the surface; None: if q is not given.
        tolerance: the fit has converged if a step changes no control value by more, [rad] by the length scale.
            With sliding poses also when a step lowers the objective by less than a two-thousandth.
        max_iterations: Gauss-Newton steps.
        progress: called with the fraction done and a message; cancels by returning False.
        options: order, knots, domain, periodic, sequence, rotation_first, length_scale, metric, weights, outside: see
            `SurfaceOptions`.

    Raises:
        FitError: poses, places or options cannot be fitted; the message names the thing and its value.
        CancelledError: progress returned False.
        MissingDependencyError: SciPy is not installed.
    """
    with fit_errors():
        small, most = check_limits(tolerance, max_iterations)
        sliding = q is None if refine is None else truth(refine, "refine")
    check_progress(progress)

    def report(iteration: int, value: float) -> None:
        answer = None if progress is None else progress(iteration / most, f"fitting: step {iteration + 1}")
        if isinstance(answer, bool | np.bool_) and not answer:
            raise CancelledError(f"fit cancelled in step {iteration + 1}")

    with one_blas_thread():
        task = prepare(poses, q, num_frames, smoothing, SurfaceOptions.of(options, OTHER_OPTIONS))
        task = task.at_least_smoothed() if sliding else task
        first = task.separate_splines()
        values, places, steps, converged = minimize(task.problem, first, task.q, sliding, small, most, report)
        return _result(task, values, places, steps, converged)


def naive_surface_fit(
    poses: Any, q: Any, num_frames: Any = 6, smoothing: float = 0.0, **options: Any
) -> SurfaceFit:
    """Separate least squares for each of the six numbers, as if angles and lengths were plain numbers.

    The fit that Lee & Terzopoulos 2008, eq. 25, suggests, to compare `fit_surface` with. Near gimbal lock it fits the
    noise of the outer angles, which is large there and hardly moves anything. Options as in `SurfaceOptions`.

    Raises:
        FitError: as `fit_surface`.
    """
    with one_blas_thread():
        task = prepare(
            poses, surface_arguments.required(q), num_frames, smoothing, SurfaceOptions.of(options)
        )
        return _result(task, task.separate_splines(), task.q, [], True)


def _result(task: Task, values: FloatArray, q: FloatArray, steps: list[float], converged: bool) -> SurfaceFit:
    problem, net = task.problem, task.problem.net
    shifted = values.copy()
    shifted[:, 3:] += task.centre
    try:
        joint = SplineSurface(
            shifted.reshape(*net.shape, 6),
            order=net.orders,
            knots=net.knots,
            periodic=net.periodic,
            sequence=problem.motion.sequence,
            rotation_first=problem.motion.rotation_first,
            outside=task.outside,
        )
    except ModelError as error:
        raise FitError(f"the fitted surface is no valid joint: {error}") from error
    sites = net.sites(q)
    if float(np.abs(joint.angles_and_lengths(q) - net.jets(shifted, sites)[:, 0]).max()) > 1e-6:
        raise FitError(
            f"{net.shape} control values are too few for {(net.winding / (2.0 * np.pi)).tolist()} whole turns of the "
            "angles per period, which become ambiguous: use more"
        )
    r = problem.residuals(values, sites)
    gap = problem.targets[:, :3, 3] - problem.motion.poses(net.jets(values, sites)[:, 0])[:, :3, 3]
    residuals = Residuals(
        rotation=np.linalg.norm(r[:, :3], axis=1),
        translation=np.linalg.norm(gap, axis=1),
        distance=problem.metric.norm(r),
    )
    return SurfaceFit(
        joint=joint,
        q=q,
        residuals=residuals,
        iterations=len(steps),
        converged=converged,
        hessian_integral=problem.hessian_integral(values),
        smoothing=problem.smoothing,
        coverage=task.coverage,
        length_scale=problem.metric.length_scale,
        steps=tuple(steps),
    )
