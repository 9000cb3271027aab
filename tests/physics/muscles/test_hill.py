"""Hill-type muscles: curves, equilibrium, derivatives, the balance of power."""

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.joints import TangentAngle
from physics.kernels.muscles import hill_layout
from physics.kernels.muscles.bezier_curve import curve, curve_integral, invert_sum
from physics.kernels.muscles.hill_tangents import muscle_force_tangent, muscle_rates_tangent
from physics.kernels.muscles.law import bracketed, states_at_end
from physics.muscles import DeGroote, ForceLaw, Millard, Schutte, Tension, Thelen, law_from_dict
from physics.muscles.hill import SCHUTTE_TENDON

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "opensim_millard_curves.json"
MUSCLE = {"max_isometric_force": 800.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.2}
LAWS = [
    Millard(**MUSCLE),
    Millard(**MUSCLE, pennation=0.4, damping=0.03),
    Millard(**MUSCLE, pennation=0.2, damping=0.0),
    Millard(**MUSCLE, pennation=0.3, rigid_tendon=True),
    Thelen(**MUSCLE),
    Thelen(**MUSCLE, pennation=0.3),
    Thelen(**MUSCLE, pennation=0.3, rigid_tendon=True),
    DeGroote(**MUSCLE, pennation=0.3, tendon_strain=0.15, activation_smoothing=5.0),
    DeGroote(**MUSCLE, active_width=1.3, damping=0.05, rigid_tendon=True),
    Schutte(**MUSCLE, pennation=0.3),
    Schutte(**MUSCLE, passive_curve=SCHUTTE_TENDON, minimum_activation=0.01, rigid_tendon=True),
]
NAMES = ["millard", "pennate", "undamped", "rigid", "thelen", "thelen-pennate", "thelen-rigid"]
NAMES += ["degroote", "degroote-rigid", "schutte", "schutte-rigid"]
CURVES = {
    "active_force_length": hill_layout.ACTIVE_CURVE,
    "passive_fiber_force_length": hill_layout.PASSIVE_CURVE,
    "tendon_force_length": hill_layout.TENDON_CURVE,
    "force_velocity": hill_layout.VELOCITY_CURVE,
}


def samples(law: ForceLaw, count: int = 40):
    """(length, speed, excitation, states) where every element of the muscle acts."""
    rng = np.random.default_rng(4)
    for _ in range(count):
        fibre = MUSCLE["optimal_fibre_length"] * rng.uniform(0.6, 1.6)
        along = np.sqrt(fibre**2 - (MUSCLE["optimal_fibre_length"] * np.sin(law.pennation)) ** 2)
        length = along + MUSCLE["tendon_slack_length"] * rng.uniform(1.001, 1.05)
        activation, excitation = rng.uniform(0.05, 0.95, 2)
        speed = rng.uniform(-0.6, 0.6)
        yield length, speed, excitation, [activation, fibre][: len(law.state_names)]


@pytest.mark.parametrize("name", CURVES)
def test_millard_curves(name):
    if not REFERENCE.exists():
        pytest.skip("the table of OpenSim's curves is not beside this checkout")
    record = Millard(**MUSCLE, active_least=0.1).record
    at = int(record[CURVES[name]])
    for x, value, slope in json.loads(REFERENCE.read_text())[name]:
        found = curve(record, at, x)
        # a tendon's toe is 0.03 long, so that round-off of x near 1 is 1e-13 there, and its slope rises by 1e3
        assert found[0] == pytest.approx(value, abs=1e-12) and found[1] == pytest.approx(slope, abs=1e-10)


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_twice_smooth_and_have_exact_slopes_and_integrals(name):
    record = Millard(**MUSCLE).record
    at = int(record[CURVES[name]])
    low, high = record[at + hill_layout.LOW_X], record[at + hill_layout.HIGH_X]
    width = high - low
    x = np.linspace(low - 0.1 * width, high + 0.1 * width, 400)
    step = 1e-5 * width
    for place in x:
        ahead, behind = curve(record, at, place + step), curve(record, at, place - step)
        slope = (ahead[0] - behind[0]) / (2.0 * step)
        # differences of second order: third derivatives up to 1e5 / width^3 in the corners
        assert curve(record, at, place)[1] == pytest.approx(slope, abs=2e-5 / width)
        mean = (curve_integral(record, at, place + step) - curve_integral(record, at, place - step)) / (
            2.0 * step
        )
        assert curve(record, at, place)[0] == pytest.approx(mean, abs=1e-6)
    knots = [
        low,
        *record[at + hill_layout.CURVE_HEAD :: hill_layout.SECTION_WIDTH][1 : int(record[at])],
        high,
    ]
    for knot in knots:  # no curvature: differences of slopes shrink with the step
        bends = [
            max(abs(curve(record, at, knot + s * h)[1] - curve(record, at, knot)[1]) / h for s in (-1.0, 1.0))
            for h in (1e-3 * width, 1e-4 * width)
        ]
        assert bends[1] < 0.15 * bends[0] + 1e-5 / width**2


def test_inverse_of_a_sum_with_the_curve():
    record = Millard(**MUSCLE).record
    at = int(record[hill_layout.VELOCITY_CURVE])
    for wanted in np.linspace(-1.5, 1.5, 61):
        factor, slope = curve(record, at, wanted)
        for damping, isometric in ((0.1, 0.7), (0.1, 0.0), (0.01, 0.05)):
            x, y, dy = invert_sum(record, at, damping, isometric, damping * wanted + isometric * factor)
            assert x == pytest.approx(wanted, abs=1e-12)
            assert y == pytest.approx(factor, abs=1e-12) and dy == pytest.approx(slope, abs=1e-10)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_equilibrium_is_one(law):
    rng = np.random.default_rng(0)
    for _ in range(50):
        activation, length = rng.uniform(0.0, 1.0), rng.uniform(0.15, 0.5)
        states = law.initial_states(length, activation)
        if len(states) < 2:
            assert states == [max(activation, 0.01)]
            continue
        rate = law.state_rates(length, 0.0, activation, states)[1]
        at_least = states[1] <= law.record[hill_layout.MIN_FIBRE]
        stretch = length - MUSCLE["tendon_slack_length"] * (1.0 + 5.0 * 0.049)
        # a path too short leaves the tendon slack, and one too long is held by what the fibre passively bears
        assert abs(rate) < 1e-9 or at_least or stretch > 0.2


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_derivatives(law):
    """Central differences of every argument; steps where third derivatives of the curves' corners stay harmless."""
    count = len(law.state_names)
    steps = np.array([1e-7, 1e-6, 1e-6, 1e-6, 1e-7])
    for length, speed, excitation, states in samples(law):
        arguments = np.array([length, speed, excitation, *states, 0.0, 0.0])[:5]

        def rates(values):
            held = list(values[3 : 3 + count])
            found = law.state_rates(values[0], values[1], values[2], held)
            return np.array([law.force(values[0], values[1], values[2], held), *found, 0.0, 0.0])[:3]

        force, by_force = muscle_force_tangent(law.record, 0, *arguments)
        first, second, by_first, by_second = muscle_rates_tangent(law.record, 0, *arguments)
        # the same formulas in two kernels, whose round-off is not the same
        assert np.allclose([force, first, second], rates(arguments), rtol=1e-12, atol=1e-12)
        for k in range(3 + count):
            step = np.zeros(5)
            step[k] = steps[k]
            slopes = (rates(arguments + step) - rates(arguments - step)) / (2.0 * steps[k])
            exact = [by_force[k], by_first[k], by_second[k]]
            assert np.allclose(exact, slopes, rtol=2e-5, atol=1e-6 * MUSCLE["max_isometric_force"])


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_power_is_balanced(law):
    """Energies change by what the skeleton gives along the path and the active element gives, less the damper's."""
    step = 1e-8
    for length, speed, excitation, states in samples(law):
        force = law.force(length, speed, excitation, states)
        rates = law.state_rates(length, speed, excitation, states)
        tendon, passive, power, loss = law.energies(length, speed, excitation, states)
        assert loss >= 0.0 and tendon >= 0.0 and passive >= 0.0
        ahead, behind = (
            sum(law.energies(length + s * speed, speed, excitation, states + s * rates)[:2])
            for s in (step, -step)
        )
        watts = MUSCLE["max_isometric_force"]  # at 1 m/s
        given = force * speed + power - loss
        assert (ahead - behind) / (2.0 * step) == pytest.approx(given, rel=1e-6, abs=1e-5 * watts)


def test_fibres_never_push_on_a_rigid_tendon_and_rest_when_it_is_slack():
    law = Millard(**MUSCLE, pennation=0.3, rigid_tendon=True)
    for length in np.linspace(0.1, 0.5, 30):
        for speed in (-5.0, -1.0, 0.0, 1.0):
            assert law.force(length, speed, 0.0, [0.01]) >= 0.0
    assert law.energies(0.15, -1.0, 0.0, [0.5])[2] == 0.0


def test_activation_follows_the_excitation_between_0_and_1():
    law = Thelen(**MUSCLE)
    fibre = 0.1
    for excitation in (-1.0, 0.0, 0.5, 1.0, 2.0):
        at_least = law.state_rates(0.3, 0.0, excitation, [0.0, fibre])[0]
        at_most = law.state_rates(0.3, 0.0, excitation, [1.0, fibre])[0]
        assert at_least >= 0.0 >= at_most


@pytest.mark.parametrize(
    ("excitation", "activation", "rate"),
    [(0.0, 0.01, -0.103), (0.0, 0.3, -5.7), (0.005, 0.05, -0.5175), (0.5, 0.05, 52.173913043478265)]
    + [(0.5, 0.9, -14.8), (1.0, 0.9, 3.6036036036036028), (0.0, 0.9, -33.3)],
)
def test_activation_decays_to_the_excitation(excitation, activation, rate):
    """OpenSim 4.6: Model.getStateVariableDerivativeValue of a Thelen2003Muscle, whose least activation is 0.01."""
    found = Thelen(**MUSCLE).state_rates(0.3, 0.0, excitation, [activation, 0.1])[0]
    assert found == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "length", "excitation", "states", "theirs"),
    [
        ({}, 0.3, 0.7, [0.3, 0.09], [1354.55022633542, 27.307016, 12.790892953168704]),
        ({}, 0.3, 0.2, [0.6, 0.098], [122.25252212540994, -5.839416, -0.258032182621752]),
        ({"pennation": 0.3, "damping": 0.017}, 0.31, 0.5, [0.5, 0.12], [0.0, 0.0, -0.7911145910406348]),
    ],
)
def test_schutte_is_as_in_opensim(options, length, excitation, states, theirs):
    """OpenSim 4.6: getActuation and getStateVariableDerivativeValue of a Schutte1993Muscle_Deprecated."""
    law = Schutte(**MUSCLE, **options)
    found = [law.force(length, 0.0, excitation, states), *law.state_rates(length, 0.0, excitation, states)]
    assert found == pytest.approx(theirs, rel=1e-11)  # of a tendon's stretch, to round-off of its length


def test_schuttes_fibre_does_not_push():
    speed = np.array([-3.0, -1.0 - 1e-12, -1.0, -0.5, 0.0, 2.0])
    factor, slope = Schutte(**MUSCLE).curve("velocity", speed)
    assert (factor >= 0.0).all() and factor[:2].tolist() == slope[:2].tolist() == [0.0, 0.0]
    assert factor[4] == 1.0 and (np.diff(factor[2:]) > 0.0).all()


def test_a_plain_tension_has_no_states():
    law = Tension(50.0)
    assert law.state_names == () and law.initial_states(0.3).shape == (0,)
    assert law.force(0.3, 0.0, 0.5) == 25.0 and law.force(0.3, 0.0, -1.0) == 0.0
    assert law.energies(0.3, -0.2, 0.5) == (0.0, 0.0, 5.0, 0.0)
    with pytest.raises(ph.ModelError, match=r"excitation is 2: .* tension is 1"):
        law.force(0.3, 0.0, 2.0)


@pytest.mark.parametrize("law", [*LAWS, Tension(3.0)])
def test_descriptions_come_back(law):
    copy = law_from_dict(json.loads(json.dumps(law.to_dict())))
    assert copy == law and hash(copy) == hash(law) and np.array_equal(copy.record, law.record)
    assert pickle.loads(pickle.dumps(law)) == law


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_records_may_lie_anywhere(law):
    from physics.kernels.muscles.hill import muscle_force_and_rates

    data = np.concatenate([np.full(7, np.nan), law.record, np.full(3, np.nan)])
    arguments = (0.31, -0.1, 0.4, 0.3, 0.09)
    assert muscle_force_and_rates(data, 7, *arguments) == muscle_force_and_rates(law.record, 0, *arguments)


@pytest.mark.parametrize(
    ("kind", "wrong", "told"),
    [
        (Millard, {"optimal_fibre_length": 0.0}, "optimal_fibre_length must be positive"),
        (Millard, {"pennation": 1.5}, "pennation must be below"),
        (Millard, {"minimum_activation": 1.5}, "minimum_activation must be at most 1"),
        (Millard, {"tendon_stiffness": 1.0}, "tendon curve"),
        (Millard, {"active_low": 0.9}, "active curve"),
        (Millard, {"passive_strain_one": 0.0}, "passive_strain_one > passive_strain_zero.*, got 0 and 0"),
        (Millard, {"passive_strain_one": -0.1}, "passive_strain_one > passive_strain_zero.*, got -0.1 and 0"),
        (Millard, {"passive_stiffness": 1.0}, "from strain 0 to 0.7 needs stiffness > 1.42857"),
        (Millard, {"eccentric_force": 0.9}, "force-velocity"),
        (Millard, {"rigid_tendon": 1}, "rigid_tendon"),
        (Thelen, {"eccentric_force": 1.0}, "eccentric_force must be above 1"),
        (Thelen, {"tendon_strain": np.nan}, "tendon_strain must be finite"),
        (Thelen, {"minimum_activation": 0.0}, "minimum_activation must be positive"),
        (Schutte, {"active_curve": TangentAngle(1.0, 2.0)}, "a curve of a muscle .*no closed form"),
        (Tension, {"max_force": -1.0}, "max_force must not be negative"),
    ],
)
def test_bad_numbers(kind, wrong, told):
    with pytest.raises(ph.ModelError, match=told):
        kind(**({} if kind is Tension else MUSCLE) | wrong)


def test_bad_descriptions():
    for bad in ({"type": "spring"}, {}, None, Tension(1.0).to_dict() | {"colour": 1}, {"type": "tension"}):
        with pytest.raises(ph.FormatError):
            law_from_dict(bad)


@pytest.mark.parametrize("law_of", [Millard, Thelen])
def test_states_at_the_end_of_large_implicit_steps_are_found(law_of: Any) -> None:
    """Newton's steps alone do not get there in one of twenty cases of Millard's muscle."""
    law = law_of(max_isometric_force=1000.0, optimal_fibre_length=0.1, tendon_slack_length=0.2)
    rng = np.random.default_rng(0)
    for _ in range(300):
        length, excitation, step = 0.3 + rng.uniform(-0.05, 0.06), rng.uniform(), 10.0 ** rng.uniform(-4, 0)
        states = (rng.uniform(0.01, 1.0), rng.uniform(0.05, 0.16))
        ends = states_at_end(law.record, 0, length, 0.0, excitation, states, (step, step))
        rates = muscle_rates_tangent(law.record, 0, length, 0.0, excitation, *ends)[:2]
        # rates of some ten fibre lengths a second, times a step of up to a second
        assert np.allclose(np.array(ends) - states, step * np.array(rates), atol=1e-11)
    # no end between bounds beyond it
    assert math.isnan(bracketed(law.record, 0, (0.3, 0.0, 0.5), (0.5, 0.1), 1e-3, 1, 0.15, 0.2, 0.5))
