"""Derivatives of a muscle's force and state rates, for implicit methods; `laws` and `law` as in ``hill``."""

from typing import TypeAlias

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import hill_layout as hill
from .cord import cord_force
from .hill import (
    activation_rate,
    active_factor,
    active_force,
    clamped,
    elastic_tendon,
    fibre_speed,
    halted,
    passive_force,
    rigid_fibre,
)

Five: TypeAlias = tuple[float, float, float, float, float]
NONE = (0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def passes(laws: Array, law: int, activation: float) -> float:
    """1 if the activation is not clamped, else 0."""
    return 1.0 if clamped(laws, law, activation) == activation else 0.0


@shared
def muscle_force_tangent(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> tuple[float, Five]:
    """Force, and its derivatives by path length, path speed, excitation, activation and fibre length."""
    most = laws[law + hill.MAX_FORCE]
    if int(laws[law + hill.LAW_KIND]) == hill.TENSION:
        pulls = 1.0 if excitation > 0.0 else 0.0
        return most * max(excitation, 0.0), (0.0, 0.0, most * pulls, 0.0, 0.0)
    if int(laws[law + hill.LAW_KIND]) == hill.CORD:
        force, by_length, by_speed, _, _ = cord_force(laws, law, length, speed)
        return force, (by_length, by_speed, 0.0, 0.0, 0.0)
    if int(laws[law + hill.LAW_STATES]) == 2:
        bounded, cosine, tendon, stiffness = elastic_tendon(laws, law, length, fibre)
        by_length = most * stiffness / laws[law + hill.SLACK_LENGTH]
        moves = 1.0 if bounded == fibre else 0.0
        return most * tendon, (by_length, 0.0, 0.0, 0.0, -moves * by_length / cosine)
    return rigid_tangent(laws, law, length, speed, activation)


@shared
def rigid_tangent(
    laws: Array, law: int, length: float, speed: float, activation: float
) -> tuple[float, Five]:
    """The same on a rigid tendon."""
    most, fastest, optimal = (
        laws[law + hill.MAX_FORCE],
        laws[law + hill.MAX_SPEED],
        laws[law + hill.OPTIMAL_LENGTH],
    )
    a = clamped(laws, law, activation)
    bounded, cosine, rate = rigid_fibre(laws, law, length, speed)
    factor, factor_slope = active_factor(laws, law, bounded / optimal)
    passive, passive_slope = passive_force(laws, law, bounded / optimal)
    active, by_rate, by_isometric, by_activation = active_force(laws, law, a, a * factor, rate)
    total = active + passive + laws[law + hill.DAMPING] * rate
    if total <= 0.0:
        return 0.0, NONE
    of_activation = most * cosine * (by_isometric * factor + by_activation) * passes(laws, law, activation)
    if bounded <= laws[law + hill.MIN_FIBRE]:
        return most * total * cosine, (0.0, 0.0, 0.0, of_activation, 0.0)
    by_rate += laws[law + hill.DAMPING]
    sine = laws[law + hill.HEIGHT] / bounded
    turn = sine * sine / bounded  # of the cosine by the path's length
    by_length = (by_isometric * a * factor_slope + passive_slope) / optimal * cosine
    by_length += by_rate * speed * turn / fastest
    of_length = most * (by_length * cosine + total * turn)
    of_speed = most * by_rate * cosine * cosine / fastest
    return most * total * cosine, (of_length, of_speed, 0.0, of_activation, 0.0)


@shared
def muscle_rates_tangent(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> tuple[float, float, Five, Five]:
    """a' and fibre speed, and the derivatives of each by path length, path speed, excitation, activation and fibre
    length.
    """
    if int(laws[law + hill.LAW_STATES]) == 0:
        return 0.0, 0.0, NONE, NONE
    first, by_excitation, by_own = activation_rate(laws, law, excitation, activation)
    first_by = (0.0, 0.0, by_excitation, by_own, 0.0)
    if int(laws[law + hill.LAW_STATES]) == 1:
        return first, 0.0, first_by, NONE
    a, optimal, fastest = (
        clamped(laws, law, activation),
        laws[law + hill.OPTIMAL_LENGTH],
        laws[law + hill.MAX_SPEED],
    )
    bounded, cosine, tendon, stiffness = elastic_tendon(laws, law, length, fibre)
    factor, factor_slope = active_factor(laws, law, bounded / optimal)
    passive, passive_slope = passive_force(laws, law, bounded / optimal)
    rate, by_force, by_isometric, by_activation = fibre_speed(
        laws, law, a, a * factor, tendon / cosine - passive
    )
    if halted(laws, law, fibre, rate) != rate:
        return first, 0.0, first_by, NONE
    stiffness /= laws[law + hill.SLACK_LENGTH] * cosine
    sine = laws[law + hill.HEIGHT] / bounded
    by_cosine = sine * sine / (bounded * cosine)
    by_fibre = -stiffness / cosine - tendon / (cosine * cosine) * by_cosine - passive_slope / optimal
    of_fibre = by_force * by_fibre + by_isometric * a * factor_slope / optimal
    moves = 1.0 if bounded == fibre else 0.0
    of_activation = (by_isometric * factor + by_activation) * passes(laws, law, activation)
    second_by = (
        fastest * by_force * stiffness,
        0.0,
        0.0,
        fastest * of_activation,
        fastest * of_fibre * moves,
    )
    return first, fastest * rate, first_by, second_by
