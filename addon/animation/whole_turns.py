"""Sliders that start over by whole turns, as those of a wheel that turns evenly do: what they lead turns on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..curves import fcurve_values
from ..curves.fcurve_values import SEEN
from . import jump_search
from .jump_search import Shown
from .led_joints import Followed
from .motion_curves import MotionCurves

# What leaps by this share of a turn more or less than whole ones leaps by whole ones, and goes on meanwhile.
OFF = 2e-3
# Keys are a sampled motion's where they are no farther from each other than a frame of their action, in single
# precision; what is nearer than the least of it [frames] are two keys of one place, at the end of a cycle.
LEAST_GAP, MOST_GAP = 2.0**-8, 1.0 + 2.0**-8
# So far on the way from a key to the next, what leaps there has leapt.
BEHIND = 2.0**-6
# A frame that is as near to a key [frames] may be before it to a strip, which plays frames in single precision.
NEAR = 1e-4


@dataclass(frozen=True)
class _Seam:
    """Two keys of a slider [frames] between which it starts over by whole turns: what it shows at the first, and
    goes to the second in all and for these turns alone, up to there or (`stepped`) at once.
    """

    column: int
    begin: float
    end: float
    shown: float
    way: float
    amount: float
    stepped: bool


def sampled(each: Followed, by: MotionCurves | None) -> MotionCurves | None:
    """Let a joint's sliders that have a key at every frame or more often, as captured ones have, go on where they start
    over by whole turns, as angles do that are kept within half a turn; returns what their curves say so.
    """
    if by is None or not each.turns.any():
        return by
    seams = [found for column in np.flatnonzero(each.turns).tolist() for found in _seams(each, by, column)]
    if not seams:
        return by

    def shown(frames: np.ndarray) -> np.ndarray:
        return _gone_on(seams, frames, by.shown(frames))

    each.readings = _gone_on(seams, each.frames, each.readings)
    return replace(by, shown=shown)


def _gone_on(seams: list[_Seam], frames: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (k, n) of sliders that are shown at frames (k,), turning on at seams; evenly from key to key of these."""
    found, gone = values.copy(), np.zeros(values.shape[1])
    for seam in sorted(seams, key=lambda each: each.begin):
        k = seam.column
        behind = frames >= seam.end
        if seam.stepped:
            near = np.abs(frames - seam.end) < NEAR
            there = values[near, k] - seam.shown
            behind[near] = np.abs(there - seam.way) < np.abs(there)
        found[behind, k] += seam.amount
        if not seam.stepped:
            inside = (frames > seam.begin) & (frames < seam.end)
            share = (frames[inside] - seam.begin) / (seam.end - seam.begin)
            found[inside, k] = seam.shown + gone[k] + share * (seam.way + seam.amount)
        gone[k] += seam.amount
    return found


def _seams(each: Followed, by: MotionCurves, column: int) -> Iterator[_Seam]:
    """Where a slider goes by half a turn or more from a key to the next, no more than a frame later, and by less beside
    that, where keys are as near: it goes on for the whole turns by which that is nearest to what is beside.
    """
    turn, (keys, longest) = each.turns[column], by.keys_of(column, each.frames)
    inside = np.searchsorted(keys, each.frames[[0, -1]])
    keys = keys[max(inside[0] - 2, 0) : inside[1] + 3]  # and those next to the frames
    if len(keys) < 3:
        return
    gaps, values = np.diff(keys), by.shown(keys)[:, column]
    behind, middle = (by.shown(keys[:-1] + share * gaps)[:, column] for share in (BEHIND, 0.5))
    stepped = np.abs(middle - behind) < SEEN
    # what leaps just behind a key is the end of a cycle, unless the key itself shows what was before it
    leaps = ~stepped & (np.abs(behind - values[:-1]) > 0.5 * turn)
    values[:-1] = np.where(stepped, behind, values[:-1])
    ways = np.diff(values)
    near = fcurve_values.in_rows((gaps > LEAST_GAP) & (gaps < MOST_GAP * longest))
    less = np.abs(ways) <= 0.5 * turn
    for k in np.flatnonzero(near & ~less).tolist():
        beside = [j for j in (k - 1, k + 1) if 0 <= j < len(ways)]
        like = [ways[j] / gaps[j] for j in beside if less[j]]
        if not like or not near[beside].all():
            continue
        turns = np.round((ways[k] - gaps[k] * np.mean(like)) / turn)
        if turns and not leaps[k]:
            yield _Seam(column, keys[k], keys[k + 1], values[k], ways[k], -turns * turn, bool(stepped[k]))
            ways[k] -= turns * turn
            less[k] = abs(ways[k]) <= 0.5 * turn


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
        return (frames.astype(np.float32)[:, None] >= places) @ amounts

    each.readings = each.readings + on(each.frames)
    return lambda frames: shown(frames) + on(frames)


def _leap(each: Followed, shown: Shown, k: int, column: int) -> tuple[np.float32, float] | None:
    """The frame, as Blender has it in single precision, up to which a slider has leapt by whole turns on the way to a
    row, and by how much it goes on for them; None where it does not leap, or by something else.
    """
    turn, ends = float(each.turns[column]), (each.frames[k - 1], each.frames[k])
    found = jump_search.narrowed(
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
