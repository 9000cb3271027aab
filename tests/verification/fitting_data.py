"""Data and reference for fits: smooth motions, and the Gauss-Newton step in its published form."""

from typing import Any

import numpy as np
from numpy.random import Generator

from physics._typing import FloatArray
from physics.fitting.banded import BlockBandedSystem
from physics.fitting.gauss_newton import Objective
from physics.fitting.linearization import Sites, control_twists
from physics.fitting.parameterization import data_knots, first_frames, spread
from physics.geometry import lie
from physics.geometry.twist_metric import TwistMetric


def wandering_poses(rng: Generator, count: int, angle: float = 0.3, length: float = 0.1) -> FloatArray:
    """Poses along a motion whose twist varies slowly and randomly (count, 4, 4).

    Consecutive poses differ by about `angle` [rad] and `length` [m].
    """
    # sums of a few waves with random phases: smooth for any number of poses
    places = np.linspace(0.0, 2.0 * np.pi, count - 1)[:, None, None]
    waves = np.arange(1, 4)
    phases, heights = rng.uniform(0.0, 2.0 * np.pi, (2, 6, 3)), rng.normal(size=(6, 3))
    twists = (heights / waves * np.sin(waves * places + phases[0])).sum(axis=2) + rng.normal(size=6)
    twists *= np.repeat([angle, length], 3) / np.sqrt(3.0)
    poses = [np.eye(4)]
    for step in lie.exp(twists):
        poses.append(poses[-1] @ step)
    return np.array(poses)


def published_jacobian(frames: FloatArray, sites: Sites) -> FloatArray:
    """Blocks (n, order, 6, 6) of Lee & Terzopoulos 2008, eq. 34: bases times adjoints, without exp's differential."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    ones, zeros = np.ones((len(twists), 1)), np.zeros((len(twists), 1))
    bases = np.concatenate([ones, sites.phi], axis=1) - np.concatenate([sites.phi, zeros], axis=1)
    order = bases.shape[1]
    tail = np.broadcast_to(np.eye(6), (len(twists), 6, 6))
    result = np.zeros((len(twists), order, 6, 6))
    for k in range(order - 1, -1, -1):
        result[:, k] = bases[:, k, None, None] * tail
        if k:
            tail = tail @ lie.adjoint_inverse(lie.exp(twists[:, k - 1] * sites.phi[:, k - 1, None]))
    return result


def published_fit(
    poses: FloatArray,
    q: FloatArray,
    num_frames: int,
    order: int = 4,
    tolerance: float = 1e-10,
    most: int = 200,
) -> tuple[list[float], float]:
    """Step sizes of eqs. 34-36 until one is below the tolerance, and the largest residual, in the metric.

    Start and knots are those of `fit_curve`.
    """
    scale = spread(poses)
    knots = data_knots(q, num_frames, order, None)
    frames = first_frames(poses, q, knots, order, None)
    objective = Objective.make(poses, q, knots, order, False, 0.0, TwistMetric.of_length(scale))
    metric = objective.metric
    steps: list[float] = []
    while len(steps) < most and not (steps and steps[-1] < tolerance):
        system = BlockBandedSystem(num_frames, order, False)
        blocks = metric.right(metric.left(published_jacobian(frames, objective.sites)))
        system.add_rows(objective.sites.index, blocks, metric.scaled(objective.residuals(frames)))
        twists = system.solve(0.0)
        frames = frames @ lie.exp(metric.unscaled(twists))
        steps.append(float(np.abs(twists).max()))
    residual = metric.norm(objective.residuals(frames))
    return steps, float(residual.max())


def squared_hessian(fit: Any, samples: int = 2001) -> float:
    """Integral of |dS/dq|^2 over the range, in the fit's metric, from the joint alone (trapezoidal rule)."""
    knots, count = fit.joint.knots, len(fit.joint.frames)
    places = np.linspace(knots[fit.joint.order - 1], knots[count], samples)
    weights = np.repeat([1.0, 1.0 / fit.length_scale], 3)
    squares = np.array([((weights * fit.joint.evaluate([q])[2][:, 0, 0]) ** 2).sum() for q in places])
    return float(np.diff(places) @ (0.5 * (squares[1:] + squares[:-1])))
