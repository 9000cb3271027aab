"""Distributions of a muscle's mass along its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import ReadOnlyArrays, Value
from ..validation import finite_array, float_array, number, whole_number

MOST_POINTS = 10**6


@dataclass(frozen=True, eq=False)
class MassPoints(ReadOnlyArrays, Value):
    """Mass points on a path of length L: point i lies at the arc length offsets[i] + shares[i] L from the origin.

    Shares alone give equal strain (Wang 2022, sec. 5.3.2). An offset keeps a point at a fixed distance from an end, as
    on a tendon that does not stretch.

    Attributes:
        masses: (n,) [kg], positive. offsets: (n,) [m], not negative at share 0, not positive at share 1.
        shares: (n,), from 0 to 1, sorted.
    """

    masses: FloatArray
    offsets: FloatArray
    shares: FloatArray

    def __post_init__(self) -> None:
        masses = float_array(self.masses, "masses of mass points")
        shape = (masses.size,)
        masses = finite_array(self.masses, shape, "masses of mass points")
        offsets = finite_array(self.offsets, shape, "offsets of mass points")
        shares = finite_array(self.shares, shape, "shares of mass points")
        if not len(masses):
            raise ModelError("a muscle with mass needs at least one mass point, got none")
        if not (masses > 0.0).all():
            raise ModelError(f"masses of mass points must be positive, got {masses.min():g}")
        if shares.min() < 0.0 or shares.max() > 1.0:
            raise ModelError(f"shares of mass points must lie from 0 to 1, got {shares.tolist()!s:.80}")
        off = ((shares == 0.0) & (offsets < 0.0)) | ((shares == 1.0) & (offsets > 0.0))
        if off.any():
            raise ModelError(
                "mass points must lie between the origin (share 0, offset at least 0) and the insertion (share 1, "
                f"offset at most 0), got share {shares[off][0]:g} with offset {offsets[off][0]:g} m"
            )
        order = np.lexsort((offsets, shares))
        vars(self).update(masses=masses[order], offsets=offsets[order], shares=shares[order])
        self.lock()

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.masses.sum())

    @property
    def stiff_length(self) -> float:
        """Least length of the path with all points on it and in order [m]; 0 without offsets."""
        rising = np.diff(self.shares)
        falling = -np.diff(self.offsets)
        inner = rising > 0.0
        needed = [0.0, *(falling[inner] / rising[inner])]
        low, high = self.shares > 0.0, self.shares < 1.0
        needed += list(-self.offsets[low] / self.shares[low])
        needed += list(self.offsets[high] / (1.0 - self.shares[high]))
        return float(max(needed))

    @classmethod
    def uniform(cls, mass: float, num_points: int = 20, start: float = 0.0, end: float = 1.0) -> MassPoints:
        """Equal masses in the middles of equal pieces of the path, from the share start to the share end."""
        mass, count = number(mass, "mass of a muscle", positive=True), _count(num_points)
        start, end = number(start, "start of the mass"), number(end, "end of the mass")
        if not 0.0 <= start < end <= 1.0:
            raise ModelError(f"mass must lie between shares 0 and 1 of the path, got {start:g} to {end:g}")
        shares = start + (end - start) * (np.arange(count) + 0.5) / count
        return cls(np.full(count, mass / count), np.zeros(count), shares)

    @classmethod
    def profile(cls, mass: float, weights: Any) -> MassPoints:
        """Masses in proportion to weights (n,) in the middles of equal pieces of the path; weight 0 gives no point."""
        mass = number(mass, "mass of a muscle", positive=True)
        values = float_array(weights, "weights of a mass profile")
        values = finite_array(weights, (values.size,), "weights of a mass profile")
        if not values.size or values.min() < 0.0 or not values.sum() > 0.0:
            raise ModelError(f"weights must not be negative nor all 0, got {values.tolist()!s:.80}")
        shares = (np.arange(len(values)) + 0.5) / len(values)
        there = values > 0.0
        masses = mass * values[there] / values.sum()
        return cls(masses, np.zeros(int(there.sum())), shares[there])

    @classmethod
    def belly(
        cls,
        mass: float,
        num_points: int = 20,
        *,
        tendons: Any,
        tendon_masses: Any = (0.0, 0.0),
        tendon_points: int = 5,
    ) -> MassPoints:
        """A belly that strains evenly between two tendons that do not stretch, at the origin and at the insertion.

        Args:
            mass: of the belly [kg]. num_points: of the belly.
            tendons: lengths (2,) [m], not negative; the path must stay longer than both together.
            tendon_masses: (2,) [kg], not negative. tendon_points: on each tendon that has mass.
        """
        mass, count = number(mass, "mass of a muscle's belly", positive=True), _count(num_points)
        lengths = finite_array(tendons, (2,), "lengths of the tendons")
        own = finite_array(tendon_masses, (2,), "masses of the tendons")
        if lengths.min() < 0.0 or own.min() < 0.0:
            raise ModelError(
                f"lengths and masses of tendons must not be negative, got {lengths.tolist()}, {own.tolist()}"
            )
        inner = (np.arange(count) + 0.5) / count
        parts = [(np.full(count, mass / count), lengths[0] - inner * lengths.sum(), inner)]
        points = _count(tendon_points)
        along = (np.arange(points) + 0.5) / points
        if own[0] > 0.0:
            parts.append((np.full(points, own[0] / points), along * lengths[0], np.zeros(points)))
        if own[1] > 0.0:
            parts.append((np.full(points, own[1] / points), (along - 1.0) * lengths[1], np.ones(points)))
        masses, offsets, shares = (np.concatenate(column) for column in zip(*parts))
        return cls(masses, offsets, shares)


def _count(value: Any) -> int:
    return whole_number(value, "number of mass points", 1, MOST_POINTS)
