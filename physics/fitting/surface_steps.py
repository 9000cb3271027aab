"""Gauss-Newton on the control values of a surface, and on the places of the poses where these are free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import lie
from .._typing import FloatArray
from .surface_system import Problem

DAMPING_START = 1e-6
DAMPING_GIVE_UP = 1e6
# Share of a pose's pull along the surface that is kept where the pose is free to slide: none would be Gauss-Newton on
# the distance to the surface, whose matrix is singular (a surface that slides within itself stays as near).
SLIDING_PULL = 0.01
# A step with sliding poses has to gain this share of the objective to go on, or this much (rad^2, in the mean).
SETTLED = 1e-4
SETTLED_BELOW = 1e-11
PROJECTION_STEPS = 8
STEPS_A_TRIAL = 2  # the poses' places only follow small changes there


def distances(problem: Problem, values: FloatArray, q: FloatArray) -> FloatArray:
    """Squared distance of each pose from its place on the surface, in the metric (N,)."""
    result: FloatArray = (problem.metric.scaled(problem.residuals(values, problem.net.sites(q))) ** 2).sum(
        axis=1
    )
    return result


def slopes(problem: Problem, values: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scaled residuals (N, 6), and minus their change per change of q (N, 6, n); 0 along a direction whose end the
    pose wants to leave.
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
    most = net.extent / np.array(net.shape)  # no step over more than about one knot span
    for _ in range(steps):
        missing, tangents = slopes(problem, values, q)
        gram = np.swapaxes(tangents, 1, 2) @ tangents
        floor = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
        gram = gram + floor[:, None, None] * np.eye(gram.shape[1])
        step = np.linalg.solve(gram, np.swapaxes(tangents, 1, 2) @ missing[..., None])[..., 0]
        step = np.clip(step, -most, most)
        moved = net.inside(q + share[:, None] * step)
        found = distances(problem, values, moved)
        nearer = found < best
        q, best = np.where(nearer[:, None], moved, q), np.where(nearer, found, best)
        share = np.where(nearer, 1.0, 0.25 * share)
        if not (np.abs(step) * share[:, None] > 1e-9 * net.extent).any():
            break
    return q


def loosened(problem: Problem, values: FloatArray, q: FloatArray) -> FloatArray:
    """What multiplies the rows of each pose (N, 6, 6) where poses are free to slide along the surface.

    Along its tangents only `SLIDING_PULL` is left: what the poses' places make good by themselves.
    """
    _, tangents = slopes(problem, values, q)
    along = tangents @ np.linalg.pinv(tangents, rcond=1e-9)
    result: FloatArray = np.eye(6) - (1.0 - SLIDING_PULL) * along
    return result


def minimize(
    problem: Problem,
    values: FloatArray,
    q: FloatArray,
    sliding: bool,
    tolerance: float,
    max_iterations: int,
    report: Callable[[int, float], None],
) -> tuple[FloatArray, FloatArray, list[float], bool]:
    """Control values and places at a minimum, the size of every step, and whether the last was below the tolerance.

    Where poses may slide, each trial projects them anew, so that the objective never rises.
    """
    q = project(problem, values, q) if sliding else q
    value, damping = problem.value(values, q), 0.0
    steps: list[float] = []
    for iteration in range(max_iterations):
        report(iteration, value)
        system = problem.system(values, q, loosened(problem, values, q) if sliding else None)
        while True:
            try:
                change = system.solve(damping)
            except np.linalg.LinAlgError:
                change = None
            if change is not None:
                step = float(np.abs(change).max())
                moved = values + change * problem.units
                places = project(problem, moved, q, STEPS_A_TRIAL) if sliding else q
                lowered = problem.value(moved, places)
                # near the minimum the objective is flat to round-off: a small step is right whatever it says
                if lowered <= value or step < 1e-8:
                    break
            damping = max(10.0 * damping, DAMPING_START)
            if damping > DAMPING_GIVE_UP:
                return values, q, steps, False
        gain = value - lowered
        values, q, value = moved, places, lowered
        damping = damping / 10.0 if damping > DAMPING_START else 0.0
        steps.append(step)
        if step < tolerance or (sliding and gain < SETTLED * value + SETTLED_BELOW):
            return values, q, steps, True
    return values, q, steps, False
