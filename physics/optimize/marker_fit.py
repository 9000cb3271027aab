"""A spline joint, and the model around it, from recorded markers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..bodies.body import Body, name_of
from ..errors import CancelledError, ModelError
from ..fitting.arguments import check_progress, check_smoothing, fit_errors
from ..fitting.blas import one_blas_thread
from ..joints import SplineCurve
from ..kinematics.solve import InverseKinematics
from ..kinematics.targets import Target
from ..model.model import Model
from ..validation import finite_array, float_array, instance, listed, near_names, number, whole_number
from .marker_steps import Place, Problem
from .marker_unknowns import Markers, Unknowns

#: called after each step with their number and the root mean square error [m]; returning False cancels
Progress = Callable[[int, float], "bool | None"]
#: what may be free, and its usual spread (of control frames a wide one)
SPREADS: dict[str, Any] = {
    "control_frames": 1.0,  # rad; for translations times the markers' root mean square distance from the joint
    "joint_frames": (0.1, 0.02),  # rad, m
    "lengths": 0.1,  # a share
    "offsets": 0.01,  # m
}
NEEDED = 3  # markers that determine a pose
ON_A_LINE = 1e-3  # m: markers closer to a line do not determine the rotation about it
FIRST_SEARCHES = 30  # for the pose of the first frame
STEADY = 1e-9  # a step that lowers the cost by less than this share of it is the last
EXACT = 1e-24  # m^2: cost of markers that are met to round-off


@dataclass(frozen=True, eq=False)
class JointFit:
    """The result of `fit_joint_to_motion`, for T frames and m markers.

    Attributes:
        joint: the fitted `SplineCurve`. model: with it, and with other joints where they were found to be.
        q: coordinates of each frame (T, nv). offsets: of the markers in their bodies (m, 3) [m].
        residual: distance of each marker from the model's (T, m) [m], NaN where it is not seen.
        rms: root mean square of these [m].
        converged: whether no step lowers the cost. reason: why the search ended, in words. steps: how many it took.
    """

    joint: SplineCurve
    model: Model
    q: FloatArray
    offsets: FloatArray
    residual: FloatArray
    rms: float
    converged: bool
    reason: str
    steps: int


def fit_joint_to_motion(
    model: Model,
    joint: str | Body,
    markers: Any,
    attached: Any,
    offsets: Any,
    *,
    free: Any = ("control_frames",),
    smoothing: float = 0.5,
    noise: float = 5e-3,
    weights: Any = None,
    lock: Any = (),
    most_steps: int = 100,
    progress: Progress | None = None,
) -> JointFit:
    """Fit a spline curve joint, and more of a model, to recorded markers, with the coordinates of every frame.

    Gauss-Newton on the mean squared distance of markers; each frame's coordinates are eliminated (bundle adjustment,
    Triggs et al. 2000, sec. 6.1), so that the cost is linear in their number. The curve keeps knots and range, which
    must cover the motion. Its control frames move across it, not along it: markers cannot show how a coordinate runs
    along a curve, so that stays as given, as do other numbers where control frames can do the same.

    Args:
        model: a tree. Coordinates keep within the ranges of joints; limits do not count, but equal ones hold.
        joint: name of the body whose joint is fitted, a `SplineCurve`; it and its parent need three markers each.
        markers: (T, m, 3) in the world [m]; NaN where one is not seen.
        attached: the body of each marker, or its name (m,). offsets: its place in that body (m, 3) [m].
        free: what to find: ``"control_frames"``; ``"joint_frames"`` and ``"lengths"``, places of the other joints in
            their parents and distances from these; ``"offsets"``. {name: spread} says how far the numbers given may be
            from the truth, as a standard deviation: by default offsets 0.01 m, lengths a share of 0.1, joint frames
            (0.1 rad, 0.02 m), control frames 1 rad, which is free.
        smoothing: weight in [0, 1), as of `fit_curve`, of the squared change of the joint Hessian from the given one:
            where the motion does not reach, the curve keeps its shape. Less suits less noise, or more frames.
        noise: standard deviation of a marker's coordinates [m], to weigh spreads.
        weights: factors (m,) of the markers' errors before they are squared; None: 1.
        lock: names of bodies whose joints, and numbers of markers whose offsets stay, though their kind is free.
        most_steps: after which a search ends.
        progress: called after each step with their number and the root mean square error [m]; False cancels.

    Returns:
        `JointFit`. Bodies keep their masses, and muscles their points.

    Raises:
        FitError: an argument is invalid, or markers are too few; the message names the thing and its value.
        CancelledError: progress returned False; with the `JointFit` so far.
    """
    with fit_errors(), one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of curves of order 3, as of the one given
        body = _check_joint(model, name_of(joint))
        data = _check_markers(model, markers, attached, offsets, weights)
        wanted, kept = _check_free(free), [name_of(each) for each in listed(lock, "lock")]
        for each in kept:
            if each not in (*model.body_names, *range(len(data.bodies))):
                raise ModelError(f"lock must name bodies or numbers of markers, got {each!r:.80}")
        settings = check_smoothing(smoothing), number(noise, "noise", positive=True)
        most = whole_number(most_steps, "most_steps", 1)
        check_progress(progress)
        _check_enough(model, body, data)
        own: Any = model.bodies[body]
        inner = replace(own, joint=replace(own.joint, coordinate="parameter", axis=None))
        bodies = [inner if i == body else each for i, each in enumerate(model.bodies)]
        unknowns = Unknowns(Model(bodies, model.gravity), body, data, wanted, kept)
        return _search(Problem(unknowns, data, *settings), model, most, progress)


def _search(problem: Problem, model: Model, most: int, progress: Progress | None) -> JointFit:
    place, damping = problem.at(np.zeros(len(problem.unknowns.spread)), _poses(problem)), 0.0
    end = False, f"{most} steps did not suffice", most
    for steps in range(1, most + 1):
        before = place
        place, damping = problem.step(before, 0.1 * damping)
        if progress is not None and progress(steps, place.rms) is False:
            result = _result(problem, place, model, False, "cancelled", steps)
            raise CancelledError(f"cancelled after {steps} steps", result)
        if before.cost - place.cost <= STEADY * before.cost or place.cost < EXACT:
            end = True, "no step lowers the cost", steps
            break
    return _result(problem, place, model, *end)


def _poses(problem: Problem) -> FloatArray:
    """Coordinates (T, nv) by inverse kinematics, each frame from the one before."""
    model, data, missing = problem.unknowns.model, problem.markers, np.full(3, np.nan)
    targets = [
        Target(model.body_names[i], missing, at=offset, position_weight=weight)
        for i, offset, weight in zip(data.bodies, data.offsets, data.weights)
    ]
    solver, state = InverseKinematics(model, targets, limits=False), model.state()
    result: list[FloatArray] = []
    for places, seen in zip(data.places, data.seen):
        for k, place in enumerate(places):
            solver.set_goal(k, place if seen[k] else missing)
        state = solver.solve(state, starts=1 if result else FIRST_SEARCHES).state
        result.append(state.q)
    return np.array(result)


def _result(
    problem: Problem, place: Place, model: Model, converged: bool, reason: str, steps: int
) -> JointFit:
    unknowns, bodies, q = problem.unknowns, list(place.model.bodies), place.q.copy()
    own: Any = model.bodies[unknowns.body]
    joint = replace(own.joint, frames=unknowns.frames(place.row))
    q[:, problem.column] = joint.coordinate_at(q[:, problem.column])
    limits = joint.range if np.array_equal(own.limits, own.joint.range) else own.limits
    bodies[unknowns.body] = replace(own, joint=joint, limits=limits).lock()
    offsets, whole = unknowns.offsets(place.row), model.altered(bodies=bodies)
    return JointFit(joint, whole, q, offsets, place.residual, place.rms, converged, reason, steps)


def _check_joint(model: Any, name: Any) -> int:
    """Index of the body whose joint is fitted."""
    index: int = instance(model, Model, "model").index(name)
    body = model.bodies[index]
    for constraint in model.constraints:
        raise ModelError(f"a fit to markers needs a tree: the model has the constraint {constraint!r}")
    if not isinstance(body.joint, SplineCurve):
        raise ModelError(
            f"the joint of body {name!r} must be a spline curve, got {body.joint.type!r}: begin with one"
        )
    if body.held.any():
        raise ModelError(f"the joint of body {name!r} cannot move: both its limits are {body.limits[0, 0]:g}")
    return index


def _check_markers(model: Model, markers: Any, attached: Any, offsets: Any, weights: Any) -> Markers:
    places = float_array(markers, "markers")
    if places.ndim != 3 or places.shape[2] != 3 or not places.size:
        raise ModelError(f"markers must have shape (T, m, 3), got {places.shape}")
    count = places.shape[1]
    names = attached.tolist() if isinstance(attached, np.ndarray) else listed(attached, "attached")
    if len(names) != count:
        raise ModelError(f"attached must name the body of each of {count} markers, got {len(names)}")
    bodies = np.array([model.index(name_of(each)) for each in names])
    given = finite_array(offsets, (count, 3), "offsets")
    factors = np.ones(count) if weights is None else finite_array(weights, (count,), "weights")
    if (factors < 0.0).any():
        raise ModelError(f"weights must not be negative, got {factors.min():g} at {int(factors.argmin())}")
    seen = _seen(places)
    return Markers(np.where(seen[..., None], places, 0.0), seen, bodies, given, factors)


def _seen(places: FloatArray) -> BoolArray:
    """Which markers are seen (T, m)."""
    seen: BoolArray = np.isfinite(places).all(axis=2)
    for t, k in np.argwhere(~seen & ~np.isnan(places).all(axis=2)):
        raise ModelError(
            f"marker {k} in frame {t} must be finite or NaN throughout, got {places[t, k].tolist()}"
        )
    for axis, what in ((1, "frame {} has no marker"), (0, "marker {} is never seen")):
        for index in np.flatnonzero(~seen.any(axis=axis)):
            raise ModelError(f"{what.format(index)}: all are NaN, leave it out")
    return seen


def _check_free(free: Any) -> dict[str, Any]:
    """{name: spread} of what is free."""
    given = free if isinstance(free, Mapping) else dict.fromkeys(listed(free, "free"))
    if not given:
        raise ModelError(f"free must name what to find, of {', '.join(SPREADS)}; got nothing")
    result = {}
    for name, value in given.items():
        if name not in SPREADS:
            raise ModelError(f"free: {name!r:.80} is not known{near_names(name, SPREADS)}")
        usual, what = SPREADS[name], f"free: spread of {name!r}"
        result[name] = finite_array(usual if value is None else value, np.shape(usual), what)
        if not result[name].min() > 0.0:
            raise ModelError(f"{what} must be positive, got {value!r:.80}")
    return result


def _check_enough(model: Model, body: int, data: Markers) -> None:
    """ModelError if the bodies that the joint connects have too few markers, or too few frames show them."""
    shown, joint = np.ones(len(data.seen), dtype=np.bool_), model.bodies[body].joint
    order = joint.order if isinstance(joint, SplineCurve) else 0
    for i in {body, int(model.parent[body])} - {-1}:
        own, name = (data.bodies == i) & (data.weights > 0.0), model.body_names[i]
        if own.sum() < NEEDED:
            raise ModelError(f"body {name!r} needs {NEEDED} markers or more, got {own.sum()}")
        spread = np.linalg.svd(data.offsets[own] - data.offsets[own].mean(axis=0), compute_uv=False)
        if spread[1] < ON_A_LINE:
            raise ModelError(
                f"the markers of body {name!r} are on a line, to {spread[1]:.3g} m: add one beside it"
            )
        shown &= data.seen[:, own].sum(axis=1) >= NEEDED
    if shown.sum() < order:
        raise ModelError(
            f"{shown.sum()} frames show {NEEDED} markers of body {model.body_names[body]!r} and of its parent: "
            f"a curve of order {order} needs {order}"
        )
