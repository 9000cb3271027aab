"""Stops and largest steps of adaptive methods, so that they notice every change of tables and motions in time."""

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

# Times nearer than this are equal, as in `kernels.stepping.motion` [s].
EDGE = 1e-9
# Steps of this many `dt` resolve a function of time or a closing gap; a gap that closes and opens within one is missed.
LOOK = 10.0


def force_stops(problem: Problem, start: float, end: float) -> list[float]:
    """Times between start and end at which the table of forces begins or ceases to change.

    A model at rest allows steps of any length, which would skip these changes.
    """
    if problem.control is not None:
        return []
    times, changes = problem.tau[0], _changes(problem)
    switches = np.flatnonzero(np.diff(np.concatenate([[False], changes, [False]]).astype(np.int8)))
    return [float(t) for t in times[switches] if start < t < end]


def longest_step(problem: Problem, begin: float, end: float) -> float:
    """Longest step between two stops: at most a piece of the table or of a prescribed motion, but at least `dt`.

    With a function of time it is a few `dt`.
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
    """Mask (K - 1,) of the intervals between rows of the table in which forces change."""
    changes: FloatArray = (np.diff(problem.tau[1], axis=0) != 0.0).any(axis=1)
    return changes


def _shortest(times: FloatArray, begin: float, end: float) -> float:
    """The shortest interval between begin, end and the times (K,) that lie between them; infinite if none does."""
    inside = times[np.isfinite(times) & (times > begin) & (times < end)]
    if not len(inside):
        return np.inf
    return float(np.diff(np.concatenate([[begin], inside, [end]])).min())


def motion_stops(problem: Problem, start: float, end: float) -> list[float]:
    """Times between start and end where a coordinate becomes prescribed or free, or a prescribed velocity jumps.

    Times that differ by round-off are merged.
    """
    channels, pieces = problem.motions
    stops = set()
    for channel in channels:
        first, count = int(channel[CHANNEL_FIRST]), int(channel[CHANNEL_COUNT])
        own = pieces[first : first + count]
        changes = own[1:, PIECE_HOLDS] != own[:-1, PIECE_HOLDS]
        begins = 0 if own[0, PIECE_RESTS] else 1  # the first piece begins with the run: no velocity before it
        changes[begins:] |= (own[begins + 1 :, PIECE_HOLDS] != 0.0) & _leaps(own[begins:])
        stops.update(own[1:, PIECE_START][changes].tolist())
    merged: list[float] = []
    for stop in sorted(stops):
        if start < stop < end - EDGE and not (merged and stop < merged[-1] + EDGE):
            merged.append(stop)
    return merged


def _leaps(pieces: FloatArray) -> BoolArray:
    """Mask (K - 1,) of the joins between pieces where a motion's velocity jumps by more than round-off."""
    before, width = pieces[:-1], np.diff(pieces[:, PIECE_START])[:, None]
    powers = np.arange(1, PIECE_ORDER)
    terms = (
        powers * before[:, PIECE_COEFFICIENTS + 1 : PIECE_COEFFICIENTS + PIECE_ORDER] * width ** (powers - 1)
    )
    beside = np.abs(terms).max(axis=1, initial=0.0)
    leaps: BoolArray = np.abs(terms.sum(axis=1) - pieces[1:, PIECE_COEFFICIENTS + 1]) > 1e-12 * beside
    return leaps
