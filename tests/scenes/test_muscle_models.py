"""The models of the scenes of muscles with mass: what they weigh and what they feel. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import finger_model, pendulums_model


def test_finger_is_lighter_than_its_muscles():
    light, heavy = finger_model.build_model(False), finger_model.build_model(True)
    assert sum(body.mass for body in heavy.bodies) == pytest.approx(0.023, abs=0.001)
    assert [muscle.mass for muscle in heavy.muscles] == pytest.approx([0.2, 0.2])
    q = finger_model.BENT
    felt = ph.mass_matrix(heavy, heavy.state(q=q)) - ph.mass_matrix(light, light.state(q=q))
    assert np.linalg.eigvalsh(felt).min() >= -1e-18  # what has mass never makes anything lighter


def test_flexors_bend_the_finger():
    model = finger_model.build_model(True)
    arms = ph.muscle_lengths(model, model.state(q=finger_model.BENT)).moment_arms
    assert (arms[0] > 3e-3).all()  # the profundus bends all three joints
    assert (arms[1, :2] > 3e-3).all() and arms[1, 2] == 0.0  # the superficialis ends before the last


def test_energy_of_a_gentle_push_is_returned():
    flick = finger_model.flick(True, 1.0, seconds=0.005)
    assert not flick.failed
    assert flick.pushed > 0.0


@pytest.mark.parametrize("variant", [*pendulums_model.GROUP, None])
def test_pendulums_weigh_the_same(variant):
    model = pendulums_model.build_model(variant)
    mass = sum(body.mass for body in model.bodies) + sum(muscle.mass for muscle in model.muscles)
    assert mass == pytest.approx(3.0 * pendulums_model.MASS)


def test_muscles_come_off_their_cylinders_and_never_jump():
    model = pendulums_model.build_model(pendulums_model.GROUP[0])
    angles = np.radians(np.arange(-40.0, 40.0, 0.5))
    lengths = [ph.muscle_lengths(model, model.state(q=[0.0, a])).lengths[0] for a in angles]
    assert np.abs(np.diff(lengths)).max() < 2e-3  # 7 cm of arm times half a degree, thrice
    assert np.abs(np.diff(lengths, 2)).max() < 5e-5
