"""Rows of every constraint against differences along motions."""

import json
import pickle

import numpy as np
import pytest

import physics as ph
from physics import constraints
from tests.physics.generators import random_pose, random_state, random_tree

STEP = 1e-5  # of the central differences: their error is 1e-10 of the third derivative


def moved(state, time):
    return ph.State(state.q + time * state.qd, state.qd, state.time + time, state.chart)


def rate(function, state):
    return (function(moved(state, STEP)) - function(moved(state, -STEP))) / (2.0 * STEP)


def scale(model, state):
    return 1.0 + np.abs(state.qd).max() ** 3


def one_of_each(rng, model, other, body=None):
    """Constraints of every kind whose value is defined everywhere, between a body, by default the last, and another."""
    last, names = body or model.body_names[-1], model.coordinate_names
    points = {"point": rng.normal(size=3), "other_point": rng.normal(size=3)}
    yield constraints.PointConstraint(last, other, **points)
    for sense in ("rod", "rope", "strut"):
        yield constraints.DistanceConstraint(last, other, length=0.7, sense=sense, **points)
    drivers = {names[0]: 0.3, names[1]: -1.2}
    function = ph.joints.functions.Polynomial((0.1, 0.5, -0.2, 0.05))
    more = [({names[1]: 0.7, names[2]: 0.4}, ph.joints.functions.Wave(0.3, -0.2))]
    yield constraints.CouplingConstraint(names[-1], drivers, function)
    yield constraints.CouplingConstraint(names[-1], drivers, function, more)


def frames_of_each(rng, other, last):
    yield constraints.HingeConstraint(last, other, random_pose(rng), random_pose(rng))
    yield constraints.WeldConstraint(last, other, random_pose(rng), random_pose(rng))


@pytest.mark.parametrize("seed", range(6))
def test_jacobian_and_bias(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    state = random_state(rng, model)
    for other in (model.body_names[1], None):
        for constraint in one_of_each(rng, model, other):
            jacobian = constraint.jacobian(model, state)
            assert jacobian.shape == (constraint.num_rows, model.num_coordinates)
            error = jacobian @ state.qd - rate(lambda s, c=constraint: c.value(model, s), state)
            assert np.abs(error).max() < 1e-6 * scale(model, state), constraint.type
        for constraint in (
            *one_of_each(rng, model, other),
            *frames_of_each(rng, other, model.body_names[-1]),
        ):
            change = rate(lambda s, c=constraint: c.jacobian(model, s) @ s.qd, state)
            assert np.abs(constraint.bias(model, state) - change).max() < 1e-5 * scale(model, state), (
                constraint.type
            )


@pytest.mark.parametrize("seed", range(4))
def test_frames_where_they_meet(seed):
    """Rotations are as the Jacobian says where the constraint is met: elsewhere only the zero matters."""
    rng = np.random.default_rng(100 + seed)
    model = random_tree(rng, 5)
    state = random_state(rng, model)
    last, other = model.body_names[-1], model.body_names[1]
    poses = ph.body_poses(model, state)
    frame = random_pose(rng)
    there = ph.lie.inverse(poses[1]) @ poses[-1] @ frame
    for kind in (constraints.WeldConstraint, constraints.HingeConstraint):
        constraint = kind(last, other, frame, there)
        assert np.abs(constraint.value(model, state)).max() < 1e-13
        error = constraint.jacobian(model, state) @ state.qd - rate(
            lambda s, c=constraint: c.value(model, s), state
        )
        assert np.abs(error).max() < 1e-6 * scale(model, state)


def test_files_and_copies():
    rng = np.random.default_rng(3)
    model = random_tree(rng, 4)
    last, other = model.body_names[-1], model.body_names[0]
    some = [
        *one_of_each(rng, model, other),
        *frames_of_each(rng, other, last),
        constraints.RollingConstraint(last),
    ]
    for constraint in some:
        again = constraints.from_dict(json.loads(json.dumps(constraint.to_dict())))
        assert again == constraint and hash(again) == hash(constraint)
        assert pickle.loads(pickle.dumps(constraint)) == constraint


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: constraints.PointConstraint("a", "a"), "two bodies, got 'a' twice"),
        (lambda: constraints.PointConstraint("a", point=(0, 0)), r"point of a point constraint must have shape \(3,\)"),
        (lambda: constraints.WeldConstraint("a", frame=np.zeros((4, 4))), "frame of a weld constraint"),
        (lambda: constraints.DistanceConstraint("a", length=0.0), "length .* must be positive, got 0"),
        (lambda: constraints.DistanceConstraint("a", sense="spring"), "rod, rope, strut, got 'spring'"),
        (lambda: constraints.CouplingConstraint("a", {}), "coupling drivers must be"),
        (lambda: constraints.CouplingConstraint("a", {"a": 1.0}), "cannot drive itself"),
        (lambda: constraints.CouplingConstraint("a", {"b": np.nan}), "weight of driver 'b' .* finite, got nan"),
        (lambda: constraints.CouplingConstraint("a", {"b": 1.0}, None, [{"c": 1.0}]), "must be pairs"),
        (lambda: constraints.RollingConstraint(None), "must be a body or its name, got None"),
    ],
)  # fmt: skip
def test_bad_values_are_named(make, words):
    with pytest.raises(ph.ModelError, match=words):
        make()


def test_builder_refuses_what_is_missing():
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3))
    with pytest.raises(ph.ModelError, match="constraint 'c': no body is named 'b'"):
        builder.add_constraint("c", constraints.PointConstraint("b"))
    with pytest.raises(ph.ModelError, match="no coordinate is named"):
        builder.add_constraint("c", constraints.CouplingConstraint("a.length", {"a.angle": 1.0}))
    with pytest.raises(ph.ModelError, match="needs a composite joint that begins with a spline surface"):
        builder.add_constraint("c", constraints.RollingConstraint("a"))
    builder.add_constraint("c", constraints.PointConstraint("a"))
    with pytest.raises(ph.ModelError, match="constraint or a target named 'c' already"):
        builder.add_constraint("c", constraints.PointConstraint("a"))
    with pytest.raises(ph.ModelError, match="body 'b' of loop joint 'd' is missing"):
        builder.add_loop_joint("d", "b", None, joint=ph.joints.Hinge())
    assert list(builder.constraints) == ["c"] and len(builder.bodies) == 1
