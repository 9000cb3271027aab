"""Keyed arms made physical: torques within their budget that bake to the nearest motion; what is far off; refusals."""

import bpy
import numpy as np
import pytest

from ..said import codes
from .test_goals import torques

LAST = 25


@pytest.fixture
def waving(scene, make, body, authoring):
    """A rig of two bones on hinges about y whose keys swing both."""
    rig, place = make.armature("Rig"), np.eye(4)
    bones = [body(rig, "A"), body(rig, "B")]
    for parent, child, height in zip((None, bones[0]), bones, (1.0, 0.5)):
        place[2, 3] = height
        joint = authoring.add_joint(scene, parent, child, "hinge", place, name=f"Joint {child.bone}")
        joint.condyle.joint.axis = (0, 1, 0)
    scene.frame_start, scene.frame_end = 1, LAST
    scene.condyle.goals.steps = 4
    for name, size in (("A", 0.5), ("B", 0.8)):
        bone = rig.pose.bones[name]
        axis = bone.bone.matrix_local.to_3x3().inverted() @ bone.vector.__class__((0, 1, 0))
        bone.rotation_mode = "AXIS_ANGLE"
        for frame in range(1, LAST + 1, 4):
            bone.rotation_axis_angle = (size * np.sin(0.3 * frame), *axis)
            bone.keyframe_insert("rotation_axis_angle", frame=frame)
    make.update()
    return rig


def make_physical(part, scene, **options):
    return part("blender.compute_process").run(part("jobs.physical").make(scene, **options))


def test_keys_that_torques_allow_come_back_and_bake_again_to_the_same(part, scene, waving):
    scene.condyle.goals.strength = 5.0
    for name in ("Joint A", "Joint B"):
        bpy.data.objects[name].condyle.joint.prescribed = name == "Joint A"
    keyed = part("reading.stepper").sample_matrices(scene, [waving], np.arange(1, LAST + 1), None)["Rig"]
    made = make_physical(part, scene)
    assert made.distance < 5e-3 and made.at_budget == []  # m; keys every two frames, of swings of 0.5 m
    for bone in ("A", "B"):
        off = made.bake.poses[f"Rig/{bone}"][:, :3, 3] - keyed[f"pose:{bone}"][:, :3, 3]
        assert np.abs(off).max() < 2e-2
    keys = torques(part)
    assert [len(keys[name]) for name in ("Joint A", "Joint B")] == [13, 13]
    settings = bpy.data.objects["Joint A"].condyle.joint
    assert not settings.prescribed and settings.start_from == "MOTION"
    again = part("jobs.bake").bake_now(scene).result
    assert np.abs(again.q - made.bake.result.q).max() < 1e-6  # torques in single precision
    more = make_physical(part, scene)  # from the keys, which a bake leaves as they are
    assert abs(more.distance - made.distance) < 1e-6


def test_keys_on_hips_that_walk_come_back(part, scene, make, waving):
    scene.condyle.goals.strength, scene.frame_end = 5.0, 13
    hips = make.box("Hips", (0, 0, 1))
    make.update()
    joint = bpy.data.objects["Joint A"].condyle.joint
    joint.to_world, joint.parent.object = False, hips
    for frame, place in ((1, 0.0), (6, 0.05), (13, 0.3)):
        hips.location.x = place
        hips.keyframe_insert("location", frame=frame)
    made = make_physical(part, scene)
    # m: keys every two frames, of swings of 0.5 m; what is on a carrier is compared as well
    assert 0.0 < made.distance <= made.farthest < 1e-2 and made.body in ("Rig/A", "Rig/B")


def test_what_is_far_off_is_told_and_written_only_if_accepted(part, ph, scene, waving):
    scene.condyle.goals.strength, scene.condyle.goals.steps = 0.5, 8
    with pytest.raises(ph.ModelError, match="keys"):
        make_physical(part, scene)
    found = {each.code for each in part("blender.session").findings}
    assert found >= {"keys-missed", "at-budget"} and torques(part) == {}
    made = make_physical(part, scene, accept=True)
    assert codes(made.bake.warnings) == ["keys-missed", "at-budget"] and "Joint A" in made.at_budget
    keys = torques(part)["Joint A"][:, 1]
    assert np.isclose(np.abs(keys), np.abs(keys).max(), rtol=1e-6).sum() > 1  # it stays at the budget


@pytest.mark.small
@pytest.mark.parametrize("fault", ["no keys", "switched", "loop", "short"])
def test_what_cannot_be_made_physical_is_refused(part, ph, scene, waving, fault):
    if fault == "no keys":
        waving.animation_data_clear()
    elif fault == "switched":
        bpy.data.objects["Joint A"].condyle.joint.keyframe_insert("prescribed", frame=3)
    elif fault == "loop":
        scene.condyle.start.loop = True
    else:
        scene.frame_end = 4
    with pytest.raises(ph.ModelError):
        make_physical(part, scene)
    assert all(len(each) != 13 for each in torques(part).values())
