"""Forces from functions of time and of the state."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.small_models import alone, row


def pendulum():
    bar = {"com": (0.25, 0.0, 0.0), "inertia": np.diag([1e-3, 1.0 / 48.0, 1.0 / 48.0])}
    return alone("arm", ph.joints.Hinge(), gravity=(0.0, -9.81, 0.0), **bar).build()


def test_functions_of_time_keep_the_order_of_the_method():
    """The middle of a step is asked for, too: RK4 with a wave is as near to a fine run as its order says."""
    model = pendulum()

    def wave(t):
        return [2.0 * np.sin(5.0 * t)]

    every = {"tau": wave, "record_interval": 0.04}
    fine = ph.simulate(model, model.state(), 0.96, integrator="DOP853", rtol=1e-12, atol=1e-13, **every).q
    runs = [ph.simulate(model, model.state(), 0.96, dt, "rk4", **every) for dt in (0.02, 0.01)]
    errors = [np.abs(run.q - fine).max() for run in runs]
    assert errors[0] / errors[1] > 14.0  # 16 of fourth order


def test_a_controller_is_asked_once_a_step_and_holds():
    model = pendulum()
    asked = []

    def controller(t, q, qd):
        asked.append(t)
        return -20.0 * (q - 0.3) - 2.0 * qd

    result = ph.simulate(model, model.state(), 2.0, dt=1e-3, tau=controller)
    assert len(asked) == 2000 and asked[1] == pytest.approx(1e-3)
    # a spring of 20 N m/rad against the weight of the bar
    q = result.q[-1, 0]
    assert abs(-20.0 * (q - 0.3) - 9.81 * 0.25 * np.cos(q)) < 1e-2


def test_controllers_drive_closed_loops_and_adaptive_methods():
    model, state = four_bar()

    def controller(t, q, qd):
        return np.array([30.0 * (1.0 - qd[0]), 0.0, 0.0])

    step = ph.simulate(model, state, 0.5, dt=2e-4, tau=controller, record_interval=0.1)
    smooth = ph.simulate(model, state, 0.5, integrator="DOP853", tau=controller, record_interval=0.1)
    assert np.abs(step.q - smooth.q).max() < 2e-3  # first order of the step


@pytest.mark.parametrize(
    ("tau", "words"),
    [
        (lambda t, q: 0.0, "got 2 arguments"),
        (lambda t: [1.0, 2.0, 3.0], r"tau at t = 0 s must have shape \(1,\), got \(3,\)"),
        (lambda t: [np.nan], "tau at t = 0 s must be finite"),
    ],
)
def test_bad_answers_are_named(tau, words):
    model = pendulum()
    with pytest.raises(ph.ModelError, match=words):
        ph.simulate(model, model.state(), 0.1, tau=tau)


# More inputs than coordinates, and limits of both kinds: what is sized by both must not be taken for coordinates.
MANY_INPUTS = """
import numpy as np
import physics as ph
from physics.contacts import Plane
for restitution in (None, 0.0):
    builder = ph.ModelBuilder()
    builder.add_body("arm", joint=ph.joints.Hinge(axis=(0, 1, 0)), mass=1.0, com=(0.3, 0, 0), inertia=0.02 * np.eye(3),
                     limits=(-1.0, 0.03), limit_restitution=restitution)
    if restitution is not None:
        builder.add_contact("floor", "arm", [(0.6, 0.0, 0.1)], Plane())
    for k in range(5):
        builder.add_input(f"input {k}")
    model = builder.build()
    for integrator in ("symplectic_euler", "forward_euler", "rk4", "sdirk2", "event_driven"):
        if restitution is not None or integrator != "event_driven":
            print(ph.simulate(model, model.state(), 0.1, 1e-2, integrator).q[-1, 0])
"""


def test_inputs_are_no_coordinates():
    """Without a compiler, which would not tell of what is written beyond an array's end."""
    found = subprocess.run(
        [sys.executable, "-c", MANY_INPUTS],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "CONDYLE_JIT": "0"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.split()) == 9


ADAPTIVE = ["RK45", "DOP853", "LSODA", "Radau", "BDF", "event_driven"]


def two_arms():
    builder = ph.ModelBuilder()
    for name in ("fine", "bad"):
        inertial = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": 0.01 * np.eye(3)}
        builder.add_body(name, joint=ph.joints.Hinge((0.0, 1.0, 0.0)), **inertial)
    return builder.build()


@pytest.mark.parametrize("integrator", [*ADAPTIVE, "rk4", "symplectic_euler"])
def test_a_controller_that_fails_in_mid_run_leaves_what_was_computed(integrator):
    model = two_arms()
    with pytest.raises(ph.DivergedError, match=r"tau at t = 0\.2\d* s must be finite") as caught:
        options = {"integrator": integrator, "tau": lambda t, q, qd: [0.0, np.nan if t > 0.2 else 0.0]}
        ph.simulate(model, model.state(), 1.0, **options)
    error = caught.value
    assert error.body == "bad" and 0.1 < error.time < 0.202
    assert error.time - 2e-3 < error.result.t[-1] <= error.time and error.result.qd.any(axis=0).all()


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_a_run_without_a_next_step_says_when_and_in_which_body_and_keeps_its_samples(integrator):
    """Velocity of one of two arms grows beyond all bounds at t = 0.1158 s."""
    model = two_arms()
    with pytest.raises(ph.DivergedError) as caught:
        options = {"integrator": integrator, "rtol": 1e-6}
        ph.simulate(model, model.state(), 1.0, tau=lambda t, q, qd: [0.0, 0.05 * qd[1] ** 2 + 0.5], **options)
    error = caught.value
    assert error.body == "bad" and abs(error.time - 0.1158) < 1e-3
    assert error.time - 2e-3 < error.result.t[-1] <= error.time and np.isfinite(error.result.qd).all()


@pytest.mark.parametrize("integrator", ADAPTIVE)
@pytest.mark.parametrize(
    ("drive", "latest"),
    [
        (lambda t, q, qd: 1e6 * qd, 0.5),
        (lambda t, q, qd: 1e200 * (1.0 + qd), 1e-3),
        (lambda t, q, qd: 1e300 * (1.0 + qd), 1e-3),
    ],
    ids=["grows", "no first step", "no numbers"],
)
def test_methods_that_choose_their_steps_end_where_a_controller_drives_all_away(drive, latest, integrator):
    """What only grows is followed by ever shorter steps: without a largest speed these runs had no end. Before its
    first step a method has no time before to tell a length by: that was a TypeError. The inverse of a step of Radau's
    was not finite: a ValueError of SciPy's.
    """
    model = alone("arm", ph.joints.Hinge((1, 0, 0)), com=(0, 0.2, 0), inertia=0.02 * np.eye(3)).build()
    with pytest.raises(ph.DivergedError, match="'arm'") as caught:
        ph.simulate(model, model.state([0.1], [0.1]), 0.5, 1e-3, integrator, tau=drive)
    result = caught.value.result
    assert caught.value.time < latest and np.isfinite(result.q).all() and len(result.t)


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_a_cancelled_run_keeps_its_samples(integrator):
    model, state = four_bar()
    with pytest.raises(ph.CancelledError) as caught:
        ph.simulate(model, state, 1e3, 1e-2, integrator, progress=lambda fraction: fraction < 1e-3)
    result = caught.value.result
    assert 0.9 < result.t[-1] < 500.0 and np.abs(result.row_forces).max(axis=1).min() > 0.0


@pytest.mark.parametrize("integrator", ["RK45", "DOP853", "LSODA", "Radau", "BDF"])
@pytest.mark.parametrize("width", [0.3, 0.02])
def test_adaptive_methods_see_a_torque_that_begins_late(integrator, width):
    """However long the steps are that a pendulum at rest allows: as a table, as a function, as what leads another."""
    model = alone("bob", ph.joints.Hinge((0, 1, 0)), com=(0, 0, -0.3), inertia=0.01 * np.eye(3)).build()
    times, values = [3.0, 3.001, 3.0 + width, 3.001 + width], [[0.0], [1.5], [1.5], [0.0]]

    def swung(method, tau):
        result = ph.simulate(model, model.state(), 6.0, 1e-3, method, tau=tau, record_interval=0.02)
        return np.abs(result.q).max()

    def pushed(t):
        return [1.5 * float(3.0 < t < 3.0 + width)]

    expected = swung("rk4", ph.Table(times, values))
    assert expected > 0.05 and swung(integrator, ph.Table(times, values)) == pytest.approx(expected, rel=1e-5)
    # a function's corners are met to the tolerance at best
    assert swung(integrator, pushed) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("integrator", ["DOP853", "LSODA"])
def test_adaptive_methods_see_what_another_is_led_through_late(integrator):
    joints, link = [ph.joints.Slider((1, 0, 0)), ph.joints.Hinge((0, 1, 0))], {"inertia": 0.01 * np.eye(3)}
    model = row(["base", "bob"], lambda k: joints[k], (0, 0, 0), com=(0, 0, -0.3), **link).build()
    motion = {"base": ph.Motion([0.0, 2.98, 3.0, 3.1, 3.2, 3.22, 6.0], [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0])}
    rk4, found = (
        ph.simulate(model, model.state(), 6.0, 1e-3, method, motions=motion, record_interval=0.02).q[:, 1]
        for method in ("rk4", integrator)
    )
    assert np.abs(rk4).max() > 0.1 and np.abs(found - rk4).max() < 1e-4


@pytest.mark.parametrize("integrator", ["LSODA", "DOP853", "Radau"])
def test_a_controller_that_no_step_is_short_enough_for_ends_the_run(integrator):
    """It drives away 1e10 times as fast as time can be told apart: LSODA went on in steps of no length for ever."""
    link = {"com": (0.2, 0.0, 0.0), "inertia": 0.01 * np.eye(3)}
    joints = [ph.joints.Hinge((0.0, 1.0, 0.0)), ph.joints.Spherical()]
    model = row(["upper", "lower"], lambda k: joints[k], (0, 0, 0), **link).build()

    def away(t, q, qd):
        return 1e9 * qd if t > 0.1 else np.zeros(4)

    with pytest.raises(ph.DivergedError) as caught:
        ph.simulate(model, model.state([0.3, 0.1, 0.2, 0.3]), 0.5, 1e-3, integrator, tau=away)
    assert caught.value.time == pytest.approx(0.1, abs=1e-3)
    assert len(caught.value.result.t) >= 100
