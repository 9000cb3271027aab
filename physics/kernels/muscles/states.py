"""States of muscles (activation, fibre length) beside coordinates: their storage in integrators, and their steps.

The vector tau of generalized forces and inputs also has, after these n states,
- their n rates, which every evaluation of the dynamics writes,
- n times s: where s > 0 the state is that before an implicit step of length s, and the rate is that at its end, x' =
  f(x + s x'),
- n lengths of explicit steps: an evaluation that finds one too long for its state makes it negative (`law.tension_of`).
"""

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import for_muscles, inline, shared


@for_muscles(False)
def has_muscles(arrays: Array) -> bool:
    """Whether a model has muscles; a compile-time False for models whose types have none."""
    return bool(arrays[at.MODEL_DATA][at.MUSCLE_COUNT] > 0.0)


@for_muscles(False)
def has_massive(arrays: Array) -> bool:
    """Whether muscles have mass."""
    return bool(arrays[at.MODEL_DATA][at.MUSCLE_MASSIVE] > 0.0)


@for_muscles(False)
def has_states(arrays: Array) -> bool:
    """Whether muscles have states."""
    return bool(arrays[at.MODEL_DATA][at.MUSCLE_STATES] > 0.0)


# rows of an integrator's stages with states in columns after the coordinates: from the beginning of a step or a part of
# it, sums of rates, from the beginning of the step
BEGUN, SUMMED, FIRST = 6, 3, 1


@inline
def begin_states(data: Array, first: int, tau: Array, keep: Array) -> None:
    """Save the states; they begin at first in tau."""
    for j in range(first, first + int(data[at.MUSCLE_STATES])):
        keep[j] = tau[j]


@inline
def watch_states(data: Array, first: int, dt: float, stage: Array) -> None:
    """Save the states at the beginning of a Runge-Kutta step, and request checks of its length."""
    count, tau = int(data[at.MUSCLE_STATES]), stage[at.TAU]
    for j in range(first, first + count):
        stage[BEGUN, j] = tau[j]
        tau[j + 3 * count] = dt


@inline
def prepare_states(data: Array, first: int, k: int, following: float, stage: Array) -> None:
    """States of stage k of a Runge-Kutta step, the time `following` into it, from the rates of the one before; stiff
    ones get an implicit step to each stage.
    """
    count, tau = int(data[at.MUSCLE_STATES]), stage[at.TAU]
    for j in range(first, first + count):
        implicit = tau[j + 3 * count] < 0.0
        tau[j + 2 * count] = following if implicit else 0.0
        tau[j] = stage[BEGUN, j] + (0.0 if implicit or k == 0 else following * tau[j + count])


@inline
def has_stiffened(data: Array, first: int, k: int, stage: Array) -> bool:
    """Whether stage k has found a step too long for a state with explicit steps: all stages must then be repeated."""
    count, tau, found = int(data[at.MUSCLE_STATES]), stage[at.TAU], False
    for j in range(first, first + count):
        found |= k > 0 and tau[j + 3 * count] < 0.0 and tau[j + 2 * count] == 0.0
    return found


@inline
def sum_states(data: Array, first: int, k: int, weight: float, stage: Array) -> None:
    """Add the rates of a stage."""
    count, tau = int(data[at.MUSCLE_STATES]), stage[at.TAU]
    for j in range(first, first + count):
        stage[SUMMED, j] = weight * tau[j + count] + (stage[SUMMED, j] if k > 0 else 0.0)


@inline
def finish_states(data: Array, first: int, scheme: Array, dt: float, stage: Array) -> None:
    """States at the end of a step, after its stages."""
    count, tau = int(data[at.MUSCLE_STATES]), stage[at.TAU]
    for j in range(first, first + count):
        if scheme[at.SCHEME_NUMBER] != at.RUNGE_KUTTA:
            tau[j] += dt * tau[j + count]
        elif tau[j + 3 * count] < 0.0:
            tau[j] = stage[BEGUN, j] + dt * tau[j + count]
        else:
            tau[j] = stage[BEGUN, j] + dt / scheme[at.SCHEME_WHOLE] * stage[SUMMED, j]
        tau[j + 2 * count] = tau[j + 3 * count] = 0.0


@shared
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
    """Write the states for the samples from `before` on in the step from t to t + dt, after the coordinates of record;
    interpolated linearly.
    """
    count = int(data[at.MUSCLE_STATES])
    column = record.shape[1] - count
    for row in range(before, written):
        x = min(max((samples[row] - t) / dt, 0.0), 1.0)
        for j in range(count):
            record[row, column + j] = start[first + j] + x * (tau[first + j] - start[first + j])


@inline
def set_implicit(data: Array, tau: Array, first: int, step: float) -> None:
    """Set the length of implicit steps of the states in evaluations of the dynamics; 0: none.

    Explicit methods of first order use them, too: a fibre with little activation follows its tendon within 1e-5 s, and
    explicit steps of a millisecond would diverge.
    """
    count = int(data[at.MUSCLE_STATES])
    for j in range(first + 2 * count, first + 3 * count):
        tau[j] = step


@inline
def first_lost_state(data: Array, first: int, tau: Array) -> int:
    """The first state that is not finite, or -1."""
    for j in range(int(data[at.MUSCLE_STATES])):
        if not abs(tau[first + j]) < math.inf:
            return j
    return -1


@inline
def advance_states(data: Array, tau: Array, start: Array, first: int, step: float, result: Array) -> None:
    """States from those of start, by a step along the rates in tau."""
    count = int(data[at.MUSCLE_STATES])
    for j in range(first, first + count):
        result[j] = start[j] + (step * tau[j + count] if step > 0.0 else 0.0)
