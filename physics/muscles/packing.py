"""Muscles into the model's flat data, and the room that the kernels need for them."""

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
    """Muscles with the numbers of what they name.

    Attributes:
        muscles: as the model has them.
        bodies, coordinates, inputs: numbers by name.
    """

    muscles: Sequence[Muscle]
    bodies: Mapping[str, int]
    coordinates: Mapping[str, int]
    inputs: Mapping[str, int]

    @property
    def num_massive(self) -> int:
        """How many have mass."""
        return sum(muscle.num_points > 0 for muscle in self.muscles)

    @property
    def num_states(self) -> int:
        """How many states all of them carry."""
        return sum(len(muscle.state_names) for muscle in self.muscles)

    def records(self, frames: Sequence[FloatArray], body_int: Any) -> list[FloatArray]:
        """A record each (``kernels.muscle_layout``)."""
        place, found = room_rows(self.muscles), []
        kept = place + sum(map(strand_places, self.muscles))
        behind = len(self.coordinates) + len(self.inputs)
        for muscle in self.muscles:
            found.append(
                muscle.packed(self.bodies, self.coordinates, self.inputs, frames, body_int, place, kept)
            )
            found[-1][at.MUSCLE_STATE] = behind
            behind += len(muscle.state_names)
            place += strand_places(muscle)
        return found


def room_rows(muscles: Sequence[Muscle]) -> int:
    """How many numbers the room has before the places of strands."""
    most = max((len(muscle.points) for muscle in muscles), default=0)
    return at.ROOM_HEADER + at.ROOM_ROW * most


def strand_places(muscle: Muscle) -> int:
    """How many numbers the places of a muscle's strands have."""
    return sum(at.place_size(len(wrap.bodies), wrap.workspace_size) for wrap in muscle.strands.values())


def muscle_room(muscles: Sequence[Muscle], num_coordinates: int, everywhere: bool = False) -> tuple[int, int]:
    """Rows behind those of the bodies' workspace and columns behind the coordinates' that the muscles need.

    Columns are for muscles with mass; with everywhere for all, as they are for moment arms, too.
    """
    if not muscles:
        return 0, 0
    room = room_rows(muscles) + sum(map(strand_places, muscles))
    room += 3 * max(
        muscle.num_points for muscle in muscles
    )  # forces that are kept of one muscle's mass points
    rows = math.ceil(room / layout.WORK_WIDTH)
    if not everywhere and not any(muscle.num_points for muscle in muscles):
        return rows, 0
    return rows, 2 * num_coordinates + max(map(muscle_columns, muscles))


def muscle_columns(muscle: Muscle) -> int:
    """How many columns a muscle needs (``kernels.muscle_layout``)."""
    obstacles = [len(wrap.bodies) for wrap in muscle.strands.values()]
    strand = 2 * (8 + 6 * max(obstacles)) if obstacles else 0
    return at.COLUMN_POINTS + 3 * len(muscle.points) + 6 * sum(obstacles) + strand
