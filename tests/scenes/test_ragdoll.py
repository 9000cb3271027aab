"""A figure with chains that falls down stairs: contacts are met, energy falls, and it comes to rest."""

import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from blender_scenes import ragdoll
from blender_scenes.production import registered_addon


@pytest.mark.slow  # ten seconds of motion, with contacts of shapes and chains
def test_a_ragdoll_falls_down_the_stairs_and_comes_to_rest():
    with registered_addon():
        made = ragdoll.make()
        report, _ = ragdoll.measure(made, lambda share, text: None)
    assert len(report.poses) == 15 + 20 + 9 + 4 and len(report.frames) == ragdoll.FRAMES
