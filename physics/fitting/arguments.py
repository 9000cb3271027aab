"""Checks the arguments of fits before anything is computed; errors, a `FitError` each, name the thing and its value.

Callers check within `fit_errors`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._typing import FloatArray
from ..errors import FitError, ModelError
from ..geometry import lie, splines
from ..joints.spline_curve import MOST_ORDER
from ..validation import bounded, finite_array, number, rising, truth, whole_number
from . import parameterization

ORDERS = range(3, MOST_ORDER + 1)


@contextmanager
def fit_errors() -> Iterator[None]:
    """Turns a ModelError into a FitError of the same message; for a block, or around a function with checks."""
    try:
        yield
    except ModelError as error:
        raise FitError(str(error)) from error


def check_poses(poses: Any) -> FloatArray:
    """A copy of poses (N, 4, 4), N >= 2, with exactly orthonormal rotations; FitError if they are invalid."""
    targets = lie.check_frames(poses, "pose")
    if targets.ndim != 3:
        raise FitError(f"poses must have shape (N, 4, 4), got {targets.shape}")
    if len(targets) < 2:
        raise FitError(f"a fit needs at least 2 poses, got {len(targets)}")
    with fit_errors():
        return bounded(targets, "poses")


def check_size(num_poses: int, num_frames: Any, smoothing: Any, order: Any) -> tuple[int, float]:
    """Number of control frames and smoothing weight; FitError if they do not suit each other, the order or the data."""
    whole_number(order, "order", ORDERS[0], ORDERS[-1])
    count = whole_number(num_frames, "num_frames", 1)
    if count < order:
        raise FitError(f"num_frames must be at least {order} (the order), got {count}")
    weight = check_smoothing(smoothing)
    if count > num_poses and weight == 0.0:
        raise FitError(f"{num_poses} poses cannot determine {count} control frames: use fewer, or smoothing")
    return count, weight


def check_smoothing(smoothing: Any) -> float:
    """Weight in [0, 1)."""
    weight = number(smoothing, "smoothing")
    if not 0.0 <= weight < 1.0:
        raise FitError(f"smoothing must lie in [0, 1), got {weight:g}")
    return weight


def check_progress(progress: Any) -> None:
    """FitError if progress is given and cannot be called."""
    if progress is not None and not callable(progress):
        raise FitError(f"progress must be a function, got {progress!r:.80}")


def check_closing(periodic: Any, q: Any, end: Any) -> bool:
    """Whether the curve is closed; FitError if `end` is given without parameters q."""
    closed = truth(periodic, "periodic")
    if q is None and end is not None:
        raise FitError(f"end needs q: leave out end, got {end!r:.80}")
    return closed


def check_length_scale(length_scale: Any, targets: FloatArray) -> float:
    """Metres that count as one radian; None: the spread of the poses."""
    if length_scale is None:
        return parameterization.spread(targets)
    return number(length_scale, "length_scale", positive=True)


def check_limits(tolerance: Any, max_iterations: Any) -> tuple[float, int]:
    """Tolerance and largest number of iterations."""
    small = number(tolerance, "tolerance", positive=True)
    return small, whole_number(max_iterations, "max_iterations", 1)


def check_parameters(q: Any, num_poses: int, periodic: bool, end: Any) -> tuple[FloatArray, float | None]:
    """Increasing parameters (N,), and the end of the period of a closed curve."""
    given = rising(bounded(finite_array(q, (num_poses,), "q"), "q"), "q")
    if not periodic:
        if end is not None:
            raise FitError(f"end needs a periodic fit: leave out end, got {end!r} for an open curve")
        return given, None
    if end is None:
        raise FitError("a periodic fit with given q needs `end`, the parameter where its period ends")
    stop = number(end, "end")
    if not stop > given[-1]:
        raise FitError(f"the period must end after the last pose at {given[-1]:g}, got {stop:g}")
    return given, stop


def check_knots(knots: Any, num_frames: int, order: int, periodic: bool) -> FloatArray:
    """Knots (m + order,) with a range, periodic for a closed curve; FitError otherwise."""
    array = finite_array(knots, (num_frames + order,), "knots")
    return splines.check_knots(array, order, periodic, "knots")


def check_inside(q: FloatArray, knots: FloatArray, order: int, end: float | None) -> None:
    """FitError if parameters lie outside the knots' range, or if the period is not that of the knots."""
    count = len(knots) - order
    if end is not None:
        period = knots[count] - knots[0]
        if abs(end - q[0] - period) > 1e-9 * period:
            raise FitError(f"the period from {q[0]:g} to {end:g} is not that of the knots, {period:g}")
        return
    start, stop = knots[order - 1], knots[count]
    if q[0] < start or q[-1] > stop:
        raise FitError(f"q from {q[0]:g} to {q[-1]:g} leaves the knots' range [{start:g}, {stop:g}]")
