"""How strongly joints follow their animation as time goes by, between frames, too, and when they are held on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import curve_values

PATH, WEIGHT_PATH = "condyle.joint.prescribed", "condyle.joint.follow"
# With this weight a joint is held.
HELD = 0.999
# Blender takes a curve beyond this for a switch that is on.
ON = 1.0 - 2.0**-23
# When a joint is held, or let go of, is known so narrowly [frames].
NARROW = 2.0**-20

Reading = Callable[[np.ndarray], np.ndarray]


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
    """A joint's strength as it was seen at whole frames, and what the curves of its weight and its switch say at looks
    (L,) between them, the frames among them, and when they let go of it or hold it. As it was, where there are no such
    curves or not they alone.
    """
    weigh = _read(item, WEIGHT_PATH, seen.frames, seen.weights, lambda values: np.clip(values, 0.0, 1.0))
    switch = _read(item, PATH, seen.frames, seen.prescribed, lambda values: values > ON)
    if weigh is None and switch is None:
        return seen

    def said(frames: np.ndarray) -> Strength:
        whole = np.searchsorted(seen.frames, frames, side="right") - 1
        weights = seen.weights_at(frames) if weigh is None else weigh(frames)
        return Strength(frames, weights, seen.prescribed[whole] if switch is None else switch(frames))

    crossed = np.flatnonzero(np.diff(said(looks).held))
    crossings = np.array([_crossing(said, looks[k], looks[k + 1]) for k in crossed])
    found = said(np.union1d(looks, crossings))
    # of what stays as it is, or goes on evenly from look to look, the ends alone
    kept = np.isin(found.frames, seen.frames)
    kept[1:-1] |= np.abs(np.diff(found.weights, 2)) > 0.0
    kept[1:] |= np.diff(found.held)
    kept[:-1] |= np.diff(found.held)
    return said(found.frames[kept])


def _read(item: Any, path: str, frames: np.ndarray, seen: np.ndarray, limited: Reading) -> Reading | None:
    """What a property's curve says at frames (k,), as Blender limits it; None where that is not what was seen."""
    curve = curve_values.alone(item, path)
    if curve is None:
        return None

    def read(at: np.ndarray) -> np.ndarray:
        return limited(curve_values.at(curve, at))

    same = np.abs(read(frames).astype(np.float64) - seen).max() <= curve_values.SEEN
    return read if same else None


def _crossing(said: Callable[[np.ndarray], Strength], low: float, high: float) -> float:
    """When in a stretch of frames a joint is let go of, or held, that is not, or is, at its beginning."""
    on = said(np.array([low])).held[0]
    while high - low > NARROW:
        middle = 0.5 * (low + high)
        if said(np.array([middle])).held[0] == on:
            low = middle
        else:
            high = middle
    return high
