"""The tracks of the NLA that a bake makes: one for its own strip, one for the action that was in use before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Action, AnimData, NlaStrip, NlaTrack

from ..blender import compat
from ..curves import fcurve_arrays
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


def is_alone(data: AnimData) -> bool:
    """Whether nothing plays below the action in use: Blender then takes no notice of how it is to be blended.

    A strip that is muted counts, one on a muted track does not. While a track plays solo, the action in use does not
    play at all; what counts is how it will be without.
    """
    return not data.use_nla or not any(len(track.strips) and not track.mute for track in data.nla_tracks)


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
    alone = is_alone(data)
    low, high = fcurve_arrays.extent(old)
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


def tracks(data: AnimData, record: BakeRecord, pushed: bool = True) -> list[NlaTrack]:
    """The tracks that a bake made, or that its strips alone are on, whatever they are called now.

    Args:
        pushed: the track of the action before is asked for, too.
    """
    if data is None:
        return []
    upward = list(data.nla_tracks)
    if record.action is None or record.backup is not None:  # it is the user's
        found = _called(upward, record.track, record.action)
    else:  # nothing else plays it
        found = [track for track in upward if _actions(track) == {record.action}]
    return [*found, *_below(data, record)] if pushed else found


def strips(data: AnimData, record: BakeRecord, pushed: bool = True) -> list[tuple[NlaTrack, NlaStrip]]:
    """The bake's strips on tracks that have others too, also within meta strips, each with its track.

    Args:
        pushed: the strip of the action before is asked for, too.
    """
    if data is None:
        return []
    whole = tracks(data, record)
    own = pushed_strip(data, record) if pushed else None
    baked = None if record.backup is not None else record.action

    def is_ours(strip: NlaStrip) -> bool:
        return strip == own or (baked is not None and strip.action == baked)

    shared = [track for track in data.nla_tracks if track not in whole]
    return [(track, strip) for track in shared for strip in _among(track.strips, is_ours)]


def _among(strips: Iterable[NlaStrip], is_ours: Callable[[NlaStrip], bool]) -> Iterator[NlaStrip]:
    """Those of the strips that are a bake's, meta strips of nothing else, and such strips within other meta strips."""
    for strip in strips:
        within = [each for each in compat.flat_strips([strip]) if each.type != "META"]
        if within and all(map(is_ours, within)):
            yield strip
        else:
            yield from _among(strip.strips, is_ours)


def is_played(data: AnimData, action: Action) -> bool:
    """Whether any strip plays an action, be it muted."""
    return any(action in _actions(track) for track in data.nla_tracks)


def remove(data: AnimData, record: BakeRecord, pushed: bool) -> None:
    """Take away the tracks and strips of a bake; pushed: those of the action before, too."""
    own, among = tracks(data, record, pushed), strips(data, record, pushed)
    for track, strip in among:
        if strip in track.strips.values():
            track.strips.remove(strip)
        else:
            strip.mute = True  # Blender takes no strip out of a meta strip
    _end_solo(own)
    for track in reversed(own):
        data.nla_tracks.remove(track)


def mute(data: AnimData, record: BakeRecord, pushed: bool) -> Callable[[], None]:
    """Make the tracks and strips of a bake play nothing; returns what makes them play again.

    Args:
        pushed: those of the action before are muted, too.
    """
    own = tracks(data, record, pushed)
    played: list[Any] = [*own, *(strip for _, strip in strips(data, record, pushed))]
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


def pushed_strip(data: AnimData, record: BakeRecord) -> NlaStrip | None:
    """The strip of the action before that has its name still, wherever it lies; None if there is none, and of bakes
    that did not note the name.
    """
    if data is None or not record.pushed_strip:
        return None
    every = (strip for track in data.nla_tracks for strip in compat.flat_strips(track.strips))
    found = next((strip for strip in every if strip.name == record.pushed_strip), None)
    return found if found is not None and found.action in (None, record.previous_action) else None


def is_doubled(data: AnimData, record: BakeRecord) -> bool:
    """Whether the action before would play twice if it were in use again: a strip plays it that could be the bake's,
    but cannot be told from the user's, for it has another name now and is on another track.
    """
    if data is None or not record.pushed_strip or (record.blend_type, record.influence) == ("REPLACE", 1.0):
        return False
    if _below(data, record) or pushed_strip(data, record) is not None:
        return False
    playing = [track for track in data.nla_tracks if not track.mute]
    every = [strip for track in playing for strip in compat.flat_strips(track.strips) if not strip.mute]
    return any(
        strip.action == record.previous_action
        and (strip.frame_start, strip.scale, strip.repeat) == (strip.action_frame_start, 1.0, 1.0)
        for strip in every
        if strip.action is not None
    )


def _below(data: AnimData, record: BakeRecord) -> list[NlaTrack]:
    """The track of the action before, in a list, where nothing of the user's is on it."""
    upward, before, name = list(data.nla_tracks), record.previous_action, record.pushed_track
    called = _called(upward, name, before)
    if not record.pushed_strip:  # a bake that did not note the strip
        alone = [
            track for track in upward if before and len(track.strips) == 1 and _actions(track) == {before}
        ]
        return (called or alone)[-1:] if name else []
    strip = pushed_strip(data, record)
    if strip is None:
        return [track for track in called if len(_clips(track)) < 2]
    return [track for track in upward if _clips(track) == [strip] or (track in called and not _clips(track))]


def _called(tracks: list[NlaTrack], name: str, action: Action | None) -> list[NlaTrack]:
    """The topmost of the tracks that has a name, in a list, and strips of that action alone: others are the user's."""
    called = [track for track in tracks if name and track.name == name]
    return [track for track in called if _actions(track) <= {None, action}][-1:]


def _actions(track: NlaTrack) -> set[Action | None]:
    """What the strips of a track play, those within meta strips too."""
    return {strip.action for strip in _clips(track)}


def _clips(track: NlaTrack) -> list[NlaStrip]:
    """The strips of a track, in place of meta strips those within."""
    return [strip for strip in compat.flat_strips(track.strips) if strip.type != "META"]
