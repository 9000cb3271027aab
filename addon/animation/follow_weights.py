"""How strongly joints follow their animation as time goes by, between frames, too, and when they are held on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..curves import fcurve_values
from ..curves.fcurve_values import Curve

if TYPE_CHECKING:
    from ..data.joints import JointProperties

# With this weight a joint is held.
HELD = 0.999
# Blender takes a curve beyond this for a switch that is on.
ON = 1.0 - 2.0**-23
# Looks beside keys [frames]: Blender takes what is nearer to a key than a ten-thousandth of a frame for it.
BESIDE = 2e-4

#: of a joint's switch, and of its weight
Curves = tuple[Curve | None, Curve | None]
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
        return self.prescribed | (self.weights >= HELD)

    def held_between(self, frames: np.ndarray) -> np.ndarray:
        """Whether it is held at some time from each of rising frames (F,) to the next, the ends among them (F - 1,)."""
        return self._between(self.held, frames)

    def led_between(self, frames: np.ndarray) -> np.ndarray:
        """Whether it is held, or drawn, at some time from each of rising frames (F,) to the next (F - 1,)."""
        return self._between(self.held | (self.weights > 0.0), frames)

    def _between(self, on: np.ndarray, frames: np.ndarray) -> np.ndarray:
        counts = np.concatenate([[0], np.cumsum(on)])
        behind = np.searchsorted(self.frames, frames, side="right")
        return counts[behind[1:]] > counts[behind[:-1] - 1]

    def weights_at(self, frames: np.ndarray) -> np.ndarray:
        return np.interp(frames, self.frames, self.weights)

    def held_at(self, frames: np.ndarray) -> np.ndarray:
        """Whether it is held at frames (k,)."""
        return self.held[np.searchsorted(self.frames, frames, side="right") - 1]


def holds(settings: JointProperties) -> bool:
    """Whether a joint of these settings is held on its animation now."""
    return bool(settings.prescribed or settings.follow >= HELD)


def ever(curves: Curves, frames: np.ndarray) -> bool:
    """Whether curves alone say that a joint is held, or drawn, at some key of theirs within rising frames (F,)."""
    found = False
    for curve, least in zip(curves, (ON, 0.0)):
        found |= curve is not None and bool((curve.at(_keys(curve, frames)) > least).any())
    return found


def _keys(curve: Curve, frames: np.ndarray) -> np.ndarray:
    """Frames of a curve's keys (k,) that lie within rising frames (F,)."""
    keys = curve.keys(float(frames[0]), float(frames[-1]))
    return keys[(keys >= frames[0]) & (keys <= frames[-1])]


def between_frames(curves: Curves, seen: Strength, looks: np.ndarray) -> Strength:
    """A joint's strength as it was seen at whole frames, and what the curves of its weight and its switch say at looks
    (L,) between them, the frames among them, and at their keys; and when they let go of it, hold it, or step. As it
    was, where there are no such curves or not they alone.
    """
    weigh = _read(curves[1], seen.frames, seen.weights, lambda values: np.clip(values, 0.0, 1.0))
    switch = _read(curves[0], seen.frames, seen.prescribed, lambda values: values > ON)
    if weigh is None and switch is None:
        return seen

    def said(frames: np.ndarray) -> Strength:
        whole = np.searchsorted(seen.frames, frames, side="right") - 1
        weights = seen.weights_at(frames) if weigh is None else weigh(frames)
        return Strength(frames, weights, seen.prescribed[whole] if switch is None else switch(frames))

    for curve in curves:
        if curve is not None:  # which steps at a key, or just behind it where it starts over
            keys = _keys(curve, looks)
            looks = np.union1d(looks, [*(keys - BESIDE), *keys, *(keys + BESIDE)])
    found = said(looks[(looks >= seen.frames[0]) & (looks <= seen.frames[-1])])
    # of what stays as it is, or goes on evenly from look to look, the ends alone
    kept = np.isin(found.frames, seen.frames)
    kept[1:-1] |= np.abs(np.diff(found.weights, 2)) > 0.0
    kept[1:] |= np.diff(found.held)
    kept[:-1] |= np.diff(found.held)
    return said(found.frames[kept])


def _read(curve: Curve | None, frames: np.ndarray, seen: np.ndarray, limited: Reading) -> Reading | None:
    """What a property's curve says at frames (k,), as Blender limits it; None where that is not what was seen."""
    if curve is None:
        return None

    def read(at: np.ndarray) -> np.ndarray:
        return limited(curve.at(at))

    same = np.abs(read(frames).astype(np.float64) - seen).max() <= fcurve_values.SEEN
    return read if same else None
