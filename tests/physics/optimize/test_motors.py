"""Motors of ball joints in searches: they give what generalized forces would, and hold against gravity."""

import numpy as np
import pytest

import physics as ph
from physics.optimize.motors import driven, motors, with_motors

NAMES = [f"motor {axis}" for axis in "xyz"]


def arm(motor=True):
    """A ball that hangs on a hinge, with a motor about each axis of the hinge's body."""
    builder = ph.ModelBuilder()
    builder.add_body("arm", joint=ph.joints.Hinge((0.0, 1.0, 0.0)), mass=1.0, inertia=0.02 * np.eye(3))
    place = np.eye(4)
    place[2, 3] = -0.3
    ball = {"mass": 0.5, "inertia": np.diag((0.01, 0.012, 0.015)), "com": (0.02, 0.1, -0.2)}
    builder.add_body("ball", "arm", joint=ph.joints.Spherical(), joint_in_parent=place, **ball)
    builder.add_input("wind")
    builder.add_force("wind", "ball", (1.0, 0.0, 0.0), "wind")
    for name, axis in zip(NAMES, np.eye(3)) if motor else ():
        builder.add_input(name)
        builder.add_wrench(name, "ball", axis, (0.0, 0.0, 0.0), name, axes="other", other="arm")
    return builder.build()


def test_they_give_what_generalized_forces_would():
    model, tau = arm(), np.array([0.0, 0.3, -0.2, 0.5])
    assert motors(model) == dict.fromkeys(NAMES, "ball")
    assert driven(model, NAMES[:1]) == {"ball.r_x", "ball.r_y", "ball.r_z"}
    state = model.state(q=(0.4, 1.0, -2.0, 1.2), qd=(0.5, 1.0, -2.0, 0.7))
    found = with_motors(model, state, tau, NAMES)
    assert found[:4].tolist() == tau.tolist() and found[4] == 0.0
    by_motors = ph.forward_dynamics(model, state, np.append(np.zeros(5), found[5:]))
    np.testing.assert_allclose(by_motors, ph.forward_dynamics(model, state, tau), rtol=1e-10)


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
def test_motors_that_rest_change_nothing(integrator):
    start = {"q": (0.4, 1.0, -2.0, 1.2), "qd": (0.5, 1.0, -2.0, 0.7)}
    runs = [ph.simulate(m, m.state(**start), 0.2, 1e-3, integrator) for m in (arm(), arm(motor=False))]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()


def test_a_search_begins_with_motors_that_hold():
    """Beside the hinge's torque: without a gradient the model rests."""
    model = arm()
    state = model.state(q=(0.4, 1.0, -2.0, 1.2))
    wanted = [ph.Parameter("torque", "arm.angle"), *(ph.Parameter("input", name) for name in NAMES)]
    task = {"integrator": "sdirk2", "objective": ph.objectives.Rest(), "most_gradients": 1}
    found = ph.optimize(model, state, 0.1, 0.01, parameters=wanted, **task)
    assert found.value < 1e-20 and all(abs(found.parameters[each]) > 1e-3 for each in wanted)


def test_the_nearest_motion_by_motors():
    model, times = arm(), np.linspace(0.0, 0.6, 25)
    q = np.outer(np.sin(3.0 * times), (0.2, 0.5, -0.3, 0.4))
    task = {"torques": ["arm.angle", *NAMES], "inputs": ph.Table(times[::4], np.zeros((7, 4)))}
    found = ph.nearest_motion(model, times, q, 0.025, strength=10.0, **task)
    assert found.distance < 2e-3 and found.saturated == ()  # m: straight lines between seven knots
    assert list(found.budgets) == task["torques"]
    with pytest.raises(ph.ModelError, match=r"torques: no wrench .* alone follows the input 'wind'"):
        ph.nearest_motion(model, times, q, 0.025, **{**task, "torques": ["wind"]})
