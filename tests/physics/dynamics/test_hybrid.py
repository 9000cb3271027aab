"""Hybrid dynamics: given accelerations here, given forces there."""

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.generators import random_state, random_tree
from tests.physics.small_models import row


@pytest.mark.parametrize("seed", range(20))
def test_given_accelerations_and_the_forces_they_take(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 15)))
    free = [d for d in range(model.num_coordinates) if not model.prescribed[d]]
    if len(free) < 2:
        return
    state, tau = random_state(rng, model), rng.normal(size=model.num_coordinates)
    chosen = rng.choice(free, size=len(free) // 2, replace=False)
    values = rng.normal(size=len(chosen))
    given = {model.coordinate_names[d]: value for d, value in zip(chosen, values)}
    qdd, forces = ph.hybrid_dynamics(model, state, given, tau)
    assert np.array_equal(qdd[chosen], values)
    others = np.setdiff1d(np.arange(model.num_coordinates), chosen)
    moving = np.setdiff1d(others, np.nonzero(model.prescribed)[0])
    assert np.array_equal(forces[moving], tau[moving])
    matrix = ph.mass_matrix(model, state)
    scale = np.abs(matrix) @ np.abs(qdd) + np.abs(ph.inverse_dynamics(model, state)) + np.abs(forces)
    # the forces are those of the accelerations, and give them back
    assert np.abs(ph.inverse_dynamics(model, state, qdd) - forces)[free].max() < 1e-11 * scale.max()
    again = ph.forward_dynamics(model, state, forces)
    assert (again - qdd) @ matrix @ (again - qdd) < 1e-20 * (qdd @ matrix @ qdd)
    if {"composite", "inverted"} & {joint.type for joint in model.joints}:
        return  # their coordinates may depend on one another: no constraint of independent rows
    rows = np.eye(model.num_coordinates)[chosen]
    system = ph.constrained_bodies(model, state, tau, coordinate_rows=rows, coordinate_right=values)
    assert np.abs(system.qdd - qdd).max() < 1e-9 * np.abs(qdd).max()
    # the torque that prescribed motion takes is -G^T lambda
    taken = -rows.T @ system.multipliers[-len(rows) :]
    assert np.abs((forces - tau)[free] - taken[free]).max() < 1e-9 * np.abs(forces).max()


def test_all_given_is_inverse_dynamics_none_is_forward_dynamics():
    rng = np.random.default_rng(3)
    model = random_tree(rng, 6, ("hinge", "spherical", "free"))
    state, tau = random_state(rng, model), rng.normal(size=model.num_coordinates)
    assert np.array_equal(
        ph.hybrid_dynamics(model, state, {}, tau).qdd, ph.forward_dynamics(model, state, tau)
    )
    qdd = rng.normal(size=model.num_coordinates)
    given = {body: qdd[model.coordinate_slice(body.name)] for body in model.bodies}
    found = ph.hybrid_dynamics(model, state, given, tau)
    expected = ph.inverse_dynamics(model, state, qdd)
    assert np.allclose(found.tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_driven_coordinate_of_a_closed_loop():
    """The torque that an accelerated crank takes, the loop's forces among what it works against."""
    model, state = four_bar("point")
    state = ph.assemble(model, model.state(q=state.q, qd=[2.0, 0.0, 0.0]))
    tau = np.array([0.3, -0.5, 0.2])
    qdd, forces = ph.hybrid_dynamics(model, state, {"crank": 3.0}, tau)
    assert abs(qdd[0] - 3.0) < 1e-12 and np.array_equal(forces[1:], tau[1:])
    system = ph.constrained_bodies(
        model, state, tau, coordinate_rows=[[1.0, 0.0, 0.0]], coordinate_right=[3.0]
    )
    assert np.abs(system.qdd - qdd).max() < 1e-10 * np.abs(qdd).max()
    assert abs(forces[0] - tau[0] + system.multipliers[-1]) < 1e-10 * abs(forces[0])
    assert np.abs(ph.constrained_dynamics(model, state, forces).qdd - qdd).max() < 1e-10 * np.abs(qdd).max()


def chain(count):
    rng = np.random.default_rng(1)
    link = {"com": (0, 0, -0.1), "inertia": np.diag([4e-3, 4e-3, 1e-3]), "damping": 0.05}
    names = [f"link {k}" for k in range(count)]
    return row(names, lambda _: ph.joints.Hinge(rng.normal(size=3)), (0, 0, -0.2), **link).build()


def test_bad_input_is_told():
    model = chain(3)
    state = model.state()
    for given, message in (
        ({"elbow": 1.0}, "no coordinate or body is named 'elbow'"),
        ({"link 0": 1.0, "link 0.angle": 1.0}, "'link 0.angle' is given twice"),
        ({"link 0": [1.0, 2.0]}, r"acceleration of 'link 0' must have shape \(1,\)"),
        ({"link 0": np.inf}, "must be finite"),
        ([1.0], "accelerations must be"),
    ):
        with pytest.raises(ph.ModelError, match=message):
            ph.hybrid_dynamics(model, state, given)
    moving = random_tree(np.random.default_rng(0), 1, ("moving_surface",))
    with pytest.raises(ph.ModelError, match="keeps its velocity"):
        ph.hybrid_dynamics(moving, moving.state(), {"body_0": np.zeros(moving.num_coordinates)})
