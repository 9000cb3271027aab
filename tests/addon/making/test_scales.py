"""Apply Scale: what simulations refuse is applied, and nothing moves."""

import bpy
import numpy as np
import pytest

from ..chain_rigs import add_chain, rig_with_tail, tail
from ..selecting import select


def corners(item):
    return np.array([tuple(item.matrix_world @ vertex.co) for vertex in item.data.vertices])


def test_scales_are_applied_so_that_a_joint_can_be_added(part, scene, make):
    parent, child, other = (make.box(name, (0, 0, -0.5 * k)) for k, name in enumerate("abc"))
    child.parent = parent
    parent.scale, child.scale, other.scale = (1.0, 2.0, 1.0), (-1.0, 1.0, 1.0), (3.0, 3.0, 3.0)
    make.update()
    before = [corners(item) for item in (parent, child)]
    select(child, parent)
    with pytest.raises(RuntimeError):
        bpy.ops.condyle.add_joint(kind="hinge")
    assert bpy.ops.condyle.apply_scale() == {"FINISHED"}
    for item, places in zip((parent, child), before):
        assert corners(item) == pytest.approx(places, abs=1e-6)  # float32
    assert other.scale[:] == (3.0, 3.0, 3.0)
    assert not bpy.ops.condyle.apply_scale.poll()
    assert bpy.ops.condyle.add_joint(kind="hinge") == {"FINISHED"}


def test_shared_meshes_are_refused_and_nothing_is_changed(scene, make):
    first, second = make.box("First"), make.box("Second", (0, 0, 1))
    first.scale, second.scale, second.data = (1.0, 2.0, 1.0), (1.0, 3.0, 1.0), first.data
    make.update()
    select(first, second)
    with pytest.raises(RuntimeError, match="single user"):
        bpy.ops.condyle.apply_scale()
    assert first.scale[:] == (1.0, 2.0, 1.0)


def test_a_rig_is_applied_with_its_bones(part, scene, make):
    rig = make.armature("Rig")
    rig.scale = (1.0, 1.0, 2.0)
    make.update()
    select(rig)
    tail = rig.matrix_world @ rig.pose.bones["B"].tail
    assert bpy.ops.condyle.apply_scale() == {"FINISHED"}
    assert (rig.matrix_world @ rig.pose.bones["B"].tail)[:] == pytest.approx(tail[:], abs=1e-6)
    body = part("data.references").Body
    assert part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")


def test_a_scaled_rig_is_one_error_and_its_scale_is_applied_from_pose_mode(part, scene, make):
    rig = rig_with_tail(make, 5)
    add_chain(rig, *tail(rig))
    rig.scale.z = 1.2
    make.update()
    (found,) = part("jobs.scene_checks").check(scene)
    assert found.code == "error" and found.text.count("Rig") == 4 and "and 4 others" in found.text
    assert bpy.ops.condyle.apply_scale() == {"FINISHED"} and bpy.context.mode == "POSE"
    assert tuple(rig.scale) == (1, 1, 1) and not any(
        each.is_error for each in part("jobs.scene_checks").check(scene)
    )
