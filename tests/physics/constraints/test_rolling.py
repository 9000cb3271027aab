"""A ball that rolls on a spline surface: its joint is the surface, the radius along its normal, and three turns."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import physics as ph
from physics import constraints
from tests.physics.constraints.mechanisms import pose

RADIUS = 0.1


def ball_on(surface, slope=0.0):
    """A solid ball; its place is on the joint's surface, whose frame is turned about y by the slope."""
    joints = ph.joints
    linear = joints.Linear()
    turns = tuple((axis, linear, name) for axis, name in zip(np.eye(3), ("a", "b", "c")))
    slides = (
        ((1.0, 0.0, 0.0), joints.Linear(0.0, 0.0), None),
        ((0.0, 1.0, 0.0), joints.Linear(0.0, 0.0), None),
        ((0.0, 0.0, 1.0), joints.Linear(0.0, RADIUS), None),
    )
    joint = joints.Composite((surface, joints.Custom(("a", "b", "c"), turns, slides)))
    builder = ph.ModelBuilder()
    inertia = 0.4 * RADIUS**2 * np.eye(3)
    builder.add_body(
        "ball", joint=joint, mass=1.0, inertia=inertia, joint_in_parent=pose((0, 0, 0), (0, slope, 0))
    )
    builder.add_constraint("rolling", constraints.RollingConstraint("ball"))
    return builder.build()


def net(height):
    """Control values (9, 9, 6) over a square metre: heights; the Euler angles are left at 0."""
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 9), np.linspace(-0.5, 0.5, 9), indexing="ij"), axis=-1)
    values = np.zeros((9, 9, 6))
    values[..., 3:5] = grid
    values[..., 5] = height(grid)
    return values


def slip(model, state):
    return float(np.abs(model.constraints["rolling"].jacobian(model, state) @ state.qd).max())


def test_bias_where_it_does_not_slip():
    """On a wavy surface, with velocities that roll and spin."""
    rng = np.random.default_rng(2)
    values = net(lambda grid: 0.05 * np.sin(5.0 * grid[..., 0]) * np.cos(4.0 * grid[..., 1]))
    values[..., :3] = 0.2 * rng.normal(size=(9, 9, 3))
    model = ball_on(ph.joints.SplineSurface(values, order=(6, 6)))
    state = model.state(0.3 * rng.normal(size=5) + model.state().q, rng.normal(size=5))
    state = ph.assemble(model, state)
    assert slip(model, state) < 1e-12
    rolling, step = model.constraints["rolling"], 1e-4
    qdd = ph.constrained_dynamics(model, state).qdd
    speeds = []
    for h in (-step, step):  # along the motion itself slip stays at zero
        q = state.q + h * state.qd + 0.5 * h * h * qdd
        there = ph.State(q, state.qd + h * qdd, 0.0, state.chart)
        speeds.append(rolling.jacobian(model, there) @ there.qd)
    rate = (speeds[1] - speeds[0]) / (2.0 * step)
    assert np.abs(rate).max() < 1e-5  # central differences: 1e-8 of third derivatives of some hundred


def test_threads_share_a_model():
    """What a rolling constraint works in is each run's own."""
    model = ball_on(ph.joints.SplineSurface(net(lambda grid: 0.2 * (grid**2).sum(axis=-1)), order=(4, 4)))
    starts = []
    for k in range(4):
        q = model.state().q.copy()
        q[:2] += 0.1 * k, -0.05 * k
        starts.append(model.state(q=q))

    def end(state):
        return ph.simulate(model, state, 1.0, record_interval=1.0).q[-1]

    alone = [end(state) for state in starts]
    with ThreadPoolExecutor(4) as pool:
        for together in (pool.map(end, starts), pool.map(end, starts)):
            np.testing.assert_array_equal(list(together), alone)
