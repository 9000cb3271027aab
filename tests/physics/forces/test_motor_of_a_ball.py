"""A torque between a body and its parent, given in axes of one of them, through whole turns of a ball joint."""

import numpy as np
import pytest

import physics as ph

SPIN = np.array([0.4, -0.3, 0.8])


def ball(axes):
    """A ball on an arm that swings, with a motor between them."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "arm", joint=ph.joints.Hinge((0.0, 0.0, 1.0)), mass=2.0, inertia=np.diag((0.2, 0.3, 0.4))
    )
    builder.add_body("ball", "arm", joint=ph.joints.Spherical(), mass=1.0, inertia=np.diag((0.1, 0.12, 0.15)))
    builder.add_input("motor", 0.5)
    builder.add_wrench("motor", "ball", SPIN, (0.0, 0.0, 0.0), "motor", axes=axes, other="arm")
    return builder.build()


def spun_up(model, q, qd):
    """Angular acceleration of the ball in its axes (3,)."""
    state = model.state(q=q, qd=qd)
    qdd = ph.forward_dynamics(model, state)
    return (ph.body_jacobian(model, state, "ball") @ qdd + ph.body_bias(model, state, "ball"))[:3]


@pytest.mark.parametrize("axes", ["body", "other"])
def test_ten_turns_without_a_jump(axes):
    """Where the rotation vector changes its chart, the acceleration does not notice it."""
    model = ball(axes)
    run = ph.simulate(model, model.state(), duration=6.0, dt=1e-3, integrator="rk4")
    speeds = np.linalg.norm(run.qd[:, 1:], axis=1)
    lengths = np.linalg.norm(run.q[:, 1:], axis=1)
    assert lengths.max() > np.pi and speeds.max() > 10.0
    beyond = np.flatnonzero(lengths > np.pi)[::50]
    for q, qd in zip(run.q[beyond], run.qd[beyond]):
        r, rate, *_ = ph.exponential_coordinates.reparametrize(q[1:], qd[1:])
        here, there = spun_up(model, q, qd), spun_up(model, [q[0], *r], [qd[0], *rate])
        assert np.abs(here - there).max() < 1e-9 * np.abs(here).max()


def test_a_gradient_by_the_motor():
    """Against central differences: step^2 of truncation, 1e-16 / step of round-off."""
    model = ball("other")
    goal = ph.objectives.Reach("ball", (0.2, 0.1, 0.3), point=(0.3, 0.0, 0.1))
    task = {"duration": 0.2, "dt": 0.01, "integrator": "sdirk2", "objective": goal}
    parameter = ph.Parameter("input", "motor")
    state = model.state(qd=(0.5, 1.0, -2.0, 0.7))

    def value(size):
        return ph.gradient(model, state, parameters=[parameter], tau={"motor": size}, **task)

    step = 1e-4
    slope = (value(0.5 + step).value - value(0.5 - step).value) / (2.0 * step)
    assert abs(float(value(0.5).by_parameter[parameter]) - slope) < 1e-7 * abs(slope)
