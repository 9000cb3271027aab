"""Forces of constraints on the bodies against one system of all bodies; forces in the joints of closed loops."""

import numpy as np
import pytest

import physics as ph
from physics import constraints
from physics.dynamics.constraint_wrenches import constraint_wrenches, rows_on_bodies
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.constraints.test_rows import frames_of_each, one_of_each
from tests.physics.generators import random_pose, random_state, random_tree

KINDS = ("hinge", "slider", "universal", "spherical", "cylindrical", "spline_curve")


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


def closed(seed, kind):
    """A random tree with one loop where it happens to close, moving as the loop allows; no row says what others say."""
    rng = np.random.default_rng(seed)
    while True:
        model, state = loop_of(rng, kind)
        values = np.linalg.svd(model.constraints["loop"].jacobian(model, state))[1]
        if values[-1] > 1e-2 * values[0]:
            return rng, model, ph.assemble(model, state)


def loop_of(rng, kind):
    model = random_tree(rng, 9, KINDS)
    q = random_state(rng, model).q
    poses = ph.body_poses(model, model.state(q=q))
    frame = random_pose(rng, 0.1)
    there = ph.lie.inverse(poses[4]) @ poses[8] @ frame
    point, other_point = frame[:3, 3], there[:3, 3]
    names = model.coordinate_names
    constraint = {
        "point": lambda: constraints.PointConstraint("body_8", "body_4", point, other_point),
        "hinge": lambda: constraints.HingeConstraint("body_8", "body_4", frame, there),
        "weld": lambda: constraints.WeldConstraint("body_8", "body_4", frame, there),
        "distance": lambda: constraints.DistanceConstraint(
            "body_8", None, point, length=float(np.linalg.norm((poses[8] @ np.append(point, 1.0))[:3]))
        ),
        "coupling": lambda: constraints.CouplingConstraint(
            names[-1], {names[0]: 0.5}, ph.joints.Linear(1.0, q[-1] - 0.5 * q[0])
        ),
    }[kind]()
    builder = ph.ModelBuilder.from_dict(model.to_dict())
    builder.add_constraint("loop", constraint)
    model = builder.build()
    state = model.state(q=q, qd=0.5 * rng.normal(size=len(q)))
    return model, state


@pytest.mark.parametrize("kind", ["point", "hinge", "weld", "distance", "coupling"])
@pytest.mark.parametrize("seed", range(3))
def test_closed_loops_against_one_system_of_all_bodies(kind, seed):
    rng, model, state = closed(seed, kind)
    tau = rng.normal(size=model.num_coordinates)
    system = ph.constrained_bodies(model, state, tau)
    found = ph.constrained_dynamics(model, state, tau)
    # round-off times the condition of the joints' and the loop's rows
    assert np.abs(system.qdd - found.qdd).max() < 1e-9 * np.abs(found.qdd).max()
    moving = ph.maximal_coordinates(model, state)
    pulls = constraint_wrenches(moving, found.forces)
    scale = max(np.abs(system.joint_wrenches).max(), np.abs(pulls).max())
    assert np.abs(pulls - system.constraint_wrenches).max() < 1e-9 * scale
    assert (kind == "coupling") == (not pulls.any())
    reactions = ph.joint_reactions(model, state, tau=tau)
    assert np.abs(reactions - system.joint_wrenches).max() < 1e-9 * scale
    # what the loop takes does no work
    assert abs(np.sum(pulls * moving.twists)) < 1e-9 * scale * np.abs(moving.twists).max()


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
