"""F-curves as played by strips of the NLA, if one track alone plays them: values at any frame, and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import AnimData, FModifierCycles, NlaStrip

from ..blender import compat
from . import fcurve_cycles


@dataclass(frozen=True)
class PlayedCurve:
    """A curve for each strip of a track, in order of time; it acts like an f-curve."""

    parts: tuple[tuple[Any, Any], ...]  # strips and their curves

    @property
    def modifiers(self) -> list[FModifierCycles]:
        """Modifiers of all the curves."""
        return [each for _, curve in self.parts for each in curve.modifiers]

    @property
    def repeats(self) -> bool:
        """Whether a strip plays its action more than once."""
        return any(strip.repeat > 1.0 for strip, _ in self.parts)

    @property
    def frame(self) -> float:
        """Scene frames per frame of the action, at most."""
        return max(float(strip.scale) for strip, _ in self.parts)

    @property
    def keys(self) -> np.ndarray:
        """Rising scene frames (k,) of the played keys, including cycles."""
        found = [np.empty(0)]
        for strip, curve in self.parts:
            first, last = strip.action_frame_start, strip.action_frame_end
            at = fcurve_cycles.of(curve, first, last)
            at = at[(at >= first) & (at <= last)]
            since = last - at if strip.use_reverse else at - first
            played = since + (last - first) * np.arange(int(np.ceil(strip.repeat)))[:, None]
            frames = strip.frame_start + strip.scale * played.ravel()
            found.append(frames[frames <= strip.frame_end])
        return fcurve_cycles.merged(np.concatenate(found))

    def evaluate(self, frame: float) -> float:
        """Value at a scene frame: outside of strips that of the nearest end; where strips meet, that of the earlier."""
        begun = [part for part in self.parts if part[0].frame_start <= frame] or self.parts[:1]
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


def played(data: AnimData, path: str, index: int) -> PlayedCurve | None:
    """The curve of a property on the only enabled NLA track of animation data; None if others contribute, the track
    blends, or a strip has no such curve.
    """
    on = [track for track in data.nla_tracks if not track.mute]
    if len(on) != 1 or not data.use_nla or data.use_tweak_mode:
        return None
    parts = []
    for strip in on[0].strips:
        curves = (
            () if strip.mute or strip.type != "CLIP" else compat.curves(strip.action, compat.slot_of(strip))
        )
        curve = next((each for each in curves if (each.data_path, each.array_index) == (path, index)), None)
        if curve is None or curve.mute or _blends(strip):
            return None
        parts.append((strip, curve))
    return PlayedCurve(tuple(parts)) if parts else None


def _blends(strip: NlaStrip) -> bool:
    """Whether a strip shows anything other than its action at the mapped times."""
    plain = strip.blend_type == "REPLACE" and not strip.blend_in and not strip.blend_out
    return not plain or bool(strip.use_animated_influence or strip.use_animated_time or len(strip.modifiers))
