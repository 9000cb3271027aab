"""Frames of the keys of f-curves within a span, including cycles of their modifiers."""

from __future__ import annotations

import numpy as np
from bpy.types import FCurve, FModifier

# Keys closer than this [frames] coincide: the end of a cycle and the beginning of the next.
SAME = 1e-4
# Keys within this span [frames] are not a cycle; Blender's keys are at least a hundredth apart.
LEAST_SPAN = 2.0**-8


def of(curve: FCurve, first: float, last: float) -> np.ndarray:
    """Rising frames (k,) of the keys of an f-curve and of their repetitions by cycles, from one frame to another and
    one cycle beyond each.
    """
    places = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", places)
    keys = np.unique(places[::2].astype(np.float64))
    # Blender disables cycles that are not the first of a curve's modifiers
    modifier = curve.modifiers[0] if len(curve.modifiers) else None
    if modifier is None or modifier.type != "CYCLES" or modifier.mute:
        return keys
    # partial influence shows other frames, without keys
    if (
        len(keys) < 2
        or keys[-1] - keys[0] < LEAST_SPAN
        or (modifier.use_influence and modifier.influence != 1.0)
    ):
        return keys
    return _cycled(keys, modifier, first, last)


def _cycled(keys: np.ndarray, modifier: FModifier, first: float, last: float) -> np.ndarray:
    """Rising keys (n,), with those of their cycles about a span of frames (k,)."""
    begin, end = keys[0], keys[-1]
    span = end - begin
    shown = []
    for side, mode, most, gone in (
        (-1.0, modifier.mode_before, modifier.cycles_before, begin - first),
        (1.0, modifier.mode_after, modifier.cycles_after, last - end),
    ):
        count = max(int(np.ceil(gone / span)) + 1, 0) if mode != "NONE" else 0
        rounds = np.arange(1, (min(count, most) if most else count) + 1)[:, None]
        mirrored = (rounds % 2 == 1) & (mode == "MIRROR")
        shown.append((np.where(mirrored, begin + end - keys, keys) + side * span * rounds).ravel())
    found = np.concatenate(shown)
    if modifier.use_restricted_range:
        # Blender mixes frames where modifiers blend in and out
        found = found[
            (found >= modifier.frame_start + modifier.blend_in)
            & (found <= modifier.frame_end - modifier.blend_out)
        ]
    return merged(np.concatenate([keys, found]))


def merged(keys: np.ndarray) -> np.ndarray:
    """Frames of keys (k,), sorted; of coinciding keys only the first."""
    rising = np.unique(keys)
    return rising[np.diff(rising, prepend=-np.inf) > SAME]
