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
#: frames by which scenes may grow under a bake; Blender counts them from the start of a strip, in single precision
MARGIN = 2000.0
IN_PLACE = ("CURRENT", "OVERWRITE")


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
    first, last = _reach(old, ends)
    if before:
        low = first
    if after:
        high = last
    track = data.nla_tracks.new()
    track.name = BELOW
    record.pushed_track = track.name
    strip = track.strips.new(old.name, int(np.floor(low)), old)
    compat.assign_strip_slot(strip, slot)
    _place(strip, low, max(high, low + 1.0))
    strip.extrapolation = ("HOLD" if before else "HOLD_FORWARD") if after else "NOTHING"
    if not alone:
        strip.blend_type, strip.influence = data.action_blend_type, data.action_influence
        if strip.influence != 1.0:
            strip.use_animated_influence = True  # makes a key of it; without one Blender takes it for 1
    data.action = None


def _reach(action: Any, ends: tuple[float, float]) -> tuple[float, float]:
    """First and last frame of a strip of the action beyond which all may stand still.

    They are the ends of the keys, of those given and of every scene, in whole frames; and what may yet be added to
    the scenes where curves go on beyond their keys by a slope or a modifier, for no strip does.
    """
    frames = [*action.curve_frame_range, *ends]
    for scene in bpy.data.scenes:
        frames += [scene.frame_start, scene.frame_end]
        if scene.use_preview_range:
            frames += [scene.frame_preview_start, scene.frame_preview_end]
    endless = any(len(each.modifiers) or each.extrapolation == "LINEAR" for each in compat.all_curves(action))
    more = MARGIN if endless else 0.0
    return float(np.floor(min(frames))) - more, float(np.ceil(max(frames))) + more


def _place(strip: Any, first: float, last: float) -> None:
    strip.action_frame_end = last  # first, for Blender lets neither end go beyond the other
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start_raw, strip.frame_end_raw = first, last


def tracks(data: Any, record: Any, pushed: bool = True) -> list[Any]:
    """The tracks that a bake made, or that its action was pushed down to, whatever they are called now.

    Args:
        pushed: the track of the action before is asked for, too.
    """
    if data is None:
        return []
    upward = list(data.nla_tracks)
    if record.action is None or record.target in IN_PLACE:
        found = _called(upward, record.track, record.action)
    else:  # nothing else plays it
        found = [track for track in upward if _actions(track) == {record.action}]
    if pushed and record.pushed_track:
        before = record.previous_action
        below = _called(upward, record.pushed_track, before) or [
            track for track in upward if before and len(track.strips) == 1 and _actions(track) == {before}
        ]
        found += below[-1:]
    return found


def strips(data: Any, record: Any) -> list[tuple[Any, Any]]:
    """The bake's strips on tracks that have others too, each with its track."""
    if data is None or record.action is None or record.target in IN_PLACE:
        return []
    shared = [track for track in data.nla_tracks if len(_actions(track)) > 1]
    return [(track, strip) for track in shared for strip in track.strips if strip.action == record.action]


def _called(tracks: list[Any], name: str, action: Any) -> list[Any]:
    """The topmost of the tracks that has a name, in a list, and strips of that action alone: others are the user's."""
    called = [track for track in tracks if name and track.name == name]
    return [track for track in called if _actions(track) <= {None, action}][-1:]


def _actions(track: Any) -> set[Any]:
    """What the strips of a track play, those within meta strips too."""
    return {strip.action for strip in compat.flat_strips(track.strips) if strip.type != "META"}
