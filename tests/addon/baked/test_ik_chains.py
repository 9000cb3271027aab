"""Sliders of bones that an IK constraint bends as well: a ring that Blender breaks anywhere, so that they act late."""

import bpy
import numpy as np
import pytest

BONES = {
    "Pelvis": ((0, 0, 1.2), (0.1, 0, 0.95), None),
    "Thigh": ((0.1, 0, 0.95), (0.11, -0.02, 0.5), "Pelvis"),
    "Shin": ((0.11, -0.02, 0.5), (0.1, 0.02, 0.08), "Thigh"),
    "Foot": ((0.1, 0.02, 0.08), (0.1, -0.1, 0.02), "Shin"),
}
SINGLE = 4e-6  # float32
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


@pytest.mark.parametrize(
    ("segments", "end", "connect", "ring"),
    [
        (8, "AUTO", True, True),
        (8, "ABSOLUTE", False, True),
        (1, "AUTO", True, False),
        (8, "AUTO", False, False),
    ],
)
def test_sliders_of_the_child_of_a_bendy_bone_act_at_once(
    part, scene, make, body, capfd, segments, end, connect, ring
):
    """As of the limbs that generated rigs deform: Blender, asked for its cycles of dependencies, has none."""
    rig = make.armature("Rig", BONES, connect)
    thigh = rig.data.bones["Thigh"]
    thigh.bbone_segments, thigh.bbone_handle_type_end = segments, end
    thigh.bbone_custom_handle_end = None if end == "AUTO" else rig.data.bones["Shin"]
    chains, ends = part("baked.ik_chains"), (body(rig, "Shin"), body(rig, "Thigh"))
    make.update()
    capfd.readouterr()
    joint = knee(part, scene, rig)
    assert chains.moves_by_channels(scene, *ends) == chains.are_free(joint) == ring
    bends = []
    for value in (0.2, 1.2):
        joint["coordinate"] = value
        joint.update_tag()
        make.update()
        bends.append(rig.pose.bones["Thigh"].matrix.inverted() @ rig.pose.bones["Shin"].matrix)
    told = capfd.readouterr()
    assert "Dependency cycle" not in told.out + told.err
    turned = (bends[0].inverted() @ bends[1]).to_quaternion().angle
    assert turned == pytest.approx(1.0, abs=0.02)  # the knee turns as its slider says
    scene.frame_end = 3
    scene.condyle.simulation.disconnect_bones = True
    report = part("jobs.bake").bake_now(scene)
    assert not [each for each in report.warnings if each.code == "stale-slider"]


def follow(scene, joint):
    """How far the shin is from where the slider puts it."""
    bpy.context.view_layer.update()
    rig = joint.parent
    settings = joint.condyle.joint
    q = joint["coordinate"]
    frame = np.array(joint.matrix_world)
    turn = np.eye(4)
    turn[1:3, 1:3] = [[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]]
    wanted = frame @ turn @ np.reshape(settings.child_in_joint, (4, 4))
    wanted[:3, :3] *= rig.scale.x
    return np.abs(np.array(rig.matrix_world @ rig.pose.bones["Shin"].matrix) - wanted).max()


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_sliders_of_a_leg_switch_its_ik_off_and_on(
    part, scene, make, body, authoring, rig, capfd, keyed, scale
):
    """At once, not one change late; the leg keeps the pose that it has."""
    rig.scale, rig.location = (scale,) * 3, (0.3, 0.2, 0.1)
    constraint = bend(make, rig)
    constraint.mute, constraint.target.location = False, (0.4, 0.2, 0.5)
    make.update()
    if keyed:
        constraint.keyframe_insert("influence", frame=1)
        scene.frame_set(7)
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    joint.condyle.joint.axis = (1, 0, 0)
    poses = [np.array(rig.pose.bones[name].matrix) for name in BONES]
    tail = np.array(rig.pose.bones["Shin"].tail)
    capfd.readouterr()
    part("posing.project_poses").drive_here(scene, joint)
    make.update()
    told = capfd.readouterr()
    assert "Dependency cycle" not in told.out + told.err and constraint.influence == 0.0
    for name, pose in zip(BONES, poses):
        np.testing.assert_allclose(np.array(rig.pose.bones[name].matrix), pose, atol=SINGLE)
    for value in (0.4, -0.7):
        joint["coordinate"] = value
        joint.update_tag()
        assert follow(scene, joint) < SINGLE * scale
        rig.pose.bones["Thigh"].rotation_mode = "XYZ"
        rig.pose.bones["Thigh"].rotation_euler.x = value
        assert follow(scene, joint) < SINGLE * scale
    assert part("baked.ik_chains").of_joint(scene, joint) == "" and part("making.duplicates").mend() == 0
    curves = list(part("blender.compat").curves_in_use(rig))
    assert [len(curve.keyframe_points) for curve in curves] == ([2] if keyed else [])
    part("sliders.sliders").set_driven(scene, joint, False)
    make.update()
    assert constraint.influence == 1.0 and not len(joint.condyle.joint.switched)
    assert [len(curve.keyframe_points) for curve in curves] == ([1] if keyed else [])
    # the solver ends where its steps become smaller than this
    np.testing.assert_allclose(np.array(rig.pose.bones["Shin"].tail), tail, atol=1e-3)


def test_the_last_slider_of_a_leg_gives_its_ik_back(part, scene, make, body, authoring, rig):
    constraint = bend(make, rig, bone="Foot", count=3)
    constraint.mute = False
    knee, ankle = (
        authoring.add_joint(scene, body(rig, above), body(rig, below), "hinge", name=below)
        for above, below in (("Thigh", "Shin"), ("Shin", "Foot"))
    )
    for joint in (knee, ankle):
        part("posing.project_poses").drive_here(scene, joint)
    part("sliders.sliders").set_driven(scene, knee, False)
    assert constraint.influence == 0.0
    part("sliders.sliders").set_driven(scene, ankle, False)
    assert constraint.influence == 1.0


def test_an_influence_with_a_driver_is_not_touched(part, scene, make, body, authoring, rig, ph):
    constraint = bend(make, rig)
    constraint.mute = False
    constraint.driver_add("influence").driver.expression = "1.0"
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    with pytest.raises(ph.ModelError, match="a driver sets the influence of the constraint 'IK'"):
        part("posing.project_poses").drive_here(scene, joint)
    assert not joint.condyle.joint.driven and not list(rig.pose.bones["Shin"].constraints)[1:]


def test_a_joint_on_another_bone_than_the_parent_is_refused(part, scene, make, body, authoring, rig, ph):
    bend(make, rig, bone="Foot", count=4)
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Foot"), "hinge", name="Long")
    with pytest.raises(ph.ModelError, match=f"joint 'Long'.*{LATE}"):
        part("posing.project_poses").drive_here(scene, joint)


def test_one_that_is_added_later_is_told_by_a_check_and_stops_a_bake(part, scene, make, rig, ph):
    joint = knee(part, scene, rig)
    scene.frame_end, scene.condyle.simulation.disconnect_bones = 5, True
    constraint = bend(make, rig)
    assert any(
        LATE in finding.text and finding.is_error for finding in part("jobs.scene_checks").check(scene)
    )
    with pytest.raises(ph.ModelError, match=LATE):
        part("jobs.bake").bake_now(scene)
    part("sliders.sliders").set_driven(scene, joint, True)  # refreshes them
    assert part("baked.ik_chains").of_joint(scene, joint) == ""
    joint.condyle.joint.driven = False  # sliders move nothing
    assert not any(LATE in finding.text for finding in part("jobs.scene_checks").check(scene))
    joint.condyle.joint.driven = True
    rig.pose.bones["Shin"].constraints.remove(constraint)
    assert not any(LATE in finding.text for finding in part("jobs.scene_checks").check(scene))


def test_a_fit_of_a_leg_with_ik_gives_it_sliders(part, scene, make, body, authoring, rig):
    bend(make, rig)
    shin = rig.pose.bones["Shin"]
    shin.rotation_mode = "XYZ"
    for frame in range(1, 10):
        shin.rotation_euler = (0.1 * frame, 0, 0.02 * np.sin(frame))
        shin.keyframe_insert("rotation_euler", frame=frame)
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    context = bpy.context
    report = part("blender.compute_process").run(part("jobs.fit").fit_selected(context, joint))
    assert not report.undriven and joint.condyle.joint.driven
    assert joint.condyle.joint.type == "spline_curve"


def test_a_bake_of_a_leg_with_sliders_is_up_to_date(part, scene, make, body, authoring, rig):
    """It was told at once that the sliders' helpers were gone: what the leg's IK looks at led to them before only."""
    constraint = bend(make, rig, bone="Shin")
    constraint.target, constraint.subtarget, constraint.mute = rig, "Pelvis", False
    scene.frame_end = 3
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge", name="Knee")
    part("posing.project_poses").drive_here(scene, joint)
    make.update()
    part("jobs.bake").bake_now(scene)
    assert part("handlers.staleness").changes(scene) == []
