"""Maximal coordinates: J_mr and its rate, dense and as products; wrenches on the bodies."""

import numpy as np
import pytest

import physics as ph
from tests.physics.forces.test_elements import KINDS, model_with
from tests.physics.generators import TREE_KINDS, random_state, random_tree


def trees(seeds):
    """Random trees with joints of every type, and a state of each."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        model = random_tree(rng, int(rng.integers(1, 14)))
        if model.num_coordinates:
            yield rng, model, random_state(rng, model)


def test_products_are_those_of_the_dense_matrices():
    for rng, model, state in trees(range(12)):
        maximal = ph.maximal_coordinates(model, state)
        x, w = rng.normal(size=model.num_coordinates), rng.normal(size=(model.num_bodies, 6))
        for product, dense in (
            (maximal.jacobian_product(x).ravel(), maximal.jacobian @ x),
            (maximal.jacobian_transpose_product(w), maximal.jacobian.T @ w.ravel()),
            (maximal.twists, maximal.jacobian_product(state.qd)),
            (maximal.jacobian_rate_product.ravel(), maximal.jacobian_rate @ state.qd),
        ):
            # sums of at most 80 terms
            assert np.abs(product - dense).max() < 1e-12 * max(np.abs(dense).max(), 1.0)
        assert np.array_equal(maximal.poses, ph.body_poses(model, state))


def test_the_blocks_are_the_jacobians_of_the_bodies():
    for _, model, state in trees(range(20, 26)):
        maximal = ph.maximal_coordinates(model, state)
        blocks = maximal.jacobian.reshape(model.num_bodies, 6, -1)
        for i, body in enumerate(model.bodies):
            assert np.allclose(blocks[i], ph.body_jacobian(model, state, body), atol=1e-12)
            bias = maximal.jacobian_rate_product[i]
            assert np.allclose(bias, ph.body_bias(model, state, body), atol=1e-11)


@pytest.mark.parametrize("kind", sorted(set(TREE_KINDS) - {"fixed"}))
def test_jacobian_rate_is_the_derivative_along_the_motion(kind):
    rng = np.random.default_rng(TREE_KINDS.index(kind))
    model = random_tree(rng, 3, (kind,))
    state = random_state(rng, model)

    def jacobian(time):
        return ph.maximal_coordinates(model, model.state(q=state.q + time * state.qd)).jacobian

    h = 1e-4
    slope = (8 * (jacobian(h) - jacobian(-h)) - (jacobian(2 * h) - jacobian(-2 * h))) / (12 * h)
    rate = ph.maximal_coordinates(model, state).jacobian_rate
    # differences of fourth order: 1e-16 / h of round-off, h^4 times fifth derivatives that splines make large
    assert np.abs(slope - rate).max() < 1e-7 * max(np.abs(rate).max(), 1.0)


def test_force_elements_are_wrenches_on_the_bodies():
    for seed in range(3):
        rng, tree, model = model_with(seed, *KINDS)
        state = random_state(rng, model)
        dense = ph.forward_dynamics(model, state, road="dense")
        assert np.allclose(dense, ph.forward_dynamics(model, state), rtol=1e-9, atol=1e-9)
        assert np.abs(dense - ph.forward_dynamics(tree, state)).max() > 1.0


def test_wrenches_besides_are_generalized_forces():
    for rng, model, state in trees(range(3)):
        maximal = ph.maximal_coordinates(model, state)
        w = rng.normal(size=(model.num_bodies, 6))
        with_wrenches = maximal.accelerations(wrenches=w)
        assert np.allclose(with_wrenches, maximal.accelerations(maximal.jacobian_transpose_product(w)))


def test_quadratic_velocity_vector_is_that_of_a_turning_slide():
    """A bead of 2 kg on a rod that turns: 2 m r r' w against the turning, m r w^2 outward."""
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    still = {"mass": 1e-9, "inertia": 1e-9 * np.eye(3)}
    rod = builder.add_body("rod", joint=ph.joints.Hinge(), **still)
    builder.add_body("bead", rod, joint=ph.joints.Slider((1, 0, 0)), mass=2.0, inertia=1e-9 * np.eye(3))
    model = builder.build()
    w, r, rd = 1.5, 0.4, -0.7
    maximal = ph.maximal_coordinates(model, model.state(q=[0.3, r], qd=[w, rd]))
    expected = np.array([-2 * 2.0 * r * rd * w, 2.0 * r * w**2])
    # the bodies' gyroscopic forces are part of the same vector
    total = maximal.quadratic_velocity_vector + maximal.jacobian_transpose_product(maximal.wrenches)
    assert np.allclose(total, expected, atol=1e-8)


def test_bad_input_is_told():
    rng = np.random.default_rng(0)
    model = random_tree(rng, 3, ("hinge",))
    state = random_state(rng, model)
    maximal = ph.maximal_coordinates(model, state)
    with pytest.raises(ph.ModelError, match=r"rates of the coordinates must have shape \(3,\), got \(2,\)"):
        maximal.jacobian_product([1.0, 2.0])
    with pytest.raises(ph.ModelError, match=r"wrenches on the bodies must have shape \(3, 6\)"):
        maximal.jacobian_transpose_product(np.zeros(18))
    with pytest.raises(ph.ModelError, match="road must be one of auto, recursive, dense, got 'fast'"):
        ph.forward_dynamics(model, state, road="fast")
    with pytest.raises(ph.ModelError, match="state does not belong"):
        ph.maximal_coordinates(random_tree(rng, 4, ("hinge",)), state)
