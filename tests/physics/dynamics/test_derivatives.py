"""Exact derivatives of inverse and forward dynamics against differences of fourth order."""

from dataclasses import replace

import numpy as np
import pytest

import physics as ph
from physics.kernels.joints.functions import evaluate_function, third_derivative
from tests.physics.bodies.test_limits import top
from tests.physics.dynamics.test_springs import sprung
from tests.physics.generators import (
    TREE_KINDS,
    loop_frames,
    random_inertia,
    random_joint,
    random_pose,
    random_state,
    random_tree,
    smooth_frames,
)

STEP = 2e-5
# Differences of fourth order lose about 1e-16 / STEP of the largest force to round-off, times a few.
ACCURACY = 1e-9


def slope(function, x, step=STEP):
    """Fourth-order central differences of a vector function of x (n,): columns belong to x."""
    columns = []
    for e in step * np.eye(len(x)):
        near, far = function(x + e) - function(x - e), function(x + 2.0 * e) - function(x - 2.0 * e)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.array(columns).T.reshape(-1, len(x))


def difference(model, state, qdd, step=STEP):
    """Largest difference of both derivatives from slopes, relative."""

    def force(q, qd):
        return ph.inverse_dynamics(model, replace(state, q=q, qd=qd), qdd)

    found = ph.inverse_dynamics_derivatives(model, state, qdd)
    expected = (
        slope(lambda q: force(q, state.qd), state.q, step),
        slope(lambda qd: force(state.q, qd), state.qd, step),
    )
    return max(
        np.abs(a - b).max(initial=0.0) / (1.0 + np.abs(b).max(initial=0.0)) for a, b in zip(found, expected)
    )


def between_hinges(rng, joint):
    """The joint in the middle of a chain: what lies before it turns it, what lies behind it is carried."""
    builder, parent = ph.ModelBuilder(gravity=rng.normal(size=3) * 5.0), None
    for i, link in enumerate(
        (ph.joints.Hinge(rng.normal(size=3)), joint, ph.joints.Hinge(rng.normal(size=3)))
    ):
        parent = builder.add_body(
            f"body {i}",
            parent,
            joint=link,
            joint_in_parent=random_pose(rng),
            body_in_joint=random_pose(rng, 0.1),
            mass=rng.uniform(0.5, 2.0),
            com=rng.normal(size=3) * 0.1,
            inertia=random_inertia(rng, 1.0),
            stiffness=1.0,
            damping=0.3,
            armature=0.01,
        )
    return builder.build()


@pytest.mark.parametrize("kind", TREE_KINDS)
def test_every_joint(kind):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        model = between_hinges(rng, random_joint(rng, kind))
        state = random_state(rng, model)
        assert difference(model, state, rng.normal(size=model.num_coordinates)) < ACCURACY


@pytest.mark.parametrize("length", [0.0, 1e-9, 1e-3, 0.999, 1.001, 2.5, 3.6, 6.0])
def test_rotation_vectors_of_any_length(length):
    rng = np.random.default_rng(3)
    for joint in (ph.joints.Spherical(), ph.joints.Inverted(ph.joints.Spherical())):
        model = between_hinges(rng, joint)
        direction = rng.normal(size=3)
        vector = length * direction / np.linalg.norm(direction)
        state = model.state(q=[0.3, *vector, -0.4], qd=rng.normal(size=5))
        assert (
            difference(model, state, rng.normal(size=5)) < 10.0 * ACCURACY
        )  # near 2 pi all slopes are steep


def test_curves_by_arc_length_and_beyond_their_ends():
    rng = np.random.default_rng(4)
    plain = ph.joints.SplineCurve(smooth_frames(rng, 9), order=5, length_scale=0.5)
    ring = ph.joints.SplineCurve(loop_frames(rng, 10), order=5, periodic=True, length_scale=0.5)
    for joint in (plain, replace(plain, coordinate="arc_length"), replace(ring, coordinate="arc_length")):
        model = between_hinges(rng, joint)
        lower, upper = joint.range[0] if np.isfinite(joint.range).all() else joint.domain
        for q in (lower + 0.37 * (upper - lower), lower - 0.2, upper + 0.3):
            state = model.state(q=[0.3, q, -0.4], qd=rng.normal(size=3))
            # a piece of the map from arc length to parameter joins the next one to about 1e-12
            assert difference(model, state, rng.normal(size=3)) < 10.0 * ACCURACY


@pytest.mark.parametrize("seed", range(8))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)))
    state = random_state(rng, model)
    assert difference(model, state, rng.normal(size=model.num_coordinates)) < 5.0 * ACCURACY


@pytest.mark.parametrize("seed", range(4))
def test_springs_and_dampers_between_bodies(seed):
    rng, model = sprung(seed, damping=3.0)
    state = random_state(rng, model)
    assert difference(model, state, rng.normal(size=model.num_coordinates)) < 5.0 * ACCURACY


def test_limits_that_give_way():
    rng = np.random.default_rng(5)
    limits = (ph.joints.ReachCone((0.3, 0.2, 1.0), 0.4), ph.joints.RotationLimit((0.3, 0.5, 0.4)))
    options = {"limit_stiffness": 50.0, "limit_damping": 2.0}
    models = [top(ph.joints.Spherical(limit=limit), **options) for limit in limits]
    models += [
        top(ph.joints.Euler(order), limits=[(-0.2, 0.1), (-0.1, 0.2), (-0.3, 0.3)], **options)
        for order in ("zyx", "xyz", "yzx")
    ]
    models.append(top(ph.joints.Universal(), limits=[(-0.1, 0.1), (-0.2, 0.2)], **options))
    acting = 0
    for model in models:
        for _ in range(6):
            q, qd = rng.uniform(-1.2, 1.2, model.num_coordinates), rng.normal(size=model.num_coordinates)
            state = model.state(q=q, qd=qd)
            force = ph.inverse_dynamics(model, state)
            assert difference(model, state, rng.normal(size=len(q))) < 5.0 * ACCURACY
            acting += np.abs(force).max() > 5.0
    assert acting > 10


@pytest.mark.parametrize("seed", range(3))
def test_forward_dynamics(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5, ("hinge", "spherical", "spline_curve", "universal", "moving_surface"))
    state = random_state(rng, model)
    tau = rng.normal(size=model.num_coordinates)
    found = ph.forward_dynamics_derivatives(model, state, tau)
    expected = (
        slope(lambda q: ph.forward_dynamics(model, replace(state, q=q), tau), state.q),
        slope(lambda qd: ph.forward_dynamics(model, replace(state, qd=qd), tau), state.qd),
        slope(lambda f: ph.forward_dynamics(model, state, f), tau),
    )
    for name, a, b in zip(found._fields, found, expected):
        assert np.abs(a - b).max() < 1e-7 * np.abs(b).max(), name  # the smallest inertia is the armature's


def test_third_derivatives_of_functions():
    joints, rng = ph.joints, np.random.default_rng(6)
    functions = (
        joints.Linear(1.3, 0.2),
        joints.Wave(0.4, -0.7, 0.1),
        joints.Polynomial(rng.normal(size=6)),
        joints.CubicSpline(np.cumsum(rng.uniform(0.5, 1.0, 6)) - 2.0, rng.normal(size=6)),
        joints.TangentAngle(0.4, 1.1),
    )
    for function in functions:
        data = function.data()
        for q in (-7.3, -0.61, 0.13, 0.94, 9.2):
            curve = slope(
                lambda x, data=data: np.array([evaluate_function(data, 0, float(x[0]))[2]]), np.array([q])
            )
            assert np.isclose(third_derivative(data, 0, q), curve[0, 0], rtol=1e-8, atol=1e-8), function


def test_bad_arguments_are_named():
    model = top(ph.joints.Spherical())
    with pytest.raises(ph.ModelError, match="qdd"):
        ph.inverse_dynamics_derivatives(model, model.state(), [1.0, np.nan, 0.0])
    with pytest.raises(ph.ModelError, match="tau"):
        ph.forward_dynamics_derivatives(model, model.state(), [1.0])
