"""What a joint follows as curves alone say it, at any frame."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..curves import fcurve_values
from ..curves.fcurve_values import SEEN, Curve
from .follow_weights import Curves
from .jump_search import Shown


@dataclass(frozen=True)
class MotionCurves:
    """What a joint follows, by curves alone: its readings or poses (k, ...) in SI at frames (k,), and the curves."""

    shown: Callable[[np.ndarray], np.ndarray]
    curves: list[Curve | None]

    def keyed(self, frames: np.ndarray) -> list[np.ndarray]:
        """Rising frames of each curve's keys, as of `fcurve_values.keyed`."""
        return fcurve_values.keyed(self.curves, frames)

    def keys_of(self, column: int, frames: np.ndarray) -> np.ndarray:
        """As `keyed`, of one reading, which may have no curve."""
        curve = self.curves[column]
        return np.empty(0) if curve is None else curve.keys(float(frames[0]), float(frames[-1]))

    @property
    def starts_over(self) -> bool:
        """Whether some curve goes on in cycles."""
        return any(curve.starts_over for curve in self.curves if curve is not None)

    def again(self, frames: np.ndarray) -> np.ndarray | None:
        """By how much what is shown goes on (...) from the first of rising frames to the last, if it repeats itself in
        all else behind that; None where it does not, or nothing goes on in cycles, or poses go on.
        """
        if not self.starts_over:
            return None
        at = 0.5 * (frames[1:] + frames[:-1])  # at the ends themselves a cycle shows its end
        rises = self.shown(at + frames[-1] - frames[0]) - self.shown(at)
        rise: np.ndarray = rises.mean(axis=0) if rises.ndim == 2 else np.zeros(rises.shape[1:])
        return rise if np.abs(rises - rise).max() < SEEN * max(1.0, np.abs(rise).max()) else None


@dataclass(frozen=True)
class Source:
    """What says between frames what a joint does.

    Attributes:
        by: its curves, if these alone do. strength: those of its weight and switch; None of what is followed without a
            joint. shown: what is shown at any frames, by the curves or the scene.
        keys: gives the frames of the keys of each curve that has a say in it, see `driving_keys`.
    """

    by: MotionCurves | None
    strength: Curves | None
    shown: Shown
    keys: Callable[[], list[np.ndarray]]
