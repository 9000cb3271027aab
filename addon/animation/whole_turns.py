"""Sliders that start over by whole turns, as those of a wheel that turns evenly do: what they lead turns on."""

import numpy as np

from ..curves import fcurve_values
from . import jump_search
from .jump_search import Shown
from .led_joints import Followed
from .motion_curves import MotionCurves

# What leaps by this share of a turn more or less than whole ones leaps by whole ones, and goes on meanwhile.
OFF = 2e-3


def sampled(each: Followed, by: MotionCurves | None) -> None:
    """Let a joint's sliders that have a key at every frame, as captured ones have, go on where they start over by whole
    turns, as angles do that are kept within half a turn.
    """
    for column in np.flatnonzero(each.turns).tolist() if by is not None else ():
        keyed = np.isin(each.frames, by.keys_of(column, each.frames))
        turn, steps = each.turns[column], np.diff(each.readings[:, column])
        turns = np.where(fcurve_values.in_rows(keyed[:-1] & keyed[1:]), np.round(steps / turn), 0.0)
        each.readings[1:, column] -= turn * np.cumsum(turns)


def stands_out(each: Followed) -> np.ndarray:
    """From which frame to the next one (F - 1,) a slider may start over by whole turns: anywhere, where at some frame
    one goes unlike before or after, by half a turn or more. It may do so at several frames running, all alike.
    """
    if not each.turns.any():
        return np.zeros(len(each.frames) - 1, dtype=bool)
    bends = np.abs(np.diff(each.readings, 2, axis=0)) > 0.5 * each.turns
    bent = (bends & (each.turns > 0.0)).any(axis=1)
    return np.full(len(each.frames) - 1, bool(bent.any()))


def counted(each: Followed, shown: Shown, where: np.ndarray) -> Shown:
    """Let a joint's sliders go on by the whole turns that they leap by on the way to some rows (k,) of whole frames;
    returns what they show so, at any frames of these.
    """
    frames, gone = each.frames, np.zeros_like(each.readings) if each.turns.any() else np.zeros(1)
    for k in where.tolist():
        for column in np.flatnonzero(each.turns).tolist():
            gone[k:, column] += _whole_turns(each, shown, k, column)
    if not gone.any():
        return shown
    each.readings = whole = each.readings + gone

    def on(at: np.ndarray) -> np.ndarray:
        row = np.clip(np.searchsorted(frames, at, side="right") - 1, 0, len(frames) - 2)
        share = ((at - frames[row]) / (frames[row + 1] - frames[row]))[:, None]
        even, values = (1.0 - share) * whole[row] + share * whole[row + 1], shown(at)
        before, behind = values + gone[row], values + gone[row + 1]
        return np.where(np.abs(behind - even) < np.abs(before - even), behind, before)

    return on


def _whole_turns(each: Followed, shown: Shown, k: int, column: int) -> float:
    """By how much a slider goes on for the whole turns that it leaps by on the way to a row; 0 where it does not leap,
    or by something else.
    """
    turn = float(each.turns[column])
    found = jump_search.narrowed(
        lambda frames: shown(frames)[:, column],
        lambda one, other: abs(float(other - one)),
        (each.frames[k - 1], each.frames[k]),
        least=0.5 * turn,
    )
    way = 0.0 if found is None else found[2] - found[1]
    turns = np.round(way / turn)
    return -turns * turn if abs(way - turns * turn) <= OFF * turn else 0.0
