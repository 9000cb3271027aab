"""A state of a model: coordinates, velocities, time, muscle states and nodes of soft bodies."""

from dataclasses import dataclass

from .._typing import FloatArray, IntArray
from ..geometry.immutable import ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class State(ReadOnlyArrays):
    """Configuration and velocity of a model: everything that a simulation starts from.

    Attributes:
        q: coordinates (nv,) [rad, m].
        qd: their velocities (nv,).
        time: [s].
        chart: number of chart changes so far of each body's rotation vectors (nb,).
        muscle_states: of the muscles' laws (`Model.muscle_state_names`); None without states.
        soft_states: places and rates (2, n, 3) of the soft bodies' nodes, body by body; None without soft bodies.
    """

    q: FloatArray
    qd: FloatArray
    time: float
    chart: IntArray
    muscle_states: FloatArray | None = None
    soft_states: FloatArray | None = None
