"""Nearest coordinates of joints to poses, against a dense search of the whole range."""

import numpy as np
import pytest

import physics as ph
from physics.joints.extent import extent
from tests.physics.generators import JOINT_KINDS, loop_frames, random_joint, random_surface, smooth_frames

DENSE = {1: 4001, 2: 150, 3: 30}  # samples along each coordinate
TOO_MANY = (
    "free",
    "composite",
    "inverted",
    "ellipsoid",
    "inverted_ellipsoid",
    "scapulothoracic",
    "surface_on_surface",
    "flexible_surface",
)
KINDS = [kind for kind in JOINT_KINDS if kind not in (*TOO_MANY, "fixed", "custom")]


def near_poses(rng, joint, q, spread=(0.0, 0.1, 0.5, 1.5)):
    """Poses on the joint and up to far off it."""
    twists = rng.normal(size=(len(q), 6)) * rng.choice(spread, (len(q), 1))
    return joint.transform(q) @ ph.lie.exp(twists)


def dense_distances(joint, poses, box, length_scale=1.0):
    n = joint.num_coordinates
    axes = [np.linspace(*ends, DENSE[n]) for ends in box]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, n)
    back = ph.lie.inverse(joint.transform(places))
    scale = np.repeat([1.0, length_scale], 3)
    return [np.linalg.norm(ph.lie.log(back @ pose) / scale, axis=-1).min() for pose in poses]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_on_a_dense_grid_is_nearer(kind):
    """Wild surfaces of three coordinates have dips between samples (see the claims), and are left out here."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        joint = random_joint(rng, kind)
        if "surface" in kind and joint.num_coordinates == 3:
            continue
        box = extent(joint, 1.0)
        poses = near_poses(rng, joint, rng.uniform(*box.T, (8, joint.num_coordinates)))
        found = ph.project(joint, poses)
        wide = extent(joint, 2.0 * np.linalg.norm(poses[:, :3, 3], axis=1).max())
        assert (found.distance <= np.array(dense_distances(joint, poses, wide)) + 1e-9).all()
        steps = ph.lie.log(ph.lie.inverse(found.poses) @ poses)
        assert np.abs(np.linalg.norm(steps, axis=-1) - found.distance).max() < 1e-12
        assert np.abs(joint.transform(found.q) - found.poses).max() == 0.0


def test_poses_on_a_curve_are_found_to_round_off():
    rng = np.random.default_rng(0)
    curve = ph.joints.SplineCurve(smooth_frames(rng, 12), order=5)
    q = rng.uniform(*curve.range[0], (500, 1))
    found = ph.project(curve, curve.transform(q))
    # |s(q)| is near 1: coordinates are as exact as distances
    assert np.abs(found.q - q).max() < 1e-9 and found.distance.max() < 1e-9
    assert found.rotation.max() < 1e-9 and found.translation.max() < 1e-9


def test_nearest_and_not_next():
    """A curve that comes back near its start: the start of a local search would decide."""
    angle = np.linspace(0.0, 1.9 * np.pi, 15)
    frames = np.tile(np.eye(4), (15, 1, 1))
    frames[:, 0, 3], frames[:, 1, 3] = np.cos(angle), np.sin(angle)
    curve = ph.joints.SplineCurve(frames)
    lower, upper = curve.range[0]
    pose = np.eye(4)
    pose[:2, 3] = [1.0, -0.2]  # between both ends, nearer to the last
    assert ph.project(curve, pose).q[0] > upper - 0.5
    pose[:2, 3] = [1.0, 0.05]
    assert ph.project(curve, pose).q[0] < lower + 0.5


def test_a_metric_and_a_length_scale_choose():
    screw = ph.joints.Helical((0, 0, 1), pitch=0.1)
    pose = np.eye(4)
    pose[:3, :3] = ph.lie.so3_exp(np.array([0.0, 0.0, 1.0]))
    pose[2, 3] = 0.4
    by_angle = ph.project(screw, pose, length_scale=100.0)
    by_length = ph.project(screw, pose, length_scale=1e-3)
    # what weighs a millionth shifts the other by about as much
    assert by_angle.rotation < 1e-4 and by_length.translation < 1e-4
    same = ph.project(screw, pose, metric={"rotation": 1.0, "translation": 1e6})
    assert np.abs(same.q - by_length.q).max() < 1e-9


def test_closed_curves_count_turns_along_a_motion():
    rng = np.random.default_rng(2)
    curve = ph.joints.SplineCurve(loop_frames(rng, 10), periodic=True)
    q = np.linspace(0.3, 0.3 + 2.5 * curve.period, 120)[:, None]
    poses = curve.transform(q)
    start = curve.domain[0]
    wrapped = ph.project(curve, poses).q
    assert ((wrapped >= start) & (wrapped < start + curve.period)).all()
    unwrapped = ph.project(curve, poses, continuous=True).q
    assert np.abs(unwrapped - unwrapped[0] - (q - q[0])).max() < 1e-8


def test_bounds_hold():
    hinge = ph.joints.Hinge()
    pose = hinge.transform([2.0])
    assert ph.project(hinge, pose, bounds=[(-1.0, 1.0)]).q[0] == 1.0
    assert abs(ph.project(hinge, hinge.transform([-3.0]), bounds=[(2.0, 4.0)]).q[0] - (2 * np.pi - 3)) < 1e-9
    surface = random_surface(np.random.default_rng(3), moving=True)
    n = surface.num_coordinates
    held = np.array(surface.range)
    held[-1] = 0.3
    inside = np.full(n, 0.4)
    inside[-1] = 0.3
    found = ph.project(surface, surface.transform(inside), bounds=held)
    assert found.q[-1] == 0.3 and found.distance < 1e-9


def test_curves_that_end_in_an_error_are_searched_within():
    frames = smooth_frames(np.random.default_rng(6), 8)
    curve = ph.joints.SplineCurve(frames, outside="error")
    beyond = curve.transform(curve.range[0][1:]) @ ph.lie.exp(np.full(6, 0.3))
    found = ph.project(curve, beyond)
    assert curve.range[0, 0] <= found.q[0] <= curve.range[0, 1]


def test_shapes_follow_the_poses():
    hinge = ph.joints.Hinge()
    poses = hinge.transform(np.linspace(-1, 1, 6).reshape(2, 3, 1))
    found = ph.project(hinge, poses)
    assert found.q.shape == (2, 3, 1) and found.distance.shape == (2, 3) and found.poses.shape == (2, 3, 4, 4)
    assert ph.project(hinge, poses[:0]).q.shape == (0, 3, 1)


@pytest.mark.parametrize("closed", [False, True])
def test_curves_in_other_coordinates(closed):
    """By arc length the same poses are nearest, at other coordinates."""
    rng = np.random.default_rng(8)
    frames = loop_frames(rng, 10) if closed else smooth_frames(rng, 10)
    plain = ph.joints.SplineCurve(frames, periodic=closed)
    by_length = ph.joints.SplineCurve(frames, periodic=closed, coordinate="arc_length")
    poses = near_poses(rng, plain, rng.uniform(*plain.domain, (40, 1)))
    first, second = ph.project(plain, poses), ph.project(by_length, poses)
    assert np.abs(first.distance - second.distance).max() < 1e-9
    assert np.abs(by_length.coordinate_at(first.q[:5]) - second.q[:5]).max() < 1e-5


@pytest.mark.parametrize(
    "joint, pose, options, words",
    [
        (ph.joints.Fixed(), np.eye(4), {}, "one to three coordinates"),
        (ph.joints.Free(), np.eye(4), {}, "one to three coordinates"),
        ("hinge", np.eye(4), {}, "one to three coordinates"),
        (ph.joints.Hinge(), np.eye(3), {}, "pose to project must be a pose"),
        (ph.joints.Hinge(), np.eye(4), {"length_scale": -1.0}, "length_scale must be positive, got -1"),
        (ph.joints.Hinge(), np.eye(4), {"length_scale": 1.0, "metric": np.eye(6)}, "metric and length_scale 1"),
        (ph.joints.Hinge(), np.eye(4), {"metric": -np.eye(6)}, "positive definite"),
        (ph.joints.Hinge(), np.eye(4), {"bounds": [(1.0, -1.0)]}, "must overlap the joint's range"),
        (ph.joints.Hinge(), np.eye(4), {"bounds": [1.0, 2.0]}, r"must have shape \(1, 2\)"),
    ],
)  # fmt: skip
def test_bad_input_is_named(joint, pose, options, words):
    with pytest.raises(ph.ModelError, match=words):
        ph.project(joint, pose, **options)


def test_a_motion_to_and_fro_goes_on_where_both_ends_are_as_near():
    """A curve through bent, straight and bent again: nearest one by one, the poses lie at either end."""
    bend = np.sin(np.linspace(0.0, np.pi, 9))
    curve = ph.joints.SplineCurve(ph.joints.Hinge((1, 0, 0)).transform(1.5 * bend[:, None]))
    lower, upper = curve.range[0]
    half = np.linspace(lower, 0.5 * (lower + upper), 40)[:, None]
    poses = curve.transform(np.concatenate([half, half[::-1]]))
    poses[:, 0, 3] = 1e-4 * np.cos(np.arange(80))
    found = ph.project(curve, poses, continuous=True)
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.1 and found.distance.max() < 2e-3
    # it turns back in the middle or goes on to the other end: both are as near, and round-off chooses
    assert np.ptp(found.q) / (upper - lower) == pytest.approx(
        0.5 if found.q[-1] < found.q[40] else 1.0, abs=0.02
    )


def test_angles_of_a_motion_stay_on_their_branch():
    joint = ph.joints.Euler("xyz")
    angles = np.linspace([0.1, 0.0, -0.2], [0.3, 2.0, 0.1], 60)
    found = ph.project(joint, joint.transform(angles), continuous=True)
    assert np.abs(found.q - found.q[0] - (angles - angles[0])).max() < 1e-6


def test_a_motion_that_leaps_leaps():
    """From one end of a curve to the other, and back: neither goes on over the other."""
    rng = np.random.default_rng(3)
    curve = ph.joints.SplineCurve(smooth_frames(rng, 12))
    lower, upper = curve.range[0]
    q = np.concatenate(
        [np.linspace(lower, lower + 1.0, 9), np.linspace(upper - 1.0, upper, 7), [lower + 0.5]]
    )
    found = ph.project(curve, curve.transform(q[:, None]), continuous=True)
    assert np.abs(found.q[:, 0] - q).max() < 1e-8


def test_motions_side_by_side_go_on_each_by_itself():
    joint = ph.joints.Euler("xyz")
    angles = np.linspace([[0.1, 0.0, -0.2], [0.0, 1.0, 0.0]], [[0.3, 2.0, 0.1], [0.1, -2.0, 0.0]], 60)
    found = ph.project(joint, joint.transform(angles), continuous=True)
    assert found.q.shape == (60, 2, 3)
    assert np.abs(found.q - found.q[0] - (angles - angles[0])).max() < 1e-6


@pytest.mark.parametrize(
    ("bound", "reach"),
    [(3.5, 3.3), (6.4, 5.5), (3.0 * np.pi + 2e-5, 1.0), (3.0 * np.pi + 2e-5, 8.0), (12.6, 10.0)],
)
def test_bounds_of_more_than_a_turn_hold_more_than_one(bound, reach):
    """As of a steering wheel: a motion goes on through all of them, the rest pose is at 0."""
    hinge = ph.joints.Hinge()
    q = reach * np.sin(np.linspace(0.0, 5.0, 300))[:, None]
    found = ph.project(hinge, hinge.transform(q), continuous=True, bounds=[(-bound, bound)])
    assert np.abs(found.q - q).max() < 1e-9
    assert np.abs(ph.project(hinge, np.eye(4), bounds=[(-bound, bound)]).q).max() < 1e-9
    screw, q = ph.joints.Helical((0, 0, 1), pitch=0.01), 20.0 * np.linspace(0.0, 1.0, 300)[:, None]
    for joint in (hinge, screw):
        found = ph.project(joint, joint.transform(q), continuous=True, bounds=[(0.0, 25.0)])
        assert np.abs(found.q - q).max() < 1e-9


def test_a_motion_that_leaves_its_bounds_is_cut_there():
    hinge, q = ph.joints.Hinge(), np.linspace(0.0, 4.0, 50)[:, None]
    found = ph.project(hinge, hinge.transform(q), continuous=True, bounds=[(-3.0, 3.0)]).q
    inside = q[:, 0] < 3.0
    assert np.abs(found[inside] - q[inside]).max() < 1e-9 and np.abs(found).max() <= 3.0
    beyond = 2.0 * np.pi - q[~inside, 0] <= 3.0
    assert np.abs(found[~inside][beyond] - (q[~inside][beyond] - 2.0 * np.pi)).max() < 1e-9


@pytest.mark.parametrize("size", [0.5, 2.0, 2.9])
@pytest.mark.parametrize("kind", ["spherical", "euler"])
def test_rotation_vectors_are_the_short_ones(kind, size):
    joint = ph.joints.Spherical() if kind == "spherical" else ph.joints.Euler()
    axis = np.array([0.48, -0.6, 0.64])
    vectors = size * np.sin(np.linspace(0.0, 5.0, 200))[:, None] * axis
    for continuous in (False, True):
        found = ph.project(joint, joint.transform(vectors), continuous=continuous)
        assert np.abs(found.q - vectors).max() < 1e-7
    turning = np.linspace(0.0, 9.0, 300)[:, None] * axis
    found = ph.project(joint, joint.transform(turning), continuous=True)
    assert np.abs(found.q - turning).max() < 1e-6


def test_a_pose_far_off_moves_no_others():
    """Two arms of a curve side by side, and a motion that leaps from one to the other."""
    along = np.linspace(0.0, 1.0, 8)
    places = (
        [(x, 0.0) for x in along] + [(1.08, 0.04), (1.1, 0.1), (1.08, 0.16)] + [(x, 0.2) for x in along[::-1]]
    )
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, :2, 3] = places
    curve = ph.joints.SplineCurve(frames)
    lower, upper = curve.range[0]
    q = lower + (upper - lower) * np.concatenate([np.linspace(0.05, 0.3, 20), np.linspace(0.7, 0.95, 20)])
    poses = curve.transform(q[:, None])
    poses[5, 2, 3] += 0.3
    found = ph.project(curve, poses, continuous=True)
    assert np.abs(np.delete(found.q[:, 0] - q, 5)).max() < 1e-8


def test_no_poses_have_no_coordinates():
    for joint in (ph.joints.Hinge(), ph.joints.Spherical()):
        assert ph.project(joint, np.zeros((0, 4, 4)), continuous=True).q.shape == (0, joint.num_coordinates)
