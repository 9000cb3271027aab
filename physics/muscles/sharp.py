"""Where mass points of muscles slide past a bend of the path that is not rounded off, since it lies beside a strand
over obstacles: said by name, for the mass matrix jumps there, and nothing shows it but an energy that drifts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from ..kernels import muscle_layout as at
from ..kernels.layout import MUSCLE_COUNT, MUSCLE_ROWS, SCRATCH_ROWS
from .missed import looked_at
from .muscle import Muscle

if TYPE_CHECKING:
    from ..model import Model


class SharpCorner(NamedTuple):
    """How often mass points of a muscle slid past a point of its path that is not rounded off.

    Attributes:
        muscle: its name. point: number of the path's point, the origin's is 1.
        passed: how many mass points slid past it, summed over all states. states: how many were looked at.
    """

    muscle: str
    point: int
    passed: int
    states: int

    def __str__(self) -> str:
        times = "once" if self.passed == 1 else f"{self.passed} times"
        return (
            f"muscle {self.muscle!r}: mass slides past point {self.point} of its path {times} in {self.states} states; "
            "beside a strand over obstacles the bend there is not rounded off, so that its inertia jumps and energy "
            "is not kept"
        )


def sharp_corners(model: Model, q: FloatArray) -> tuple[SharpCorner, ...]:
    """Points beside strands over obstacles that mass points slide past along a motion.

    Args:
        q: coordinates (T, nv) that the model has accepted. Of more than `missed.MOST` rows evenly spaced ones are
            looked at.
    """
    rows = looked_at(q)
    found: list[SharpCorner] = []
    for number, muscle in enumerate(model.muscles):
        if not _may_have(muscle):
            continue
        before, beside = _masses_before(model, number, rows)
        passed = (np.abs(np.diff(before, axis=0)) * (beside[1:] & beside[:-1])).sum(axis=0)
        found += [
            SharpCorner(muscle.name, int(point) + 1, int(passed[point]), len(rows))
            for point in np.flatnonzero(passed)
        ]
    return tuple(found)


def _may_have(muscle: Muscle) -> bool:
    """Whether a muscle with mass is to be rounded off and has points beside strands over obstacles."""
    return bool(muscle.num_points and muscle.rounding and muscle.strands and len(muscle.points) > 2)


def _masses_before(model: Model, number: int, rows: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """How many mass points lie before each point of a muscle's path in each state (T, points), and whether it is there
    beside a strand over obstacles (T, points).
    """
    from ..kernels.muscle_faces import muscle_lengths

    muscle = model.muscles[number]
    *others, data, last = model.arrays
    record = int(data[MUSCLE_ROWS])
    for _ in range(number):
        record += int(data[record + at.MUSCLE_SIZE])
    data = data.copy()  # to be looked at alone: the next muscle's points take the place of its own
    data[MUSCLE_COUNT], data[MUSCLE_ROWS] = 1.0, float(record)
    data.setflags(write=False)  # as the model's own are: kernels are compiled for either
    arrays = (*others, data, last)
    spaces = model.workspace(moment_arms=True).clear()
    room = spaces[0][model.num_bodies + SCRATCH_ROWS :].reshape(-1)
    still = np.zeros(rows.shape[1])
    lengths, gradients = np.zeros((1, 2)), np.zeros((1, rows.shape[1]))
    before = np.zeros((len(rows), len(muscle.points)))
    beside = np.zeros(before.shape, dtype=bool)
    offsets, shares = (getattr(muscle.masses, name) for name in ("offsets", "shares"))
    for t, row in enumerate(rows):
        gradients[:] = 0.0
        muscle_lengths(arrays, row.copy(), still, lengths, gradients, *spaces)
        along = offsets + shares * lengths[0, 0]
        for k in range(1, int(room[at.ACTIVE]) - 1):
            here = at.ROOM_HEADER + at.ROOM_ROW * k
            point = (int(room[here + at.AT_RECORD]) - record - at.MUSCLE_HEADER) // at.VIA_WIDTH
            before[t, point] = np.count_nonzero(along <= room[here + at.BEFORE])
            beside[t, point] = (
                room[here - at.ROOM_ROW + at.STRAND_AT] != 0.0 or room[here + at.STRAND_AT] != 0.0
            )
    return before, beside
