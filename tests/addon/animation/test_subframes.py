"""Joints that drivers lead, or blended strips, do so between frames as the scene shows them there."""

from contextlib import contextmanager

import bpy
import numpy as np
import pytest

from ..keying import make_keys

SECONDS = 2
STRIPS = (((0.0, 0.0), (0.5, 0.8), (1.0, -0.4), (1.5, 0.3)), ((0.75, -0.5), (1.25, 0.6), (2.0, 0.0)))


@pytest.fixture
def bake(part, make):
    """Bake an arm that hangs from one whose hinge something leads, in a new file; readings of both at every twelfth of
    a second, (2 * 12 + 1, 2), and at how many places between frames the scene was looked at.
    """

    def baked(fps, lead, follow=1.0):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        joint, slider = make.driven_arm(part, scene)
        scene.render.fps, scene.frame_start, scene.frame_end = fps, 0, SECONDS * fps
        # corners of what leads, at other places, cost less than they show
        scene.condyle.simulation.time_step = 1.25e-4
        joint.condyle.joint.prescribed, joint.condyle.joint.follow = follow == 1.0, follow
        lead(part, joint, slider, fps)
        scene.frame_set(0)
        gone, take = [], part("reading.looks").Looks.take

        def counted(looks, place):
            gone.append(place)
            take(looks, place)

        sources = part("reading.motion_sources").sources

        @contextmanager
        def back(view, *arguments):
            before = scene.frame_current
            with sources(view, *arguments) as found:
                yield found
            # others read the scene there
            assert scene.frame_current == before and scene.frame_subframe == 0.0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(part("reading.looks").Looks, "take", counted)
            patch.setattr(part("reading.motion_sources"), "sources", back)
            report = part("jobs.bake").bake_now(scene)
        return report.result.q[:: fps // 12], len(gone)

    return baked


def driver(part, joint, slider, fps):
    """As a wave of one a second."""
    made = joint.driver_add(f'["{slider}"]').driver
    made.type, made.expression = "SCRIPTED", f"0.5 * sin(frame / {fps} * 2 * pi)"


def crossfade(part, joint, slider, fps):
    """By two strips of the NLA, the second of which is faded in over half a second."""
    data = joint.animation_data_create()
    for number, keys in enumerate(STRIPS):
        for time, value in keys:
            joint[slider] = value
            joint.keyframe_insert(f'["{slider}"]', frame=time * fps)
        action, slot = data.action, part("blender.compat").slot_of(data)
        data.action = None
        strip = data.nla_tracks.new().strips.new(f"Strip {number}", int(keys[0][0] * fps), action)
        part("blender.compat").assign_strip_slot(strip, slot)
        for kind in ("action_frame_end", "frame_end_raw"):
            setattr(strip, kind, keys[-1][0] * fps)
        if number:
            strip.blend_in, strip.extrapolation = 0.5 * fps, "HOLD_FORWARD"


@pytest.mark.parametrize("lead", [driver, crossfade])
@pytest.mark.parametrize("follow", [1.0, 0.7])
def test_what_the_scene_alone_shows_is_followed_between_frames(bake, lead, follow):
    """At 24 frames a second they were up to 4.5 mrad off with the driver, and up to 9 with the strips."""
    fine, _ = bake(240, lead, follow)
    assert np.ptp(fine, axis=0).min() > 0.5
    found, gone = bake(24, lead, follow)
    # what is led is met to the fourth order of a quarter of a frame; where strips begin to blend they have corners
    assert np.abs(found - fine).max() < (1e-4 if lead is driver else 2.5e-3)
    assert 0 < gone <= 5 * 24 * SECONDS


def test_few_frames_a_second_are_looked_at_as_often_as_24(bake):
    """At 12 of them a driver of 2 Hz was 133 mrad off, 8 now."""

    def fast(part, joint, slider, fps):
        joint.driver_add(f'["{slider}"]').driver.expression = f"0.3 * sin(frame / {fps} * 4 * pi)"

    wanted, _ = bake(24, fast)
    found, _ = bake(12, fast)
    # the same looks, but for single precision
    assert np.abs(found - wanted).max() < 1e-6


def test_where_curves_say_all_or_nothing_moves_no_frames_are_gone_to(bake):
    def keyed(part, joint, slider, fps):
        for time, value in STRIPS[0]:
            joint[slider] = value
            joint.keyframe_insert(f'["{slider}"]', frame=time * fps)

    def still(part, joint, slider, fps):
        joint.driver_add(f'["{slider}"]').driver.expression = "0.3"

    assert bake(24, keyed)[1] == 0 and bake(24, still)[1] == 0


def test_what_was_sampled_at_every_frame_goes_on_smoothly(bake):
    """A driver shows an object that has a key at every frame: straight lines would jolt what hangs on it."""

    def copied(part, joint, slider, fps):
        hand = bpy.data.objects.new("Hand", None)
        bpy.context.scene.collection.objects.link(hand)
        for frame in range(SECONDS * fps + 1):
            hand.location.x = 0.5 * np.sin(2.0 * np.pi * frame / fps)
            hand.keyframe_insert("location", index=0, frame=frame)
        make_keys(hand, "LINEAR")
        made = joint.driver_add(f'["{slider}"]').driver
        made.type, made.expression = "SCRIPTED", "x"
        variable = made.variables.new()
        variable.name, variable.type = "x", "TRANSFORMS"
        variable.targets[0].id = hand
        variable.targets[0].transform_type = "LOC_X"

    found, gone = bake(24, copied)
    assert gone == 0
    # single precision
    assert np.abs(found[:, 0] - 0.5 * np.sin(2.0 * np.pi * np.arange(25) / 12)).max() < 1e-5


def test_keys_of_all_that_may_move_something_are_found(part, make):
    """Of an object's parent, of strips, of what its constraints look at, and of what their drivers look at."""
    items = {name: make.empty(name) for name in ("Hand", "Arm", "Target", "Wheel", "Other")}
    for number, name in enumerate(("Arm", "Target", "Wheel", "Other")):
        items[name].keyframe_insert("location", index=0, frame=10 * (number + 1))
    items["Hand"].parent = items["Arm"]
    follow = items["Hand"].constraints.new("COPY_LOCATION")
    follow.target = items["Target"]
    variable = items["Target"].driver_add("scale", 0).driver.variables.new()
    variable.targets[0].id = items["Wheel"]
    data = items["Wheel"].animation_data
    action, slot = data.action, part("blender.compat").slot_of(data)
    data.action = None
    strip = data.nla_tracks.new().strips.new("Turn", 100, action)
    part("blender.compat").assign_strip_slot(strip, slot)
    items["Wheel"].location.y = 1.0
    for name in ("Arm", "Wheel"):  # nothing that moves the hand
        items[name].keyframe_insert("color", frame=50)
    assert keys_of(part, items["Hand"]) == [10.0, 20.0, 100.0]


def keys_of(part, item, bone="", **options):
    played = part("reading.driving_keys")
    found = played.of([played._Part(item, bone, **options)], np.arange(100.0))
    return sorted(np.concatenate([np.empty(0), *found]).tolist())


@pytest.mark.parametrize("space", ["WORLD_SPACE", "LOCAL_SPACE"])
def test_of_what_drivers_look_at_only_that_has_a_part(part, make, space):
    """One number of a vector, a property, or the transform of a bone, in its parents or not."""
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.6), None), "B": ((0, 0, 0.6), (0, 0, 0.3), "A")})
    driven = {name: make.empty(name) for name in ("Number", "Slider", "Bone", "Matrix")}
    for number, bone in enumerate("AB", 1):
        rig.pose.bones[bone].keyframe_insert("location", frame=number)
    rig.keyframe_insert("location", frame=3)
    other = make.empty("Other")
    other["slider"], other["unused"] = 0.0, 0.0
    for number, (path, index) in enumerate((("location", 0), ("location", 1), ("scale", 0)), 10):
        other.keyframe_insert(path, index=index, frame=number)
    for number, path in enumerate(('["slider"]', '["unused"]'), 20):
        other.keyframe_insert(path, frame=number)
    paths = {"Number": "location.y", "Slider": '["slider"]', "Matrix": "matrix_world[0][3]"}
    for name, item in driven.items():
        variable = item.driver_add("location", 0).driver.variables.new()
        if name == "Bone":
            variable.type = "TRANSFORMS"
        (target,) = variable.targets
        target.id = rig if name == "Bone" else other
        if name == "Bone":
            target.bone_target, target.transform_space = "B", space
        else:
            target.data_path = paths[name]
    assert keys_of(part, driven["Number"]) == [11.0]
    assert keys_of(part, driven["Slider"]) == [20.0]
    assert keys_of(part, driven["Matrix"]) == [10.0, 11.0, 12.0]
    # each of three numbers has a curve
    assert keys_of(part, driven["Bone"]) == sorted(3 * ([1.0, 2.0, 3.0] if space == "WORLD_SPACE" else [2.0]))


@pytest.mark.parametrize("target_in_rig", [False, True])
def test_a_bone_is_led_by_what_bends_it_and_not_by_what_carries_its_parent_too(
    part, scene, make, body, target_in_rig
):
    """The rig's way through the world moves no bone in another, unless inverse kinematics hold it to the world; nor do
    other bones.
    """
    rig = make.armature(
        "Rig",
        {
            "A": ((0, 0, 1), (0, 0, 0.7), None),
            "B": ((0, 0, 0.7), (0, 0.02, 0.4), "A"),
            "C": ((0, 0.02, 0.4), (0, 0, 0.1), "B"),
            "Aim": ((0, 0, 0.1), (0, 0.1, 0.1), None),
            "Tail": ((0, 0, 1), (0, 0.3, 1), "A"),
        },
    )
    joint = part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    goal = make.empty("Goal")
    bend = rig.pose.bones["C"].constraints.new("IK")
    bend.target, bend.chain_count = (rig if target_in_rig else goal), 2
    if target_in_rig:
        bend.subtarget = "Aim"
    keyed = {"A": 1, "B": 2, "Tail": 3, "Aim": 4}
    for bone, frame in keyed.items():
        rig.pose.bones[bone].keyframe_insert("location", index=0, frame=frame)
    rig.keyframe_insert("location", index=0, frame=5)
    goal.keyframe_insert("location", index=0, frame=6)
    bend.keyframe_insert("influence", frame=7)

    source = part("reading.keyed_poses").source_of_joint(joint)

    def found():
        return sorted(
            np.concatenate(
                part("reading.driving_keys").of_joint(joint, source.child, source.parent, np.arange(10.0))
            ).tolist()
        )

    assert found() == ([2.0, 4.0, 7.0] if target_in_rig else [1.0, 2.0, 5.0, 6.0, 7.0])
    bend.mute = True
    assert found() == [2.0]


def test_what_is_sampled_elsewhere_in_a_rig_takes_no_looks_from_a_joint(bake):
    """A colour, another bone or the arm that is carried had keys at four frames running: a driver-led joint was looked
    at no more between frames, and 4.5 mrad off, untold.
    """

    def beside(part, joint, slider, fps):
        driver(part, joint, slider, fps)
        joint["unused"] = 0.0
        low = bpy.data.objects["Low"]
        for frame in range(SECONDS * fps + 1):
            joint.keyframe_insert('["unused"]', frame=frame)
            joint.keyframe_insert("color", frame=frame)
            low.keyframe_insert("scale", frame=frame)
            bpy.data.objects["Up"].keyframe_insert("color", frame=frame)

    fine, _ = bake(240, driver)
    found, gone = bake(24, beside)
    # as without all that
    assert gone > 0 and np.abs(found - fine).max() < 1e-4
