"""Gauss-Newton on the control frames with the knots held still (Lee & Terzopoulos 2008, eqs. 32-36 and 42)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import lie
from .._typing import FloatArray
from .banded import BlockBandedSystem
from .linearization import Sites, derivatives, hessian_jacobian, pose_jacobian, poses
from .parameterization import quadrature

DAMPING_START = 1e-6
DAMPING_GIVE_UP = 1e6


@dataclass(frozen=True, eq=False)
class Objective:
    """(1 - w) mean |r_k|^2 + w lambda integral |h|^2 dq for given knots; r_k = log(G(q_k)^-1 G_k), in the metric.

    lambda = (range / (2 pi `WAVES`))^4 / range, so that a sine of `WAVES` waves over the range keeps half of its
    height at w = 1/2, whatever the number of poses, their size and the unit of q: (w / (1 - w))^(1/4) is then the
    wavelength that is halved, as a multiple of a `WAVES`-th of the range.
    """

    WAVES = 4.0

    targets: FloatArray
    sites: Sites
    inner: Sites
    inner_weights: FloatArray
    data_weight: float
    smooth_weight: float
    metric: FloatArray
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
        length_scale: float,
    ) -> Objective:
        inner, weights = quadrature(knots, order, periodic)
        extent = float(weights.sum())
        return cls(
            targets,
            Sites.at(q, knots, order, periodic),
            inner,
            weights,
            (1.0 - smoothing) / len(targets),
            smoothing * (extent / (2.0 * np.pi * cls.WAVES)) ** 4 / extent,
            1.0 / np.repeat([1.0, length_scale], 3),
            periodic,
        )

    def residuals(self, frames: FloatArray) -> FloatArray:
        """log(G(q_k)^-1 G_k) (N, 6), not weighted."""
        return lie.log(lie.inverse(poses(frames, self.sites)) @ self.targets)

    def hessian_integral(self, frames: FloatArray) -> float:
        """Integral of |h|^2 over the range, in the metric."""
        _, h = derivatives(frames, self.inner)
        return float(self.inner_weights @ ((h * self.metric) ** 2).sum(axis=1))

    def value(self, frames: FloatArray) -> float:
        misfit = float(((self.residuals(frames) * self.metric) ** 2).sum())
        return self.data_weight * misfit + self.smooth_weight * self.hessian_integral(frames)

    def system(self, frames: FloatArray) -> BlockBandedSystem:
        """Normal equations of one Gauss-Newton step for the frames' body twists, in units of the metric."""
        order = self.sites.index.shape[1]
        system = BlockBandedSystem(len(frames), order, self.cyclic)
        r = self.residuals(frames)
        # r changes by -J_l(r)^-1 times the body twist of G
        moved = lie.right_jacobian_inverse(-r)[:, None] @ pose_jacobian(frames, self.sites)
        scale = np.sqrt(self.data_weight) * self.metric
        system.add_rows(self.sites.index, scale[:, None] * moved / self.metric, scale * r)
        if self.smooth_weight > 0.0:
            h, blocks = hessian_jacobian(frames, self.inner)
            weights = np.sqrt(self.smooth_weight * self.inner_weights)[:, None] * self.metric
            system.add_rows(self.inner.index, weights[:, None, :, None] * blocks / self.metric, -weights * h)
        return system


def minimize(
    objective: Objective,
    frames: FloatArray,
    tolerance: float,
    max_iterations: int,
    report: Callable[[int, float], None],
) -> tuple[FloatArray, list[float], bool]:
    """Control frames at a minimum, the size of every step taken, and whether the last was below the tolerance.

    Damping (Levenberg) comes in only where a plain step does not lower the objective.
    """
    steps: list[float] = []
    value, damping = objective.value(frames), 0.0
    for iteration in range(max_iterations):
        report(iteration, value)
        system = objective.system(frames)
        while True:
            try:
                # the metric's units make rotation and translation alike for the damping
                twists = system.solve(damping * system.diagonal()) / objective.metric
            except np.linalg.LinAlgError:
                twists = None
            if twists is not None:
                step = float(np.abs(twists * objective.metric).max())
                moved = frames @ lie.exp(twists)
                lowered = objective.value(moved)
                # near the minimum the objective is flat to round-off: a small step is right whatever it says
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
