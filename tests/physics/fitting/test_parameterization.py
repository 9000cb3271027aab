"""Where poses and control frames sit along the curve."""

import numpy as np
import pytest

import physics as ph
from physics.fitting import parameterization
from physics.fitting.linearization import Sites, poses
from physics.geometry import lie
from physics.geometry.twist_metric import TwistMetric
from tests.physics.generators import loop_frames
from tests.verification.fitting_data import wandering_poses


def straight(places):
    """Poses along x (n, 4, 4)."""
    return lie.exp(np.asarray(places)[:, None] * [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def test_spread_is_four_times_the_rms_distance_and_one_for_a_point():
    assert parameterization.spread(straight([-1.0, 1.0])) == pytest.approx(4.0)
    assert parameterization.spread(straight([2.0, 2.0])) == 1.0


def test_chord_parameters_add_up_distances_in_the_metric():
    twists = np.array([[0.3, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.8, 0.0]])
    chain = [np.eye(4), lie.exp(twists[0]), lie.exp(twists[0]) @ lie.exp(twists[1])]
    q, length = parameterization.chord_parameters(np.array(chain), TwistMetric.of_length(2.0), periodic=False)
    np.testing.assert_allclose(q, [0.0, 0.3, 0.7], atol=1e-15)
    assert length == q[-1]
    q, length = parameterization.chord_parameters(np.array(chain), TwistMetric.of_length(2.0), periodic=True)
    assert len(q) == 3 and length > q[-1]


@pytest.mark.parametrize(("num_frames", "order"), [(4, 4), (7, 4), (12, 4), (7, 5), (12, 5), (6, 6), (12, 6)])
def test_data_knots_give_every_control_frame_its_data(num_frames, order):
    q = np.cumsum(np.random.default_rng(0).uniform(0.1, 2.0, 12))
    knots = parameterization.data_knots(q, num_frames, order, None)
    assert knots[0] == q[0] and knots[-1] == pytest.approx(q[-1])
    assert parameterization.well_posed(q, knots, order, periodic=False)


def test_well_posed_is_schoenberg_and_whitney():
    knots = ph.splines.clamped_knots(6, 4, 0.0, 3.0)
    assert parameterization.well_posed(np.linspace(0.0, 3.0, 6), knots, 4, periodic=False)
    assert not parameterization.well_posed(np.linspace(0.0, 3.0, 5), knots, 4, periodic=False)
    assert not parameterization.well_posed(np.linspace(0.0, 0.9, 6), knots, 4, periodic=False)
    closed = ph.splines.periodic_knots(8, 4, 0.0, 8.0)
    assert parameterization.well_posed(np.arange(8.0), closed, 4, periodic=True)
    assert not parameterization.well_posed(np.linspace(0.0, 2.0, 8), closed, 4, periodic=True)


def test_quadrature_integrates_polynomials_of_degree_5_over_the_range():
    knots = ph.splines.clamped_knots(7, 4, -1.0, 2.0)
    sites, weights = parameterization.quadrature(knots, 4, periodic=False)
    assert weights.sum() == pytest.approx(3.0)
    joint = ph.joints.SplineCurve(straight(ph.splines.greville(knots, 4)), knots=knots)
    q = poses(joint.frames, sites)[:, 0, 3]  # control frames at the Greville abscissae: x is q
    assert weights @ q**5 == pytest.approx((2.0**6 - 1.0) / 6.0)


def test_arc_length_of_a_known_curve():
    knots = ph.splines.clamped_knots(6, 4, 0.0, 1.0)
    # x = 3 q: speed 3 / scale
    frames = straight(3.0 * ph.splines.greville(knots, 4))
    q = np.array([0.0, 0.21, 0.5, 1.0])
    length = parameterization.arc_length(
        q, frames, knots, 4, periodic=False, metric=TwistMetric.of_length(2.0)
    )
    np.testing.assert_allclose(length, 1.5 * q, atol=1e-12)


@pytest.mark.parametrize("periodic", [False, True])
def test_projection_finds_the_nearest_points_and_holds_the_ends(periodic):
    frames = (
        loop_frames(np.random.default_rng(1), 9) if periodic else wandering_poses(np.random.default_rng(1), 9)
    )
    joint = ph.joints.SplineCurve(frames, periodic=periodic, length_scale=0.5)
    knots = joint.knots
    stop = knots[12] - 0.4 if periodic else knots[9]
    q = np.linspace(knots[3], stop, 12)
    targets = poses(frames, Sites.at(q, knots, 4, periodic))
    held = [0] if periodic else [0, -1]
    shifted = q + 0.02 * np.diff(q).min() * np.sin(np.arange(12.0))
    shifted[held] = q[held]
    found = parameterization.project(targets, shifted, frames, knots, 4, periodic, TwistMetric.of_length(0.5))
    np.testing.assert_allclose(found, q, atol=1e-9)


def test_projection_keeps_the_order_of_the_poses():
    frames = wandering_poses(np.random.default_rng(2), 9)
    joint = ph.joints.SplineCurve(frames, length_scale=0.5)
    q = np.linspace(*joint.range[0], 30)
    shuffled = poses(frames, Sites.at(q, joint.knots, 4, False))
    shuffled[10:20] = shuffled[10:20][::-1]
    found = parameterization.project(shuffled, q, frames, joint.knots, 4, False, TwistMetric.of_length(0.5))
    assert (np.diff(found) > 0.0).all()


@pytest.mark.parametrize("periodic", [False, True])
def test_reparameterizing_a_natural_curve_hardly_moves_it(periodic):
    rng = np.random.default_rng(3)
    frames = loop_frames(rng, 24) if periodic else wandering_poses(rng, 24, 0.1, 0.03)
    joint = ph.joints.SplineCurve(frames, periodic=periodic, length_scale=0.5)
    q = np.linspace(joint.knots[3], joint.knots[24], 24 if periodic else 20)
    moved, fresh = parameterization.reparameterize(
        q, frames, joint.knots, 4, periodic, TwistMetric.of_length(0.5)
    )
    np.testing.assert_allclose(fresh, joint.knots, atol=1e-12)
    assert moved[0] == pytest.approx(q[0]) and (np.diff(moved) > 0.0).all()
    # natural knots keep the speed near 1, not at it
    assert np.abs(moved - q).max() < 0.1 * (fresh[24] - fresh[3])
