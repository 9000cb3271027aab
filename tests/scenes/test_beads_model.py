"""The beads on their wires: the curve, the model and its bounds. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import beads_model
from blender_scenes.beads_model import BEADS, FLOWERS
from tests.scenes import energy_bounds


def test_curve_closes_and_stays_near_the_flower():
    curve = beads_model.wire_curve()
    start, end = curve.transform(np.array([[0.0], [curve.period]]))
    np.testing.assert_allclose(start, end, atol=1e-12)
    points = beads_model.curve_poses(2000)[:, :3, 3]
    ideal = beads_model.flower_frames(np.arctan2(points[:, 2], points[:, 0]))[:, :3, 3]
    assert np.linalg.norm(points - ideal, axis=1).max() < 1.5e-3  # the cubic rounds the inner bends
    assert np.abs(points[:, 1]).max() < 1e-12


def test_bead_axis_lies_along_the_wire():
    poses = beads_model.curve_poses(4000)
    along = np.roll(poses[:, :3, 3], -1, axis=0) - np.roll(poses[:, :3, 3], 1, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    angle = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", along, poses[:, :3, 0]), -1.0, 1.0)))
    assert angle.max() < 5.0


def test_coordinate_finds_the_angle():
    curve = beads_model.wire_curve()
    for angle in (0.3, 2.0, 5.5):
        x, _, z = curve.transform([beads_model.coordinate(angle)])[:3, 3]
        assert np.arctan2(z, x) % (2.0 * np.pi) == pytest.approx(angle, abs=2e-3)  # one of 4000 places


def test_only_the_free_beads_spin():
    model = beads_model.build_model()
    for flower in FLOWERS:
        for number in BEADS:
            where = model.coordinate_slice(flower.bead(number))
            assert where.stop - where.start == 1 + flower.free


def test_energy_stays_above_the_bound_and_spin_is_kept_about_the_vertical():
    model = beads_model.build_model(friction=0.0)
    state = beads_model.start(model)
    result = ph.simulate(model, state, duration=1.0, dt=1e-3, integrator="rk4")
    assert result.energy[:, 1].min() > energy_bounds.beads(model)
    # gravity and the upright hinge leave each wire's momentum about the vertical alone: M q' of the hinge
    for q, qd in zip(result.q[::250], result.qd[::250]):
        momentum = ph.mass_matrix(model, model.state(q=q, qd=qd)) @ qd
        begun = ph.mass_matrix(model, state) @ state.qd
        for flower in FLOWERS:
            hinge = model.coordinate_slice(flower.wire)
            np.testing.assert_allclose(momentum[hinge], begun[hinge], rtol=1e-4)
