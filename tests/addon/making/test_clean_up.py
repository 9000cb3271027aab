"""Clean Up takes all of Condyle away, from what is selected, a chain, a rig or a scene."""

import bpy
import pytest

from ..chain_rigs import add_chain, rig_with_tail, select_bones, tail
from ..digests import differences, digest


def hung(part, scene):
    """Names of the bones that joints carry."""
    references = part("data.references")
    return {references.resolve(item.condyle.joint.child).bone for item in references.joints_of(scene)}


def forked(make):
    """A rig whose hips have a tail of three links, and an ear."""
    rig = rig_with_tail(make, 3)
    bpy.ops.object.mode_set(mode="EDIT")
    ear = rig.data.edit_bones.new("Ear")
    ear.head, ear.tail, ear.parent = (0, 0.2, 1.1), (0, 0.2, 1.2), rig.data.edit_bones["Hips"]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


@pytest.mark.small
@pytest.mark.parametrize(
    ("scope", "left"),
    [("SELECTED", {"Tail.0", "Tail.2", "Ear"}), ("CHAIN", {"Ear"}), ("RIG", set()), ("SCENE", set())],
)
def test_a_scope_is_cleaned_and_the_rest_stays(part, scene, make, scope, left):
    rig = forked(make)
    add_chain(rig, *tail(rig), "Ear")
    select_bones(rig, "Tail.1")
    assert bpy.ops.condyle.clean_up(scope=scope) == {"FINISHED"}
    assert hung(part, scene) == left
    bodies = {bone.name for bone in rig.pose.bones if bone.condyle.body.enabled}
    assert bodies == left
    if left:
        part("reading.scene").read(scene)


def test_a_scene_that_is_cleaned_is_as_before(part, scene, make):
    rig = forked(make)
    scene.frame_end = 4
    select_bones(rig, *tail(rig))
    before = digest()
    bpy.ops.condyle.add_chain()
    bpy.ops.condyle.bake()
    assert bpy.ops.condyle.clean_up(scope="SCENE") == {"FINISHED"}
    assert differences(before, digest()) == []
    assert not bpy.ops.condyle.clean_up.poll()


def test_a_bake_is_freed_before_a_part_is_cleaned(part, scene, make):
    rig = forked(make)
    scene.frame_end = 4
    add_chain(rig, *tail(rig))
    bpy.ops.condyle.bake()
    select_bones(rig, "Tail.2")
    assert bpy.ops.condyle.clean_up() == {"FINISHED"}
    assert not part("baking.restoring").is_baked(scene) and hung(part, scene) == {"Tail.0", "Tail.1"}


def test_connections_targets_and_muscles_go_with_their_bodies(part, scene, make):
    body = part("data.references").Body
    boxes = [make.box(name, (0, 0, -0.5 * number)) for number, name in enumerate("abc")]
    part("making.bodies_and_joints").add_joint(scene, body(boxes[0]), body(boxes[1]), "hinge")
    part("making.connections").add_connection(scene, body(boxes[0]), body(boxes[1]), "spring")
    muscle = part("making.muscles").add_muscle(
        scene, [(body(boxes[0]), (0, 0, 0)), (body(boxes[1]), (0, 0, -0.5))]
    )
    part("making.bodies_and_joints").make_body(scene, body(boxes[2]), motion="FREE")
    clean = part("making.clean_up")
    assert clean.clean(scene, [body(boxes[0]), body(boxes[1])]) == 2
    references = part("data.references")
    assert not references.joints_of(scene) and not references.connections_of(scene)
    assert not muscle.condyle.muscle.enabled and boxes[2].condyle.body.enabled


def test_mute_and_remove_joint_act_on_all_that_is_selected(part, scene, make):
    rig = forked(make)
    add_chain(rig, *tail(rig), "Ear")
    select_bones(rig, "Hips", "Tail.1", "Tail.2")
    assert bpy.ops.condyle.mute() == {"FINISHED"}
    joints = part("data.references").joints_of(scene)
    muted = {
        part("data.references").resolve(each.condyle.joint.child).bone
        for each in joints
        if each.condyle.joint.prescribed
    }
    assert muted == {"Tail.1", "Tail.2"}
    bpy.ops.condyle.mute()
    assert not any(each.condyle.joint.prescribed for each in joints)
    assert bpy.ops.condyle.remove_joint() == {"FINISHED"}
    assert hung(part, scene) == {"Tail.0", "Ear"}


def test_all_scenes_of_a_file_are_cleaned(part, scene, make):
    rig = forked(make)
    scene.frame_end = 4
    select_bones(rig, *tail(rig))
    before = digest()
    bpy.ops.condyle.add_chain()
    bpy.ops.condyle.bake()
    other = bpy.data.scenes.new("Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.window.scene = other
    assert bpy.ops.condyle.clean_up(scope="SCENE") == {"FINISHED"} and hung(part, scene)
    assert bpy.ops.condyle.clean_up(scope="FILE") == {"FINISHED"}
    bpy.data.scenes.remove(other)
    select_bones(rig, *tail(rig))
    assert differences(before, digest()) == []


@pytest.mark.parametrize(
    ("scope", "muted"),
    [
        ("SELECTED", {"Tail.1"}),
        ("CHAIN", {"Tail.0", "Tail.1", "Tail.2"}),
        ("RIG", {"Tail.0", "Tail.1", "Tail.2", "Ear"}),
        ("SCENE", {"Tail.0", "Tail.1", "Tail.2", "Ear"}),
    ],
)
def test_a_scope_is_muted_and_put_to_use_again(part, scene, make, scope, muted):
    rig = forked(make)
    add_chain(rig, *tail(rig), "Ear")
    select_bones(rig, "Tail.1")
    references = part("data.references")
    for expected in (muted, set()):
        assert bpy.ops.condyle.mute(scope=scope) == {"FINISHED"}
        settings = [item.condyle.joint for item in references.joints_of(scene)]
        assert {references.resolve(each.child).bone for each in settings if each.prescribed} == expected
