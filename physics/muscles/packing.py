"""Muscles into the model's flat data, and the room that the kernels need for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..kernels import layout
from ..kernels import muscle_layout as at
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

    def records(self, frames: Sequence[FloatArray], body_int: Any) -> list[FloatArray]:
        """A record each (``kernels.muscle_layout``)."""
        return [
            muscle.packed(self.bodies, self.coordinates, self.inputs, frames, body_int)
            for muscle in self.muscles
        ]


def muscle_room(muscles: Sequence[Muscle], num_coordinates: int, everywhere: bool = False) -> tuple[int, int]:
    """Rows behind those of the bodies' workspace and columns behind the coordinates' that the muscles need.

    Columns are for muscles with mass; with everywhere for all, as they are for moment arms, too.
    """
    if not muscles:
        return 0, 0
    most = max(len(muscle.path) for muscle in muscles)
    rows = math.ceil((at.ROOM_HEADER + at.ROOM_ROW * most) / layout.WORK_WIDTH)
    if not everywhere and not any(muscle.num_points for muscle in muscles):
        return rows, 0
    return rows, 2 * num_coordinates + at.COLUMN_POINTS + 3 * most
