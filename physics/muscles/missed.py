"""Where muscles go straight although they should run over an obstacle: said by name, for nobody sees it in a force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..kernels import muscle_layout as at
from ..kernels import wrap_layout as wrapping
from ..kernels.layout import SCRATCH_ROWS
from .packing import room_rows

if TYPE_CHECKING:
    from ..model import Model

# More states are not looked at, but evenly spaced ones of them: a look costs about as much as a step.
MOST = 1000


class MissedWrap(NamedTuple):
    """How often a muscle's strand over obstacles was a straight line that it should not have been.

    Attributes:
        muscle: its name. inside: states with an end inside an obstacle, where no path lies on it.
        unsolved: states in which no shortest path over it was found.
        states: how many were looked at.
    """

    muscle: str
    inside: int
    unsolved: int
    states: int

    def __str__(self) -> str:
        causes = []
        if self.inside:
            causes.append(f"in {self.inside} of {self.states} states an end lies inside an obstacle")
        if self.unsolved:
            causes.append(f"in {self.unsolved} of {self.states} states no path over an obstacle was found")
        return f"muscle {self.muscle!r} runs straight through: {'; '.join(causes)}"


def missed_wraps(model: Model, q: FloatArray) -> tuple[MissedWrap, ...]:
    """Muscles that go straight where they should run over an obstacle, along a motion.

    Args:
        q: coordinates (T, nv) that the model has accepted. At most 1000 rows, evenly spaced, are looked at.
    """
    from ..kernels.muscle_faces import muscle_lengths

    strands = list(_strands(model))
    if not strands:
        return ()
    rows = np.asarray(q)[np.linspace(0, len(q) - 1, min(len(q), MOST)).astype(int)]
    spaces = model.workspace(moment_arms=True).clear()
    room = spaces[0][model.num_bodies + SCRATCH_ROWS :].reshape(-1)
    states = [place + wrapping.STATUS for _, place in strands]
    lengths, gradients = np.zeros((len(model.muscles), 2)), np.zeros((len(model.muscles), q.shape[1]))
    still, found = np.zeros(q.shape[1]), np.zeros((len(rows), len(strands)))
    for t, row in enumerate(rows):
        room[states] = wrapping.STRAIGHT  # a strand that is away for a while leaves its own
        gradients[:] = 0.0
        muscle_lengths(model.arrays, row.copy(), still, lengths, gradients, *spaces)
        found[t] = room[states]
    told = []
    for muscle in model.muscles:
        own = found[:, [name == muscle.name for name, _ in strands]]
        inside, unsolved = (own == wrapping.INSIDE).any(axis=1), (own == wrapping.UNSOLVED).any(axis=1)
        if inside.any() or unsolved.any():
            told.append(MissedWrap(muscle.name, int(inside.sum()), int(unsolved.sum()), len(rows)))
    return tuple(told)


def _strands(model: Model) -> Iterator[tuple[str, int]]:
    """Every strand over obstacles: its muscle's name, and where in the room it keeps what it knows of itself."""
    place = room_rows(model.muscles)
    for muscle in model.muscles:
        for wrap in muscle.strands.values():
            place += at.place_size(len(wrap.bodies), wrap.workspace_size)
            yield muscle.name, place - wrap.workspace_size
