"""Packs muscles into the model's flat data, and sizes the workspace that they need."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..kernels import layout
from ..kernels.muscles import layout as at
from .coupling import Couplings, inner_of
from .muscle import Muscle


@dataclass(frozen=True, eq=False)
class PackedMuscles:
    """Muscles with the indices of everything that they name.

    Attributes:
        muscles: those of the model.
        bodies, coordinates, inputs: indices by name.
    """

    muscles: Sequence[Muscle]
    bodies: Mapping[str, int]
    coordinates: Mapping[str, int]
    inputs: Mapping[str, int]

    @property
    def num_massive(self) -> int:
        """Number of muscles with mass or armature."""
        return sum(muscle.has_inertia for muscle in self.muscles)

    @property
    def bits(self) -> int:
        """Width of the integers in ``block_int`` that selects their kernels (``kernels.layout``)."""
        wraps = (
            wrap for muscle in self.muscles if muscle.masses is not None for wrap in muscle.strands.values()
        )
        if any(wrap.network is not None for wrap in wraps):
            return layout.NETWORK_BITS
        return layout.MUSCLE_BITS if self.muscles else 64

    @property
    def num_states(self) -> int:
        """Number of states of all muscles."""
        return sum(len(muscle.state_names) for muscle in self.muscles)

    def records(self, frames: Sequence[FloatArray], body_int: Any) -> list[FloatArray]:
        """One record per muscle (``kernels.muscles.layout``), with columns of mass for the fewer products."""
        whole = self._records(frames, body_int, False)
        if not self.num_massive:
            return whole
        parts = self._records(frames, body_int, True)
        return min((parts, whole), key=lambda records: products(records, body_int))

    def couplings(self, body_int: Any, records: Sequence[FloatArray], start: int) -> FloatArray:
        """The table of couplings by mass (``kernels.layout``), which begins at start in the data."""
        if not self.num_massive:
            return np.zeros(0)
        return couplings_of(records, body_int).table(start, coupling_place(self.muscles))

    def _records(self, frames: Sequence[FloatArray], body_int: Any, carried: bool) -> list[FloatArray]:
        place, result = room_rows(self.muscles), []
        kept = place + sum(map(strand_places, self.muscles))
        state = len(self.coordinates) + len(self.inputs)
        for muscle in self.muscles:
            result.append(
                muscle.packed(
                    self.bodies, self.coordinates, self.inputs, frames, body_int, place, kept, carried
                )
            )
            result[-1][at.MUSCLE_STATE] = state
            state += len(muscle.state_names)
            place += strand_places(muscle)
        return result


def room_rows(muscles: Sequence[Muscle]) -> int:
    """Size of the muscles' workspace before the places of strands."""
    most = max((len(muscle.points) for muscle in muscles), default=0)
    return at.SPACE_HEADER + at.SPACE_ROW * most


def coupling_place(muscles: Sequence[Muscle]) -> int:
    """Size of the muscles' workspace before the couplings of their masses."""
    size = room_rows(muscles) + sum(map(strand_places, muscles))
    return size + 3 * max(muscle.num_points for muscle in muscles)  # forces of one muscle's mass points


def couplings_of(records: Sequence[FloatArray], body_int: Any) -> Couplings:
    """What the muscles with these records couple."""
    return Couplings([inner_of(record) for record in records if record[at.MUSCLE_INNER] > 0.0], body_int)


def products(records: Sequence[FloatArray], body_int: Any) -> int:
    """About how many products the masses of muscles need: columns, pairs of these, and the elimination."""
    total = couplings_of(records, body_int).work
    for record in records:
        if record[at.MUSCLE_INNER] > 0.0:
            count, strands = int(record[at.MUSCLE_INNER_COUNT]), int(record[at.MUSCLE_VIA_COUNT]) - 1
            total += strands * (
                30 * count + 4 * count * (count + 1) + (60 if record[at.MUSCLE_BASE] >= 0 else 0)
            )
    return total


def coupled_size(arrays: Any) -> int:
    """Size of the couplings of masses in the workspace of a model's arrays (``kernels.layout``)."""
    (body_int, _, _, data, _), total = arrays, 0
    if data[layout.MUSCLE_MASSIVE] > 0.0:
        start = int(data[layout.MUSCLE_COUPLINGS])
        begins = data[start : start + len(body_int)].astype(int)
        total = int(data[begins + layout.COUPLED_COUNT].sum())
    return layout.COUPLED_TWIST * total


def strand_places(muscle: Muscle) -> int:
    """Size of the places of a muscle's strands."""
    return sum(at.place_size(len(wrap.bodies), wrap.workspace_size) for wrap in muscle.strands.values())


def muscle_room(
    muscles: Sequence[Muscle], num_coordinates: int, coupled: int, everywhere: bool = False
) -> tuple[int, int]:
    """Additional rows of the bodies' workspace and columns of the coordinates' that the muscles need.

    coupled: size of the couplings of their masses. Columns are for muscles with mass or armature, or with `everywhere`
    for all of them, as moment arms need.
    """
    if not muscles:
        return 0, 0
    rows = math.ceil((coupling_place(muscles) + coupled) / layout.WORK_WIDTH)
    if not everywhere and not any(muscle.has_inertia for muscle in muscles):
        return rows, 0
    return rows, num_coordinates + max(map(muscle_columns, muscles))


def muscle_columns(muscle: Muscle) -> int:
    """Number of columns that a muscle needs (``kernels.muscles.layout``)."""
    obstacles = [len(wrap.bodies) for wrap in muscle.strands.values()]
    strand = 2 * (8 + 6 * max(obstacles)) if obstacles else 0
    return at.COLUMN_POINTS + 3 * len(muscle.points) + 6 * sum(obstacles) + strand
