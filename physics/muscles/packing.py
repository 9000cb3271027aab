"""Packs muscles into the model's flat data, and sizes the workspace that they need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..kernels import layout
from ..kernels.muscles import layout as at
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
    def num_states(self) -> int:
        """Number of states of all muscles."""
        return sum(len(muscle.state_names) for muscle in self.muscles)

    def records(self, frames: Sequence[FloatArray], body_int: Any) -> list[FloatArray]:
        """One record per muscle (``kernels.muscles.layout``)."""
        place, result = room_rows(self.muscles), []
        kept = place + sum(map(strand_places, self.muscles))
        state = len(self.coordinates) + len(self.inputs)
        for muscle in self.muscles:
            result.append(
                muscle.packed(self.bodies, self.coordinates, self.inputs, frames, body_int, place, kept)
            )
            result[-1][at.MUSCLE_STATE] = state
            state += len(muscle.state_names)
            place += strand_places(muscle)
        return result


def room_rows(muscles: Sequence[Muscle]) -> int:
    """Size of the muscles' workspace before the places of strands."""
    most = max((len(muscle.points) for muscle in muscles), default=0)
    return at.SPACE_HEADER + at.SPACE_ROW * most


def strand_places(muscle: Muscle) -> int:
    """Size of the places of a muscle's strands."""
    return sum(at.place_size(len(wrap.bodies), wrap.workspace_size) for wrap in muscle.strands.values())


def muscle_room(muscles: Sequence[Muscle], num_coordinates: int, everywhere: bool = False) -> tuple[int, int]:
    """Additional rows of the bodies' workspace and columns of the coordinates' that the muscles need.

    Columns are for muscles with mass or armature, or with `everywhere` for all of them, as moment arms need.
    """
    if not muscles:
        return 0, 0
    size = room_rows(muscles) + sum(map(strand_places, muscles))
    size += 3 * max(muscle.num_points for muscle in muscles)  # forces of one muscle's mass points
    rows = math.ceil(size / layout.WORK_WIDTH)
    if not everywhere and not any(muscle.has_inertia for muscle in muscles):
        return rows, 0
    return rows, 2 * num_coordinates + max(map(muscle_columns, muscles))


def muscle_columns(muscle: Muscle) -> int:
    """Number of columns that a muscle needs (``kernels.muscles.layout``)."""
    obstacles = [len(wrap.bodies) for wrap in muscle.strands.values()]
    strand = 2 * (8 + 6 * max(obstacles)) if obstacles else 0
    return at.COLUMN_POINTS + 3 * len(muscle.points) + 6 * sum(obstacles) + strand
