"""Control frames that were deleted or are out of the way, and what of a slider does not go along."""

import bpy
import numpy as np
import pytest

from ..selecting import select
from .test_curve_tools import knee  # noqa: F401


@pytest.mark.small
def test_a_deleted_frame_is_removed_and_no_other(part, scene, knee):
    """It is chosen in the list, while another's Empty is selected."""
    joint, _ = knee()
    settings = joint.condyle.joint
    kept = [frame.object for frame in settings.frames]
    select(kept.pop(3))
    bpy.ops.object.delete()
    select(kept[2])
    part("handlers.control_frames").mark_selected()
    settings.active_frame = 3
    part("handlers.control_frames").mark_selected()
    assert settings.active_frame == 3
    assert bpy.ops.condyle.remove_control_frame() == {"FINISHED"}
    assert [frame.object for frame in settings.frames] == kept
    assert bpy.context.active_object == kept[2]
    select(kept[1])
    bpy.ops.object.delete()
    select(kept[0])
    part("handlers.control_frames").mark_selected()
    assert bpy.ops.condyle.remove_control_frame() == {"FINISHED"}  # what comes next is gone itself
    assert settings.frames[0].object is None or settings.frames[0].object.name not in scene.objects
    assert bpy.context.active_object == joint


@pytest.mark.small
@pytest.mark.parametrize(
    "operator", ["duplicate_control_frame", "insert_control_frame", "remove_control_frame"]
)
def test_frames_in_a_collection_that_is_out_of_the_way_stay_as_they_are(part, scene, knee, operator):
    joint, moved = knee()
    frames = [frame.object for frame in joint.condyle.joint.frames]
    select(moved)
    collection = next(each for each in scene.collection.children if joint.name in each.objects)
    bpy.context.view_layer.layer_collection.children[collection.name].exclude = True
    with pytest.raises(RuntimeError, match="excluded"):
        getattr(bpy.ops.condyle, operator)()
    assert [frame.object for frame in joint.condyle.joint.frames] == frames
    with pytest.raises(RuntimeError, match="Control point 2 is missing, or hidden"):
        bpy.ops.condyle.select_control_frame(index=2)


def test_what_is_told_of_a_slider_that_does_not_go_along(part, scene, knee):
    joint, _ = knee()
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    (curve,) = (
        each for each in part("blender.compat").curves_in_use(joint) if "coordinate" in each.data_path
    )
    assert not part("making.curve_tools").left_alone(scene, joint)
    curve.modifiers.new("NOISE")
    assert "Modifiers of the slider's keys" in part("making.curve_tools").left_alone(scene, joint)[-1]
    joint.driver_add('["coordinate"]')
    assert any(
        text.startswith("The driver of the slider")
        for text in part("making.curve_tools").left_alone(scene, joint)
    )
    with pytest.raises(RuntimeError, match="its slider 'coordinate' has a driver"):
        bpy.ops.condyle.key_sliders()
    with pytest.raises(RuntimeError, match="its slider 'coordinate' has a driver"):
        bpy.ops.condyle.set_from_pose()


@pytest.mark.parametrize("preset", ["knee", "jaw"])
def test_a_frame_that_is_added_to_a_preset_lies_on_its_curve(part, scene, preset):
    """There the child hangs beside the curve by its rest pose: the frame was set at the child's own origin."""
    joint = part("making.presets_making").add_with_bodies(scene, preset)
    select(joint)
    reader, settings = part("data.stored_joints"), joint.condyle.joint
    ends = joint.id_properties_ui("coordinate").as_dict()
    joint["coordinate"] = 0.43 * ends["max"]
    joint.update_tag()
    bpy.context.view_layer.update()
    wanted = reader.read_joint(scene, joint).transform([0.43 * ends["max"]])
    before = len(settings.frames)
    assert bpy.ops.condyle.add_control_frame() == {"FINISHED"}
    assert len(settings.frames) == before + 1 and 0 < settings.active_frame < before
    added = part("blender.units").to_metres(reader.control_frames(scene, joint)[settings.active_frame], scene)
    assert np.abs(added - wanted).max() < 1e-5  # both are drawn from float32 matrices of about 1 m
