"""Axes that a child turns about all along its joint, and its outlines there."""

import bpy
import numpy as np
import pytest

pytestmark = pytest.mark.small


@pytest.fixture
def overlay(part):
    part("ui.overlay.shown").forget()
    return part("ui.overlay.drawing"), part("ui.overlay.shown"), part("ui.overlay.swept")


def parts_of(overlay, scene, joint):
    return list(overlay[0].joint_parts(scene, joint, 1.0))


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_axis_of_a_turn_about_a_point_goes_through_it(scene, make, body, authoring, overlay, scale):
    """Frames on a circle about a line: the axis is that line everywhere on the curve, to what a cubic misses of it."""
    scene.unit_settings.scale_length = 1.0 / scale
    joint = authoring.add_joint(
        scene, None, body(make.box("Link", size=np.full(3, 0.2 * scale))), matrix=np.eye(4).tolist()
    )
    middle = np.array((0.1, 0.0, 0.3)) * scale
    for turn in np.linspace(0.0, 2.0, 9):
        pose = make.on_ball(turn, 0.0, 0.4 * scale)
        pose[:3, 3] += middle
        authoring.add_control_frame(scene, joint, pose)
    known = overlay[1].shown(scene, joint)
    ends = overlay[2].axes(joint, known, 0.1 * scale)
    assert ends.shape == (overlay[2].AXES, 2, 3)
    along = ends[:, 1] - ends[:, 0]
    assert np.allclose(np.abs(along[:, 0]), 0.2 * scale, rtol=1e-4)  # about x
    assert np.abs(ends[:, :, 1:] - middle[1:]).max() < 1e-4 * scale


def test_axes_and_outlines_are_drawn_as_wished_and_kept(part, scene, make, body, overlay):
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    part("jobs.bake").fit_now(scene, joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    settings = scene.condyle.overlay
    settings.show_swept = False
    bare = len(parts_of(overlay, scene, joint))
    settings.show_swept = settings.show_poses = True
    first, second = parts_of(overlay, scene, joint), parts_of(overlay, scene, joint)
    assert len(first) == bare + 2  # what stands, and the axis of now
    assert all(one.lines is two.lines for one, two in zip(first, second))  # nothing is made again
    swept = overlay[2]
    lines = [each for entry in first for each in entry.lines]
    outlines = next(
        each for each in lines if len(each.ends) == swept.POSES * len(part("ui.overlay.ghosts").EDGES)
    )
    # the first outline is the child's box where the slider is at its lower end
    joint["coordinate"] = joint.id_properties_ui("coordinate").as_dict()["min"]
    joint.update_tag()
    bpy.context.view_layer.update()
    corners = [shank.matrix_world @ part_of for part_of in map(vector, shank.bound_box)]
    world = outlines.moved(np.array(joint.matrix_world)).ends[:12].reshape(-1, 3)
    gaps = np.linalg.norm(world[:, None] - np.array(corners)[None], axis=2).min(axis=1)
    assert gaps.max() < 1e-5
    joint["coordinate"] += 0.5
    third = parts_of(overlay, scene, joint)
    assert sum(one.lines is not two.lines for one, two in zip(first, third)) == 1  # the axis of now


def vector(corner):
    from mathutils import Vector

    return Vector(corner)


def test_a_hinge_has_one_axis_only_and_draws_it_itself(part, scene, make, authoring, overlay):
    joint = authoring.add_joint(scene, None, part("data.references").Body(make.box("Door")), "hinge")
    known = overlay[1].shown(scene, joint)
    assert len(overlay[2].axes(joint, known, 0.1)) == 0
    (line,) = overlay[2].now(known, 0.5)
    assert np.allclose(line[:, :2], 0.0) and abs(line[1, 2] - line[0, 2]) > 0.0


def test_a_bone_has_the_outline_of_a_bone_and_a_slider_no_axis(scene, make, body, authoring, overlay):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0.1, 0), "A")})
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "slider", name="Piston")
    settings = scene.condyle.overlay
    settings.show_swept = settings.show_poses = True
    known = overlay[1].shown(scene, joint)
    assert len(overlay[2].axes(joint, known, 0.1)) == 0
    corners, edges = overlay[2].outline(joint)
    assert corners[:, 1].max() == pytest.approx(rig.data.bones["B"].length) and len(edges) == 12
    assert len(overlay[2].outlines(joint, known)) == overlay[2].POSES * 12
