"""When the cycles of a loop have settled."""

import numpy as np
import pytest

import physics as ph
from physics.integrators import check_method
from tests.physics.motions.test_pull import driven, pendulum
from tests.physics.small_models import alone


@pytest.mark.parametrize("tolerance", (1e-3, 1e-5))
def test_a_loop_settles_with_its_speed(tolerance):
    """It swings about its periodic motion: at times it is in its place, but not with its speed."""
    model = pendulum()
    options = {"tau": driven, "record_interval": 0.05}
    result = ph.simulate_loop(model, model.state(), 1.0, most_cycles=60, tolerance=tolerance, **options)
    told = result.info["loop"]
    assert told["settled"] and told["angle_jump"] <= tolerance and told["cycles"] < 60
    assert told["turn_speed_jump"] <= 2.0 * np.pi * tolerance
    settled = ph.simulate(model, model.state(), 101.0, **options)
    # what is left in a cycle falls by a factor of 0.75 in each
    assert np.abs(settled.q[-21:] - result.q).max() < 4.0 * tolerance


def thrown():
    """A stone that is thrown up and lands where it began after a second."""
    model = alone("stone", ph.joints.Slider((0.0, 0.0, 1.0))).build()
    return model, model.state(qd=[0.5 * 9.81])


def test_what_comes_back_with_another_speed_is_the_cycle_that_closes():
    """It falls on and on in the cycles that come after it, which are given up soon."""
    model, state = thrown()
    done = []
    result = ph.simulate_loop(
        model, state, 1.0, tolerance=0.02, progress=lambda share: done.append(share) is None
    )
    told = result.info["loop"]
    assert told["settled"] and told["cycles"] == 1
    assert told["speed_jump"] == pytest.approx(9.81, rel=1e-3)
    assert result.q[0, 0] == 0.0 and np.array_equal(result.q, ph.simulate(model, state, 1.0).q)
    assert max(share for share in done if share < 0.99) <= 6 / 20  # that cycle and five more


def test_what_goes_wrong_later_does_not_lose_a_loop():
    model, state = thrown()

    def ends_below(t, q, qd):
        if q[0] < -3.0:
            raise ph.JointRangeError("too far down")
        return np.zeros(1)

    told = ph.simulate_loop(model, state, 1.0, tolerance=0.02, tau=ends_below).info["loop"]
    assert told["settled"] and told["cycles"] == 1
    with pytest.raises(ph.DivergedError, match="too far down"):
        ph.simulate_loop(model, state, 2.0, tolerance=0.02, tau=ends_below)


def test_a_motion_that_is_caught_later_does_not_begin_a_loop():
    """Cycles begin where the last one ended, but for what is held on a motion where they begin."""
    model, times = pendulum(), np.linspace(0.0, 1.0, 21)
    motion = ph.Motion(times, 0.3 + 0.2 * np.sin(2.0 * np.pi * times), windows=[(0.3, 0.8)])
    name = model.bodies[0].name
    result = ph.simulate_loop(
        model, model.state(), 1.0, tolerance=1e-4, motions={name: motion}, record_interval=0.05
    )
    assert result.info["loop"]["settled"] and result.info["loop"]["cycles"] <= 4
    assert abs(result.q[0, 0]) > 0.01  # where it was let fall to, not where the run began


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4"])
def test_the_forces_of_a_loop_s_first_sample_are_those_of_its_last(integrator):
    model, times = pendulum(), np.linspace(0.0, 1.0, 25)
    motion = ph.Motion(times, 0.5 * np.cos(2.0 * np.pi * times), interpolation="periodic")
    options = {"integrator": integrator, "record_interval": 1.0 / 24.0}
    options["motions"] = {model.bodies[0].name: motion}
    result = ph.simulate_loop(model, model.state(q=[0.5]), 1.0, **options)
    assert result.info["loop"]["settled"] and np.abs(result.efforts).max() > 1.0
    np.testing.assert_array_equal(result.efforts[0], result.efforts[-1])


def bead_on_segments(rise):
    builder = alone("bead", ph.joints.Translational(), gravity=(0, 0, 0), inertia=0.01 * np.eye(3))
    corners = [(-3.0, 0.0), (0.0, 0.0), (3.0, rise)]
    builder.add_constraint("track", ph.constraints.SegmentedPlanarConnector("bead", segments=corners))
    return builder.build()


@pytest.mark.parametrize(
    ("duration", "options", "words"),
    [
        (-1.0, {}, "duration must be positive, got -1"),
        ("long", {}, "duration must be numbers, got 'long'"),
        (1.0, {"most_cycles": -3}, "most_cycles must be at least 1, got -3"),
        (1.0, {"motions": [1]}, "motions must be"),
        (1.0, {"motions": {"nobody": ph.Motion([0.0], [0.0])}}, "motions: no coordinate or body is named 'nobody'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_loop_is_named(duration, options, words):
    model, state = thrown()
    with pytest.raises(ph.ModelError, match=words):
        ph.simulate_loop(model, state, duration, **options)


@pytest.mark.parametrize("integrator", ["DOP853", "Radau", "LSODA", "event_driven"])
def test_methods_without_steps_refuse_corners(integrator):
    model = bead_on_segments(1.5)
    with pytest.raises(ph.errors.ModelError, match="corners of constraint 'track'"):
        ph.simulate(model, model.state(q=[-0.5, 0, 0]), dt=1e-3, duration=0.1, integrator=integrator)
    with pytest.raises(ph.errors.ModelError, match="corners of constraint 'track'"):
        check_method(model, integrator)


@pytest.mark.parametrize("rise", [1.5, -1.5])
@pytest.mark.parametrize("start", [-0.5003, -0.5001, -0.50077, -0.5005])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4", "sdirk2"])
def test_a_corner_of_segments_makes_no_energy(integrator, start, rise):
    """A corner takes the velocity across the new segment; what brings the place back onto it is no force of a step."""
    model = bead_on_segments(rise)
    result = ph.simulate(
        model, model.state(q=[start, 0, 0], qd=[1, 0, 0]), dt=1e-3, duration=1.0, integrator=integrator
    )
    assert result.qd[-1] @ result.qd[-1] == pytest.approx(1.0 / 1.25, rel=1e-9)  # cos^2 of the angle
