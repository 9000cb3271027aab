"""What a run has gained from nowhere, told behind it: little where steps are short enough, whatever drives it."""

import json

import numpy as np
import pytest

import physics as ph
from physics.muscles import PathPoint, Tension
from tests.physics.small_models import alone, row

FIXED = ("symplectic_euler", "forward_euler", "rk4", "linearly_implicit_euler", "bdf1", "sdirk2")


def arm():
    body = {"com": (0.0, 0.0, -0.25), "inertia": 0.02 * np.eye(3)}
    return row(["upper", "lower"], ph.joints.Hinge((0, 1, 0)), (0, 0, -0.5), **body)


def swing(**options):
    times = np.linspace(0.0, 4.0, 97)
    return ph.Motion(times, 0.8 * np.sin(5.0 * times), **options)


@pytest.mark.parametrize("integrator", FIXED)
def test_what_a_given_motion_puts_in_is_no_gain(integrator):
    model = arm().build()
    result = ph.simulate(model, model.state([0.0, 0.3]), 4.0, 1e-3, integrator, motions={"upper": swing()})
    books = result.info["energy"]
    assert books["most_kinetic"] > 5.0 and books["work"] > 10.0
    # work is counted at steps' ends: forward Euler is 1.2 % off
    assert books["gained"] < 0.02 * books["most_kinetic"]


@pytest.mark.parametrize("integrator", FIXED)
@pytest.mark.parametrize("dt", [1e-3, 7e-4])
@pytest.mark.parametrize("options", [{"interpolation": "linear"}, {"windows": [(0.5, 1.5), (2.0, 3.0)]}])
def test_what_a_motion_changes_at_once_is_no_gain(options, dt, integrator):
    """A catch puts a joint elsewhere, with another speed: that is no work of a step, however short. Whether steps meet
    it or not.
    """
    model = arm().build()
    state, motions = model.state([0.0, 0.3]), {"upper": swing(**options)}
    books = ph.simulate(model, state, 4.0, dt, integrator, motions=motions).info["energy"]
    assert books["most_kinetic"] > 8.0 and books["gained"] < 0.05 * books["most_kinetic"]


def beside_a_muscle(law, **options):
    builder = arm()
    places = {None: (0.06, 0.0, 0.05), "upper": (0.05, 0.0, -0.2), "lower": (0.04, 0.0, -0.3)}
    path = [PathPoint(body, place) for body, place in places.items()]
    builder.add_muscle("flexor", path, law=law, **options)
    return builder


@pytest.mark.parametrize("integrator", FIXED)
def test_what_muscles_put_in_is_no_gain(integrator):
    model = beside_a_muscle(Tension(200.0)).build()
    tau = ph.excite(model, {"flexor": 0.5})
    books = ph.simulate(model, model.state([0.5, 0.3]), 2.0, 1e-3, integrator, tau=tau).info["energy"]
    # more than all energy there is without it; forward Euler's own gain is 8 %
    assert books["work"] > 500.0 and books["gained"] < 0.1 * books["most_kinetic"]


def test_what_the_mass_of_a_cord_gains_is_the_method_s_own_error():
    model = beside_a_muscle(None, mass=0.3, tension=30.0).build()
    gained = []
    for dt in (1e-3, 2e-4):
        books = ph.simulate(model, model.state([0.5, 0.3]), 1.0, dt, "rk4").info["energy"]
        gained.append(books["gained"] / books["most_kinetic"])
    assert gained[0] < 0.2 and gained[1] < 0.1 * gained[0]


@pytest.mark.parametrize("integrator", FIXED)
def test_what_controllers_put_in_is_no_gain(integrator):
    builder = arm()
    builder.add_controller("servo", "upper", stiffness=300.0, damping=10.0, force_limit=60.0)
    model = builder.build()
    times = np.linspace(0.0, 4.0, 97)
    values = np.zeros((97, model.num_coordinates + model.num_inputs))
    values[:, model.num_coordinates] = 0.8 * np.sin(5.0 * times)
    values[:, model.num_coordinates + 1] = 4.0 * np.cos(5.0 * times)
    tau = ph.Table(times, values)
    books = ph.simulate(model, model.state([0.0, 0.3]), 4.0, 1e-3, integrator, tau=tau).info["energy"]
    # forward Euler's own gain is 9 %
    assert books["work"] > 20.0 and books["gained"] < 0.12 * books["most_kinetic"]


def test_with_what_constraints_ask_of_a_target():
    builder = arm()
    builder.add_target("tip", "lower", point=(0.0, 0.0, -0.5))
    model = builder.build()
    start = model.state([0.4, -1.2])
    place = model.targets["tip"].coordinates(ph.body_poses(model, start)[1])
    times = np.linspace(0.0, 2.0, 41)
    tip = place + 0.05 * np.outer(np.sin(6.0 * times), [1.0, 0.0, 0.5])
    for integrator in ("symplectic_euler", "rk4", "sdirk2"):
        books = ph.simulate(model, start, 2.0, 1e-3, integrator, motions={"tip": ph.Motion(times, tip)}).info[
            "energy"
        ]
        assert books["work"] > 0.2
        assert books["gained"] < 0.05 * books["most_kinetic"]


@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
@pytest.mark.parametrize("beside", ["", "motion", "windows", "muscle", "cord", "controller"])
def test_steps_that_are_too_long_are_told_beside_whatever_is_driven(beside):
    """A body on a hard spring, at 1.9 times the step up to which symplectic Euler errs little, and an arm beside it."""
    builder = arm()
    if beside == "muscle":
        builder = beside_a_muscle(Tension(20.0))
    elif beside == "cord":
        builder = beside_a_muscle(None, mass=0.01, tension=2.0)
    elif beside == "controller":
        builder.add_controller("servo", "upper", stiffness=10.0, damping=1.0)
    slider = ph.joints.Slider((0, 0, 1))
    builder.add_body("stone", joint=slider, mass=1.0, inertia=np.eye(3), stiffness=1e4)
    model = builder.build()
    windows = [(0.0, 0.2), (0.7, 0.8)] if beside == "windows" else None
    motions = {"upper": swing(windows=windows)} if beside in {"motion", "windows"} else {}
    state = model.state([0.0, 0.3, 0.1])
    gained = {}
    for dt in (1e-4, 0.0197):
        books = ph.simulate(model, state, 1.0, dt, "symplectic_euler", motions=motions).info["energy"]
        gained[dt] = books["gained"] / books["most_kinetic"]
    assert gained[1e-4] < 0.02
    assert gained[0.0197] > 0.3


@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
def test_steps_that_are_too_long_are_told_between_corners_of_a_motion():
    """Books begin anew at each corner, here every 12 steps: looks that come once in 16 would never find two to compare.
    The spring is let go late, as the first steps of all are all looked at.
    """
    builder, dt = arm(), 0.0197
    slider = ph.joints.Slider((1, 0, 0))
    builder.add_body("stone", joint=slider, mass=1.0, inertia=np.eye(3), stiffness=1e4)
    model, times = builder.build(), 12 * dt * np.arange(20)
    motion = ph.Motion(times, 0.1 * np.sin(2.0 * times), interpolation="linear")
    tau = ph.Table([0.0, 1.0, 1.0 + 2 * dt, 5.0], [[0, 0, 1e3]] * 2 + [[0, 0, 0]] * 2)
    state, motions = model.state([0.0, 0.3, 0.1]), {"upper": motion}
    books = ph.simulate(model, state, 4.0, dt, "symplectic_euler", tau=tau, motions=motions).info["energy"]
    assert books["gained"] > 0.3 * books["most_kinetic"], books


@pytest.mark.parametrize("damping", [1e3, 5e3, 2e4, 1e5, 1e7])
def test_what_grows_beyond_all_numbers_leaves_books_that_can_be_written(damping):
    """A damper far too strong for the step, beside a given motion: it ends with its error, and a record in JSON."""
    body = {"mass": 1.0, "com": (0.0, 0.0, -0.25), "inertia": 0.02 * np.eye(3)}
    builder = alone("upper", ph.joints.Hinge((0, 1, 0)), **body)
    builder.add_body("lower", "upper", joint=ph.joints.Hinge((0, 1, 0)), damping=damping, **body)
    model = builder.build()
    with pytest.raises(ph.DivergedError) as caught:
        ph.simulate(model, model.state([0.0, 0.3]), 4.0, 1e-3, "symplectic_euler", motions={"upper": swing()})
    json.dumps(caught.value.result.info, allow_nan=False, default=str)


def test_no_books_are_kept_of_what_has_no_known_source():
    builder = arm()
    builder.add_force("push", "lower", (1.0, 0.0, 0.0), 1.0, axes="body")
    model = builder.build()
    assert "energy" not in ph.simulate(model, model.state(), 0.1, 1e-3).info


@pytest.mark.parametrize("off", [-1e-5, 0.0, 1e-5])
def test_what_begins_at_rest_on_soft_ground_may_tremble(off):
    """A step of this length is too long for the ground by little: next to what gravity does in one it is nothing."""
    corners = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.2, 0.2) for z in (-0.05, 0.05)])
    builder, mass, stiffness = ph.ModelBuilder(), 4.0, 2e4
    inertia = mass / 12.0 * np.diag([0.17, 0.02, 0.17])
    builder.add_body("stone", joint=ph.joints.Free(), mass=mass, inertia=inertia)
    builder.add_ground("floor", "stone", corners, stiffness=stiffness, damping=1000.0, friction=0.5)
    model = builder.build()
    deep = mass * 9.81 / 4.0 / stiffness
    result = ph.simulate(model, model.state([0.0, 0.0, 0.05 - deep + off, 0.0, 0.0, 0.0]), 1.0, 1e-3)
    assert result.info["energy"]["gained"] < 0.1 * result.info["energy"]["most_kinetic"]
