"""Rotations and rigid motions: group axioms, differentials, accuracy at and near 0 and pi, batches, bad input."""

import functools

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie

BATCHES = ((), (5,), (2, 3), (0,))
# A rotation is right to a few units in the last place of numbers near 1; products of a handful of them add up.
ROUND_OFF = 2e-14


def directions(rng, shape):
    vectors = rng.normal(size=(*shape, 3))
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


SAMPLES = {
    "random": lambda rng, shape: directions(rng, shape) * rng.uniform(0.0, 3.0, (*shape, 1)),
    "zero": lambda rng, shape: np.zeros((*shape, 3)),
    "near identity": lambda rng, shape: (
        directions(rng, shape) * 10.0 ** rng.uniform(-18.0, -3.0, (*shape, 1))
    ),
    "about the switch": lambda rng, shape: directions(rng, shape) * rng.uniform(0.99, 1.01, (*shape, 1)),
    "near pi": lambda rng, shape: (
        directions(rng, shape) * (np.pi - 10.0 ** rng.uniform(-12.0, -3.0, (*shape, 1)))
    ),
}


def on_all_samples(test):
    """Run a test on rotation vectors r and twists x of every batch shape, near every place where formulas change."""

    @pytest.mark.parametrize("batch", BATCHES, ids=str)
    @pytest.mark.parametrize("sample", SAMPLES)
    @functools.wraps(test)
    def crossed(sample, batch):
        rng = np.random.default_rng(len(sample) + 10 * len(batch))
        r = SAMPLES[sample](rng, batch)
        test(r, np.concatenate([r, rng.normal(size=r.shape)], axis=-1))

    # pytest would take r and x for fixtures
    del crossed.__wrapped__
    return crossed


def close(actual, expected, tolerance=ROUND_OFF):
    assert actual.shape == np.broadcast_shapes(actual.shape, np.shape(expected))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def identity_like(matrix):
    return np.broadcast_to(np.eye(matrix.shape[-1]), matrix.shape)


@on_all_samples
def test_log_undoes_exp(r, x):
    close(lie.so3_log(lie.so3_exp(r)), r, 1e-14)
    close(lie.log(lie.exp(x)), x)


@on_all_samples
def test_exp_gives_rotations_and_poses(r, x):
    rotation, pose = lie.so3_exp(r), lie.exp(x)
    close(rotation @ np.swapaxes(rotation, -1, -2), identity_like(rotation))
    close(np.linalg.det(rotation), np.ones(r.shape[:-1]))
    close(pose[..., :3, :3], rotation, 0.0)
    close(pose[..., 3, :], np.broadcast_to([0.0, 0.0, 0.0, 1.0], pose[..., 3, :].shape), 0.0)


@on_all_samples
def test_inverse_and_opposite(r, x):
    pose = lie.exp(x)
    close(pose @ lie.inverse(pose), identity_like(pose))
    close(lie.exp(-x), lie.inverse(pose))


@on_all_samples
def test_adjoint_carries_twists_like_conjugation(r, x):
    pose = lie.exp(x)
    twist = np.linspace(-0.5, 0.6, 6) * np.ones(x.shape)
    carried = (lie.adjoint(pose) @ twist[..., None])[..., 0]
    close(lie.exp(carried), pose @ lie.exp(twist) @ lie.inverse(pose), 1e-13)
    close(lie.adjoint_inverse(pose) @ lie.adjoint(pose), identity_like(lie.adjoint(pose)), 1e-13)


@on_all_samples
def test_ad_is_the_bracket(r, x):
    y = np.linspace(1.0, -0.7, 6) * np.ones(x.shape)

    def matrix(twist):
        result = np.zeros((*twist.shape[:-1], 4, 4))
        result[..., :3, :3] = lie.hat(twist[..., :3])
        result[..., :3, 3] = twist[..., 3:]
        return result

    bracket = matrix(x) @ matrix(y) - matrix(y) @ matrix(x)
    twist = np.concatenate([lie.vee(bracket[..., :3, :3]), bracket[..., :3, 3]], axis=-1)
    close((lie.ad(x) @ y[..., None])[..., 0], twist)


@on_all_samples
def test_jacobians_and_their_inverses(r, x):
    for forward, back, at in (
        (lie.so3_right_jacobian, lie.so3_right_jacobian_inverse, r),
        (lie.so3_left_jacobian, lie.so3_left_jacobian_inverse, r),
        (lie.right_jacobian, lie.right_jacobian_inverse, x),
    ):
        close(forward(at) @ back(at), identity_like(forward(at)), 1e-13)
    # J_l = Ad_{e^x} J_r
    close(lie.left_jacobian(x), lie.adjoint(lie.exp(x)) @ lie.right_jacobian(x), 1e-13)
    close(lie.right_jacobian(x)[..., :3, :3], lie.so3_right_jacobian(r), 0.0)


@on_all_samples
def test_right_jacobian_is_the_differential_of_exp(r, x):
    # sixth-order central differences: h^6 = 1e-15 against round-off 1e-16 / h
    step, pose_inverse = 3e-3, lie.inverse(lie.exp(x))
    jacobian = np.zeros((*x.shape[:-1], 6, 6))
    for column in range(6):
        for offset, weight in ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0)):
            change = offset * step * np.eye(6)[column]
            rate = weight * (lie.exp(x + change) - lie.exp(x - change)) / step
            body = pose_inverse @ rate
            jacobian[..., :3, column] += lie.vee(body[..., :3, :3])
            jacobian[..., 3:, column] += body[..., :3, 3]
    close(lie.right_jacobian(x), jacobian, 5e-12)


@on_all_samples
def test_quaternions_make_the_same_rotations(r, x):
    rotation = lie.so3_exp(r)
    quaternion = lie.quaternion_from_matrix(rotation)
    close(np.linalg.norm(quaternion, axis=-1), np.ones(r.shape[:-1]))
    assert (quaternion[..., 0] >= 0.0).all()
    close(lie.matrix_from_quaternion(quaternion), rotation)
    close(lie.matrix_from_quaternion(-3.0 * quaternion), rotation)


@on_all_samples
def test_nan_stays_in_its_own_element(r, x):
    if x.ndim < 2 or len(x) < 2:
        return
    broken = x.copy()
    broken[0] = np.nan
    for function in (lie.exp, lie.right_jacobian, lie.right_jacobian_inverse, lie.adjoint, lie.ad):
        value = lie.exp(broken) if function is lie.adjoint else broken
        whole = lie.exp(x) if function is lie.adjoint else x
        assert np.isnan(function(value)[0]).any()
        np.testing.assert_array_equal(function(value)[1:], function(whole)[1:])
    with np.errstate(invalid="ignore"):
        assert np.isnan(lie.log(lie.exp(broken))[0]).any()


def test_log_at_exactly_pi():
    for axis in (
        *np.eye(3),
        np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25),
        np.array([0.0, 1.0, -1.0]) / np.sqrt(2.0),
    ):
        half_turn = 2.0 * np.outer(axis, axis) - np.eye(3)
        r = lie.so3_log(half_turn)
        assert np.linalg.norm(r) == pytest.approx(np.pi, abs=1e-15)
        close(np.abs(r @ axis), np.pi)
        close(lie.so3_exp(r), half_turn)


def test_log_of_a_slightly_skew_half_turn_keeps_the_angle():
    # the sine of the angle, 1e-9, is all that tells the angle from pi
    r = (np.pi - 1e-9) * np.array([0.6, 0.0, 0.8])
    assert np.pi - np.linalg.norm(lie.so3_log(lie.so3_exp(r))) == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.parametrize(
    "angle", [0.0, 1e-200, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 3.0, np.pi, 4.5]
)
def test_against_high_precision(angle):
    """exp and the differentials of SE(3) against their power series in 60 digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            x = np.concatenate([directions(rng, ()) * angle, rng.normal(size=3)])
            bracket = mpmath.matrix(lie.ad(x).tolist())
            term, right = mpmath.eye(6), mpmath.eye(6)
            for n in range(1, 90):
                term = term * (-bracket) / (n + 1)
                right = right + term
            close(lie.right_jacobian(x), np.array(right.tolist(), dtype=float), 5e-15 * max(1.0, angle**2))
            inverse = np.array((right**-1).tolist(), dtype=float)
            close(lie.right_jacobian_inverse(x), inverse, 1e-13)
            algebra = np.zeros((4, 4))
            algebra[:3, :3], algebra[:3, 3] = lie.hat(x[:3]), x[3:]
            pose = mpmath.expm(mpmath.matrix(algebra.tolist()), method="taylor")
            close(lie.exp(x), np.array(pose.tolist(), dtype=float), 4e-15)


def test_hat_and_vee():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0, 0.5])
    close(lie.hat(a) @ b, np.cross(a, b), 0.0)
    close(lie.vee(lie.hat(a)), a, 0.0)
    close(lie.vee(lie.hat(a) + np.diag(b)), a, 0.0)


def test_continuous_quaternions_never_oppose_their_neighbours():
    angles = np.linspace(0.0, 6.0 * np.pi, 60)
    turns = lie.quaternion_from_matrix(lie.so3_exp(angles[:, None] * [0.0, 0.6, 0.8]))
    assert ((turns[1:] * turns[:-1]).sum(axis=1) < 0.0).any()
    quaternions = lie.continuous_quaternions(turns)
    assert ((quaternions[1:] * quaternions[:-1]).sum(axis=1) > 0.0).all()
    close(lie.matrix_from_quaternion(quaternions), lie.matrix_from_quaternion(turns))
    assert lie.continuous_quaternions(np.zeros((0, 4))).shape == (0, 4)


def test_check_frames_keeps_good_frames_bit_for_bit():
    frames = lie.exp(np.random.default_rng(1).normal(size=(20, 6)))
    np.testing.assert_array_equal(
        lie.check_frames(frames, "frame"), lie.check_frames(frames.tolist(), "frame")
    )
    checked = lie.check_frames(frames, "frame")
    np.testing.assert_array_equal(lie.check_frames(checked, "frame"), checked)
    assert checked is not frames


def test_check_frames_mends_single_precision():
    frames = lie.exp(np.random.default_rng(2).normal(size=(20, 6)))
    mended = lie.check_frames(frames.astype(np.float32), "frame")[..., :3, :3]
    close(mended @ np.swapaxes(mended, -1, -2), identity_like(mended))
    close(mended, frames[..., :3, :3], 1e-6)


def bad_frames():
    good = np.tile(np.eye(4), (3, 1, 1))

    def with_entry(row, column, value):
        frames = good.copy()
        frames[1, row, column] = value
        return frames

    mirrored = good.copy()
    mirrored[1, :3, :3] = np.diag([1.0, 1.0, -1.0])
    yield "not finite", with_entry(0, 3, np.nan), r"frame 1 is not finite"
    yield "infinite", with_entry(2, 3, np.inf), r"frame 1 is not finite"
    yield "scaled", with_entry(0, 0, 1.1), r"frame 1 has no proper rotation"
    yield "mirrored", mirrored, r"frame 1 has no proper rotation"
    yield "projective", with_entry(3, 0, 0.5), r"frame 1 has a bad last row"
    yield "wrong shape", np.eye(3), r"frame .*shape \(3, 3\)"
    yield "words", [["a"]], r"frame must be"


@pytest.mark.parametrize(
    ("kind", "frames", "message"),
    list(bad_frames()),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_check_frames_names_what_is_wrong(kind, frames, message):
    with pytest.raises(ph.ModelError, match=message):
        lie.check_frames(frames, "frame")


def test_rotation_vectors_go_on_over_whole_turns():
    """What turns on goes on, and what lies next to the one before stays as it is, bit for bit: of thousands of rows as
    good as all do.
    """
    t = np.linspace(0.0, 1.0, 400)[:, None]
    along = np.hstack([9.0 * t, 4.0 * np.sin(7.0 * t), 3.0 * t**2])
    np.testing.assert_array_equal(lie.continuous_rotation_vectors(along), along)
    folded = lie.so3_log(lie.so3_exp(along))
    assert np.abs(np.diff(folded, axis=0)).max() > 3.0
    np.testing.assert_allclose(lie.continuous_rotation_vectors(folded), along, atol=1e-13)
    # a rotation that is none has no axis of its own: it takes that of the one before, a whole turn on
    passing = np.array([[0.0, 0.0, 6.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.2]])
    np.testing.assert_allclose(
        lie.continuous_rotation_vectors(passing)[:, 2], [6.0, 2.0 * np.pi, 2.0 * np.pi + 0.2], atol=1e-14
    )
    two = np.stack([along, folded], axis=1)
    np.testing.assert_allclose(lie.continuous_rotation_vectors(two)[:, 1], along, atol=1e-13)
