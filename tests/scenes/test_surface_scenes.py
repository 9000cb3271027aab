"""The models of the ball on the deforming sheet and of the shoulder blade: geometry, and motion without Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import sheet_model, shoulder_model
from physics import joints
from physics.geometry import splines


def still_surface(time=0.0):
    """The sheet at a time, a joint of two coordinates."""
    order, layers = sheet_model.ORDER, sheet_model.LAYERS
    knots = splines.unrolled_knots(sheet_model.time_knots(), order)
    weights = splines.basis(knots, order, np.array([time % sheet_model.PERIOD]))[0]
    around = np.take(sheet_model.control_values(), np.arange(layers + order - 1) % layers, axis=2)
    values = np.tensordot(around, weights, (2, 0))
    return joints.SplineSurface(
        values, order=order, knots=(sheet_model.side_knots(), sheet_model.side_knots())
    )


def test_sheet_is_the_spline_of_its_layers():
    moving = sheet_model.surface()
    for time in (0.0, 1.3, 3.9, 5.3):
        still = still_surface(time)
        for place in ((0.2, 0.7), (0.55, 0.1)):
            np.testing.assert_allclose(still.transform(place), moving.transform([*place, time]), atol=1e-14)


def test_weights_of_the_layers_make_one():
    weights = sheet_model.layer_weights(np.linspace(0.0, 9.0, 50))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    assert weights.min() >= 0.0


def test_frame_is_about_upright_on_the_sheet():
    surface = sheet_model.surface()
    for q in np.random.default_rng(5).uniform(0.15, 0.85, (10, 3)):
        along = surface.evaluate(q)
        first, second = (along[0][:3, :3] @ along[1][3:, k] for k in (0, 1))
        normal = np.cross(first, second)
        upright = normal @ along[0][:3, 2] / np.linalg.norm(normal)
        assert np.degrees(np.arccos(min(upright, 1.0))) < 5.0


def test_ball_on_a_sheet_at_rest_keeps_its_energy():
    of = sheet_model.model(still_surface(), damping=0.0)
    result = ph.simulate(of, sheet_model.start(of), 1.0, 2e-3, "rk4")
    drift = np.abs(result.energy[:, 2] - result.energy[0, 2]).max()
    assert drift < 1e-6 * result.energy[:, 0].max()


def test_moving_sheet_works_on_the_ball():
    of = sheet_model.model(damping=0.0)
    result = ph.simulate(of, sheet_model.start(of), 1.0, 2e-3, "rk4")
    np.testing.assert_allclose(result.q[:, 2], result.t, atol=1e-12)  # time runs by itself
    assert np.ptp(result.energy[:, 2]) > 1e-3


@pytest.mark.small
def test_scapula_is_braced_by_the_clavicle_at_every_sample():
    lengths = [shoulder_model.reach(pose) for pose in shoulder_model.sample_poses()]
    np.testing.assert_allclose(lengths, shoulder_model.clavicle_length(), atol=1e-12)


def test_surface_is_fitted_to_the_samples_and_keeps_the_reach_between_them():
    fit = shoulder_model.fitted()
    assert fit.residuals.translation.max() < 5e-4
    lower, upper = np.asarray(fit.joint.range).T
    places = np.random.default_rng(2).uniform(lower, upper, (200, 2))
    reaches = np.array([shoulder_model.reach(pose) for pose in fit.joint.transform(places)])
    assert np.abs(reaches - shoulder_model.clavicle_length()).max() < 5e-4


def test_shoulder_starts_whole_and_stays_so():
    of = shoulder_model.model()
    state = shoulder_model.start(of)
    poses = ph.body_poses(of, state)
    end = poses[2] @ [shoulder_model.clavicle_length(), 0.0, 0.0, 1.0]
    # the scapula is between samples, where the reach is right to the fit's accuracy
    np.testing.assert_allclose(end, poses[0] @ [*shoulder_model.ACROMION, 1.0], atol=5e-4)
    result = ph.simulate(of, state, 0.5, shoulder_model.TIME_STEP, record_interval=0.05)
    gaps = np.linalg.norm(
        (result.poses[:, 2] @ [shoulder_model.clavicle_length(), 0.0, 0.0, 1.0])
        - (result.poses[:, 0] @ [*shoulder_model.ACROMION, 1.0]),
        axis=1,
    )
    assert gaps.max() < 1e-3
