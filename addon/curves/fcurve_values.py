"""Values of f-curves at any frame, for properties that only curves determine. The scene's frame does not change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import FCurve, Object

from ..blender import compat
from . import fcurve_cycles, nla_curves

# Differences of keys in single precision without a motion [m, rad].
SEEN = 1e-5
# This many consecutive gaps of at most a frame between keys are a sampled motion; fewer are keys of a quick movement.
ROW = 3


def alone(item: Object, path: str, index: int = 0) -> FCurve | nla_curves.PlayedCurve | None:
    """The only curve, of the active action or an NLA track, that determines a property of an object; None if there is
    none, or several. If tracks lie below an action, compare with the evaluated scene.
    """
    data = item.animation_data
    if data is None or data.action_influence != 1.0 or data.action_blend_type != "REPLACE":
        return None
    if any(driver.data_path == path and driver.array_index == index for driver in data.drivers):
        return None
    curves = compat.curves_in_use(item)
    found = next((each for each in curves if (each.data_path, each.array_index) == (path, index)), None)
    if found is None and data.nla_tracks:
        return nla_curves.played(data, path, index)
    return None if found is None or found.mute else found


def starts_over(curve: FCurve | nla_curves.PlayedCurve) -> bool:
    """Whether a curve cycles, or is played several times."""
    if isinstance(curve, nla_curves.PlayedCurve) and curve.repeats:
        return True
    return any(each.type == "CYCLES" and not each.mute for each in curve.modifiers)


def at(curve: FCurve | nla_curves.PlayedCurve, frames: np.ndarray) -> np.ndarray:
    """Values (k,) of a curve at frames (k,)."""
    evaluate = curve.evaluate
    return np.array([evaluate(frame) for frame in np.asarray(frames, dtype=np.float64).tolist()])


def columns(
    curves: Sequence[FCurve | nla_curves.PlayedCurve | None], still: list[float], frames: np.ndarray
) -> np.ndarray:
    """Values (k, n) at frames (k,) of n numbers, each by its curve, or constant if its curve is None."""
    found = np.tile(np.array(still, dtype=np.float64), (len(frames), 1))
    for column, curve in enumerate(curves):
        if curve is not None:
            found[:, column] = at(curve, frames)
    return found


def keyed(curves: Sequence[FCurve | nla_curves.PlayedCurve | None], span: np.ndarray) -> list[np.ndarray]:
    """Increasing frames of each existing curve's keys, including cycles, from the first to the last of frames (F,), and
    of the neighbouring keys.
    """
    return [
        curve.keys
        if isinstance(curve, nla_curves.PlayedCurve)
        else fcurve_cycles.of(curve, float(span[0]), float(span[-1]))
        for curve in curves
        if curve is not None
    ]


def longest_frame(curve: FCurve | nla_curves.PlayedCurve) -> float:
    """Scene frames per frame of a curve, at least one: strips may play it more slowly."""
    return max(1.0, curve.frame) if isinstance(curve, nla_curves.PlayedCurve) else 1.0


def in_rows(on: np.ndarray) -> np.ndarray:
    """The gaps between keys (k,) that are `on` in runs of at least `ROW`: gaps of sampled motion."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    found = np.zeros(len(on), dtype=bool)
    for begin, end in edges.reshape(-1, 2).tolist():
        found[begin:end] = end - begin >= ROW
    return found
