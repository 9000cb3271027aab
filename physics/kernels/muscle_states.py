"""States of muscles (activation, fibre length) beside coordinates: where integrators keep them and how they go on.

The vector tau that brings forces and inputs to the dynamics holds behind these n states, their rates, which every
evaluation of the dynamics writes, and a number s: where s > 0 the states are those before an implicit step of that
length, and the rates are those at its end, x' = f(x + s x').
"""

from __future__ import annotations

from ._jit import for_muscles, inline, jit
from .layout import MUSCLE_COUNT, MUSCLE_MASSIVE, MUSCLE_STATES, RUNGE_KUTTA_4, SYMPLECTIC_EULER
from .spatial import Array


@for_muscles(False)
def has_muscles(arrays: Array) -> bool:
    """Whether a model has muscles; for its callers it is a constant where the types say that there are none."""
    return bool(arrays[3][MUSCLE_COUNT] > 0.0)


@for_muscles(False)
def has_massive(arrays: Array) -> bool:
    """Whether muscles have mass."""
    return bool(arrays[3][MUSCLE_MASSIVE] > 0.0)


@for_muscles(False)
def has_states(arrays: Array) -> bool:
    """Whether muscles have states."""
    return bool(arrays[3][MUSCLE_STATES] > 0.0)


# rows of an integrator's stages, behind their coordinates: states where a step or a part of it begins, sums of rates,
# states where the step begins
BEGUN, SUMMED, FIRST = 6, 3, 1


@inline
def begin_states(data: Array, first: int, tau: Array, keep: Array) -> None:
    """Keep the states; first is where they begin in tau."""
    for j in range(first, first + int(data[MUSCLE_STATES])):
        keep[j] = tau[j]


@inline
def prepare_states(data: Array, first: int, k: int, dt: float, stage: Array) -> None:
    """States of stage k of a Runge-Kutta step, from the rates of the one before."""
    count, tau = int(data[MUSCLE_STATES]), stage[5]
    following = dt if k == 3 else 0.5 * dt
    for j in range(first, first + count):
        if k == 0:
            stage[BEGUN, j] = tau[j]
        else:
            tau[j] = stage[BEGUN, j] + following * tau[j + count]


@inline
def sum_states(data: Array, first: int, k: int, stage: Array) -> None:
    """Add the rates of a stage."""
    count, tau = int(data[MUSCLE_STATES]), stage[5]
    weight = 1.0 if k == 0 or k == 3 else 2.0
    for j in range(first, first + count):
        stage[SUMMED, j] = weight * tau[j + count] + (stage[SUMMED, j] if k > 0 else 0.0)


@inline
def finish_states(data: Array, first: int, integrator: int, dt: float, stage: Array) -> None:
    """States at the end of a step whose stages are evaluated."""
    count, tau = int(data[MUSCLE_STATES]), stage[5]
    for j in range(first, first + count):
        if integrator == RUNGE_KUTTA_4:
            tau[j] = stage[BEGUN, j] + dt / 6.0 * stage[SUMMED, j]
        else:
            tau[j] += dt * tau[j + count]


@jit
def record_states(
    data: Array,
    first: int,
    before: int,
    written: int,
    samples: Array,
    t: float,
    dt: float,
    start: Array,
    tau: Array,
    record: Array,
) -> None:
    """Write the states for the samples from `before` on that fell into the step from t to t + dt, behind the
    coordinates of record; in straight lines between its ends.
    """
    count = int(data[MUSCLE_STATES])
    behind = record.shape[1] - count
    for row in range(before, written):
        x = min(max((samples[row] - t) / dt, 0.0), 1.0)
        for j in range(count):
            record[row, behind + j] = start[first + j] + x * (tau[first + j] - start[first + j])


@inline
def set_implicit(data: Array, tau: Array, first: int, step: float) -> None:
    """Say of which length the implicit step is that evaluations of the dynamics shall take with the states; 0: none."""
    count = int(data[MUSCLE_STATES])
    if count > 0:
        tau[first + 2 * count] = step


@inline
def look_ahead_at_states(data: Array, integrator: int, tau: Array, first: int, dt: float) -> None:
    """Have the rates that come next be those at the end of a step of symplectic Euler; dt 0: no longer.

    A fibre that is hardly active moves as fast as its tendon says, within 1e-5 s: along rates at the step's begin it
    swings ever farther on steps of a millisecond.
    """
    if integrator == SYMPLECTIC_EULER:
        set_implicit(data, tau, first, dt)


@inline
def lead_states(data: Array, tau: Array, start: Array, first: int, step: float, result: Array) -> None:
    """States from those of start, by a step along the rates in tau."""
    count = int(data[MUSCLE_STATES])
    for j in range(first, first + count):
        result[j] = start[j] + (step * tau[j + count] if step > 0.0 else 0.0)
