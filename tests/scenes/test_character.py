"""The walking character: its tail stays on its hips, in a bake and at both of a frame's ends."""

import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from blender_scenes import character
from blender_scenes.production import registered_addon


def test_the_tail_of_a_walking_character_stays_on_its_hips():
    with registered_addon():
        made = character.make()
        report, figures = character.measure(made, lambda share, text: None)
    assert len(report.bodies) == character.TAIL == 20 and len(report.frames) == 96
    assert set(figures) == {"tail off the hips, also between frames", "swing of the tip after a second"}
