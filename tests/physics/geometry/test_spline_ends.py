"""Ends of cubics through few samples of a swing: as good as what lies between, where nothing speaks against it."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import physics as ph
from physics.geometry.spline_ends import cubic_spline
from tests.physics.constraints.mechanisms import bar


def swing(times, phases):
    return np.sin(times[:, None] + phases)


def errors(made, times, phases):
    """The worst of the slopes at the first and the last time."""
    ends = times[[0, -1]]
    return np.abs(made(ends, 1) - np.cos(ends[:, None] + phases)).max()


@pytest.mark.parametrize("even", [True, False])
def test_slopes_at_ends_are_of_sixth_order(even):
    """They were of third order: 2.6 % off at twelve samples a swing, which threw what hung on a captured joint."""
    phases, found = np.linspace(0.0, 2.0 * np.pi, 9), []
    for count in (12, 24, 48):
        places = np.arange(2 * count + 1.0)
        times = 2.0 * np.pi / count * (places if even else places + 0.2 * np.sin(3.0 * places))
        values = swing(times, phases)
        found.append(errors(cubic_spline(times, values), times, phases))
    assert found[0] < 4e-3 * (1.0 if even else 3.0)
    # to the order but for a phase whose terms do not become smaller all the way
    assert np.log2(found[0] / found[1]) > 5.0 and np.log2(found[1] / found[2]) > 5.0


@pytest.mark.parametrize("noise", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("count", [8, 12, 24])
def test_noise_does_not_get_into_slopes_by_the_higher_differences(noise, count):
    """With all seven values, whatever they are, it would be 1.8 times as much."""
    times, phases = 2.0 * np.pi / count * np.arange(30.0), np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    values = swing(times, phases) + noise * np.random.default_rng(3).normal(size=(30, 400))
    wanted = np.cos(times[[0, -1]][:, None] + phases)
    rms = [
        np.sqrt(np.mean((made(times, values)(times[[0, -1]], 1) - wanted) ** 2))
        for made in (cubic_spline, CubicSpline)
    ]
    assert rms[0] < 1.15 * rms[1]


def test_a_corner_next_to_an_end_stays_what_it_was():
    """Higher differences would let what stands still there begin faster than it ever goes."""
    times = np.arange(12.0)
    values = np.maximum(times - 2.0, 0.0)[:, None]
    assert cubic_spline(times, values)(0.0, 1) == pytest.approx(CubicSpline(times, values)(0.0, 1), abs=1e-14)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_polynomials_are_followed_to_round_off(count):
    times = np.cumsum(1.0 + 0.3 * np.cos(np.arange(count)))
    powers = np.arange(min(count, 4))
    values = times[:, None] ** powers
    at = np.linspace(times[0], times[-1], 50)
    assert np.allclose(cubic_spline(times, values)(at), at[:, None] ** powers, rtol=1e-12)


def test_a_slope_that_is_known_is_taken():
    times = np.linspace(0.0, 1.0, 7)
    made = cubic_spline(times, swing(times, np.array([0.0, 1.0])), np.array([0.3, -2.0]))
    assert np.allclose(made(0.0, 1), [0.3, -2.0], rtol=1e-14)


def test_a_motion_begins_with_the_slope_that_is_known():
    """Whatever its values say of it; of what leaps, up to the first leap."""
    builder = ph.ModelBuilder()
    bar(builder, "link", None, 0.2, 0.0, mass=0.3)
    model, times = builder.build(), np.linspace(0.0, 0.5, 6)
    for count, leaps in ((6, ()), (3, ()), (6, times[[4]])):
        motion = ph.Motion(times[:count], np.sin(3.0 * times[:count]), leaps=leaps, first_slope=2.5)
        motion = ph.Motion(**motion.to_dict())
        result = ph.simulate(model, model.state(), 0.1, motions={"link": motion})
        assert result.qd[0, 0] == pytest.approx(2.5, abs=1e-12)
