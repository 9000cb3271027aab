"""Inverse kinematics with constraints, locked coordinates, missing goals and zero weights."""

import numpy as np
import pytest

import physics as ph
from physics.constraints import CouplingConstraint, DistanceConstraint, PointConstraint
from tests.physics.constraints.test_rolling import ball_on, net

UNIT = {"mass": 1.0, "inertia": np.eye(3)}
KKT = 1e-6  # of a cost that ends where a step lowers it by less than 1e-13, so to its root
TIED = 1e-8  # the same for a constraint, whose square has 1e4 times the weight


def arm(constraints=(), limits=None, count=3):
    """A planar chain of hinges about z with links of 0.5 m."""
    builder, parent = ph.ModelBuilder(), None
    for k in range(count):
        placement = np.eye(4)
        placement[0, 3] = 0.5 if k else 0.0
        own = {"limits": limits} if k == 1 and limits else {}
        parent = builder.add_body(
            f"link_{k}", parent, joint=ph.joints.Hinge(), joint_in_parent=placement, **UNIT, **own
        )
    for k, constraint in enumerate(constraints):
        builder.add_constraint(f"constraint_{k}", constraint)
    return builder.build()


def tip(position, **options):
    return ph.Target("link_2", position, at=(0.5, 0.0, 0.0), **options)


def cost_slopes(model, found, target):
    """Gradient of half the squared distance, by differences of the search's own errors."""

    def cost(q):
        pose = ph.body_poses(model, model.state(q))[2]
        return 0.5 * np.sum((pose[:3, :3] @ target.at + pose[:3, 3] - target.position) ** 2)

    steps = 1e-5 * np.eye(model.num_coordinates)
    return np.array([(cost(found.state.q + step) - cost(found.state.q - step)) / 2e-5 for step in steps])


@pytest.mark.parametrize("limits", [True, False])
def test_locked_coordinate_is_at_its_value(limits):
    """Wherever the state is, and with limits off, too."""
    model = arm(limits=[(0.3, 0.3)])
    found = ph.inverse_kinematics(model, tip((0.3, 0.8, 0.0)), model.state([0.0, 0.54, 0.0]), limits=limits)
    assert found.reachable and found.state.q[1] == 0.3
    assert found.at_limits == ()


CASES = {
    "coupler": CouplingConstraint("link_2.angle", {"link_1.angle": 0.5}),
    "curved coupler": CouplingConstraint(
        "link_2.angle", {"link_1.angle": 1.0}, ph.joints.Polynomial([0.8, 0.0, 0.2])
    ),
    "rod": DistanceConstraint("link_2", point=(0.5, 0, 0), other_point=(0.0, 1.0, 0.0), length=0.7),
    "rope": DistanceConstraint(
        "link_2", point=(0.5, 0, 0), other_point=(0.0, 1.0, 0.0), length=0.7, sense="rope"
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("goal", [(0.3, 0.8, 0.0), (1.1, -0.9, 0.0)])
def test_constraints_are_met(case, goal):
    """At the end no motion along the constraints lowers the cost (the multipliers' equation)."""
    model = arm([CASES[case]])
    found = ph.inverse_kinematics(model, tip(goal), model.state([0.4, 0.5, 0.3]), starts=4)
    value = CASES[case].value(model, found.state)
    assert found.converged
    assert (value >= -TIED).all() and (case == "rope" or value.max() <= TIED)
    row = CASES[case].jacobian(model, found.state)
    row = row if value.max() <= TIED else np.zeros((1, 3))
    slopes = cost_slopes(model, found, tip(goal))
    along = slopes - row.T @ np.linalg.lstsq(row.T, slopes, rcond=None)[0]
    assert np.abs(along).max() < KKT
    assert found.reachable == (found.position_errors[0] < 1e-6)


def test_slack_rope_changes_nothing():
    free, tied = arm(), arm([CASES["rope"]])
    goal = tip((0.3, 0.8, 0.0))
    here = [model.state([0.4, 0.5, 0.3]) for model in (free, tied)]
    assert ph.inverse_kinematics(free, goal, here[0]).reachable
    assert ph.inverse_kinematics(tied, goal, here[1]).reachable


def test_loop_stays_closed_over_a_motion():
    """A five-bar's end follows a circle; warm starts keep each search within a few steps."""
    pin = PointConstraint("link_3", point=(0.5, 0.0, 0.0), other_point=(0.6, 0.0, 0.0))
    model = arm([pin], count=4)
    solver = ph.InverseKinematics(model, ph.Target("link_1", (0, 0, 0), at=(0.5, 0.0, 0.0)))
    state = ph.assemble(model, model.state([1.8, -0.8, -1.2, -0.8]))
    for angle in np.linspace(0.0, 6.0, 30):
        solver.set_goal(0, (0.4 + 0.1 * np.cos(angle), 0.6 + 0.1 * np.sin(angle), 0.0))
        found = solver.solve(state)
        assert found.reachable
        assert np.abs(pin.value(model, found.state)).max() <= TIED
        state = found.state


def test_what_no_search_can_keep_is_refused():
    """A coupler against a lock; rolling, which ties velocities alone."""
    model = arm([CouplingConstraint("link_1.angle", {"link_0.angle": 0.0})], [(0.3, 0.3)])
    with pytest.raises(ph.ModelError, match="'constraint_0' cannot be met"):
        ph.inverse_kinematics(model, tip((0.3, 0.8, 0.0)), starts=2)
    ball = ball_on(ph.joints.SplineSurface(net(lambda grid: 0.0 * grid[..., 0]), order=(4, 4)))
    with pytest.raises(ph.ModelError, match="rolling constraint 'rolling'"):
        ph.inverse_kinematics(ball, ph.Target("ball", position=(0, 0, 1)))


def test_zero_weights_and_missing_goals_count_for_nothing():
    model = arm()
    far = [tip((5.0, 5.0, 0.0), position_weight=0.0), ph.Target("link_1", np.full(3, np.nan))]
    near = ph.Target("link_2", (0.3, 0.8, 0.0))
    solver = ph.InverseKinematics(model, [near, *far])
    found = solver.solve(model.state())
    assert found.reachable and found.position_errors[1] == found.position_errors[2] == 0.0
    solver.set_goal(2, (0.0, 0.5, 0.0))  # it appears, with the weight of its target
    solver.set_goal(0, np.full(3, np.nan))
    found = solver.solve(model.state())
    assert found.reachable and found.position_errors[0] == 0.0
    pose = ph.body_poses(model, found.state)[1]
    assert np.abs(pose[:3, 3] - [0.0, 0.5, 0.0]).max() < 1e-6
    solver.set_goal(2, np.full(3, np.nan))
    before = model.state([0.1, 0.2, 0.3])
    assert np.array_equal(solver.solve(before).state.q, before.q)  # nothing is asked
    turn = ph.Target("link_0", rotation=np.full((3, 3), np.nan))
    assert ph.inverse_kinematics(model, [turn, near]).reachable


def test_weights_multiply_errors_before_they_are_squared():
    """Of two goals 1 m apart on a line, with weights 1 and 2, the point is nearer to the second by 1 : 4."""
    builder = ph.ModelBuilder()
    builder.add_body("block", joint=ph.joints.Slider(), **UNIT)
    along = builder.build().joints[0].transform(np.ones(1))[:3, 3]
    goals = [ph.Target("block", np.zeros(3)), ph.Target("block", along, position_weight=2.0)]
    found = ph.inverse_kinematics(builder.build(), goals)
    assert found.state.q[0] == pytest.approx(0.8, abs=KKT)
    assert found.converged and not found.reachable
