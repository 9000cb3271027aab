"""The walking character: chains by the operator, which stay on what they hang on and swing after it."""

import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from blender_scenes import character
from blender_scenes.production import registered_addon


@pytest.mark.slow  # the whole scene, baked
def test_chains_of_a_walking_character_stay_on_it_and_swing():
    with registered_addon():
        made = character.make()
        report, figures = character.measure(made, lambda share, text: None)
    assert (
        len(report.bodies) == character.TAIL + character.HAIR + 4 + 1 + 1 == 35 and len(report.frames) == 96
    )
    assert len(figures) == 3 + len(character.CHAINS)
