"""The hand that holds a ball: its freedom, its constraints and the forces they take. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import hand_model
from blender_scenes.hand_model import FINGERS


@pytest.fixture(scope="module")
def result():
    model = hand_model.the_model()
    # two samples a step would be the same: the balance of work needs every step
    return ph.simulate(
        model, hand_model.start(model), 1.0, hand_model.TIME_STEP, motions=hand_model.motions()
    )


def test_arm_has_25_degrees_of_freedom_of_which_the_couplings_take_four():
    assert hand_model.build_model().num_coordinates == 25 + 6  # and the ball's
    assert hand_model.hyper_reduced().num_coordinates == 25 + 6 - 4


def test_start_meets_the_constraints_within_what_fingers_do():
    model = hand_model.the_model()
    state = hand_model.start(model)
    values = [constraint.value(model, state) for constraint in model.constraints.values()]
    assert np.abs(np.concatenate(values)).max() < 1e-10
    for finger in FINGERS[1:]:
        for bone in finger.bones:
            assert 0.0 < state.q[model.coordinate_slice(bone)][0] < np.radians(90.0)


def test_fingertips_and_couplings_hold(result):
    assert hand_model.tip_gap(result) < 1e-11
    assert hand_model.coupling_gap(result) < 1e-11


def test_elbow_and_ball_follow_their_motions(result):
    begin = np.array(hand_model.start_coordinates())
    elbow = result.q[:, 0] - begin[0]
    assert np.abs(elbow).max() > np.radians(4.0)
    for name, motion in hand_model.motions().items():
        where = result.model.coordinate_slice(name)
        at_keys = result.q[:: round(0.05 / hand_model.TIME_STEP), where]
        np.testing.assert_allclose(at_keys, motion.values[: len(at_keys)], atol=1e-12)


def test_work_of_elbow_and_ball_is_the_energy_gained(result):
    assert hand_model.work_balance(result) < 3e-3  # of first order, as the method is


def test_couplings_as_constraints_move_the_hand_as_hyper_reduced_coordinates_do():
    reduced, constrained = hand_model.free_accelerations()
    np.testing.assert_allclose(constrained, reduced, atol=1e-11 * np.abs(reduced).max())


def test_forces_of_the_tips_move_the_ball(result):
    """The efforts of the prescribed ball are its inertia, its weight and its force on the fingertips."""
    model = result.model
    where = model.coordinate_slice("Ball")
    ball = result.efforts[:, where][1:, :3]
    forces = sum(hand_model.tip_forces(result).values())[1:]
    acceleration = np.diff(result.qd[:, where][:, :3], axis=0) / hand_model.TIME_STEP
    wanted = hand_model.BALL_MASS * (acceleration - model.gravity) + forces
    # the cubic through the keys and the step's velocity differ to first order in the step
    np.testing.assert_allclose(ball, wanted, atol=5e-3)
