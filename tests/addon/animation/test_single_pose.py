"""A joint is found in a pose that it can take, from a start that leads elsewhere, too."""

import numpy as np
import pytest

pytest.importorskip("bpy")


@pytest.fixture
def place(part):
    return part("animation.single_pose").place


@pytest.mark.parametrize("near", [False, True])
def test_a_pose_next_to_the_start_is_met(place, ph, near):
    joint = ph.joints.Universal()
    q, far, turn = place(joint, np.array([0.3, -0.2]), joint.transform([0.4, 0.1]), 1.0, near)
    assert np.abs(q - [0.4, 0.1]).max() < 1e-9 and far < 1e-12 and turn < 1e-9


def test_a_start_that_leads_astray_is_left(place, ph):
    """On a curve that comes back near itself, steps from one side end where it is nearest there."""
    angles = np.linspace(0.0, 5.5, 12)
    frames = np.tile(np.eye(4), (12, 1, 1))
    frames[:, :3, 3] = np.stack([np.cos(angles), np.sin(angles), 0.05 * angles], axis=1)
    joint = ph.joints.SplineCurve(frames)
    low, high = joint.range[0]
    pose = joint.transform([high - 0.02 * (high - low)])
    start = np.array([low])
    _, far, _ = place(joint, start, pose, 1.0, near=True)
    assert far > 0.1
    q, far, turn = place(joint, start, pose, 1.0)
    assert far < 1e-9 and turn < 1e-9 and abs(q[0] - (high - 0.02 * (high - low))) < 1e-6


def test_what_cannot_be_met_is_told(place, ph):
    pose = np.eye(4)
    pose[:3, 3] = [0.0, 0.0, 0.25]
    _, far, turn = place(ph.joints.Hinge((0, 0, 1)), np.array([0.3]), pose, 1.0)
    assert abs(far - 0.25) < 1e-12 and turn < 1e-9


def test_a_pose_that_no_angles_meet_is_placed_near_the_start(place, ph):
    """Half a turn about each axis is the same rotation."""
    one = {"type": "linear", "slope": 1.0, "offset": 0.0}
    axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    turns = [{"axis": axis, "function": one, "coordinate": name} for axis, name in zip(axes, "zxy")]
    slides = [{**turn, "function": {**one, "slope": 0.0}, "coordinate": None} for turn in turns]
    joint = ph.joints.Custom(tuple("zxy"), rotations=turns, translations=slides)
    pose = joint.transform([1e-7, -2e-7, 6e-7])  # as sliders of its ancestors may leave it, with the rounding
    pose[:3, 3] = 2e-5
    q, far, turn = place(joint, np.zeros(3), pose, 1.0)
    assert np.abs(q).max() < 1e-6 and turn < 1e-6 and far == pytest.approx(2e-5 * 3**0.5)
