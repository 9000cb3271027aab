"""What a surface fit promises: exactness, nearness in the metric, smoothness over holes, places found by itself."""

import json
import sys

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from tests.physics.fitting.test_fit_curve import check_residuals


def grid(shape):
    return np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, m) for m in shape], indexing="ij"), axis=-1)


def bumpy_joint(rng, shape=(6, 7), middle=0.6, bump=0.05, centre=0.0, **options):
    """A surface whose middle angle runs by `middle` to both sides of `centre` along the last direction."""
    places = grid(shape)
    values = bump * rng.normal(size=(*shape, 6))
    values[..., 0] += 0.5 * places[..., 0]
    values[..., 1] += centre + middle * places[..., -1]
    values[..., 2] += 0.3 * places[..., 0] * places[..., -1]
    values[..., 3] += 0.4 * places[..., 0]
    values[..., 4] += 0.3 * places[..., -1]
    if len(shape) == 3:
        values[..., 5] += 0.3 * places[..., 1]
    return ph.joints.SplineSurface(values, **options)


def scattered(rng, count, directions):
    q = rng.uniform(size=(count, directions))
    q[0], q[1] = 0.0, 1.0
    return q


def noise(rng, count, size, length=0.3):
    return lie.exp(size * rng.normal(size=(count, 6)) * np.repeat([1.0, length], 3))


def tube(q):
    """Poses around and along a tube: one whole turn of the first rotation (about z) a period."""
    turn = 2.0 * np.pi * q[:, 0]
    poses = lie.exp(turn[:, None] * [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    tilt = lie.exp(0.3 * np.sin(turn)[:, None] * [0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    place = np.zeros((len(q), 6))
    place[:, 3], place[:, 5] = 0.3, 0.8 * q[:, 1]
    return poses @ lie.exp(place) @ tilt


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((6, 7), {}),
        ((6, 7), {"order": (5, 4), "rotation_first": True, "sequence": "zyx"}),
        ((6, 7), {"sequence": "zxz"}),
        ((8,), {}),
        ((4, 4, 5), {}),
        ((6, 7), {"periodic": (True, False)}),
    ],
)
def test_poses_of_a_surface_give_the_surface_back(shape, options):
    rng = np.random.default_rng(1)
    options = {"sequence": "xyz", **options}
    # proper Euler angles are singular at 0: away from there
    joint = bumpy_joint(rng, shape, centre=1.3 * (options["sequence"] == "zxz"), **options)
    q = scattered(rng, 500, len(shape))
    poses = joint.transform(q)
    fit = ph.fit_surface(poses, q, shape, domain=joint.domain, **options)
    assert fit.converged and fit.coverage > 1e-3 and fit.smoothing == 0.0
    # linear least squares of a net with condition below 1e4 lose four digits
    np.testing.assert_allclose(fit.joint.values, joint.values, atol=1e-11)
    assert fit.residuals.distance.max() < 1e-11
    check_residuals(fit, poses, 1e-9)


def test_own_knots_are_kept():
    rng = np.random.default_rng(2)
    knots = [[0, 0, 0, 0, 0.3, 0.7, 1, 1, 1, 1], [0, 0, 0, 0, 0.1, 0.2, 0.5, 1, 1, 1, 1]]
    joint = bumpy_joint(rng, knots=knots)
    q = scattered(rng, 800, 2)
    fit = ph.fit_surface(joint.transform(q), q, (6, 7), knots=knots, sequence="xyz")
    np.testing.assert_allclose(fit.joint.values, joint.values, atol=1e-10)


def test_noisy_poses_are_met_as_the_metric_says_in_few_steps():
    rng = np.random.default_rng(3)
    joint = bumpy_joint(rng, middle=1.2)
    q = scattered(rng, 600, 2)
    poses = joint.transform(q) @ noise(rng, 600, 0.03)
    fit = ph.fit_surface(poses, q, (6, 7), sequence="xyz")
    naive = ph.naive_surface_fit(poses, q, (6, 7), sequence="xyz")
    assert fit.converged and fit.iterations <= 15
    assert (fit.residuals.distance**2).sum() < (naive.residuals.distance**2).sum()
    # a minimum: no other control values near by are closer
    for _ in range(20):
        values = fit.joint.values + 1e-3 * rng.normal(size=fit.joint.values.shape)
        twists = lie.log(lie.inverse(ph.joints.SplineSurface(values).transform(q)) @ poses)
        assert ((twists / np.repeat([1.0, fit.length_scale], 3)) ** 2).sum() > (
            fit.residuals.distance**2
        ).sum()


def test_result_does_not_depend_on_where_the_poses_are_seen_from():
    rng = np.random.default_rng(4)
    poses = bumpy_joint(rng).transform(q := scattered(rng, 200, 2)) @ noise(rng, 200, 0.02)
    moved = poses.copy()
    moved[:, :3, 3] += [100.0, -50.0, 20.0]
    fit, other = (ph.fit_surface(given, q, 5) for given in (poses, moved))
    np.testing.assert_allclose(other.residuals.distance, fit.residuals.distance, atol=1e-9)
    np.testing.assert_allclose(
        other.joint.values[..., 3:] - fit.joint.values[..., 3:],
        np.full((5, 5, 3), [100.0, -50.0, 20.0]),
        atol=1e-9,
    )


def test_angles_may_go_beyond_half_a_turn():
    """Scattered poses whose first angle runs over nearly two turns: no jump is left."""
    rng = np.random.default_rng(5)
    values = np.zeros((8, 5, 6))
    places = grid((8, 5))
    values[..., 0], values[..., 1] = 6.0 * places[..., 0], 0.5 * places[..., 1]
    values[..., 3:5] = 0.3 * places
    joint = ph.joints.SplineSurface(values)
    q = scattered(rng, 400, 2)
    fit = ph.fit_surface(joint.transform(q), q, (8, 5), sequence="xyz")
    assert fit.residuals.distance.max() < 1e-10
    rise = fit.joint.values - values
    np.testing.assert_allclose(rise, np.broadcast_to(rise[0, 0], rise.shape), atol=1e-9)


def test_whole_turns_of_a_closed_direction():
    rng = np.random.default_rng(6)
    q = rng.uniform(size=(800, 2))
    fit = ph.fit_surface(tube(q), q, (12, 4), periodic=(True, False), domain=[[0, 1], [0, 1]])
    assert fit.residuals.distance.max() < 1e-3  # measured: 6e-5, of cubics for sines
    check_residuals(fit, tube(q), 1e-9)
    np.testing.assert_allclose(fit.joint.transform(q + [1.0, 0.0]), fit.joint.transform(q), atol=1e-9)


def test_a_hole_is_spanned_like_a_thin_plate():
    rng = np.random.default_rng(7)
    values = np.zeros((10, 10, 6))
    places = grid((10, 10))
    values[..., :2], values[..., 3:5] = 0.3 * places, 0.2 * places
    joint = ph.joints.SplineSurface(values)
    q = scattered(rng, 900, 2)
    q = q[np.linalg.norm(q - 0.6, axis=1) > 0.25]
    fit = ph.fit_surface(joint.transform(q), q, 10, sequence="xyz")
    assert fit.coverage < 1e-3 and fit.smoothing > 0.0 and fit.converged
    inside = 0.6 + 0.15 * rng.uniform(-1.0, 1.0, (100, 2))
    gaps = lie.log(lie.inverse(fit.joint.transform(inside)) @ joint.transform(inside))
    assert np.abs(gaps).max() < 0.01  # the hole is half a radian wide


def test_fewer_poses_than_control_values():
    rng = np.random.default_rng(8)
    q = scattered(rng, 12, 2)
    poses = bumpy_joint(rng, bump=0.0).transform(q)
    fit = ph.fit_surface(poses, q, 6)
    assert fit.coverage < 1e-12 and fit.converged
    assert fit.residuals.distance.max() < 0.02


def test_smoothing_lowers_the_hessian():
    rng = np.random.default_rng(9)
    q = scattered(rng, 300, 2)
    poses = bumpy_joint(rng, bump=0.0).transform(q) @ noise(rng, 300, 0.03)
    plain, smoothed = (ph.fit_surface(poses, q, 7, smoothing) for smoothing in (0.0, 0.5))
    assert smoothed.hessian_integral < 0.2 * plain.hessian_integral
    assert smoothed.residuals.distance.mean() < 1.3 * plain.residuals.distance.mean()


def test_smoothing_does_not_depend_on_the_angles_and_the_units():
    """Nearly: two sequences span different splines; measured with ten control values: 2.7e-3 rad."""
    rng = np.random.default_rng(10)
    q = scattered(rng, 300, 2)
    poses = bumpy_joint(rng).transform(q) @ noise(rng, 300, 0.03)
    fits = [
        ph.fit_surface(poses, places, 10, 0.5, sequence=sequence)
        for places, sequence in ((q, "xyz"), (q * [100.0, 0.01], "zyx"))
    ]
    gaps = lie.log(lie.inverse(fits[0].joint.transform(q)) @ fits[1].joint.transform(q * [100.0, 0.01]))
    assert np.abs(gaps).max() < 5e-3


@pytest.mark.parametrize("size", [0.0, 0.01])
def test_places_are_found(size):
    rng = np.random.default_rng(11)
    joint = bumpy_joint(rng, bump=0.03)
    q = scattered(rng, 400, 2)
    poses = joint.transform(q) @ noise(rng, 400, size)
    fit = ph.fit_surface(poses, num_frames=6)
    known = ph.fit_surface(poses, q, 6)
    assert fit.converged
    check_residuals(fit, poses, 1e-9)
    # sliding along the surface takes the two tangential parts of the noise; without noise it has to find the places
    assert fit.residuals.distance.mean() < (0.9 * known.residuals.distance.mean() if size else 5e-3)
    # one to one: each place a smooth function of the true one
    design = np.stack([q[:, 0] ** i * q[:, 1] ** j for i in range(6) for j in range(6 - i)], axis=1)
    misfit = fit.q - design @ np.linalg.lstsq(design, fit.q, rcond=None)[0]
    assert misfit.std(axis=0).max() < 0.02 * np.ptp(fit.q, axis=0).max()


def test_places_around_a_tube_are_found():
    rng = np.random.default_rng(12)
    q = rng.uniform(size=(400, 2))
    fit = ph.fit_surface(tube(q), num_frames=(10, 5), periodic=(True, False))
    assert fit.residuals.distance.max() < 0.02
    turned = np.exp(2j * np.pi * fit.q[:, 0] / np.ptp(fit.joint.domain[0]))
    agreement = max(abs(np.mean(turned * np.exp(sign * 2j * np.pi * q[:, 0]))) for sign in (-1, 1))
    assert agreement > 0.99


def test_given_places_are_refined_where_asked_for():
    rng = np.random.default_rng(13)
    joint = bumpy_joint(rng)
    q = scattered(rng, 400, 2)
    wrong = np.clip(q + 0.03 * rng.normal(size=q.shape), 0.0, 1.0)
    kept, refined = (ph.fit_surface(joint.transform(q), wrong, 6, refine=refine) for refine in (False, True))
    np.testing.assert_array_equal(kept.q, wrong)
    assert refined.residuals.distance.max() < 0.2 * kept.residuals.distance.max()


def test_poses_far_from_where_they_belong_find_back():
    rng = np.random.default_rng(19)
    joint = bumpy_joint(rng)
    q = scattered(rng, 400, 2)
    wrong = q.copy()
    wrong[50:70] = rng.uniform(size=(20, 2))
    fit = ph.fit_surface(joint.transform(q), wrong, (6, 7), refine=True, sequence="xyz")
    assert fit.residuals.distance.max() < 0.02
    assert np.abs(fit.q - q).max() < 0.1


def test_sequence_farthest_from_gimbal_lock():
    rng = np.random.default_rng(14)
    with pytest.warns(UserWarning, match="singularity"):
        joint = bumpy_joint(rng, middle=1.5)  # of x y z up to four degrees from gimbal lock
    q = scattered(rng, 300, 2)
    fit = ph.fit_surface(joint.transform(q), q, 7)
    assert fit.joint.gimbal_margin() > 0.3 and fit.joint.sequence != "xyz"
    assert fit.residuals.distance.max() < 0.05


def test_weights_and_metric():
    rng = np.random.default_rng(15)
    q = scattered(rng, 300, 2)
    poses = bumpy_joint(rng).transform(q)
    bad = poses.copy()
    bad[10:20] = bad[10:20] @ noise(rng, 10, 0.5)
    weights = np.ones(300)
    weights[10:20] = 0.0
    fit = ph.fit_surface(bad, q, (6, 7), weights=weights, sequence="xyz")
    assert np.delete(fit.residuals.distance, range(10, 20)).max() < 1e-10
    near, far = (
        ph.fit_surface(bad, q, 5, metric={"rotation": 1.0, "translation": t}, sequence="xyz")
        for t in (0.01, 1e4)
    )
    assert near.residuals.rotation.mean() < far.residuals.rotation.mean()
    assert near.residuals.translation.mean() > far.residuals.translation.mean()


def test_poses_are_left_as_they_are_and_the_report_is_json():
    rng = np.random.default_rng(16)
    q = scattered(rng, 100, 2)
    poses = bumpy_joint(rng).transform(q)
    before = poses.copy()
    fit = ph.fit_surface(poses, q, 4)
    np.testing.assert_array_equal(poses, before)
    report = json.loads(json.dumps(fit.report()))
    assert report["num_frames"] == [4, 4] and len(report["poses"]) == 100


def test_progress_and_cancelling():
    rng = np.random.default_rng(17)
    q = scattered(rng, 100, 2)
    poses = bumpy_joint(rng).transform(q)
    told = []
    ph.fit_surface(poses, q, 4, progress=lambda fraction, text: told.append((fraction, text)))
    assert told and all(0.0 <= fraction <= 1.0 and "step" in text for fraction, text in told)
    with pytest.raises(ph.CancelledError):
        ph.fit_surface(poses, q, 4, progress=lambda fraction, text: False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.full((50, 2), np.nan)}, "q must be finite"),
        ({"q": np.zeros((49, 2))}, "q must have shape"),
        ({"q": np.zeros((50, 4))}, "n = 1, 2 or 3"),
        ({"q": np.zeros((50, 2))}, "direction 1 are 0"),
        ({"q": np.linspace(0, 1, 50)[:, None] * [1.0, 1.0]}, "do not spread"),
        ({"q": None, "poses": np.tile(np.eye(4), (50, 1, 1))}, "do not move"),
        ({"q": None, "poses": lie.exp(np.linspace(0, 1, 50)[:, None] * np.ones(6))}, "spread"),
        ({"num_frames": (3, 6)}, "at least 4"),
        ({"num_frames": (6, 6, 6)}, "3 directions"),
        ({"num_frames": 40}, "limit of 1000"),
        ({"num_frames": 6.5}, "whole number"),
        ({"order": 21}, "order must be at most 20, got 21"),
        ({"order": (4, 4, 4)}, "one for each of 2"),
        ({"knots": [[0, 1]]}, "one list for each"),
        ({"knots": [np.zeros(10), np.zeros(10)]}, "knots of direction 1 have an empty range"),
        ({"domain": [[0.0, 1.0], [1.0, 0.0]]}, "empty or reversed"),
        ({"domain": [[0.0, 0.5], [0.0, 1.0]]}, "outside the range"),
        ({"periodic": (True, False)}, "needs `domain`"),
        ({"periodic": "yes"}, "True or False"),
        ({"sequence": "xxy"}, "three letters"),
        ({"smoothing": 1.0}, "[0, 1)"),
        ({"length_scale": -1.0}, "length_scale must be positive"),
        ({"weights": np.full(50, -1.0)}, "not be negative"),
        ({"metric": np.zeros((6, 6))}, "positive definite"),
        ({"outside": "clamp"}, "outside must be"),
        ({"refine": 1}, "refine must be True or False"),
        ({"tolerance": 0.0}, "tolerance must be positive"),
        ({"rounds": 3}, "unknown option 'rounds'"),
        ({"poses": np.zeros((50, 4, 4))}, "pose"),
    ],
)
def test_bad_input_is_one_clear_error(changes, message):
    rng = np.random.default_rng(18)
    q = scattered(rng, 50, 2)
    arguments = {"poses": bumpy_joint(rng).transform(q), "q": q, "num_frames": 6, **changes}
    with pytest.raises(ph.FitError) as caught:
        ph.fit_surface(**arguments)
    assert message in str(caught.value)


def test_without_scipy_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ph.MissingDependencyError, match="SciPy"):
        ph.fit_surface(np.tile(np.eye(4), (5, 1, 1)))


def test_naive_fit_needs_places():
    with pytest.raises(ph.FitError, match="needs q"):
        ph.naive_surface_fit(np.tile(np.eye(4), (5, 1, 1)), None)
