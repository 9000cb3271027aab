"""Inverse kinematics: targets are met where they can be, and the nearest pose is told where they cannot."""

import os
import subprocess
import sys

import numpy as np
import pytest

import physics as ph
from tests.physics.generators import JOINT_KINDS, random_state, random_tree

# two wild surfaces in a row have dips in which one search may end
KINDS = tuple(kind for kind in JOINT_KINDS if kind != "surface_on_surface")

UNIT = {"mass": 1.0, "inertia": np.eye(3)}


def arm(*lengths, **options):
    """A planar chain of hinges about z; each link lies along the x axis of its body."""
    builder = ph.ModelBuilder()
    parent, before = None, 0.0
    for k, length in enumerate(lengths):
        placement = np.eye(4)
        placement[0, 3] = before
        parent = builder.add_body(
            f"link_{k}", parent, joint=ph.joints.Hinge(), joint_in_parent=placement, **UNIT, **options
        )
        before = length
    return builder.build()


def pose_of(model, state, body):
    return ph.body_poses(model, state)[model.index(body)]


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_come_back_to_poses_they_had(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6, KINDS)
    state = random_state(rng, model)
    poses = ph.body_poses(model, state)
    targets = [ph.Target.pose(name, poses[i]) for i, name in enumerate(model.body_names)]
    q = state.q + 0.05 * rng.normal(size=len(state.q)) * ~model.prescribed
    found = ph.inverse_kinematics(model, targets, model.state(q, time=0.0), starts=1)
    assert found.reachable, found
    assert np.abs(ph.body_poses(model, found.state) - poses).max() < 1e-5


def test_out_of_reach_tells_the_nearest_pose():
    model = arm(1.0, 1.0)
    target = ph.Target("link_1", position=(2.0, 2.0, 1.0), at=(1.0, 0.0, 0.0))
    found = ph.inverse_kinematics(model, target, model.state([0.3, 1.0]), starts=5)
    assert not found.reachable and found.converged and found.starts == 5
    expected = np.hypot(np.hypot(2.0, 2.0) - 2.0, 1.0)  # the stretched arm points at the goal
    assert abs(found.position_errors[0] - expected) < 1e-9
    # the cost is flat there: an error of the angles counts squared
    assert np.abs(found.state.q - [np.pi / 4, 0.0]).max() < 1e-4
    assert found.state.qd.tolist() == [0.0, 0.0]


def test_limits_hold_and_are_named():
    model = arm(1.0, 1.0, limits=(-0.5, 0.5))
    target = ph.Target("link_0", position=(0.0, 1.0, 0.0), at=(1.0, 0.0, 0.0))
    found = ph.inverse_kinematics(model, target)
    assert not found.reachable and found.at_limits == ("link_0.angle",)
    assert (
        found.state.q[0] == 0.5 and abs(found.position_errors[0] - 2.0 * np.sin(0.25 * np.pi - 0.25)) < 1e-9
    )
    free = ph.inverse_kinematics(model, target, limits=False)
    assert free.reachable and abs(free.state.q[0] - 0.5 * np.pi) < 1e-6


def test_coordinates_leave_a_limit_that_the_way_led_along():
    """From the far side of its range the elbow has to come back although the first steps run into a limit."""
    model = arm(1.0, 1.0, limits=(-2.0, 2.0))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        goal = rng.uniform(-1.9, 1.9, 2)
        pose = pose_of(model, model.state(goal), "link_1")
        start = model.state(rng.choice([-2.0, 2.0], 2))
        found = ph.inverse_kinematics(model, ph.Target.pose("link_1", pose), start)
        assert found.reachable
        assert (np.abs(found.state.q) <= 2.0).all()


def test_tilt_limit_of_a_ball_holds():
    builder = ph.ModelBuilder()
    cone = ph.joints.ReachCone((0.0, 0.0, 1.0), 0.6)
    builder.add_body("ball", joint=ph.joints.Spherical(limit=cone), **UNIT)
    model = builder.build()
    goal = ph.lie.so3_exp(np.array([0.0, 1.0, 0.0]))
    found = ph.inverse_kinematics(model, ph.Target("ball", rotation=goal), model.state([-0.3, -0.2, 0.5]))
    assert not found.reachable and found.converged
    assert abs(found.rotation_errors[0] - 0.4) < 1e-8
    assert np.abs(found.state.q - [0.0, 0.6, 0.0]).max() < 1e-6


def test_rotation_limit_and_euler_limits_hold():
    builder = ph.ModelBuilder()
    limit = ph.joints.RotationLimit((0.3, 0.6, 0.9))
    builder.add_body("ball", joint=ph.joints.Spherical(limit=limit), **UNIT)
    builder.add_body("gimbal", joint=ph.joints.Euler("xyz"), limits=[(-0.4, 0.4)] * 3, **UNIT)
    model = builder.build()
    rng = np.random.default_rng(5)
    for _ in range(10):
        goals = ph.lie.so3_exp(rng.normal(size=(2, 3)))
        targets = [ph.Target(name, rotation=goal) for name, goal in zip(model.body_names, goals)]
        found = ph.inverse_kinematics(model, targets, starts=3, max_steps=500)
        r, angles = found.state.q[:3], model.readings(found.state.q)[3:]
        reach = np.linalg.norm(np.array(limit.most) * r / np.linalg.norm(r))
        assert np.linalg.norm(r) <= reach + 1e-9
        assert np.abs(angles).max() <= 0.4 + 1e-9
        assert found.converged


def test_weights_decide_between_goals_that_exclude_each_other():
    builder = ph.ModelBuilder()
    builder.add_body("cart", joint=ph.joints.Slider((1, 0, 0)), **UNIT)
    model = builder.build()
    targets = [
        ph.Target("cart", position=(0, 0, 0), position_weight=1.0),
        ph.Target("cart", position=(1, 0, 0), position_weight=2.0),
    ]
    found = ph.inverse_kinematics(model, targets)
    assert not found.reachable and abs(found.state.q[0] - 0.8) < 1e-9  # (1 * 0 + 4 * 1) / 5
    assert np.abs(found.position_errors - [0.8, 0.2]).max() < 1e-9


def test_charts_change_on_the_way():
    """A free body goes from one side of the chart's end to the other."""
    builder = ph.ModelBuilder()
    builder.add_body("body", joint=ph.joints.Free(), **UNIT)
    model = builder.build()
    start = model.state([0, 0, 0, 0, 0, 3.1])
    goal = np.eye(4)
    goal[:3, :3] = ph.lie.so3_exp(np.array([0.2, 0.0, 5.0]))
    goal[:3, 3] = [1.0, -2.0, 3.0]
    found = ph.inverse_kinematics(model, ph.Target.pose("body", goal), start, starts=1)
    assert found.reachable and np.linalg.norm(found.state.q[3:]) < np.pi + 0.5
    assert np.abs(pose_of(model, found.state, "body") - goal).max() < 1e-6


def test_held_and_prescribed_coordinates_stay():
    rng = np.random.default_rng(2)
    model = random_tree(rng, 5, ("hinge", "spherical", "moving_surface"))
    state = random_state(rng, model)
    target = ph.Target(model.body_names[-1], position=(0.3, 0.2, 0.1))
    found = ph.inverse_kinematics(model, target, state, held=["body_0"], starts=4)
    same = np.array(model.prescribed)
    same[model.coordinate_slice("body_0")] = True
    assert (found.state.q[same] == state.q[same]).all()


def test_scale_and_far_away_make_no_difference():
    """A kilometre from the origin, in millimetre-sized links."""
    builder = ph.ModelBuilder()
    place = np.eye(4)
    place[:3, 3] = [1000.0, 0.0, 0.0]
    builder.add_body("base", joint=ph.joints.Hinge(), joint_in_parent=place, **UNIT)
    place = np.eye(4)
    place[0, 3] = 1e-3
    builder.add_body("tip", "base", joint=ph.joints.Hinge(), joint_in_parent=place, **UNIT)
    model = builder.build()
    goal = pose_of(model, model.state([0.4, -0.9]), "tip")
    found = ph.inverse_kinematics(
        model, ph.Target("tip", goal[:3, 3], at=(0, 0, 0)), model.state([0.1, 0.1]), position_tolerance=1e-10
    )
    assert found.reachable and abs(found.state.q[0] - 0.4) < 1e-6


def test_unjitted_gives_the_same():
    code = (
        "import numpy as np, physics as ph\n"
        "from tests.physics.leg import leg, random_leg_coordinates\n"
        "rng = np.random.default_rng(3); model = leg()\n"
        "goal = ph.body_poses(model, model.state(random_leg_coordinates(rng)))[2]\n"
        "found = ph.inverse_kinematics(model, ph.Target.pose('foot', goal), model.state(random_leg_coordinates(rng)))\n"
        "print(repr(found.state.q.tolist()), found.steps)\n"
    )
    answers = []
    for switch in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "CONDYLE_JIT": switch},
            check=True,
        )
        answers.append(done.stdout)
    unjitted, jitted = (np.array(eval_list(text)) for text in answers)
    assert np.abs(unjitted - jitted).max() < 1e-9


def eval_list(text):
    return [float(number) for number in text[text.index("[") + 1 : text.index("]")].split(",")]


def test_targets_travel_as_text():
    target = ph.Target.pose("foot", np.eye(4), at=(0.0, 0.1, 0.0), rotation_weight=0.2)
    again = ph.Target.from_dict(target.to_dict())
    assert again.to_dict() == target.to_dict()
    with pytest.raises(ph.FormatError, match="unknown key 'colour'"):
        ph.Target.from_dict({"body": "foot", "colour": "red"})
    with pytest.raises(ph.FormatError, match="lacks the key 'body'"):
        ph.Target.from_dict({})


@pytest.mark.parametrize(
    "change, words",
    [
        ({"targets": []}, "at least one target"),
        ({"targets": ph.Target("hand", position=(0, 0, 0))}, "no body is named 'hand'"),
        ({"targets": ph.Target("link_0")}, "has no goal"),
        (
            {"targets": ph.Target("link_0", position=(0, np.nan, 0))},
            "position of the target of body 'link_0'",
        ),
        ({"targets": ph.Target("link_0", rotation=2 * np.eye(3))}, "rotation of the target of body 'link_0'"),
        ({"targets": ph.Target("link_0", (0, 0, 0), position_weight=-1.0)}, "position_weight .* got -1"),
        ({"targets": "link_0"}, "targets must be"),
        ({"starts": 0}, "starts must be at least 1, got 0"),
        ({"max_steps": 0}, "max_steps must be at least 1, got 0"),
        ({"position_tolerance": 0.0}, "position_tolerance must be positive"),
        ({"held": ["thumb"]}, "no body is named 'thumb'"),
        ({"state": "rest"}, "a state is needed"),
    ],
)
def test_bad_input_is_named(change, words):
    keywords = {"targets": ph.Target("link_0", position=(1, 0, 0)), **change}
    with pytest.raises(ph.ModelError, match=words):
        ph.inverse_kinematics(arm(1.0), keywords.pop("targets"), **keywords)
    solver = ph.InverseKinematics(arm(1.0), ph.Target("link_0", position=(1, 0, 0)))
    with pytest.raises(ph.ModelError, match="no target 1"):
        solver.set_goal(1, position=(0, 0, 0))


@pytest.mark.parametrize("changes", [{"targets": 3}, {"targets": None}, {"held": 3}, {"held": None}])
def test_what_is_no_list_is_named(changes):
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3))
    given = {"targets": ph.Target("a", position=(1.0, 0.0, 0.0)), **changes}
    with pytest.raises(ph.ModelError, match=f"{next(iter(changes))} must be .* got"):
        ph.inverse_kinematics(builder.build(), **given)
