"""Bones that constraints lead, under or between what is simulated: refused with what to do, where keys were wrong."""

import numpy as np
import pytest

BONES = {
    "Thigh": ((0, 0, 1.0), (0.01, -0.15, 0.5), None),
    "Shin": ((0.01, -0.15, 0.5), (0, 0, 0.1), "Thigh"),
    "Heel": ((0, 0, 0.1), (0, 0.1, 0.1), "Shin"),
    "Foot": ((0, 0, 0.1), (0, -0.2, 0.1), None),
}
HOW = "Bake Action with Visual Keying"


@pytest.fixture
def rig(scene, make):
    found = make.armature("Rig", BONES)
    scene.frame_start, scene.frame_end = 1, 5
    return found


def body(part, scene, rig, name, motion="HELD"):
    found = part("data.references").Body(rig, name)
    part("making.bodies_and_joints").make_body(
        scene, found, motion=motion, mass=1.0, inertia=(0.01, 0.01, 0.01)
    )
    return found


def bend(rig, target, bone=""):
    constraint = rig.pose.bones["Shin"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = target, bone, 2
    return constraint


def refused(part, scene, ph, words):
    """A bake is, with words, and the check of the scene says the same."""
    with pytest.raises(ph.ModelError, match=words) as caught:
        part("jobs.bake").bake_now(scene)
    with pytest.raises(ph.ModelError, match=words):  # nor does it run live
        part("blender.compute_process").run(
            part("jobs.take").take(scene.session_uid, np.arange(1.0, 6.0), {})
        )
    errors = [finding.text for finding in part("jobs.scene_checks").check(scene) if finding.is_error]
    assert errors == [str(caught.value)]


def test_a_bone_that_carries_one_and_is_bent_to_another_is_named(part, scene, make, rig, ph):
    """Without this the heel was 24 cm off what was simulated behind 8 frames: it went with the bent shin besides."""
    for name in ("Foot", "Heel"):
        body(part, scene, rig, name, "FREE")
    scene.condyle.simulation.gravity = (0, -5, 0)
    constraint = bend(rig, rig, "Foot")
    refused(part, scene, ph, f"Rig/Shin carries Rig/Heel and follows Rig/Foot by the constraint 'IK'.*{HOW}")
    constraint.mute = True
    shown(part, scene, rig)


def test_a_chain_that_follows_through_an_empty_is_found(part, scene, make, rig, ph):
    """The target hangs on what is simulated, and the constraint belongs to a bone below the one that carries."""
    for name in ("Foot", "Heel"):
        body(part, scene, rig, name, "FREE")
    target = make.empty("Target", rig)
    target.parent_type, target.parent_bone = "BONE", "Foot"
    rig.pose.bones["Heel"].parent.parent.constraints.new("COPY_ROTATION")  # looks at nothing
    bend(rig, target)
    refused(part, scene, ph, "Rig/Shin carries Rig/Heel and follows Rig/Foot")


def test_what_is_bent_to_what_is_not_simulated_is_baked_through(part, scene, make, rig):
    body(part, scene, rig, "Heel", "FREE")
    scene.condyle.simulation.gravity = (0, -5, 0)
    target = make.empty("Target")
    for frame, y in ((1, 0.0), (5, -0.3)):
        target.location = (0, y, 0.1)
        target.keyframe_insert("location", frame=frame)
    bend(rig, target)
    scene.frame_set(1)
    shown(part, scene, rig)


def shown(part, scene, rig):
    """A bake shows what was simulated: to float32's rounding in matrices of a chain."""
    report = part("jobs.bake").bake_now(scene)
    for row, frame in enumerate(report.frames):
        scene.frame_set(int(frame))
        for name, poses in report.poses.items():
            world = rig.matrix_world @ rig.pose.bones[name.removeprefix("Rig/")].matrix
            np.testing.assert_allclose(np.array(world), poses[row], atol=1e-5)


def test_a_led_shin_under_a_simulated_foot_is_told_to_be_keyed_first(part, scene, make, rig, ph):
    shin, heel = body(part, scene, rig, "Shin"), body(part, scene, rig, "Heel")
    part("making.bodies_and_joints").add_joint(scene, shin, heel, "hinge", name="Ankle")
    lead = part("making.bodies_and_joints").add_joint(scene, None, shin, "free", name="Lead")
    lead.condyle.joint.prescribed = True
    bend(rig, make.empty("Target"))
    refused(part, scene, ph, f"Rig/Shin: the constraint 'IK' would override the baked keys.*Animated.*{HOW}")
