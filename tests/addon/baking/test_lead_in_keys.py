"""Keys before a bake begins: what sliders showed there stays."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from ..bake_digests import file_digest
from ..frames_shown import over_frames
from ..keying import key_slider, set_keys

pytestmark = pytest.mark.small


@pytest.fixture
def leg(scene, make, body, authoring):
    """A thigh on a slider, keyed, under a pelvis; nothing is parented; 20 frames: (pelvis, thigh, root, hip)."""
    scene.frame_start, scene.frame_end = 1, 20
    pelvis, thigh = make.box("Pelvis", (0, 0, 1.0)), make.box("Thigh", (0, 0, 0.6))
    root = authoring.add_joint(scene, None, body(pelvis), "free", name="Root")
    hip = authoring.add_joint(scene, body(pelvis), body(thigh), "hinge", name="Hip")
    make.update()
    authoring.drive(scene, hip, True)
    key_slider(hip, {1: 0.0, 12: 0.6})
    return pelvis, thigh, root, hip


def write(part, scene, begin, between=None, offset=0.0):
    """Bake a motion in which all bodies go along x, from an offset to theirs, to frame 20."""
    scene.frame_set(begin)
    frames = np.arange(float(begin), 21.0)
    hold, units, references = part("baked.temporarily"), part("blender.units"), part("data.references")
    with hold.without_bake(scene), hold.at_frame(scene, begin):
        read = part("reading.scene").read(scene)
        poses = []
        for entry in read.bodies:
            body = references.find_body(entry.handle, entry.name)
            pose = units.to_metres(units.split_scale(body.matrix, body.name)[0], scene)
            poses.append(np.repeat(pose[None], len(frames), 0))
            poses[-1][:, 0, 3] += offset + 0.1 * np.arange(len(frames))
    result = SimpleNamespace(poses=np.array(poses).swapaxes(0, 1))
    return part("baking.write").write(scene, frames, read, result, between=between)


def seen(scene, frames, *items):
    return over_frames(frames, lambda: [item.matrix_world.copy() for item in items])


def key_frames(part, item):
    """Frames of the keys of a body's location."""
    for curve in part("blender.compat").curves_in_use(item):
        if curve.data_path == "location":
            return [point.co[0] for point in curve.keyframe_points]
    return []


@pytest.mark.parametrize("target", ("NEW", "CURRENT", "STRIP"))
def test_a_driven_body_is_not_torn_off_what_carries_it(part, scene, make, body, authoring, leg, target):
    """Nor does what hangs on it stay behind; a body of its own keeps what its target leaves it."""
    pelvis, thigh, root, _ = leg
    shank, stone = make.box("Shank", (0, 0, 0.2)), make.box("Stone", (3, 0, 0))
    authoring.add_joint(scene, body(thigh), body(shank), "hinge", name="Knee")
    authoring.add_joint(scene, None, body(stone), "free", name="Stone")
    root.condyle.joint.prescribed = True
    for item, place in ((pelvis, 1.0), (shank, 0.2), (stone, 0.0)):
        for frame, x in ((1, 0.0), (12, 1.1)):
            item.location = (x, 0, place)
            item.keyframe_insert("location", frame=frame)
    before = seen(scene, range(1, 11), pelvis, thigh, shank)
    scene.condyle.simulation.output.target = target
    scene.frame_set(10)
    state = file_digest()
    write(part, scene, 10)
    np.testing.assert_allclose(seen(scene, range(1, 11), pelvis, thigh, shank), before, atol=1e-6)
    if target == "CURRENT":
        assert key_frames(part, stone)[:2] == [1, 10]
    part("jobs.bake").free_bake(scene)
    scene.frame_set(10)
    assert file_digest() == state


def test_a_joint_that_closes_a_loop_holds_bodies_together_before_a_bake(
    part, scene, make, body, authoring, leg
):
    """A rod that nothing else connects keeps its own motion, as the thigh that is on a slider does."""
    thigh, rod = leg[1], make.box("Rod", (0.3, 0, 0.6))
    authoring.make_body(scene, body(rod), motion="FREE")
    authoring.add_joint(scene, body(thigh), body(rod), "spherical", name="Loop", closes_loop=True)
    set_keys(rod, "location", {1: 0.3, 12: 0.5}, axis=0)
    before = seen(scene, range(1, 11), thigh, rod)
    write(part, scene, 10)
    np.testing.assert_allclose(seen(scene, range(1, 11), thigh, rod), before, atol=1e-6)


def test_a_parent_without_size_before_a_bake_does_not_stop_it(part, scene, make, leg):
    *bodies, root, hip = leg
    above = make.empty("Above")
    for item in (*bodies, root, hip):
        item.parent = above
    for frame, size in ((1, 0.0), (4, 0.0), (6, 1.0)):
        above.scale = (size, size, size)
        above.keyframe_insert("scale", frame=frame)
    before = seen(scene, range(6, 11), *bodies)
    write(part, scene, 10)
    np.testing.assert_allclose(seen(scene, range(6, 11), *bodies), before, atol=1e-6)
    # of sizes between, keys can hold the place; that of frame 4 and before they cannot
    assert key_frames(part, bodies[1])[0] == 5


def test_frames_before_a_bake_are_looked_at_once_and_not_where_nothing_moves(
    part, scene, make, leg, monkeypatch
):
    stepper = part("reading.stepper")
    looked, sample = [], stepper.sample_matrices

    def counted(scene, objects, frames, bones=None, baked=False):
        objects = list(objects)
        looked.extend(frames if objects else ())
        return sample(scene, objects, frames, bones, baked)

    monkeypatch.setattr(stepper, "sample_matrices", counted)
    pelvis, thigh, _, hip = leg
    above = make.empty("Above")
    above.empty_display_type, above.data = "IMAGE", bpy.data.images.new("Drawing", 8, 8)
    thigh.parent = above
    above.keyframe_insert("location", frame=1)
    write(part, scene, 10)
    assert sorted(looked) == list(range(1, 21))
    part("jobs.bake").free_bake(scene)
    looked.clear()
    above.animation_data_clear()
    hip.animation_data.action = None
    before = seen(scene, range(1, 10), pelvis, thigh)
    write(part, scene, 10)
    assert sorted(looked) == [1, 9]
    assert key_frames(part, thigh)[:3] == [1, 9, 10]
    np.testing.assert_allclose(seen(scene, range(1, 10), pelvis, thigh), before, atol=1e-6)


def test_what_is_seen_in_a_preview_range_before_the_scene_is_kept(part, scene, leg):
    pelvis, thigh, _, _ = leg
    scene.frame_start = 6
    scene.frame_preview_end, scene.frame_preview_start, scene.use_preview_range = 20, 2, True
    before = seen(scene, range(2, 10), pelvis, thigh)
    write(part, scene, 10)
    np.testing.assert_allclose(seen(scene, range(2, 10), pelvis, thigh), before, atol=1e-6)
    part("jobs.bake").free_bake(scene)
    scene.use_preview_range = False
    write(part, scene, 10)
    assert key_frames(part, thigh)[0] == 6


def test_sliders_are_seen_behind_an_action_that_took_a_bakes_place(part, scene, leg):
    """As freeing leaves them; so does what is looked at without the bake."""
    _, thigh, _, _ = leg
    before = seen(scene, range(1, 10), thigh)
    write(part, scene, 10)
    thigh.animation_data.action = bpy.data.actions.new("Mine")
    scene.frame_set(6)
    with part("baked.temporarily").without_bake(scene):
        np.testing.assert_allclose(np.array(thigh.matrix_world), before[5, 0], atol=1e-6)
    assert all(constraint.mute for constraint in thigh.constraints)
    write(part, scene, 10)
    np.testing.assert_allclose(seen(scene, range(1, 10), thigh), before, atol=1e-6)


def test_early_keys_show_the_joint_that_was_fitted_for_the_bake(part, scene, leg):
    _, thigh, _, hip = leg
    before = seen(scene, range(1, 10), thigh)

    def fitted():
        key_slider(hip, {1: 0.3})

    write(part, scene, 10, between=fitted)
    shown = seen(scene, range(1, 10), thigh)
    part("jobs.bake").free_bake(scene)
    np.testing.assert_allclose(shown, seen(scene, range(1, 10), thigh), atol=1e-6)
    assert np.abs(shown - before).max() > 0.01


@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_a_connected_bone_that_leaves_on_its_way_or_at_the_first_frame_is_refused(
    part, scene, make, body, authoring, offset
):
    scene.frame_start, scene.frame_end = 1, 20
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0.1, 0, 0), "A")})
    connect(rig, "B")
    make.update()
    hinge = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    authoring.drive(scene, hinge, True)
    key_slider(hinge, {1: 0.0, 12: 0.6})
    error = part("blender.physics_access").physics().ModelError
    with pytest.raises(error, match="connected"):
        write(part, scene, 10, offset=offset)


def connect(rig, name):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones[name].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
