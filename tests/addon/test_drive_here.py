"""Sliders that begin where the child stands."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")


def only(item):
    for other in bpy.context.view_layer.objects:
        other.select_set(other == item)
    bpy.context.view_layer.objects.active = item


@pytest.fixture
def drawn(part, scene, make):
    """A keyed knee whose curve was drawn pose by pose: the joint's Empty and its child."""
    thigh, shank = make.keyed_knee()
    body = part("references").Body
    joint = part("authoring").add_joint(scene, body(thigh), body(shank), name="Knee")
    only(joint)
    for frame in (1, 13, 25, 37, 49):
        scene.frame_set(frame)
        assert bpy.ops.condyle.add_control_frame(place="END") == {"FINISHED"}
    return joint, shank


def at(scene, child, frame):
    scene.frame_set(frame)
    bpy.context.view_layer.update()
    return np.array(child.matrix_world)


@pytest.mark.small
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


@pytest.mark.small
def test_a_keyed_slider_begins_where_its_keys_are(scene, drawn):
    joint, _ = drawn
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    joint["coordinate"] = 0.5
    joint.keyframe_insert('["coordinate"]', frame=1)
    assert bpy.ops.condyle.stop_driving() == {"FINISHED"}
    scene.frame_set(49)
    assert bpy.ops.condyle.drive() == {"FINISHED"} and joint["coordinate"] == 0.5
