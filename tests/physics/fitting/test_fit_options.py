"""What users can ask of a curve fit beside the closest curve: each wish is kept, and changes nothing else."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics.geometry import lie
from tests.physics.generators import loop_frames
from tests.verification.fitting_data import wandering_poses

KEYED = knee_kinematics.keyed_poses()
NOISY = knee_kinematics.noisy_poses()
# what equations may miss: round-off of poses of size 1, times the second derivatives' factors
HELD = 1e-12


def offsets(fit, poses):
    """Twists from the curve to the poses, from the joint alone (N, 6)."""
    return lie.log(lie.inverse(fit.joint.transform(fit.q[:, None])) @ poses)


def random_metric(rng):
    root = rng.normal(size=(6, 6)) * np.repeat([1.0, 3.0], 3)
    return root @ root.T + 0.1 * np.eye(6)


def test_a_metric_of_weights_is_a_length_scale_by_another_name():
    """Two ways to say the same thing give the same curve."""
    by_length = ph.fit_curve(NOISY, num_frames=8, length_scale=0.05)
    by_weights = ph.fit_curve(NOISY, num_frames=8, metric={"rotation": 1.0, "translation": 400.0})
    np.testing.assert_allclose(by_weights.joint.frames, by_length.joint.frames, atol=1e-9)
    assert by_weights.length_scale == pytest.approx(0.05)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_only_the_shape_of_a_metric_counts(smoothing):
    """A fit must not know the unit of mass: neither curve nor parameters change."""
    matrix = random_metric(np.random.default_rng(0))
    one, other = (
        ph.fit_curve(NOISY, num_frames=8, smoothing=smoothing, metric=factor * matrix)
        for factor in (1.0, 1e6)
    )
    np.testing.assert_allclose(one.joint.frames, other.joint.frames, atol=1e-9)
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_the_gradient_vanishes_in_a_coupled_metric(seed):
    """Least squares in the metric that was asked for, not in its diagonal."""
    rng = np.random.default_rng(seed)
    matrix = random_metric(rng)
    q = np.arange(float(len(NOISY)))
    fit = ph.fit_curve(NOISY, q=q, num_frames=7, metric=matrix)
    assert fit.converged
    best = np.einsum("ni,ij,nj->", (r := offsets(fit, NOISY)), matrix, r)
    for _ in range(10):
        moved = ph.joints.SplineCurve(
            fit.joint.frames @ lie.exp(1e-4 * rng.normal(size=(7, 6))), knots=fit.joint.knots
        )
        r = lie.log(lie.inverse(moved.transform(q[:, None])) @ NOISY)
        assert np.einsum("ni,ij,nj->", r, matrix, r) > best


def test_the_inertia_of_a_body_is_its_kinetic_energy():
    """Kaufman's metric: |twist|^2 is twice the kinetic energy, up to the factor that makes lengths radians."""
    mass, com, inertia = 3.0, np.array([0.02, -0.2, 0.01]), np.diag([0.05, 0.01, 0.055])
    fit = ph.fit_curve(NOISY, num_frames=8, metric={"mass": mass, "com": com, "inertia": inertia})
    factor = np.trace(inertia) / 3.0
    for twist in np.random.default_rng(0).normal(size=(5, 6)):
        w, v = twist[:3], twist[3:]
        at_com = v + np.cross(w, com)
        energy = 0.5 * (mass * at_com @ at_com + w @ inertia @ w)
        assert twist @ fit.metric @ twist == pytest.approx(2.0 * energy / factor)
    r = offsets(fit, NOISY)
    np.testing.assert_allclose(
        fit.residuals.distance, np.sqrt(np.einsum("ni,ij,nj->n", r, fit.metric, r)), atol=1e-12
    )


def test_weights_pull_the_curve():
    """A weight of 0 leaves a pose out; a large one draws the curve near; only ratios count."""
    q = np.arange(13.0)
    weights = np.ones(13)
    weights[4] = 0.0
    spoilt = NOISY.copy()
    spoilt[4] = spoilt[4] @ lie.exp(np.array([0.5, 0.0, 0.0, 0.1, 0.0, 0.0]))
    one, other = (
        ph.fit_curve(p, q=q, num_frames=8, weights=weights, length_scale=0.1) for p in (NOISY, spoilt)
    )
    np.testing.assert_allclose(one.joint.frames, other.joint.frames, atol=1e-9)
    weights[4] = 1e4
    heavy = ph.fit_curve(NOISY, q=q, num_frames=8, weights=weights)
    plain = ph.fit_curve(NOISY, q=q, num_frames=8)
    assert heavy.residuals.distance[4] < 1e-2 * plain.residuals.distance[4]
    scaled = ph.fit_curve(NOISY, q=q, num_frames=8, weights=7.0 * weights, smoothing=0.2)
    same = ph.fit_curve(NOISY, q=q, num_frames=8, weights=weights, smoothing=0.2)
    np.testing.assert_allclose(scaled.joint.frames, same.joint.frames, atol=1e-9)


@settings(max_examples=12, deadline=None)
@given(
    st.sets(st.integers(0, 12), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.4]),
    st.booleans(),
    st.booleans(),
)
def test_pinned_poses_are_met_to_round_off(pinned, smoothing, natural, closed):
    """Whatever is pinned, with smoothing and without, with parameters and without, open and closed."""
    poses = loop_frames(np.random.default_rng(5), 13) if closed else NOISY
    given_q = {} if natural else {"q": np.arange(13.0), **({"end": 13.0} if closed else {})}
    fit = ph.fit_curve(
        poses, num_frames=9, smoothing=smoothing, pinned=sorted(pinned), periodic=closed, **given_q
    )
    assert fit.converged and fit.missing < HELD
    assert np.abs(offsets(fit, poses)[sorted(pinned)]).max() < HELD
    assert fit.pinned == tuple(sorted(pinned))


def test_pinning_says_the_same_by_numbers_and_by_truth_values():
    mask = np.zeros(13, dtype=bool)
    mask[[0, 12]] = True
    one, other = (ph.fit_curve(NOISY, num_frames=8, pinned=p) for p in ([0, -1], mask))
    assert one.joint == other.joint


def test_what_is_not_pinned_stays_least_squares():
    """No motion of the frames that keeps the pinned pose lowers the rest: the multiplier rule, by projection."""
    q = np.arange(13.0)
    fit = ph.fit_curve(NOISY, q=q, num_frames=8, pinned=[6], length_scale=1.0)
    h = 1e-6

    def residuals(frames):
        joint = ph.joints.SplineCurve(frames, knots=fit.joint.knots)
        return lie.log(lie.inverse(joint.transform(q[:, None])) @ NOISY)

    columns = []
    for k in range(48):
        change = np.zeros((8, 6))
        change.flat[k] = h
        columns.append(
            residuals(fit.joint.frames @ lie.exp(change)) - residuals(fit.joint.frames @ lie.exp(-change))
        )
    jacobian = np.array(columns) / (2.0 * h)
    r = residuals(fit.joint.frames)
    gradient = np.einsum("knx,nx->k", np.delete(jacobian, 6, axis=1), np.delete(r, 6, axis=0))
    constraint = jacobian[:, 6]
    left = gradient - constraint @ np.linalg.lstsq(constraint, gradient, rcond=None)[0]
    assert np.abs(left).max() < 1e-7 * np.abs(jacobian).max()  # central differences


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_conditions_at_the_ends_hold(smoothing):
    """A given twist and zero curvature, as the joint itself has them."""
    q = np.linspace(0.0, 2.0, 13)
    twist = np.array([0.1, 0.9, 0.0, 0.02, 0.0, 0.01])
    fit = ph.fit_curve(
        NOISY, q=q, num_frames=8, smoothing=smoothing, ends=({"twist": twist, "straight": True}, "straight"),
    )  # fmt: skip
    assert fit.converged and fit.missing < HELD
    _, first, bend = fit.joint.evaluate(0.0)
    np.testing.assert_allclose(first[:, 0], twist, atol=HELD)
    assert np.abs(bend).max() < 1e-11  # second derivatives lose a digit more
    assert np.abs(fit.joint.evaluate(2.0)[2]).max() < 1e-11


def test_where_the_fit_chooses_q_a_twist_at_an_end_is_a_direction():
    twist = np.array([0.05, 1.0, 0.0, 0.02, 0.0, 0.01])
    fit = ph.fit_curve(KEYED, num_frames=9, ends=(twist, None), pinned=[0, -1])
    first = fit.joint.evaluate(fit.joint.range[0, 0])[1][:, 0]
    np.testing.assert_allclose(first / np.linalg.norm(first), twist / np.linalg.norm(twist), atol=1e-11)
    with pytest.raises(ph.FitError, match=r"run against the twist .* at the first end"):
        ph.fit_curve(KEYED, num_frames=9, ends=(-twist, None))


def spoilt_poses(seed, count=60, bad=6):
    """A smooth motion with noise, and with some poses that are far off."""
    rng = np.random.default_rng(seed)
    truth = wandering_poses(rng, count, 0.1, 0.03)
    poses = truth @ lie.exp(0.002 * rng.normal(size=(count, 6)))
    outliers = np.sort(rng.choice(np.arange(3, count - 3), bad, replace=False))
    poses[outliers] = poses[outliers] @ lie.exp(rng.normal(size=(bad, 6)) * np.repeat([0.3, 0.1], 3))
    return truth, poses, outliers


@pytest.mark.parametrize("loss", ["huber", "tukey"])
@pytest.mark.parametrize("natural", [False, True])
def test_robust_weights_find_the_outliers(loss, natural):
    """Poses far off are told from good ones, and the curve is nearer to the truth than without."""
    truth, poses, outliers = spoilt_poses(1)
    keywords = {"num_frames": 16, "length_scale": 0.5} | ({} if natural else {"q": np.arange(60.0)})
    plain = ph.fit_curve(poses, **keywords)
    fit = ph.fit_curve(poses, robust=loss, **keywords)
    assert fit.converged
    good = np.setdiff1d(np.arange(60), outliers)
    assert fit.weights[outliers].max() < 0.05 and np.median(fit.weights[good]) > 0.8
    error, before = (np.linalg.norm(offsets(f, truth)[good], axis=1).mean() for f in (fit, plain))
    assert error < (0.2 if natural else 0.1) * before  # measured: 0.16 and 0.06


def test_robust_weights_leave_exact_data_alone():
    fit = ph.fit_curve(KEYED, num_frames=13, robust="tukey")
    assert fit.residuals.distance.max() < 1e-9 and (fit.weights == 1.0).all()


def test_as_few_frames_as_a_tolerance_asks_for():
    """The fit keeps within it, and with one frame less it would not."""
    within = (1.2e-4, np.radians(0.06))
    fit = ph.fit_curve(KEYED, within=within)
    count = len(fit.joint.frames)
    assert fit.residuals.translation.max() <= within[0] and fit.residuals.rotation.max() <= within[1]
    assert [row[0] for row in fit.tried] == list(range(4, count + 1))
    less = ph.fit_curve(KEYED, num_frames=count - 1)
    assert less.residuals.translation.max() > within[0] or less.residuals.rotation.max() > within[1]
    assert ph.fit_curve(KEYED, num_frames=count).joint == fit.joint


def test_without_parameters_as_few_frames_as_with_a_joints_angle():
    """As a patella: it turns evenly while its path bends sharply at first, so that chords are no good parameters."""
    angle = np.linspace(0.0, 2.0944, 25)
    poses = np.tile(np.eye(4), (25, 1, 1))
    poses[:, :3, :3] = lie.so3_exp(np.outer(-0.9 * angle - 0.25 * np.sin(2.0 * angle), [0.0, 0.0, 1.0]))
    poses[:, 0, 3] = 0.05 - 0.02 * angle**2 + 0.03 * np.tanh(3.0 * (angle - 1.0))
    poses[:, 1, 3] = 0.01 * angle - 0.02 * np.exp(-3.0 * angle)
    within = (1e-4, np.radians(0.05))
    free, given = (ph.fit_curve(poses, q, within=within) for q in (None, angle))
    assert free.residuals.translation.max() <= within[0] and free.residuals.rotation.max() <= within[1]
    # measured: 11 both; 20 where parameters grow with the chords
    assert len(free.joint.frames) <= len(given.joint.frames) + 1


def test_a_tolerance_that_cannot_be_kept_is_told_with_the_closest():
    with pytest.raises(ph.FitError, match=r"control frames .* 13, .* frames come closest"):
        ph.fit_curve(NOISY, within=(1e-6, 1e-6), smoothing=0.9)


def test_a_report_of_everything_is_plain():
    fit = ph.fit_curve(
        NOISY, within=(5e-3, np.radians(5.0)), pinned=[0], ends=(None, "straight"), robust="huber", smoothing=0.1,
        metric={"rotation": [1.0, 2.0, 3.0], "translation": 100.0}, coordinate="arc_length",
    )  # fmt: skip
    report = json.loads(json.dumps(fit.report()))
    assert report["pinned"] == [0] and report["tried"] and report["missing"] < HELD
    assert all(0.0 < pose["weight"] <= 1.0 for pose in report["poses"])


def test_progress_of_many_fits_rises_and_cancels():
    seen = []
    ph.fit_curve(
        NOISY, within=(1e-3, np.radians(1.0)), robust="tukey", progress=lambda f, text: seen.append(f)
    )
    assert all(a <= b for a, b in pairwise(seen)) and seen[-1] < 1.0
    with pytest.raises(ph.CancelledError):
        ph.fit_curve(NOISY, within=(1e-3, 0.02), progress=lambda fraction, text: fraction < 0.2)
