"""Sliders that start over by whole turns, as those of a wheel that turns evenly do: what they lead turns on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .given_motions import Followed

Shown = Callable[[np.ndarray], np.ndarray]  # what a joint shows at frames (k,), (k, ...)

# Looks before a frame [frames]: what is mostly still on its way to the frame's value then gets there by a leap.
LOOK = 2.0**-8
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
    turn = each.turns[column]
    begin, end = each.frames[k - 1], each.frames[k]
    at = np.array([begin, 0.5 * (begin + end - LOOK), end - LOOK, end])
    values = np.array([each.readings[k - 1, column], *shown(at[1:-1])[:, column], each.readings[k, column]])
    j = int(np.argmax(np.abs(np.diff(values))))
    low, high, at_low, at_high = at[j], at[j + 1], values[j], values[j + 1]
    while np.float32(high) > np.nextafter(np.float32(low), np.float32(np.inf)):
        if abs(at_high - at_low) < 0.5 * turn:
            return None
        middle = float(np.float32(0.5 * (low + high)))
        value = shown(np.array([middle]))[0, column]
        if abs(value - at_low) > abs(at_high - value):
            high, at_high = middle, value
        else:
            low, at_low = middle, value
    turns = np.round((at_high - at_low) / turn)
    if turns == 0.0 or abs(at_high - at_low - turns * turn) > OFF * turn:
        return None
    return np.float32(high), -turns * turn
