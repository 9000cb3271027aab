"""Many operators in one session, undone all the way back and redone all the way: every stage is as it was."""

import warnings

import bpy
import pytest

from ..undo_stage import (  # noqa: F401
    RECIPES,
    at_frame,
    both,
    named,
    of_type,
    on,
    on_bones,
    op,
    stage,
    stage_file,
)
from ..undo_steps import chained

# Blender 5.2 loses pointers in undo, or crashes in it, after some thousand steps of other tests in the same process.
pytestmark = [pytest.mark.small, pytest.mark.alone]


def target_moved():
    (target,) = [item for item in bpy.context.scene.objects if item.name.endswith("Target")]
    target.location.x += 0.05


CHAIN = (
    ("make_body", on("Spare")),
    ("add_joint", on("Spare", "Shank", kind="fixed")),
    ("choose_type", on("Spare", kind="hinge")),
    ("drive", on("Spare")),
    ("drive_all", on("Knee")),
    ("add_control_frame", on("Knee", before=at_frame(9))),
    ("key_sliders", on("Knee")),
    ("even_out_frames", on("Knee", num_frames=7)),
    ("reverse_curve", on("Knee")),
    ("add_target", on("Shank")),
    ("reach_targets", on("Shank", before=target_moved)),
    ("key_joints", on("Shank", first=1, last=3)),
    ("add_muscle", on("Thigh", "Spare")),
    ("add_obstacle", on("Biceps", "Spare")),
    ("add_connection", on("Spare", "Shank", kind="spring")),
    ("bake", on("Knee", before=at_frame(1))),
    ("free_bake", on("Knee")),
    ("remove_muscle", on("Biceps")),
    ("stop_driving", on("Knee")),
    ("make_grid", on("Knee")),
    ("add_grid_line", on("Knee")),
    ("fit", on("Shank")),
    ("remove_joint", on("Knee")),
    ("remove_body", on("Shank")),
    ("demo_knee", on("Spare")),
)


BONES = (
    ("make_body", on_bones("Rig", "C")),
    ("add_joint", on_bones("Rig", "C", "B", kind="hinge")),
    ("drive", on_bones("Rig", "C")),
    ("choose_type", on_bones("Rig", "C", kind="spherical")),
    ("remove_joint", on_bones("Rig", "C")),
    ("add_preset", on_bones("Rig", "C", "B", preset="elbow")),
    ("drive_all", on_bones("Rig", "B")),
    ("set_from_pose", on_bones("Rig", "B", before=at_frame(4))),
    ("key_sliders", on_bones("Rig", "B")),
    ("scrub", on_bones("Rig", "C", values=(0.7, 0.0, 0.0))),
    ("start_here", on_bones("Rig", "C")),
    ("drag", on_bones("Rig", "C", goal=(1.1, 0.1, 0.1))),
    ("add_target", on_bones("Rig", "C")),
    ("reach_targets", on_bones("Rig", "C", before=target_moved)),
    ("key_joints", on_bones("Rig", "C", first=1, last=3)),
    ("add_connection", on_bones("Rig", "C", "A", kind="spring")),
    ("add_muscle", on_bones("Rig", "C", "A")),
    ("bake", on_bones("Rig", "B", before=at_frame(1))),
    ("free_bake", on_bones("Rig", "B")),
    ("stop_driving", on_bones("Rig", "B")),
    ("fit", on_bones("Rig", "B")),
    ("add_control_frame", on_bones("Rig", "B", before=at_frame(2))),
    ("set_rest_pose", on_bones("Rig", "B", before=at_frame(6))),
    ("remove_body", on_bones("Rig", "A")),
)


def lasting(stage, steps):
    """What differs in a session, and again at the same step in another one in the same file; the rest is a warning.

    Blender 5.2 now and then loses a pointer between objects that are all there in an undo or redo, its own `parent`
    among them, each time another one.
    """
    found = {(step, line) for step, lines in chained(steps) for line in lines}
    if found:
        warnings.warn(f"once, and perhaps not again: {sorted(found)}", stacklevel=2)
        bpy.ops.wm.open_mainfile(filepath=str(stage))
        found &= {(step, line) for step, lines in chained(steps) for line in lines}
    return sorted(found)


def test_a_session_with_bones_is_undone_and_redone_stage_by_stage(stage):
    assert lasting(stage, BONES) == []


def test_a_session_is_undone_and_redone_stage_by_stage(stage):
    assert lasting(stage, CHAIN) == []


SHOT = (
    ("add_joint", on_bones("Rig", "C", "B", kind="hinge")),
    ("drive_all", on_bones("Rig", "C")),
    ("scrub", on_bones("Rig", "C", values=(0.7, 0.0, 0.0))),
    ("start_here", on_bones("Rig", "C")),
    ("add_target", on_bones("Rig", "C")),
    ("reach_targets", on_bones("Rig", "C", before=target_moved)),
    ("key_joints", on_bones("Rig", "C", first=1, last=3)),
    ("set_from_pose", on_bones("Rig", "B")),
    ("add_muscle", on_bones("Rig", "C", "A")),
    ("bake", on_bones("Rig", "B")),
    ("free_bake", on_bones("Rig", "B")),
    ("bake", on_bones("Rig", "C")),
    ("free_bake", on_bones("Rig", "C")),
    ("stop_driving", on_bones("Rig", "C")),
    ("remove_joint", on_bones("Rig", "C")),
)


def test_a_session_with_a_library_override_is_undone_and_redone_stage_by_stage(
    scene, make, body, authoring, tmp_path
):
    """A rig with one driven joint of the library's; the other is of the shot."""
    bones = {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0.1, 0, 0), "A")}
    rig = make.armature("Rig", bones | {"C": ((0.1, 0, 0), (0.3, 0, 0), "B")})
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Hip")
    authoring.drive(scene, joint, True)
    character = bpy.data.collections.new("Character")
    for item in list(scene.objects):
        character.objects.link(item)
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {character}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    shot = bpy.context.scene
    shot.frame_end = 6
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    wanted.collections[0].override_hierarchy_create(shot, bpy.context.view_layer, do_fully_editable=True)
    bpy.context.view_layer.update()
    names = [item.name for item in shot.objects if item.override_library]
    assert {"Rig", "Hip"} <= set(names), names
    assert chained(SHOT) == []
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_rows_of_a_rig_that_an_operator_changed_outlast_later_undos(stage):
    """They were emptied on each undo, and Blender kept the emptied object where nothing else of it differed."""
    steps = ("move_to_rigs", "add_ragdoll", "fit_surface")
    assert (
        lasting(stage, [("demo_knee", RECIPES["demo_knee"]), *((name, RECIPES[name]) for name in steps)])
        == []
    )
