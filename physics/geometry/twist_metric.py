"""Lengths of twists: the weight of rotation relative to translation wherever motions are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import bounded, finite_array, inertia_matrix, number, per_coordinate
from .lie import spatial_inertia

# beyond this, or below its inverse, squares leave the range of floating-point numbers
MOST_SCALE = 1e100


@dataclass(frozen=True, eq=False)
class TwistMetric:
    """|x|^2 = x^T M x for twists x in the body frame [angular, linear], M = factor^T factor.

    Attributes:
        factor: upper triangular (6, 6) with a positive diagonal.
        length_scale: translation [m] that counts as one radian, averaged over directions.
    """

    factor: FloatArray
    length_scale: float

    @classmethod
    def of_length(cls, length_scale: float) -> TwistMetric:
        """sqrt(|w|^2 + |v|^2 / length_scale^2): length_scale metres count as one radian."""
        if not 1.0 / MOST_SCALE <= length_scale <= MOST_SCALE:
            raise ModelError(f"length_scale must be above 0 and at most {MOST_SCALE:g}, got {length_scale:g}")
        return cls(np.diag(1.0 / np.repeat([1.0, length_scale], 3)), length_scale)

    @classmethod
    def of_matrix(cls, matrix: Any, name: str = "metric") -> TwistMetric:
        """x^T M x, with M (6, 6) scaled so that lengths read as radians.

        The length of a rotation, about the point where M does not couple it with translation, is then its angle,
        averaged over all axes. Fits depend on ratios only; tolerances need the unit.

        Raises:
            ModelError: M is not symmetric positive definite.
        """
        given = bounded(finite_array(matrix, (6, 6), name), name, MOST_SCALE**2)
        largest = float(np.abs(given).max())
        if float(np.abs(given - given.T).max()) > 1e-9 * largest:
            raise ModelError(f"{name} must be symmetric, got {given.tolist()}")
        symmetric = 0.5 * (given + given.T)
        size = np.sqrt(np.abs(np.diag(symmetric)))
        safe = np.where(size > 0.0, size, 1.0)
        lowest = float(np.linalg.eigvalsh(symmetric / np.outer(safe, safe))[0])
        if not (size.all() and lowest > 1e-12):
            values = np.linalg.eigvalsh(symmetric).tolist()
            raise ModelError(f"{name} must be positive definite, its eigenvalues are {values}")
        translation = symmetric[3:, 3:]
        coupling = symmetric[:3, 3:]
        turning = symmetric[:3, :3] - coupling @ np.linalg.solve(translation, coupling.T)
        length_scale = float(np.sqrt(np.trace(turning) / np.trace(translation)))
        return cls(np.linalg.cholesky(symmetric * (3.0 / np.trace(turning))).T, length_scale)

    @classmethod
    def of_weights(cls, rotation: Any, translation: Any) -> TwistMetric:
        """Weights of squared rotation [1/rad^2] and translation [1/m^2]: one number, or one for each body axis."""
        weights = [
            per_coordinate(value, 3, f"{name} weight")
            for name, value in (("rotation", rotation), ("translation", translation))
        ]
        flat = np.concatenate(weights)
        if not (flat > 0.0).all():
            raise ModelError(f"weights of a metric must be positive, got {flat.tolist()}")
        return cls.of_matrix(np.diag(flat))

    @classmethod
    def of_inertia(cls, mass: Any, com: Any, inertia: Any) -> TwistMetric:
        """Kaufman's metric, the body's kinetic energy: mass [kg], com (3,) [m], inertia (3, 3) about it [kg m^2]."""
        m = number(mass, "mass of the metric", positive=True)
        arm = finite_array(com, (3,), "com of the metric")
        return cls.of_matrix(spatial_inertia(m, arm, inertia_matrix(inertia, "inertia of the metric")))

    @classmethod
    def of(cls, given: Any) -> TwistMetric:
        """The metric from itself, a matrix (6, 6), or a mapping of rotation and translation, or of mass, com and
        inertia.

        Raises:
            ModelError: `given` is none of these; the message names the key and its value.
        """
        if isinstance(given, TwistMetric):
            return given
        if not isinstance(given, Mapping):
            return cls.of_matrix(given)
        if set(given) == {"rotation", "translation"}:
            return cls.of_weights(given["rotation"], given["translation"])
        if set(given) == {"mass", "com", "inertia"}:
            return cls.of_inertia(given["mass"], given["com"], given["inertia"])
        raise ModelError(
            "metric needs the keys rotation and translation, or mass, com and inertia, "
            f"got {', '.join(map(str, given)) or 'none'}"
        )

    @property
    def matrix(self) -> FloatArray:
        """M (6, 6)."""
        return self.factor.T @ self.factor

    @cached_property
    def _diagonal(self) -> FloatArray | None:
        diagonal = np.diag(self.factor).copy()
        return diagonal if (self.factor == np.diag(diagonal)).all() else None

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.linalg.inv(self.factor)

    def scaled(self, twists: FloatArray) -> FloatArray:
        """factor x for twists (..., 6), whose Euclidean length is the length in this metric."""
        if self._diagonal is not None:
            return twists * self._diagonal
        return twists @ self.factor.T

    def unscaled(self, values: FloatArray) -> FloatArray:
        """Twists (..., 6) for which `scaled` gives these values."""
        if self._diagonal is not None:
            return values / self._diagonal
        return values @ self._inverse.T

    def norm(self, twists: FloatArray) -> FloatArray:
        """|x| of twists (..., 6)."""
        return np.linalg.norm(self.scaled(twists), axis=-1)

    def inner(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """x^T M y of twists (..., 6)."""
        return (self.scaled(first) * self.scaled(second)).sum(axis=-1)

    def left(self, blocks: FloatArray) -> FloatArray:
        """factor B of blocks (..., 6, k) whose rows are twists."""
        if self._diagonal is not None:
            return self._diagonal[:, None] * blocks
        return self.factor @ blocks

    def right(self, blocks: FloatArray) -> FloatArray:
        """B factor^-1 of blocks B (..., k, 6) that act on twists; the result acts on scaled twists."""
        if self._diagonal is not None:
            return blocks / self._diagonal
        return blocks @ self._inverse
