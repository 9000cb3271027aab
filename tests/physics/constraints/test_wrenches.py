"""Rows of constraints on the bodies against rows on the coordinates; a loop with redundant rows."""

import numpy as np
import pytest

import physics as ph
from physics.dynamics.constraint_wrenches import rows_on_bodies
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.constraints.test_rows import frames_of_each, one_of_each
from tests.physics.generators import random_state, random_tree


@pytest.mark.parametrize("seed", range(4))
def test_rows_on_bodies_are_rows_on_coordinates(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    state = random_state(rng, model)
    moving = ph.maximal_coordinates(model, state)
    for other in (model.body_names[1], None):
        for constraint in (
            *one_of_each(rng, model, other),
            *frames_of_each(rng, other, model.body_names[-1]),
        ):
            found = rows_on_bodies(moving, constraint)
            if constraint.type == "coupling":
                assert found is None
                continue
            rows, right = found
            jacobian = constraint.jacobian(model, state)
            scale = 1.0 + np.abs(state.qd).max() ** 2
            assert np.abs(rows @ moving.jacobian - jacobian).max() < 1e-11 * (1.0 + np.abs(jacobian).max())
            bias = rows @ moving.jacobian_rate_product.ravel() - right
            assert np.abs(bias - constraint.bias(model, state)).max() < 1e-9 * scale


def test_redundant_closure_moves_the_same():
    """A hinge that closes a plane loop holds three ways too many: the forces are not unique, the motion is."""
    model, state = four_bar("hinge")
    state = ph.assemble(model, model.state(q=state.q, qd=[1.0, 0.5, -1.0]))
    tau = [1.0, -2.0, 0.5]
    system = ph.constrained_bodies(model, state, tau)
    found = ph.constrained_dynamics(model, state, tau)
    assert np.abs(system.qdd - found.qdd).max() < 1e-10 * np.abs(found.qdd).max()
    jacobian = model.constraints["loop"].jacobian(model, state)
    force = jacobian.T @ found.forces["loop"]
    other = ph.maximal_coordinates(model, state).jacobian_transpose_product(system.constraint_wrenches)
    assert np.abs(force - other).max() < 1e-10 * np.abs(force).max()


def test_reactions_of_a_closed_loop_need_its_forces():
    model, state = four_bar()
    with pytest.raises(ph.ModelError, match="leave qdd out"):
        ph.joint_reactions(model, state, np.zeros(3))
