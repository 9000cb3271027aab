"""The walking machine: its legs' geometry, its loops, and that it walks. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import walker_model
from blender_scenes.walker_model import FRONT, REAR


@pytest.mark.parametrize("side", [REAR, FRONT])
def test_links_keep_jansens_lengths_all_round(side):
    pairs = {
        ("pivot", "top"): walker_model.PIVOT_TOP,
        ("pivot", "outer"): walker_model.PIVOT_OUTER,
        ("top", "outer"): walker_model.TOP_OUTER,
        ("pivot", "low"): walker_model.PIVOT_LOW,
        ("pin", "top"): walker_model.TOP_ROD,
        ("pin", "low"): walker_model.LOW_ROD,
        ("outer", "heel"): walker_model.OUTER_HEEL,
        ("low", "heel"): walker_model.LOW_HEEL,
        ("heel", "foot"): walker_model.HEEL_FOOT,
        ("low", "foot"): walker_model.LOW_FOOT,
    }
    for angle in np.linspace(0.0, 2.0 * np.pi, 25):
        leg = walker_model.make_leg("leg", 0.0, side, angle)
        for (a, b), length in pairs.items():
            assert np.linalg.norm(getattr(leg, a) - getattr(leg, b)) == pytest.approx(length, abs=1e-14)


def test_foot_is_flat_on_the_ground_for_more_than_a_third_of_the_turn():
    angles = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)
    heights = np.array([walker_model.make_leg("leg", 0.0, REAR, angle).foot[1] for angle in angles])
    assert np.mean(heights < heights.min() + 0.005) > 0.36


def test_model_begins_closed_and_its_shaft_alone_moves_it():
    model = walker_model.build_model(walker_model.legs()[:2], walks=False)
    state = model.state()
    rows = np.vstack([hinge.jacobian(model, state) for hinge in model.constraints.values()])
    values = np.concatenate([hinge.value(model, state) for hinge in model.constraints.values()])
    assert np.abs(values).max() < 1e-14
    assert model.num_coordinates - np.linalg.matrix_rank(rows, tol=1e-10) == 1


def test_linkage_on_a_moving_frame_stays_closed():
    """Rows across the plane of the legs move nothing: on a tilted frame that is known only to round-off."""
    model = walker_model.build_model(walker_model.legs()[:1])
    state = model.state(
        q={"Frame": [0.0, 0.0, 2.0, 0.3, -0.2, 0.5]}, qd={"Frame": [0.1, 0.2, 0.3, 1.0, 0.7, -0.5]}
    )
    result = ph.simulate(model, state, 0.2, walker_model.TIME_STEP, motions=walker_model.drive())
    assert walker_model.closure(model, result.poses) < 1e-11
    assert result.info["constraints"]["steps_unmet"] == 0


def test_machine_gets_ahead_upright():
    model = walker_model.build_model()
    result = ph.simulate(
        model, walker_model.start(model), 1.5, walker_model.TIME_STEP, motions=walker_model.drive(1.5),
        record_interval=1.0 / 24.0,
    )  # fmt: skip
    assert walker_model.closure(model, result.poses) < 1e-11
    frame = result.poses[:, 0]
    assert frame[-1, 0, 3] > 0.6
    assert frame[:, 2, 2].min() > np.cos(np.radians(2.0))
    feet = walker_model.foot_points(model, result.poses)[..., 2]
    assert -0.01 < feet.min() - walker_model.FOOT < 0.0
