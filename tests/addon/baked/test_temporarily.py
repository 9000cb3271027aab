"""Looking at the scene without a trace: earlier bakes, unkeyed poses, held bodies, what Blender does not evaluate."""

import bpy
import numpy as np
import pytest

from ..first_job import first_job
from ..keying import set_keys


def pendulum(part, scene, make):
    """A bob on a hinge below a held top."""
    body = part("data.references").Body
    top, bob = make.box("Top", (0, 0, 1)), make.box("Bob", (0.3, 0, 0.6))
    matrix = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 1], [0, 0, 0, 1.0]])
    joint = part("making.bodies_and_joints").add_joint(scene, body(top), body(bob), "hinge", matrix=matrix)
    scene.frame_start, scene.frame_end = 1, 13
    make.update()
    return top, bob, joint


def ball(part, scene, make):
    item = make.box("Ball", (0, 0, 10))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(item), motion="FREE")
    scene.frame_start, scene.frame_end = 1, 13
    return item


def exclude_joints():
    bpy.context.view_layer.layer_collection.children["Condyle"].exclude = True


@pytest.mark.small
@pytest.mark.parametrize("how", ["object", "collection", "exclude"])
def test_a_joint_that_blender_does_not_evaluate_is_refused(part, scene, make, ph, how):
    _, _, joint = pendulum(part, scene, make)
    if how == "object":
        joint.hide_viewport = True
    elif how == "collection":
        bpy.data.collections["Condyle"].hide_viewport = True
    else:
        exclude_joints()
    make.update()
    with pytest.raises(ph.ModelError, match=f"joint '{joint.name}' is disabled in the viewport") as raised:
        part("jobs.bake").bake_now(scene)
    assert ("its collection Condyle is excluded or disabled" in str(raised.value)) == (how != "object")


@pytest.mark.small
def test_a_collection_of_joints_that_is_excluded_is_told_once_and_in_full(part, scene, make):
    """A line about the joint, which was cut off, and one about its first control frame said the same."""
    make.driven_knee(part, scene)
    exclude_joints()
    make.update()
    (line,) = part("jobs.scene_checks").check(scene)
    assert line.text.startswith("joint 'Knee' is disabled in the viewport, as its collection Condyle is")
    assert len(line.text) <= part("ui.checks.panels").LONGEST


@pytest.mark.small
def test_hiding_with_the_eye_does_no_harm_and_disabled_bodies_are_refused(part, scene, make, ph):
    _, bob, joint = pendulum(part, scene, make)
    joint.hide_set(True)
    part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    bob.hide_viewport = True
    make.update()
    with pytest.raises(ph.ModelError, match="its child Bob is disabled in the viewport"):
        part("jobs.bake").bake_now(scene)


def test_a_disabled_control_frame_is_named(part, scene, make, ph):
    _, _, joint = pendulum(part, scene, make)
    joint.condyle.joint.type = "spline_curve"
    for z in range(4):
        matrix = np.eye(4)
        matrix[2, 3] = 0.1 * z
        part("making.bodies_and_joints").add_control_frame(scene, joint, matrix)
    joint.condyle.joint.frames[2].object.hide_viewport = True
    make.update()
    with pytest.raises(ph.ModelError, match=r"control point 2 .* is disabled in the viewport"):
        part("jobs.bake").bake_now(scene)


@pytest.mark.small
def test_a_second_bake_starts_from_the_scene_not_from_the_first_bake(part, scene, make):
    item = ball(part, scene, make)
    part("jobs.bake").bake_now(scene)
    scene.frame_start = 7
    report = part("jobs.bake").bake_now(scene)
    assert report.poses["Ball"][0][2, 3] == 10.0
    part("jobs.bake").free_bake(scene)
    assert item.animation_data is None and tuple(item.location) == (0, 0, 10)


@pytest.mark.small
def test_what_hangs_on_a_body_that_is_no_longer_simulated_fits_the_freed_body(part, scene, make, body):
    _, bob, joint = pendulum(part, scene, make)
    foot = make.box("Foot", (0.6, 0, 0.6))
    foot.parent, foot.matrix_parent_inverse = bob, bob.matrix_world.inverted()
    part("making.bodies_and_joints").add_joint(scene, body(bob), body(foot), "hinge")
    part("jobs.bake").bake_now(scene)
    scene.frame_set(10)
    part("making.bodies_and_joints").remove_joint(scene, joint)
    report = part("jobs.bake").bake_now(scene)
    for frame, pose in zip(report.frames, report.poses["Foot"]):
        scene.frame_set(int(frame))
        assert np.abs(np.array(foot.matrix_world) - pose).max() < 4e-6  # float32


@pytest.mark.small
def test_a_cancelled_second_bake_leaves_the_first(part, scene, make):
    item = ball(part, scene, make)
    part("jobs.bake").bake_now(scene)
    scene.frame_set(9)
    data, height = item.animation_data, item.location.z
    action, slot = data.action, getattr(data, "action_slot", None)
    scene.frame_start = 5
    steps = part("jobs.bake").bake(scene)
    first_job(part, steps).cancel()
    steps.close()
    assert data.action == action and getattr(data, "action_slot", None) == slot
    assert (
        scene.frame_current == 9 and item.location.z == height and item.matrix_world.translation.z == height
    )
    assert data.action_blend_type == "REPLACE" and item.condyle.channels.baked


@pytest.mark.small
def test_a_pose_that_is_not_keyed_yet_survives_a_cancelled_fit_and_bake(part, scene, make, body):
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), "hinge")
    shank.location = (9, 9, 9)
    make.update()
    for begin in (lambda: part("jobs.bake").fit(scene, joint), lambda: part("jobs.bake").bake(scene)):
        steps = begin()
        first_job(part, steps).cancel()
        steps.close()
        make.update()
        assert tuple(shank.location) == (9, 9, 9)


@pytest.mark.small
def test_poses_that_are_not_keyed_yet_survive_a_look_past_the_bake(part, scene, make, body):
    """Of what the bake has nothing to do with: an object, a bone, a slider."""
    ball(part, scene, make)
    lamp, rig = make.empty("Lamp"), make.armature("Rig", {"A": ((0, 0, 0), (0, 0, 1), None)})
    bone = rig.pose.bones["A"]
    thigh, shank = make.box("Thigh", (5, 0, 1)), make.box("Shank", (5, 0, 0.5))
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), "hinge", name="Knee")
    part("making.bodies_and_joints").drive(scene, joint, True)
    for frame in (1, 13):
        lamp.location = bone.location = (frame, 0, 0)
        lamp.keyframe_insert("location", frame=frame)
        bone.keyframe_insert("location", frame=frame)
        joint["coordinate"] = 0.01 * frame
        joint.keyframe_insert('["coordinate"]', frame=frame)
    part("jobs.bake").bake_now(scene)
    scene.frame_set(7)
    lamp.location, bone.location, joint["coordinate"] = (9, 9, 9), (0, 0, 5), 0.7
    make.update()
    part("jobs.scene_checks").check(scene)
    assert tuple(lamp.location) == (9, 9, 9) and tuple(bone.location) == (0, 0, 5)
    assert joint["coordinate"] == pytest.approx(0.7)


@pytest.mark.small
def test_a_parent_that_moves_carries_its_child_without_a_word(part, scene, make):
    top, _, _ = pendulum(part, scene, make)
    assert part("jobs.bake").bake_now(scene).warnings == []
    set_keys(top, "location", {1: 1.0, 13: 3.0}, axis=2)
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == [] and report.poses["Bob"][12, 2, 3] > 2.0


@pytest.mark.small
def test_each_scene_has_one_collection_of_joints(part, scene, make):
    pendulum(part, scene, make)
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    _, _, joint = pendulum(part, second, make)
    joint.condyle.joint.type = "spline_curve"
    for _ in range(3):
        part("making.bodies_and_joints").add_control_frame(second, joint)
    assert [item.name for item in bpy.data.collections] == ["Condyle", "Condyle.001"]


def test_time_remapping_is_refused(part, scene, make, ph):
    ball(part, scene, make)
    scene.render.frame_map_new = 200
    with pytest.raises(ph.ModelError, match="time remapping"):
        part("jobs.bake").bake_now(scene)


def test_what_only_looks_is_not_evaluated_while_frames_go_by(part, scene, make, body, authoring):
    """Not what a constraint of the rig, or the parent of an Empty, asks for; and all is put back after an error."""
    rig = make.armature("Rig")
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "spherical")
    skin, hat, floor, patch = (make.box(name) for name in ("Skin", "Hat", "Floor", "Patch"))
    for item in (skin, floor, patch):
        item.modifiers.new("Rig", "ARMATURE").object = rig
    hat.modifiers.new("On", "SHRINKWRAP").target = skin
    rig.pose.bones["A"].constraints.new("SHRINKWRAP").target = floor
    pin = make.empty("Pin", patch)
    pin.parent_type = "VERTEX"
    set_keys(rig, "location", {1: 0.0, 5: 1.0}, axis=1)
    scene.frame_set(2)
    temporarily, modifiers = part("baked.temporarily"), [*skin.modifiers, *hat.modifiers]
    assert {each.name for each in temporarily.idle_modifiers(scene)} == {"Rig", "On"}
    assert temporarily.idle_modifiers(scene) == modifiers
    with pytest.raises(ZeroDivisionError), temporarily.at_frame(scene, 1) as go:
        assert all(each.show_viewport for each in modifiers)
        go(4.5)
        assert rig.matrix_world.translation.y == pytest.approx(0.94, abs=0.05)
        assert not any(each.show_viewport for each in modifiers)
        assert floor.modifiers[0].show_viewport and patch.modifiers[0].show_viewport
        raise ZeroDivisionError
    assert scene.frame_current == 2 and all(each.show_viewport for each in modifiers)
