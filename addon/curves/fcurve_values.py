"""Values of f-curves at any frame, for properties that only curves determine. The scene's frame does not change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..blender import compat

if TYPE_CHECKING:
    from bpy.types import AnimData, FCurve, FModifier, NlaStrip, Object

# Differences of keys in single precision without a motion [m, rad].
SEEN = 1e-5
# This many consecutive gaps of at most a frame between keys are a sampled motion; fewer are keys of a quick movement.
ROW = 3
# Keys closer than this [frames] coincide: the end of a cycle and the beginning of the next.
SAME = 1e-4
# Keys within this span [frames] are not a cycle; Blender's keys are at least a hundredth apart.
LEAST_SPAN = 2.0**-8


@dataclass(frozen=True)
class Curve:
    """A number over time, as one curve says it, or curves that strips of the NLA play one after the other.

    Attributes:
        evaluate: gives its value at a frame. keys: gives the rising frames (k,) of its keys, including cycles, from one
            frame to another, and of the neighbouring keys.
        starts_over: whether it cycles, or is played several times.
    """

    evaluate: Callable[[float], float]
    keys: Callable[[float, float], np.ndarray]
    starts_over: bool

    def at(self, frames: np.ndarray) -> np.ndarray:
        """Values (k,) at frames (k,)."""
        return np.array(values(self.evaluate, np.asarray(frames, dtype=np.float64).tolist()))


def values(evaluate: Callable[[float], float], frames: list[float]) -> list[float]:
    """Values at frames, all at once of a curve of a snapshot."""
    many: Callable[[list[float]], list[float]] | None = getattr(evaluate, "many", None)
    return [evaluate(frame) for frame in frames] if many is None else many(frames)


def alone(item: Object, path: str, index: int = 0) -> Curve | None:
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
        return _played(data, path, index)
    if found is None or found.mute:
        return None
    return Curve(found.evaluate, partial(keys_of, found), _cycles(found))


def _cycles(curve: FCurve) -> bool:
    return any(each.type == "CYCLES" and not each.mute for each in curve.modifiers)


def columns(curves: Sequence[Curve | None], still: list[float], frames: np.ndarray) -> np.ndarray:
    """Values (k, n) at frames (k,) of n numbers, each by its curve, or constant if its curve is None."""
    found = np.tile(np.array(still, dtype=np.float64), (len(frames), 1))
    for column, curve in enumerate(curves):
        if curve is not None:
            found[:, column] = curve.at(frames)
    return found


def keyed(curves: Sequence[Curve | None], span: np.ndarray) -> list[np.ndarray]:
    """Increasing frames of each existing curve's keys, including cycles, from the first to the last of frames (F,), and
    of the neighbouring keys.
    """
    return [curve.keys(float(span[0]), float(span[-1])) for curve in curves if curve is not None]


def in_rows(on: np.ndarray) -> np.ndarray:
    """The gaps between keys (k,) that are `on` in runs of at least `ROW`: gaps of sampled motion."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    found = np.zeros(len(on), dtype=bool)
    for begin, end in edges.reshape(-1, 2).tolist():
        found[begin:end] = end - begin >= ROW
    return found


def played_keys(parts: Iterable[tuple[NlaStrip, FCurve]]) -> np.ndarray:
    """Rising scene frames (k,) of the keys of curves that strips play, including cycles."""
    found = [np.empty(0)]
    for strip, curve in parts:
        first, last = strip.action_frame_start, strip.action_frame_end
        at = keys_of(curve, first, last)
        at = at[(at >= first) & (at <= last)]
        since = last - at if strip.use_reverse else at - first
        played = since + (last - first) * np.arange(int(np.ceil(strip.repeat)))[:, None]
        frames = strip.frame_start + strip.scale * played.ravel()
        found.append(frames[frames <= strip.frame_end])
    return merged(np.concatenate(found))


def _played_value(parts: Sequence[tuple[NlaStrip, FCurve]], frame: float) -> float:
    """Value at a scene frame: outside of strips that of the nearest end; where strips meet, that of the earlier."""
    begun = [part for part in parts if part[0].frame_start <= frame] or parts[:1]
    strip, curve = next((part for part in begun if frame <= part[0].frame_end), begun[-1])
    return float(curve.evaluate(_frame_of(strip, frame)))


def _frame_of(strip: NlaStrip, frame: float) -> float:
    """The frame of its action that a strip plays at a scene frame, in single precision as in Blender."""
    first, last = np.float32(strip.action_frame_start), np.float32(strip.action_frame_end)
    since = np.float32(min(max(frame, strip.frame_start), strip.frame_end)) - np.float32(strip.frame_start)
    scale = np.float32(strip.scale)
    gone = last - first
    if frame < strip.frame_end or strip.repeat % 1.0:
        gone = np.fmod(since, gone * scale) / scale
    return float(last - gone if strip.use_reverse else first + gone)


def _played(data: AnimData, path: str, index: int) -> Curve | None:
    """The curve of a property on the only enabled NLA track of animation data; None if others contribute, the track
    blends, or a strip has no such curve.
    """
    on = [track for track in data.nla_tracks if not track.mute]
    if len(on) != 1 or not data.use_nla or data.use_tweak_mode:
        return None
    parts = []
    for strip in on[0].strips:
        plays = strip.type == "CLIP" and not strip.mute
        curves = compat.curves(strip.action, compat.slot_of(strip)) if plays else ()
        curve = next((each for each in curves if (each.data_path, each.array_index) == (path, index)), None)
        if curve is None or curve.mute or _blends(strip):
            return None
        parts.append((strip, curve))
    if not parts:
        return None
    again = any(strip.repeat > 1.0 or _cycles(curve) for strip, curve in parts)
    return Curve(partial(_played_value, parts), lambda *_: played_keys(parts), again)


def _blends(strip: NlaStrip) -> bool:
    """Whether a strip shows anything other than its action at the mapped times."""
    plain = strip.blend_type == "REPLACE" and not strip.blend_in and not strip.blend_out
    return not plain or bool(strip.use_animated_influence or strip.use_animated_time or len(strip.modifiers))


def keys_of(curve: FCurve, first: float, last: float) -> np.ndarray:
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
    partly = modifier.use_influence and modifier.influence != 1.0  # shows other frames, without keys
    if partly or len(keys) < 2 or keys[-1] - keys[0] < LEAST_SPAN:
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
        begin, end = modifier.frame_start + modifier.blend_in, modifier.frame_end - modifier.blend_out
        found = found[(found >= begin) & (found <= end)]
    return merged(np.concatenate([keys, found]))


def merged(keys: np.ndarray) -> np.ndarray:
    """Frames of keys (k,), sorted; of coinciding keys only the first."""
    rising = np.unique(keys)
    return rising[np.diff(rising, prepend=-np.inf) > SAME]
