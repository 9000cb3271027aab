"""The tracks of the NLA that a bake makes: one for its own strip, one for the action that was in use before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from . import compat, curve_keys
from .curve_keys import KeyedPath

TRACK = "Condyle Bake"
BELOW = "Condyle, before the bake"


def ends(paths: Sequence[KeyedPath]) -> tuple[float, float]:
    """First and last frame with a key."""
    frames = np.concatenate([entry.positions for entry in paths])
    return float(frames.min()), float(frames.max())


def is_alone(data: Any) -> bool:
    """Whether nothing plays below the action in use: Blender then takes no notice of how it is to be blended.

    A strip that is muted counts, one on a muted track does not. While a track plays solo, the action in use does not
    play at all; what counts is how it will be without.
    """
    return not data.use_nla or not any(len(track.strips) and not track.mute for track in data.nla_tracks)


def add(data: Any, record: Any, action: Any, slot: Any, ends: tuple[float, float]) -> None:
    """Play an action on a track above all others; the one in use goes to a track of its own below it."""
    if data.action is not None:
        push_down(data, record, ends)
    track = data.nla_tracks.new()
    track.name = TRACK
    record.track = track.name
    strip = track.strips.new(action.name, int(np.floor(ends[0])), action)
    compat.assign_strip_slot(strip, slot)
    _place(strip, *ends)
    strip.blend_type, strip.extrapolation = "REPLACE", "HOLD_FORWARD"


def push_down(data: Any, record: Any, ends: tuple[float, float]) -> None:
    """The action in use as a strip on a track above the others, playing what it played.

    Args:
        ends: first and last frame that are to be reached at least.
    """
    old, slot = data.action, compat.slot_of(data)
    alone = is_alone(data)
    low, high = curve_keys.extent(old)
    before = alone or data.action_extrapolation == "HOLD" or np.isinf(low)
    after = alone or data.action_extrapolation != "NOTHING" or np.isinf(high)
    keys = old.curve_frame_range
    if before:  # slopes and modifiers go on beyond the keys, and no strip does
        low = min(keys[0], ends[0], *(scene.frame_start for scene in bpy.data.scenes))
    if after:
        high = max(keys[1], ends[1], *(scene.frame_end for scene in bpy.data.scenes))
    track = data.nla_tracks.new()
    track.name = BELOW
    record.pushed_track = track.name
    strip = track.strips.new(old.name, int(np.floor(low)), old)
    if slot is not None:
        compat.assign_strip_slot(strip, slot)
    _place(strip, low, max(high, low + 1.0))
    strip.extrapolation = ("HOLD" if before else "HOLD_FORWARD") if after else "NOTHING"
    if not alone:
        strip.blend_type, strip.influence = data.action_blend_type, data.action_influence
        if strip.influence != 1.0:
            strip.use_animated_influence = True  # makes a key of it; without one Blender takes it for 1
    data.action = None


def _place(strip: Any, first: float, last: float) -> None:
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start_raw, strip.frame_end_raw = first, last


def tracks(data: Any, record: Any, pushed: bool = True) -> list[Any]:
    """The tracks that a bake made: those with its names whose only strip plays its action or the one before.

    Args:
        pushed: the track of the action before is asked for, too.
    """
    if data is None:
        return []
    wanted = [(record.track, record.action), (record.pushed_track, record.previous_action)]
    found = []
    for name, action in wanted if pushed else wanted[:1]:
        called = [
            track for track in reversed(data.nla_tracks) if name and track.name == name
        ]  # one may be the user's
        ours = [each for each in called if all(strip.action in (None, action) for strip in each.strips)]
        found += ours[:1]
    return found
