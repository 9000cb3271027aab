"""Children whose origins or transforms are set anew under their sliders: their meshes jump, and that is told."""

import bpy
import numpy as np
import pytest

from ..selecting import select

pytestmark = pytest.mark.small


@pytest.fixture
def knee(scene, make, body, authoring):
    """A turned shank, its mesh below its origin, on a driven hinge."""
    thigh, shank = make.box("Thigh", (0, 0, 0.7)), make.box("Shank", (0, 0, 0.5))
    for vertex in shank.data.vertices:
        vertex.co.z -= 0.2
    shank.rotation_euler = (0.2, 0.3, 0.0)
    make.update()
    joint = authoring.add_joint(scene, body(thigh), body(shank), "hinge", name="Knee")
    authoring.drive(scene, joint, True)
    make.update()
    return thigh, shank, joint


def told(part, scene):
    return [each for each in part("jobs.scene_checks").check(scene) if each.code.startswith("mesh-moved")]


def corners(item):
    """Where Blender shows its vertices."""
    bpy.context.view_layer.update()
    return np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])


STEPS = {
    "origin": lambda: bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY"),
    "rotation": lambda: bpy.ops.object.transform_apply(location=False, rotation=True, scale=False),
    "location": lambda: bpy.ops.object.transform_apply(location=True, rotation=False, scale=False),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_moves_a_mesh_under_its_joint_is_told_until_it_is_put_right(part, scene, knee, step):
    _, shank, joint = knee
    assert told(part, scene) == []
    before = corners(shank)
    select(shank)
    STEPS[step]()
    assert np.abs(corners(shank) - before).max() > 0.05
    (found,) = told(part, scene)
    assert (found.code, found.values["body"], found.values["joint"]) == ("mesh-moved", "Shank", "Knee")
    part("making.bodies_and_joints").drive(scene, joint, False)
    bpy.context.view_layer.update()
    part("making.bodies_and_joints").take_rest_pose(joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    assert np.abs(corners(shank) - before).max() < 1e-5
    assert told(part, scene) == []


def test_scale_that_is_applied_and_shapes_that_are_edited_are_not_told(part, scene, make, body):
    thigh, shank = make.box("Thigh", (0, 0, 0.7)), make.box("Shank", (0, 0, 0.3))
    shank.scale = (2, 2, 2)
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), "hinge", name="Knee")
    select(shank)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    make.update()
    assert told(part, scene) == []
    shank.data.vertices[0].co.x += 0.1
    assert told(part, scene) == []
    for vertex in shank.data.vertices:
        vertex.co *= 1.5
    assert told(part, scene) == []


def test_children_without_meshes_and_joints_of_earlier_files_are_left_alone(part, scene, make, body, knee):
    _, shank, joint = knee
    joint.condyle.property_unset("rest")
    select(shank)
    STEPS["origin"]()
    assert told(part, scene) == []
    empty = make.empty("Foot")
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(shank), body(empty), "hinge", name="Ankle")
    assert bpy.data.objects["Ankle"].condyle.rest.vertices == 0 and told(part, scene) == []
