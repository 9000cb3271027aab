"""The arm of deltoid and triceps: muscles that pull the right way, paths outside of what they wrap over. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import arm_model
from physics.analysis.missed_wraps import missed_wraps
from physics.analysis.muscle_drawing import muscle_curves


def test_muscles_pull_the_right_way():
    of = arm_model.build_model()
    arms = dict(zip(arm_model.HEADS, ph.muscle_lengths(of, arm_model.start(of)).moment_arms))
    for name, arm in arms.items():
        if name.startswith("triceps"):
            assert -0.04 < arm[3] < -0.02  # stretches the elbow
        else:
            assert arm[3] == pytest.approx(0.0, abs=1e-12)
    # it lifts forward by the anterior head, outward by the middle one: they shorten
    forward = arm_model.lengths(*(arm_model.START + np.radians([10.0, 0.0, 0.0])))
    outward = arm_model.lengths(*(arm_model.START + np.radians([0.0, 10.0, 0.0])))
    before = arm_model.lengths(*arm_model.START)
    assert forward["deltoid anterior"] < before["deltoid anterior"] - 2e-3
    assert outward["deltoid middle"] < before["deltoid middle"] - 1e-3


@pytest.mark.parametrize("degrees", [(45.0, 15.0, 118.0), (40.0, 15.0, 60.0), (80.0, 25.0, 10.0)])
def test_paths_keep_outside_of_the_humerus(degrees):
    of = arm_model.build_model(free=True)
    q = arm_model.coordinates(*np.radians(degrees))
    lines, _ = muscle_curves(of, q[None], 96)
    bone = ph.body_poses(of, of.state(q=q))[0]
    deltoids = [m for m, muscle in enumerate(of.muscles) if muscle.name.startswith("deltoid")]
    local = (lines[0, deltoids] - bone[:3, 3]) @ bone[:3, :3]
    beyond = local[..., 2] - np.clip(local[..., 2], -arm_model.NECK, 0.0)
    away = np.hypot(np.hypot(local[..., 0], local[..., 1]), beyond)
    # ends are nearer than four smoothing lengths: a fifth of 1.5 mm; and chords of lines drawn by 96 points
    assert away.min() > arm_model.HEAD_RADIUS - 0.4e-3


def reach(count=240):
    """Coordinates (count, 4) of an arm that reaches forward and outward as in the scene, and stretches."""
    angles = np.radians([[45.0, 15.0, 118.0]]) + np.linspace(0.0, 1.0, count)[:, None] * np.radians(
        [40.0, 20.0, -100.0]
    )
    return np.array([arm_model.coordinates(*row) for row in angles])


def test_lengths_and_gradients_are_steady_while_the_arm_reaches_out():
    of, q = arm_model.build_model(free=True), reach()
    assert missed_wraps(of, q) == ()
    found = [ph.muscle_lengths(of, of.state(q=row)) for row in q]
    lengths, slopes = np.array([each.lengths for each in found]), np.array([each.gradients for each in found])
    step = np.diff(q, axis=0)[:, None, :]
    expected = (0.5 * (slopes[1:] + slopes[:-1]) * step).sum(axis=2)  # the trapezoidal rule, of third order
    assert np.abs(np.diff(lengths, axis=0) - expected).max() < 1e-7
    assert np.abs(np.diff(slopes, axis=0)).max() < 2e-3


def test_energy_is_kept():
    assert arm_model.drift(0.1) < 1e-6
