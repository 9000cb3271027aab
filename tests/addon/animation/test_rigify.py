"""A tail on a rig that Rigify makes, whose spine stretches."""

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
    bpy.context.view_layer.objects.active = made
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


def test_a_tail_on_a_spine_that_stretches(part, scene, rig):
    scene.frame_start, scene.frame_end = 1, 25
    for name in ("torso", "tweak_spine.001"):
        bone = rig.pose.bones[name]
        for frame, share in ((1, 0.0), (13, 1.0), (25, -1.0)):
            bone.location = (0.0, 0.02 * share, 0.03 * share)
            bone.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    add_chain(rig, *(f"Tail.{number}" for number in range(5)), preset="TAIL")
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == []
    off, stretch, bones = 0.0, 0.0, rig.pose.bones
    for row, frame in enumerate(report.frames):
        scene.frame_set(int(frame))
        sizes = np.linalg.svd(np.array(bones["DEF-spine"].matrix)[:3, :3], compute_uv=False)
        stretch = max(stretch, float(sizes[0] / sizes[2]) - 1.0)
        off = max(off, (bones["DEF-spine"].tail - bones["Tail.0"].head).length)
        for number in range(5):
            place = report.poses[f"rig/Tail.{number}"][row][:3, 3]
            off = max(off, float(np.linalg.norm(np.array(bones[f"Tail.{number}"].head) - place)))
    assert stretch > 0.1 and off < SINGLE
