"""What a run tells of itself, by code and values: told where the motion is doubtful, silent where it is right."""

import warnings

import numpy as np
import pytest

import physics as ph
from physics.analysis.diagnosis import solver_findings
from physics.model.diagnosis import TEXTS
from physics.simulation.between_samples import simulate_between
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.small_models import alone

pytestmark = pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
SWING = 9.81 * (1.0 - np.cos(0.5))  # J: energy of the pendulum's swing


def pendulum():
    return alone("bob", ph.joints.Hinge((0, 1, 0)), com=(0, 0, -1), inertia=1e-3 * np.eye(3)).build()


def spring():
    """A mass on a spring of 100 rad/s."""
    return alone("stone", ph.joints.Slider((1, 0, 0)), stiffness=1e4).build()


def codes(result):
    return [each.code for each in result.diagnosis]


def test_energy_from_nowhere_is_told_and_kept_in_the_file(tmp_path):
    model = pendulum()
    with pytest.warns(ph.SimulationWarning) as told:
        result = ph.simulate(model, model.state([0.5]), 1000.0, 1.0)
    (found,) = result.diagnosis
    assert found.code == "energy-gained" and found.values["gained"] > 1000.0 * SWING
    assert len(told) == 1 and told[0].filename == __file__ and "energy-gained" in str(told[0].message)
    ph.save_result(result, tmp_path / "result.npz")
    assert ph.load_result(tmp_path / "result.npz").diagnosis == result.diagnosis


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "bdf1", "sdirk2", "RK45", "event_driven"])
def test_a_run_that_is_right_is_not_told(integrator):
    model = pendulum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ph.simulate(model, model.state([0.5]), 2.0, 1e-3, integrator)
        ph.simulate_many(model, [model.state([0.5])], 0.1, 1e-3, integrator)
    assert result.diagnosis == () and "diagnosis" not in result.info


def test_all_ways_to_simulate_tell_the_same():
    model, state = pendulum(), pendulum().state([0.5])
    first = ph.simulate(model, state, 1000.0, 1.0)
    with pytest.warns(ph.SimulationWarning) as told:
        (many,) = ph.simulate_many(model, [state], 1000.0, 1.0)
        loop = ph.simulate_loop(model, state, 1000.0, most_cycles=1, dt=1.0)
    assert [each.filename for each in told] == [__file__, __file__]
    between, _ = simulate_between(model, state, 1000.0, 1.0, record_interval=1.0)
    assert many.diagnosis == loop.diagnosis == between.diagnosis == first.diagnosis


def test_a_turn_in_a_step_is_told():
    """A wheel on a spring that turns it back; one that turns evenly is right in any step."""
    results = []
    for stiffness in (0.3, 0.0):
        model = alone("wheel", ph.joints.Hinge(), gravity=(0, 0, 0), stiffness=stiffness).build()
        results.append(ph.simulate(model, model.state([0.0], [1.0]), 10.0, 0.5, "rk4"))
    (found,) = results[0].diagnosis
    assert found.code == "big-turn" and found.values["coordinate"] == "wheel.angle"
    assert found.values["angle"] == pytest.approx(0.5, abs=1e-3)
    assert codes(results[1]) == []


@pytest.mark.parametrize(("dt", "told"), [(1e-3, False), (0.015, True)])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4"])
def test_a_spring_too_stiff_for_the_step_is_told(integrator, dt, told):
    model = spring()
    result = ph.simulate(model, model.state([0.1]), 30 * dt, dt, integrator)
    stiff = [each.values["angle"] for each in result.diagnosis if each.code == "stiff-step"]
    assert bool(stiff) == told == bool(result.diagnosis)
    if told:  # symplectic Euler's own phase is 2 asin(w dt / 2); that of Runge and Kutta is less than w dt
        assert stiff[0] == pytest.approx(1.5 if integrator == "rk4" else 2.0 * np.arcsin(0.75), rel=0.1)


def test_what_hardly_swings_may_be_stiff():
    """A spring at rest, too stiff for the step, beside a swing that is right."""
    model = spring()
    assert codes(ph.simulate(model, model.state([1e-9]), 0.5, 0.015)) == []


def test_energy_that_grows_is_told_where_no_books_are_kept():
    model = pendulum()
    (found,) = ph.simulate(model, model.state([1.5]), 100.0, 1.0, "RK45", rtol=0.3, atol=0.3).diagnosis
    assert found.code == "energy-grows" and found.values["most"] > 1e3
    assert codes(ph.simulate(model, model.state([1.5]), 100.0, 1.0, "RK45")) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5])
def test_velocities_that_constraints_change_are_told(share):
    model, start = four_bar()
    qd = ph.assemble(model, model.state(start.q, [1.0, 0.0, 0.0])).qd.copy()
    qd[0] *= 1.0 + share
    result = ph.simulate(model, model.state(start.q, qd), 0.01)
    found = {each.code: each.values for each in result.diagnosis}
    assert ("velocities-by-constraints" in found) == (share > 0.1)
    if found:
        values = found["velocities-by-constraints"]
        which = list(model.coordinate_names).index(values["coordinate"])
        assert values["before"] == qd[which] and values["after"] == result.qd[0, which]


def test_bodies_that_assembling_moves_are_told():
    model, start = four_bar()
    off = model.state(start.q + [0.2, 0.0, 0.0])
    with pytest.raises(ph.ModelError):
        ph.simulate(model, off, 0.01)
    result = ph.simulate(model, off, 0.01, assemble=True)
    (found,) = result.diagnosis
    assert found.code == "moved-by-constraints" and found.values["distance"] > 0.1
    name, unit, was, now = found.values["changes"][0]
    assert unit == "rad" and abs(now - was) > 1e-3 and name == "angle"
    assert result.q[0].tobytes() == ph.assemble(model, off).q.tobytes()


def test_what_the_solver_could_not_meet_is_told():
    clean = {"residual": 1e-10, "steps_unmet": 0, "overlap": 1e-6, "deepest": "floor", "drift_left": 1e-12}
    assert solver_findings(clean) == []
    bad = {**clean, "residual": 0.1, "steps_unmet": 3, "overlap": 0.02, "drift_left": 1e-5}
    assert [tuple(each) for each in solver_findings(bad)] == [
        ("contact-overlap", {"contact": "floor", "depth": 0.02}),
        ("contacts-unmet", {"residual": 0.1}),
        ("constraints-unmet", {"steps": 3, "drift": 1e-5}),
    ]


def test_a_run_that_ends_early_has_its_findings():
    model = spring()
    with pytest.raises(ph.DivergedError) as caught:
        ph.simulate(model, model.state([0.1]), 100.0, 0.025)
    assert "energy-gained" in codes(caught.value.result)


def test_a_code_of_a_newer_version_has_a_text():
    assert ph.Finding("unheard-of", {"size": 3}).text == "unheard-of: size 3"
    assert all(code == code.lower() and text for code, text in TEXTS.items())
