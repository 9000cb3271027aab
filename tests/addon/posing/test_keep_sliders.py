"""Joints that are added to chains which sliders move already."""

import bpy
import numpy as np
import pytest

from ..selecting import select


@pytest.fixture
def chain(scene, make):
    """Boxes A, B and C under one another, B driven on A; and a function that joins a child to a parent."""
    boxes = [make.box(name, (0, 0, 1 - 0.4 * number)) for number, name in enumerate("ABC")]

    select(boxes[1], boxes[0])
    assert bpy.ops.condyle.add_preset(preset="hinge") == {"FINISHED"}
    return boxes, select


def carried_along(scene, parent, child):
    """Turn the hinge of the chain; whether the child keeps its place on its parent, which moved by this much."""
    hinge = next(item for item in scene.objects if "coordinate" in item)
    before, there = np.linalg.inv(parent.matrix_world) @ np.array(child.matrix_world), child.location.copy()
    hinge["coordinate"] = 0.6
    hinge.update_tag()
    bpy.context.view_layer.update()
    after = np.linalg.inv(parent.matrix_world) @ np.array(child.matrix_world)
    return np.abs(after - before).max() < 1e-6, (child.matrix_world.translation - there).length


@pytest.mark.small
@pytest.mark.parametrize("kind", ["fixed", "hinge", "chosen later"])
def test_a_joint_added_to_a_chain_that_sliders_move_goes_along_at_once(scene, chain, kind):
    (_, b, c), select = chain
    select(c, b)
    assert bpy.ops.condyle.add_joint(kind="spline_curve" if " " in kind else kind) == {"FINISHED"}
    if " " in kind:
        assert bpy.ops.condyle.choose_type(kind="fixed") == {"FINISHED"}
    stays, moved = carried_along(scene, b, c)
    assert stays and moved > 0.1
    assert bpy.ops.condyle.add_target() == {"FINISHED"}


@pytest.mark.small
@pytest.mark.parametrize("why", ["curve", "keys", "child"])
def test_a_joint_waits_for_its_sliders_where_it_is_no_curve_yet_or_they_would_hide_a_motion(
    part, scene, chain, why
):
    (_, b, c), select = chain
    if why == "keys":
        c.keyframe_insert("location", frame=1)
    if why == "child":
        c.parent, c.matrix_parent_inverse = b, b.matrix_world.inverted()
        bpy.context.view_layer.update()
    select(c, b)
    assert bpy.ops.condyle.add_joint(kind="spline_curve" if why == "curve" else "hinge") == {"FINISHED"}
    joint = part("data.references").joint_of(scene, part("data.references").Body(c))
    assert not joint.condyle.joint.driven and not c.constraints
