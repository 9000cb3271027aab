"""Joints that are added by hand: where they stand, about what they turn, and that they move at the first bake."""

import bpy
import numpy as np
import pytest

from ..chain_rigs import select_bones

#: an elbow that is bent in the plane of x and z, with bones rolled anyhow
ELBOW = {"Upper": ((0, 0, 1), (0.3, 0, 1), None), "Fore": ((0.3, 0, 1), (0.55, 0, 1.1), "Upper")}


def add(*items, kind="hinge"):
    bpy.ops.object.select_all(action="DESELECT")
    for item in items:
        item.select_set(True)
        bpy.context.view_layer.objects.active = item
    assert bpy.ops.condyle.add_joint(kind=kind) == {"FINISHED"}


def the_joint(part, scene):
    (item,) = part("data.references").joints_of(scene)
    return item


def world_axis(item):
    return np.array(item.matrix_world)[:3, :3] @ np.array(item.condyle.joint.axis)


def test_a_hinge_of_an_elbow_turns_across_its_bend(part, scene, make):
    rig = make.armature("Rig", ELBOW)
    select_bones(rig, "Fore")
    bpy.ops.condyle.add_joint(kind="hinge")
    item = the_joint(part, scene)
    assert item.matrix_world.translation[:] == pytest.approx((0.3, 0.0, 1.0), abs=1e-6)
    assert world_axis(item) == pytest.approx((0.0, -1.0, 0.0), abs=1e-5)  # flexion lifts the hand


def test_of_straight_bones_a_hinge_turns_about_their_x(part, scene, make):
    rig = make.armature("Rig")
    rig.pose.bones["A"].rotation_mode, rig.pose.bones["A"].rotation_euler = "XYZ", (0.4, 0.1, 0.0)
    make.update()
    select_bones(rig, "B")
    bpy.ops.condyle.add_joint(kind="hinge")
    assert the_joint(part, scene).condyle.joint.axis[:] == pytest.approx((1.0, 0.0, 0.0), abs=1e-5)


@pytest.mark.parametrize("kind", ["hinge", "spherical"])
def test_between_two_objects_a_joint_stands_in_the_gap_and_moves(part, scene, make, kind):
    wall, arm = make.box("Wall", (0, 0, 1), (0.2, 0.2, 0.4)), make.box("Arm", (0.42, 0, 1.1), (0.6, 0.1, 0.1))
    arm.rotation_euler = (0.0, 0.0, 0.2)
    make.update()
    add(arm, wall, kind=kind)
    item = the_joint(part, scene)
    place = np.array(item.matrix_world.translation)
    gap = (0.42 - 0.3 * np.cos(0.2) + np.array([-1.0, 1.0]) * 0.05 * np.sin(0.2)).min()
    # between the wall and the corner next to it
    assert place[0] == pytest.approx(0.5 * (0.1 + gap), abs=2e-3)
    scene.frame_end = 12
    report = part("jobs.bake").bake_now(scene)
    moved = report.poses["Arm"][:, 2, 3]
    assert moved[-1] < moved[0] - 0.05


def test_bodies_that_touch_are_joined_in_the_middle_of_what_they_share(part, scene, make):
    upper, lower = make.box("Upper", (0, 0, 1), (0.1, 0.1, 1)), make.box("Lower", (0, 0, 0.1), (0.1, 0.1, 1))
    add(lower, upper)
    item = the_joint(part, scene)
    assert item.matrix_world.translation[:2] == pytest.approx((0.0, 0.0), abs=1e-6)
    assert 0.5 <= item.matrix_world.translation.z <= 0.6
    assert abs(world_axis(item)[0]) == pytest.approx(1.0)


def test_a_wheel_on_the_world_turns_about_its_origin(part, scene, make):
    wheel = make.box("Wheel", (0, 0, 1), (0.5, 0.5, 0.1))
    add(wheel)
    item = the_joint(part, scene)
    assert item.matrix_world.translation[:] == pytest.approx((0.0, 0.0, 1.0))
    assert item.condyle.joint.axis[:] == (0.0, 0.0, 1.0)
