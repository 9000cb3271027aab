"""Control frames of a surface as a grid of Empties: made around a body, rows and columns added and removed."""

import bpy
import numpy as np
import pytest

pytestmark = pytest.mark.small


@pytest.fixture
def glide(scene, make, body, authoring):
    """A plate that glides on a box, with a grid of 4 x 5 around it; the joint is active."""
    chest = make.box("Chest", (0.1, 0.2, 0.3), (0.3, 0.2, 0.4))
    plate = make.box("Plate", (0.1, -0.1, 0.35), (0.1, 0.02, 0.12))
    joint = authoring.add_joint(scene, body(chest), body(plate), "spline_surface", name="Glide")
    bpy.context.view_layer.objects.active = joint
    assert bpy.ops.condyle.make_grid(rows=4, columns=5) == {"FINISHED"}
    return scene, joint, chest, plate


def world_poses(part, scene, joint):
    """Control frames (rows, columns, 4, 4) in the world."""
    return np.array(joint.matrix_world) @ part("making.frame_grids").poses(scene, joint)[:, :, 0]


def test_a_grid_lies_on_the_body_towards_the_child_and_z_points_out(part, glide):
    scene, joint, chest, plate = glide
    settings = joint.condyle.joint
    assert tuple(settings.grid) == (4, 5, 1) and len(settings.frames) == 20
    frames = world_poses(part, scene, joint)
    out = frames[..., :3, 3] - np.array(chest.location)
    on = np.sum((out / np.array((0.15, 0.1, 0.2))) ** 2, axis=-1)
    assert np.allclose(on, 1.0, atol=1e-4)
    assert (np.sum(out * frames[..., :3, 2], axis=-1) > 0.05).all()
    middle = out.mean(axis=(0, 1))
    assert middle @ np.array(plate.location - chest.location) > 0.0
    surface = part("reading.scene").read_joint(scene, joint)
    assert surface.num_coordinates == 2 and surface.gimbal_margin() > 0.9
    assert not part("making.frame_grids").warnings_of(scene, joint)


def test_a_closed_grid_goes_around_the_body(part, glide):
    scene, joint, chest, _ = glide
    assert bpy.ops.condyle.make_grid(rows=4, columns=8, closed=True) == {"FINISHED"}
    surface = part("reading.scene").read_joint(scene, joint)
    assert surface.periodic == (False, True) and surface.gimbal_margin() > 0.5
    assert np.isinf(surface.range[1]).all()
    round_ = world_poses(part, scene, joint)[2, :, :3, 3] - np.array(chest.location)
    assert np.allclose(round_.mean(axis=0)[:2], 0.0, atol=1e-4)  # a ring about the body's z
    assert len([item for item in bpy.data.objects if item.condyle.frame_of == joint]) == 32


def test_a_grid_with_a_deleted_frame_says_how_to_mend_it_and_that_mends_it(part, glide, ph):
    scene, joint, _, _ = glide
    bpy.data.objects.remove(joint.condyle.joint.frames[3].object)
    with pytest.raises(ph.ModelError, match=r"control point 3 was deleted: .* build the grid again"):
        part("making.frame_grids").poses(scene, joint)
    assert bpy.ops.condyle.make_grid(rows=4, columns=5) == {"FINISHED"}
    assert part("reading.scene").read_joint(scene, joint).num_coordinates == 2
    assert all(frame.object is not None for frame in joint.condyle.joint.frames)


def test_an_empty_tells_its_row_and_column_through_every_change(part, glide):
    _scene, joint, _, _ = glide
    grids, settings = part("making.frame_grids"), joint.condyle.joint
    marked = settings.frames[7].object
    assert grids.place_of(joint, marked) == (1, 2, 0) and marked.name == "Glide Row 01 Column 02"
    before = {frame.object: np.array(frame.object.matrix_world) for frame in settings.frames}
    bpy.context.view_layer.objects.active = settings.frames[0].object
    assert bpy.ops.condyle.add_grid_line(direction="ROW") == {"FINISHED"}
    assert bpy.ops.condyle.add_grid_line(direction="COLUMN") == {"FINISHED"}
    assert tuple(settings.grid) == (5, 6, 1) and len(settings.frames) == 30
    assert grids.place_of(joint, marked) == (2, 3, 0) and marked.name == "Glide Row 02 Column 03"
    assert grids.place_of(joint, joint) is None
    for empty, matrix in before.items():  # nothing that was there has moved
        assert np.allclose(np.array(empty.matrix_world), matrix, atol=1e-6)
    bpy.context.view_layer.objects.active = settings.frames[6].object
    assert bpy.ops.condyle.remove_grid_line(direction="ROW") == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == joint
    settings.active_frame = 1
    assert bpy.ops.condyle.remove_grid_line(direction="COLUMN") == {"FINISHED"}
    assert {frame.object for frame in settings.frames} == set(before)
    assert grids.place_of(joint, marked) == (1, 2, 0)
    bpy.context.view_layer.objects.active = settings.frames[0].object
    with pytest.raises(RuntimeError, match="needs at least 4 rows, so none of its 4"):
        bpy.ops.condyle.remove_grid_line(direction="ROW")


def test_a_curve_through_the_frames_of_a_grid_has_names_of_its_own(part, glide):
    scene, joint, _, _ = glide
    assert bpy.ops.condyle.make_grid(rows=4, columns=4) == {"FINISHED"}
    joint.condyle.joint.frames[2].object.name = "Mine"
    part("making.bodies_and_joints").set_control_frames(scene, joint, np.tile(np.eye(4), (5, 1, 1)))
    names = [frame.object.name for frame in joint.condyle.joint.frames]
    assert names == ["Glide Frame 00", "Glide Frame 01", "Mine", "Glide Frame 03", "Glide Frame 04"]


def test_a_row_is_added_halfway_or_going_on_at_the_end(part, glide, ph):
    scene, joint, _, _ = glide
    grids = part("making.frame_grids")
    before = grids.poses(scene, joint)[:, :, 0]
    grids.add_line(scene, joint, 0, 0)
    grids.add_line(scene, joint, 0, 4)
    after = grids.poses(scene, joint)[:, :, 0]
    half = ph.lie.log(ph.lie.inverse(before[0]) @ after[1])
    assert np.allclose(2.0 * half, ph.lie.log(ph.lie.inverse(before[0]) @ before[1]), atol=1e-5)
    step = ph.lie.inverse(before[2]) @ before[3]
    assert np.allclose(ph.lie.inverse(after[4]) @ after[5], step, atol=1e-5)
    joint.condyle.joint.grid_periodic[1] = True  # closed: the one behind the last lies before the first
    grids.add_line(scene, joint, 1, 4)
    closed = grids.poses(scene, joint)[:, :, 0]
    back, on = ph.lie.inverse(closed[:, 5]) @ closed[:, 4], ph.lie.inverse(closed[:, 5]) @ closed[:, 0]
    assert np.allclose(ph.lie.log(back), -ph.lie.log(on), atol=1e-5)


def test_lines_and_neighbours_are_selected(part, glide):
    _, joint, _, _ = glide
    settings = joint.condyle.joint
    bpy.context.view_layer.objects.active = settings.frames[7].object
    bpy.ops.condyle.select_grid_line(direction="COLUMN")
    names = {item.name for item in bpy.context.selected_objects}
    assert names == {f"Glide Row 0{row} Column 02" for row in range(4)}
    assert bpy.context.view_layer.objects.active == settings.frames[7].object
    bpy.ops.condyle.select_grid_neighbour(direction="COLUMN", step=-1)
    assert [item.name for item in bpy.context.selected_objects] == ["Glide Row 01 Column 01"]
    for _ in range(5):  # an open surface has an end
        bpy.ops.condyle.select_grid_neighbour(direction="ROW", step=1)
    assert bpy.context.view_layer.objects.active.name == "Glide Row 03 Column 01"
    settings.grid_periodic[0] = True
    bpy.ops.condyle.select_grid_neighbour(direction="ROW", step=1)
    assert bpy.context.view_layer.objects.active.name == "Glide Row 00 Column 01"


def test_sliders_follow_a_changed_grid_and_an_incomplete_one_says_so(part, glide):
    scene, joint, _, _ = glide
    settings = joint.condyle.joint
    part("making.bodies_and_joints").drive(scene, joint, True)
    assert bpy.ops.condyle.add_grid_line(direction="ROW") == {"FINISHED"}
    assert settings.driven and len(part("sliders.sliders").slider_names(settings)) == 2
    bpy.data.objects.remove(settings.frames[3].object)
    with pytest.raises(RuntimeError, match=r"control point 3 was deleted"):
        bpy.ops.condyle.add_grid_line(direction="ROW")
    settings.frames.remove(3)
    assert not bpy.ops.condyle.add_grid_line.poll()
    assert bpy.ops.condyle.make_grid(rows=4, columns=4) == {"FINISHED"}
    assert part("making.frame_grids").complete(settings) and len(settings.frames) == 16
