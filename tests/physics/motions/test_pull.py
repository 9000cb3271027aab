"""Joints that springs of changing strength draw to a motion; and motions that end as they began."""

import numpy as np
import pytest

import physics as ph
from physics.motions.pull import Pull, Pulls
from physics.simulation.loop import jump_of

CENTRE = (0.0, 0.0, -0.5)


def pendulum(joint=None):
    builder = ph.ModelBuilder()
    joint = joint or ph.joints.Hinge((0.0, 1.0, 0.0))
    builder.add_body("bob", joint=joint, mass=2.0, com=CENTRE, inertia=0.1 * np.eye(3), damping=0.3)
    return builder.build()


def run(model, weight, time=0.1, duration=2.0, values=0.7):
    times = np.array([0.0, duration])
    goal = np.broadcast_to(values, (2, model.num_coordinates))
    pull = Pull(times, goal, np.full(2, weight), time)
    state = model.state()
    pulls = Pulls(model, {"bob": pull}, None, 1e-3)
    return ph.simulate(model, state, duration, tau=pulls, record_interval=0.1)


def test_a_stronger_pull_comes_nearer():
    model = pendulum()
    away = [abs(run(model, weight).q[-1, 0] - 0.7) for weight in (0.0, 0.2, 0.5, 0.8, 0.95)]
    assert away[0] > 0.5 and (np.diff(away) < 0.0).all() and away[-1] < 2e-3
    # at rest the spring balances gravity: I w0^2 (goal - q) = m g l sin q, with I = 0.1 + 2 0.5^2 and w0 = 10 / s
    q = run(model, 0.5, duration=4.0).q[-1, 0]
    assert 0.6 * 100.0 * (0.7 - q) == pytest.approx(2.0 * 9.81 * 0.5 * np.sin(q), abs=1e-6)


def test_a_chain_is_drawn_as_one_link_is():
    """Six links with pulls of the same strength: stable, and each comes as near as gravity lets it."""
    builder, parent = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0)), None
    for k in range(6):
        at = np.eye(4)
        at[2, 3] = -0.2 * (k > 0)
        link = {"parent": parent, "mass": 1.0, "com": (0.0, 0.0, -0.1), "inertia": 0.01 * np.eye(3)}
        parent = builder.add_body(f"b{k}", joint=ph.joints.Hinge((0.0, 1.0, 0.0)), joint_in_parent=at, **link)
    model = builder.build()
    for weight in (0.5, 0.9, 0.99):
        pulls = {f"b{k}": Pull([0.0, 2.0], [[0.3]] * 2, [weight] * 2, 0.1) for k in range(6)}
        tau = Pulls(model, pulls, None, 1e-3)
        result = ph.simulate(model, model.state(), 1.0, tau=tau, record_interval=0.1)
        t = result.t[:, None]
        frequency = min(10.0 * weight / (1.0 - weight), 250.0)
        # a critically damped oscillator, but for what speeds do to each other; a force held over a step of 1 ms
        expected = 0.3 * (1.0 - (1.0 + frequency * t) * np.exp(-frequency * t))
        assert np.abs(result.q - expected).max() < 0.1 and np.abs(result.q[-1] - 0.3).max() < 2e-3


def test_the_weight_takes_over_in_time():
    model = pendulum()
    pull = Pull([0.0, 1.0, 2.0], [[0.5]] * 3, [0.0, 0.0, 0.9], 0.05)
    pulls = Pulls(model, {"bob": pull}, None, 1e-3)
    q = ph.simulate(model, model.state(), 2.0, tau=pulls, record_interval=0.1).q[:, 0]
    assert not q[:11].any() and abs(q[-1] - 0.5) < 0.02


def test_weights_may_have_times_of_their_own():
    """They are keyed apart from what draws: a target with two times was drawn by weights at two alone."""
    model, fine = pendulum(), np.linspace(0.0, 1.0, 101)
    weights = 0.8 * np.sin(np.pi * fine) ** 2
    goal = 0.5 + 0.3 * fine
    results = [
        ph.simulate(model, model.state(), 1.0, tau=Pulls(model, {"bob": pull}, None, 1e-3)).q
        for pull in (
            Pull(fine, goal[:, None], weights),
            Pull(fine[[0, -1]], goal[[0, -1], None], weights, weight_times=fine),
            Pull(**Pull(fine[[0, -1]], goal[[0, -1], None], weights, weight_times=fine).to_dict()),
        )
    ]
    assert np.ptp(results[0]) > 0.3
    for result in results[1:]:  # a straight line is a cubic through two points or more, to round-off
        np.testing.assert_allclose(result, results[0], atol=1e-12)


def test_a_ball_joint_is_drawn_the_shorter_way():
    goal = np.array([0.0, 3.0, 0.0])
    q = run(pendulum(ph.joints.Spherical()), 0.9, values=goal - goal / 3.0 * 2.0 * np.pi).q[-1]
    np.testing.assert_allclose(q, goal, atol=0.01)


def test_forces_and_inputs_go_along():
    model = pendulum()
    pull = Pull([0.0, 1.0], [[0.0], [0.0]], [0.0, 0.0])
    table = ph.Table([0.0, 1.0], [[1.0], [3.0]])
    assert Pulls(model, {"bob": pull}, table, 1e-3)(0.5, np.zeros(1), np.zeros(1)) == [2.0]


@pytest.mark.parametrize(
    "values",
    [
        {"times": [0.0], "values": [[0.0]], "weights": [0.0]},
        {"times": [0.0, 0.0], "values": [[0.0]] * 2, "weights": [0.0, 0.0]},
        {"times": [0.0, 1.0], "values": [[0.0]], "weights": [0.0, 0.0]},
        {"times": [0.0, 1.0], "values": [[0.0]] * 2, "weights": [0.0, 1.1]},
        {"times": [0.0, 1.0], "values": [[0.0]] * 2, "weights": [0.0, 1.0], "time": 0.0},
        {"times": [0.0, 1.0], "values": [[0.0]] * 2, "weights": [0.0] * 3},
        {"times": [0.0, 1.0], "values": [[0.0]] * 2, "weights": [0.0] * 2, "weight_times": [0.0, 0.0]},
    ],
)
def test_bad_pulls_are_refused(values):
    with pytest.raises(ph.ModelError, match="pull"):
        Pull(**values)


def driven(t):
    return np.array([3.0 * np.sin(2.0 * np.pi * t)])


def test_a_driven_and_damped_pendulum_settles_into_a_loop():
    model = pendulum()
    options = {"tau": driven, "record_interval": 0.05}
    loose = ph.simulate(model, model.state(), 1.0, **options)
    assert jump_of(loose).angle > 0.05
    result = ph.simulate_loop(model, model.state(), 1.0, most_cycles=60, tolerance=1e-5, **options)
    told = result.info["loop"]
    assert told["settled"] and told["angle_jump"] < 1e-5 and told["turn_speed_jump"] < 2e-3
    # what follows repeats it: nothing was bent
    state = model.state(result.q[-1], result.qd[-1])
    again = ph.simulate(model, state, 1.0, **options)
    np.testing.assert_allclose(again.q, result.q, atol=3e-4)


def test_a_blend_takes_away_what_is_left_and_nothing_else():
    model = pendulum()
    options = {"tau": driven, "record_interval": 0.05}
    loose = ph.simulate(model, model.state(), 1.0, **options)
    result = ph.simulate_loop(model, model.state(), 1.0, most_cycles=1, blend=0.25, **options)
    told = result.info["loop"]
    assert not told["settled"] and told["cycles"] == 1
    assert told["angle_jump"] < 1e-12 and told["turn_speed_jump"] < 1e-12
    assert np.array_equal(result.q[:16], loose.q[:16])
    np.testing.assert_allclose(np.gradient(result.q[:, 0], 0.05)[1:-1], result.qd[1:-1, 0], atol=0.15)


def test_whole_turns_close_a_loop():
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("wheel", joint=ph.joints.Hinge((0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    state = model.state(qd=[2.0 * np.pi])
    told = ph.simulate_loop(model, state, 1.0, blend=0.1).info["loop"]
    assert told["settled"] and told["cycles"] == 1 and told["angle_jump"] < 1e-9


def test_one_run_and_its_pieces_have_the_same_bits():
    """What is recorded, how often, and where a run is cut (at steps) changes nothing."""
    model = pendulum()
    state = model.state(q=[0.4])
    whole = ph.simulate(model, state, 1.0, record_interval=0.125)
    often = ph.simulate(model, state, 1.0, record_interval=0.125 / 8)
    assert np.array_equal(often.q[::8], whole.q) and np.array_equal(often.qd[::8], whole.qd)
    pieces = [state]
    for _ in range(8):
        part = ph.simulate(model, pieces[-1], 0.125)
        pieces.append(model.state(part.q[-1], part.qd[-1], pieces[-1].time + 0.125))
    assert np.array_equal([each.q for each in pieces], whole.q)
    assert np.array_equal([each.qd for each in pieces], whole.qd)
