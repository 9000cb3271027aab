"""A state of a model: coordinates, their rates, time, and what muscles carry."""

from __future__ import annotations

from dataclasses import dataclass

from .._typing import FloatArray, IntArray
from ..geometry.immutable import ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class State(ReadOnlyArrays):
    """Where a model is and how fast: everything a simulation starts from.

    Attributes:
        q: coordinates (nv,) [rad, m].
        qd: their velocities (nv,).
        time: [s].
        chart: how often the rotation vectors of each body have changed their chart so far, (nb,).
        muscle_states: of the muscles' laws (`Model.muscle_state_names`); None where there are none.
    """

    q: FloatArray
    qd: FloatArray
    time: float
    chart: IntArray
    muscle_states: FloatArray | None = None
