"""Calls end soon after an interrupt, and runs that lose their way end by themselves."""

import signal

import numpy as np
import pytest

import physics as ph
from physics import processors
from physics.integrators import march
from tests.fuzz.sweeps import Interrupted, interrupted
from tests.physics.generators import loop_frames, smooth_frames
from tests.physics.small_models import alone


def pendulum() -> ph.Model:
    return alone("arm", ph.joints.Hinge((0, 1, 0)), com=(0, 0, -1)).build()


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarms")
@pytest.mark.parametrize("integrator", ["symplectic_euler", "bdf1", "RK45", "event_driven"])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_runs_of_hours_end_when_they_are_interrupted(integrator, threads):
    model, long = pendulum(), {"duration": 1e6, "dt": 1e-3, "integrator": integrator, "record_interval": 1e3}
    state = model.state([0.5])
    # compiles, which an interrupt would leave half done
    ph.simulate(model, state, 0.01, integrator=integrator)
    with pytest.raises(Interrupted), interrupted(0.3):
        if threads:
            ph.simulate_many(model, [state] * 4, threads=threads, **long)
        else:
            ph.simulate(model, state, **long)


def test_slices_follow_the_clock(monkeypatch):
    """An item takes 1 ms: parts grow until they last SLICE, and shrink where items get slow."""
    clock = [0.0]
    monkeypatch.setattr(processors.time, "perf_counter", lambda: clock[0])
    sizes, done = [], 0
    for part in processors.slices(3000):
        assert part.start == done
        done = part.stop
        sizes.append(part.stop - part.start)
        clock[0] += sizes[-1] * (1e-3 if done < 1500 else 0.05)
    assert done == 3000
    assert sizes[0] == processors.FIRST
    assert max(sizes) == round(processors.SLICE / 1e-3)
    assert sizes[-2] == round(processors.SLICE / 0.05)


@pytest.mark.parametrize("continuous", [False, True])
def test_projections_and_poses_are_the_same_in_any_slices(monkeypatch, continuous):
    rng = np.random.default_rng(5)
    curve = ph.joints.SplineCurve(loop_frames(rng, 9), periodic=True)
    goals, model = smooth_frames(rng, 60), pendulum()

    def found() -> list[np.ndarray]:
        projection = ph.project(curve, goals, continuous=continuous)
        q = np.linspace(0.0, 1.0, 60)[:, None]
        result = ph.Result(model, q[:, 0], q, q)
        return [projection.q, projection.distance, result.poses, result.energy]

    monkeypatch.setattr(processors, "FIRST", 1000)
    whole = found()
    monkeypatch.setattr(processors, "FIRST", 1)
    monkeypatch.setattr(processors, "GROWTH", 2)
    monkeypatch.setattr(processors, "SLICE", 1e-9)
    for one, other in zip(whole, found(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("integrator", ["RK45", "Radau"])
def test_an_adaptive_method_has_a_budget_of_evaluations(monkeypatch, integrator):
    monkeypatch.setattr(march, "MOST_EVALUATIONS", 50)
    model = pendulum()
    with pytest.raises(ph.DivergedError, match="evaluations") as caught:
        ph.simulate(model, model.state([0.5]), 100.0, 0.01, integrator)
    assert 0.0 < caught.value.time < 100.0
    assert np.isfinite(caught.value.result.q).all()
