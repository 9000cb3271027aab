"""What carries simulated bodies, between frames: where curves through its matrices at frames have it. float64."""

from collections.abc import Container, Iterator, Mapping

import numpy as np

from ..blender import scales, units
from ..curves import reduction, rotation_channels
from ..curves import slopes as key_slopes
from ..data.references import Body, Key
from .local_matrices import Samples, carried_by


class Between(Mapping[str, np.ndarray]):
    """Matrices of one object and its bones, as `stepper.sample_matrices` has them, at places between its frames:
    (n, 4, 4), or (1, 4, 4) of what stays as it is. Each is made when it is first asked for.

    What is turned and of one size in every direction stays such, as it has to be for what is carried.

    Args:
        rows: {name: matrices (F, 4, 4)}. frames: rising positions (F,). places: positions (n,).
    """

    def __init__(self, rows: Mapping[str, np.ndarray], frames: np.ndarray, places: np.ndarray) -> None:
        self._rows, self._frames, self._places = rows, frames, places
        self._made: dict[str, np.ndarray] = {}
        self._leaps: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._made:
            rows = self._rows[name]
            self._made[name] = self._curves(rows) if (rows != rows[0]).any() else rows[:1]
        return self._made[name]

    def follow(self, bone: str, moves: np.ndarray) -> None:
        """Let one go as it was followed: by what it has moved since the first frame (n, 4, 4), as the world sees it; it
        stretches as it does at the frames.
        """
        if not bone:
            self._made[""] = moves @ self._rows[""][0]
        elif (rows := self._rows.get(f"pose:{bone}")) is not None:
            first, inverse = self._rows[""][0] @ rows[0], units.inverses(self[""])
            if _is_even(rows[:, :3, :3], _sizes(rows)):
                self._made[f"pose:{bone}"] = inverse @ moves @ first
                return
            world = self[""] @ self[f"pose:{bone}"]
            turned = moves[:, :3, :3] @ units.orthogonal(first[None, :3, :3])
            world[:, :3, :3] = turned @ units.orthogonal(world[:, :3, :3]).swapaxes(1, 2) @ world[:, :3, :3]
            world[:, :3, 3] = (moves @ first)[:, :3, 3]
            self._made[f"pose:{bone}"] = inverse @ world

    def leaps(self, name: str) -> np.ndarray:
        """Rows (k,) behind which one leaps, so that nothing is known of it from there to the next frame."""
        if name not in self._leaps:
            rows = self._rows[name][:, :3].reshape(len(self._frames), -1)
            self._leaps[name] = np.flatnonzero(key_slopes.leaping(rows))
        return self._leaps[name]

    def _curves(self, rows: np.ndarray) -> np.ndarray:
        linear = rows[:, :3, :3]
        sizes = _sizes(rows)
        even = _is_even(linear, sizes)
        turns = (
            rotation_channels.rotation_channels(linear / sizes[:, None, None], "QUATERNION", np.eye(4)[0])
            if even
            else linear.reshape(-1, 9)
        )
        numbers = [np.column_stack([turns, sizes]), rows[:, :3, 3]]
        (slopes,) = reduction.slopes_of(self._frames, [numbers])
        turned, moved = (
            reduction.cubic(self._frames, each, its, self._places) for each, its in zip(numbers, slopes)
        )
        found = np.zeros((len(self._places), 4, 4))
        if even:
            found[:, :3, :3] = (
                rotation_channels.matrices(turned[:, :4], "QUATERNION") * turned[:, 4, None, None]
            )
        else:
            found[:, :3, :3] = turned[:, :9].reshape(-1, 3, 3)
        found[:, :3, 3] = moved
        found[:, 3, 3] = 1.0
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _sizes(matrices: np.ndarray) -> np.ndarray:
    """Mean scales (F,) of matrices (F, 4, 4), negative of mirrored ones."""
    linear = matrices[:, :3, :3]
    return np.copysign(np.sqrt(np.einsum("fij,fij->f", linear, linear) / 3.0), np.linalg.det(linear[:1]))


def _is_even(linear: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether matrices (F, 3, 3) are of one size (F,) in every direction, and of any: not every bone inherits it."""
    away = linear.swapaxes(1, 2) @ linear - sizes[:, None, None] ** 2 * np.eye(3)
    return bool((np.abs(away).max(axis=(1, 2)) <= 4.0 * scales.TOLERANCE * sizes**2).all() and sizes.all())


def between(samples: Samples, frames: np.ndarray, places: np.ndarray) -> dict[str, Between]:
    """Samples at frames (F,) as they are at places (n,) between these."""
    return {name: Between(rows, frames, places) for name, rows in samples.items()}


def leaping(carried: Mapping[str, Between], body: Body, keys: Container[Key], rows: np.ndarray) -> np.ndarray:
    """Behind which rows (k,) something leaps that carries a body, up to what is simulated (`keys`, by `key_of`)."""
    found = np.zeros(len(rows), dtype=bool)
    for name, bone in carried_by(body, keys):
        if name in carried:
            found |= np.isin(rows, carried[name].leaps(f"pose:{bone}" if bone else ""))
    return found
