"""Bones that are turned at rest after a joint was made between them: the skin turns, and that is told."""

import bpy
import numpy as np
import pytest

from ..said import said
from ..selecting import select

pytestmark = pytest.mark.small
BONES = {"Thigh": ((0, 0, 1), (0, 0.02, 0.5), None), "Shin": ((0, 0.02, 0.5), (0, 0, 0), "Thigh")}


@pytest.fixture
def rig(make, scene):
    found = make.armature("Rig", BONES)
    return found


def joined(part, scene, rig, kind="hinge"):
    body = part("data.references").Body
    return part("making.bodies_and_joints").add_joint(
        scene, body(rig, "Thigh"), body(rig, "Shin"), kind, name="Knee"
    )


def roll(rig, bone, angle):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones[bone].roll += angle
    bpy.ops.object.mode_set(mode="OBJECT")


def told(part, scene):
    return list(part("making.rest_poses").check(scene))


@pytest.mark.parametrize("bone", ["Thigh", "Shin"])
def test_a_roll_that_is_changed_with_sliders_on_is_told_until_it_is_put_right(part, scene, rig, bone):
    joint = joined(part, scene, rig)
    part("making.bodies_and_joints").drive(scene, joint, True)
    assert told(part, scene) == []
    roll(rig, bone, 0.5)
    (found,) = told(part, scene)
    turned = ("rest-pose-turned", "Rig/Shin", "Rig/Thigh", "Knee", pytest.approx(28.6, abs=0.1))
    assert said([found]) == [turned] and found in part("jobs.scene_checks").check(scene)
    part("making.bodies_and_joints").take_rest_pose(joint)
    assert told(part, scene) == []
    roll(rig, bone, -0.5)
    assert len(told(part, scene)) == 1
    other = part("data.references").Body(rig, "Thigh")
    part("data.references").point_at(joint.condyle.joint.child, other)  # of another child nothing is known
    assert told(part, scene) == []


def test_rest_poses_that_move_together_or_are_renamed_are_not_told(part, scene, make, rig):
    joined(part, scene, rig)
    rig.data.bones["Shin"].name = "Tibia"
    rig.rotation_euler = (0.4, 0.3, 0.2)
    rig.rotation_euler.rotate_axis("X", 0.3)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.transform_apply(location=False, rotation=True, scale=False)
    make.update()
    assert np.abs(np.array(rig.matrix_world)[:3, :3] - np.eye(3)).max() < 1e-6
    assert told(part, scene) == []


def test_a_curve_is_to_be_made_anew(part, scene, make, rig):
    joint = joined(part, scene, rig, "spline_curve")
    bone = rig.pose.bones["Shin"]
    bone.rotation_mode = "XYZ"
    for number in range(5):
        bone.rotation_euler = 0.3 * number, 0.0, 0.0
        bone.keyframe_insert("rotation_euler", frame=1 + 5 * number)
        make.update()
        part("making.bodies_and_joints").add_control_frame(scene, joint)
    roll(rig, "Shin", 0.5)
    (found,) = told(part, scene)
    assert found.code == "rest-pose-turned-spline"
    select(joint)
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    assert told(part, scene) == []


def test_objects_and_files_of_earlier_versions_have_no_record_and_are_not_told(
    part, scene, make, body, authoring, rig
):
    a, b = make.box("A"), make.box("B", (0, 0, 1))
    assert authoring.add_joint(scene, body(a), body(b), "hinge").condyle.rest.bones == ""
    joint = joined(part, scene, rig)
    joint.condyle.property_unset("rest")
    roll(rig, "Shin", 0.5)
    assert told(part, scene) == []


def test_a_pose_that_is_applied_as_rest_is_told_with_what_makes_it_right(part, scene, make, rig):
    """The mesh that it was applied to, too, is as it was."""
    joint = joined(part, scene, rig)
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint["coordinate"] = 0.7
    joint.update_tag()
    make.update()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply(selected=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    (found,) = told(part, scene)
    assert found.values["angle"] == pytest.approx(40.1, abs=0.1)
