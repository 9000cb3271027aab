"""The tracks of the NLA that a bake makes: one for its own strip, one for the action that was in use before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Action, AnimData, NlaStrip, NlaTrack

from ..blender import compat
from ..curves.fcurve_arrays import KeyedPath
from ..data.simulation import BakeRecord

if TYPE_CHECKING:
    from bpy.types import ActionSlot

TRACK = "Condyle Bake"
BELOW = "Condyle, before the bake"
#: frames by which scenes may grow under a bake; Blender counts them from the start of a strip, in single precision
MARGIN = 2000.0


def ends(paths: Sequence[KeyedPath]) -> tuple[float, float]:
    """First and last frame with a key."""
    frames = np.concatenate([entry.positions for entry in paths])
    return float(frames.min()), float(frames.max())


def add(
    data: AnimData, record: BakeRecord, action: Action, slot: ActionSlot, ends: tuple[float, float]
) -> None:
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


def push_down(data: AnimData, record: BakeRecord, ends: tuple[float, float]) -> None:
    """The action in use as a strip on a track above the others, playing what it played.

    Args:
        ends: first and last frame that are to be reached at least.
    """
    old, slot = data.action, compat.slot_of(data)
    alone = compat.is_alone(data)
    low, high = _extent(old)
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
    strip.name = BELOW
    record.pushed_strip = strip.name  # no other strip of the item has it: Blender numbers them
    strip.extrapolation = ("HOLD" if before else "HOLD_FORWARD") if after else "NOTHING"
    if not alone:
        strip.blend_type, strip.influence = data.action_blend_type, data.action_influence
        if strip.influence != 1.0:
            strip.use_animated_influence = True  # makes a key of it; without one Blender takes it for 1
    data.action = None


def _extent(action: Action) -> tuple[float, float]:
    """First and last frame at which the NLA plays an action in use, without extrapolation.

    It spans the keys of all slots, whatever manual frame range is set. The last modifier of a curve extends it, muted
    or not: cycles on one side or both, other modifiers on both.
    """
    low, high = (float(end) for end in action.curve_frame_range)
    for curve in compat.all_curves(action):
        last = curve.modifiers[-1] if len(curve.modifiers) else None
        if last is None:
            continue
        if last.type == "LIMITS":
            low = min(low, last.min_x) if last.use_min_x else low
            high = max(high, last.max_x) if last.use_max_x else high
        else:
            low = low if last.type == "CYCLES" and last.mode_before == "NONE" else -np.inf
            high = high if last.type == "CYCLES" and last.mode_after == "NONE" else np.inf
    return low, high


def _reach(action: Action, ends: tuple[float, float]) -> tuple[float, float]:
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


def _place(strip: NlaStrip, first: float, last: float) -> None:
    strip.action_frame_end = last  # first, for Blender lets neither end go beyond the other
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start_raw, strip.frame_end_raw = first, last


def pushed_strip(data: AnimData | None, record: BakeRecord) -> NlaStrip | None:
    """The strip of the action before, by its name, wherever it is now; of bakes that did not note the name the topmost
    of its action that is alone on a track.
    """
    if data is None or not record.pushed_track:
        return None
    if record.pushed_strip:
        every = (strip for track in data.nla_tracks for strip in _clips(track))
        found = [strip for strip in every if strip.name == record.pushed_strip]
    else:
        found = [track.strips[0] for track in reversed(data.nla_tracks) if len(track.strips) == 1]
    return next((strip for strip in found if strip.action in (None, record.previous_action)), None)


def strips(data: AnimData | None, record: BakeRecord, pushed: bool = True) -> list[NlaStrip]:
    """The strips of a bake, also within meta strips: those of its action, and that of the action before.

    Args:
        pushed: the strip of the action before is asked for, too.
    """
    if data is None:
        return []
    below = pushed_strip(data, record) if pushed else None
    return [
        strip
        for track in data.nla_tracks
        for strip in _clips(track)
        if strip == below or _is_baked(strip, track, record)
    ]


def _is_baked(strip: NlaStrip, track: NlaTrack, record: BakeRecord) -> bool:
    """Whether a strip plays a bake's action, or played it before that was deleted."""
    if record.backup is not None:
        return False
    return bool(strip.action == record.action and (strip.action is not None or track.name == record.track))


def tracks(data: AnimData | None, record: BakeRecord, pushed: bool = True) -> list[NlaTrack]:
    """The tracks that have strips of a bake alone, or that it has made and that are empty; see `strips`."""
    if data is None:
        return []
    ours, made = strips(data, record, pushed), {record.track, record.pushed_track if pushed else ""} - {""}
    return [
        track
        for track in data.nla_tracks
        if all(strip in ours for strip in _clips(track)) and (_clips(track) or track.name in made)
    ]


def is_played(data: AnimData, action: Action) -> bool:
    """Whether any strip plays an action, be it muted."""
    return any(strip.action == action for track in data.nla_tracks for strip in _clips(track))


def remove(data: AnimData | None, record: BakeRecord, pushed: bool) -> None:
    """Take away the tracks and strips of a bake; pushed: those of the action before, too."""
    own, ours = tracks(data, record, pushed), strips(data, record, pushed)
    _end_solo(own)
    for strip in ours:
        strip.mute = True  # Blender takes no strip out of a meta strip
    for track in data.nla_tracks if data is not None else ():
        for strip in [strip for strip in track.strips if strip in ours]:
            track.strips.remove(strip)
    for track in reversed(own):
        data.nla_tracks.remove(track)


def mute(data: AnimData | None, record: BakeRecord, pushed: bool) -> Callable[[], None]:
    """Make the tracks and strips of a bake play nothing; returns what makes them play again.

    Args:
        pushed: those of the action before are muted, too.
    """
    own = tracks(data, record, pushed)
    played: list[Any] = [*own, *strips(data, record, pushed)]
    muted = [(each, each.mute) for each in played]
    alone = _end_solo(own)
    for each, _ in muted:
        each.mute = True

    def play() -> None:
        for each, was in muted:
            each.mute = was
        for track in alone:
            track.is_solo = True

    return play


def _end_solo(tracks: list[NlaTrack]) -> list[NlaTrack]:
    """Let the others play again where one of these tracks plays solo; returns that one in a list.

    Blender notes besides that some track does, and forgets that neither with the track nor when it is muted.
    """
    alone = [track for track in tracks if track.is_solo]
    for track in alone:
        track.is_solo = False
    return alone


def _clips(track: NlaTrack) -> list[NlaStrip]:
    """The strips of a track, in place of meta strips those within."""
    return [strip for strip in compat.flat_strips(track.strips) if strip.type != "META"]
