"""Sliders of bones that an IK constraint bends as well: a ring that Blender breaks anywhere, so that they act late."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

BONES = {
    "Pelvis": ((0, 0, 1.2), (0.1, 0, 0.95), None),
    "Thigh": ((0.1, 0, 0.95), (0.11, -0.02, 0.5), "Pelvis"),
    "Shin": ((0.11, -0.02, 0.5), (0.1, 0.02, 0.08), "Thigh"),
    "Foot": ((0.1, 0.02, 0.08), (0.1, -0.1, 0.02), "Shin"),
}
LATE = "both bent by the constraint 'IK'"


@pytest.fixture
def rig(make):
    found = make.armature("Rig", BONES)
    return found


def bend(make, rig, bone="Shin", count=2, tail=True, target=True, kind="IK"):
    constraint = rig.pose.bones[bone].constraints.new(kind)
    constraint.name = "IK"
    constraint.target = (make.empty("Target") if kind == "IK" else curve()) if target else None
    constraint.chain_count, constraint.mute = count, True
    if kind == "IK":
        constraint.use_tail = tail
    make.update()
    return constraint


def curve():
    data = bpy.data.curves.new("Path", "CURVE")
    data.splines.new("POLY").points.add(1)
    made = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(made)
    return made


def knee(part, scene, rig):
    body = part("data.references").Body
    return part("making.presets_making").add(scene, "knee", body(rig, "Thigh"), body(rig, "Shin"))


@pytest.mark.parametrize(
    ("chain", "late"),
    [
        ({}, True),
        ({"count": 0}, True),
        ({"bone": "Foot", "count": 3}, True),
        ({"bone": "Foot", "count": 3, "tail": False}, True),
        ({"kind": "SPLINE_IK"}, True),
        ({"count": 1}, False),
        ({"tail": False}, False),
        ({"bone": "Foot", "count": 2}, False),
        ({"bone": "Thigh"}, False),
        ({"target": False}, False),
    ],
)
def test_a_ring_is_known_where_blender_finds_one(part, scene, make, rig, capfd, chain, late):
    """Held against Blender's own search for cycles of dependencies."""
    joint = knee(part, scene, rig)
    capfd.readouterr()
    bend(make, rig, **chain)
    told = capfd.readouterr()
    assert ("Dependency cycle" in told.out + told.err) == late
    assert (LATE in part("baked.ik_chains").of_joint(scene, joint)) == late


def test_it_is_refused_before_anything_changes(part, scene, make, body, authoring, rig, ph):
    bend(make, rig)
    before = len(bpy.data.objects)
    with pytest.raises(ph.ModelError, match=LATE):
        knee(part, scene, rig)
    assert len(bpy.data.objects) == before
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    with pytest.raises(ph.ModelError, match=f"joint 'Knee'.*{LATE}"):
        part("posing.project_poses").drive_here(scene, joint)
    assert not joint.condyle.joint.driven and not list(rig.pose.bones["Shin"].constraints)[1:]


def test_one_that_is_added_later_is_told_by_a_check_and_stops_a_bake(part, scene, make, rig, ph):
    joint = knee(part, scene, rig)
    scene.frame_end, scene.condyle.simulation.disconnect_bones = 5, True
    constraint = bend(make, rig)
    assert any(
        LATE in finding.text and finding.is_error for finding in part("jobs.scene_checks").check(scene)
    )
    with pytest.raises(ph.ModelError, match=LATE):
        part("jobs.bake").bake_now(scene)
    joint.condyle.joint.driven = False  # sliders move nothing
    assert not any(LATE in finding.text for finding in part("jobs.scene_checks").check(scene))
    joint.condyle.joint.driven = True
    rig.pose.bones["Shin"].constraints.remove(constraint)
    assert not any(LATE in finding.text for finding in part("jobs.scene_checks").check(scene))


def test_a_fit_goes_without_sliders_and_says_so(part, scene, make, body, authoring, rig):
    bend(make, rig)
    shin = rig.pose.bones["Shin"]
    shin.rotation_mode = "XYZ"
    for frame in range(1, 10):
        shin.rotation_euler = (0.1 * frame, 0, 0.02 * np.sin(frame))
        shin.keyframe_insert("rotation_euler", frame=frame)
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    context = bpy.context
    report = part("blender.compute_process").run(part("jobs.fit").fit_selected(context, joint))
    assert LATE in report.undriven and not joint.condyle.joint.driven
    assert joint.condyle.joint.type == "spline_curve"
