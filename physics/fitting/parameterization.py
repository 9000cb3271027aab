"""Initial parameters, knots and control frames of a curve fit, and their updates."""

import numpy as np

from .._typing import FloatArray
from ..errors import FitError
from ..geometry import lie, splines
from ..geometry.twist_metric import TwistMetric
from ..joints.spline_curve import frame_distances, natural_knots
from . import many_poses
from .linearization import Sites

# Gauss-Legendre points and weights on [-1, 1] for each knot span: exact for polynomials of degree 5, while |h|^2 is
# nearly of degree 2 (order - 3)
QUADRATURE_POINTS = np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0])
QUADRATURE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 9.0


def spread(poses: FloatArray) -> float:
    """Width of the cloud of the poses' origins [m]: four times their root mean square distance from the centre.

    1 if they hardly move.
    """
    positions = poses[:, :3, 3]
    result = 4.0 * float(np.sqrt(((positions - positions.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return result if result > 1e-9 else 1.0


def chord_parameters(
    poses: FloatArray, metric: TwistMetric, periodic: bool, robust: bool = False, exponent: float = 1.0
) -> tuple[FloatArray, float]:
    """Distance of each pose from the first along the chain of poses (n,), and the whole chain's length.

    Steps between neighbours grow with their distance to the power of `exponent` (1/2: centripetal, Lee 1989; 0: even),
    in a chain of the same length. If robust, each step between neighbours is the median of five: an outlier makes two
    long steps.

    Raises:
        FitError: neighbours coincide, so that their order along the curve is undetermined.
    """
    steps = frame_distances(poses, metric, periodic)
    if not (steps > 1e-12).all():
        k = int(np.argmin(steps))
        raise FitError(f"poses {k} and {(k + 1) % len(poses)} coincide: give parameters q, or leave one out")
    if robust and len(steps) >= 5:
        padded = np.pad(steps, 2, mode="wrap" if periodic else "reflect")
        steps = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    whole = steps.sum()
    steps = steps**exponent
    parameters = np.concatenate([[0.0], np.cumsum(steps * (whole / steps.sum()))])
    return parameters[: len(poses)], float(parameters[-1])


def data_knots(q: FloatArray, num_frames: int, order: int, end: float | None) -> FloatArray:
    """Knots (m + order,) averaged from parameters that are distributed like the data.

    With as many frames as poses these are de Boor's knots for interpolation (the Schoenberg-Whitney conditions hold).
    Those of a closed curve, whose period ends at `end`, are even.
    """
    if end is not None:
        return splines.periodic_knots(num_frames, order, float(q[0]), end - float(q[0]))
    places = np.interp(np.linspace(0.0, len(q) - 1.0, num_frames), np.arange(len(q)), q)
    return splines.averaged_knots(places, order)


def first_frames(
    poses: FloatArray, q: FloatArray, knots: FloatArray, order: int, end: float | None
) -> FloatArray:
    """Control frames (m, 4, 4) at the knots' Greville abscissae, on geodesics between neighbouring poses."""
    places = splines.greville(knots, order)
    if end is not None:
        period = end - q[0]
        places = q[0] + np.mod(places - q[0], period)
        q = np.append(q, end)
        poses = np.concatenate([poses, poses[:1]])
    left = np.clip(np.searchsorted(q, places, side="right") - 1, 0, len(q) - 2)
    share = (places - q[left]) / (q[left + 1] - q[left])
    steps = lie.log(lie.inverse(poses[left]) @ poses[left + 1])
    return poses[left] @ lie.exp(steps * share[:, None])


def quadrature(knots: FloatArray, order: int, periodic: bool) -> tuple[Sites, FloatArray]:
    """Sites inside every knot span and their weights (n,) for integrals over the range."""
    count = len(knots) - order
    domain = np.unique(knots[order - 1 : count + order] if periodic else knots[order - 1 : count + 1])
    half = 0.5 * np.diff(domain)[:, None]
    q = (0.5 * (domain[:-1] + domain[1:])[:, None] + half * QUADRATURE_POINTS).ravel()
    return Sites.at(q, knots, order, periodic), (half * QUADRATURE_WEIGHTS).ravel()


def arc_length(
    q: FloatArray, frames: FloatArray, knots: FloatArray, order: int, periodic: bool, metric: TwistMetric
) -> FloatArray:
    """Length of the curve from its first parameter to each q (n,), in the metric."""
    count = len(knots) - order
    start, end = knots[order - 1], knots[count + order - 1 if periodic else count]
    fine = np.union1d(np.linspace(start, end, 16 * count + 1), q)
    middle = Sites.at(0.5 * (fine[:-1] + fine[1:]), knots, order, periodic)
    s, _ = many_poses.derivatives(frames, middle, len(q))
    speed = metric.norm(s)
    length = np.concatenate([[0.0], np.cumsum(speed * np.diff(fine))])
    return np.interp(q, fine, length)


def reparameterize(
    q: FloatArray, frames: FloatArray, knots: FloatArray, order: int, periodic: bool, metric: TwistMetric
) -> tuple[FloatArray, FloatArray]:
    """Parameters of the poses by arc length along the curve, and natural knots of its frames."""
    count = len(knots) - order
    fresh = natural_knots(frames, order, periodic, metric)
    end = knots[count + order - 1 if periodic else count]
    length = arc_length(np.append(q, end), frames, knots, order, periodic, metric)
    start, stop = fresh[order - 1], fresh[count + order - 1 if periodic else count]
    moved = start + (stop - start) * length[:-1] / length[-1]
    return moved, fresh


def project(
    targets: FloatArray,
    q: FloatArray,
    frames: FloatArray,
    knots: FloatArray,
    order: int,
    periodic: bool,
    metric: TwistMetric,
) -> FloatArray:
    """Parameters (N,) of the points of the curve nearest to the poses, by Newton steps from q that keep their order.

    The first pose, and the last one of an open curve, stay in place: they mark the ends of the range.
    """
    fixed = [0] if periodic else [0, -1]
    for _ in range(3):
        sites = Sites.at(q, knots, order, periodic)
        s, _ = many_poses.derivatives(frames, sites, len(q))
        r = many_poses.residuals(frames, sites, targets)
        step = metric.inner(s, r) / metric.inner(s, s)
        step[fixed] = 0.0
        most = 0.4 * np.minimum(np.diff(q, append=np.inf), np.diff(q, prepend=-np.inf))
        if periodic:
            most[-1] = 0.4 * min(q[-1] - q[-2], q[0] + knots[len(frames)] - knots[0] - q[-1])
        q = q + np.clip(step, -most, most)
    return q


def well_posed(q: FloatArray, knots: FloatArray, order: int, periodic: bool) -> bool:
    """Schoenberg-Whitney: whether each control frame can be assigned a pose of its own inside its support.

    For a closed curve only the necessary condition is checked: a pose in each support.
    """
    count = len(knots) - order
    if periodic:
        period = knots[count] - knots[0]
        turns = (q[:, None] + period * np.arange(-1, 2)).ravel()
        inside = (turns > knots[:count, None]) & (turns < knots[order:, None])
        return bool(inside.any(axis=1).all())
    used = 0
    for j in range(count):
        while used < len(q) and not (q[used] > knots[j] or (j == 0 and q[used] >= knots[0])):
            used += 1
        reached = used < len(q) and (q[used] < knots[j + order] or (j == count - 1 and q[used] <= knots[-1]))
        if not reached:
            return False
        used += 1
    return True
