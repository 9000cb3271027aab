"""What keyed sliders say between frames: a joint that follows them does so in whatever rate the scene plays."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import compat, given_motions, leaps, references, timing
from .features.joints.properties import slider_names
from .given_motions import Followed

# Looks a second: with these a pendulum that hangs on a joint with a key twice a second is 1.5e-5 rad off, and 1e-3
# with 24 of them (test_between_frames).
RATE = 120.0
# Looks from a frame to the next by which leaps are told from what begins to move.
LEAST_LOOKS = 8


def positions(frames: np.ndarray, fps: float) -> np.ndarray:
    """Rising whole frames (F,), each the next one's neighbour, with `RATE` or more looks a second (L,)."""
    count = max(int(np.ceil(RATE / fps)), 1)
    return timing.recorded_frames(frames[0], frames[-1], count)


def looked_at(scene: Any, followed: list[Followed], fps: float) -> list[Followed]:
    """Joints as they were seen at frames, and what the curves of their sliders say between those, at `RATE` or more
    often. Where a slider has a key at both frames its motion was sampled: there it goes as smoothly as it can.
    """
    count = int(np.ceil(RATE / fps))
    return followed if count < 2 else [_with_looks(scene, each, count) for each in followed]


def _with_looks(scene: Any, each: Followed, count: int) -> Followed:
    if each.readings is None:
        return each
    item = references.object_by_session_uid(each.uid)
    sliders = slider_names(item.condyle.joint)
    curves = [_curve_of(item, f'["{slider}"]') for slider in sliders]
    if not any(curve is not None for curve in curves):
        return each
    whole = np.flatnonzero(each.frames % 1.0 == 0.0)

    def read(frames: Any) -> np.ndarray:
        values = np.tile([float(item[slider]) for slider in sliders], (len(frames), 1))
        for column, curve in enumerate(curves):
            if curve is not None:
                values[:, column] = [curve.evaluate(float(frame)) for frame in frames]
        return given_motions.measured(scene, item, values)

    # what else has a say in a slider, as a driver or its limits, is seen at frames alone
    if np.abs(read(each.frames[whole]) - each.readings[whole]).max() > given_motions.SEEN:
        return each
    wide = _interpolated(each, [curve for curve in curves if curve is not None])
    finer = int(np.ceil(LEAST_LOOKS / count))
    frames = each.frames[wide - 1][:, None] + np.arange(count * finer + 1) / (count * finer)
    shown = read(frames.ravel()).reshape(*frames.shape, len(sliders))
    smooth, inside = ~_leaps(shown), slice(finer, -1, finer)
    looks, values = frames[smooth, inside], shown[smooth, inside]
    before = np.repeat(wide[smooth], looks.shape[1])
    seen = values.reshape(len(before), len(sliders))
    added = leaps.Rows(before, looks.ravel(), seen, np.zeros(len(before), dtype=bool), drawn=True)
    made = leaps.with_rows(each, "readings", added)
    whole = made.frames % 1.0 == 0.0
    new = made.drawn & ~whole
    made.weights[new] = np.interp(made.frames[new], made.frames[whole], made.weights[whole])
    return made


def _leaps(shown: np.ndarray) -> np.ndarray:
    """In which of some stretches from frame to frame (k,) one of the sliders (k, looks, n) leaps: what goes smoothly,
    even from rest, does not go most of its way from one look to the next.
    """
    ways = np.abs(np.diff(shown, axis=1))
    leapt: np.ndarray = (ways.max(axis=1) > leaps.MOST * ways.sum(axis=1) + given_motions.SEEN).any(axis=1)
    return leapt


def _curve_of(item: Any, path: str) -> Any:
    """The curve that alone says what a slider is; None where there is none."""
    data = item.animation_data
    if data is None or data.nla_tracks or data.action_influence != 1.0:
        return None
    if any(driver.data_path == path for driver in data.drivers):
        return None
    found = next((curve for curve in compat.curves_in_use(item) if curve.data_path == path), None)
    return None if found is None or found.mute else found


def _interpolated(each: Followed, curves: list[Any]) -> np.ndarray:
    """Rows (k,) that are reached over a whole frame, not by a leap or a slider that starts anew after a whole turn, and
    not where a slider has a key at both of its ends.
    """
    begin, end = each.frames[:-1], each.frames[1:]
    wide = (begin % 1.0 == 0.0) & (end - begin == 1.0) & ~each.leapt[1:]
    turned = (each.periods > 0.0) & (np.abs(np.diff(each.readings, axis=0)) > 0.5 * each.periods)
    wide &= ~turned.any(axis=1)
    for curve in curves:
        keys = np.array([point.co.x for point in curve.keyframe_points])
        wide &= ~(np.isin(begin, keys) & np.isin(end, keys))
    found: np.ndarray = np.flatnonzero(wide) + 1
    return found
