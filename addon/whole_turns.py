"""Sliders that start over by whole turns, as those of a wheel that turns evenly do: what they lead turns on."""

from __future__ import annotations

import numpy as np

from . import leap_search
from .given_motions import Followed
from .leap_search import Shown

# What leaps by this share of a turn more or less than whole ones leaps by whole ones, and goes on meanwhile.
OFF = 2e-3


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
