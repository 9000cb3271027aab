"""What Ctrl+C and Ctrl+V of a jointed rig make."""

import bpy
import pytest

from ..copying import view


@pytest.mark.small
def test_followers_of_a_pasted_rig_are_hidden(part, scene, make):
    make.driven_knee(part, scene)
    for item in bpy.context.view_layer.objects:
        item.select_set(not item.hide_viewport)
    assert view(bpy.ops.view3d.copybuffer) == view(bpy.ops.view3d.pastebuffer) == {"FINISHED"}
    part("making.duplicates").mend()
    assert part("making.duplicates").mend() == 0
    found = [item for item in bpy.data.objects if "Follower" in item.name]
    assert len(found) == 2 and all(item.hide_viewport and item.hide_select for item in found)
    assert not any(item.select_get() for item in found)
    assert part("sliders.driver_empties").chain_of(bpy.data.objects["Knee.001"])  # it still has its own
