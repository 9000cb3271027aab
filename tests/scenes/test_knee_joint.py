"""What the knee's script measures and refuses, on made-up figures."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from blender_scenes import SceneError, knee_joint
from blender_scenes.anatomy.knee_kinematics import rotation_matrix, tibia_poses
from blender_scenes.knee_joint import Fits, Swing


def report(**changes):
    good = {
        "worst_distance_mm": 0.02,
        "worst_angle_deg": 0.01,
        "rms_distance_mm": 0.01,
        "rms_angle_deg": 0.01,
        "hessian_integral": 1.0,
        "iterations": 5,
    }
    return SimpleNamespace(**{**good, **changes})


def fits(**changes):
    good = {
        "kept": report(worst_distance_mm=0.08),
        "fine": report(),
        "noisy": report(hessian_integral=50.0),
        "smoothed": report(rms_distance_mm=0.7, rms_angle_deg=0.7),
        "noisy_error": 6e-4,
        "smoothed_error": 3e-4,
    }
    return Fits(**{**good, **changes})


def test_good_fits_pass():
    knee_joint.check_fits(fits())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kept": report(worst_distance_mm=0.11)}, "with 8 control frames the fit misses a pose by 0.110 mm"),
        (
            {"fine": report(worst_distance_mm=0.06)},
            "with 10 control frames the fit misses a pose by 0.060 mm",
        ),
        ({"fine": report(worst_angle_deg=0.06)}, "0.060 degrees; the bounds are"),
        ({"kept": report(worst_distance_mm=np.nan)}, "misses a pose by nan mm"),
        ({"noisy": report(hessian_integral=4.0)}, "only 4.00-fold"),
        ({"smoothed": report(rms_distance_mm=0.9)}, "more than the noise"),
        ({"smoothed_error": 7e-4}, "away from the published motion"),
    ],
)
def test_bad_fits_are_refused(changes, message):
    with pytest.raises(SceneError, match=message):
        knee_joint.check_fits(fits(**changes))


def swing(**changes):
    flexion = 90.0 + 25.0 * np.cos(np.linspace(0, 12, 49))
    return Swing(**{"report": None, "flexion": flexion, "bake_error": 1e-7, **changes})


def test_good_swing_passes():
    knee_joint.check_swing(swing())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flexion": np.array([65.0, 121.0])}, "from 65.0 to 121.0 degrees leaves the range"),
        ({"flexion": np.array([65.0, 66.0])}, "hardly swings"),
    ],
)
def test_bad_swing_is_refused(changes, message):
    with pytest.raises(SceneError, match=message):
        knee_joint.check_swing(swing(**changes))


def test_distance_from_the_published_motion():
    dense = tibia_poses(np.radians(np.linspace(0, 120, 1201)))
    assert knee_joint.distance_from_published(dense) < 1e-12  # every half degree is among them
    shifted = dense.copy()
    shifted[:, 1, 3] += 1e-3  # square to the motion: no other pose is nearer
    assert knee_joint.distance_from_published(shifted) == pytest.approx(1e-3, rel=1e-9)
    turned = dense.copy()
    turned[:, :3, :3] = dense[:, :3, :3] @ rotation_matrix((0.01, 0.0, 0.0))
    assert knee_joint.distance_from_published(turned) == pytest.approx(
        0.01 * knee_joint.LENGTH_SCALE, rel=1e-6
    )
