"""Places of the poses on a surface, nearest to it, during the fit."""

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from .surface_graph import chord_points
from .surface_system import Problem

# Weight along the surface for a pose that is free to slide. With weight 0 the matrix of Gauss-Newton would be singular:
# a surface that slides within itself keeps its distance from the poses.
SLIDING_PULL = 0.01
PROJECTION_STEPS = 8
SAMPLES_A_SPAN = 3


def distances(problem: Problem, values: FloatArray, q: FloatArray) -> FloatArray:
    """Squared distance of each pose from its place on the surface, in the metric (N,)."""
    return (problem.metric.scaled(problem.residuals(values, problem.net.sites(q))) ** 2).sum(axis=1)


def slopes(problem: Problem, values: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scaled residuals (N, 6), and minus their derivatives by q (N, 6, n).

    The change is 0 along a direction whose end the pose would leave.
    """
    net = problem.net
    jets = net.jets(values, net.sites(q, 1))
    r = lie.log(lie.inverse(problem.motion.poses(jets[:, 0])) @ problem.targets)
    columns = problem.motion.columns(jets[:, 0])
    along = lie.right_jacobian_inverse(-r) @ columns @ np.swapaxes(jets[:, 1:], 1, 2)
    tangents, missing = problem.metric.left(along), problem.metric.scaled(r)
    pull = (missing[:, None] @ tangents)[:, 0]
    lower, upper = net.domain.T
    stuck = ~np.array(net.periodic) & (((q <= lower) & (pull < 0.0)) | ((q >= upper) & (pull > 0.0)))
    return missing, np.where(stuck[:, None], 0.0, tangents)


def project(problem: Problem, values: FloatArray, q: FloatArray, steps: int = PROJECTION_STEPS) -> FloatArray:
    """Places (N, n) of the surface nearest to the poses, by Gauss-Newton steps from q that only come nearer."""
    net = problem.net
    q = net.inside(q)
    best = distances(problem, values, q)
    share = np.ones(len(q))
    most = net.extent / np.array(net.shape)  # steps of at most about one knot span
    for _ in range(steps):
        missing, tangents = slopes(problem, values, q)
        gram = np.swapaxes(tangents, 1, 2) @ tangents
        floor = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
        gram = gram + floor[:, None, None] * np.eye(gram.shape[1])
        step = np.linalg.solve(gram, np.swapaxes(tangents, 1, 2) @ missing[..., None])[..., 0]
        step = np.clip(step, -most, most)
        moved = net.inside(q + share[:, None] * step)
        reached = distances(problem, values, moved)
        nearer = reached < best
        q, best = np.where(nearer[:, None], moved, q), np.where(nearer, reached, best)
        share = np.where(nearer, 1.0, 0.25 * share)
        if not (np.abs(step) * share[:, None] > 1e-9 * net.extent).any():
            break
    return q


def loosened(problem: Problem, values: FloatArray, q: FloatArray) -> FloatArray:
    """Factors (N, 6, 6) of the rows of poses that are free to slide along the surface.

    Along the surface's tangents, where a change of place compensates, only `SLIDING_PULL` is left.
    """
    _, tangents = slopes(problem, values, q)
    along = tangents @ np.linalg.pinv(tangents, rcond=1e-9)
    return np.eye(6) - (1.0 - SLIDING_PULL) * along


def anywhere(problem: Problem, values: FloatArray, q: FloatArray) -> FloatArray:
    """Places (N, n) by `project` from the nearest sample of the whole surface, where the result is nearer than q."""
    from scipy.spatial import cKDTree

    axes = [
        np.linspace(lower, upper, SAMPLES_A_SPAN * count, endpoint=not closed)
        for (lower, upper), count, closed in zip(problem.net.domain, problem.net.shape, problem.net.periodic)
    ]
    samples = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    poses = problem.motion.poses(problem.net.jets(values, problem.net.sites(samples))[:, 0])
    scale = problem.metric.length_scale
    _, nearest = cKDTree(chord_points(poses, scale)).query(chord_points(problem.targets, scale))
    other = project(problem, values, samples[nearest])
    nearer = distances(problem, values, other) < distances(problem, values, q)
    return np.where(nearer[:, None], other, q)
