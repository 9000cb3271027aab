"""Speeds at a start: of what is keyed smoothly its own, of what is stepped there or shortly before none."""

import bpy
import numpy as np
import pytest

from ..chain_rigs import select_bones
from ..keying import curves_of, key_slider, make_keys, set_keys
from ..said import codes, culprit, said
from .test_start_states import pendulum  # noqa: F401


def start_of(part, scene):
    scene.condyle.start.begin, scene.condyle.start.source = "PLAYHEAD", "MOTION"
    scene.frame_set(13)
    made = part("jobs.bake").bake_now(scene)
    return made.result.qd[0], any(each.code in {"start-jump", "keys-jump"} for each in made.warnings)


@pytest.mark.parametrize("turns", ["CONSTANT", "LINEAR"])
@pytest.mark.parametrize("goes", ["CONSTANT", "LINEAR"])
def test_a_body_whose_place_or_turn_is_stepped_keeps_the_other_s_speed(part, scene, make, turns, goes):
    stone = make.box("Stone")
    stone.rotation_mode = "XYZ"
    stone.condyle.body.enabled, stone.condyle.body.motion = True, "FREE"
    for frame, value in ((1, 0.0), (13, 1.2), (25, 2.4)):
        stone.location.x = stone.rotation_euler.z = value
        stone.keyframe_insert("location", frame=frame)
        stone.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves_of(stone.animation_data):
        for point in curve.keyframe_points:
            point.interpolation = turns if "rotation" in curve.data_path else goes
    scene.frame_end = 25
    speed, told = start_of(part, scene)
    # 1.2 in 12 frames of 1/24 s; keys are in single precision, a look is half a frame long
    assert np.linalg.norm(speed[:3]) == pytest.approx(2.4 * (goes == "LINEAR"), abs=2e-3)
    assert np.linalg.norm(speed[3:]) == pytest.approx(2.4 * (turns == "LINEAR"), abs=2e-3)
    assert told == ("CONSTANT" in (turns, goes))


@pytest.mark.parametrize("key", [13.0, 12.9, 12.75, 12.6, 12.51])
def test_a_step_between_frames_gives_no_speed(part, scene, pendulum, key):
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 5: 0.1, key: 0.3, 17: 0.5}, "CONSTANT")
    speed, told = start_of(part, scene)
    assert abs(speed[0]) < 1e-3 and told == (key == 13.0)


@pytest.mark.parametrize("key", [12.95, 12.8, 12.51])
def test_what_goes_on_behind_a_step_gives_its_own_speed(part, scene, pendulum, key):
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, key: 0.3, 24.7: 0.9}, "LINEAR")
    (curve,) = part("blender.compat").curves_in_use(joint)
    curve.keyframe_points[0].interpolation = "CONSTANT"
    curve.update()
    speed, told = start_of(part, scene)
    assert speed[0] == pytest.approx(0.6 / (24.7 - key) * 24.0, rel=1e-3) and not told


@pytest.mark.parametrize("earlier", [1, -10])
def test_a_child_whose_keys_begin_at_the_start_has_their_speed_whatever_its_parent_has(
    part, scene, make, body, authoring, earlier
):
    parent, child = make.box("P", (0, 0, 0.5)), make.box("C", (0, 0, 0))
    authoring.add_joint(scene, body(parent), body(child), "slider", np.eye(4), name="J")
    parent.keyframe_insert("location", frame=earlier)
    set_keys(child, "location", {1: 0.0, 13: 0.6}, axis=2)
    make_keys(child, "LINEAR")
    scene.condyle.start.source = "MOTION"
    scene.frame_set(1)
    result = part("jobs.bake").bake_now(scene).result
    assert np.abs(result.qd[0]).max() == pytest.approx(1.2, abs=5e-3)  # 0.6 m in 12 of 24 frames a second


def test_a_slider_that_stands_elsewhere_than_at_the_start_value_is_told(part, scene, pendulum):
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint["coordinate"] = 0.8
    scene.frame_set(1)
    told = ("start-not-slider", "Hinge", "0°", "45.84°")
    assert told in said(part("jobs.bake").bake_now(scene).warnings)
    part("jobs.bake").free_bake(scene)
    scene.condyle.start.source = "POSE"
    assert "start-not-slider" not in codes(part("jobs.bake").bake_now(scene).warnings)
    part("jobs.bake").free_bake(scene)
    scene.condyle.start.source, row = "SETTINGS", joint.condyle.joint.coordinates[0]
    row.start = 0.3
    told = ("start-not-slider", "Hinge", "17.19°", "45.84°")
    assert told in said(part("jobs.bake").check_now(scene))
    part("sliders.sliders").start_here(scene, joint)
    assert "start-not-slider" not in codes(part("jobs.bake").bake_now(scene).warnings)


def test_the_check_tells_of_a_slider_that_stands_elsewhere_than_the_start(part, scene, pendulum):
    """In the words of a bake, and of the frame where the simulation starts: a pre-roll before the first one."""
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    scene.frame_start, scene.frame_end = 1, 5
    key_slider(joint, {-3: 0.8, 1: 0.0})
    scene.frame_set(1)

    def told():
        return [each for each in part("jobs.scene_checks").check(scene) if each.code == "start-not-slider"]

    assert told() == []
    scene.condyle.start.preroll = 4
    (finding,) = told()
    assert said([finding]) == [("start-not-slider", "Hinge", "0°", "45.84°")]
    assert finding in part("jobs.bake").check_now(scene)
    assert culprit(part, finding).object == joint and not finding.is_error and scene.frame_current == 1
    joint.condyle.joint.prescribed = True  # it starts where its slider is
    assert told() == []
    joint.condyle.joint.prescribed = False
    joint.condyle.joint.follow = 1.0
    assert told() == []
    joint.condyle.joint.follow = 0.0
    scene.condyle.start.source = "POSE"
    assert told() == []


@pytest.mark.parametrize("preset", ["knee", "thumb", "bead"])
def test_a_preset_begins_where_its_slider_was_moved_to(part, scene, preset):
    scene.frame_start, scene.frame_end = 1, 3
    assert bpy.ops.condyle.add_preset(preset=preset) == {"FINISHED"}
    joint = part("data.references").joints_of(scene)[0]
    slider = part("sliders.sliders").slider_names(joint.condyle.joint)[0]
    joint[slider] += 0.1
    joint.update_tag()
    bpy.context.view_layer.update()
    report = part("jobs.bake").bake_now(scene)
    begun = next(values[0] for values in report.coordinates.values() if len(values))
    assert begun == pytest.approx(joint[slider], abs=1e-5)  # single precision, of a search along a curve
    assert "start-not-slider" not in codes(report.warnings)
    part("jobs.bake").free_bake(scene)
    part("sliders.sliders").start_here(scene, joint)
    joint[slider] += 0.1
    joint.update_tag()
    assert "start-not-slider" in codes(part("jobs.bake").check_now(scene))


def test_sliders_that_stand_elsewhere_are_told_in_one_line(part, scene):
    scene.frame_start, scene.frame_end = 1, 3
    for preset in ("elbow", "finger", "hip"):
        assert bpy.ops.condyle.add_preset(preset=preset) == {"FINISHED"}
    for joint in part("data.references").joints_of(scene):
        part("sliders.sliders").start_here(scene, joint)
        for name in part("data.joints").slider_names(joint.condyle.joint):
            joint[name] += 0.2
        joint.update_tag()
    told = [each.values for each in part("jobs.bake").check_now(scene) if each.code == "start-not-slider"]
    assert len(told) == 1 and told[0]["joints"] == "Elbow, Finger, Hip"


def test_start_values_that_are_seen_give_way_to_the_pose_and_others_stay(part, scene, pendulum):
    """As those of an imported model, whose sliders begin there; unlike one that was set by hand."""
    _, joint = pendulum
    settings, begin = joint.condyle.joint, part("making.joint_places").begin_as_shown
    part("making.bodies_and_joints").drive(scene, joint, True)
    settings.coordinates[0].start, joint["coordinate"] = 0.7, 0.0
    begin(scene, joint)
    assert settings.start_from == "SCENE"
    joint["coordinate"] = 0.7
    begin(scene, joint)
    assert settings.start_from == "MOTION"


def test_an_added_joint_begins_in_the_pose_of_the_first_frame(part, scene, make):
    rig = make.armature("Rig")
    select_bones(rig, "A", "B")
    assert bpy.ops.condyle.add_joint(kind="spherical") == {"FINISHED"}
    bone = rig.pose.bones["B"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.7, 0.2, -0.1)
    make.update()
    before = np.array(bone.matrix)
    scene.frame_start, scene.frame_end = 1, 3
    part("jobs.bake").bake_now(scene)
    scene.frame_set(1)
    assert np.abs(np.array(bone.matrix) - before).max() < 1e-6  # single precision


def speed_at(part, scene, joint, keys, frame):
    """Speed and angle with which a simulation of the pendulum starts at a frame, with keys of its slider."""
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, keys, "LINEAR")
    start = scene.condyle.start
    start.begin, start.source = "PLAYHEAD", "MOTION"
    scene.frame_set(frame)
    made = part("jobs.bake").bake_now(scene)
    return made.result.qd[0, 0], made.result.q[0, 0]


def test_a_motion_that_begins_at_the_start_gives_its_speed(part, scene, pendulum):
    _, joint = pendulum
    speed, angle = speed_at(part, scene, joint, {1: 0.2, 13: 0.8}, 1)
    assert speed == pytest.approx(1.2, abs=1e-3) and angle == pytest.approx(0.2, abs=1e-6)


def test_what_stands_still_between_keys_until_the_start_has_no_speed(part, scene, pendulum):
    _, joint = pendulum
    assert abs(speed_at(part, scene, joint, {1: 0.2, 13: 0.2, 25: 0.8}, 13)[0]) < 1e-3


@pytest.mark.parametrize("key", [12.55, 12.7, 12.9, 12.97])
@pytest.mark.parametrize("begins", [True, False])
def test_a_key_just_before_the_start_gives_the_speed_after_it(part, scene, pendulum, key, begins):
    _, joint = pendulum
    earlier = {} if begins else {1: 0.5}
    speed, _ = speed_at(part, scene, joint, earlier | {key: 0.2, 24.7: 0.8}, 13)
    assert speed == pytest.approx(0.6 * 24 / (24.7 - key), abs=4e-3)


def test_keys_of_a_child_that_begin_at_the_start_give_its_speed(part, scene, pendulum):
    item, _ = pendulum
    for frame, angle in ((1, 0.0), (13, 0.6)):
        item.rotation_euler.y = angle
        item.location = (-0.3 * np.sin(angle), 0, -0.3 * np.cos(angle))
        for path in ("location", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    make_keys(item, "LINEAR")
    scene.condyle.start.source = "MOTION"
    made = part("jobs.bake").bake_now(scene)
    assert made.result.qd[0, 0] == pytest.approx(1.2, rel=0.05)
