"""A bake knows what it read: it tells what has changed since, and nothing else makes it out of date."""

import json
import time
from contextlib import suppress

import bpy
import numpy as np
import pytest

from ..said import culprit, said

pytestmark = pytest.mark.small


def changes(part, scene):
    return said(part("handlers.staleness").changes(scene))


def test_a_fresh_bake_is_up_to_date_whatever_is_looked_at(part, scene, baked, tmp_path):
    assert changes(part, scene) == []
    scene.frame_set(5)
    scene.condyle.simulation.output.every = 2
    baked[2].condyle.joint.active_frame = 1
    assert changes(part, scene) == []
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    assert changes(part, scene) == []
    bpy.data.objects["Thigh"].condyle.body.density = 1200.0
    assert changes(part, scene) == [("changed-since-bake", "Thigh", "density")]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "STRIP"])
def test_no_target_makes_its_own_bake_out_of_date(part, scene, baked, target):
    _, shank, _ = baked
    output = scene.condyle.simulation.output
    output.target, output.extras = target, {"COORDINATES", "ENERGY"}
    part("jobs.bake").bake_now(scene)
    assert changes(part, scene) == []
    action = shank.condyle.bake.backup or shank.condyle.bake.previous_action
    slot = action.slots[0] if hasattr(action, "slots") else None
    next(iter(part("blender.compat").curves(action, slot))).keyframe_points[0].co[1] += 0.1
    assert changes(part, scene) == [("changed-since-bake", "Shank", "keys")]
    part("jobs.bake").free_bake(scene)
    assert changes(part, scene) == [] and not scene.condyle.simulation.output.read


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "STRIP"])
def test_a_baked_action_that_the_user_has_taken_away_is_told(part, scene, baked, target):
    """The body stands still then, and nothing that the bake has read has changed."""
    _, shank, _ = baked

    def told():
        found = [
            each for each in part("jobs.scene_checks").check(scene) if each.code.startswith("baked-action")
        ]
        assert all(culprit(part, each).object == shank for each in found)
        badge = [each for each in changes(part, scene) if each[0].startswith("baked-action")]
        # what was only put aside is not out of date
        assert badge == [each for each in said(found) if each[0] == "baked-action-gone"]
        return said(found)

    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    assert told() == []
    action, data = shank.condyle.bake.action, shank.animation_data
    if target == "NEW":
        data.action = None
        assert told() == [("baked-action-unused", "Shank", "Shank Condyle")]
        track = data.nla_tracks.new()
        track.strips.new("Pushed", 1, action)
        assert told() == []
        data.nla_tracks.remove(track)
        data.action = bpy.data.actions.new("Mine")
        assert told() == []
        data.action = action
    bpy.data.actions.remove(action)
    assert told() == [("baked-action-gone", "Shank")]
    report = part("jobs.bake").bake_now(scene)
    assert told() == [] and not any(each.code.startswith("baked-action") for each in report.warnings)


def test_it_tells_what_has_changed(part, scene, baked):
    thigh, shank, joint = baked
    row = joint.condyle.joint.coordinates[0]
    row.damping = 0.2
    row.limits = "CUSTOM"
    assert changes(part, scene) == [("changed-since-bake", "Knee", "coordinate: limits, coordinate: damping")]
    row.damping, row.limits = 0.1, "RANGE"
    assert changes(part, scene) == [] or changes(part, scene) == [
        ("changed-since-bake", "Knee", "coordinate: limits")
    ]
    scene.condyle.simulation.gravity = (0, 0, -1.6)
    scene.render.fps = 30
    told = changes(part, scene)
    (values,) = (each[2] for each in told if each[:2] == ("changed-since-bake", "Scene"))
    assert sorted(values.split(", ")) == ["frame rate", "gravity"]
    thigh.data.vertices[0].co.z += 0.01
    thigh.location.x = 0.5
    shank.condyle.body.mass_source = "MANUAL"
    told = changes(part, scene)
    what = {owner: what for _, owner, what in told}
    assert "mesh" in what["Thigh"] and "location" in what["Thigh"] and "mass from" in what["Shank"]
    frame = joint.condyle.joint.frames[2].object
    frame.location.x += 0.01
    assert ("changed-since-bake", frame.name, "location") in changes(part, scene)


def test_new_and_lost_bodies_are_told_and_renamed_ones_are_not(part, scene, baked, make):
    thigh, _, joint = baked
    thigh.name, joint.name = "Femur", "Knie"
    assert changes(part, scene) == []
    ball = make.box("Ball", (3, 0, 3))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(ball), motion="FREE")
    assert changes(part, scene) == [("new-since-bake", "Ball")]
    bpy.data.objects.remove(ball)
    bpy.data.objects.remove(joint.condyle.joint.frames[0].object)
    assert any(line[0] == "gone-since-bake" for line in changes(part, scene))


def test_what_the_user_changes_while_it_is_computed_makes_it_out_of_date(part, scene, baked):
    _, _, joint = baked
    part("jobs.bake").free_bake(scene)
    joint.condyle.joint.fit.requested = True
    steps = part("jobs.bake").bake(scene)
    job, seen = next(steps), 0
    with suppress(StopIteration):
        while True:
            job.wait(120)
            seen += not isinstance(job, part("blender.compute_process").Drawn)
            if seen == 2:  # the fit is done, the scene has been read
                joint.condyle.joint.coordinates[0].damping = 0.7
            job = part("blender.compute_process").advance(steps, job)
    assert changes(part, scene) == [("changed-since-bake", "Knee", "coordinate: damping")]


def test_undo_of_a_change_brings_the_bake_up_to_date(part, scene, baked):
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        bpy.ops.ed.undo_push(message="before")
        bpy.data.objects["Shank"].condyle.body.density = 500.0
        assert changes(part, bpy.context.scene) == [("changed-since-bake", "Shank", "density")]
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        assert changes(part, bpy.context.scene) == []


def test_the_timer_looks_only_after_changes(part, scene, baked):
    session, watch = part("blender.session"), part("handlers.staleness")
    watch.on_change()
    watch.look()
    assert not session.stale_unknown and session.stale == {scene.session_uid: []}
    baked[1].condyle.body.density = 700.0
    watch.look()
    assert session.stale == {scene.session_uid: []}
    watch.on_change()
    watch.look()
    assert said(session.stale[scene.session_uid]) == [("changed-since-bake", "Shank", "density")]


def test_the_timer_looks_when_a_script_has_run(part, scene, baked):
    """Settings that a script changes tell no handler: no badge was shown until something else was changed."""
    session, watch = part("blender.session"), part("handlers.staleness")
    text = bpy.data.texts.new("Script")
    text.write("import bpy; bpy.data.objects['Shank'].condyle.body.density = 700.0")
    watch.look()
    watch.on_change()
    watch.look()
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], edit_text=text):
        bpy.ops.text.run_script("EXEC_DEFAULT", True)
    session.stale_unknown = False  # as it is in a window, where nothing is evaluated anew
    watch.look()
    assert said(session.stale[scene.session_uid]) == [("changed-since-bake", "Shank", "density")]


def test_the_timer_looks_at_a_scene_that_comes_into_a_window(part, scene, baked):
    """Changing to it changes nothing: a rig that another scene had baked anew was shown there with no badge."""
    session, watch = part("blender.session"), part("handlers.staleness")
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        bpy.ops.scene.new(type="LINK_COPY")
    other = window.scene
    part("jobs.bake").bake_now(other)
    watch.on_change()
    watch.look()
    assert session.stale == {other.session_uid: []} and not session.stale_unknown
    window.scene = scene
    session.stale_unknown = False  # as it is in a window, where nothing is evaluated anew
    watch.look()
    assert said(session.stale[scene.session_uid]) == [
        ("changed-since-bake", "Scene", "motion, baked in another scene,")
    ]


def test_looking_is_quick(part, scene, make, authoring):
    """50 bones with 350,000 keys of their own (0.2 s of the processor; a bake over no keys: 0.01 s)."""
    references = part("data.references")
    bones = {f"B{number}": ((number, 0, 0), (number, 0, 1), None) for number in range(50)}
    item = make.armature("Rig", bones)
    for name in bones:
        authoring.make_body(scene, references.Body(item, name), motion="FREE", mass=1.0)
    frames = np.arange(1.0, 1001.0)
    poses = make.smooth_poses(1000, 13)
    channels = [
        part("baking.channels").of_bodies([references.Body(item, name)], poses[None], scene)[0]
        for name in bones
    ]
    part("baking.write").put(scene, frames, channels)
    item.condyle.bake.property_unset("action")
    staleness = part("reading.prints")
    staleness.prints(scene)
    began = time.process_time()
    staleness.prints(scene)
    assert time.process_time() - began < 5.0


def test_lengths_that_are_stored_count_and_views_of_others_do_not(part, scene, baked):
    _, _, joint = baked
    take, settings = part("reading.snapshot").take, part("reading.prints")._settings
    joint.condyle.muscle.enabled, joint.condyle.muscle.law.tendon_length = True, 0.3
    law = take(scene).objects[joint.name].condyle.muscle.law
    assert dict(settings(law, "", {})) == {"Tendon Length": "0.3"}
    before = dict(settings(take(scene).objects[joint.name].condyle.joint, "", {}))
    joint.condyle.joint.coordinates[0].rest_angle = 0.25
    after = dict(settings(take(scene).objects[joint.name].condyle.joint, "", {}))
    assert [label for label in after if after[label] != before.get(label)] == ["q: Rest"]


def test_what_keeps_the_keys_from_playing_or_moves_what_is_held(part, scene, baked, make):
    thigh, shank, _ = baked
    mode = shank.rotation_mode
    shank.rotation_mode = "QUATERNION" if mode != "QUATERNION" else "XYZ"
    assert changes(part, scene) == [("changed-since-bake", "Shank", "rotation mode")]
    shank.rotation_mode = mode
    shank.delta_location.x = 0.1
    assert changes(part, scene) == [("changed-since-bake", "Shank", "delta location")]
    shank.delta_location.x = 0.0
    assert changes(part, scene) == []
    other, above = make.box("Other", (1, 0, 0)), make.empty("Above")
    thigh.parent = above
    part("jobs.bake").bake_now(scene)
    for item in (thigh, above):
        constraint = item.constraints.new("COPY_LOCATION")
        assert changes(part, scene) == [("changed-since-bake", item.name, "constraint settings")]
        constraint.mute = True
        assert changes(part, scene) == []
        constraint.mute, constraint.target, constraint.influence = False, other, 0.25
        part("jobs.bake").bake_now(scene)
        assert changes(part, scene) == []
        constraint.use_x = False
        assert changes(part, scene) == [("changed-since-bake", item.name, "constraint settings")]
        constraint.use_x = True
    for frame, influence in ((1, 0.0), (7, 0.3)):  # then the value is of the frame that is shown
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    part("jobs.bake").bake_now(scene)
    for frame in (1, 3, 7):
        scene.frame_set(frame)
        assert changes(part, scene) == []


def test_constraints_of_bones_that_hold_or_bend_what_is_simulated(part, scene, make, body, authoring):
    scene.frame_end = 4
    bones = {
        "Root": ((0, 0, 2), (0, 0, 1.5), None),
        "A": ((0, 0, 1.5), (0, 0, 1), "Root"),
        "B": ((0, 0, 1), (0.1, 0, 0.5), "A"),
        "Tip": ((0.1, 0, 0.5), (0.1, 0, 0.2), "A"),
        "Free": ((1, 0, 0), (1, 0, 1), None),
    }
    rig = make.armature("Rig", bones)
    authoring.make_body(scene, body(rig, "B"), mass=1.0, center=(0, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    part("jobs.bake").bake_now(scene)
    for name, kind, told in (
        ("Root", "LIMIT_ROTATION", [("changed-since-bake", "Rig", "constraint settings of bones")]),
        ("A", "LIMIT_ROTATION", [("changed-since-bake", "Rig/A", "constraint settings")]),
        ("Tip", "IK", [("changed-since-bake", "Rig", "constraint settings of bones")]),
        ("Tip", "LIMIT_ROTATION", []),
        ("Free", "LIMIT_ROTATION", []),
    ):
        constraint = rig.pose.bones[name].constraints.new(kind)
        assert changes(part, scene) == told
        rig.pose.bones[name].constraints.remove(constraint)
    rig.pose.bones["B"].rotation_mode = "XZY"
    assert changes(part, scene) == [("changed-since-bake", "Rig/B", "rotation mode")]


@pytest.mark.parametrize("version", ["4", "5"])
def test_a_bake_of_an_earlier_version_is_compared_by_what_both_look_at(part, scene, baked, version):
    thigh, _, _ = baked
    thigh.constraints.new("LIMIT_LOCATION")
    thigh.delta_location.x = 0.1
    thigh.condyle.body.density = 1200.0
    part("jobs.bake").bake_now(scene)
    output = scene.condyle.simulation.output
    kept = json.loads(output.read)
    kept["Scene"]["What Is Looked At"] = version
    kept["Thigh"]["Constraint Limit Location"] = kept["Thigh"].pop("Constraint Settings")
    kept["Shank"]["Gravity"] = "1"  # a default
    del kept["Thigh"]["Delta Location"], kept["Knee"]
    output.read = json.dumps(kept)
    assert changes(part, scene) == []
    thigh.condyle.body.density = 900.0
    assert changes(part, scene) == [("changed-since-bake", "Thigh", "density")]


def test_a_bake_in_a_linked_copy_of_the_scene_replaces_this_one(part, scene, baked):
    bpy.ops.scene.new(type="LINK_COPY")
    second = bpy.context.scene
    assert second != scene
    part("jobs.bake").bake_now(second)
    assert changes(part, second) == []
    told = [("changed-since-bake", "Scene", "motion, baked in another scene,")]
    assert changes(part, scene) == told
    bpy.context.window.scene = scene
    part("jobs.bake").bake_now(scene)
    assert changes(part, scene) == [] and changes(part, second) == told
