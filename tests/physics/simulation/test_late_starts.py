"""Steps are counted: a late start changes no bit of what does not depend on time, and is refused for what does."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from tests.physics.small_models import alone

METHODS = ("symplectic_euler", "rk4", "sdirk2", "RK45", "event_driven")


def ball_and_arm(contact=True):
    builder = ph.ModelBuilder()
    body = {"mass": 1.0, "com": (0, 0, -0.3), "inertia": 0.02 * np.eye(3)}
    builder.add_body("arm", joint=ph.joints.Hinge((0, 1, 0)), **body)
    builder.add_body("ball", joint=ph.joints.Translational(), mass=1.0, inertia=np.eye(3))
    if contact:
        builder.add_contact("floor", "ball", [(0, 0, 0)], Plane(), restitution=0.5)
    return builder.build()


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("start", [1e10, -1e12])
def test_a_late_start_changes_no_bit(integrator, start):
    model = ball_and_arm(contact=integrator != "RK45")
    q, options = [0.5, 0.0, 0.0, 0.1], {"dt": 1e-3, "integrator": integrator, "record_interval": 1 / 24}
    early = ph.simulate(model, model.state(q), 0.5, **options)
    with pytest.warns(ph.SimulationWarning) if abs(start) > 1e11 else np.errstate():
        late = ph.simulate(model, model.state(q, time=start), 0.5, **options)
    for name in ("q", "qd", "energy"):
        assert getattr(late, name).tobytes() == getattr(early, name).tobytes(), name
    assert late.t.tolist() == (early.t + start).tolist()
    assert [each.code for each in late.diagnosis] == (["late-start"] if abs(start) > 1e11 else [])


def test_where_a_late_run_ends_early_is_told_in_its_own_time():
    model = alone("mass", ph.joints.Slider(), stiffness=1e9).build()
    caught = []
    for start in (0.0, 1e6):
        with pytest.raises(ph.DivergedError) as error:
            ph.simulate(model, model.state([1.0], time=start), 2.0, 1e-2, "forward_euler")
        caught.append(error.value)
    assert caught[1].time == caught[0].time + 1e6 and caught[1].reason == caught[0].reason
    assert caught[1].result.t.tolist() == (caught[0].result.t + 1e6).tolist()


@pytest.mark.parametrize("given", ["tau", "motions", "function"])
def test_tables_are_refused_where_steps_drown_in_round_off(given):
    """At 1e10 s numbers are 1.9 microseconds apart: a step of 1 ms has 524 of these, one of 0.1 ms has 52."""
    model = ball_and_arm()
    times = 1e10 + np.linspace(0.0, 1.0, 5)
    options = {
        "tau": {"tau": ph.Table(times, np.zeros((5, 4)))},
        "motions": {"motions": {"arm": ph.Motion(times, 0.1 * np.arange(5.0))}},
        "function": {"tau": lambda t: np.zeros(4)},
    }[given]
    q = 0.0 if given == "motions" else 0.5
    state = model.state([q, 0.0, 0.0, 1.0], time=1e10)
    ph.simulate(model, state, 0.01, 1e-3, **options)
    with pytest.raises(ph.ModelError, match=r"1e\+10 s.*steps of 0.0001 s"):
        ph.simulate(model, state, 0.01, 1e-4, **options)
