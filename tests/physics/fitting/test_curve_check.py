"""The two requirements on a curve joint, and the places where they fail."""

import json
import warnings

import numpy as np
import pytest

import physics as ph
from blender_scenes.anatomy import knee_kinematics
from physics.fitting import check_curve
from physics.geometry import lie
from tests.physics.generators import loop_frames, smooth_frames


def along_x(places):
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, 0, 3] = places
    return frames


@pytest.mark.parametrize("order", [4, 5, 6])
@pytest.mark.parametrize("periodic", [False, True])
def test_a_smooth_curve_passes(order, periodic):
    rng = np.random.default_rng(order)
    frames = loop_frames(rng, 12) if periodic else smooth_frames(rng, 12)
    joint = ph.joints.SplineCurve(frames, order=order, periodic=periodic)
    found = check_curve(joint)
    assert found.ok and found.problems == ()
    # slowest and sharpest against plain samples of the joint
    q = np.linspace(*joint.domain, 400)
    values = [joint.evaluate(value) for value in q]
    assert found.slowest.value <= min(np.linalg.norm(s) for _, s, _ in values) * (1.0 + 1e-9)
    assert found.sharpest.value >= max(np.linalg.norm(h) for _, _, h in values) * 0.95
    assert len(found.ends) == (0 if periodic else 2)


def test_order_3_is_not_c2_at_its_knots():
    """Every knot inside the range is named, with the jump that the joint shows there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        joint = ph.joints.SplineCurve(smooth_frames(np.random.default_rng(0), 8), order=3)
    found = check_curve(joint)
    assert not found.ok and len(found.jumps) == 5
    for place in found.jumps:
        behind, ahead = (joint.evaluate(place.q + sign * 1e-9)[2][:, 0, 0] for sign in (-1.0, 1.0))
        assert np.linalg.norm(ahead - behind) == pytest.approx(place.value, rel=1e-5)
    assert "not C2: ds/dq jumps" in found.problems[0] and "between control frames" in found.problems[0]


@pytest.mark.parametrize("shift", [0.0, 0.123])
def test_turning_back_on_the_same_way_stands_still(shift):
    """The curve must come to rest where it reverses, wherever between the knots that is."""
    places = np.array([0.0, 1.0, 2.0, 3.0 + shift, 2.0, 1.0 + shift, 0.0])
    joint = ph.joints.SplineCurve(along_x(places), knots=ph.splines.clamped_knots(7, 4, 0.0, 1.0))
    found = check_curve(joint)
    assert len(found.stops) == 1 and not found.jumps
    q = found.stops[0].q
    assert np.linalg.norm(joint.evaluate(q)[1]) < 1e-9
    assert joint.transform([q])[0, 3] == pytest.approx(
        joint.transform(np.linspace(0, 1, 999)[:, None])[:, 0, 3].max()
    )
    assert found.stops[0].frames in ((2, 3), (3, 4)) and "S vanishes" in found.problems[0]


def test_a_curve_that_passes_by_is_told_from_one_that_stops():
    """A slow place is no stop."""
    frames = along_x([0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]) @ lie.exp(
        1e-3 * np.arange(7)[:, None] * np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    )
    found = check_curve(ph.joints.SplineCurve(frames))
    assert found.ok and 1e-4 < found.slowest.share < 1e-2


def test_places_are_in_the_joints_own_coordinate():
    poses = knee_kinematics.keyed_poses()
    plain = ph.fit_curve(poses, num_frames=8)
    joint = ph.fit_curve(poses, num_frames=8, coordinate="angle", axis=(0.0, 1.0, 0.0)).joint
    one, other = check_curve(plain.joint), check_curve(joint)
    assert other.slowest.parameter == one.slowest.parameter
    assert other.slowest.q == pytest.approx(float(joint.coordinate_at(one.slowest.parameter)))
    report = json.loads(json.dumps(other.report()))
    assert report["ok"] and report["c2"] and report["never_still"] and report["problems"] == []


def test_only_curves_are_checked():
    with pytest.raises(ph.ModelError, match="spline curve joint, got 'hinge'"):
        check_curve(ph.joints.Hinge())


@pytest.mark.parametrize("periodic", [False, True])
def test_a_fit_by_arc_length_is_the_same_fit(periodic):
    poses = loop_frames(np.random.default_rng(5), 12) if periodic else knee_kinematics.noisy_poses()
    keywords = {"num_frames": 9, "smoothing": 0.1, "periodic": periodic}
    plain, paced = ph.fit_curve(poses, **keywords), ph.fit_curve(poses, coordinate="arc_length", **keywords)
    np.testing.assert_array_equal(plain.joint.frames, paced.joint.frames)
    np.testing.assert_allclose(paced.joint.parameter_at(paced.q), plain.q, atol=1e-12)
    np.testing.assert_allclose(
        paced.joint.transform(paced.q[:, None]), plain.joint.transform(plain.q[:, None]), atol=1e-12
    )
