"""Where adaptive methods have to stop, and how far they may go at once, to see what is given in time."""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray
from ..kernels.stepping.motion_layout import (
    CHANNEL_COUNT,
    CHANNEL_FIRST,
    PIECE_COEFFICIENTS,
    PIECE_HOLDS,
    PIECE_ORDER,
    PIECE_RESTS,
    PIECE_START,
)
from .base import Problem

# Times that are nearer than this are the same, as they are to `kernels.stepping.motion` [s].
EDGE = 1e-9
# So many `dt` at once still see what a function of time does, or a gap that closes: one that opens within is not seen.
LOOK = 10.0


def force_stops(problem: Problem, start: float, end: float) -> list[float]:
    """Times between start and end at which the table of forces begins or ceases to change: what rests is at rest for
    steps of any length, which would go past it.
    """
    if problem.control is not None:
        return []
    times, changes = problem.tau[0], _changes(problem)
    switches = np.flatnonzero(np.diff(np.concatenate([[False], changes, [False]]).astype(np.int8)))
    return [float(t) for t in times[switches] if start < t < end]


def longest_step(problem: Problem, begin: float, end: float) -> float:
    """How far a step may go from one stop to the next: over no more than a piece of a table or of a given motion, but
    no shorter than `dt`; of a function of time some `dt`.
    """
    if problem.control is not None:
        return LOOK * problem.dt
    changes = np.concatenate([[False], _changes(problem), [False]])
    lengths = [_shortest(problem.tau[0][changes[1:] | changes[:-1]], begin, end)]
    channels, pieces = problem.motions
    for channel in channels:
        first, count = int(channel[CHANNEL_FIRST]), int(channel[CHANNEL_COUNT])
        lengths.append(_shortest(pieces[first : first + count, PIECE_START], begin, end))
    return max(min(lengths), problem.dt)


def _changes(problem: Problem) -> FloatArray:
    """Which intervals between rows of the table (K - 1,) are none of constant forces."""
    changes: FloatArray = (np.diff(problem.tau[1], axis=0) != 0.0).any(axis=1)
    return changes


def _shortest(times: FloatArray, begin: float, end: float) -> float:
    """The shortest interval between times (K,) from one time to another; infinite where none lies between."""
    inside = times[np.isfinite(times) & (times > begin) & (times < end)]
    if not len(inside):
        return np.inf
    return float(np.diff(np.concatenate([[begin], inside, [end]])).min())


def motion_stops(problem: Problem, start: float, end: float) -> list[float]:
    """Times between start and end where a coordinate begins or ceases to be held, or a held one's velocity leaps.

    Those that differ by round-off are one.
    """
    channels, pieces = problem.motions
    stops = set()
    for channel in channels:
        first, count = int(channel[CHANNEL_FIRST]), int(channel[CHANNEL_COUNT])
        own = pieces[first : first + count]
        changes = own[1:, PIECE_HOLDS] != own[:-1, PIECE_HOLDS]
        begins = 0 if own[0, PIECE_RESTS] else 1  # where the run does, the motion has led nowhere before
        changes[begins:] |= (own[begins + 1 :, PIECE_HOLDS] != 0.0) & _leaps(own[begins:])
        stops.update(own[1:, PIECE_START][changes].tolist())
    found: list[float] = []
    for stop in sorted(stops):
        if start < stop < end - EDGE and not (found and stop < found[-1] + EDGE):
            found.append(stop)
    return found


def _leaps(pieces: FloatArray) -> BoolArray:
    """From which of a motion's pieces to the next (K - 1,) its velocity leaps, by more than round-off."""
    before, width = pieces[:-1], np.diff(pieces[:, PIECE_START])[:, None]
    powers = np.arange(1, PIECE_ORDER)
    terms = (
        powers * before[:, PIECE_COEFFICIENTS + 1 : PIECE_COEFFICIENTS + PIECE_ORDER] * width ** (powers - 1)
    )
    beside = np.abs(terms).max(axis=1, initial=0.0)
    leaps: BoolArray = np.abs(terms.sum(axis=1) - pieces[1:, PIECE_COEFFICIENTS + 1]) > 1e-12 * beside
    return leaps
