"""Equality constraints of a curve fit: poses to pass through, twists and zero curvature at the ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import FitError
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from .banded import BlockBandedSystem
from .linearization import Sites, derivatives, hessian_jacobian, pose_jacobian, poses, velocity_jacobian


@dataclass(frozen=True, eq=False)
class EndCondition:
    """The constraints at one end of an open curve.

    Attributes:
        at_start: which end.
        twist: s there (6,), or None.
        direction_only: only the direction of the twist counts, because the fit chooses q.
        straight: whether h = ds/dq is zero there.
    """

    at_start: bool
    twist: FloatArray | None
    direction_only: bool
    straight: bool

    def check_sense(self, frames: FloatArray, knots: FloatArray, order: int, metric: TwistMetric) -> None:
        """FitError if the curve has the requested direction but the opposite sense."""
        if self.twist is None or not self.direction_only:
            return
        place = knots[order - 1] if self.at_start else knots[len(frames)]
        s, _ = derivatives(frames, Sites.at(np.array([place]), knots, order, False))
        if not metric.inner(s[0], self.twist) > 0.0:
            raise FitError(
                f"the poses run against the twist {self.twist.tolist()} requested at the "
                f"{'first' if self.at_start else 'last'} end: reverse one of them"
            )


@dataclass(frozen=True, eq=False)
class Rows:
    """Linearized equations: residuals `missing` (n, rows), and blocks (n, order, rows, 6).

    The blocks multiply the scaled body twists of the frames with indices index (n, order).
    """

    index: IntArray
    blocks: FloatArray
    missing: FloatArray


@dataclass(frozen=True, eq=False)
class Constraints:
    """Equality constraints of one fit, in the metric; s and h are measured per unit of the whole range."""

    targets: FloatArray
    pins: Sites
    ends: tuple[tuple[EndCondition, Sites], ...]
    extent: float
    metric: TwistMetric

    @classmethod
    def make(
        cls,
        targets: FloatArray,
        q: FloatArray,
        pinned: IntArray,
        ends: Sequence[EndCondition],
        knots: FloatArray,
        order: int,
        periodic: bool,
        metric: TwistMetric,
    ) -> Constraints:
        start, stop = knots[order - 1], knots[len(knots) - order]
        places = [np.array([start if end.at_start else stop]) for end in ends]
        return cls(
            targets[pinned],
            Sites.at(q[pinned], knots, order, periodic),
            tuple((end, Sites.at(place, knots, order, periodic)) for end, place in zip(ends, places)),
            float(stop - start),
            metric,
        )

    @property
    def count(self) -> int:
        """Number of equations."""
        total = 6 * len(self.targets)
        for end, _ in self.ends:
            total += 6 * end.straight
            total += 0 if end.twist is None else 6 - end.direction_only
        return total

    def missing(self, frames: FloatArray) -> FloatArray:
        """Residuals of all equations, as one flat array."""
        parts = [self._gaps(frames).ravel()]
        for end, sites in self.ends:
            s, h = velocity_jacobian(frames, sites)[0], hessian_jacobian(frames, sites)[0]
            parts += [values for values, _ in self._end_rows(end, s, h)]
        return np.concatenate(parts)

    def rows(self, frames: FloatArray) -> list[Rows]:
        """The equations linearized about frames."""
        result = []
        if len(self.targets):
            gaps = lie.log(lie.inverse(poses(frames, self.pins)) @ self.targets)
            moved = lie.right_jacobian_inverse(-gaps)[:, None] @ pose_jacobian(frames, self.pins)
            blocks = self.metric.right(self.metric.left(moved))
            result.append(Rows(self.pins.index, blocks, self.metric.scaled(gaps)))
        for end, sites in self.ends:
            s, by_s = velocity_jacobian(frames, sites)
            h, by_h = hessian_jacobian(frames, sites)
            # both lists have the twist first, if there is one, then the curvature
            jacobians = ([by_s] if end.twist is not None else []) + ([by_h] if end.straight else [])
            for (values, matrix), by_frames in zip(self._end_rows(end, s, h), jacobians):
                blocks = self.metric.right(matrix @ by_frames)
                result.append(Rows(sites.index, blocks, values[None]))
        return result

    def _gaps(self, frames: FloatArray) -> FloatArray:
        return self.metric.scaled(lie.log(lie.inverse(poses(frames, self.pins)) @ self.targets))

    def _end_rows(
        self, end: EndCondition, s: FloatArray, h: FloatArray
    ) -> list[tuple[FloatArray, FloatArray]]:
        """For each condition of an end its residual (rows,), and the matrix (rows, 6) that multiplies s or h."""
        result = []
        if end.twist is not None:
            matrix = self.extent * self.metric.factor
            aim = end.twist
            if end.direction_only:
                # five directions orthogonal to the twist in the metric
                unit = self.metric.scaled(aim) / self.metric.norm(aim)
                across = np.linalg.svd(unit[None])[2][1:]
                matrix, aim = across @ matrix, np.zeros(6)
            result.append((matrix @ (aim - s[0]), matrix))
        if end.straight:
            matrix = self.extent**2 * self.metric.factor
            result.append((-(matrix @ h[0]), matrix))
        return result


class ConstrainedSystem:
    """Normal equations H x = g under linear equations C x = d.

    H includes the squares of the equations too. This changes no solution, and makes H definite where only the equations
    determine a frame; H stays banded.
    """

    # equations are dependent if an eigenvalue of C H^-1 C^T, its diagonal scaled to 1, is below this
    DEPENDENT = 1e-12

    def __init__(self, system: BlockBandedSystem, rows: Sequence[Rows]) -> None:
        self.system = system
        root = np.sqrt(system.diagonal())
        matrices, missing = [], []
        for part in rows:
            system.add_rows(part.index, root * part.blocks, root * part.missing)
            n, order, height, _ = part.blocks.shape
            matrix = np.zeros((n, system.num_blocks, height, 6))
            which = np.broadcast_to(np.arange(n)[:, None], (n, order))
            np.add.at(matrix, (which, part.index), part.blocks)
            matrices.append(matrix.transpose(0, 2, 1, 3).reshape(n * height, -1))
            missing.append(part.missing.ravel())
        self.matrix = np.concatenate(matrices)
        self.missing = np.concatenate(missing)

    def solve(self, damping: float) -> tuple[FloatArray, float]:
        """x (m, 6), and the norm of the multipliers.

        Raises:
            FitError: the equations are linearly dependent.
            LinAlgError: some x is undetermined.
        """
        m = self.system.num_blocks
        right = np.concatenate([self.system.right.reshape(-1, 1), self.matrix.T], axis=1)
        columns = self.system.solve_columns(damping * self.system.diagonal(), right.reshape(m, 6, -1))
        columns = columns.reshape(6 * m, -1)
        x, inverse = columns[:, 0], columns[:, 1:]
        schur = self.matrix @ inverse
        schur = 0.5 * (schur + schur.T)
        size = np.sqrt(np.diag(schur))
        if not size.all() or np.linalg.eigvalsh(schur / np.outer(size, size))[0] < self.DEPENDENT:
            raise FitError(
                f"the {len(self.missing)} equations of pinned poses and ends contradict or repeat each other, or are "
                f"too many for {m} control frames there: use more frames, or pin less"
            )
        multipliers = np.linalg.solve(schur, self.matrix @ x - self.missing)
        x = x - inverse @ multipliers
        return x.reshape(m, 6), float(np.linalg.norm(multipliers))
