"""The arm that reaches: what each task promises. No Blender."""

import numpy as np
import pytest

from blender_scenes import arm_model, reach_model


def test_the_path_leads_to_the_target():
    model = reach_model.build_model()
    begin = reach_model.hand(model, arm_model.start(model))
    places = reach_model.path(begin, np.array([0.0, reach_model.SECONDS]))
    assert np.allclose(places, [begin, begin + reach_model.AWAY], rtol=0.0, atol=1e-15)


@pytest.mark.slow  # a search with heavy muscles: half a minute
@pytest.mark.parametrize("task", ["constant torques", "by excitations"])
def test_the_hand_gets_there(task):
    solved = reach_model.solve(task)
    # m: the requirement; the searches get nearer
    assert solved.miss < {"constant torques": 1e-3, "by excitations": 2e-3}[task]
    assert solved.gradients <= reach_model.MOST_GRADIENTS[task]
