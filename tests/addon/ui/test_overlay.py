"""The overlay finds the lines of every joint, keeps them while nothing changes, and is quick; looks need a window."""

import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

NUM_TYPES = 25  # joint types that the menus offer


@pytest.fixture
def overlay(part):
    part("ui.overlay.shown").forget()
    return SimpleNamespace(
        shown=part("ui.overlay.shown").shown,
        drawing=part("ui.overlay.drawing"),
        ghosts=part("ui.overlay.ghosts"),
    )


@pytest.fixture
def bead(part, scene, make):
    """A joint that holds a box to the world; `bead(kind)`."""

    def made(kind, name="Joint", place=(0.3, 0.2, 0.1)):
        body = part("data.references").Body(make.box(f"Bead {name}", place))
        make.update()
        return part("making.bodies_and_joints").add_joint(scene, None, body, kind, name=name)

    return made


def curve(part, scene, joint, count):
    for k in range(count):
        pose = np.eye(4)
        pose[:3, 3] = 0.02 * k, 0.3 * np.sin(0.1 * k), 0.1 * np.cos(0.07 * k)
        part("making.bodies_and_joints").add_control_frame(scene, joint, pose)
    bpy.context.view_layer.update()


def roles(known):
    return {role for piece in known.sketch.pieces for role in piece.roles}


def world_lines(overlay, scene, joint):
    return [
        line.moved(piece.place)
        for piece in overlay.drawing.joint_parts(scene, joint, 1.0)
        for line in piece.lines
    ]


@pytest.mark.parametrize("number", range(NUM_TYPES))
def test_every_type_is_drawn(part, scene, make, overlay, bead, number):
    joint = bead("hinge")
    name = make.shaped(part, scene, joint, number)
    make.update()
    known = overlay.shown(scene, joint)
    assert known.sketch is not None, name
    lines = world_lines(overlay, scene, joint)
    assert lines and all(
        np.isfinite(each.ends).all() and len(each.ends) == len(each.colors) for each in lines
    )


@pytest.mark.small
def test_a_drawing_is_kept_until_something_changes(part, scene, make, overlay, bead):
    joint = bead("spline_curve")
    curve(part, scene, joint, 6)
    known = overlay.shown(scene, joint)
    assert overlay.shown(scene, joint) is known and len(known.frames) == 6
    joint.location.x += 0.5  # carries its frames along
    make.update()
    assert overlay.shown(scene, joint) is known
    known.cost = 0.0  # else the next one would have to wait
    joint.condyle.joint.frames[3].object.location.y += 0.1
    make.update()
    moved = overlay.shown(scene, joint)
    assert moved is not known
    path, before = (each.sketch.pieces[0].segments("path") for each in (moved, known))
    assert np.abs(path - before).max() > 0.01
    moved.cost = 0.0
    joint.condyle.joint.coordinates[0].limits = "CUSTOM"
    joint.condyle.joint.coordinates[0].upper = 0.05
    assert overlay.shown(scene, joint) is not moved


@pytest.mark.small
def test_a_hand_that_moves_a_frame_does_not_wait_for_a_slow_drawing(part, scene, make, overlay, bead):
    joint = bead("spline_curve")
    curve(part, scene, joint, 6)
    known = overlay.shown(scene, joint)
    known.cost = 10.0
    joint.condyle.joint.frames[3].object.location.y += 0.1
    make.update()
    assert overlay.shown(scene, joint) is known


def test_a_joint_that_is_not_complete_is_drawn_as_far_as_it_goes(part, scene, make, overlay, bead):
    joint = bead("spline_curve")
    assert overlay.shown(scene, joint).sketch is None and world_lines(overlay, scene, joint) == []
    curve(part, scene, joint, 3)
    overlay.shown(scene, joint).cost = 0.0
    known = overlay.shown(scene, joint)
    assert known.sketch is None and len(known.frames) == 3 and len(world_lines(overlay, scene, joint)) == 1
    joint.condyle.joint.frames[1].object.scale = (1, 2, 1)
    make.update()
    known.cost = 0.0
    assert world_lines(overlay, scene, joint) == []


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_lengths_are_those_of_the_scene(part, scene, make, overlay, bead, scale):
    scene.unit_settings.scale_length = scale
    joint = bead("elliptic")
    joint.condyle.joint.semi_axes = (0.4, 0.2, 0.1)
    make.update()
    path = overlay.shown(scene, joint).sketch.pieces[0].segments("path") / scale
    np.testing.assert_allclose(np.abs(path[..., 0]).max(), 0.4, rtol=1e-3)
    lines = world_lines(overlay, scene, joint)
    widest = max(np.ptp(each.ends[..., 0]) for each in lines)
    np.testing.assert_allclose(widest, 0.8, rtol=0.02)


def test_limits_and_toggles(part, scene, make, overlay, bead):
    joint = bead("hinge")
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", -0.5, 1.0
    assert "limit" in roles(overlay.shown(scene, joint))
    settings = scene.condyle.overlay
    counts = [len(world_lines(overlay, scene, joint))]
    for name in ("show_limits", "show_values", "show_axes"):
        setattr(settings, name, False)
        counts.append(len(world_lines(overlay, scene, joint)))
    assert counts == sorted(counts, reverse=True) and len(set(counts)) == 4 and counts[-1] == 0
    joint.condyle.joint.type = "spherical"
    joint.condyle.joint.ball_limit = "CONE"
    overlay.shown(scene, joint).cost = 0.0
    assert "limit" in roles(overlay.shown(scene, joint))


@pytest.mark.small
def test_the_hand_follows_slider_and_child(part, scene, make, overlay, bead):
    joint = bead("hinge")
    known = overlay.shown(scene, joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint["coordinate"] = 0.4
    make.update()
    hand = overlay.drawing.placed_pieces(scene, joint, known)[1]
    np.testing.assert_allclose(np.arctan2(hand[1, 0], hand[0, 0]), 0.4, atol=1e-6)
    part("making.bodies_and_joints").drive(scene, joint, False)
    child = joint.condyle.joint.child.object
    child.rotation_euler.z += 0.7
    make.update()
    hand = overlay.drawing.placed_pieces(scene, joint, known)[1]
    np.testing.assert_allclose(np.arctan2(hand[1, 0], hand[0, 0]), 0.7, atol=1e-6)


def test_what_is_drawn_follows_a_bake_and_not_the_sliders_under_it(part, scene, make, overlay, bead):
    joint = bead("hinge")
    known = overlay.shown(scene, joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint["coordinate"] = 0.4
    joint.condyle.joint.coordinates[0].start_speed = 1.0
    scene.frame_start, scene.frame_end = 1, 7
    make.update()
    baked = part("jobs.bake").bake_now(scene)
    for frame in (1, 7):
        scene.frame_set(frame)
        hand = overlay.drawing.placed_pieces(scene, joint, known)[1]
        turned = np.arctan2(hand[1, 0], hand[0, 0])
        np.testing.assert_allclose(turned, baked.coordinates["Joint.angle"][frame - 1], atol=1e-6)
    part("jobs.bake").free_bake(scene)
    make.update()
    hand = overlay.drawing.placed_pieces(scene, joint, known)[1]
    np.testing.assert_allclose(np.arctan2(hand[1, 0], hand[0, 0]), 0.4, atol=1e-6)


def test_rings_of_a_gimbal_follow_a_child_that_no_slider_moves(part, scene, make, overlay, bead):
    joint = bead("euler")
    joint.condyle.joint.sequence = "zyx"
    known = overlay.shown(scene, joint)
    child = joint.condyle.joint.child.object
    child.rotation_euler = (0.2, -0.3, 0.5)  # Blender's XYZ: about z first, as seen from the body
    make.update()
    inner = overlay.drawing.placed_pieces(scene, joint, known)
    np.testing.assert_allclose(np.arctan2(inner[1][1, 0], inner[1][0, 0]), 0.5, atol=1e-3)
    child.location.x += 0.5  # off the joint: it is drawn where it starts
    make.update()
    inner = overlay.drawing.placed_pieces(scene, joint, known)
    np.testing.assert_allclose(inner[1], np.eye(4), atol=1e-6)


def test_other_joints_are_dimmed_or_hidden(part, scene, make, overlay, bead):
    first, second = bead("hinge", "First"), bead("slider", "Second", (1, 0, 0))
    bpy.context.view_layer.objects.active = second
    settings = scene.condyle.overlay
    for others, expected in (
        ("SHOWN", [1.0, 1.0]),
        ("DIMMED", [overlay.drawing.DIM, 1.0]),
        ("HIDDEN", [1.0]),
    ):
        settings.others = others
        found = overlay.drawing.visible_joints(bpy.context)
        assert [strength for _, strength in found] == expected and found[-1][0] == second
    first.hide_set(True)
    settings.others = "SHOWN"
    assert [item for item, _ in overlay.drawing.visible_joints(bpy.context)] == [second]
    settings.show = False
    assert overlay.drawing.visible_joints(bpy.context) == []


def test_numbers_leave_each_other_room(overlay):
    points = np.array([[0, 0, 0], [0.001, 0, 0], [0.5, 0, 0], [2, 0, 0], [0, 0.5, 0]], dtype=float)
    view = np.eye(4)
    assert [number for number, _, _ in overlay.drawing.number_places(points, view, 800, 600)] == [0, 2, 4]
    many = np.column_stack([np.linspace(-0.9, 0.9, 200), np.zeros(200), np.zeros(200)])
    numbers = [number for number, _, _ in overlay.drawing.number_places(many, view, 1600, 600)]
    assert numbers == list(range(0, 200, 10))
    behind = np.diag([1.0, 1.0, 1.0, -1.0])
    assert overlay.drawing.number_places(points, behind, 800, 600) == []


def test_ghosts_are_green_where_the_fit_is_good_and_red_where_it_is_not(part, scene, make, overlay, bead):
    joint = bead("spline_curve")
    curve(part, scene, joint, 5)
    fit = joint.condyle.joint.fit
    for k, (distance, angle) in enumerate([(0.0, 0.0), (2.0, 0.0), (4.0, 0.01), (1.0, 0.02)]):
        row = fit.residuals.add()
        row.distance, row.angle = distance, angle
        pose = np.eye(4)
        pose[0, 3] = 0.1 * k
        row.pose = pose.ravel()
    fit.show_ghosts = True
    assert overlay.ghosts.wanted(joint)
    share = overlay.ghosts.shares(*overlay.ghosts.residuals_of(joint)[:2])
    np.testing.assert_allclose(share, [0.0, 0.5, 1.0, 1.0], atol=1e-6)
    colors = overlay.ghosts.colors_of(share, 1.0)
    np.testing.assert_allclose(colors[0, :3], overlay.ghosts.GOOD)
    np.testing.assert_allclose(colors[2, :3], overlay.ghosts.BAD)
    lines = [each for each in world_lines(overlay, scene, joint) if len(each.ends) == 4 * (3 + 12)]
    assert len(lines) == 1
    fit.show_ghosts = False
    assert not overlay.ghosts.wanted(joint)


def test_ghosts_of_a_bone_are_as_large_as_the_bone(part, scene, make, body, authoring, overlay):
    """They were a cross of axes alone, which nobody saw beside the bone."""
    rig = make.armature(
        "Rig", {"Thigh": ((0, 0, 1), (0, 0, 0.5), None), "Shin": ((0, 0, 0.5), (0, 0, 0), "Thigh")}
    )
    rig.scale = (2, 2, 2)
    make.update()
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), name="Knee")
    curve(part, scene, joint, 5)
    row = joint.condyle.joint.fit.residuals.add()
    row.pose = np.eye(4).ravel()
    known = part("ui.overlay.shown").shown(scene, joint)
    ends, colors = overlay.ghosts.lines(joint, known, 0.01)
    assert ends.shape == (12 + 3, 2, 3) and len(colors) == 15
    np.testing.assert_allclose(ends[..., 1].max(), 1.0, rtol=1e-6)  # the rig is twice as large as its bones


def test_round_off_of_a_perfect_fit_is_green(overlay):
    np.testing.assert_allclose(
        overlay.ghosts.shares(np.array([1e-5, 2e-5]), np.array([1e-7, 3e-7])), 0.0, atol=0.01
    )


def test_two_hundred_control_frames_cost_a_redraw_little(part, scene, make, overlay, bead):
    joint = bead("spline_curve")
    curve(part, scene, joint, 200)
    bpy.context.view_layer.objects.active = joint

    def redraw():
        began = time.process_time()
        for item, strength in overlay.drawing.visible_joints(bpy.context):
            list(overlay.drawing.joint_parts(scene, item, strength))
        return time.process_time() - began

    redraw()
    # measured 0.4 ms of the processor
    assert min(redraw() for _ in range(20)) < 2e-2


def test_lines_of_nothing_are_no_batch(overlay):
    """Blender takes no batch without points: the drawing would end there, and all else with it."""
    brush = overlay.drawing.Brush.__new__(overlay.drawing.Brush)
    brush.shader, brush.passes = None, (("NONE", 1.0),)
    brush._batch = lambda shader, kind, content: len(content["pos"])
    lines = overlay.drawing.Lines
    nothing, one = np.empty((0, 2, 3)), np.zeros((1, 2, 3))
    made = brush.made(
        [
            lines(1.0, nothing, np.empty((0, 4))),
            lines(2.0, nothing, np.empty((0, 4))),
            lines(2.0, one, np.ones((1, 4))),
        ]
    )
    assert made == [(2.0, [2])]


@pytest.mark.parametrize("closed", [False, True])
def test_ghosts_know_that_the_curve_has_changed_since_the_fit(part, scene, make, overlay, bead, closed):
    joint = bead("spline_curve")
    curve(part, scene, joint, 8)
    joint.condyle.joint.periodic = closed
    known = overlay.shown(scene, joint)
    fit = joint.condyle.joint.fit
    for q in np.linspace(*known.joint.domain, 4):
        row = fit.residuals.add()
        row.q = (q, 0.0, 0.0)
        row.pose = known.joint.transform([q]).ravel()
    found = overlay.ghosts.passing(joint, known)
    assert not found.changed and not found.distances.any() and not found.angles.any()
    joint.condyle.joint.frames[4].object.location.y += 0.05
    bpy.context.view_layer.update()
    known.made = 0.0  # long ago: a drawing is not made again while the hand moves
    found = overlay.ghosts.passing(joint, overlay.shown(scene, joint))
    assert found.changed
    # mm: a curve stays within the hull of its control frames
    assert (0.1 if closed else 1.0) < found.distances.max() < 60.0
    nearest = (
        part("blender.physics_access")
        .part("kinematics.projection")
        .project(
            overlay.shown(scene, joint).joint, np.array([row.pose for row in fit.residuals]).reshape(-1, 4, 4)
        )
    )
    exact = 1e3 * nearest.translation
    # straight lines between 65 places of a curve with 5 spans are off by (1/13 of a span)^2 / 8 of the way in a span
    # (the closed one bends more at its seam)
    np.testing.assert_allclose(found.distances, exact, rtol=0.02, atol=0.1 if closed else 0.02)
    red = overlay.ghosts.shares(found.distances, found.angles).argmax()
    assert red == found.distances.argmax() and (closed or found.distances[0] < overlay.ghosts.LEAST_DISTANCE)
