"""Gauss-Newton on the control frames for fixed knots (Lee & Terzopoulos 2008, eqs. 32-36 and 42)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from . import many_poses
from .banded import BlockBandedSystem
from .constraints import ConstrainedSystem, Constraints
from .linearization import Sites, hessian_jacobian, pose_jacobian
from .parameterization import quadrature

DAMPING_START = 1e-6
DAMPING_GIVE_UP = 1e6
# shares of a step tried before damping, in a constrained fit
SHARES = (1.0, 0.5, 0.25, 0.125)
ROUND_OFF = 1e-15


@dataclass(frozen=True, eq=False)
class Objective:
    """(1 - w) mean of weight_k |r_k|^2 + w lambda integral |h|^2 dq for given knots, r_k = log(G(q_k)^-1 G_k).

    Norms are the metric's. With lambda = (range / (2 pi `WAVES`))^4 / range, a sine of `WAVES` waves over the range
    keeps half of its amplitude at w = 1/2, whatever the number of poses, their size and the unit of q. In general the
    wavelength whose amplitude is halved is (w / (1 - w))^(1/4) times range / `WAVES`.
    """

    WAVES = 4.0

    targets: FloatArray
    sites: Sites
    inner: Sites
    inner_weights: FloatArray
    data_weights: FloatArray
    smooth_weight: float
    metric: TwistMetric
    cyclic: bool

    @classmethod
    def make(
        cls,
        targets: FloatArray,
        q: FloatArray,
        knots: FloatArray,
        order: int,
        periodic: bool,
        smoothing: float,
        metric: TwistMetric,
        weights: FloatArray | None = None,
    ) -> Objective:
        inner, inner_weights = quadrature(knots, order, periodic)
        extent = float(inner_weights.sum())
        return cls(
            targets,
            Sites.at(q, knots, order, periodic),
            inner,
            inner_weights,
            (1.0 - smoothing) / len(targets) * (np.ones(len(targets)) if weights is None else weights),
            smoothing * (extent / (2.0 * np.pi * cls.WAVES)) ** 4 / extent,
            metric,
            periodic,
        )

    def residuals(self, frames: FloatArray) -> FloatArray:
        """log(G(q_k)^-1 G_k) (N, 6), not weighted."""
        return many_poses.residuals(frames, self.sites, self.targets)

    def hessian_integral(self, frames: FloatArray) -> float:
        """Integral of |h|^2 over the range, in the metric."""
        _, h = many_poses.derivatives(frames, self.inner, len(self.targets))
        return float(self.inner_weights @ (self.metric.scaled(h) ** 2).sum(axis=1))

    def value(self, frames: FloatArray) -> float:
        squares = (self.metric.scaled(self.residuals(frames)) ** 2).sum(axis=1)
        rough = self.smooth_weight * self.hessian_integral(frames) if self.smooth_weight > 0.0 else 0.0
        return float(self.data_weights @ squares) + rough

    def system(self, frames: FloatArray) -> BlockBandedSystem:
        """Normal equations of one Gauss-Newton step for the frames' scaled body twists."""
        order = self.sites.index.shape[1]
        system = BlockBandedSystem(len(frames), order, self.cyclic)
        if many_poses.compiled(len(self.targets)):
            many_poses.add_squares(system, frames, self.metric, self.sites, self.data_weights, self.targets)
        else:
            r = self.residuals(frames)
            # r changes by -J_l(r)^-1 times the body twist of G
            moved = lie.right_jacobian_inverse(-r)[:, None] @ pose_jacobian(frames, self.sites)
            root = np.sqrt(self.data_weights)[:, None]
            blocks = self.metric.right(self.metric.left(moved))
            system.add_rows(self.sites.index, root[..., None, None] * blocks, root * self.metric.scaled(r))
        if self.smooth_weight > 0.0:
            h, blocks = hessian_jacobian(frames, self.inner)
            root = np.sqrt(self.smooth_weight * self.inner_weights)[:, None]
            blocks = self.metric.right(self.metric.left(blocks))
            system.add_rows(self.inner.index, root[..., None, None] * blocks, -root * self.metric.scaled(h))
        return system


def minimize(
    objective: Objective,
    frames: FloatArray,
    tolerance: float,
    max_iterations: int,
    report: Callable[[int, float], None],
    constraints: Constraints | None = None,
) -> tuple[FloatArray, list[float], bool]:
    """Control frames at a minimum, the size of every step taken, and whether the last was below the tolerance.

    Steps are damped (Levenberg) only where a plain step does not lower the objective.

    Raises:
        FitError: the constraints contradict each other, or are too many for the frames.
    """
    if constraints is not None and constraints.count:
        return minimize_constrained(objective, constraints, frames, tolerance, max_iterations, report)
    steps: list[float] = []
    value, damping = objective.value(frames), 0.0
    for iteration in range(max_iterations):
        report(iteration, value)
        system = objective.system(frames)
        while True:
            try:
                # in the metric's units, damping treats rotation and translation alike
                scaled = system.solve(damping * system.diagonal())
            except np.linalg.LinAlgError:
                scaled = None
            if scaled is not None:
                step = float(np.abs(scaled).max())
                moved = frames @ lie.exp(objective.metric.unscaled(scaled))
                lowered = objective.value(moved)
                # near the minimum the objective is flat to round-off: accept small steps regardless
                if lowered <= value or step < 1e-6:
                    break
            damping = max(10.0 * damping, DAMPING_START)
            if damping > DAMPING_GIVE_UP:
                return frames, steps, False
        frames, value = moved, lowered
        damping = damping / 10.0 if damping > DAMPING_START else 0.0
        steps.append(step)
        if step < tolerance:
            return frames, steps, True
    return frames, steps, False


def minimize_constrained(
    objective: Objective,
    constraints: Constraints,
    frames: FloatArray,
    tolerance: float,
    max_iterations: int,
    report: Callable[[int, float], None],
) -> tuple[FloatArray, list[float], bool]:
    """As `minimize`, under equality constraints: sequential quadratic programming.

    Steps are judged by the exact penalty value + price |residual of the constraints| (Nocedal & Wright 2006, sec.
    18.3).
    """
    steps: list[float] = []
    value, missing = objective.value(frames), float(np.linalg.norm(constraints.missing(frames)))
    price, damping = 0.0, 0.0
    for iteration in range(max_iterations):
        report(iteration, value)
        system = ConstrainedSystem(objective.system(frames), constraints.rows(frames))
        taken = None
        while taken is None:
            try:
                scaled, multipliers = system.solve(damping)
            except np.linalg.LinAlgError:
                scaled, multipliers = np.zeros((0, 6)), 0.0
            price = max(price, 4.0 * multipliers)  # twice the multiplier, of twice the half square
            for share in SHARES if len(scaled) else ():
                step = share * float(np.abs(scaled).max())
                moved = frames @ lie.exp(objective.metric.unscaled(share * scaled))
                after = objective.value(moved), float(np.linalg.norm(constraints.missing(moved)))
                before = value + price * missing
                # Gauss-Newton neglects the curvature of the constraints: accept only steps that descend
                if after[0] + price * after[1] <= before + ROUND_OFF * (1.0 + before) or step < tolerance:
                    taken = moved, after, step
                    break
            if taken is None:
                damping = max(10.0 * damping, DAMPING_START)
                if damping > DAMPING_GIVE_UP:
                    return frames, steps, False
        frames, (value, missing), step = taken
        damping = damping / 3.0 if damping > DAMPING_START else 0.0
        steps.append(step)
        if step < tolerance:
            return frames, steps, True
    return frames, steps, False
