"""The arm of deltoid and triceps: muscles that pull the right way, paths outside of what they wrap over. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import arm_model
from physics.muscles.drawing import muscle_curves


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
def test_paths_keep_outside_of_the_ball(degrees):
    of = arm_model.build_model(free=True)
    q = arm_model.coordinates(*np.radians(degrees))
    lines, _ = muscle_curves(of, q[None], 96)
    center = ph.body_poses(of, of.state(q=q))[0][:3, 3]
    deltoids = [m for m, muscle in enumerate(of.muscles) if muscle.name.startswith("deltoid")]
    # attaching is rounded off over 1.5 mm
    assert np.linalg.norm(lines[0, deltoids] - center, axis=-1).min() > arm_model.HEAD_RADIUS - 1.5e-3


def test_energy_is_kept():
    assert arm_model.drift(0.1) < 1e-6
