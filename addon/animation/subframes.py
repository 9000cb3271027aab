"""What keyed sliders and children say between frames: joints that follow them do so in whatever rate the scene plays,
and as strongly as the keys of their weights say there.
"""

from __future__ import annotations

import numpy as np

from ..curves import fcurve_values
from ..data import frame_times
from . import follow_weights, jumps, whole_turns
from .led_joints import Followed
from .motion_curves import MotionCurves, Source

# Looks a second: with half as many a pendulum that hangs on a joint with a key twice a second is 1.5e-5 rad off, and
# 1e-3 with 24 of them; at 60 frames a second they are four a frame, for what goes from rest to rest in one.
RATE = 240.0
# What is nearer to a look than this share of the way to the next is beside it.
BESIDE = 0.05
# Looks from a frame to the next, or as many a second as these are with 24 frames, where Blender has to go to them: a
# driver of 1 Hz is 2e-5 rad off, and 5e-3 without.
LOOKS = 4


def positions(frames: np.ndarray, fps: float) -> np.ndarray:
    """Rising whole frames (F,), each the next one's neighbour, with `RATE` or more looks a second (L,)."""
    return frame_times.recorded_frames(frames[0], frames[-1], _looks(fps))


def _looks(fps: float) -> int:
    """From each frame to the next."""
    return max(int(np.ceil(RATE / fps)), 1)


def looked_at(
    followed: list[Followed], sources: list[Source], frames: np.ndarray, fps: float, sample: float
) -> list[Followed]:
    """Joints as they were seen at whole frames (F,), where they leap, and what their sources say between those: their
    curves, and those of their weights, at `RATE` or more often; where no curves alone say it, what the scene shows
    at `LOOKS` places or more from frame to frame. Where one of what leads a joint has keys at several frames
    running its motion was sampled: there it goes as smoothly as it can.

    Args:
        sample: from one sample to the next [frames].
    """
    count, places = _looks(fps), positions(frames, fps)
    for each, source in zip(followed, sources):
        each.again = None if source.by is None else source.by.again(frames)
        if source.strength is not None:
            each.strength = follow_weights.between_frames(source.strength, each.strength, places)
        whole_turns.sampled(each, source.by)
    keyed, shown = [source.by for source in sources], [source.shown for source in sources]
    seen = jumps.looked_for(followed, keyed, shown, frames, sample)
    if count < 2:
        return [one.joint for one in seen]
    of_scene = max(LOOKS, round(LOOKS * 24.0 / fps))
    return [_with_looks(one, source, count if one.by else of_scene) for one, source in zip(seen, sources)]


def _places(each: jumps.Seen, source: Source, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (k,) to be reached by way of looks, and these (k, count + 1) from the frame before each to its own."""
    joint = each.joint
    if each.by is not None:
        wide = _interpolated(joint, each.by.keyed(joint.frames))
    else:
        wide = _interpolated(joint, source.keys())
        wide = wide[_moves(joint)[wide - 1] & joint.strength.led_between(joint.frames)[wide - 1]]
    return wide, joint.frames[wide - 1][:, None] + np.arange(count + 1) / count


def _moves(each: Followed) -> np.ndarray:
    """Whether a joint moves from one row to the next, or before that or behind (F - 1,)."""
    moves = np.zeros(len(each.frames) - 1, dtype=bool)
    for part in jumps.parts(each, each.poses if each.readings is None else each.readings):
        moves |= np.linalg.norm(np.diff(part, axis=0), axis=1) > fcurve_values.SEEN
    around = np.concatenate([[False], moves, [False]])
    return around[:-2] | moves | around[2:]


def _with_looks(seen: jumps.Seen, source: Source, count: int) -> Followed:
    """A joint with what is shown at so many places on the way to each of its rows that do not leap."""
    each = seen.joint
    wide, at = _places(seen, source, count)
    if not len(wide):
        return each
    shown = seen.shown(at.ravel())
    shown = shown.reshape(*at.shape, *shown.shape[1:])
    smooth = ~_leaps(seen, at, shown)
    places = at[smooth, 1:-1].ravel()
    if seen.by is not None:
        places = np.union1d(places, _keys_between(seen.by, each.frames, at[smooth, 0], count))
    before = np.searchsorted(each.frames, places)
    added = jumps.Rows(before, places, seen.shown(places), np.zeros(len(places), dtype=bool), drawn=True)
    return jumps.with_rows(each, added)


def _keys_between(by: MotionCurves, frames: np.ndarray, begin: np.ndarray, count: int) -> np.ndarray:
    """Frames of keys (k,), where curves may turn off sharply, from some whole frames of rising ones (F,) to the next;
    not those beside a look, of which there are so many in each.
    """
    keys = fcurve_values.merged(np.concatenate(by.keyed(frames)))
    off = np.abs(keys * count - np.round(keys * count))
    return keys[np.isin(np.floor(keys), begin) & (off > BESIDE)]


def _leaps(seen: jumps.Seen, at: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """In which of some stretches from frame to frame (k,) what is shown (k, looks, ...) at frames (k, looks) leaps."""
    each = seen.joint
    leapt, least = jumps.at_once(each, shown), jumps.least_leap(each)
    if seen.by is None:
        return leapt  # no look more than is needed
    for k in np.flatnonzero(leapt).tolist():
        leapt[k] = jumps.leap_between(each, seen.shown, (at[k, 0], at[k, -1]), least) is not None
    return leapt


def _interpolated(each: Followed, keys: list[np.ndarray]) -> np.ndarray:
    """Rows (k,) that are reached over a whole frame, not by a leap or a slider that starts anew after a whole turn, and
    not where something has a key, of these frames, at both of its ends, and beside them.
    """
    begin, end = each.frames[:-1], each.frames[1:]
    wide = (begin % 1.0 == 0.0) & (end - begin == 1.0) & ~each.leapt[1:]
    if each.readings is not None:
        turned = (each.periods > 0.0) & (np.abs(np.diff(each.readings, axis=0)) > 0.5 * each.periods)
        wide &= ~turned.any(axis=1)
    return np.flatnonzero(wide & ~_sampled(begin, end, keys)) + 1


def _sampled(begin: np.ndarray, end: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """Which of stretches between rising frames (k,) have a key of the same curve at both ends, as those beside them."""
    found = np.zeros(len(begin), dtype=bool)
    for own in keys:
        found |= fcurve_values.in_rows(np.isin(begin, own) & np.isin(end, own))
    return found
