"""The pull of a muscle: a number, an input, or a law of its length, speed, excitation and states."""

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import hill_layout as hill
from . import layout as muscle
from .hill import muscle_force, muscle_force_and_rates
from .hill_tangents import muscle_force_tangent, muscle_rates_tangent

MOST_ITERATIONS = 30
MOST_HALVES = 200
LEFT = 1e-6
MET = 1e-14
# a Runge-Kutta step is stable for decay at rates of up to 2.8 over the step
STIFF = 2.0
LEAST_MET = 8.0 * MET  # both bounds are this near to a jump of the rate: each last moved by no more than MET


@shared
def states_at_end(
    data: Array,
    law: int,
    length: float,
    speed: float,
    excitation: float,
    states: tuple[float, float],
    steps: tuple[float, float],
) -> tuple[float, float]:
    """Activation and fibre length x with x = states + steps f(x), at the end of implicit steps; not finite if there are
    none.
    """
    (activation, fibre), (step, fibre_step) = states, steps
    longest = 2.0 * (length + states[1])
    for _ in range(MOST_ITERATIONS):
        first, second, first_by, second_by = muscle_rates_tangent(
            data, law, length, speed, excitation, activation, fibre
        )
        # the activation does not depend on the fibre
        a = (activation - states[0] - step * first) / (1.0 - step * first_by[3])
        b = fibre - states[1] - fibre_step * second + fibre_step * second_by[3] * a
        b /= 1.0 - fibre_step * second_by[4]
        activation -= a
        fibre -= b
        if abs(a) <= MET * (1.0 + abs(activation)) and abs(b) <= MET * (1.0 + abs(fibre)):
            return activation, fibre
        if not (-1.0 < activation < 2.0 and 0.0 <= fibre < longest):
            break
    given, activation = (length, speed, excitation), states[0]
    if step > 0.0:
        activation = bracketed(data, law, given, states, step, 0, -1.0, 2.0, states[1])
    if states[1] == 0.0:
        return activation, 0.0
    return activation, bracketed(data, law, given, states, fibre_step, 1, 0.0, longest, activation)


@shared
def bracketed(
    data: Array,
    law: int,
    given: tuple[float, float, float],
    states: tuple[float, float],
    step: float,
    which: int,
    low: float,
    high: float,
    other: float,
) -> float:
    """The activation (which 0) or fibre length (1) at the end of an implicit step, with the other state fixed.

    The residual increases with the state, as either rate decreases: Newton's steps within shrinking bounds, bisection
    if they leave the bounds. A fibre that would shorten beyond its least length ends there, where its rate jumps to 0.
    Not finite if the bounds bracket no solution.
    """
    x = min(max(states[which], low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
    for _ in range(MOST_HALVES):
        activation, fibre = (x, other) if which == 0 else (other, x)
        first, second, first_by, second_by = muscle_rates_tangent(
            data, law, given[0], given[1], given[2], activation, fibre
        )
        rate, slope = (first, first_by[3]) if which == 0 else (second, second_by[4])
        left = x - states[which] - step * rate
        if left > 0.0:
            high = x
        else:
            low = x
        nearer = x - left / (1.0 - step * slope)
        if not low < nearer < high:
            nearer = 0.5 * (low + high)
        if abs(nearer - x) <= MET * (1.0 + abs(x)):
            if abs(left) <= LEFT:
                return nearer
            least: float = data[law + hill.MIN_FIBRE]
            # a residual remains if there is no solution, or no finite number
            return least if which == 1 and abs(x - least) <= LEAST_MET * (1.0 + abs(x)) else math.nan
        x = nearer
    return math.nan


@inline
def is_constant(data: Array, row: int) -> bool:
    """Whether a muscle's pull is a constant, which stores energy as the path lengthens."""
    return bool(data[row + muscle.MUSCLE_INPUT] < 0.0 and data[row + muscle.MUSCLE_LAW] == 0.0)


@shared
def tension_of(data: Array, row: int, tau: Array, nv: int, length: float, speed: float) -> float:
    """Pull of the muscle with the record at row; writes the rates of its states to tau."""
    number = int(data[row + muscle.MUSCLE_INPUT])
    excitation: float = data[row + muscle.MUSCLE_TENSION] if number < 0 else tau[nv + number]
    if data[row + muscle.MUSCLE_LAW] == 0.0:
        return excitation
    law, state, count = (
        row + int(data[row + muscle.MUSCLE_LAW]),
        int(data[row + muscle.MUSCLE_STATE]),
        int(data[at.MUSCLE_STATES]),
    )
    own = int(data[law + hill.LAW_STATES])
    if own == 0:
        return float(muscle_force(data, law, length, speed, excitation, 0.0, 0.0))
    activation, fibre = tau[state], tau[state + 1] if own == 2 else 0.0
    step = tau[state + 1 + 2 * count] if own == 2 else 0.0
    steps = tau[state + 2 * count], step
    if max(tau[state + 2 * count], step) > 0.0:
        activation, fibre = states_at_end(data, law, length, speed, excitation, (activation, fibre), steps)
    elif own == 2 and tau[state + 1 + 3 * count] > 0.0:
        _, _, _, by = muscle_rates_tangent(data, law, length, speed, excitation, activation, fibre)
        if not -by[4] * tau[state + 1 + 3 * count] <= STIFF:
            tau[state + 1 + 3 * count] *= -1.0
    pull, first, second = muscle_force_and_rates(data, law, length, speed, excitation, activation, fibre)
    tau[state + count] = first
    if own == 2:
        if step > 0.0 and second == 0.0:  # it may have stopped at its least length within the step
            second = (fibre - tau[state + 1]) / step
        tau[state + 1 + count] = second
    return float(pull)


@shared
def tension_slopes(
    data: Array, row: int, tau: Array, nv: int, length: float, speed: float
) -> tuple[float, float, float]:
    """`tension_of` with its derivatives by length and speed; call it after that, with the states' rates in tau. At the
    end of an implicit step the states depend on length and speed.
    """
    number = int(data[row + muscle.MUSCLE_INPUT])
    excitation: float = data[row + muscle.MUSCLE_TENSION] if number < 0 else tau[nv + number]
    if data[row + muscle.MUSCLE_LAW] == 0.0:
        return excitation, 0.0, 0.0
    law, state, count = (
        row + int(data[row + muscle.MUSCLE_LAW]),
        int(data[row + muscle.MUSCLE_STATE]),
        int(data[at.MUSCLE_STATES]),
    )
    own = int(data[law + hill.LAW_STATES])
    step = tau[state + 1 + 2 * count] if own == 2 else 0.0
    activation, fibre = tau[state] if own > 0 else 0.0, tau[state + 1] if own == 2 else 0.0
    if own > 0:
        activation += tau[state + 2 * count] * tau[state + count]
    if step > 0.0:
        fibre += step * tau[state + 1 + count]
    pull, by = muscle_force_tangent(data, law, length, speed, excitation, activation, fibre)
    by_length, by_speed = by[0], by[1]
    if step > 0.0:
        # x = states + step f(x): the activation's f does not depend on the path, the fibre's depends on everything
        _, _, _, rate_by = muscle_rates_tangent(data, law, length, speed, excitation, activation, fibre)
        follows = step * by[4] / (1.0 - step * rate_by[4])
        by_length += follows * rate_by[0]
        by_speed += follows * rate_by[1]
    return pull, by_length, by_speed
