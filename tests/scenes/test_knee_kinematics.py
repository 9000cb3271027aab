"""The published knee: the spline against OpenSim's own evaluation, axes, noise."""

import json
from pathlib import Path

import numpy as np
import pytest

from blender_scenes.anatomy import knee_kinematics

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "opensim_gait2392_knee.json"


@pytest.fixture(scope="module")
def reference():
    if not REFERENCE.exists():
        pytest.skip(f"the reference poses computed with OpenSim are not at {REFERENCE}")
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def test_tables_are_those_of_the_model(reference):
    forward, upward = (axis for axis in reference["axes"] if axis["function"] == "SimmSpline")
    assert tuple(forward["x"]) == knee_kinematics.FORWARD_ANGLES
    assert tuple(forward["y"]) == knee_kinematics.FORWARD_VALUES
    assert tuple(upward["x"]) == knee_kinematics.UPWARD_ANGLES
    assert tuple(upward["y"]) == knee_kinematics.UPWARD_VALUES


def test_poses_agree_with_opensim(reference):
    angles = np.array([sample["knee_angle_rad"] for sample in reference["samples"]])
    poses = knee_kinematics.opensim_poses(-angles)
    places = np.array([sample["p_femur_tibia"] for sample in reference["samples"]])
    turns = np.array([sample["R_femur_tibia"] for sample in reference["samples"]])
    # OpenSim solves the same equations in double precision: round-off of metres and of matrix entries
    np.testing.assert_allclose(poses[:, :3, 3], places, rtol=0, atol=1e-15)
    np.testing.assert_allclose(poses[:, :3, :3], turns, rtol=0, atol=1e-15)


def test_spline_slope_agrees_with_opensim(reference):
    step = 1e-4  # central difference: error step^2/6 times a third derivative of below 0.2 m/rad^3
    for sample in reference["samples"]:
        angle = sample["knee_angle_rad"]
        if angle - step < knee_kinematics.FORWARD_ANGLES[0]:
            continue  # OpenSim goes on straight there, and so do we, but not with equal slopes on both sides
        before, after = knee_kinematics.opensim_poses(-np.array([angle - step, angle + step]))
        slope = (after[:3, 3] - before[:3, 3]) / (2 * step)
        np.testing.assert_allclose(slope, sample["dp_dq"], atol=1e-8)


def test_spline_passes_through_its_knots_and_is_linear_beyond():
    x, y = knee_kinematics.FORWARD_ANGLES, knee_kinematics.FORWARD_VALUES
    np.testing.assert_allclose(knee_kinematics.cubic_spline(x, y, x), y, atol=1e-17)
    beyond = knee_kinematics.cubic_spline(x, y, np.array([x[-1], x[-1] + 0.5, x[-1] + 1.0]))
    assert np.ptp(np.diff(beyond)) < 1e-17
    assert abs(beyond[1] - beyond[0]) > 1e-6


def test_spline_repeats_a_cubic():
    # every cubic satisfies the end conditions, which a natural spline's does not
    x = np.array([-1.0, -0.3, 0.2, 0.9, 2.0])
    cubic = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0])
    at = np.linspace(-1.0, 2.0, 31)
    np.testing.assert_allclose(knee_kinematics.cubic_spline(x, cubic(x), at), cubic(at), atol=1e-13)


def test_blender_axes_are_a_turn_of_opensims():
    turn = knee_kinematics.BLENDER_FROM_OPENSIM
    np.testing.assert_allclose(turn @ turn.T, np.eye(3))
    assert np.isclose(np.linalg.det(turn), 1.0)
    flexed = knee_kinematics.tibia_poses(np.array([np.pi / 2]))[0]
    np.testing.assert_allclose(flexed[:3, :3] @ [0, 0, -1], [-1, 0, 0], atol=1e-15)  # the heel goes backward


def test_noise_has_the_stated_size_and_repeats():
    clean = knee_kinematics.keyed_poses()
    np.testing.assert_array_equal(knee_kinematics.noisy_poses(), knee_kinematics.noisy_poses())
    shifts, turns = [], []
    for seed in range(60):
        noisy = knee_kinematics.noisy_poses(seed)
        shifts.append(noisy[:, :3, 3] - clean[:, :3, 3])
        error = np.swapaxes(clean[:, :3, :3], 1, 2) @ noisy[:, :3, :3]
        turns.append(np.stack([error[:, 2, 1], error[:, 0, 2], error[:, 1, 0]], axis=1))
    # 2340 samples: the deviation of a sigma is 1.5 %, so 6 % is four deviations
    assert np.std(shifts) == pytest.approx(knee_kinematics.NOISE_TRANSLATION, rel=0.06)
    assert np.std(turns) == pytest.approx(knee_kinematics.NOISE_ROTATION, rel=0.06)
