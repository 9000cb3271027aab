"""What simulated scenes have in common."""

import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from blender_scenes import SceneError, production


def test_value_within_its_bounds_is_given_back():
    assert production.check("the gap", 2.0, 1.0, 3.0, "mm") == 2.0


@pytest.mark.parametrize("value", [0.5, 3.5, float("nan")])
def test_value_out_of_its_bounds_is_refused(value):
    with pytest.raises(SceneError, match=f"the gap is {value:g} mm, not within 1 to 3 mm"):
        production.check("the gap", value, 1.0, 3.0, "mm")
