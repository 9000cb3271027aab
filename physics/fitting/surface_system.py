"""The objective of a surface fit, and its normal equations with exact differentials."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from .surface_motion import Motion
from .surface_net import Net, Sites

# points whose Hessian rows are in memory at once
CHUNK = 2048


class NormalEquations:
    """Dense H x = g for the control values of a net, filled cell by cell: points of one cell share their control
    values.
    """

    def __init__(self, size: int) -> None:
        self.matrix = np.zeros((6 * size, 6 * size))
        self.right = np.zeros(6 * size)

    def add(self, sites: Sites, coefficients: FloatArray, residual: FloatArray) -> None:
        """Add least-squares rows: coefficients (N, R, 6, J) of the splines' jets, and residuals (N, R)."""
        for points in sites.by_cell():
            rows = coefficients[points] @ sites.bases[points][:, None]
            rows = rows.reshape(-1, rows.shape[2] * rows.shape[3])
            places = (np.arange(6)[:, None] + 6 * sites.index[points[0]]).ravel()
            self.matrix[np.ix_(places, places)] += rows.T @ rows
            self.right[places] += rows.T @ residual[points].ravel()

    def solve(self, damping: float) -> FloatArray:
        """x (m, 6) with (H + damping mean(diag H) I) x = g; LinAlgError if the matrix is not positive definite."""
        from scipy.linalg import cho_factor, cho_solve

        matrix = self.matrix.copy()
        diagonal = np.einsum("ii->i", matrix)
        diagonal += damping * diagonal.mean()
        result: FloatArray = cho_solve(cho_factor(matrix, overwrite_a=True), self.right)
        return result.reshape(-1, 6)


@dataclass(frozen=True, eq=False)
class Problem:
    """(1 - w) mean of weight_k |r_k|^2 + w times an integral of the squared Hessian, r_k = log(G(q_k)^-1 T_k).

    Norms are the metric's. The Hessian h_ij is the symmetric part of dS_i / dq_j (Lee & Terzopoulos 2008, sec. 6.3, for
    more than one coordinate). It measures the bending of the motion, like that of a thin plate, and does not depend on
    the choice of angles. It is scaled along each direction: at w = 1/2 a sine of `WAVES` waves over the range keeps
    half of its amplitude, whatever the number of poses, their size and the units of q.
    """

    WAVES = 4.0

    targets: FloatArray
    net: Net
    motion: Motion
    metric: TwistMetric
    weights: FloatArray
    smoothing: float

    @cached_property
    def data_weights(self) -> FloatArray:
        return (1.0 - self.smoothing) / self.weights.sum() * self.weights

    @cached_property
    def units(self) -> FloatArray:
        """One radian in each of the six values."""
        return np.repeat([1.0, self.metric.length_scale], 3)

    @cached_property
    def inner(self) -> Sites:
        """Quadrature points, grouped by cell."""
        points, _ = self.net.quadrature()
        return self.net.sites(points, 2)

    @cached_property
    def inner_weights(self) -> FloatArray:
        """Weights of the squared h_ij, i <= j, at the quadrature points (Q, pairs)."""
        _, weights = self.net.quadrature()
        extent = self.net.extent / (2.0 * np.pi * self.WAVES)
        shares = [(1.0 + (i != j)) * (extent[i] * extent[j]) ** 2 for i, j in self.net.second_pairs]
        return np.outer(weights / weights.sum(), shares)

    def residuals(self, values: FloatArray, sites: Sites) -> FloatArray:
        """r (N, 6), not weighted."""
        placed = self.motion.poses(self.net.jets(values, sites)[:, 0])
        return lie.log(lie.inverse(placed) @ self.targets)

    def hessian_integral(self, values: FloatArray) -> float:
        """Weighted integral of |h|^2."""
        jets = self.net.jets(values, self.inner)
        h = self._hessian(jets, self.motion.columns(jets[:, 0]))[2]
        return float((self.inner_weights * (self.metric.scaled(h) ** 2).sum(axis=-1)).sum())

    def value(self, values: FloatArray, q: FloatArray) -> float:
        squares = (self.metric.scaled(self.residuals(values, self.net.sites(q))) ** 2).sum(axis=1)
        misfit = float(self.data_weights @ squares)
        if self.smoothing == 0.0:
            return misfit
        return misfit + self.smoothing * self.hessian_integral(values)

    def system(self, values: FloatArray, q: FloatArray, factors: FloatArray | None) -> NormalEquations:
        """Normal equations of a Gauss-Newton step of the control values, measured in `units`.

        `factors` (N, 6, 6), if given, multiplies the rows of each pose: see `surface_places.loosened`.
        """
        system = NormalEquations(len(values))
        sites = self.net.sites(q)
        phi = self.net.jets(values, sites)[:, 0]
        r = lie.log(lie.inverse(self.motion.poses(phi)) @ self.targets)
        # r changes by -J_l(r)^-1 times the body twist of G
        moved = lie.right_jacobian_inverse(-r) @ self.motion.columns(phi)
        rows, missing = self.metric.left(moved * self.units), self.metric.scaled(r)
        if factors is not None:
            rows, missing = factors @ rows, (factors @ missing[..., None])[..., 0]
        root = np.sqrt(self.data_weights)[:, None]
        system.add(sites, (root[..., None] * rows)[..., None], root * missing)
        if self.smoothing > 0.0:
            self._add_hessian(system, values)
        return system

    def _hessian(
        self, jets: FloatArray, columns: FloatArray
    ) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
        """From jets (Q, J, 6): S_i and dA / dq_i of each direction, and h (Q, pairs, 6)."""
        n = len(self.net.knots)
        slopes = [jets[:, 1 + i] for i in range(n)]
        twists = [_apply(columns, slope) for slope in slopes]
        turns = [self.motion.change(columns, slope) for slope in slopes]
        h = np.stack(
            [
                _apply(columns, jets[:, 1 + n + k])
                + 0.5 * (_apply(turns[j], slopes[i]) + _apply(turns[i], slopes[j]))
                for k, (i, j) in enumerate(self.net.second_pairs)
            ],
            axis=1,
        )
        return twists, turns, h

    def _add_hessian(self, system: NormalEquations, values: FloatArray) -> None:
        order = np.argsort(self.inner.cell, kind="stable")
        for start in range(0, len(order), CHUNK):
            part = order[start : start + CHUNK]
            sites = self.inner.part(part)
            coefficients, h = self._hessian_rows(self.net.jets(values, sites))
            root = np.sqrt(self.smoothing * self.inner_weights[part])[..., None]
            rows = root[..., None, None] * self._scaled_rows(coefficients)
            count = len(part)
            system.add(
                sites,
                rows.reshape(count, -1, 6, coefficients.shape[-1]),
                -(root * self.metric.scaled(h)).reshape(count, -1),
            )

    def _scaled_rows(self, coefficients: FloatArray) -> FloatArray:
        flat = coefficients.reshape(*coefficients.shape[:-2], -1)
        scaled = self.metric.left(flat).reshape(coefficients.shape)
        return scaled * self.units[:, None]

    def _hessian_rows(self, jets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """h (Q, pairs, 6), and its exact change (Q, pairs, 6, 6, J) per change of the splines' jets.

        With the body twist eta of the change, dS_i = d eta / dq_i + [S_i, eta].
        """
        n, pairs = len(self.net.knots), self.net.second_pairs
        columns = self.motion.columns(jets[:, 0])
        twists, turns, h = self._hessian(jets, columns)
        brackets = [lie.ad(twist) for twist in twists]
        result = np.zeros((len(jets), len(pairs), 6, 6, jets.shape[1]))
        for k, (i, j) in enumerate(pairs):
            second = self.motion.change(columns, jets[:, 1 + n + k]) + self.motion.second_change(
                columns, jets[:, 1 + i], jets[:, 1 + j]
            )
            result[:, k, ..., 0] = (
                second + 0.5 * (brackets[i] @ turns[j] + brackets[j] @ turns[i]) + lie.ad(h[:, k]) @ columns
            )
            result[:, k, ..., 1 + i] += turns[j] + 0.5 * brackets[j] @ columns
            result[:, k, ..., 1 + j] += turns[i] + 0.5 * brackets[i] @ columns
            result[:, k, ..., 1 + n + k] = columns
        return result, h


def _apply(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    return (matrices @ vectors[..., None])[..., 0]
