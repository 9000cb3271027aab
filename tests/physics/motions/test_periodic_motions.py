"""Given motions that go on as they began, and such as leap."""

import numpy as np
import pytest
import scipy.interpolate

import physics as ph
from tests.physics.motions.test_motions import chain


@pytest.mark.parametrize("rise", (0.0, 2.0 * np.pi))
def test_a_periodic_motion_goes_on_as_it_began(rise):
    """Its spline is that through the samples of many periods, of which the ends are far."""
    times = np.linspace(0.0, 1.0, 9)

    def values(t):
        return 0.6 * np.sin(2.0 * np.pi * t + 0.7) + rise * t

    many = np.linspace(-10.0, 10.0, 161)
    spline = scipy.interpolate.CubicSpline(many, values(many))
    model = chain(2)
    motion = ph.Motion(times, values(times), interpolation="periodic")
    result = ph.simulate(
        model, model.state(), 1.0, dt=2.5e-4, integrator="rk4", motions={"link0": motion}, record_interval=1.0
    )
    # what happens at a spline's end fades by 2 + sqrt(3) a sample
    np.testing.assert_allclose(result.q[:, 0], values(times)[[0, -1]], atol=1e-12)
    np.testing.assert_allclose(result.qd[:, 0], spline(times[[0, -1]], 1), atol=1e-9)
    rows = motion.pieces(0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(2.0 * rows[1, 4], spline(0.0, 2), atol=1e-8)


def test_a_motion_that_leaps_is_still_before_and_after():
    """A spline through all of its samples swings around the leap."""
    times = np.array([0.0, 1.0, 2.0, 2.75, 3.0, 4.0, 5.0])
    values = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5])
    model = chain(2)
    asked = {"record_interval": 0.05, "dt": 5e-3}
    through = ph.simulate(model, model.state(), 5.0, motions={"link0": ph.Motion(times, values)}, **asked)
    motion = ph.Motion(times, values, leaps=[3.0])
    assert ph.Motion(**motion.to_dict()).leaps.tolist() == [3.0]
    leaping = ph.simulate(model, model.state(), 5.0, motions={"link0": motion}, **asked)
    still = (leaping.t < 2.75) | (leaping.t > 3.0 - 1e-9)
    wanted = np.where(leaping.t < 2.9, 0.0, 0.5)
    assert np.abs(leaping.q[still, 0] - wanted[still]).max() < 1e-12
    assert np.abs(through.q[still, 0] - wanted[still]).max() > 0.05
    between = leaping.q[~still, 0]
    assert len(between) > 2 and (np.diff(between) > 0.0).all()
    assert np.abs(leaping.qd[still, 0]).max() < 1e-9


def test_what_moves_on_both_sides_of_a_leap_moves_into_it_and_out_of_it():
    times = np.linspace(0.0, 2.0, 9)
    values = np.where(times < 1.0, times, 3.0 - times)
    rows = ph.Motion(times, values, leaps=[1.0]).pieces(0, 0.0, 0.0, 0.0)
    pieces = [np.polynomial.Polynomial(row[2:8]) for row in rows[1:-1]]
    for k, width in enumerate(np.diff(times)):
        slopes = pieces[k].deriv()(np.array([0.0, width]))
        wanted = [1.0 if times[k] < 1.0 else -1.0, 1.0 if times[k + 1] < 1.0 else -1.0]
        np.testing.assert_allclose(slopes, wanted, atol=1e-12)
        np.testing.assert_allclose(pieces[k](np.array([0.0, width])), values[k : k + 2], atol=1e-12)


@pytest.mark.parametrize(
    "integrator", ["symplectic_euler", "forward_euler", "rk4", "bdf1", "sdirk2", "DOP853", "event_driven"]
)
@pytest.mark.parametrize("begin", [0.2, 0.2011])  # where a step ends, and within one
def test_what_hangs_on_a_joint_that_rests_until_its_motion_begins_feels_the_beginning(integrator, begin):
    """It did so only where the motion began within a step of a fixed length: 2 rad/s more or less by chance."""
    model = chain(2)
    motion = ph.Motion([begin, begin + 0.3], [0.3, 0.9], interpolation="linear")
    start = model.state({"link0": 0.3, "link1": 0.2})
    moved = ph.simulate(model, start, 0.25, 5e-4, integrator, motions={"link0": motion})
    rested = ph.simulate(model, start, 0.25, 5e-4, integrator, motions={"link0": ph.Motion([0.0], [0.3])})
    k = int(np.searchsorted(moved.t, begin)) + 2
    kick = moved.qd[k, 1] - rested.qd[k, 1]
    mass = ph.mass_matrix(model, model.state(rested.q[k]))
    # the other link's momentum about its hinge stays; some 50 rad/s^2 act for up to three steps
    assert kick == pytest.approx(-2.0 * mass[1, 0] / mass[1, 1], abs=0.1)


def test_a_table_with_a_corner_in_every_step_leads_as_a_smooth_motion_does():
    """What its corners bring is what accelerates there, and what the next step foresees."""
    builder, parent = ph.ModelBuilder(), "base"
    builder.add_body("base", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=0.01 * np.eye(3))
    for name in ("upper", "middle", "lower"):
        place = np.eye(4)
        place[2, 3] = 0.0 if parent == "base" else -0.3
        link = {"joint": ph.joints.Hinge((0, 1, 0)), "mass": 1.0, "inertia": np.diag([0.0075, 0.0075, 0.001])}
        parent = builder.add_body(name, parent, joint_in_parent=place, com=(0, 0, -0.15), **link)
    model = builder.build()
    start = model.state({"upper": 1.0, "middle": 0.5, "lower": -0.4})
    times = np.linspace(0.0, 3.0, 3001)
    shaken = 0.02 * np.sin(3.0 * times)
    smooth = ph.Motion(times[::20], shaken[::20])
    corners = ph.Motion(times, shaken, interpolation="linear")
    runs = [
        ph.simulate(model, start, 3.0, 1e-3, motions={"base": motion}, record_interval=0.1)
        for motion in (smooth, corners)
    ]
    # accelerations in steps for smooth ones: half a step of them, as far as the motion has grown it by then
    assert np.abs(runs[0].q - runs[1].q).max() < 2e-3
    assert np.abs(runs[0].energy - runs[1].energy)[:, 2].max() < 2e-3
