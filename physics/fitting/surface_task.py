"""Turns poses and options into a problem to solve: places, knots, unwrapped angles, first control values."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FitError, optional
from ..geometry.twist_metric import TwistMetric
from ..validation import truth
from . import surface_arguments
from .arguments import check_poses, check_smoothing, fit_errors
from .options import check_metric, check_weights
from .surface_angles import best_sequence, unwrapped
from .surface_embedding import embed
from .surface_linear import coverage, separate_splines
from .surface_motion import Motion
from .surface_net import Net
from .surface_system import Problem

# Below this coverage (`surface_linear.coverage`) chance or noise would determine some spline of the net: smoothing is
# then at least HOLE_SMOOTHING. It lowers a wave of two knot spans, in a net of ten control values, by 0.3 %, and spans
# holes like a thin plate.
LEAST_COVERAGE = 1e-3
HOLE_SMOOTHING = 1e-3


@dataclass(frozen=True, eq=False)
class SurfaceOptions:
    """Keywords of `fit_surface` and `naive_surface_fit`.

    Attributes:
        order: of each direction, 4 to 20 (3 with a warning); one number for all.
        knots: (m_i + order_i,) of each direction; None: even over `domain`.
        domain: first and last value of each direction (n, 2), one period of a closed one; None: the extent of q. A
            closed direction with given q needs it, or knots.
        periodic: which directions are closed; one boolean for all.
        sequence: of the Euler angles; None: the one whose middle angle stays farthest from gimbal lock.
        rotation_first: see `SplineSurface`.
        length_scale: metres that count as one radian; None: the spread of the poses, four times the root mean square
            distance of their origins from the centre.
        metric: instead of length_scale, see `options.FitOptions`.
        weights: of the poses' squared residuals (N,), not negative; only their ratios count.
        outside: behaviour of the joint beyond its range, see `SplineSurface`.
    """

    order: Any = 4
    knots: Any = None
    domain: Any = None
    periodic: Any = False
    sequence: Any = None
    rotation_first: Any = False
    length_scale: Any = None
    metric: Any = None
    weights: Any = None
    outside: Any = "extend"

    @classmethod
    def of(cls, given: dict[str, Any], others: tuple[str, ...] = ()) -> SurfaceOptions:
        """Options by name; FitError names an unknown one."""
        known = tuple(field.name for field in fields(cls))
        for name in given:
            if name not in known:
                raise FitError(f"unknown option {name!r} of a surface; known are {', '.join(others + known)}")
        return cls(**given)


@dataclass(frozen=True, eq=False)
class Task:
    """A checked fit.

    Attributes:
        problem: the problem to solve, with the poses about their centre.
        q: initial places of the poses (N, n).
        numbers: the six numbers of each pose (N, 6), angles unwrapped.
        coverage: see `surface_linear.coverage`.
        centre: (3,), subtracted from the poses' origins so that a surface far away loses no digits.
        outside: behaviour of the joint beyond its range.
    """

    problem: Problem
    q: FloatArray
    numbers: FloatArray
    coverage: float
    centre: FloatArray
    outside: str

    def separate_splines(self) -> FloatArray:
        """Control values (m, 6), each number fitted separately."""
        return separate_splines(self.problem, self.q, self.numbers)

    def at_least_smoothed(self) -> Task:
        """The task with at least the smoothing that spans holes."""
        smoothing = max(self.problem.smoothing, HOLE_SMOOTHING)
        return replace(self, problem=replace(self.problem, smoothing=smoothing))


@fit_errors()
def prepare(poses: Any, q: Any, num_frames: Any, smoothing: Any, options: SurfaceOptions) -> Task:
    """Check everything, find places if none are given, and unwrap angles.

    Raises:
        FitError: poses, places or options cannot be fitted.
        MissingDependencyError: SciPy is not installed.
    """
    optional("scipy", "fitting surfaces")
    targets = check_poses(poses)
    given = None if q is None else surface_arguments.check_places(q, len(targets))
    shape = surface_arguments.check_shape(num_frames, None if given is None else given.shape[1])
    orders = surface_arguments.check_orders(options.order, shape)
    closed = surface_arguments.check_truths(options.periodic, len(shape), "periodic")
    rotation_first = truth(options.rotation_first, "rotation_first")
    weight = check_smoothing(smoothing)
    surface_arguments.check_names(options.sequence, options.outside)
    weights = check_weights(options.weights, len(targets))
    # with rotations first a shift of all poses shifts no control values
    centre = np.zeros(3) if rotation_first else targets[:, :3, 3].mean(axis=0)
    targets[:, :3, 3] -= centre
    metric = check_metric(options.metric, options.length_scale, targets)
    given, knots = _places_and_knots(targets, given, metric, (shape, orders, closed), options)
    sequence = best_sequence(targets[:, :3, :3]) if options.sequence is None else options.sequence
    motion = Motion(sequence, rotation_first)
    net = Net(knots, orders, closed, np.zeros((len(shape), 3)))
    given = net.inside(given)
    numbers = motion.values(targets)
    numbers[:, :3], winding = unwrapped(numbers[:, :3], (given - net.domain[:, 0]) / net.extent, closed)
    net = replace(net, winding=winding)
    seen = coverage(net, given, weights)
    task = Task(
        Problem(targets, net, motion, metric, weights, weight), given, numbers, seen, centre, options.outside
    )
    return task.at_least_smoothed() if seen < LEAST_COVERAGE else task


def _places_and_knots(
    targets: FloatArray,
    q: FloatArray | None,
    metric: TwistMetric,
    form: tuple[tuple[int, ...], tuple[int, ...], tuple[bool, ...]],
    options: SurfaceOptions,
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Places (N, n) of the poses, given or embedded, and knots over their range or the one given."""
    shape, orders, closed = form
    knots = None if options.knots is None else surface_arguments.check_knots(options.knots, *form)
    range_ = None if options.domain is None else surface_arguments.check_domain(options.domain, len(shape))
    if knots is not None:
        if range_ is not None:
            raise FitError("knots and domain exclude each other: give one of them")
        range_ = Net(knots, orders, closed, np.zeros((len(shape), 3))).domain
    if q is not None:
        ends = surface_arguments.range_of(q, closed) if range_ is None else range_
    else:
        q, ends = embed(targets, metric, closed)
        if range_ is not None:
            q, ends = range_[:, 0] + (range_[:, 1] - range_[:, 0]) / ends[:, 1] * q, range_
            q = np.where(closed, q, np.clip(q, *ends.T))  # round-off
    surface_arguments.check_spread(q, closed, ends)
    return q, surface_arguments.even_knots(*form, ends) if knots is None else knots
