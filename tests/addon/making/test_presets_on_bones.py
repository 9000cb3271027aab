"""Joints from presets between bones."""

import math

import bpy
import numpy as np
import pytest

from ..said import codes
from ..ui.test_welcome import child_of, only_joint, placed, select


@pytest.mark.small
def test_two_bones_get_a_joint_at_the_child_s_head(part, scene, make):
    rig = make.armature("Rig")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    rig.data.bones.active = rig.data.bones["B"]
    try:
        assert bpy.ops.condyle.add_preset(preset="knee") == {"FINISHED"}
        joint = only_joint(part)
        assert child_of(part, joint).bone == "B"
        assert tuple(joint.matrix_world.translation) == pytest.approx((0, 0, 0.5), abs=1e-6)
        tail = [
            placed(part, joint, "coordinate", value) @ (0, 0.5, 0, 1) for value in (0.0, math.radians(90.0))
        ]
        assert tail[0][:3] == pytest.approx((0, 0, 0), abs=1e-5) and tail[1][1] > 0.4
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.small
@pytest.mark.parametrize("preset", ["knee", "hip", "elbow", "wrist", "thumb", "jaw", "finger", "hinge"])
def test_bones_that_are_bent_get_a_joint_at_the_child_s_head_too(part, scene, make, body, preset):
    """Their boxes meet elsewhere."""
    head = (0.03, 0.1, 0.5)
    rig = make.armature("Rig", {"A": ((0, 0, 1), head, None), "B": (head, (0, 0, 0.1), "A")}, True)
    scene.frame_end = 6
    make.update()
    joint = part("making.presets_making").add(scene, preset, body(rig, "A"), body(rig, "B"))
    assert tuple(joint.matrix_world.translation) == pytest.approx(head, abs=1e-6)
    # these carry the head along, which no connected bone can follow
    if preset not in ("knee", "thumb", "jaw"):
        select(rig)
        assert bpy.ops.condyle.bake() == {"FINISHED"}


@pytest.mark.small
def test_the_jaw_of_a_rig_opens_about_its_head(part, scene, make, body):
    """Its tip goes down as it turns; the head slides forward and down."""
    head, tip = (0.0, 0.03, 1.58), (0.0, -0.08, 1.5)
    rig = make.armature("Rig", {"Skull": ((0, 0.05, 1.6), (0, 0.05, 1.9), None), "Jaw": (head, tip, "Skull")})
    joint = part("making.presets_making").add(scene, "jaw", body(rig, "Skull"), body(rig, "Jaw"))
    assert tuple(joint.matrix_world.translation) == pytest.approx(head, abs=1e-6)
    length = math.dist(head, tip)
    ends = {}
    for value in (0.0, math.radians(30.0)):
        pose = placed(part, joint, "coordinate", value)
        ends[value] = pose @ (0, 0, 0, 1), pose @ (0, length, 0, 1)
    (shut, shut_tip), (opened, opened_tip) = ends.values()
    assert shut[:3] == pytest.approx(head, abs=1e-5) and shut_tip[:3] == pytest.approx(tip, abs=1e-5)
    slid = opened[:3] - shut[:3]
    assert slid[1] < -0.01 * length and slid[2] < -0.01 * length
    assert math.dist(opened[:3], shut[:3]) == pytest.approx(0.15 * length, rel=1e-3)
    assert opened_tip[2] < shut_tip[2] - 0.3 * length


@pytest.mark.small
def test_bones_of_one_length_weigh_the_same_whatever_their_envelopes(part, scene, make, body):
    rig = make.armature("Rig", {name: ((x, 0, 0.4), (x, 0, 0), None) for x, name in enumerate("ABC")})
    for radius, bone in zip((0.01, 0.1, 0.3), rig.data.bones):
        bone.head_radius = bone.tail_radius = radius
    make.update()
    for child in "BC":
        part("making.presets_making").add(scene, "hinge", body(rig, "A"), body(rig, child))
    masses = [bone.condyle.body.mass for bone in rig.pose.bones]
    assert masses == pytest.approx([65.0 * 0.4**3] * 3, rel=0.01)


@pytest.mark.small
@pytest.mark.parametrize(("preset", "is_told"), [("hinge", False), ("hip", False), ("knee", True)])
def test_check_scene_tells_of_connected_bones_that_a_joint_takes_along(
    part, scene, make, body, preset, is_told
):
    rig = make.armature("Rig", connect=True)
    part("making.presets_making").add(scene, preset, body(rig, "A"), body(rig, "B"))
    assert is_told == ("connected-bone" in codes(part("jobs.scene_checks").check(scene)))


@pytest.mark.small
@pytest.mark.parametrize("preset", ["hip", "knee"])
def test_sliders_of_a_connected_bone_say_that_only_a_bake_disconnects_it(part, scene, make, preset):
    """They show the knee up to 25 mm off what the bake does, where Disconnect Bones lets it."""
    rig = make.armature("Rig", connect=True)
    scene.condyle.simulation.disconnect_bones = True
    make.update()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    rig.data.bones.active = rig.data.bones["B"]
    session, told = part("blender.session"), []
    try:
        session.tell("")
        assert bpy.ops.condyle.add_preset(preset=preset) == {"FINISHED"}
        told.append(session.message)
        joint = only_joint(part)
        for name in ("drive", "drive_all"):
            part("making.bodies_and_joints").drive(scene, joint, False)
            session.tell("")
            assert getattr(bpy.ops.condyle, name)() == {"FINISHED"}
            told.append(session.message)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    found = [each for each in part("jobs.scene_checks").check(scene) if each.code == "connected-bone-shown"]
    assert len(found) == (preset == "knee")
    for each in found:
        assert (each.values["bone"], each.values["joint"]) == ("Rig/B", joint.name)
        assert all(each.text in text for text in told), told
    assert found or not any("connected" in text for text in told)
    part("making.bodies_and_joints").drive(scene, joint, False)
    assert not any(each.startswith("connected") for each in codes(part("jobs.scene_checks").check(scene)))


@pytest.mark.small
def test_a_connected_bone_that_lags_behind_its_slider_is_told_why(part, scene, make, body):
    """Bringing the slider up to date, which was advised, changes nothing there."""
    rig = make.armature("Rig", connect=True)
    joint = part("making.presets_making").add(scene, "knee", body(rig, "A"), body(rig, "B"))
    joint["coordinate"] = 1.2
    joint.update_tag()
    make.update()
    told = codes(part("jobs.scene_checks").check(scene))
    assert "slider-of-connected-bone" in told and "stale-slider" not in told


def test_a_search_tells_how_far_off_a_connected_bone_really_is(part, scene, make, body):
    """It said "reached", since the sliders would have it there; the bone stays at its parent's end."""
    rig = make.armature("Rig", connect=True)
    reach = part("posing.inverse_kinematics")
    joint = part("making.presets_making").add(scene, "knee", body(rig, "A"), body(rig, "B"))
    wish = reach.point_wish(scene, body(rig, "B"), (0, 0, 0))
    joint["coordinate"] = 1.2
    joint.update_tag()
    make.update()
    known = part("data.stored_joints").read_joint(scene, joint)
    moved = known.transform(known.from_readings(np.array([1.2])))
    frame = np.array(joint.matrix_world)
    wish.goal[:3, 3] = (frame @ moved @ np.linalg.inv(frame) @ (0, 0, 0, 1))[:3]
    outcome = reach.reach_now(scene, [wish])
    there = np.array(rig.pose.bones["B"].tail)
    away = np.linalg.norm(there - wish.goal[:3, 3])
    assert away > 5e-3 and not outcome.met
    assert outcome.distances[0] == pytest.approx(away, abs=1e-5)  # poses of bones are in single precision
    assert "Rig/B does not follow its sliders" in outcome.told()
