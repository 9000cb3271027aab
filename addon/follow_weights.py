"""How strongly joints follow their animation as time goes by, between frames, too, and when they are held on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import curve_values

PATH, WEIGHT_PATH = "condyle.joint.prescribed", "condyle.joint.follow"
# With this weight a joint is held.
HELD = 0.999
# A weight crosses that at a time that is known so narrowly [frames].
NARROW = 2.0**-20


@dataclass(frozen=True)
class Strength:
    """How strongly a joint follows its animation.

    Attributes:
        frames: rising (L,). weights: from 0 to 1 (L,), straight lines between them.
        prescribed: whether it is held whatever its weight (L,), from each frame up to the next.
    """

    frames: np.ndarray
    weights: np.ndarray
    prescribed: np.ndarray

    @property
    def held(self) -> np.ndarray:
        """Whether it is held (L,), from each frame up to the next."""
        on: np.ndarray = self.prescribed | (self.weights >= HELD)
        return on

    def weights_at(self, frames: np.ndarray) -> np.ndarray:
        """Weights at frames (k,)."""
        return np.interp(frames, self.frames, self.weights)

    def held_at(self, frames: np.ndarray) -> np.ndarray:
        """Whether it is held at frames (k,)."""
        found: np.ndarray = self.held[np.searchsorted(self.frames, frames, side="right") - 1]
        return found


def between_frames(item: Any, seen: Strength, looks: np.ndarray) -> Strength:
    """A joint's strength as it was seen at whole frames, and what its weight's curve says at looks (L,) between them,
    the frames among them: when it crosses `HELD`, too. As it was, where there is no such curve or not that alone.
    """
    curve = curve_values.alone(item, WEIGHT_PATH)
    if curve is None:
        return seen

    def read(frames: Any) -> np.ndarray:
        return np.clip(curve_values.at(curve, frames), 0.0, 1.0)  # as Blender limits it

    if np.abs(read(seen.frames) - seen.weights).max() > curve_values.SEEN:
        return seen
    weights = read(looks)
    crossed = np.flatnonzero(np.diff(weights >= HELD))
    crossings = np.array([_crossing(read, looks[k], looks[k + 1]) for k in crossed])
    frames = np.union1d(looks, crossings)
    values = read(frames)
    bends = np.abs(np.diff(values, 2)) > 0.0
    kept = np.concatenate(
        [[True], bends | np.diff(values >= HELD)[:-1] | np.diff(values >= HELD)[1:], [True]]
    )
    kept |= np.isin(frames, seen.frames)
    frames = frames[kept]
    whole = np.searchsorted(seen.frames, frames, side="right") - 1
    return Strength(frames, values[kept], seen.prescribed[whole])


def _crossing(read: Any, low: float, high: float) -> float:
    """Where in a stretch of frames a weight gets to the other side of `HELD`, from the one at its beginning."""
    on = read([low])[0] >= HELD
    while high - low > NARROW:
        middle = 0.5 * (low + high)
        if (read([middle])[0] >= HELD) == on:
            low = middle
        else:
            high = middle
    return high
