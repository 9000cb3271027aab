"""What a bake, a slider or a joint replaced comes back, whatever the user has done meanwhile."""

import bpy
import numpy as np
import pytest


@pytest.fixture
def swing(scene, make, body, authoring):
    """A bob that hangs on a hinge and has a key of its own: (top, bob, joint's Empty)."""
    scene.frame_start, scene.frame_end = 1, 5
    top, bob = make.box("Top", (0, 0, 1.0)), make.box("Bob", (0.3, 0, 0.6))
    bob.keyframe_insert("location", frame=1)
    make.update()
    return top, bob, authoring.add_joint(scene, body(top), body(bob), "hinge")


@pytest.mark.small
def test_a_deleted_bake_can_still_be_freed(part, scene, swing):
    tasks = part("jobs.bake")
    _, bob, _ = swing
    own = bob.animation_data.action
    for bake_again in (False, True):
        tasks.bake_now(scene)
        bpy.data.actions.remove(bob.condyle.bake.action)
        assert bpy.ops.condyle.free_bake.poll()
        if bake_again:
            tasks.bake_now(scene)
        assert tasks.free_bake(scene) == 1
        assert bob.animation_data.action == own and not bob.condyle.channels.baked
        assert not part("baked.temporarily").is_baked(bob)


@pytest.mark.small
def test_an_action_chosen_after_the_bake_stays(part, scene, swing):
    tasks = part("jobs.bake")
    _, bob, _ = swing
    own, work = bob.animation_data.action, bpy.data.actions.new("Work")
    baked = part("baked.temporarily").is_baked
    tasks.bake_now(scene)
    bob.animation_data.action = work
    tasks.free_bake(scene)
    assert bob.animation_data.action == work and not baked(bob)
    assert own.use_fake_user  # or saving the file would drop it
    tasks.bake_now(scene)
    bob.animation_data_clear()
    tasks.free_bake(scene)
    assert bob.animation_data.action == work


@pytest.mark.small
def test_a_rotation_mode_chosen_after_the_bake_is_put_back(part, scene, swing):
    tasks = part("jobs.bake")
    _, bob, _ = swing
    bob.rotation_euler = (0.1, 0.2, 0.3)
    tasks.bake_now(scene)
    bob.rotation_mode = "QUATERNION"
    report = tasks.bake_now(scene)
    scene.frame_set(5)
    assert np.abs(np.array(bob.matrix_world) - report.poses["Bob"][4]).max() < 2e-6
    tasks.free_bake(scene)
    assert bob.rotation_mode == "XYZ" and np.allclose(bob.rotation_euler, (0.1, 0.2, 0.3))


@pytest.mark.small
def test_a_duplicate_of_a_driven_joint_leaves_the_original_its_slider(part, scene, authoring, swing):
    _, bob, joint = swing
    authoring.drive(scene, joint, True)
    follower = joint.condyle.joint.follower
    for drive_it in (False, True):
        double = joint.copy()
        scene.collection.objects.link(double)
        if drive_it:
            part("sliders.sliders").refresh(scene, double)
            assert double.condyle.joint.follower != follower
        authoring.remove_joint(scene, double)
        assert joint.condyle.joint.follower == follower and follower.parent == joint
        assert [constraint.target for constraint in bob.constraints] == [follower, follower]
    bpy.data.objects.remove(bob)
    authoring.remove_joint(scene, joint)  # though its child is gone
    assert not [item for item in bpy.data.objects if item.type == "EMPTY"]


@pytest.mark.small
def test_the_slider_begins_at_the_start_in_scene_units(scene, make, body, authoring):
    scene.unit_settings.scale_length = 0.01
    a, b = make.box("A"), make.box("B", (0, 0, 50))
    joint = authoring.add_joint(scene, body(a), body(b), "slider")
    joint.condyle.joint.coordinates[0].start = 0.2
    authoring.drive(scene, joint, True)
    make.update()
    assert np.isclose(joint["coordinate"], 20.0)
    assert np.isclose(b.matrix_world.translation.z, 70.0)


@pytest.mark.small
def test_a_slider_made_under_a_bake_moves_the_child_when_the_bake_is_freed(part, scene, swing):
    authoring, tasks = part("making.bodies_and_joints"), part("jobs.bake")
    _, bob, joint = swing
    tasks.bake_now(scene)
    authoring.drive(scene, joint, True)
    assert all(constraint.mute for constraint in bob.constraints)
    tasks.free_bake(scene)
    assert bob.constraints and not any(constraint.mute for constraint in bob.constraints)


@pytest.mark.small
def test_a_new_type_lets_go_of_the_child_or_takes_it_along(scene, authoring, swing):
    _, bob, joint = swing
    settings = joint.condyle.joint
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 0.5
    settings.type = "slider"
    assert settings.driven
    bpy.context.view_layer.update()
    assert np.isclose(np.linalg.norm(bob.matrix_world.translation - joint.matrix_world.translation), 0.5)
    settings.type = "universal"
    assert settings.driven and "coordinate" not in joint and joint["coordinate angle_2"] == 0.0
    settings.type = "fixed"
    assert settings.driven and not any(name.startswith("coordinate") for name in list(joint.keys()))
    bpy.context.view_layer.update()
    before = bob.matrix_world.inverted() @ joint.matrix_world
    joint.location.x += 0.3
    bpy.context.view_layer.update()
    np.testing.assert_allclose(bob.matrix_world.inverted() @ joint.matrix_world, before, atol=1e-6)


def test_a_property_of_the_users_own_is_named(part, scene, swing, ph):
    _, bob, joint = swing
    joint["coordinate"] = "north"
    with pytest.raises(ph.ModelError, match="'coordinate' that is no number"):
        part("making.bodies_and_joints").drive(scene, joint, True)
    assert joint["coordinate"] == "north" and not bob.constraints


def test_limits_beyond_a_curve_that_ends(part, scene, make, body, authoring, ph):
    thigh, shank = make.keyed_knee()
    joint = authoring.add_joint(scene, body(thigh), body(shank))
    part("jobs.bake").fit_now(scene, joint)
    settings = joint.condyle.joint
    row = settings.coordinates[0]
    settings.outside, row.limits, row.lower, row.upper = "error", "CUSTOM", -5.0, 5.0
    authoring.drive(scene, joint, True)
    shown = joint.id_properties_ui("coordinate").as_dict()
    assert np.allclose((shown["min"], shown["max"]), part("reading.scene").read_joint(scene, joint).range[0])
    row.lower = 4.0
    with pytest.raises(ph.ModelError, match=f"{joint.name!r}: its limits 4 to 5 lie beyond its curve"):
        authoring.drive(scene, joint, True)


def test_another_object_in_place_of_a_bone(part, scene, make):
    body, authoring, resolve = (
        part("data.references").Body,
        part("making.bodies_and_joints"),
        part("data.references").resolve,
    )
    rig = make.armature("Rig")
    box = make.box("Box", (1, 0, 0))
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    child = joint.condyle.joint.child
    rig.pose.bones["B"].name = "C"
    assert resolve(child) == body(rig, "C")
    child.object = box
    assert resolve(child) == body(box)
    child.object = rig
    child.bone_name = "C"
    assert resolve(child) == body(rig, "C")
    child.bone_name = ""
    assert resolve(child) == body(rig)


def test_a_joint_that_is_refused_changes_nothing(scene, make, body, authoring, ph, tmp_path):
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {make.box("Linked")})
    bpy.data.objects.remove(bpy.data.objects["Linked"])
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    linked, own = wanted.objects[0], make.box("Own")
    scene.collection.objects.link(linked)
    make.update()
    with pytest.raises(ph.ModelError, match="Linked is linked"):
        authoring.add_joint(scene, body(own), body(linked), "hinge")
    assert not own.condyle.body.enabled


def test_a_carried_joint_does_not_hide_the_next_one(part, scene, make, swing):
    top, bob, joint = swing
    common = part("data.property_options")
    bpy.context.view_layer.objects.active = top
    assert common.active_joint(bpy.context) == joint and common.own_joint(bpy.context) is None
    bpy.context.view_layer.objects.active = bob
    assert common.own_joint(bpy.context) == joint


def test_what_only_shows_a_body_offers_its_joint(part, scene, make, swing):
    _, bob, joint = swing
    common, shell = part("data.property_options"), make.box("Shell")
    bpy.context.view_layer.objects.active = shell
    assert common.active_joint(bpy.context) is None
    shell.parent = bob
    assert common.active_joint(bpy.context) == joint and common.own_joint(bpy.context) is None
    shell.condyle.body.enabled = True
    assert common.active_joint(bpy.context) is None


def test_what_shows_no_body_offers_no_joint_to_the_world(part, scene, make, body, authoring):
    authoring.add_joint(scene, None, body(make.box("Free")), "hinge", np.eye(4))
    bpy.context.view_layer.objects.active = make.box("Ground")
    assert part("data.property_options").active_joint(bpy.context) is None
