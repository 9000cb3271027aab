"""Bakes that would not show, or could not be made whole, are refused by name before anything is changed."""

import bpy
import numpy as np
import pytest

from ..keying import set_keys


@pytest.fixture
def swing(scene, make, body, authoring):
    """A bob that hangs on a hinge: (top, bob)."""
    scene.frame_start, scene.frame_end = 1, 5
    top, bob = make.box("Top", (0, 0, 1.0)), make.box("Bob", (0.3, 0, 0.6))
    authoring.add_joint(scene, body(top), body(bob), "hinge")
    return top, bob


@pytest.fixture
def rig(scene, make, body, authoring):
    """An armature with a connected bone that a sliding joint moves away from its parent."""
    scene.frame_start, scene.frame_end = 1, 5
    scene.condyle.simulation.disconnect_bones = True
    item = make.armature("Rig", connect=True)
    for bone in "AB":
        authoring.make_body(scene, body(item, bone), mass=1.0)
    joint = authoring.add_joint(scene, body(item, "A"), body(item, "B"), "slider", np.eye(4))
    joint.condyle.joint.coordinates[0].start_speed = 1.0
    return item


def refused(part, scene, ph, match):
    with pytest.raises(ph.ModelError, match=match):
        part("jobs.bake").bake_now(scene)


@pytest.mark.small
def test_a_solo_strip_would_hide_the_bake(part, scene, swing, ph):
    _, bob = swing
    bob.keyframe_insert("location", frame=1)
    track = bob.animation_data.nla_tracks.new()
    track.strips.new("Own", 1, bob.animation_data.action)
    track.is_solo = True
    refused(part, scene, ph, "Bob: its NLA track .* plays solo")
    assert not part("baked.temporarily").is_baked(bob)


@pytest.mark.small
def test_a_scale_that_is_keyed_to_change(part, scene, swing, ph):
    _, bob = swing
    for frame in (1, 5):
        bob.keyframe_insert("scale", frame=frame)
    part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    bob.scale = (2, 2, 2)
    bob.keyframe_insert("scale", frame=5)
    scene.frame_set(1)
    refused(part, scene, ph, "Bob: its scale is keyed from 1 to 2")


def test_a_parent_that_is_a_path(part, scene, swing, ph):
    _, bob = swing
    curve = bpy.data.curves.new("Path", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, 2.0, 0.0, 1.0)
    path = bpy.data.objects.new("Path", curve)
    scene.collection.objects.link(path)
    bob.parent, curve.use_path = path, True
    bpy.context.view_layer.update()
    refused(part, scene, ph, "'Bob' is carried along the path 'Path'")
    curve.use_path = False
    bpy.context.view_layer.update()
    part("jobs.bake").bake_now(scene)


@pytest.mark.small
def test_an_active_rigid_body_of_blender(part, scene, swing, ph, make):
    _, bob = swing
    with bpy.context.temp_override(object=bob, active_object=bob, selected_objects=[bob]):
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    reason = "Bob: Blender's own rigid body simulation would override the baked keys"
    refused(part, scene, ph, reason)
    assert [
        line.text for line in part("jobs.scene_checks").check(scene) if line.is_error and reason in line.text
    ]
    rigid = bob.rigid_body
    for frame, follows in ((1, True), (3, False)):  # let go of later
        rigid.kinematic = follows
        rigid.keyframe_insert("kinematic", frame=frame)
    scene.frame_set(1)
    make.update()
    assert rigid.kinematic
    refused(part, scene, ph, reason)
    bob.animation_data_clear()
    rigid.enabled = False  # it stands still then
    rigid.kinematic = False
    refused(part, scene, ph, reason)
    for name, value, before in (("kinematic", True, False), ("type", "PASSIVE", "ACTIVE")):
        setattr(rigid, name, value)
        report = part("jobs.bake").bake_now(scene)
        scene.frame_set(5)
        np.testing.assert_allclose(np.array(bob.matrix_world), report.poses["Bob"][-1], atol=1e-6)
        part("jobs.bake").free_bake(scene)
        setattr(rigid, name, before)
    scene.rigidbody_world.enabled = False
    part("jobs.bake").bake_now(scene)


@pytest.mark.small
def test_an_armature_in_rest_position(part, scene, rig, ph):
    rig.data.pose_position = "REST"
    refused(part, scene, ph, "'Rig' shows its rest position")


@pytest.mark.small
def test_bones_of_a_hidden_armature_are_not_half_disconnected(part, scene, rig, ph):
    rig.hide_set(True)
    refused(part, scene, ph, "'Rig' is hidden; make it visible first")
    bone = rig.pose.bones["B"]
    assert bone.bone.use_connect and not bone.condyle.channels.was_connected
    rig.hide_set(False)
    part("jobs.bake").bake_now(scene)
    assert not rig.data.bones["B"].use_connect
    action = rig.animation_data.action
    rig.hide_set(True)
    with pytest.raises(ph.ModelError, match="'Rig' is hidden"):
        part("jobs.bake").free_bake(scene)
    bone = rig.pose.bones["B"]
    assert rig.animation_data.action == action and bone.condyle.channels.was_connected
    rig.hide_set(False)
    part("jobs.bake").free_bake(scene)
    bone = rig.pose.bones["B"]
    assert (
        bone.bone.use_connect
        and not bone.condyle.channels.was_connected
        and not part("baked.temporarily").is_baked(rig)
    )


@pytest.mark.parametrize("switch", ["mute", "influence"])
def test_a_constraint_that_is_switched_on_later_is_named(part, scene, make, swing, ph, switch):
    top, bob = swing
    constraint = bob.constraints.new("COPY_ROTATION")
    constraint.name, constraint.target = "Aim", top
    for frame, off in ((1, True), (3, False)):
        if switch == "mute":
            constraint.mute = off
        else:
            constraint.influence = 0.0 if off else 1.0
        constraint.keyframe_insert(switch, frame=frame)
    scene.frame_set(1)
    refused(part, scene, ph, "Bob: the constraint 'Aim' would override the baked keys")


def test_an_animated_rotation_mode_is_named(part, scene, swing, ph):
    _, bob = swing
    set_keys(bob, "rotation_mode", {1: "QUATERNION", 4: "XYZ"})
    scene.frame_set(1)
    refused(part, scene, ph, "Bob: its rotation mode is animated")


@pytest.mark.small
def test_a_connected_bone_that_is_moved_away_is_told_with_the_unit_and_checked_before(part, scene, rig, ph):
    simulation = scene.condyle.simulation
    simulation.disconnect_bones, scene.unit_settings.scale_length = False, 0.01
    joint = part("data.references").joints_of(scene)[0]
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.0, 0.05
    told = [each.values for each in part("jobs.scene_checks").check(scene) if each.code == "connected-bone"]
    assert [(each["bone"], each["joint"], each["distance"]) for each in told] == [
        ("Rig/B", joint.name, "50 mm")
    ]
    assert told[0]["remedy"].startswith("disconnect it")
    refused(
        part, scene, ph, r"bone 'Rig/B' is connected to its parent and the simulation moves it [\d.]+ mm away"
    )
    simulation.disconnect_bones = True
    assert not any(each.code.startswith("connected") for each in part("jobs.scene_checks").check(scene))


@pytest.mark.small
@pytest.mark.parametrize("placed", [False, True])
def test_a_bone_is_not_disconnected_where_another_rig_would_move(part, scene, rig, ph, placed):
    other = bpy.data.objects.new("Twin", rig.data)
    scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    if placed:
        other.pose.bones["B"].location = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    before = np.array(other.pose.bones["B"].matrix)
    if placed:
        refused(
            part,
            scene,
            ph,
            "'Rig/B' cannot be disconnected: 'Twin' uses the same armature 'Rig' and would move",
        )
    else:
        part("jobs.bake").bake_now(scene)
    bpy.context.view_layer.update()
    assert np.abs(np.array(other.pose.bones["B"].matrix) - before).max() < 1e-6
