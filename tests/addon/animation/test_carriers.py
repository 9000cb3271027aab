"""What is not simulated follows its animation, whatever moves it, and carries what is simulated along."""

import bpy
import numpy as np
import pytest

from tests.addon.walking import WAYS, add_tail, apart, walked, walker

from ..frames_shown import over_frames
from ..keying import set_keys
from ..said import codes, culprit, said

TORN = 1e-4  # m: a tenth of a millimetre is nothing to be seen
SINGLE = 4e-6  # float32


def leaders(part, scene):
    """Names of what is followed, as a bake reads the scene."""
    frames = np.arange(scene.frame_start, scene.frame_end + 1.0)
    with part("baked.temporarily").without_bake(scene):
        found = part("reading.followed").sample(scene, frames)
    return sorted(handle.find_in(bpy.data).name for handle in set(found.followed.leaders.values()))


@pytest.mark.small
@pytest.mark.parametrize("way", WAYS)
def test_a_tail_stays_on_hips_that_something_moves(part, scene, make, way):
    rig = walker(make, scene, way)
    add_tail(part, scene, rig)
    report = part("jobs.bake").bake_now(scene)
    assert report.bodies == ["Rig/Tail.1", "Rig/Tail.2", "Rig/Tail.3"] and codes(report.warnings) == []
    assert apart(scene, rig) < TORN and apart(scene, rig, "Tail.1", "Tail.2") < TORN
    swings = np.ptp([report.coordinates[name] for name in report.coordinates if "Hips" in name], axis=1)
    assert swings.max() > 0.1
    assert walked(scene, rig, "Tail.1") > 0.4
    assert codes(part("jobs.scene_checks").check(scene)) == []
    assert part("jobs.bake").free_bake(scene) == 1


def test_it_is_the_motion_of_a_free_joint_that_is_prescribed(part, scene, make, body, authoring):
    rig = walker(make, scene)
    add_tail(part, scene, rig)
    bake = part("jobs.bake")
    by_itself = bake.bake_now(scene)
    bake.free_bake(scene)
    scene.frame_set(1)
    by_joint = authoring.add_joint(scene, None, body(rig, "Hips"), "free")
    by_joint.condyle.joint.prescribed = True
    given = bake.bake_now(scene)
    assert given.warnings == []
    for name, poses in by_itself.poses.items():
        # the same curves, read in the world and in the joint: round-off of single precision, which the tail enlarges
        assert np.abs(poses - given.poses[name]).max() < 1e-4


@pytest.mark.parametrize("held", ["root", "world", "keys of the root"])
def test_no_false_warning_about_hips_that_are_animated(part, scene, make, body, authoring, held):
    rig = walker(make, scene, "root")
    if held != "keys of the root":
        parent = body(rig, "Root") if held == "root" else None
        joint = authoring.add_joint(scene, parent, body(rig, "Hips"), "free")
        joint.condyle.joint.prescribed = True
        if held == "world":  # as it stands where it was made with a parent
            authoring.attach(joint, body(rig, "Root"), joint.matrix_world.copy())
    add_tail(part, scene, rig)
    assert codes(part("jobs.scene_checks").check(scene)) == []
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == [] and apart(scene, rig) < TORN


@pytest.mark.parametrize("muted", [False, True])
@pytest.mark.parametrize("target", ["NEW", "STRIP"])
def test_a_knee_of_a_leg_bakes_while_the_hips_walk(part, scene, make, body, authoring, muted, target):
    """A bake mutes the leg's IK, and keys what it makes of the thigh."""
    rig = walker(make, scene)
    constraint = rig.pose.bones["Shin"].constraints["IK"]
    constraint.mute = muted
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge")
    joint.condyle.joint.axis = (1, 0, 0)
    scene.condyle.simulation.output.target = target

    def poses(name):
        found = over_frames(range(1, 14), lambda: rig.pose.bones[name].matrix)
        scene.frame_set(1)
        return found

    before, thigh = poses("Shin"), poses("Thigh")
    for _ in range(2):
        report = part("jobs.bake").bake_now(scene)
        assert codes(report.warnings) == [] and apart(scene, rig, "Thigh", "Shin") < TORN
        assert constraint.mute and walked(scene, rig, "Shin") > 0.4
        np.testing.assert_allclose(poses("Thigh"), thigh, atol=SINGLE)
        np.testing.assert_allclose(poses("Shin"), report.poses["Rig/Shin"], atol=SINGLE)
        assert part("handlers.staleness").changes(scene) == []
    assert np.abs(poses("Shin") - before).max() > 0.05
    part("jobs.bake").free_bake(scene)
    assert constraint.mute == muted
    np.testing.assert_allclose(poses("Shin"), before, atol=SINGLE)


def test_a_parent_need_be_no_body(part, scene, make, body):
    rig = walker(make, scene)
    add_tail(part, scene, rig)
    rig.pose.bones["Hips"].condyle.body.enabled = False
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == [] and apart(scene, rig) < TORN


@pytest.mark.parametrize("scale", [(2.0, 1.0, 0.2), (-1.0, 1.0, 1.0)], ids=["uneven", "mirrored"])
def test_what_carries_the_rig_may_have_a_scale_that_the_rig_does_not_have(part, scene, make, scale):
    rig = walker(make, scene, "parent")
    guide = rig.parent
    guide.scale = scale
    make.update()
    rig.matrix_parent_inverse = guide.matrix_world.inverted()  # as Keep Transform does
    make.update()
    add_tail(part, scene, rig)
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == [] and leaders(part, scene) == ["Rig"]
    assert apart(scene, rig) < TORN and walked(scene, rig, "Tail.1") > 0.4


def test_keys_lead_a_joint_to_the_world_whose_empty_moves(part, scene, make, body, authoring):
    scene.frame_start, scene.frame_end = 1, 13
    guide, bob, low = make.empty("Guide"), make.box("Bob", (0, 0, 0.5)), make.box("Low", (0, 0, 0.1))
    place = np.eye(4)
    place[2, 3] = 0.7
    joint = authoring.add_joint(scene, None, body(bob), "free", place)
    place[2, 3] = 0.3
    authoring.add_joint(scene, body(bob), body(low), "spherical", place)
    joint.parent, joint.condyle.joint.prescribed = guide, True
    for frame, x in ((1, 0.0), (7, 0.3), (13, 0.2)):
        guide.location.x, bob.location.y = x, 0.5 * x
        guide.keyframe_insert("location", frame=frame)
        bob.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    make.update()
    keyed = []
    for again in (False, True):
        if again:
            part("jobs.bake").bake_now(scene)
        for frame in range(1, 14):
            scene.frame_set(frame)
            keyed.append(np.array(bob.matrix_world))
        scene.frame_set(1)
    assert np.abs(np.subtract(keyed[:13], keyed[13:])).max() < 1e-6  # single precision


def test_what_is_rigidly_connected_is_followed_once_and_what_stands_is_not(
    part, scene, make, body, authoring
):
    rig = walker(make, scene, "root")
    add_tail(part, scene, rig)
    copy = make.empty("Copy")
    copy.constraints.new("CHILD_OF").target = rig
    copy.constraints[0].subtarget = "Hips"
    post = make.box("Post", (1, 0, 1))
    part("making.muscles").add_muscle(
        scene, [(body(copy), (0, 0, 1.1)), (body(rig, "Tail.3"), (0, -0.3, 1.0))], "Cord"
    )
    part("making.connections").add_connection(scene, body(post), body(rig, "Tail.3"), "spring")
    assert leaders(part, scene) == ["Rig/Root"]
    for curve in part("blender.compat").curves_in_use(rig):
        curve.mute = True
    scene.frame_set(1)
    assert leaders(part, scene) == []
    assert part("reading.scene").read(scene).leaders == ()


def test_a_bone_between_simulated_ones_goes_with_the_one_above(part, scene, make, body, authoring):
    rig = walker(make, scene)
    authoring.add_joint(scene, body(rig, "Hips"), body(rig, "Tail.1"), "spherical")
    authoring.add_joint(scene, body(rig, "Tail.2"), body(rig, "Tail.3"), "spherical")
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == []
    assert apart(scene, rig) < TORN and apart(scene, rig, "Tail.2", "Tail.3") < TORN


def test_a_surface_that_rises_lifts_what_lies_on_it(part, scene, make, body, authoring):
    scene.frame_start, scene.frame_end = 1, 13
    plate = make.box("Plate", (0, 0, -0.05), (1, 1, 0.1))
    stone = make.box("Stone", (0, 0, 0.1), (0.2, 0.2, 0.2))
    top = make.empty("Top", plate)
    top.location.z = 0.05
    make.update()
    authoring.make_body(scene, body(stone), motion="FREE")
    ground = part("making.connections").add_connection(scene, None, body(stone), "ground")
    ground.condyle.connection.ground.surface = top
    ground.condyle.connection.ground.contact = "RIGID"
    set_keys(plate, "location", {1: -0.05, 13: 0.45}, axis=2)
    scene.frame_set(1)
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == [] and leaders(part, scene) == ["Plate"]
    # it is thrown up a little where the plate stops: steps of a millisecond
    assert report.poses["Stone"][-1, 2, 3] == pytest.approx(0.6, abs=5e-3)


@pytest.mark.parametrize("turns", [1.0, 4.0])
def test_it_follows_beyond_whole_turns_while_it_sways(part, scene, make, body, authoring, turns):
    """The coordinates of a free joint alone swung around there, with 160 rad/s, and energy was told to come of that."""
    scene.frame_start, scene.frame_end = 1, 49
    top, bob = make.box("Top", (0, 0, 1)), make.box("Bob", (0, 0, 0.5))
    bob.rotation_mode = "QUATERNION"
    bob.parent, bob.matrix_parent_inverse = top, top.matrix_world.inverted()
    place = np.eye(4)
    place[2, 3] = 0.8
    authoring.add_joint(scene, body(top), body(bob), "spherical", place)
    for frame in range(1, 50, 4):
        time = (frame - 1) / 48.0
        sway = (0.3 * np.sin(27.0 * time), 0.3 * np.cos(20.0 * time))
        top.rotation_euler = (*sway, 2.0 * np.pi * turns * time)
        top.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    report = part("jobs.bake").bake_now(scene)
    far = 0.0
    for frame in range(1, 50):
        scene.frame_set(frame)
        ends = [np.array(each.matrix_world) @ [0, 0, z, 1] for each, z in ((top, -0.2), (bob, 0.3))]
        far = max(far, np.linalg.norm(ends[0] - ends[1]))
    assert far < 1e-6 and codes(report.warnings) == []  # single precision
    # the sway's 8 rad/s at most, and the turn's
    fastest = np.abs(report.result.qd[:, report.result.model.coordinate_slice("Top (animated)")]).max()
    assert fastest < 10.0 + np.pi * turns * 1.2


def test_an_animation_that_changes_makes_a_bake_stale(part, scene, make):
    rig = walker(make, scene, "constraint")
    add_tail(part, scene, rig)
    part("jobs.bake").bake_now(scene)
    changes, guide = part("handlers.staleness").changes, bpy.data.objects["Guide"]
    assert changes(scene) == []
    curve = next(each for each in part("blender.compat").curves_in_use(guide) if each.array_index == 1)
    curve.keyframe_points[-1].co[1] += 0.1
    (found,) = changes(scene)
    assert found.code == "changed-since-bake"
    assert (found.values["owner"], found.values["what"]) == ("Guide", "keys")


@pytest.mark.parametrize("undone", [False, True], ids=["carried", "held by a constraint"])
def test_a_parent_that_its_child_carries_is_refused(part, scene, make, body, authoring, ph, undone):
    """Without a word the two were 0.2 m apart behind ten frames."""
    scene.frame_start, scene.frame_end = 1, 10
    top, bob = make.box("Top", (0, 0, 1)), make.box("Bob", (0, 0.3, 0.6))
    top.parent, top.matrix_parent_inverse = bob, bob.matrix_world.inverted()
    place = np.eye(4)
    place[2, 3] = 0.8
    joint = authoring.add_joint(scene, body(top), body(bob), "spherical", place)
    if undone:
        stand = make.empty("Stand")
        stand.location.z = 1.0
        top.constraints.new("COPY_TRANSFORMS").target = stand
        make.update()
        assert codes(part("jobs.bake").bake_now(scene).warnings) == []
        return
    (found,) = part("jobs.scene_checks").check(scene)
    assert found.is_error and culprit(part, found).object == joint
    assert said([found]) == [("parent-on-child", joint.name, "Top", "Bob")]
    with pytest.raises(ph.ModelError):
        part("jobs.bake").bake_now(scene)
    assert not part("baking.restoring").is_baked(scene)
