"""Joint forces by recursion against the multipliers of one system for all bodies; loops closed by rows."""

import numpy as np
import pytest

import physics as ph
from tests.physics.forces.test_elements import KINDS, model_with
from tests.physics.generators import TREE_KINDS, random_state, random_tree

# Joints whose coordinates move their body independently: a rotation vector behind a hinge does not.
INDEPENDENT = tuple(sorted(set(TREE_KINDS) - {"composite", "inverted"}))


@pytest.mark.parametrize("kind", INDEPENDENT)
def test_joint_reactions_are_the_multipliers(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 4, (kind, "hinge", "spherical"))
        state = random_state(rng, model)
        tau, wrenches = rng.normal(size=model.num_coordinates), rng.normal(size=(model.num_bodies, 6))
        besides = ph.maximal_coordinates(model, state).jacobian_transpose_product(wrenches)
        system = ph.constrained_bodies(model, state, tau, wrenches=wrenches)
        qdd = ph.forward_dynamics(model, state, tau + besides)
        # round-off times the condition of the joints' mass matrix, up to 1e4 here
        assert np.abs(system.qdd - qdd).max() < 1e-10 * np.abs(qdd).max()
        assert system.residual < 1e-9 * np.abs(qdd).max()
        reactions = ph.joint_reactions(model, state, tau=tau, wrenches=wrenches)
        assert np.abs(reactions - system.joint_wrenches).max() < 1e-10 * np.abs(reactions).max()
        given = ph.joint_reactions(model, state, qdd, wrenches=wrenches)
        assert np.abs(reactions - given).max() < 1e-10 * np.abs(reactions).max()


def test_force_elements_between_bodies_are_no_part_of_the_reactions():
    rng, _, model = model_with(3, *KINDS)
    state = random_state(rng, model)
    reactions = ph.joint_reactions(model, state)
    system = ph.constrained_bodies(model, state)
    assert np.abs(reactions - system.joint_wrenches).max() < 1e-10 * np.abs(reactions).max()


def test_a_hanging_weight_pulls_at_its_joint():
    """Two weights at rest, one under the other: the upper joint carries both, with no moment about its own place."""
    builder = ph.ModelBuilder()
    below = ph.lie.exp(np.array([0, 0, 0, 0, 0, -0.5]))
    body = {"com": (0, 0, -0.25), "inertia": 0.01 * np.eye(3)}
    upper = builder.add_body("upper", joint=ph.joints.Hinge((1, 0, 0)), mass=2.0, **body)
    builder.add_body(
        "lower", upper, joint=ph.joints.Hinge((1, 0, 0)), joint_in_parent=below, mass=3.0, **body
    )
    model = builder.build()
    reactions = ph.joint_reactions(model, model.state())
    assert np.allclose(reactions, [[0, 0, 0, 0, 0, 5 * 9.81], [0, 0, 0, 0, 0, 3 * 9.81]], atol=1e-12)


def ring(links=3):
    """A chain of bars whose tip is pinned to the world: rows of its closure, and their right sides.

    Bars of 1 m along x, hinges along z; closed where the chain happens to end.
    """
    builder = ph.ModelBuilder(gravity=(0, -9.81, 0))
    end = ph.lie.exp(np.array([0, 0, 0, 1.0, 0, 0]))
    body = None
    for k in range(links):
        link = {"joint": ph.joints.Hinge(), "mass": 1.0 + k, "inertia": np.diag([0.01, 0.1, 0.1])}
        body = builder.add_body(f"bar {k}", body, joint_in_parent=end if k else None, com=(0.5, 0, 0), **link)
    return builder.build()


def tip_rows(model, state):
    """Rows on phi' and right sides that keep the tip of the last bar where it is (3 rows, one of them redundant)."""
    maximal = ph.maximal_coordinates(model, state)
    tip, twist = np.array([1.0, 0, 0]), maximal.twists[-1]
    gamma = np.concatenate([-ph.lie.hat(tip), np.eye(3)], axis=1)
    rotation = maximal.poses[-1][:3, :3]
    rows = np.zeros((3, 6 * model.num_bodies))
    rows[:, -6:] = rotation @ gamma
    return rows, -rotation @ ph.lie.hat(twist[:3]) @ gamma @ twist


def test_a_loop_closed_by_rows_moves_as_one_with_a_follower():
    """A four-bar closed by a redundant row; against the derivative of its own closure and the work it does."""
    model = ring()
    state = model.state(q=[1.2, -0.9, -1.1])
    rows, _ = tip_rows(model, state)
    jacobian = rows @ ph.maximal_coordinates(model, state).jacobian
    motion = np.linalg.svd(jacobian)[2][-1]  # the one way that the loop can move
    state = model.state(q=state.q, qd=2.0 * motion)
    rows, right = tip_rows(model, state)
    found = ph.constrained_bodies(model, state, rows=rows, right=right)
    assert found.residual < 1e-12 * np.abs(found.accelerations).max()
    # eq. 4.101 in reduced coordinates, with the two rows in the plane
    maximal = ph.maximal_coordinates(model, state)
    plane = (rows @ maximal.jacobian)[:2]
    inertia, forces = maximal.reduced_inertia, maximal.reduced_forces()
    drift = right[:2] - (rows @ maximal.jacobian_rate_product.ravel())[:2]
    system = np.block([[inertia, plane.T], [plane, np.zeros((2, 2))]])
    solution = np.linalg.solve(system, np.concatenate([forces, drift]))
    assert np.allclose(found.qdd, solution[:3], rtol=1e-11, atol=1e-11)
    assert np.allclose(found.multipliers[-3:], [*solution[3:], 0.0], atol=1e-10)
    # the closure takes force, but no power
    assert abs(np.sum(found.constraint_wrenches * maximal.twists)) < 1e-10
    assert np.abs(found.constraint_wrenches).max() > 1.0


def test_rows_on_coordinates_couple_them():
    rng = np.random.default_rng(5)
    model = random_tree(rng, 5, ("hinge", "slider"))
    state = random_state(rng, model)
    rows = rng.normal(size=(2, 5))
    found = ph.constrained_bodies(model, state, coordinate_rows=rows, coordinate_right=[0.3, -0.2])
    assert np.allclose(rows @ found.qdd, [0.3, -0.2], atol=1e-10)
    taken = ph.inverse_dynamics(model, state, found.qdd)
    assert np.allclose(taken, -rows.T @ found.multipliers[-2:], atol=1e-9)
    reactions = ph.joint_reactions(model, state, found.qdd)
    assert np.allclose(found.joint_wrenches, reactions, rtol=1e-9, atol=1e-9)


def test_bad_input_is_told():
    model = ring()
    state = model.state()
    with pytest.raises(ph.ModelError, match=r"rows must have shape \(1, 18\), got \(1, 3\)"):
        ph.constrained_bodies(model, state, rows=np.zeros((1, 3)))
    with pytest.raises(ph.ModelError, match=r"right sides of the rows must have shape \(1,\)"):
        ph.constrained_bodies(model, state, rows=np.zeros((1, 18)), right=[1.0, 2.0])
    builder = ph.ModelBuilder()
    twice = ph.joints.Composite((ph.joints.Hinge(), ph.joints.Hinge()))
    builder.add_body("bar", joint=twice, mass=1.0, inertia=np.eye(3), armature=0.1)
    model = builder.build()
    with pytest.raises(ph.ModelError, match="'bar' do not move it independently"):
        ph.constrained_bodies(model, model.state())
