"""Gauss-Newton on a model's numbers and all its poses at once: each frame's coordinates are eliminated.

The normal equations of a fit to markers have the form of an arrow: the numbers meet every frame's coordinates, which do
not meet each other. Their Schur complement costs as much as there are frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from .._typing import BoolArray, FloatArray
from ..fitting.gauss_newton import Objective
from ..model.model import Model
from ..model.observation import observe
from .marker_unknowns import Markers, Unknowns, carried

ROOM = 4_000_000  # numbers in the derivatives that are in memory at once
LEAST_DAMPING = 1e-12  # round-off of the normal equations: coordinates that no marker determines stay
FIRST_DAMPING, MOST_DAMPING = 1e-6, 1e6
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal equations: of the numbers (P, P), (P,), of each frame's coordinates (T, nv, nv), (T, nv), and of both
    (T, nv, P).
    """

    numbers: FloatArray
    right: FloatArray
    poses: FloatArray
    pulls: FloatArray
    both: FloatArray

    def solve(self, damping: float) -> tuple[FloatArray, FloatArray]:
        """Steps of the numbers (P,) and of the coordinates (T, nv)."""
        diagonal, count = np.einsum("tii->ti", self.poses), len(self.right)
        least = LEAST_DAMPING * diagonal.max(axis=1, keepdims=True, initial=1e-100)
        frames = self.poses + (damping * diagonal + least)[:, :, None] * np.eye(diagonal.shape[1])
        inverses = np.linalg.inv(frames)
        gains, alone = inverses @ self.both, (inverses @ self.pulls[..., None])[..., 0]
        schur = self.numbers - self.both.reshape(-1, count).T @ gains.reshape(-1, count)
        schur += damping * np.diag(np.diag(self.numbers))
        step: FloatArray = np.linalg.solve(schur, np.einsum("tnp,tn->p", self.both, alone) - self.right)
        coordinates: FloatArray = -(alone + gains @ step)
        return step, coordinates


@dataclass(frozen=True, eq=False)
class Place:
    """Where a search is: numbers (P,), coordinates (T, nv), model, cost [m^2], and distances of markers (T, m) [m]."""

    row: FloatArray
    q: FloatArray
    model: Model
    cost: float
    residual: FloatArray

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.nanmean(self.residual**2)))


class Problem:
    """Mean squared error of markers, with the change of the curve's Hessian and the spreads of the numbers."""

    def __init__(self, unknowns: Unknowns, markers: Markers, smoothing: float, noise: float) -> None:
        self.unknowns, self.markers, model = unknowns, markers, unknowns.model
        self.ranges = model.coordinate_table.ranges
        self.free: BoolArray = ~(model.prescribed | model.coordinate_table.held)
        self.column = model.coordinate_slice(model.body_names[unknowns.body]).start
        share, extent = (1.0 - smoothing) / markers.seen.sum(), float(unknowns.inner_weights.sum())
        self.root = np.sqrt(share) * markers.weights * markers.seen
        self.smooth = smoothing * (extent / (2.0 * np.pi * Objective.WAVES)) ** 4 / extent
        self.prior = share * (noise / unknowns.spread) ** 2

    def at(self, row: FloatArray, q: FloatArray) -> Place:
        """The place with these numbers and coordinates, which are kept within their ranges."""
        q = np.clip(q, *self.ranges.T)
        model = Model(self.unknowns.bodies(row), self.unknowns.model.gravity)
        errors, bend = self.errors(row, model, q)[0], self.unknowns.bend(row)[0]
        cost = np.square(self.root[..., None] * errors).sum() + self.smooth * (bend @ bend)
        residual = np.where(self.markers.seen, np.linalg.norm(errors, axis=2), np.nan)
        return Place(row, q, model, float(cost + self.prior @ row**2), residual)

    def errors(
        self, row: FloatArray, model: Model, q: FloatArray, part: slice = ALL
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Errors of markers in some frames (T, m, 3), where the model has them, and its poses (T, nb, 4, 4)."""
        poses, _ = observe(model, q[part], np.zeros_like(q[part]))
        own = poses[:, self.markers.bodies]
        points = (own[..., :3, :3] @ self.unknowns.offsets(row)[..., None])[..., 0] + own[..., :3, 3]
        return points - self.markers.places[part], points, poses

    def normal(self, place: Place) -> Normal:
        """The normal equations, piece by piece, without coordinates at an end of their range that would leave it."""
        row, (frames, nv) = place.row, place.q.shape
        bend, slopes = self.unknowns.bend(row)
        numbers = self.smooth * slopes.T @ slopes + np.diag(self.prior)
        right = self.smooth * slopes.T @ bend + self.prior * row
        poses, pulls, both = (
            np.zeros((frames, nv, nv)),
            np.zeros((frames, nv)),
            np.zeros((frames, nv, len(row))),
        )
        size = max(1, ROOM // (3 * len(self.markers.bodies) * (len(row) + nv)))
        for part in (slice(first, first + size) for first in range(0, frames, size)):
            by_number, by_q, errors = self.rows(place, part)
            poses[part], both[part] = by_q.swapaxes(1, 2) @ by_q, by_q.swapaxes(1, 2) @ by_number
            pulls[part] = np.einsum("trn,tr->tn", by_q, errors)
            flat = by_number.reshape(-1, len(row))
            numbers += flat.T @ flat
            right += flat.T @ errors.ravel()
        lower, upper = self.ranges.T
        out = ((place.q <= lower) & (pulls > 0.0)) | ((place.q >= upper) & (pulls < 0.0))
        poses[out], pulls[out], both[out] = 0.0, 0.0, 0.0
        np.swapaxes(poses, 1, 2)[out] = 0.0
        return Normal(numbers, right, poses, pulls, both)

    def rows(self, place: Place, part: slice = ALL) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weighted errors of some frames (T, 3 m), last, and their derivatives by the numbers (T, 3 m, P) and by the
        coordinates (T, 3 m, nv).
        """
        q, root = place.q[part], self.root[part, :, None]
        errors, points, at = self.errors(place.row, place.model, place.q, part)
        by_number = self.unknowns.slopes(place.row, place.model, q[:, self.column], at, points)
        by_q = np.zeros((*points.shape, q.shape[1]))
        for body in np.unique(self.markers.bodies):
            own = self.markers.bodies == body
            by_q[:, own] = carried(at[:, body], points[:, own]) @ jacobians(place.model, q, body)[:, None]
        by_q[..., ~self.free] = 0.0
        width = 3 * len(self.markers.bodies)
        slopes = [
            (root[..., None] * each).reshape(len(q), width, each.shape[3]) for each in (by_number, by_q)
        ]
        return slopes[0], slopes[1], (root * errors).reshape(len(q), width)

    def step(self, place: Place, damping: float) -> tuple[Place, float]:
        """A place of no more cost, or the same one, and the damping that led to it (Levenberg-Marquardt)."""
        normal = self.normal(place)
        while damping < MOST_DAMPING:
            row, q = normal.solve(damping)
            found = self.at(place.row + row, place.q + q)
            if found.cost <= place.cost:
                return found, damping
            damping = max(10.0 * damping, FIRST_DAMPING)
        return place, 0.0


def jacobians(model: Model, q: FloatArray, body: int) -> FloatArray:
    """Body twists (T, 6, nv) of a body by coordinates (T, nv)."""
    result, bias, still = np.zeros((len(q), 6, q.shape[1])), np.zeros(6), np.zeros(q.shape[1])
    spaces = model.workspace().clear()
    for row, jacobian in zip(q, result):
        kernels.dynamics.jacobian.body_jacobian(model.arrays, row, still, int(body), jacobian, bias, *spaces)
    return result
