"""Ragdolls: parts by the names of known rigs, limits, what is refused, and that they fall and stay on the floor."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ..chain_rigs import FIGURE, NAMINGS, humanoid
from ..keying import make_keys, set_keys


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
        # flexion counts from straight limbs, the coordinate from the rest pose: knees of some rigs rest bent by 50°
        bone = rig.data.bones[child.bone]
        bend = bone.matrix_local.col[1].to_3d().angle(bone.parent.matrix_local.col[1].to_3d())
        assert (settings.coordinates[0].lower, settings.coordinates[0].upper) == pytest.approx(
            (math.radians(-3.0) - bend, math.radians(140.0 if "Leg" in child.bone else 145.0) - bend),
            abs=1e-6,
        )
    assert len(tips) == 4
    for side in ("Left", "Right"):
        assert tips[f"mixamorig:{side}Leg"][1] > 0.5  # the figure looks along -y: shins go back
        assert tips[f"mixamorig:{side}ForeArm"][1] < -0.5


def test_limits_are_from_the_rest_pose_and_it_starts_in_its_pose(part, scene, make):
    rig = humanoid(make, "vrm")
    bone = rig.pose.bones["J_Bip_L_UpperLeg"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.5, 0.0, 0.0)
    twisted = rig.pose.bones["J_Bip_L_LowerArm"]  # as no hinge can be
    twisted.rotation_mode, twisted.rotation_euler = "XYZ", (0.3, 0.4, 0.2)
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


def test_a_humanoid_of_60_bones_falls_in_three_actions_and_sinks_into_nothing(part, scene, make):
    more = {
        f"mixamorig:{side}HandIndex{number}": (
            (sign * 0.85, 0, 1.42),
            (sign * 0.9, 0, 1.42),
            f"mixamorig:{side}Hand",
        )
        for side, sign in (("Left", 1), ("Right", -1))
        for number in range(1, 22)
    }
    rig = humanoid(make, "mixamo", more)
    assert len(rig.data.bones) >= 60
    scene.frame_end = 60
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    actions = [
        lambda: setattr(bpy.context.view_layer.objects, "active", rig),  # a click on it
        bpy.ops.condyle.add_ragdoll,
        bpy.ops.condyle.bake,
    ]
    for action in actions[:2]:
        assert action() in (None, {"FINISHED"})
    pairs = _pairs(part, scene)
    assert actions[2]() == {"FINISHED"}
    assert len(actions) <= 3
    deepest = {"floor": 0.0, "limbs": 0.0}
    for frame in range(1, 61):
        scene.frame_set(frame)
        for name, depth in _depths(rig, pairs):
            deepest[name] = max(deepest[name], depth)
    assert rig.pose.bones["mixamorig:Head"].matrix.translation.z < 0.5
    assert len(pairs) > 100
    # contacts are solved to their slop within a step, the bones stored as float32
    assert max(deepest.values()) < 1e-3, deepest


def test_two_ragdolls_share_a_floor_that_goes_with_the_scenes_clean_up(part, scene, make):
    for place in (0.0, 2.0):
        rig = humanoid(make, "vrm")
        rig.location.x = place
        make.update()
        part("making.ragdolls").add(scene, rig)
    floors = [item for item in scene.objects if item.condyle.collider.enabled]
    assert [item.condyle.collider.shape for item in floors] == ["PLANE"]
    assert bpy.ops.condyle.clean_up(scope="SCENE") == {"FINISHED"}
    assert {item.type for item in scene.objects} == {"ARMATURE"}


def _pairs(part, scene):
    """The pairs of colliders that may touch, of what no joint connects."""
    model = part("reading.scene").read(scene).model
    parents = [each.parent for each in model.bodies]
    may_touch = part("reading.colliders").may_touch
    return [
        (one, other)
        for number, one in enumerate(model.colliders)
        for other in model.colliders[:number]
        if may_touch(one, other)
        if min(one.body, other.body) < 0
        or (one.body not in (other.body, parents[other.body]) and other.body != parents[one.body])
    ]


def _depths(rig, pairs):
    """How deep limbs are in the floor and in one another now."""

    def ends(solid):
        axis = np.outer((-1.0, 1.0), solid.pose[:3, 2]) * solid.shape.half_length + solid.pose[:3, 3]
        return [np.array(rig.pose.bones[solid.name.partition("/")[2]].matrix @ Vector(end)) for end in axis]

    for one, other in pairs:
        planes = [each for each in (one, other) if each.body < 0]
        limbs = [each for each in (one, other) if each.body >= 0]
        if planes:
            yield (
                "floor",
                limbs[0].shape.radius + planes[0].pose[2, 3] - min(end[2] for end in ends(limbs[0])),
            )
            continue
        along = np.linspace(0.0, 1.0, 41)[:, None]
        places = [first + along * (last - first) for first, last in map(ends, limbs)]
        away = np.linalg.norm(places[0][:, None] - places[1], axis=2).min()
        yield "limbs", sum(each.shape.radius for each in limbs) - float(away)


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


def test_a_bone_that_cannot_be_keyed_is_refused_and_nothing_is_changed(part, scene, make):
    rig = humanoid(make, "rigify_def")
    rig.pose.bones["DEF-hand.L"].driver_add("location", 0)
    with pytest.raises(RuntimeError, match="a driver on"):
        bpy.ops.condyle.add_ragdoll()
    assert not rig.pose.bones["DEF-spine"].condyle.body.enabled


def test_a_led_figure_falls_from_the_pose_and_speed_that_constraints_give_it(part, scene, make):
    """The bake mutes them, and Free Bake gives them back. A "Root" is no pelvis where there are hips."""
    rig = humanoid(make, "vrm", {"Root": ((0, 0, 0), (0, -0.3, 0), None)})
    assert part("making.humanoid_bones").parts(rig)[0].name == "J_Bip_C_Hips"
    scene.frame_start, scene.frame_end = 1, 6
    target = rig.pose.bones["Root"]
    target.rotation_mode = "XYZ"
    set_keys(target, "rotation_euler", {1: 0.3, 13: 0.9}, axis=0)
    make_keys(rig, "LINEAR")
    copy = rig.pose.bones["J_Bip_L_UpperLeg"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.target_space, copy.owner_space = rig, "Root", "LOCAL", "LOCAL"
    scene.frame_set(1)
    shown = np.array(rig.matrix_world @ rig.pose.bones["J_Bip_L_UpperLeg"].matrix)
    bpy.ops.condyle.add_ragdoll()
    report = part("jobs.bake").bake_now(scene)
    assert report.poses["Figure/J_Bip_L_UpperLeg"][0] == pytest.approx(shown, abs=1e-5)
    at = list(report.coordinates).index("Figure/J_Bip_C_Hips - Figure/J_Bip_L_UpperLeg.r_x")
    assert report.result.qd[0][at] == pytest.approx(0.6 * 24 / 12, abs=5e-3)  # rad/s
    assert copy.mute
    scene.frame_set(1)
    assert np.array(rig.matrix_world @ rig.pose.bones["J_Bip_L_UpperLeg"].matrix) == pytest.approx(
        shown, abs=1e-5
    )
    part("jobs.bake").free_bake(scene)
    assert not copy.mute
