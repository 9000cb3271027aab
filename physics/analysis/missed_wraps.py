"""Muscles that pass straight through an obstacle or slip off it, which their forces do not show."""

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

# At most this many states are checked, evenly spaced. A check takes 5 to 100 microseconds per muscle, as in one step of
# a simulation; checking every tenth state only would miss short intervals without a path.
MOST = 20_000
# A length changes between states by at most this factor times the change that its slopes predict.
LEAP = 3.0


class MissedWrap(NamedTuple):
    """How often a muscle's strand over obstacles was wrongly a straight line, or jumped.

    Attributes:
        muscle: its name. inside: states with an end inside an obstacle, where no path exists.
        unsolved: states in which no shortest path over it was found.
        states: number of states checked.
        slipped: number of jumps to another path between consecutive states. A path that is locally shortest over a
            rounded end may cease to exist as bodies move: a strand round a post slips off over its top.
    """

    muscle: str
    inside: int
    unsolved: int
    states: int
    slipped: int = 0


def missed_wraps(model: Model, q: FloatArray) -> tuple[MissedWrap, ...]:
    """Muscles that pass straight through an obstacle or slip off it along a motion.

    Args:
        q: admissible coordinates (T, nv). At most 20000 rows, evenly spaced, are checked.
    """
    strands = list(_strands(model))
    if not strands:
        return ()
    rows = looked_at(q)
    spaces = model.workspace(moment_arms=True).clear()
    workspace = spaces[0][model.num_bodies + SCRATCH_ROWS :].reshape(-1)
    states = [place + wrapping.STATUS for _, place in strands]
    lengths, gradients = np.zeros((len(model.muscles), 3)), np.zeros((len(model.muscles), q.shape[1]))
    still, found = np.zeros(q.shape[1]), np.zeros((len(rows), len(strands)))
    all_lengths, slopes = np.zeros((len(rows), len(lengths))), np.zeros((len(rows), *gradients.shape))
    for t, row in enumerate(rows):
        workspace[states] = wrapping.STRAIGHT  # an inactive strand does not write its own status
        gradients[:] = 0.0
        kernels.muscles.readings.muscle_lengths(
            model.arrays, row.copy(), still, still, lengths, gradients, *spaces
        )
        found[t], all_lengths[t], slopes[t] = workspace[states], lengths[:, 0], gradients
    missed = []
    for number, muscle in enumerate(model.muscles):
        own = found[:, [name == muscle.name for name, _ in strands]]
        inside, unsolved = (own == wrapping.INSIDE).any(axis=1), (own == wrapping.UNSOLVED).any(axis=1)
        steady = ~(inside | unsolved)
        slips = 0
        if muscle.strands and not any(point.condition for point in muscle.points):
            slips = _leaps(rows, all_lengths[:, number], slopes[:, number], steady)
        if inside.any() or unsolved.any() or slips:
            counts = int(inside.sum()), int(unsolved.sum())
            missed.append(MissedWrap(muscle.name, *counts, len(rows), slips))
    return tuple(missed)


def looked_at(q: FloatArray) -> FloatArray:
    """The states of a motion (T, nv) that are checked: all, or `MOST` evenly spaced ones."""
    return np.asarray(q)[np.linspace(0, len(q) - 1, min(len(q), MOST)).astype(int)]


def _leaps(q: FloatArray, lengths: FloatArray, slopes: FloatArray, steady: Any) -> int:
    """Number of neighbouring states, both `steady` (T,), between which a length changes more than its slopes allow."""
    # a coordinate that does not move the path allows no change, however far it moves
    steep = np.maximum(np.abs(slopes[1:]), np.abs(slopes[:-1]))
    most = LEAP * (steep * np.abs(np.diff(q, axis=0))).sum(axis=1) + 1e-9
    return int(np.count_nonzero((np.abs(np.diff(lengths)) > most) & steady[1:] & steady[:-1]))


def _strands(model: Model) -> Iterator[tuple[str, int]]:
    """For each strand over obstacles its muscle's name and the offset of its state in the workspace."""
    place = room_rows(model.muscles)
    for muscle in model.muscles:
        for wrap in muscle.strands.values():
            place += at.place_size(len(wrap.bodies), wrap.workspace_size)
            yield muscle.name, place - wrap.workspace_size
