"""What duplicated, appended, joined, separated, renamed and deleted things keep and drop: the table of `copies`."""

import bpy
import numpy as np
import pytest

from ..copying import frames_of, in_window, joined, moved_by, simulated
from ..selecting import select

pytestmark = pytest.mark.small


@pytest.fixture
def elbow(scene, make, body, authoring):
    """A rig of two bones with a hinge between them: (rig, joint's Empty)."""
    scene.frame_start, scene.frame_end = 1, 5
    rig = make.armature("Rig")
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    return rig, joint


def duplicate(part, *items, linked=False):
    """Duplicate objects as Shift+D or Alt+D does, and mend; the copies by the names of their originals."""
    select(*items)
    bpy.ops.object.duplicate(linked=linked)
    copies = list(bpy.context.selected_objects)
    part("making.duplicates").mend()
    assert part("making.duplicates").mend() == 0  # once is enough
    bpy.context.view_layer.update()
    return {item.name.removesuffix(".001"): item for item in copies}


@pytest.mark.parametrize("linked", [False, True])
def test_a_whole_duplicated_rig_is_a_second_one(part, scene, knee, linked):
    thigh, shank, joint = knee
    copies = duplicate(part, thigh, shank, joint, *frames_of(joint), linked=linked)
    other = copies["Knee"]
    assert joined(part, other) == ("Thigh.001", "Shank.001") and joined(part, joint) == ("Thigh", "Shank")
    assert {each.condyle.frame_of for each in frames_of(other)} == {other}
    assert not set(frames_of(other)) & set(frames_of(joint))
    assert (copies["Shank"].data == shank.data) == linked
    assert moved_by(other, copies["Shank"]) > 0.05 and moved_by(other, shank) < 1e-6
    assert moved_by(joint, shank) > 0.05 and moved_by(joint, copies["Shank"]) < 1e-6
    assert simulated(part, scene) == ["Shank", "Shank.001"]
    part("making.bodies_and_joints").remove_joint(scene, other)
    assert moved_by(joint, shank) > 0.05 and simulated(part, scene) == ["Shank"]


def test_frames_dragged_with_a_duplicate_leave_it_its_slider(part, scene, knee):
    """Shift+D drags on at once: the copied joint is brought up to date with its frames before it is mended."""
    thigh, shank, joint = knee
    select(thigh, shank, joint, *frames_of(joint))
    bpy.ops.object.duplicate()
    copies = {item.name.removesuffix(".001"): item for item in bpy.context.selected_objects}
    bpy.context.view_layer.update()
    part("sliders.sliders").refresh(scene, copies["Knee"])
    part("making.duplicates").mend()
    assert part("making.duplicates").mend() == 0
    bpy.context.view_layer.update()
    assert moved_by(copies["Knee"], copies["Shank"]) > 0.05 and moved_by(copies["Knee"], shank) < 1e-6
    assert moved_by(joint, shank) > 0.05 and moved_by(joint, copies["Shank"]) < 1e-6


def test_a_driven_body_duplicated_alone_is_let_go_of_where_it_stands(part, scene, knee):
    _, shank, joint = knee
    moved_by(joint, shank)
    copy = duplicate(part, shank)["Shank"]
    assert np.abs(np.array(copy.matrix_world) - np.array(shank.matrix_world)).max() < 1e-6
    assert copy.condyle.body.enabled and not copy.constraints and len(shank.constraints) == 2
    assert moved_by(joint, copy) == 0.0 and simulated(part, scene) == ["Shank"]


def test_a_joint_duplicated_alone_is_refused_until_one_goes(part, scene, knee, ph):
    _, shank, joint = knee
    other = duplicate(part, joint)["Knee"]
    assert not other.condyle.joint.driven and joint.condyle.joint.driven
    with pytest.raises(ph.ModelError, match=r"joints 'Knee' and 'Knee.001' both move Shank; remove one"):
        simulated(part, scene)
    assert {each.condyle.frame_of for each in frames_of(other)} == {other}
    assert moved_by(joint, shank) > 0.05
    part("making.bodies_and_joints").remove_joint(scene, other)
    assert len([each for each in frames_of(joint) if each is not None]) == 4
    assert simulated(part, scene) == ["Shank"] and moved_by(joint, shank) > 0.05


def test_a_body_and_its_joint_duplicated_hang_on_the_same_parent(part, scene, knee):
    _, shank, joint = knee
    copies = duplicate(part, shank, joint)
    assert joined(part, copies["Knee"]) == ("Thigh", "Shank.001")
    assert moved_by(copies["Knee"], copies["Shank"]) > 0.05 and moved_by(copies["Knee"], shank) < 1e-6
    for one, two in zip(frames_of(joint), frames_of(copies["Knee"])):
        assert np.abs(np.array(one.matrix_world) - np.array(two.matrix_world)).max() < 1e-6
    assert simulated(part, scene) == ["Shank", "Shank.001"]


def test_a_duplicated_control_frame_is_in_no_curve(part, scene, knee):
    joint = knee[2]
    curve = part("reading.scene").read_joint(scene, joint)
    copies = duplicate(part, *frames_of(joint)[1:3])
    assert len(frames_of(joint)) == 4 and not set(copies.values()) & set(frames_of(joint))
    assert part("reading.scene").read_joint(scene, joint) == curve


def test_a_copy_of_a_baked_body_has_a_bake_of_its_own(part, scene, knee):
    thigh, shank, joint = knee
    shank.keyframe_insert("location", frame=1)
    part("jobs.bake").bake_now(scene)
    copies = duplicate(part, thigh, shank, joint, *frames_of(joint))
    copy = copies["Shank"]
    assert copy.condyle.bake.action == copy.animation_data.action != shank.animation_data.action
    assert part("jobs.bake").free_bake(scene) == 2
    assert copy.animation_data.action.name.startswith("ShankAction")
    assert not part("baked.temporarily").is_baked(copy) and not any(each.mute for each in copy.constraints)
    assert moved_by(copies["Knee"], copy) > 0.05 and moved_by(copies["Knee"], shank) < 1e-6


@pytest.mark.parametrize("linked", [False, True])
def test_a_copy_of_a_baked_muscle_has_a_curve_of_its_own(part, scene, body, knee, linked):
    thigh, shank, _ = knee
    muscle = part("making.muscles").add_muscle(
        scene, [(body(thigh), (0.06, 0, 0.6)), (body(shank), (0.06, 0, -0.1))], "Biceps"
    )
    part("jobs.bake").bake_now(scene)
    copy = duplicate(part, muscle, linked=linked)["Biceps"]
    part("jobs.bake").free_bake(scene)
    assert (copy.data == muscle.data) == linked and len(copy.data.splines[0].points) == 2
    assert copy.data.shape_keys is None and all(each.show_viewport for each in copy.modifiers)
    assert not bpy.data.actions and not bpy.data.shape_keys


def test_a_duplicated_bone_is_a_body_of_its_own(part, scene, body, elbow):
    rig, joint = elbow
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "B"
    with in_window():
        bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    bones = rig.pose.bones
    assert bones["B.001"].condyle.uid == bones["B"].condyle.uid
    bones["B"].name = "Forearm"
    assert joined(part, joint) == ("Rig/A", None)  # not to be told from its copy any more
    bones["Forearm"].name = "B"
    assert part("making.duplicates").mend() == 1
    bones["B"].name = "Forearm"
    assert joined(part, joint) == ("Rig/A", "Rig/Forearm")
    assert bones["B.001"].condyle.body.enabled and simulated(part, scene) == ["Rig/Forearm"]
    second = part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B.001"), "hinge")
    assert joined(part, second) == ("Rig/A", "Rig/B.001")


def test_a_duplicated_armature_takes_its_joint_along_or_leaves_it(part, scene, elbow):
    rig, joint = elbow
    copies = duplicate(part, rig, joint)
    assert joined(part, copies["Elbow"]) == ("Rig.001/A", "Rig.001/B")
    assert simulated(part, scene) == ["Rig/B", "Rig.001/B"]
    bpy.data.objects.remove(copies["Elbow"])
    assert joined(part, joint) == ("Rig/A", "Rig/B") and simulated(part, scene) == ["Rig/B"]


@pytest.mark.parametrize("names", ["AB", "BX"])
def test_joints_follow_their_bones_into_a_joined_armature(part, scene, make, elbow, names):
    rig, joint = elbow
    other = make.armature("Other", {names[1]: ((2, 0, 1), (2, 0, 0.5), None)})
    select(rig, other)
    bpy.ops.object.join()
    child = "Other/B.001" if names[1] == "B" else "Other/B"
    assert joined(part, joint) == ("Other/A", child)
    part("making.duplicates").mend()
    settings = joint.condyle.joint
    assert settings.child.object == other and settings.child.bone_name == child.removeprefix("Other/")
    assert simulated(part, scene) == [child]


@pytest.mark.parametrize("copies", [1, 2])
def test_joints_of_a_copy_that_is_joined_to_the_original_name_missing_bones(part, scene, elbow, ph, copies):
    rig, joint = elbow
    made = [
        next(item for item in duplicate(part, rig, joint).values() if item.condyle.joint.enabled)
        for _ in range(copies)
    ]
    part("making.duplicates").mend()
    select(*(bpy.data.objects[f"Rig.00{k + 1}"] for k in range(copies)), rig)
    bpy.ops.object.join()
    part("making.duplicates").mend()
    assert joined(part, joint) == ("Rig/A", "Rig/B")
    assert [joined(part, each) for each in made] == [(None, None)] * copies
    with pytest.raises(ph.ModelError, match="is missing"):
        simulated(part, scene)


def test_joints_follow_separated_bones_but_not_copies_of_deleted_ones(part, scene, elbow, ph):
    rig, joint = elbow
    duplicate(part, rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "B"
    with in_window():
        bpy.ops.armature.separate()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert joined(part, joint) == ("Rig/A", "Rig.002/B")  # Rig.001 is the copy
    part("making.duplicates").mend()
    assert simulated(part, scene) == ["Rig.002/B"]
    bpy.data.objects.remove(bpy.data.objects["Rig.002"])
    with pytest.raises(ph.ModelError, match="joint 'Elbow': its child is missing"):
        simulated(part, scene)


def test_before_an_undo_references_mean_what_its_step_has(part, scene, elbow):
    """Undo takes our joint over as it is, and the separated armature is gone then: Blender would crash."""
    rig, joint = elbow
    child = joint.condyle.joint.child
    uid, name = child.bone_uid, child.bone_name
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "B"
    bpy.ops.armature.separate()
    bpy.ops.object.mode_set(mode="OBJECT")
    part("making.duplicates").mend()
    assert child.object != rig and part("data.references").resolve(child) is not None
    part("making.duplicates").before_undo()
    assert child.object == rig and (child.bone_uid, child.bone_name) == (uid, name)
    part("making.duplicates").mend()  # as after the undo, if the other armature is still there
    assert child.object != rig and child.bone_uid == uid
    child.object = other = bpy.data.objects.new("Other", None)  # the user's own choice since
    part("making.duplicates").before_undo()
    assert child.object == other


def test_a_deleted_bone_is_missed_though_a_copy_of_the_rig_has_it(part, scene, elbow, ph):
    rig, joint = elbow
    duplicate(part, rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["B"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert joined(part, joint) == ("Rig/A", None) and part("making.duplicates").mend() == 0
    with pytest.raises(ph.ModelError, match="joint 'Elbow': its child is missing"):
        simulated(part, scene)


def test_of_joined_meshes_the_active_one_keeps_its_role(part, scene, make, knee, ph):
    _, shank, _ = knee
    other, third = make.box("Other", (1, 0, 0)), make.box("Third", (1, 1, 0))
    mass = part("reading.scene").mass_properties(scene, part("data.references").Body(shank)).mass
    select(other, shank)
    bpy.ops.object.join()
    assert simulated(part, scene) == ["Shank"]
    assert part("reading.scene").mass_properties(scene, part("data.references").Body(shank)).mass > 1.9 * mass
    select(shank, third)
    bpy.ops.object.join()
    assert not third.condyle.body.enabled
    with pytest.raises(ph.ModelError, match="joint 'Knee': its child Shank is in no scene"):
        simulated(part, scene)


def test_a_separated_part_is_a_body_without_a_joint(part, scene, knee):
    _, shank, joint = knee
    select(shank)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.duplicate()
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    part("making.duplicates").mend()
    piece = bpy.data.objects["Shank.001"]
    assert piece.condyle.body.enabled and not piece.constraints and len(shank.constraints) == 2
    assert joined(part, joint) == ("Thigh", "Shank") and simulated(part, scene) == ["Shank"]


def test_names_mean_nothing(part, scene, knee, elbow):
    thigh, shank, joint = knee
    rig, hinge = elbow
    for item, name in ((thigh, "Femur"), (shank, "Tibia"), (joint, "K"), (rig, "Arm"), (hinge, "E")):
        item.name = name
    for each in frames_of(joint):
        each.name = "Frame"
    rig.pose.bones["A"].name, rig.pose.bones["B"].name = "Upper", "Lower"
    assert joined(part, joint) == ("Femur", "Tibia") and joined(part, hinge) == ("Arm/Upper", "Arm/Lower")
    assert sorted(simulated(part, scene)) == ["Arm/Lower", "Tibia"] and moved_by(joint, shank) > 0.05
    part("jobs.bake").bake_now(scene)
    rig.pose.bones["Lower"].name = "Forearm"  # Blender renames the keys' paths
    scene.frame_set(3)
    assert part("jobs.bake").free_bake(scene) == 2 and not part("baked.temporarily").is_baked(rig)
