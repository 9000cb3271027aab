"""The legs that Hill-type muscles drive: muscles that pull the right way, fibres of possible lengths. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import driven_knee_model


@pytest.mark.parametrize("kind", driven_knee_model.KINDS)
def test_muscles_pull_the_right_way(kind):
    model = driven_knee_model.build_model(kind)
    state = model.state(q=[driven_knee_model.knee_coordinate(kind, np.radians(40.0)), 0.0])
    arms = dict(zip(driven_knee_model.MUSCLES, ph.muscle_lengths(model, state).moment_arms))
    assert arms["rectus femoris"][0] < -0.02 < 0.02 < arms["semimembranosus"][0]  # extends, flexes
    assert arms["soleus"][1] > 0.03 > -0.03 > arms["tibialis anterior"][1]  # toes down, toes up
    assert arms["soleus"][0] == pytest.approx(0.0, abs=1e-12)


def test_both_knees_stand_alike():
    """At an angle of flexion the coordinates of both joints turn the tibia alike."""
    for degrees in (10.0, 60.0, 110.0):
        for kind in driven_knee_model.KINDS:
            model = driven_knee_model.build_model(kind)
            q = [driven_knee_model.knee_coordinate(kind, np.radians(degrees)), 0.0]
            pose = ph.body_poses(model, model.state(q=q))[0]
            # the fitted curve and its table of 400 places
            assert np.degrees(driven_knee_model.flexion(pose)) == pytest.approx(degrees, abs=0.1)
