"""A curve by its arc length or by an angle: the path stays, the coordinate is what it says, to round-off."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import physics as ph
from physics.geometry import lie
from tests.physics.generators import loop_frames, smooth_frames

SKEWED = 2.0 * np.eye(6) + 0.3 * np.ones((6, 6))


def curve(seed, order, periodic, metric=None):
    rng = np.random.default_rng(seed)
    frames = loop_frames(rng, 12) if periodic else smooth_frames(rng, 9)
    return ph.joints.SplineCurve(frames, order=order, periodic=periodic, length_scale=0.5, metric=metric)


def turning(angles, wobble=0.2):
    """Control frames that turn about z by angles (n,), and swing and move besides."""
    turns = lie.exp(np.asarray(angles)[:, None] * [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    swings = np.stack([np.sin(angles), np.cos(2.0 * np.asarray(angles))], axis=1)
    twists = np.concatenate(
        [wobble * swings, np.zeros((len(angles), 1)), 0.1 * swings, swings[:, :1]], axis=1
    )
    return turns @ lie.exp(twists)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([4, 5, 6]), st.booleans(), st.sampled_from([None, SKEWED]))
def test_the_speed_by_arc_length_is_one(seed, order, periodic, metric):
    """|s(q)| = 1 in the joint's metric between knots, at knots and beyond the ends; the joint tells its error."""
    plain = curve(seed, order, periodic, metric)
    joint = replace(plain, coordinate="arc_length")
    assert joint.coordinate_error < 1e-12
    q = np.linspace(*joint.domain, 21)
    q = np.concatenate(
        [q, joint.coordinate_at(plain.knots[order : len(plain.frames)]), joint.domain + [-0.3, 0.2]]
    )
    speed = [float(joint.twist_metric.norm(joint.evaluate(value)[1][:, 0])) for value in q]
    np.testing.assert_allclose(speed, 1.0, atol=2e-12)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([4, 5, 6]), st.booleans())
def test_the_path_is_the_same(seed, order, periodic):
    """Only the coordinate changes, and it goes back and forth to round-off."""
    plain = curve(seed, order, periodic)
    joint = replace(plain, coordinate="arc_length")
    q = np.linspace(*joint.domain, 101)
    parameters = joint.parameter_at(q)
    np.testing.assert_allclose(
        joint.transform(q[:, None]), plain.transform(parameters[:, None]), atol=2e-14 * len(plain.frames)
    )
    assert (np.diff(parameters) > 0.0).all()
    np.testing.assert_allclose(joint.coordinate_at(parameters), q, atol=1e-13 * joint.domain[1])
    if periodic:
        np.testing.assert_allclose(
            joint.transform(q[:, None] + 3.0 * joint.period), joint.transform(q[:, None]), atol=1e-12
        )


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("inverted", [False, True])
def test_the_hessian_is_the_derivative_of_the_jacobian(periodic, inverted):
    """Also where the joint runs backward or is part of another one."""
    joint = replace(curve(3, 5, periodic), coordinate="arc_length")
    joint = ph.joints.Inverted(joint) if inverted else joint
    step = 1e-5
    for q in np.linspace(0.05, 0.9, 12):
        _, _, hessian = joint.evaluate(q)
        change = (joint.evaluate(q + step)[1] - joint.evaluate(q - step)[1]) / (2.0 * step)
        np.testing.assert_allclose(hessian[:, :, 0], change, atol=1e-6 * (1.0 + np.abs(hessian).max()))


def test_the_angle_is_the_coordinate():
    """q is the rotation's part about the axis, counted on beyond half a turn; falling angles are fine."""
    for sense in (1.0, -1.0):
        joint = ph.joints.SplineCurve(
            turning(sense * np.linspace(-0.5, 5.0, 12)), coordinate="angle", axis=(0.0, 0.0, 2.0)
        )
        assert joint.coordinate_units == ("rad",) and joint.coordinate_error < 5e-12
        q = np.linspace(*joint.domain, 40)
        quaternions = lie.quaternion_from_matrix(joint.transform(q[:, None])[:, :3, :3])
        angle = 2.0 * np.arctan2(quaternions[:, 3], quaternions[:, 0])
        np.testing.assert_allclose(np.exp(1j * angle), np.exp(1j * q), atol=1e-11)
        assert joint.domain[1] - joint.domain[0] > 5.0


def test_the_angle_of_a_closed_curve_counts_whole_turns():
    joint = ph.joints.SplineCurve(
        turning(np.arange(12) * np.pi / 6.0), periodic=True, coordinate="angle", axis=(0.0, 0.0, 1.0)
    )
    assert joint.period == pytest.approx(2.0 * np.pi, abs=1e-12)


def test_a_coordinate_that_does_not_rise_is_refused_with_the_place():
    there_and_back = turning(np.array([0.0, 0.4, 0.8, 1.2, 0.8, 0.4, 0.0]), wobble=1.0)
    with pytest.raises(
        ph.ModelError, match=r"angle about \[0.0, 0.0, 1.0\] cannot be .* at parameter [0-9.]+"
    ):
        ph.joints.SplineCurve(there_and_back, coordinate="angle", axis=(0.0, 0.0, 1.0))
    straight = np.tile(np.eye(4), (7, 1, 1))
    straight[:, 0, 3] = [0, 1, 2, 3, 2, 1, 0]
    with pytest.raises(ph.ModelError, match=r"arc length cannot be .* stands still at parameter 3 "):
        ph.joints.SplineCurve(straight, coordinate="arc_length")
    flipped = np.diag([1.0, -1.0, -1.0, 1.0]) @ turning(np.linspace(0.0, 2.0, 6), 0.0)
    with pytest.raises(ph.ModelError, match="swings half a turn away from the axis"):
        ph.joints.SplineCurve(flipped, coordinate="angle", axis=(0, 0, 1))


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"coordinate": "time"}, "coordinate must be one of parameter, arc_length, angle, got 'time'"),
        ({"coordinate": "angle"}, "needs an axis"),
        ({"axis": (0, 0, 1)}, "no other takes one; got 'parameter'"),
        ({"coordinate": "angle", "axis": (0, 0, 0)}, "axis must not be the zero vector"),
        ({"metric": -np.eye(6)}, "metric must be positive definite"),
    ],
)
def test_bad_coordinates_are_named(keywords, says):
    with pytest.raises(ph.ModelError, match=says):
        replace(curve(0, 4, False), **keywords)


def test_copies_and_files_give_the_same_joint():
    joint = replace(curve(2, 4, False, SKEWED), coordinate="arc_length")
    for other in (
        pickle.loads(pickle.dumps(joint)),
        copy.deepcopy(joint),
        ph.joints.from_dict(json.loads(json.dumps(joint.to_dict()))),
    ):
        assert other == joint
        np.testing.assert_array_equal(other.transform(np.array([[0.4]])), joint.transform(np.array([[0.4]])))
    assert not {"coordinate", "axis", "metric"} & set(curve(2, 4, False).to_dict())


def test_the_dynamics_follow_the_coordinate(tmp_path):
    """A body on the curve by arc length is the same body: energies and accelerations map by the chain rule; it goes
    through a file."""
    plain = curve(4, 5, False)
    joint = replace(plain, coordinate="arc_length")
    models = []
    for one in (plain, joint):
        builder = ph.ModelBuilder()
        builder.add_body("bead", joint=one, mass=1.0, com=(0.0, 0.1, 0.0), inertia=0.1 * np.eye(3))
        models.append(builder.build())
    q, rate = 0.5 * joint.domain.sum(), 0.7
    parameter = float(joint.parameter_at(q))
    step = 1e-4
    ahead, behind = joint.parameter_at(q + step), joint.parameter_at(q - step)
    slope, bend = (ahead - behind) / (2.0 * step), (ahead - 2.0 * parameter + behind) / step**2
    one = models[0].state(q=[parameter], qd=[slope * rate])
    other = models[1].state(q=[q], qd=[rate])
    assert ph.energy(models[1], other).total == pytest.approx(ph.energy(models[0], one).total, abs=1e-7)
    expected = slope * ph.forward_dynamics(models[1], other)[0] + bend * rate**2
    assert ph.forward_dynamics(models[0], one)[0] == pytest.approx(expected, rel=1e-5)
    ph.save_model(models[1], tmp_path / "bead.json")
    assert ph.load_model(tmp_path / "bead.json").model.joints[0] == joint
