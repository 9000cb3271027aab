"""The pull of a muscle: a number, an input, or a law of its length, speed, excitation and states."""

from __future__ import annotations

from ._jit import jit
from .hill import muscle_force, muscle_force_and_rates
from .hill_layout import LAW_STATES
from .hill_tangents import muscle_rates_tangent
from .layout import MUSCLE_STATES
from .muscle_layout import MUSCLE_FIRST_STATE, MUSCLE_INPUT, MUSCLE_LAW, MUSCLE_STATE, MUSCLE_TENSION
from .spatial import Array

MOST_ITERATIONS = 30
MET = 1e-14


@jit
def states_at_end(
    data: Array,
    law: int,
    length: float,
    speed: float,
    excitation: float,
    states: tuple[float, float],
    step: float,
) -> tuple[float, float]:
    """Activation and fibre length x with x = states + step f(x): those at the end of an implicit step."""
    activation, fibre = states
    for _ in range(MOST_ITERATIONS):
        first, second, first_by, second_by = muscle_rates_tangent(
            data, law, length, speed, excitation, activation, fibre
        )
        # the activation does not know of the fibre
        a = (activation - states[0] - step * first) / (1.0 - step * first_by[3])
        b = fibre - states[1] - step * second + step * second_by[3] * a
        b /= 1.0 - step * second_by[4]
        activation -= a
        fibre -= b
        if abs(a) <= MET * (1.0 + abs(activation)) and abs(b) <= MET * (1.0 + abs(fibre)):
            break
    return activation, fibre


@jit
def tension_of(data: Array, row: int, tau: Array, nv: int, length: float, speed: float) -> float:
    """Pull of the muscle whose record begins at row; the rates of its states are written behind them in tau."""
    number = int(data[row + MUSCLE_INPUT])
    excitation: float = data[row + MUSCLE_TENSION] if number < 0 else tau[nv + number]
    if data[row + MUSCLE_LAW] == 0.0:
        return excitation
    law, at, count = (
        row + int(data[row + MUSCLE_LAW]),
        int(data[row + MUSCLE_STATE]),
        int(data[MUSCLE_STATES]),
    )
    own = int(data[law + LAW_STATES])
    if own == 0:
        return float(muscle_force(data, law, length, speed, excitation, 0.0, 0.0))
    behind = at - int(data[row + MUSCLE_FIRST_STATE])  # where all states begin
    step = tau[behind + 2 * count]
    activation, fibre = tau[at], tau[at + 1] if own == 2 else 0.0
    if step > 0.0:
        activation, fibre = states_at_end(data, law, length, speed, excitation, (activation, fibre), step)
    pull, first, second = muscle_force_and_rates(data, law, length, speed, excitation, activation, fibre)
    tau[at + count] = first
    if own == 2:
        tau[at + 1 + count] = second
    return float(pull)
