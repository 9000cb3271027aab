"""Ragdolls: parts by the names of known rigs, limits, what is refused, and that they fall and stay on the floor."""

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
from ..chain_rigs import FIGURE, NAMINGS, humanoid  # noqa: E402


@pytest.mark.parametrize("naming", NAMINGS)
def test_bones_of_known_rigs_are_found(part, scene, make, naming):
    rig = humanoid(make, naming)
    found = part("making.humanoid_bones").parts(rig)
    names, sides = NAMINGS[naming]
    named = dict(zip(FIGURE, names.split()))
    carriers = {}
    for key, (_, _, above) in FIGURE.items():
        for side in sides if "{}" in named[key] else ("",):
            carriers[named[key].format(side)] = named[above].format(side) if above else ""
    assert {each.name: each.carrier for each in found} == carriers
    order = [each.name for each in found]
    assert all(not each.carrier or order.index(each.carrier) < order.index(each.name) for each in found)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mixamorig:LeftHandIndex1", ("", "")),
        ("mixamorig:HeadTop_End", ("", "")),
        ("J_Sec_Hair1_01", ("", "")),
        ("arm_twist.l", ("", "")),
        ("thigh", ("", "")),  # of no side
        ("LeftHead", ("", "")),
        ("upper_arm.R", ("upper_arm", "R")),
        ("leftUpperLeg", ("thigh", "L")),
        ("Bip01 L Calf", ("shin", "L")),
        ("DEF-forearm.L", ("forearm", "L")),
    ],
)
def test_names_mean_a_part_or_nothing(part, name, meant):
    assert part("making.humanoid_bones").meaning(name) == meant


def test_twists_fingers_and_controls_are_left_out(part, scene, make):
    more = {
        "DEF-upper_arm.L.001": ((0.3, 0, 1.42), (0.45, 0, 1.42), "DEF-upper_arm.L"),
        "DEF-f_index.01.L": ((0.85, 0, 1.42), (0.9, 0, 1.42), "DEF-hand.L"),
        "hand_ik.L": ((0.7, 0, 1.42), (0.85, 0, 1.42), None),
        "head": ((0, 0, 1.6), (0, 0, 1.7), None),
    }
    rig = humanoid(make, "rigify_def", more)
    names = {each.name for each in part("making.humanoid_bones").parts(rig)}
    assert len(names) == 19 and not names & more.keys()


def test_knees_and_elbows_bend_as_they_do(part, scene, make):
    rig = humanoid(make, "mixamo")
    part("making.ragdolls").add(scene, rig, floor=False)
    references = part("data.references")
    tips = {}
    for item in references.joints_of(scene):
        settings = item.condyle.joint
        if settings.type != "hinge":
            continue
        child = references.resolve(settings.child)
        joint = part("reading.scene").read_joint(scene, item)
        base = np.array(item.matrix_world)
        moved = base @ joint.transform(joint.from_readings(np.array([math.radians(60.0)])))
        tips[child.bone] = moved[:3, :3] @ (0.0, 1.0, 0.0)
        assert (settings.coordinates[0].lower, settings.coordinates[0].upper) == pytest.approx(
            (math.radians(-3.0), math.radians(140.0 if "Leg" in child.bone else 145.0)), abs=1e-6
        )
    assert len(tips) == 4
    for side in ("Left", "Right"):
        assert tips[f"mixamorig:{side}Leg"][1] > 0.5  # the figure looks along -y: shins go back
        assert tips[f"mixamorig:{side}ForeArm"][1] < -0.5


def test_limits_are_from_the_rest_pose_and_it_starts_in_its_pose(part, scene, make):
    rig = humanoid(make, "vrm")
    bone = rig.pose.bones["J_Bip_L_UpperLeg"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.5, 0.0, 0.0)
    make.update()
    before = {each.name: rig.matrix_world @ each.matrix for each in rig.pose.bones}
    scene.frame_end = 2
    part("making.ragdolls").add(scene, rig, floor=False)
    report = part("jobs.bake").bake_now(scene)
    assert not report.warnings or [each.code for each in report.warnings] == ["will-fall"]
    for name, matrix in before.items():
        pose = report.poses[f"Figure/{name}"][0]
        assert pose == pytest.approx(np.array(matrix), abs=1e-4)  # bones are float32
    turned = report.coordinates["Figure/J_Bip_C_Hips - Figure/J_Bip_L_UpperLeg.r_x"][0]
    assert turned == pytest.approx(0.5, abs=1e-4)


def test_a_ragdoll_falls_and_lies_on_the_floor(part, scene, make):
    humanoid(make, "mixamo")
    scene.frame_end = 60
    assert bpy.ops.condyle.add_ragdoll() == {"FINISHED"}
    report = part("jobs.bake").bake_now(scene)
    heads = report.poses["Figure/mixamorig:Head"]
    assert heads[-1, 2, 3] < 0.5 < heads[0, 2, 3]
    for item in part("data.references").connections_of(scene):
        ground = item.condyle.connection.ground
        name = item.condyle.connection.body
        pose = report.poses[f"Figure/{name.bone_name}"]
        assert (pose[:, 2, 3] > ground.radius - 2e-3).all()


def test_limbs_without_skin_weigh_their_share_of_a_human_body(part, scene, make):
    rig = humanoid(make, "mixamo")
    part("making.ragdolls").add(scene, rig)
    masses = [bone.condyle.body.mass for bone in rig.pose.bones]
    # shares add up to 1 within the table's rounding
    assert sum(masses) == pytest.approx(22.0 * 1.77**2, rel=0.01)


def test_what_is_no_human_figure_is_refused(part, scene, make):
    make.armature("Rig")
    with pytest.raises(RuntimeError, match="use Add Chain"):
        bpy.ops.condyle.add_ragdoll()
    assert not part("data.references").joints_of(scene)


def test_a_bone_that_is_led_is_refused_and_nothing_is_changed(part, scene, make):
    rig = humanoid(make, "rigify_def")
    rig.pose.bones["DEF-hand.L"].constraints.new("COPY_TRANSFORMS").target = make.empty("Target")
    with pytest.raises(RuntimeError, match="Copy Transforms"):
        bpy.ops.condyle.add_ragdoll()
    assert not rig.pose.bones["DEF-spine"].condyle.body.enabled
