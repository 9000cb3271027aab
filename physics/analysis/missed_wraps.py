"""Where muscles go straight although they should run over an obstacle, and where they slip off one: said by name, for
nobody sees it in a force.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..kernels.layout import SCRATCH_ROWS
from ..kernels.muscles import layout as at
from ..kernels.wrapping import layout as wrapping
from ..model.model import Model
from ..muscles.packing import room_rows

# More states are not looked at, but evenly spaced ones of them: a look at a muscle costs 5 to 100 microseconds, what it
# costs once in a step. In every tenth state only, a short stretch without a path would stay unseen.
MOST = 20_000
# A length changes from one state to the next by no more than its slopes there let expect, times this.
LEAP = 3.0


class MissedWrap(NamedTuple):
    """How often a muscle's strand over obstacles was a straight line that it should not have been, or leapt.

    Attributes:
        muscle: its name. inside: states with an end inside an obstacle, where no path lies on it.
        unsolved: states in which no shortest path over it was found.
        states: how many were looked at.
        slipped: from how many of these to the next the path leapt to another one. The shortest of all near paths over
            a rounded end may cease to be there as the bodies move: what winds round a post slips off over its top.
    """

    muscle: str
    inside: int
    unsolved: int
    states: int
    slipped: int = 0

    def __str__(self) -> str:
        causes = []
        if self.inside:
            causes.append(f"in {self.inside} of {self.states} states an end lies inside an obstacle")
        if self.unsolved:
            causes.append(f"in {self.unsolved} of {self.states} states no path over an obstacle was found")
        told = [f"runs straight through: {'; '.join(causes)}"] if causes else []
        if self.slipped:
            often = "once" if self.slipped == 1 else f"{self.slipped} times"
            told.append(f"slips off an obstacle to another path {often} in {self.states} states")
        return f"muscle {self.muscle!r} {', and '.join(told)}"


def missed_wraps(model: Model, q: FloatArray) -> tuple[MissedWrap, ...]:
    """Muscles that go straight where they should run over an obstacle, or slip off one, along a motion.

    Args:
        q: coordinates (T, nv) that the model has accepted. At most 20000 rows, evenly spaced, are looked at.
    """
    strands = list(_strands(model))
    if not strands:
        return ()
    rows = looked_at(q)
    spaces = model.workspace(moment_arms=True).clear()
    room = spaces[0][model.num_bodies + SCRATCH_ROWS :].reshape(-1)
    states = [place + wrapping.STATUS for _, place in strands]
    lengths, gradients = np.zeros((len(model.muscles), 2)), np.zeros((len(model.muscles), q.shape[1]))
    still, found = np.zeros(q.shape[1]), np.zeros((len(rows), len(strands)))
    all_lengths, slopes = np.zeros((len(rows), len(lengths))), np.zeros((len(rows), *gradients.shape))
    for t, row in enumerate(rows):
        room[states] = wrapping.STRAIGHT  # a strand that is away for a while leaves its own
        gradients[:] = 0.0
        kernels.muscles.readings.muscle_lengths(model.arrays, row.copy(), still, lengths, gradients, *spaces)
        found[t], all_lengths[t], slopes[t] = room[states], lengths[:, 0], gradients
    told = []
    for number, muscle in enumerate(model.muscles):
        own = found[:, [name == muscle.name for name, _ in strands]]
        inside, unsolved = (own == wrapping.INSIDE).any(axis=1), (own == wrapping.UNSOLVED).any(axis=1)
        steady = ~(inside | unsolved)
        slips = 0
        if muscle.strands and not any(point.condition for point in muscle.points):
            slips = _leaps(rows, all_lengths[:, number], slopes[:, number], steady)
        if inside.any() or unsolved.any() or slips:
            counts = int(inside.sum()), int(unsolved.sum())
            told.append(MissedWrap(muscle.name, *counts, len(rows), slips))
    return tuple(told)


def looked_at(q: FloatArray) -> FloatArray:
    """The states of a motion (T, nv) that are looked at: all, or `MOST` evenly spaced ones."""
    rows: FloatArray = np.asarray(q)[np.linspace(0, len(q) - 1, min(len(q), MOST)).astype(int)]
    return rows


def _leaps(q: FloatArray, lengths: FloatArray, slopes: FloatArray, steady: Any) -> int:
    """How often a length leaps between neighbouring states (T, nv) with these slopes, both of them steady (T,)."""
    # a coordinate that does not move the path allows for nothing, however far it goes
    steep = np.maximum(np.abs(slopes[1:]), np.abs(slopes[:-1]))
    most = LEAP * (steep * np.abs(np.diff(q, axis=0))).sum(axis=1) + 1e-9
    return int(np.count_nonzero((np.abs(np.diff(lengths)) > most) & steady[1:] & steady[:-1]))


def _strands(model: Model) -> Iterator[tuple[str, int]]:
    """Every strand over obstacles: its muscle's name, and where in the room it keeps what it knows of itself."""
    place = room_rows(model.muscles)
    for muscle in model.muscles:
        for wrap in muscle.strands.values():
            place += at.place_size(len(wrap.bodies), wrap.workspace_size)
            yield muscle.name, place - wrap.workspace_size
