"""What carries simulated bodies, between frames: where curves through its matrices at frames have it. float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from . import key_reduction, units
from .transforms import Samples


class Between(Mapping[str, np.ndarray]):
    """Matrices of one object and its bones, as `transforms.sample_matrices` has them, at places between its frames:
    (n, 4, 4), or (1, 4, 4) of what stays as it is. Each is made when it is first asked for.

    What is turned and of one size in every direction stays such, as it has to be for what is carried.

    Args:
        rows: {name: matrices (F, 4, 4)}. frames: rising positions (F,). places: positions (n,).
    """

    def __init__(self, rows: Mapping[str, np.ndarray], frames: np.ndarray, places: np.ndarray) -> None:
        self._rows, self._frames, self._places = rows, frames, places
        self._made: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._made:
            rows = self._rows[name]
            self._made[name] = self._curves(rows) if (rows != rows[0]).any() else rows[:1]
        return self._made[name]

    def _curves(self, rows: np.ndarray) -> np.ndarray:
        linear = rows[:, :3, :3]
        sizes = np.sqrt(np.einsum("fij,fij->f", linear, linear) / 3.0)
        numbers = [np.column_stack([linear.reshape(-1, 9), sizes]), rows[:, :3, 3]]
        slopes = key_reduction.slopes_of(self._frames, numbers)
        turned, moved = (
            key_reduction.cubic(self._frames, each, its, self._places) for each, its in zip(numbers, slopes)
        )
        found = np.zeros((len(self._places), 4, 4))
        found[:, :3, :3] = turned[:, :9].reshape(-1, 3, 3)
        if _is_even(linear, sizes):
            found[:, :3, :3] = units.orthogonal(found[:, :3, :3]) * turned[:, 9, None, None]
        found[:, :3, 3] = moved
        found[:, 3, 3] = 1.0
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _is_even(linear: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether matrices (F, 3, 3) are of one size (F,) in every direction; not every bone inherits its parent's."""
    away = linear.swapaxes(1, 2) @ linear - sizes[:, None, None] ** 2 * np.eye(3)
    return bool((np.abs(away).max(axis=(1, 2)) <= 4.0 * units.SCALE_TOLERANCE * sizes**2).all())


def between(samples: Samples, frames: np.ndarray, places: np.ndarray) -> Samples:
    """Samples at frames (F,) as they are at places (n,) between these."""
    return {name: Between(rows, frames, places) for name, rows in samples.items()}
