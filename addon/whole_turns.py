"""Sliders that start over by whole turns, as those of a wheel that turns evenly do: what they lead turns on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import curve_values, leap_search
from .given_motions import Followed
from .leap_search import Shown
from .motion_curves import MotionCurves

# What leaps by this share of a turn more or less than whole ones leaps by whole ones, and goes on meanwhile.
OFF = 2e-3


def sampled(each: Followed, by: MotionCurves | None) -> MotionCurves | None:
    """Let a joint's sliders that have a key at every frame, as captured ones have, go on where they start over by whole
    turns, as angles do that are kept within half a turn; returns what their curves say so.
    """
    if by is None or not each.turns.any():
        return by
    begin = [(*found, column) for column in np.flatnonzero(each.turns) for found in _seams(each, by, column)]
    if not begin:
        return by
    amounts = np.zeros((len(begin), len(each.turns)))
    for row, (_, amount, column) in zip(amounts, begin):
        row[column] = amount
    starts = np.array([start for start, _, _ in begin])

    def on(frames: np.ndarray) -> np.ndarray:
        gone: np.ndarray = np.clip(frames[:, None] - starts, 0.0, 1.0) @ amounts
        return gone

    each.readings = each.readings + on(each.frames)
    return replace(by, shown=lambda frames: by.shown(frames) + on(frames))


def _seams(each: Followed, by: MotionCurves, column: int) -> list[tuple[float, float]]:
    """Frames from which to the next a slider with keys at both, and at those beside, goes by half a turn or more where
    it goes by less beside; and by how much it goes on for the whole turns by which that is nearest to what is beside.
    """
    turn, curve = each.turns[column], by.curves[column]
    ways = np.diff(each.readings[:, column])
    has = np.isin(each.frames, np.concatenate(curve_values.keyed([curve])) if curve is not None else [])
    keyed = np.concatenate([[True], has[:-1] & has[1:], [True]])
    found = []
    for k in np.flatnonzero(np.abs(ways) > 0.5 * turn).tolist():
        near = np.array([ways[j] for j in (k - 1, k + 1) if 0 <= j < len(ways)])
        near = near[np.abs(near) <= 0.5 * turn]
        turns = np.round((ways[k] - near.mean()) / turn) if len(near) and keyed[k : k + 3].all() else 0.0
        if turns:
            ways[k] -= turns * turn
            found.append((float(each.frames[k]), float(-turns * turn)))
    return found


def stands_out(each: Followed) -> np.ndarray:
    """From which frame to the next one (F - 1,) some slider goes unlike before or after, by half a turn or more."""
    if not each.turns.any():
        return np.zeros(len(each.frames) - 1, dtype=bool)
    bends = np.abs(np.diff(each.readings, 2, axis=0)) > 0.5 * each.turns
    bent = (bends & (each.turns > 0.0)).any(axis=1)
    found: np.ndarray = np.append(bent, False) | np.append(False, bent)
    return found


def counted(each: Followed, shown: Shown, where: np.ndarray) -> Shown:
    """Let a joint's sliders go on by the whole turns that they leap by on the way to some rows (k,) of whole frames;
    returns what they show so, at any frames.
    """
    leaps = []
    for k in where.tolist():
        for column in np.flatnonzero(each.turns).tolist():
            found = _leap(each, shown, k, column)
            if found is not None:
                leaps.append((*found, column))
    if not leaps:
        return shown
    places = np.array([place for place, _, _ in leaps])
    amounts = np.zeros((len(leaps), len(each.turns)))
    for row, (_, amount, column) in zip(amounts, leaps):
        row[column] = amount

    def on(frames: np.ndarray) -> np.ndarray:
        gone: np.ndarray = (frames.astype(np.float32)[:, None] >= places) @ amounts
        return gone

    each.readings = each.readings + on(each.frames)
    return lambda frames: shown(frames) + on(frames)


def _leap(each: Followed, shown: Shown, k: int, column: int) -> tuple[np.float32, float] | None:
    """The frame, as Blender has it in single precision, up to which a slider has leapt by whole turns on the way to a
    row, and by how much it goes on for them; None where it does not leap, or by something else.
    """
    turn, ends = float(each.turns[column]), (each.frames[k - 1], each.frames[k])
    found = leap_search.narrowed(
        lambda frames: shown(frames)[:, column],
        lambda one, other: abs(float(other - one)),
        ends,
        (each.readings[k - 1, column], each.readings[k, column]),
        least=0.5 * turn,
        narrow=0.0,
    )
    if found is None:
        return None
    at, before, there = found
    turns = np.round((there - before) / turn)
    if turns == 0.0 or abs(there - before - turns * turn) > OFF * turn:
        return None
    return np.float32(at), -turns * turn
