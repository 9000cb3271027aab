"""Jacobians of bodies against differences along motions, and against the mass matrix and the energy."""

import numpy as np
import pytest

import physics as ph
from tests.physics.generators import random_state, random_tree


def moved(model, state, time):
    """The state a short time on, with constant velocities of the coordinates."""
    return ph.State(state.q + time * state.qd, state.qd, state.time + time, state.chart)


@pytest.mark.parametrize("seed", range(12))
def test_twist_and_its_rate_against_differences(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 12)))
    state = random_state(rng, model)
    step = 1e-5  # error of the central difference about 1e-10 of the third derivative, round-off 1e-11
    ahead, behind = moved(model, state, step), moved(model, state, -step)
    poses = [ph.body_poses(model, s) for s in (behind, ahead)]
    for i, name in enumerate(model.body_names):
        twist = ph.body_jacobian(model, state, name) @ state.qd
        measured = ph.lie.log(ph.lie.inverse(poses[0][i]) @ poses[1][i]) / (2.0 * step)
        scale = 1.0 + np.abs(twist).max() ** 3
        assert np.abs(twist - measured).max() < 1e-7 * scale
        rate = [ph.body_jacobian(model, s, name) @ state.qd for s in (behind, ahead)]
        bias = ph.body_bias(model, state, name)
        assert np.abs(bias - (rate[1] - rate[0]) / (2.0 * step)).max() < 1e-6 * scale


@pytest.mark.parametrize("seed", range(5))
def test_mass_matrix_is_the_sum_of_bodies_inertias(seed):
    """M = sum J^T I J, armature beside it: what the composite-rigid-body algorithm sums another way."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9)
    state = random_state(rng, model)
    expected = np.diag(model.arrays[4][:, 3])
    for body in model.bodies:
        lever = ph.lie.hat(body.com)
        inertia = np.zeros((6, 6))
        inertia[:3, :3] = body.inertia - body.mass * lever @ lever
        inertia[:3, 3:], inertia[3:, :3] = body.mass * lever, -body.mass * lever
        inertia[3:, 3:] = body.mass * np.eye(3)
        jacobian = ph.body_jacobian(model, state, body)
        expected = expected + jacobian.T @ inertia @ jacobian
    assert np.abs(expected - ph.mass_matrix(model, state)).max() < 1e-11 * np.abs(expected).max()


def test_chains_that_do_not_move_a_body_have_no_columns():
    model = random_tree(np.random.default_rng(7), 10)
    state = random_state(np.random.default_rng(7), model)
    for i, name in enumerate(model.body_names):
        chain, k = set(), i
        while k >= 0:
            chain.add(k)
            k = int(model.parent[k])
        jacobian = ph.body_jacobian(model, state, name)
        for k, other in enumerate(model.body_names):
            if k not in chain:
                assert not jacobian[:, model.coordinate_slice(other)].any()


def test_unknown_bodies_are_named():
    model = random_tree(np.random.default_rng(0), 2, ("hinge",))
    with pytest.raises(ph.ModelError, match="no body is named 'toe'"):
        ph.body_jacobian(model, model.state(), "toe")
    with pytest.raises(ph.ModelError, match="state is needed"):
        ph.body_bias(model, None, "body_0")
