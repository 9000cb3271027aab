"""The walking leg: a gait that keeps its feet on the ground, and calves that are as long as their paths' types let
them. No Blender.
"""

import numpy as np
import pytest

import physics as ph
from blender_scenes import walking_leg_model as walk


def test_angles_are_those_of_the_table():
    times = walk.CYCLE * np.array(walk.PERCENT) / 100.0
    q = np.degrees(walk.coordinates(times))
    # thirteen coefficients through seventeen values of angles that are themselves rounded to a degree
    assert np.abs(-q[:, 1] - walk.ANGLES["Femur"]).max() < 1.5
    assert np.abs(-q[:, 3] - walk.ANGLES["Foot"]).max() < 1.5


def test_derivatives_are_those_of_the_coordinates():
    times, step = np.linspace(0.0, walk.CYCLE, 7), 1e-5
    for order in (0, 1):
        ahead, back = (walk.coordinates(times + sign * step, order) for sign in (1.0, -1.0))
        # central differences: the step's square times third derivatives of some thousands
        assert np.abs((ahead - back) / (2.0 * step) - walk.coordinates(times, order + 1)).max() < 1e-4


def test_feet_are_on_the_ground_in_stance():
    stands = walk.heights(walk.coordinates(np.linspace(0.02, 0.54, 27) * walk.CYCLE))
    assert -0.012 < stands.min() < stands.max() < 0.012
    assert walk.heights(walk.coordinates(np.array([0.72]) * walk.CYCLE))[0] > 0.03


@pytest.mark.parametrize("kind", walk.KINDS)
def test_masses_and_lengths(kind):
    of, rigid = walk.build_model(kind), walk.build_model(kind, 0.0)
    bodies = sum(body.mass for body in of.bodies)
    muscles = sum(muscle.mass for muscle in of.muscles)
    assert bodies + muscles == pytest.approx(sum(body.mass for body in rigid.bodies))
    assert muscles == pytest.approx(walk.SHARE * walk.SHANK_MASS)
    bent = walk.coordinates(np.array([0.72 * walk.CYCLE]))[0]
    arms = dict(zip(walk.MUSCLES, ph.muscle_lengths(of, of.state(q=bent)).moment_arms))
    assert arms["soleus"][3] > 0.03 > -0.01 > arms["tibialis anterior"][3]  # toes down, toes up
    if kind != "II":  # its points hold it where it is
        assert arms["gastrocnemius medialis"][2] > 0.005  # flexes the knee
