"""Every joint has a drawing: finite, where the joint is, as large as asked, with its limits."""

import numpy as np
import pytest

import physics as ph
from physics.joints.drawing import drawing, links_of, sketch
from physics.joints.symbols import ROLES
from tests.physics.generators import JOINT_KINDS, random_coordinates, random_joint

joints = ph.joints


def made(kind, seed=3):
    rng = np.random.default_rng(seed)
    return rng, random_joint(rng, kind)


def test_every_type_of_the_registry_is_drawn_here():
    kinds = {made(kind)[1].type for kind in JOINT_KINDS}
    assert kinds == set(joints.REGISTRY)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_every_joint_has_a_finite_drawing(kind):
    rng, joint = made(kind)
    for q in (None, random_coordinates(rng, joint)):
        shown = drawing(joint, 0.2, q=q)
        assert len(shown.points) and np.isfinite(shown.points).all()
        assert shown.lines.shape == (len(shown.roles), 2) and shown.lines.max() < len(shown.points)
        assert set(shown.roles) <= set(ROLES) and "limit" not in shown.roles
        if joint.num_coordinates:
            assert "value" in shown.roles


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_pieces_go_with_the_joint(kind):
    rng, joint = made(kind)
    q = random_coordinates(rng, joint)
    _, end = sketch(joint).place(joint.readings(q))
    np.testing.assert_allclose(end, joint.transform(q), atol=1e-12)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_limits_are_drawn(kind):
    _, joint = made(kind)
    if not joint.num_coordinates:
        return
    inner = joint.range.reshape(-1, 2)
    lower = np.where(np.isfinite(inner[:, 0]), inner[:, 0], -0.4)
    upper = np.where(np.isfinite(inner[:, 1]), 0.5 * (inner[:, 1] + lower), 0.9)
    for limits in (
        np.stack([lower, upper], axis=1),
        [[low, None] for low in lower],
        [[None, u] for u in upper],
    ):
        shown = drawing(joint, limits=limits)
        assert "limit" in shown.roles and np.isfinite(shown.points).all()


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in JOINT_KINDS
        if kind in joints.REGISTRY and kind not in ("custom", "helical", "flexible_surface")
    ],
)
def test_signs_grow_with_size(kind):
    """Those of joints that have no lengths of their own, at rest, are twice as large; paths keep their size."""
    _, joint = made(kind)
    small, large = drawing(joint, 0.1), drawing(joint, 0.2)
    paths = {"path", "surface"} & set(small.roles)
    if not paths and kind not in ("inverted", "composite"):
        np.testing.assert_allclose(large.points, 2.0 * small.points, atol=1e-12)
    for role in paths:
        np.testing.assert_allclose(large.segments(role), small.segments(role), atol=1e-12)


def test_a_hinge_is_limited_by_an_arc_and_its_hand_turns():
    joint = joints.Hinge((0, 0, 1))
    limits = [[-0.5, 1.2]]
    stops = drawing(joint, limits=limits).segments("limit")
    angles = np.arctan2(stops[..., 1], stops[..., 0])
    assert angles.min() == pytest.approx(-0.5) and angles.max() == pytest.approx(1.2)
    start, turned = drawing(joint, q=[0.0]), drawing(joint, q=[0.7])
    hand, moved = start.segments("value"), turned.segments("value")
    np.testing.assert_allclose(moved, hand @ ph.lie.so3_exp(np.array([0, 0, 0.7])).T, atol=1e-12)
    np.testing.assert_array_equal(start.segments("axis"), turned.segments("axis"))


def test_a_limit_of_several_turns_is_a_spiral():
    arc = drawing(joints.Hinge(), 0.1, [[0.0, 6.0 * np.pi]]).segments("limit")
    reach = np.linalg.norm(arc[..., :2], axis=-1)
    assert reach.max() > 1.1 * np.median(reach)


def test_a_range_of_a_slider_has_its_true_length():
    bar = drawing(joints.Slider((0, 1, 0)), 0.1, [[-0.3, 0.7]]).segments("limit")
    assert bar[..., 1].min() == pytest.approx(-0.3) and bar[..., 1].max() == pytest.approx(0.7)
    far = drawing(joints.Slider((0, 1, 0)), 0.1, [[-0.3, 7.0]]).segments(
        "limit"
    )  # an arrow in place of a line of 7 m
    assert far[..., 1].min() == pytest.approx(-0.3) and far[..., 1].max() < 0.1


def test_angles_of_a_gimbal_are_dials_each_carried_by_the_one_before():
    joint = joints.Euler("zyx")
    assert [link.used for link in links_of(joint)] == [(0,), (1,), (2,)]
    angles = np.array([0.4, -0.3, 0.8])
    frames, _ = sketch(joint).place(angles)
    np.testing.assert_allclose(frames[1][:3, :3], ph.lie.so3_exp(np.array([0, 0, 0.4])), atol=1e-12)
    shown = drawing(joint, limits=[(-1, 1), (-0.5, 0.5), (None, None)], q=joint.from_readings(angles))
    assert "limit" in shown.roles


def test_limits_of_a_ball():
    cone = drawing(joints.Spherical(joints.ReachCone((0, 1, 0), 0.6)), 0.2).segments("limit")
    tips = cone[np.linalg.norm(cone, axis=-1) > 1e-9]
    np.testing.assert_allclose(tips @ [0, 1, 0] / np.linalg.norm(tips, axis=-1), np.cos(0.6), atol=1e-12)
    most = np.array([0.5, 1.0, np.pi])
    region = drawing(joints.Spherical(joints.RotationLimit(most)), 0.2).segments("limit").reshape(-1, 3)
    theta = np.linalg.norm(region, axis=1) * np.pi / 0.1  # half the size stands for half a turn
    direction = region / np.linalg.norm(region, axis=1, keepdims=True)
    np.testing.assert_allclose(theta, np.linalg.norm(most * direction, axis=1), atol=1e-12)


def test_the_path_of_a_curve_is_the_way_of_its_frame():
    _, joint = made("spline_curve")
    path = drawing(joint).segments("path")
    lower, upper = joint.range[0]
    np.testing.assert_allclose(path[0, 0], joint.transform([lower])[:3, 3])
    np.testing.assert_allclose(path[-1, 1], joint.transform([upper])[:3, 3])


def test_lines_between_samples_are_smooth():
    """An ellipse by a few samples: cubics follow it to a thousandth."""
    path = drawing(joints.Elliptic(0.3, 0.2)).segments("path").reshape(-1, 3)
    np.testing.assert_allclose(np.hypot(path[:, 0] / 0.3, path[:, 1] / 0.2), 1.0, atol=1e-3)


def test_a_curve_run_backward_goes_with_its_child():
    """Its wire is fixed to what moves, and always passes through the joint's own origin."""
    _, joint = made("spline_curve")
    backward = joints.Inverted(joint)
    q = np.array([0.3 * joint.range[0, 1]])
    wire = drawing(backward, q=q).segments("path")
    np.testing.assert_allclose(
        wire[0, 0], (backward.transform(q) @ joint.transform([0.0]))[:3, 3], atol=1e-12
    )


def test_a_joint_that_turns_about_its_origin_shows_where_its_axes_go():
    wobble = joints.Wave(sine=0.5)
    still = ((1, 0, 0), joints.Linear(0.0), None)
    turns = (
        ((1, 0, 0), joints.Linear(), "a"),
        ((0, 1, 0), wobble, "a"),
        ((0, 0, 1), joints.Linear(0.0), None),
    )
    joint = joints.Custom(("a",), turns, (still,) * 3)
    path = drawing(joint, 0.1).segments("path")
    np.testing.assert_allclose(np.linalg.norm(path, axis=-1), 0.04, rtol=1e-3)  # cubics between samples


def test_limits_beyond_a_curve_that_refuses_are_drawn_at_its_end():
    _, joint = made("spline_curve")
    strict = joints.SplineCurve(joint.frames, outside="error")
    assert "limit" in drawing(strict, limits=[[-1.0, 1e3]], q=[0.1]).roles


def test_a_surface_that_deforms_is_drawn_at_its_time():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(6, 6, 5, 6)) * 0.1
    values[..., 3:5] += np.stack(np.meshgrid(np.arange(6), np.arange(6), indexing="ij"), -1)[:, :, None]
    joint = joints.SplineSurface(values, moving=True)
    early, late = (drawing(joint, q=[0.5, 0.5, time]).segments("surface") for time in (0.1, 0.9))
    assert early.shape == late.shape and np.abs(early - late).max() > 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0.0}, "size of a drawing must be positive, got 0"),
        ({"limits": [[1.0, 0.0]]}, "limits of a drawing must not be reversed"),
        ({"limits": [[1.0, 2.0, 3.0]]}, r"limits of a drawing must have shape \(1, 2\), got \(1, 3\)"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ph.ModelError, match=message):
        drawing(joints.Hinge(), **arguments)
