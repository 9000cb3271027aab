"""Hill-type muscles: a fibre with an active, a passive and a damping element in series with a tendon.

The muscles of Millard et al. (2013), Thelen (2003), De Groote et al. (2016) and Schutte (1993), with an elastic or a
rigid tendon; fibres are pennate at fixed height. `laws` is a flat array with a muscle's record at `law` (see
``hill_layout``); lengths and speeds are the path's.
"""

import math

from ..algebra.vectors import Array
from ..compiler.jit import entry, inline, shared
from . import hill_layout as hill
from .bezier_curve import curve, curve_integral, invert_sum
from .cord import cord_force
from .degroote import (
    degroote_activation,
    degroote_active,
    degroote_force,
    degroote_passive,
    degroote_speed,
    degroote_tendon,
)
from .schutte import (
    schutte_activation,
    schutte_active,
    schutte_force,
    schutte_passive,
    schutte_speed,
    schutte_tendon,
)
from .thelen import (
    thelen_active,
    thelen_force,
    thelen_passive,
    thelen_passive_integral,
    thelen_speed,
    thelen_tendon,
    thelen_tendon_integral,
)

ROUNDS = 200
CLOSE = 1e-15  # of the fibre's optimal length
TAUT = 1.01  # slack lengths of the tendon at the start of the search for equilibrium


@inline
def curves(laws: Array, law: int, which: int) -> int:
    return law + int(laws[law + which])


@inline
def tendon_force(laws: Array, law: int, length: float) -> tuple[float, float]:
    """Force and slope of the tendon, normalized."""
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        return thelen_tendon(laws, law, length)
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        return degroote_tendon(laws, law, length)[:2]
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        return schutte_tendon(laws, law, length)[:2]
    return curve(laws, curves(laws, law, hill.TENDON_CURVE), length)


@inline
def active_factor(laws: Array, law: int, length: float) -> tuple[float, float]:
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        return thelen_active(laws, law, length)
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        return degroote_active(laws, law, length)
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        return schutte_active(laws, law, length)
    return curve(laws, curves(laws, law, hill.ACTIVE_CURVE), length)


@inline
def passive_force(laws: Array, law: int, length: float) -> tuple[float, float]:
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        return thelen_passive(laws, law, length)
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        return degroote_passive(laws, law, length)[:2]
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        return schutte_passive(laws, law, length)[:2]
    return curve(laws, curves(laws, law, hill.PASSIVE_CURVE), length)


@inline
def fibre_speed(
    laws: Array, law: int, activation: float, isometric: float, force: float
) -> tuple[float, float, float, float]:
    """Normalized speed at which active element and damper have a given force along the fibre, and its derivatives by
    that force, the isometric force and, separately, the activation.
    """
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        return thelen_speed(laws, law, activation, isometric, force)
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        return degroote_speed(laws, law, activation, isometric, force)
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        return schutte_speed(laws, law, isometric, force)
    damping = laws[law + hill.DAMPING]
    speed, factor, slope = invert_sum(laws, curves(laws, law, hill.VELOCITY_CURVE), damping, isometric, force)
    by_force = 1.0 / (isometric * slope + damping)
    return speed, by_force, -factor * by_force, 0.0


@inline
def active_force(
    laws: Array, law: int, activation: float, isometric: float, speed: float
) -> tuple[float, float, float, float]:
    """Force of the active element at a normalized speed, and its derivatives by speed, isometric force and, separately,
    activation.
    """
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        return thelen_force(laws, law, activation, isometric, speed)
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        return degroote_force(laws, law, activation, isometric, speed)
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        factor, slope = schutte_force(speed)
    else:
        factor, slope = curve(laws, curves(laws, law, hill.VELOCITY_CURVE), speed)
    return isometric * factor, isometric * slope, factor, 0.0


@inline
def clamped(laws: Array, law: int, activation: float) -> float:
    return min(max(activation, laws[law + hill.MIN_ACTIVATION]), 1.0)


@inline
def activation_rate(
    laws: Array, law: int, excitation: float, activation: float
) -> tuple[float, float, float]:
    """a' and its derivatives by excitation and activation: first order, faster to rise (Thelen 2003, eqs. 1, 2).

    The activation may fall below its minimum, to the excitation; where it is used it is clamped (OpenSim 4.6).
    """
    e, a = min(max(excitation, 0.0), 1.0), clamped(laws, law, activation)
    pace = 0.5 + 1.5 * a
    moves = 1.5 if a == activation else 0.0
    away = e - activation
    if int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        rate, by_excitation, by_activation = degroote_activation(laws, law, away, a, moves / 1.5)
        return rate, by_excitation if e == excitation else 0.0, by_activation
    if int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        rate, by_excitation, by_activation = schutte_activation(laws, law, e, away)
        return rate, by_excitation if e == excitation else 0.0, by_activation
    if away > 0.0:
        by_excitation = 1.0 / (laws[law + hill.ACTIVATION_TIME] * pace)
        by_activation = -by_excitation * (1.0 + moves * away / pace)
    else:
        by_excitation = pace / laws[law + hill.DEACTIVATION_TIME]
        by_activation = -by_excitation + moves * away / laws[law + hill.DEACTIVATION_TIME]
    return by_excitation * away, by_excitation if e == excitation else 0.0, by_activation


@inline
def fibre_of(laws: Array, law: int, fibre: float) -> tuple[float, float]:
    """The fibre's length, clamped to its least one, and the cosine of its pennation."""
    bounded = max(fibre, laws[law + hill.MIN_FIBRE])
    sine = laws[law + hill.HEIGHT] / bounded
    return bounded, math.sqrt(1.0 - sine * sine)


@inline
def rigid_fibre(laws: Array, law: int, length: float, speed: float) -> tuple[float, float, float]:
    """Length, cosine and normalized speed of the fibre on a rigid tendon; at rest if the tendon is slack."""
    along = length - laws[law + hill.SLACK_LENGTH]
    height = laws[law + hill.HEIGHT]
    fibre = math.sqrt(along * along + height * height) if along > 0.0 else 0.0
    if fibre <= laws[law + hill.MIN_FIBRE]:
        bounded, cosine = fibre_of(laws, law, fibre)
        return bounded, cosine, 0.0
    cosine = along / fibre
    return fibre, cosine, speed * cosine / laws[law + hill.MAX_SPEED]


@inline
def rigid_forces(
    laws: Array, law: int, activation: float, fibre: float, speed: float
) -> tuple[float, float, float]:
    """Active, passive and damping force along the fibre, normalized; damping is reduced if the fibre would push."""
    normal = fibre / laws[law + hill.OPTIMAL_LENGTH]
    factor, _ = active_factor(laws, law, normal)
    passive, _ = passive_force(laws, law, normal)
    active, _, _, _ = active_force(laws, law, activation, activation * factor, speed)
    return active, passive, max(laws[law + hill.DAMPING] * speed, -active - passive)


@inline
def elastic_tendon(laws: Array, law: int, length: float, fibre: float) -> tuple[float, float, float, float]:
    """Fibre length, cosine, and the tendon's normalized force and slope."""
    bounded, cosine = fibre_of(laws, law, fibre)
    force, slope = tendon_force(laws, law, (length - bounded * cosine) / laws[law + hill.SLACK_LENGTH])
    return bounded, cosine, force, slope


@inline
def elastic_speed(
    laws: Array, law: int, activation: float, fibre: float, cosine: float, tendon: float
) -> float:
    """Normalized speed of a fibre with an elastic tendon."""
    normal = fibre / laws[law + hill.OPTIMAL_LENGTH]
    factor, _ = active_factor(laws, law, normal)
    passive, _ = passive_force(laws, law, normal)
    speed, _, _, _ = fibre_speed(laws, law, activation, activation * factor, tendon / cosine - passive)
    return speed


@inline
def halted(laws: Array, law: int, fibre: float, speed: float) -> float:
    """The speed; 0 if a fibre at its least length would shorten."""
    return 0.0 if fibre <= laws[law + hill.MIN_FIBRE] and speed < 0.0 else speed


@shared
def muscle_force(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> float:
    """Force along the path [N], not negative except for cords."""
    if int(laws[law + hill.LAW_KIND]) == hill.TENSION:
        return laws[law + hill.MAX_FORCE] * max(excitation, 0.0)
    if int(laws[law + hill.LAW_KIND]) == hill.CORD:
        return cord_force(laws, law, length, speed)[0]
    if int(laws[law + hill.LAW_STATES]) == 2:
        _, _, tendon, _ = elastic_tendon(laws, law, length, fibre)
        return laws[law + hill.MAX_FORCE] * tendon
    bounded, cosine, rate = rigid_fibre(laws, law, length, speed)
    active, passive, damping = rigid_forces(laws, law, clamped(laws, law, activation), bounded, rate)
    return laws[law + hill.MAX_FORCE] * (active + passive + damping) * cosine


@shared
def muscle_force_and_rates(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> tuple[float, float, float]:
    """Force along the path [N], a' [1/s] and the fibre's speed [m/s]; 0 for states missing in the law."""
    if int(laws[law + hill.LAW_STATES]) < 2:
        force = muscle_force(laws, law, length, speed, excitation, activation, fibre)
        if int(laws[law + hill.LAW_STATES]) == 0:
            return force, 0.0, 0.0
        return force, activation_rate(laws, law, excitation, activation)[0], 0.0
    bounded, cosine, tendon, _ = elastic_tendon(laws, law, length, fibre)
    rate = elastic_speed(laws, law, clamped(laws, law, activation), bounded, cosine, tendon)
    return (
        laws[law + hill.MAX_FORCE] * tendon,
        activation_rate(laws, law, excitation, activation)[0],
        halted(laws, law, fibre, rate) * laws[law + hill.MAX_SPEED],
    )


@entry
def muscle_state_rates(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> tuple[float, float]:
    """a' [1/s] and the fibre's speed [m/s]; 0 for states missing in the law."""
    _, first, second = muscle_force_and_rates(laws, law, length, speed, excitation, activation, fibre)
    return first, second


@inline
def stored(laws: Array, law: int, fibre: float, tendon_length: float) -> tuple[float, float]:
    """Energy in the tendon and in the passive element [J]."""
    normal = fibre / laws[law + hill.OPTIMAL_LENGTH]
    stretch = tendon_length / laws[law + hill.SLACK_LENGTH]
    if int(laws[law + hill.LAW_KIND]) == hill.THELEN:
        tendon, passive = (
            thelen_tendon_integral(laws, law, stretch),
            thelen_passive_integral(laws, law, normal),
        )
    elif int(laws[law + hill.LAW_KIND]) == hill.DEGROOTE:
        tendon, passive = degroote_tendon(laws, law, stretch)[2], degroote_passive(laws, law, normal)[2]
    elif int(laws[law + hill.LAW_KIND]) == hill.SCHUTTE:
        tendon, passive = schutte_tendon(laws, law, stretch)[2], schutte_passive(laws, law, normal)[2]
    else:
        tendon = curve_integral(laws, curves(laws, law, hill.TENDON_CURVE), stretch)
        passive = curve_integral(laws, curves(laws, law, hill.PASSIVE_CURVE), normal)
    scale = laws[law + hill.MAX_FORCE]
    return scale * laws[law + hill.SLACK_LENGTH] * tendon, scale * laws[law + hill.OPTIMAL_LENGTH] * passive


@entry
def muscle_energy(
    laws: Array, law: int, length: float, speed: float, excitation: float, activation: float, fibre: float
) -> tuple[float, float, float, float]:
    """Energy in tendon and passive element [J], power of the active element and dissipation of the damper [W].

    Energies change by force times path speed, plus active power, minus dissipation.
    """
    if int(laws[law + hill.LAW_KIND]) == hill.TENSION:
        return 0.0, 0.0, -muscle_force(laws, law, length, speed, excitation, activation, fibre) * speed, 0.0
    if int(laws[law + hill.LAW_KIND]) == hill.CORD:
        force, _, _, elastic, energy = cord_force(laws, law, length, speed)
        return 0.0, energy, 0.0, (force - elastic) * speed
    a = clamped(laws, law, activation)
    watts = laws[law + hill.MAX_FORCE] * laws[law + hill.MAX_SPEED]
    if int(laws[law + hill.LAW_STATES]) < 2:
        bounded, cosine, rate = rigid_fibre(laws, law, length, speed)
        active, _, damping = rigid_forces(laws, law, a, bounded, rate)
        _, passive_energy = stored(laws, law, bounded, 0.0)
        return 0.0, passive_energy, -watts * active * rate, watts * damping * rate
    bounded, cosine, tendon, _ = elastic_tendon(laws, law, length, fibre)
    rate = halted(laws, law, fibre, elastic_speed(laws, law, a, bounded, cosine, tendon))
    passive, _ = passive_force(laws, law, bounded / laws[law + hill.OPTIMAL_LENGTH])
    damping = laws[law + hill.DAMPING] * rate
    tendon_energy, passive_energy = stored(laws, law, bounded, length - bounded * cosine)
    active = tendon / cosine - passive - damping
    return tendon_energy, passive_energy, -watts * active * rate, watts * damping * rate


@entry
def muscle_equilibrium(laws: Array, law: int, length: float, activation: float) -> float:
    """Fibre length of a muscle at rest in equilibrium with its tendon [m]; the least one if there is none. If there are
    several, a stable one near the length at which the tendon is stretched by 1 %.
    """
    a = clamped(laws, law, activation)
    height, slack = laws[law + hill.HEIGHT], laws[law + hill.SLACK_LENGTH]
    low: float = laws[law + hill.MIN_FIBRE]
    high: float = math.sqrt((length - slack) * (length - slack) + height * height) if length > slack else low
    if high <= low or balance(laws, law, length, a, low)[0] >= 0.0:
        return low
    start = length - TAUT * slack
    fibre: float = math.sqrt(start * start + height * height) if start > 0.0 else low
    fibre = min(max(fibre, low), high)
    for _ in range(ROUNDS):
        excess, slope = balance(laws, law, length, a, fibre)
        if excess >= 0.0:
            high = fibre
        else:
            low = fibre
        new = fibre - excess / slope if slope > 0.0 else 0.5 * (low + high)
        if not low < new < high:
            new = 0.5 * (low + high)
        step = abs(new - fibre)
        fibre = new
        if (
            step <= CLOSE * laws[law + hill.OPTIMAL_LENGTH]
            or high - low <= CLOSE * laws[law + hill.OPTIMAL_LENGTH]
        ):
            break
    return fibre


@shared
def balance(laws: Array, law: int, length: float, activation: float, fibre: float) -> tuple[float, float]:
    """Excess of the pull of a fibre at rest over the tendon's, and its slope by fibre length."""
    bounded, cosine, tendon, stiffness = elastic_tendon(laws, law, length, fibre)
    optimal = laws[law + hill.OPTIMAL_LENGTH]
    factor, factor_slope = active_factor(laws, law, bounded / optimal)
    passive, passive_slope = passive_force(laws, law, bounded / optimal)
    force = activation * factor + passive
    sine = laws[law + hill.HEIGHT] / bounded
    by_cosine = sine * sine / (bounded * cosine)
    slope = (activation * factor_slope + passive_slope) / optimal * cosine + force * by_cosine
    return force * cosine - tendon, slope + stiffness / (laws[law + hill.SLACK_LENGTH] * cosine)
