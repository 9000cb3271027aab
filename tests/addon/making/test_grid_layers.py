"""The third direction of a surface: layers as a third coordinate or as time, added and removed by the buttons."""

import bpy
import numpy as np
import pytest

from ..selecting import why_not


@pytest.fixture
def glide(scene, make, body, authoring):
    """A plate that glides on a box, with a grid of 4 x 4 around it; the joint is active."""
    chest = make.box("Chest", (0.1, 0.2, 0.3), (0.3, 0.2, 0.4))
    plate = make.box("Plate", (0.1, -0.1, 0.35), (0.1, 0.02, 0.12))
    joint = authoring.add_joint(scene, body(chest), body(plate), "spline_surface", name="Glide")
    bpy.context.view_layer.objects.active = joint
    assert bpy.ops.condyle.make_grid(rows=4, columns=4) == {"FINISHED"}
    return scene, joint, plate


def read(part, scene):
    """The surface as a simulation sees it."""
    (found,) = part("reading.scene").read(scene).model.bodies
    return found.joint


@pytest.mark.small
def test_a_third_direction_leaves_the_surface_as_its_first_layer(part, glide, ph):
    scene, joint, _ = glide
    settings, grids = joint.condyle.joint, part("making.frame_grids")
    flat, before = read(part, scene), grids.poses(scene, joint)
    own = [frame.object for frame in settings.frames]
    settings.coordinates[1].damping = 0.5
    assert bpy.ops.condyle.add_third_direction(apart=0.02, turn=0.1) == {"FINISHED"}
    assert bpy.ops.condyle.add_third_direction.poll()  # or nothing of it could be adjusted
    assert tuple(settings.grid) == (4, 4, 4) and grids.complete(settings)
    assert [settings.frames[4 * k].object for k in range(16)] == own
    assert own[5].name == "Glide Row 01 Column 01 Layer 00"
    after = grids.poses(scene, joint)
    assert np.allclose(after[:, :, 0], before[:, :, 0], atol=1e-6)
    step = ph.lie.exp(np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.02]))
    assert np.allclose(after[:, :, 1:], after[:, :, :-1] @ step, atol=1e-5)
    solid = read(part, scene)
    assert solid.num_coordinates == 3 and solid.prescribed == (False, False, False)
    assert [row.label for row in settings.coordinates] == ["q_1", "q_2", "q_3"]
    assert settings.coordinates[1].damping == 0.5 and settings.coordinates[2].limits == "RANGE"
    places = np.random.default_rng(0).uniform(0.0, 1.0, (5, 3))
    places[:, 2] = 0.0  # Empties are float32
    assert np.allclose(solid.transform(places), flat.transform(places[:, :2]), atol=1e-5)


@pytest.mark.small
def test_a_frame_of_a_later_layer_moves_only_what_lies_there(part, glide):
    scene, joint, _ = glide
    settings = joint.condyle.joint
    assert bpy.ops.condyle.add_third_direction() == {"FINISHED"}
    before = read(part, scene)
    lifted = settings.frames[np.ravel_multi_index((1, 1, 3), tuple(settings.grid))].object
    lifted.location.x += 0.05
    bpy.context.view_layer.update()
    after = read(part, scene)
    low, high = np.array([0.4, 0.4, 0.0]), np.array([0.4, 0.4, 1.0])
    assert np.allclose(before.transform(low), after.transform(low), atol=1e-6)
    assert np.abs(before.transform(high) - after.transform(high)).max() > 0.005
    assert bpy.ops.condyle.add_grid_line(direction="LAYER") == {"FINISHED"}
    assert tuple(settings.grid) == (4, 4, 5) and read(part, scene).num_coordinates == 3


@pytest.mark.small
def test_buttons_say_why_they_are_disabled(part, glide, ph):
    scene, joint, _ = glide
    settings, layers = joint.condyle.joint, part("making.grid_layers")
    assert "has no third direction" in why_not("remove_third_direction")
    with pytest.raises(ph.ModelError, match="need a distance or an angle between them"):
        layers.add_layers(scene, joint)
    with pytest.raises(ph.ModelError, match="must be above 0, got 0"):
        layers.add_layers(scene, joint, seconds=0.0)
    with pytest.raises(ph.ModelError, match="has no layers"):
        layers.remove_layers(scene, joint)
    settings.moving = True
    assert "columns are time" in why_not("add_third_direction")
    settings.moving = False
    assert bpy.ops.condyle.add_third_direction(moving=True) == {"FINISHED"}
    assert "already has a third direction" in why_not("add_third_direction")
    settings.frames.remove(0)
    assert "grid is incomplete" in why_not("remove_third_direction")
    settings.type = "hinge"
    assert "Only a spline surface" in why_not("add_third_direction")
    assert len(settings.frames) == 63


@pytest.mark.small
def test_removed_layers_leave_what_was_there_before(part, glide):
    scene, joint, _ = glide
    settings = joint.condyle.joint
    flat, own = read(part, scene), [frame.object.name for frame in settings.frames]
    settings.coordinates[0].damping = 0.5
    for moving in (False, True):
        assert bpy.ops.condyle.add_third_direction(moving=moving) == {"FINISHED"}
        bpy.context.view_layer.objects.active = settings.frames[3].object
        assert bpy.ops.condyle.remove_third_direction() == {"FINISHED"}
        assert bpy.context.view_layer.objects.active == joint
        assert tuple(settings.grid) == (4, 4, 1) and not settings.moving
        assert [frame.object.name for frame in settings.frames] == own
        assert len([item for item in bpy.data.objects if item.condyle.frame_of == joint]) == 16
        assert np.allclose(read(part, scene).values, flat.values, atol=1e-6)
        assert settings.coordinates[0].damping == 0.5 and len(settings.coordinates) == 2


@pytest.mark.small
def test_a_fits_knots_stay_through_layers(part, glide):
    scene, joint, _ = glide
    grids, settings = part("making.frame_grids"), joint.condyle.joint
    knots = [[0.0] * 4 + [2.0] * 4, [-1.0] * 4 + [1.0] * 4]
    grids.build(scene, joint, grids.poses(scene, joint)[:, :, 0], knots=knots)
    assert bpy.ops.condyle.add_third_direction(moving=True, seconds=2.0) == {"FINISHED"}
    surface = read(part, scene)
    np.testing.assert_allclose(surface.domain, [[0.0, 2.0], [-1.0, 1.0], [0.0, 6.0]])
    assert bpy.ops.condyle.remove_third_direction() == {"FINISHED"}
    np.testing.assert_allclose(read(part, scene).domain, [[0.0, 2.0], [-1.0, 1.0]])
    assert len(settings.knots) == 16


@pytest.mark.small
def test_seconds_hold_whatever_is_done_to_the_grid(part, glide):
    scene, joint, _ = glide
    settings = joint.condyle.joint
    assert bpy.ops.condyle.add_third_direction(moving=True, seconds=0.5) == {"FINISHED"}
    surface = read(part, scene)
    assert surface.moving and surface.coordinate_names == ("q_1", "q_2", "time")
    assert settings.coordinates[2].label == "time" and settings.coordinates[2].limits == "NONE"
    assert np.allclose(surface.domain[2], (0.0, 1.5))
    assert bpy.ops.condyle.add_grid_line(direction="LAYER") == {"FINISHED"}
    assert bpy.ops.condyle.add_grid_line(direction="ROW") == {"FINISHED"}
    assert np.allclose(read(part, scene).domain[2], (0.0, 2.0))
    settings.grid_periodic[2] = True
    assert np.allclose(read(part, scene).domain[2], (0.0, 2.5))
    settings.grid_periodic[2] = False
    settings.grid_orders[2] = 5
    settings.line_seconds = 3.0
    assert np.allclose(read(part, scene).domain[2], (0.0, 12.0))
    settings.line_seconds = 0.0  # as files have it that know nothing of seconds
    assert np.allclose(read(part, scene).domain[2], (0.0, 1.0))
    assert bpy.ops.condyle.make_grid(rows=4, columns=4) == {"FINISHED"}  # its columns are no time
    assert not settings.moving and not read(part, scene).moving


@pytest.mark.small
def test_a_surface_that_moves_takes_the_child_along_in_a_bake(part, scene, glide):
    scene, joint, plate = glide
    settings = joint.condyle.joint
    scene.frame_start, scene.frame_end, scene.condyle.simulation.gravity = 1, 7, (0, 0, 0)
    assert bpy.ops.condyle.add_third_direction(moving=True, seconds=0.1) == {"FINISHED"}
    # evenly away from the chest: a spline of a line is the line
    for number, frame in enumerate(settings.frames):
        frame.object.location.y -= 0.05 * (number % 4)
    for row in settings.coordinates[:2]:
        row.start = 0.5
    bpy.context.view_layer.update()
    report = part("jobs.bake").bake_now(scene)
    ways = report.poses["Plate"][:, :3, 3]
    times = np.asarray(report.times) - report.times[0]
    np.testing.assert_allclose(report.coordinates["Glide.time"], times, atol=1e-9)
    # at an even speed nothing pushes it along the surface; float32 Empties, and the spline of even layers is a line
    np.testing.assert_allclose(ways[:, 1] - ways[0, 1], -0.5 * times, atol=1e-5)
    overlay = part("ui.overlay")
    for frame in (2, 5, 7):  # what is drawn goes along
        scene.frame_set(frame)
        assert np.allclose(plate.matrix_world.translation, ways[frame - 1], atol=1e-5)
        drawn = overlay.shown.shown(scene, joint)
        drawn.made = 0.0
        moving = overlay.drawing.placed_pieces(scene, joint, overlay.shown.shown(scene, joint))[-1]
        assert np.allclose(moving, np.array(joint.matrix_world.inverted() @ plate.matrix_world), atol=1e-4)


@pytest.mark.small
def test_sliders_move_along_a_surface_that_bulges_between_equal_edges(part, scene, make, body, authoring):
    """Of one cubic piece a direction, whose values at both ends are the same."""
    plate = make.box("Plate")
    joint = authoring.add_joint(scene, None, body(plate), "spline_surface", name="Joint")
    settings = joint.condyle.joint
    settings.grid, settings.sequence = (4, 4, 1), "xyz"
    for x, y in np.ndindex(4, 4):
        frame = np.eye(4)
        frame[:3, 3] = x, y, (1.0 + (x in {1, 2})) * (1.0 + (y in {1, 2}))
        authoring.add_control_frame(scene, joint, frame)
    authoring.drive(scene, joint, True)
    surface = part("data.stored_joints").read_joint(scene, joint)
    for values in np.random.default_rng(0).uniform(0.0, 1.0, (3, 2)):
        joint["coordinate q_1"], joint["coordinate q_2"] = values.tolist()
        joint.update_tag()
        make.update()
        # float32, with shifts of up to 3 units
        assert np.abs(np.array(plate.matrix_world) - surface.transform(values)).max() < 3e-6


def test_sliders_follow_a_third_direction(part, glide):
    scene, joint, plate = glide
    settings = joint.condyle.joint
    part("making.bodies_and_joints").drive(scene, joint, True)
    assert bpy.ops.condyle.add_third_direction() == {"FINISHED"}
    assert settings.driven and part("sliders.sliders").slider_names(settings)[2] == "coordinate q_3"
    joint["coordinate q_1"], joint["coordinate q_2"], joint["coordinate q_3"] = 0.3, 0.6, 0.8
    joint.update_tag()
    bpy.context.view_layer.update()
    expected = np.array(joint.matrix_world) @ read(part, scene).transform(np.array([0.3, 0.6, 0.8]))
    assert np.allclose(np.array(plate.matrix_world)[:3, 3], expected[:3, 3], atol=1e-5)
    assert bpy.ops.condyle.remove_third_direction() == {"FINISHED"}
    assert "coordinate q_3" not in joint and settings.driven


@pytest.mark.small
@pytest.mark.parametrize("moving", [False, True])
def test_the_view_draws_layers_and_keeps_up_with_their_seconds(part, glide, moving):
    scene, joint, _ = glide
    overlay = part("ui.overlay.shown")
    assert bpy.ops.condyle.add_third_direction(moving=moving) == {"FINISHED"}
    drawn = overlay.shown(scene, joint)
    assert drawn.joint == read(part, scene) and len(drawn.frames) == 64
    drawn.made = 0.0  # long ago: it is drawn anew at once
    joint.condyle.joint.line_seconds = 2.0
    assert overlay.shown(scene, joint).joint == read(part, scene)
