"""Sliders that begin where the child stands."""

from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from ..selecting import select

pytestmark = pytest.mark.small


@pytest.fixture
def drawn(part, scene, make, body):
    """A keyed knee whose curve was drawn pose by pose: the joint's Empty and its child."""
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    select(joint)
    for frame in (1, 13, 25, 37, 49):
        scene.frame_set(frame)
        assert bpy.ops.condyle.add_control_frame(place="END") == {"FINISHED"}
    return joint, shank


def at(scene, child, frame):
    scene.frame_set(frame)
    bpy.context.view_layer.update()
    return np.array(child.matrix_world)


@pytest.mark.parametrize("operator", ["drive", "drive_all"])
@pytest.mark.parametrize(("frame", "limit"), [(1, 1e-5), (22, 6e-3), (49, 1e-5)])
def test_a_curve_drawn_by_hand_is_driven_from_where_the_child_stands(scene, drawn, operator, frame, limit):
    joint, shank = drawn
    before = at(scene, shank, frame)
    assert getattr(bpy.ops.condyle, operator)() == {"FINISHED"}
    bpy.context.view_layer.update()
    # on its ends the curve passes the child's poses, between them it comes near
    assert np.abs(np.array(shank.matrix_world) - before).max() < limit
    joint["coordinate"] += 0.2 if frame == 1 else -0.2
    value = joint["coordinate"]
    assert bpy.ops.condyle.drive() == {"FINISHED"} and joint["coordinate"] == value  # only renewed


def test_a_keyed_slider_begins_where_its_keys_are(scene, drawn):
    joint, _ = drawn
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    joint["coordinate"] = 0.5
    joint.keyframe_insert('["coordinate"]', frame=1)
    assert bpy.ops.condyle.stop_driving() == {"FINISHED"}
    scene.frame_set(49)
    assert bpy.ops.condyle.drive() == {"FINISHED"} and joint["coordinate"] == 0.5


@pytest.mark.parametrize("operator", ["drive", "drive_all"])
@pytest.mark.parametrize("kind", ["hinge", "universal", "spherical", "euler", "slider", "composite"])
def test_the_sliders_of_any_joint_begin_where_the_child_was_turned_to(
    part, scene, make, authoring, operator, kind
):
    bob = make.box("Bob", (0, 0, -0.3))
    joint = authoring.add_joint(scene, None, part("data.references").Body(bob), kind, np.eye(4))
    settings = joint.condyle.joint
    settings.axis = (0, 1, 0)
    settings.axis_2 = (1, 0, 0)
    for part_of_it in ("hinge", "slider") if kind == "composite" else ():
        settings.parts.add().type = part_of_it
        settings.parts[-1].axis = (0, 1, 0)
    part("data.joints").match_coordinates(settings)
    authoring.take_rest_pose(joint)
    rows = settings.coordinates
    rows[0].start = 0.1  # of the simulation, not of the pose
    if kind == "slider":
        bob.location.y = 0.2
    else:
        bob.location, bob.rotation_euler = (-0.3 * np.sin(0.4), 0, -0.3 * np.cos(0.4)), (0, 0.4, 0)
    make.update()
    before = np.array(bob.matrix_world)
    select(joint)
    assert getattr(bpy.ops.condyle, operator)() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert np.abs(np.array(bob.matrix_world) - before).max() < 2e-6
    assert rows[0].start == pytest.approx(0.1)


def test_a_child_off_its_joint_begins_nearby_and_one_in_place_keeps_the_sliders_turns(
    part, scene, make, authoring
):
    bob = make.box("Bob", (0, 0, -0.3))
    joint = authoring.add_joint(scene, None, part("data.references").Body(bob), "hinge", np.eye(4))
    joint.condyle.joint.axis = (0, 1, 0)
    select(joint)
    assert bpy.ops.condyle.drive() == {"FINISHED"} and joint["coordinate"] == 0.0
    joint["coordinate"] = 2.0 * np.pi
    assert bpy.ops.condyle.stop_driving() == {"FINISHED"}
    assert bpy.ops.condyle.drive() == {"FINISHED"} and joint["coordinate"] == pytest.approx(2.0 * np.pi)
    assert bpy.ops.condyle.stop_driving() == {"FINISHED"}
    bob.rotation_euler = (0.2, 2.0 * np.pi + 0.4, 0)
    make.update()
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(2.0 * np.pi + 0.4, abs=0.1)


def test_a_bead_stays_where_it_is_when_its_joint_becomes_a_composite_one(part, scene, make):
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.0)
    wire, bead = bpy.context.object, make.box("Bead", (0.6, -0.7, 0), (0.1, 0.1, 0.1))
    select(wire)
    bead.select_set(True)
    assert bpy.ops.condyle.add_preset(preset="bead") == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    select(joint)
    session, settings = part("blender.session"), joint.condyle.joint
    names = part("data.joints").slider_names
    before, start = np.array(bead.matrix_world), joint[names(settings)[0]]
    assert start > 0.5
    session.tell("")
    assert bpy.ops.condyle.choose_type(kind="composite") == {"FINISHED"}
    assert bpy.ops.condyle.add_part(kind="spline_curve") == {"FINISHED"}
    assert bpy.ops.condyle.add_part(kind="hinge") == {"FINISHED"}
    bpy.context.view_layer.update()
    assert session.message == ""
    assert np.abs(np.array(bead.matrix_world) - before).max() < 1e-5
    assert [joint[name] for name in names(settings)] == pytest.approx([start, 0.0], abs=1e-4)


def test_a_composite_joint_without_parts_shows_what_to_do(part, scene, make, authoring):
    bob = make.box("Bob")
    joint = authoring.add_joint(scene, None, part("data.references").Body(bob), "composite", np.eye(4))
    select(joint)
    layout = MagicMock()
    part("ui.joints.panels").JointPanel._draw_shape(MagicMock(), layout, joint.condyle.joint)
    drawn = [call.kwargs.get("text") for call in layout.label.call_args_list]
    assert "Add its parts from parent to child" in drawn


@pytest.mark.parametrize(
    ("kind", "limits", "stands", "expected"),
    [
        ("hinge", (0.0, 1.5), -0.01, 0.0),
        ("hinge", (0.0, 1.5), 1.6, 1.5),
        ("hinge", (5.0, 7.0), 0.2, 2.0 * np.pi + 0.2),  # a turn farther is the same place
        ("hinge", None, 3.0, 3.0),
        ("slider", (0.0, 0.2), -0.05, 0.0),
        ("slider", (0.0, 0.2), 3.0, 0.2),
        ("slider", None, 15.0, 15.0),
    ],
)
def test_a_child_beyond_a_limit_goes_to_the_nearer_end(
    part, scene, make, authoring, kind, limits, stands, expected
):
    bob = make.box("Bob", (0, 0, -0.3))
    joint = authoring.add_joint(scene, None, part("data.references").Body(bob), kind, np.eye(4))
    joint.condyle.joint.axis = (0, 1, 0)
    row = joint.condyle.joint.coordinates[0]
    if limits is not None:
        row.limits, (row.lower, row.upper) = "CUSTOM", limits
    if kind == "slider":
        bob.location.y = stands
    else:
        bob.location, bob.rotation_euler = (-0.3 * np.sin(stands), 0, -0.3 * np.cos(stands)), (0, stands, 0)
    make.update()
    select(joint)
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(expected, abs=1e-5)  # single precision of poses
