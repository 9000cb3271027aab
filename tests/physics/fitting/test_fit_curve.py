"""What a fit promises: closeness, smoothing of the same meaning on every scale."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics.geometry import lie
from tests.physics.generators import loop_frames, smooth_frames
from tests.verification.fitting_data import squared_hessian, wandering_poses

FLEXION = np.radians(knee_kinematics.FLEXION_DEGREES)


def noisy_fit(smoothing, **keywords):
    return ph.fit_curve(knee_kinematics.noisy_poses(), num_frames=10, smoothing=smoothing, **keywords)


def check_residuals(fit, poses, atol=1e-12):
    """Residuals against the joint itself."""
    placed = fit.joint.transform(fit.q.reshape(len(poses), -1))
    twists = lie.log(lie.inverse(placed) @ poses)
    np.testing.assert_allclose(fit.residuals.rotation, np.linalg.norm(twists[:, :3], axis=1), atol=atol)
    gaps = np.linalg.norm(poses[:, :3, 3] - placed[:, :3, 3], axis=1)
    np.testing.assert_allclose(fit.residuals.translation, gaps, atol=atol)
    scaled = twists / np.repeat([1.0, fit.length_scale], 3)
    np.testing.assert_allclose(fit.residuals.distance, np.linalg.norm(scaled, axis=1), atol=atol)


@pytest.mark.parametrize(("num_frames", "millimetres"), [(8, 0.1), (10, 0.05)])
def test_published_knee(num_frames, millimetres):
    poses = knee_kinematics.keyed_poses()
    fit = ph.fit_curve(poses, num_frames=num_frames)
    assert fit.converged
    assert fit.residuals.translation.max() < 1e-3 * millimetres
    assert fit.residuals.rotation.max() < np.radians(0.05)
    check_residuals(fit, poses)
    assert (np.diff(fit.q) > 0.0).all()
    assert fit.q[0] == fit.joint.range[0, 0] and fit.q[-1] == pytest.approx(fit.joint.range[0, 1])


def test_natural_parameters_give_nearly_unit_speed():
    fit = ph.fit_curve(knee_kinematics.keyed_poses(), num_frames=8)
    weights = 1.0 / np.repeat([1.0, fit.length_scale], 3)
    speeds = [
        np.linalg.norm(weights * fit.joint.evaluate([q])[1][:, 0])
        for q in np.linspace(*fit.joint.range[0], 50)
    ]
    assert np.abs(np.array(speeds) - 1.0).max() < 0.01  # measured: 0.003


@pytest.mark.parametrize("order", [4, 5, 6, 9])
def test_poses_of_a_spline_give_the_spline_back(order):
    rng = np.random.default_rng(order)
    joint = ph.joints.SplineCurve(wandering_poses(rng, 9), order=order)
    q = np.linspace(*joint.range[0], 40)
    fit = ph.fit_curve(joint.transform(q[:, None]), q=q, num_frames=9, order=order, knots=joint.knots)
    assert fit.converged
    np.testing.assert_allclose(fit.joint.frames, joint.frames, atol=1e-9)
    np.testing.assert_array_equal(fit.joint.knots, joint.knots)


def test_least_squares_gradient_vanishes():
    """At the solution no small motion of any control frame brings the curve closer."""
    poses = wandering_poses(np.random.default_rng(1), 30)
    q = np.arange(30.0)
    fit = ph.fit_curve(poses, q=q, num_frames=9)
    best = (fit.residuals.distance**2).sum()
    rng = np.random.default_rng(2)
    for _ in range(10):
        change = 1e-4 * rng.normal(size=(9, 6))
        moved = ph.joints.SplineCurve(fit.joint.frames @ lie.exp(change), knots=fit.joint.knots)
        twists = lie.log(lie.inverse(moved.transform(q[:, None])) @ poses)
        assert ((twists / np.repeat([1.0, fit.length_scale], 3)) ** 2).sum() > best


@pytest.mark.parametrize("smoothing", [0.0, 0.8])
def test_integral_of_the_hessian_of_the_noisy_knee(smoothing):
    fit = noisy_fit(smoothing)
    # three Gauss points a span against 2000 samples
    assert fit.hessian_integral == pytest.approx(squared_hessian(fit), rel=1e-2)


def test_smoothing_weight_rises_steadily():
    fits = [noisy_fit(w) for w in (0.0, 0.01, 0.1, 0.5, 0.9, 0.99)]
    assert all(fit.converged for fit in fits)
    assert all(a.hessian_integral > b.hessian_integral for a, b in pairwise(fits))
    misfits = [np.sqrt((fit.residuals.distance**2).mean()) for fit in fits]
    assert misfits[-1] > misfits[0]


def test_heavy_smoothing_gives_a_screw_motion():
    fit = noisy_fit(0.999999)
    assert fit.hessian_integral < 1e-6
    twists = [fit.joint.evaluate([q])[1][:, 0] for q in np.linspace(*fit.joint.range[0], 20)]
    assert np.ptp(twists, axis=0).max() < 2e-3


def test_smoothing_does_not_know_the_units_of_q_nor_the_number_of_poses():
    poses = wandering_poses(np.random.default_rng(3), 25)
    q = np.arange(25.0)
    one = ph.fit_curve(poses, q=q, num_frames=10, smoothing=0.5)
    other = ph.fit_curve(poses, q=1000.0 * q - 5.0, num_frames=10, smoothing=0.5)
    np.testing.assert_allclose(one.joint.frames, other.joint.frames, atol=1e-9)
    scaled = poses.copy()
    scaled[:, :3, 3] *= 50.0
    larger = ph.fit_curve(scaled, q=q, num_frames=10, smoothing=0.5)
    np.testing.assert_allclose(larger.joint.frames[:, :3, 3], 50.0 * one.joint.frames[:, :3, 3], atol=1e-8)
    # every pose twice, at (nearly) the same place: the same weight smooths as much
    twice = ph.fit_curve(
        np.repeat(poses, 2, axis=0), q=np.repeat(q, 2) + np.tile([0.0, 1e-9], 25), num_frames=10, smoothing=0.5,
        knots=one.joint.knots + np.where(one.joint.knots > 12.0, 1e-9, 0.0),
    )  # fmt: skip
    np.testing.assert_allclose(twice.joint.frames, one.joint.frames, atol=1e-7)


def test_half_smoothing_halves_a_wave_of_a_quarter_of_the_range():
    """What the weight means: at 1/2, four waves over the range keep half of their height."""
    q = np.linspace(0.0, 1.0, 400)
    poses = np.tile(np.eye(4), (400, 1, 1))
    poses[:, 0, 3] = q
    poses[:, 1, 3] = 1e-3 * np.sin(8.0 * np.pi * q)
    fit = ph.fit_curve(poses, q=q, num_frames=60, smoothing=0.5, length_scale=1.0)
    inner = np.linspace(0.3, 0.7, 200)  # away from the ends
    height = np.ptp(fit.joint.transform(inner[:, None])[:, 1, 3]) / 2e-3
    assert height == pytest.approx(0.5, abs=0.02)


def test_more_frames_than_poses_when_smoothing():
    poses = wandering_poses(np.random.default_rng(4), 8)
    fit = ph.fit_curve(poses, num_frames=30, smoothing=1e-3)
    assert fit.converged and len(fit.joint.frames) == 30
    assert fit.residuals.distance.max() < 1e-2
    check_residuals(fit, poses)


@pytest.mark.parametrize(("num_frames", "smoothing"), [(12, 0.0), (8, 0.0), (8, 0.2), (16, 0.2)])
def test_closed_curves(num_frames, smoothing):
    poses = loop_frames(np.random.default_rng(5), 12)
    fit = ph.fit_curve(poses, num_frames=num_frames, smoothing=smoothing, periodic=True)
    assert fit.converged and fit.joint.periodic
    check_residuals(fit, poses)
    if num_frames == 12:
        assert fit.residuals.distance.max() < 1e-9
    turn = fit.joint.transform(np.array([[fit.q[0]], [fit.q[0] + fit.joint.period]]))
    np.testing.assert_allclose(turn[0], turn[1], atol=1e-12)
    assert fit.q[-1] < fit.q[0] + fit.joint.period


def test_closed_curve_with_given_parameters():
    poses = loop_frames(np.random.default_rng(6), 20)
    q = 2.0 + 0.5 * np.arange(20.0)
    fit = ph.fit_curve(poses, q=q, num_frames=12, periodic=True, end=12.0)
    assert fit.joint.period == pytest.approx(10.0)
    np.testing.assert_array_equal(fit.q, q)
    check_residuals(fit, poses)


def test_given_parameters_and_knots_are_kept():
    poses = knee_kinematics.keyed_poses()
    fit = ph.fit_curve(poses, q=FLEXION, num_frames=8)
    np.testing.assert_array_equal(fit.q, FLEXION)
    np.testing.assert_allclose(fit.joint.range[0], FLEXION[[0, -1]])
    knots = ph.splines.clamped_knots(8, 4, 0.0, 1.0)
    fit = ph.fit_curve(poses, num_frames=8, knots=knots)
    np.testing.assert_array_equal(fit.joint.knots, knots)
    assert fit.q[0] == 0.0 and fit.q[-1] == 1.0


def test_length_scale_weighs_rotation_against_translation():
    poses = knee_kinematics.noisy_poses()
    near, far = (ph.fit_curve(poses, q=FLEXION, num_frames=6, length_scale=scale) for scale in (1e-3, 10.0))
    assert near.residuals.translation.max() < far.residuals.translation.max()
    assert near.residuals.rotation.max() > far.residuals.rotation.max()
    assert near.joint.length_scale == 1e-3


def test_pure_rotation_and_pure_translation():
    turn = np.linspace(0.0, 2.0, 9)[:, None]
    rotations = lie.exp(turn * [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    straight = lie.exp(turn * [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    for poses in (rotations, straight):
        fit = ph.fit_curve(poses, num_frames=4)
        assert fit.converged and fit.residuals.distance.max() < 1e-12
        assert fit.hessian_integral < 1e-20


def test_order_3_warns_once():
    poses = wandering_poses(np.random.default_rng(8), 12)
    with pytest.warns(UserWarning, match="order 3") as caught:
        fit = ph.fit_curve(poses, num_frames=6, order=3)
    assert len(caught) == 1 and fit.joint.order == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.fit_curve(poses, num_frames=6, order=4)


def test_same_input_gives_the_same_bits_and_leaves_it_alone():
    poses = knee_kinematics.noisy_poses()
    before = poses.copy()
    one, other = (ph.fit_curve(poses, num_frames=10, smoothing=0.3) for _ in range(2))
    np.testing.assert_array_equal(one.joint.frames, other.joint.frames)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(poses, before)


def test_progress_rises_and_cancels():
    seen = []

    def watch(fraction, message):
        seen.append(fraction)
        assert "round" in message

    noisy_fit(0.1, progress=watch)
    assert len(seen) > 3 and all(0.0 <= fraction < 1.0 for fraction in seen)
    assert all(before <= after for before, after in pairwise(seen))
    with pytest.raises(ph.CancelledError, match="round 1, step 3"):
        noisy_fit(0.1, progress=lambda fraction, message: "step 3" not in message)


def test_report_is_plain_and_in_millimetres_and_degrees():
    fit = noisy_fit(0.5)
    report = json.loads(json.dumps(fit.report()))
    assert len(report["poses"]) == 13
    assert report["max_mm"] == pytest.approx(1e3 * fit.residuals.translation.max())
    assert report["poses"][4]["degrees"] == pytest.approx(np.degrees(fit.residuals.rotation[4]))
    assert report["converged"] is True and report["iterations"] == fit.iterations == len(fit.steps)


def test_frames_that_no_pose_reaches_are_refused():
    """Poses crowded at the beginning of given knots leave the far frames free: no fit could place them."""
    poses = smooth_frames(np.random.default_rng(0), 10)
    knots = ph.splines.clamped_knots(8, 4)
    with pytest.raises(ph.FitError, match="of the 8 control frames"):
        ph.fit_curve(poses, q=np.linspace(0.0, 0.1, 10), num_frames=8, knots=knots)
    assert ph.fit_curve(poses, q=np.linspace(0.0, 0.1, 10), num_frames=8, knots=knots, smoothing=0.5)


def test_a_fit_far_from_the_origin_is_the_same():
    poses = smooth_frames(np.random.default_rng(1), 12)
    far = poses.copy()
    far[:, :3, 3] += 1e6
    near, there = ph.fit_curve(poses, num_frames=8), ph.fit_curve(far, num_frames=8)
    assert there.converged
    # 1e6 m hold 1e-10 m in double precision; the fit moves about as much
    assert np.abs(there.joint.frames[:, :3, 3] - 1e6 - near.joint.frames[:, :3, 3]).max() < 1e-7
