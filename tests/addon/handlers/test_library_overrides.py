"""Rigs from a library: refused while they are only linked; as overrides they work like local ones, and last."""

import bpy
import numpy as np
import pytest

from ..said import culprit

BONES = {
    "A": ((0, 0, 1), (0, 0, 0.5), None),
    "B": ((0, 0, 0.5), (0.1, 0, 0), "A"),
    "C": ((0.1, 0, 0), (0.3, 0, 0), "B"),
}
SINGLE = 4e-6  # float32


def add_hinges(part, scene, rig):
    """Driven hinges between the bones of a rig."""
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    for parent, child in ("AB", "BC"):
        joint = authoring.add_joint(
            scene, body(rig, parent), body(rig, child), "hinge", name=f"Joint {child}"
        )
        joint.condyle.joint.axis = (0, 1, 0)
        authoring.drive(scene, joint, True)


@pytest.fixture
def linked(part, scene, make, tmp_path):
    """Makes a file with a rig in a collection, with joints or without, and links that into an empty one; its scene
    and the linked collection.
    """

    def made(with_joints, connect=False):
        rig = make.armature("Rig", BONES, connect=connect)
        if with_joints:
            add_hinges(part, scene, rig)
        collection = bpy.data.collections.new("Character")
        scene.collection.children.link(collection)
        for item in list(scene.objects):
            for user in list(item.users_collection):
                user.objects.unlink(item)
            collection.objects.link(item)
        path = str(tmp_path / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        fresh = bpy.context.scene
        fresh.frame_end = 6
        with bpy.data.libraries.load(path, link=True) as (_, wanted):
            wanted.collections = ["Character"]
        fresh.collection.children.link(wanted.collections[0])
        make.update()
        return fresh, wanted.collections[0]

    return made


def overridden(scene, collection):
    """The rig of a library override of a collection, in place of the linked one."""
    collection.override_hierarchy_create(scene, bpy.context.view_layer)
    for child in [child for child in scene.collection.children if child.library is not None]:
        scene.collection.children.unlink(child)
    bpy.context.view_layer.update()
    return rig_of(scene)


def rig_of(scene):
    return next(item for item in scene.objects if item.type == "ARMATURE")


def reopened(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.scene, rig_of(bpy.context.scene)


@pytest.mark.small
def test_a_linked_rig_is_refused_with_the_way_out(part, linked, ph):
    scene, _ = linked(False)
    rig, body = rig_of(scene), part("data.references").Body
    for change in (
        lambda: part("making.bodies_and_joints").make_body(scene, body(rig, "B")),
        lambda: part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge"),
    ):
        with pytest.raises(ph.ModelError, match="is linked; make a library override first"):
            change()
    assert [item.name for item in bpy.data.objects] == ["Rig"]
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    for name in ("make_body", "add_joint"):
        with pytest.raises(RuntimeError, match="Rig is linked; make a library override first"):
            getattr(bpy.ops.condyle, name)()
    assert not rig.condyle.body.enabled


@pytest.mark.small
def test_a_linked_joint_is_not_changed(part, linked):
    """Nothing of it would be saved."""
    scene, _ = linked(True)
    (joint, *_) = [item for item in scene.objects if item.condyle.joint.enabled]
    bpy.context.view_layer.objects.active = joint
    for name in ("remove_joint", "stop_driving", "set_rest_pose", "start_here", "drive"):
        assert not getattr(bpy.ops.condyle, name).poll()


@pytest.mark.small
def test_a_target_of_an_overridden_rig_is_an_object_of_the_shot(part, linked):
    scene, collection = linked(True)
    rig = overridden(scene, collection)
    body = part("data.references").Body(rig, "C")
    target = part("posing.ik_targets").add_target(
        scene, body, tuple(rig.matrix_world @ rig.pose.bones["C"].tail)
    )
    assert all(each.override_library is None for each in target.users_collection) and target.users_collection


@pytest.mark.small
def test_a_bake_of_linked_joints_is_refused(part, linked, ph):
    scene, _ = linked(True)
    with pytest.raises(ph.ModelError, match=r"Rig/B is linked from .*; make a library override first"):
        part("jobs.bake").bake_now(scene)


@pytest.mark.small
def test_a_bake_of_a_library_is_not_freed_in_a_shot(part, scene, make, tmp_path):
    """In memory it would go, and be back when the file is opened again."""
    make.driven_knee(part, scene)
    scene.frame_end = 3
    part("jobs.bake").bake_now(scene)
    collection = bpy.data.collections.new("Leg")
    for item in list(scene.objects):
        collection.objects.link(item)
    path = tmp_path / "leg.blend"
    bpy.data.libraries.write(str(path), {collection}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Leg"]
    scene.collection.children.link(wanted.collections[0])
    shank = next(item for item in scene.objects if item.condyle.channels.baked)
    action = shank.animation_data.action
    assert action is not None and not bpy.ops.condyle.free_bake.poll()
    assert part("jobs.bake").free_bake(scene) == 0 and shank.animation_data.action == action


@pytest.mark.small
@pytest.mark.parametrize("in_library", [True, False])
def test_an_overridden_rig_is_baked_and_freed_and_lasts(part, linked, tmp_path, in_library):
    """The joints come from the library, or are made in the shot for a library that knows nothing of them."""
    scene, collection = linked(in_library)
    rig = overridden(scene, collection)
    if not in_library:
        add_hinges(part, scene, rig)
    uids = [bone.condyle.uid for bone in rig.pose.bones]
    for joint in part("data.references").joints_of(scene):
        joint.condyle.joint.coordinates[0].start_speed = 2.0
    report = part("jobs.bake").bake_now(scene)
    assert rig.animation_data.action.library is None
    scene, rig = reopened(tmp_path / "baked.blend")
    assert [bone.condyle.uid for bone in rig.pose.bones] == uids and all(uids)
    for name in ("Rig/B", "Rig/C"):
        body = part("data.references").Body(rig, name[-1])
        for frame, pose in zip(report.frames, report.poses[name]):
            scene.frame_set(int(frame))
            assert np.abs(np.array(body.matrix) - pose).max() < SINGLE
        assert np.abs(report.poses[name][-1] - report.poses[name][0]).max() > 0.1
    assert part("jobs.bake").free_bake(scene) == 1 and rig.animation_data is None
    scene, rig = reopened(tmp_path / "freed.blend")
    assert not part("baked.temporarily").is_baked(rig)
    assert not any(each.mute for bone in rig.pose.bones for each in bone.constraints)
    read = part("reading.scene").read(scene)
    assert [entry.name for entry in read.bodies] == ["Rig/B", "Rig/C"]
    joint, bone = part("data.references").joints_of(scene)[0], rig.pose.bones["B"]
    before = np.array(bone.matrix)
    joint["coordinate"] = joint["coordinate"] + 0.5
    joint.update_tag()
    bpy.context.view_layer.update()
    assert np.abs(np.array(bone.matrix) - before).max() > 0.1


@pytest.mark.small
def test_connected_bones_of_a_linked_armature_stay_connected(part, linked, ph):
    scene, collection = linked(False, connect=True)
    rig = overridden(scene, collection)
    body = part("data.references").Body(rig, "C")
    part("making.bodies_and_joints").make_body(scene, body, motion="FREE")
    reason = r"disconnect it in .*\.blend, of which its armature 'Rig' is linked"
    for disconnect in (False, True):
        scene.condyle.simulation.disconnect_bones = disconnect
        with pytest.raises(ph.ModelError, match=reason):
            part("jobs.bake").bake_now(scene)
    assert not part("baked.temporarily").is_baked(rig)


def test_what_a_library_would_bring_back_is_not_taken_away(part, linked):
    scene, collection = linked(True)
    overridden(scene, collection)
    joint = next(item for item in scene.objects if item.condyle.joint.enabled)
    assert joint.override_library is not None
    bpy.context.view_layer.objects.active = joint
    for name, words in (("remove_joint", "would bring it back"), ("stop_driving", "would drive it again")):
        with pytest.raises(RuntimeError, match=words):
            getattr(bpy.ops.condyle, name)()


@pytest.mark.small
def test_an_override_that_is_duplicated_whole_is_told_with_the_way_out(part, linked, ph):
    """Blender points the copies at the originals: their joints would move the same bones."""
    scene, collection = linked(True)
    overridden(scene, collection)
    with bpy.context.temp_override(selected_objects=list(scene.objects)):
        bpy.ops.object.duplicate()
    bpy.context.view_layer.update()
    texts = [each.text for each in part("jobs.scene_checks").check(scene) if each.is_error]
    assert texts and all("both move Rig/" in text for text in texts)
    assert "the copy of a library override" in texts[0] and "make another override of the library" in texts[0]
    with pytest.raises(ph.ModelError, match="make another override of the library"):
        part("jobs.bake").bake_now(scene)


@pytest.fixture
def library(part, scene, make, tmp_path):
    """Makes a file with two boxes in a collection, their joint beside it in Condyle, and links the boxes' collection:
    the file's path, the scene and the linked collection.
    """

    def made(driven):
        thigh, shank, joint = make.driven_knee(part, scene)
        part("making.bodies_and_joints").drive(scene, joint, driven)
        leg = bpy.data.collections.new("Leg")
        scene.collection.children.link(leg)
        for item in (thigh, shank):
            scene.collection.objects.unlink(item)
            leg.objects.link(item)
        path = str(tmp_path / "leg.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        with bpy.data.libraries.load(path, link=True) as (_, wanted):
            wanted.collections = ["Leg"]
        fresh = bpy.context.scene
        fresh.frame_end = 3
        fresh.collection.children.link(wanted.collections[0])
        return path, fresh, wanted.collections[0]

    return made


@pytest.mark.small
@pytest.mark.parametrize("old", [False, True])
def test_joints_that_stayed_in_the_library_are_told_and_come_with_their_collection(
    part, library, ph, tmp_path, monkeypatch, old
):
    """Of rigs that point at them Blender links the joints indirectly, without a scene; of older ones nothing."""
    with monkeypatch.context() as patch:
        if old:
            patch.setattr(part("making.rig_parts"), "renew", lambda: None)
        path, scene, collection = library(False)
    told = "comes from leg.blend without joints" if old else "Joint 'Knee' of Shank was left in leg.blend"
    for override in (False, True):
        if override:
            collection.override_hierarchy_create(scene, bpy.context.view_layer)
            scene.collection.children.unlink(
                next(child for child in scene.collection.children if child.library is not None)
            )
            bpy.context.view_layer.update()
        for run in (bpy.ops.condyle.bake, bpy.ops.condyle.check_scene):
            with pytest.raises(RuntimeError) as raised:
                run()
            text = str(raised.value)
            assert told in text and "use Check Scene and Move Joints to Their Rigs" in text
    with pytest.raises(ph.ModelError, match="open this file again"):
        part("jobs.bake").bake_now(scene)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    (found,) = [each for each in part("jobs.scene_checks").check(bpy.context.scene) if each.is_hint]
    assert found.code == "parts-apart" and found.values == {"object": "Shank", "parts": "Knee"}
    assert bpy.ops.condyle.move_to_rigs() == {"FINISHED"} and not bpy.ops.condyle.move_to_rigs.poll()
    moved = bpy.data.collections["Leg"].children[0].all_objects
    assert {"Knee", "Knee Follower", *(f"Knee Frame 0{k}" for k in range(4))} == {item.name for item in moved}
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert len(part("jobs.bake").bake_now(bpy.context.scene).bodies) == 1


@pytest.mark.small
def test_a_joint_beside_others_that_is_in_no_scene_is_told_by_check_scene(part, scene, make, authoring):
    _, shank, _ = make.driven_knee(part, scene)
    authoring.make_body(scene, part("data.references").Body(make.box("Stone", (1, 0, 0))), motion="FREE")
    scene.collection.children.unlink(bpy.data.collections["Condyle"])
    bpy.context.view_layer.update()
    found = part("jobs.scene_checks").check(scene)
    (line,) = [each for each in found if each.code == "joint-not-in-scene"]
    assert line.values == {"joint": "Knee", "body": "Shank", "collections": "Condyle"}
    assert culprit(part, line).object == shank
    assert not any("Remove" in each.remedy or each.code == "left-over" for each in found)
    other = bpy.data.scenes.new("Other")
    other.collection.children.link(bpy.data.collections["Condyle"])
    assert not any(each.code == "joint-not-in-scene" for each in part("jobs.scene_checks").check(scene))
