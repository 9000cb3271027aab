"""The leg that follows a target: within its limits, on the target where it can be, near it where not."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import leg_model


@pytest.fixture(scope="module")
def found():
    return leg_model.follow()


@pytest.mark.small
def test_foot_is_on_its_target_through_the_step(found):
    step = found.times <= leg_model.STEP_SECONDS
    assert found.reachable[step].all()
    np.testing.assert_allclose(found.poses[step, 2], found.targets[step], atol=2e-6)


def test_far_target_is_reported_and_approached(found):
    far = ~found.reachable
    assert far.any()
    middle = int(np.argmax(found.distances))
    assert 0.01 < found.distances[middle] < leg_model.BEYOND
    # the leg is then as long as it gets: no other coordinates are nearer
    again = ph.inverse_kinematics(leg_model.leg(), ph.Target.pose("Foot", found.targets[middle]), starts=20)
    cost = np.hypot(found.distances[middle], 0.1 * found.angles[middle])
    assert cost <= np.hypot(again.position_errors[0], 0.1 * again.rotation_errors[0]) + 1e-6


def test_coordinates_keep_their_limits_and_do_not_jump(found):
    lower, upper = leg_model.knee().range[0]
    assert (found.q[:, 3] >= lower - 1e-9).all() and (found.q[:, 3] <= upper + 1e-9).all()
    ankle = found.q[:, 4:]
    assert (ankle >= leg_model.ANKLE_LIMITS[:, 0] - 1e-9).all()
    assert (ankle <= leg_model.ANKLE_LIMITS[:, 1] + 1e-9).all()
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.3


def test_knee_is_the_published_one():
    q = np.linspace(*leg_model.knee().range[0], 50)
    poses = leg_model.knee().transform(q[:, None])
    bent = np.degrees(np.arctan2(poses[:, 0, 2] - poses[:, 2, 0], poses[:, 0, 0] + poses[:, 2, 2]))
    assert abs(abs(bent[-1] - bent[0]) - 120.0) < 0.5
