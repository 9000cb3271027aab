"""Chains and a ragdoll on a rig that Rigify makes."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ..chain_rigs import add_chain

pytestmark = pytest.mark.slow

#: single precision of Blender's matrices, on a figure of 2 m
SINGLE = 2e-6


@pytest.fixture
def rig(scene, monkeypatch):
    """The human figure, with five bones of a tail below those that deform its pelvis."""
    folder = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core"
    if not (folder / "rigify").is_dir():
        pytest.skip("this Blender comes without Rigify")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    bpy.ops.preferences.addon_enable(module="rigify")
    try:
        bpy.ops.object.armature_human_metarig_add()
        bpy.ops.pose.rigify_generate()
    finally:
        bpy.ops.preferences.addon_disable(module="rigify")
    made = bpy.data.objects["rig"]
    scene.frame_start, scene.frame_end = 1, 25
    bpy.context.view_layer.objects.active = made
    for collection in made.data.collections_all:
        collection.is_visible = True
    bpy.ops.object.mode_set(mode="EDIT")
    bones = made.data.edit_bones
    above = bones["DEF-spine"]
    for number in range(5):
        bone = bones.new(f"Tail.{number}")
        bone.head, bone.use_connect = above.tail, number > 0
        bone.tail, bone.parent = bone.head + Vector((0.0, 0.12, -0.03)), above
        above = bone
    bpy.ops.object.mode_set(mode="POSE")
    return made


def walk(rig, *names):
    """Let controls go forward and back, and up and down, in 25 frames."""
    for name in names:
        bone = rig.pose.bones[name]
        for frame, share in ((1, 0.0), (13, 1.0), (25, -1.0)):
            bone.location = (0.0, 0.02 * share, 0.03 * share)
            bone.keyframe_insert("location", frame=frame)


def heads_off(scene, rig, report):
    """How far [m] the heads of simulated bones are from where the simulation has them."""
    off = 0.0
    for row, frame in enumerate(report.frames):
        scene.frame_set(int(frame))
        for name, poses in report.poses.items():
            bone = rig.pose.bones[name.partition("/")[2]]
            off = max(off, float(np.linalg.norm(np.array(rig.matrix_world @ bone.head) - poses[row][:3, 3])))
    return off


def test_a_tail_on_a_spine_that_stretches(part, scene, rig):
    walk(rig, "torso", "tweak_spine.001")
    scene.frame_set(1)
    add_chain(rig, *(f"Tail.{number}" for number in range(5)), preset="TAIL")
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == [] and len(report.poses) == 5
    apart, stretch, bones = 0.0, 0.0, rig.pose.bones
    for frame in report.frames:
        scene.frame_set(int(frame))
        sizes = np.linalg.svd(np.array(bones["DEF-spine"].matrix)[:3, :3], compute_uv=False)
        stretch = max(stretch, float(sizes[0] / sizes[2]) - 1.0)
        apart = max(apart, (bones["DEF-spine"].tail - bones["Tail.0"].head).length)
    assert stretch > 0.1 and apart < SINGLE and heads_off(scene, rig, report) < SINGLE


def test_controls_with_a_bone_between_them_that_has_constraints(part, scene, rig):
    walk(rig, "torso")
    scene.frame_set(1)
    between = rig.pose.bones["MCH-hand_fk.L"]
    assert rig.pose.bones["hand_fk.L"].parent == between and len(between.constraints)
    add_chain(rig, "forearm_fk.L", "hand_fk.L", preset="TAIL")
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == [] and heads_off(scene, rig, report) < SINGLE
    assert all(each.mute for each in between.constraints)
    part("jobs.bake").free_bake(scene)
    assert not any(each.mute for each in between.constraints)


def test_limbs_that_are_stretched_at_the_first_frame(part, scene, rig):
    """Their constraints scale them, and the bake mutes these: they are baked in the size that they have without."""
    hand = rig.pose.bones["hand_ik.L"]
    out = 0.2 * (hand.bone.head_local - rig.data.bones["ORG-upper_arm.L"].head_local).normalized()
    hand.location = hand.bone.matrix_local.to_3x3().inverted() @ out
    hand.keyframe_insert("location", frame=1)
    scene.frame_set(1)
    names = ("ORG-upper_arm.L", "ORG-forearm.L", "ORG-hand.L")
    stretched = rig.pose.bones[names[0]].matrix.to_scale()[1]
    add_chain(rig, *names, preset="TAIL")
    report = part("jobs.bake").bake_now(scene)
    assert stretched > 1.05 and heads_off(scene, rig, report) < SINGLE
    assert rig.pose.bones[names[0]].matrix.to_scale()[1] == pytest.approx(1.0, abs=1e-5)


def test_a_ragdoll_takes_all_that_deforms_along(part, scene, rig):
    """Segments of limbs, toes and face, that constraints hold on the controls, which do not fall."""
    walk(rig, "torso", "head", "foot_ik.L")
    scene.frame_set(1)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.condyle.add_ragdoll() == {"FINISHED"}
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == []
    limbs = {each.name for each in part("making.humanoid_bones").parts(rig)}
    assert len(limbs) == 21
    deforming = [bone for bone in rig.data.bones if bone.use_deform]
    held = {joint.condyle.joint.child.bone_name: joint for joint in part("data.references").joints_of(scene)}
    places = {}
    for frame in report.frames:
        scene.frame_set(int(frame))
        for bone in deforming:
            chain = [bone.name, *(each.name for each in bone.parent_recursive)]
            near = next(name for name in chain if name in held or name in limbs)
            limb = near if near in limbs else held[near].condyle.joint.parent.bone_name
            within = rig.pose.bones[limb].matrix.normalized().inverted() @ rig.pose.bones[bone.name].head
            places.setdefault(bone.name, []).append(within)
    moved = max(np.ptp(rows, axis=0).max() for rows in places.values())
    fallen = report.poses["rig/DEF-spine"][:, 2, 3]
    assert len(places) > 150 and moved < 2.0 * SINGLE and fallen[0] - fallen[-1] > 0.5
