"""Free Bake loses nothing that the user did between the bake and it."""

import bpy
import numpy as np
import pytest

from tests.addon import digests

from ..frames_shown import over_frames
from ..keying import key_slider
from ..said import codes, said

pytestmark = pytest.mark.small


@pytest.fixture
def swing(part, scene, make, body):
    """A bob on a hinge with keys of its own, in five frames."""
    scene.frame_start, scene.frame_end = 1, 5
    top, bob = make.box("Top", (0, 0, 1.0)), make.box("Bob", (0.3, 0, 0.6))
    for frame in (1, 3, 9):
        bob.location.x = 0.3 + 0.01 * frame
        for path in ("location", "rotation_euler"):
            bob.keyframe_insert(path, frame=frame)
    scene.frame_set(1)
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(top), body(bob), "hinge", name="Hip")
    return bob


def keys(part, item):
    return {
        (curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
        for curve in part("blender.compat").curves_in_use(item)
    }


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "STRIP"])
def test_nothing_is_left_of_a_bake_not_even_what_it_told_of_itself(part, scene, swing, target):
    scene.condyle.simulation.output.target = target
    scene.condyle.start.loop = True
    before = digests.digest()
    part("jobs.bake").bake_now(scene)
    assert scene.condyle.loop.cycles and scene.condyle.simulation.statistics.integrator
    part("jobs.bake").bake_now(scene)  # a bake in place of another keeps what the new one tells
    assert scene.condyle.loop.cycles and scene.condyle.simulation.statistics.integrator
    part("jobs.bake").free_bake(scene)
    assert digests.differences(before, digests.digest()) == []


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "STRIP"])
def test_one_of_two_slots_may_be_renamed_or_they_may_exchange_names(part, scene, swing, target):
    data, compat = swing.animation_data, part("blender.compat")
    action = data.action
    if not compat.has_slots(action):
        pytest.skip("actions have no slots before Blender 4.4")
    before, slot = keys(part, swing), data.action_slot
    other = action.slots.new(id_type="OBJECT", name="Second")
    scene.condyle.simulation.output.target = target
    for exchanged in (False, True):
        own = slot.name_display
        part("jobs.bake").bake_now(scene)
        slot.name_display = "On its way"
        if exchanged:
            other.name_display, slot.name_display = own, "Second"
        with part("baked.temporarily").without_bake(scene):
            assert keys(part, swing) == before
        part("jobs.bake").free_bake(scene)
        assert data.action == action and data.action_slot == slot and keys(part, swing) == before
        assert list(bpy.data.actions) == [action]


@pytest.mark.parametrize("target", ["NEW", "CURRENT"])
def test_what_was_edited_in_the_bakes_action_is_kept_beside_the_whole_one_before(part, scene, swing, target):
    before, own, joint = keys(part, swing), swing.animation_data.action, scene.objects["Hip"]
    other = scene.objects["Top"].animation_data_create()
    other.action = own
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    assert other.action == own and joint.condyle.bake.action is None
    action = swing.animation_data.action
    swing.keyframe_insert("color", frame=2)
    with part("baked.temporarily").without_bake(scene):
        assert keys(part, swing) == before
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    assert swing.animation_data.action == own and keys(part, swing) == before and action.use_fake_user
    assert repr(action.name) in part("blender.session").message
    part("jobs.bake").bake_now(scene)
    made = swing.animation_data.action.name
    part("jobs.bake").free_bake(scene)
    assert made not in bpy.data.actions  # nothing was done to that one


@pytest.mark.parametrize("target", ["CURRENT", "OVERWRITE"])
@pytest.mark.parametrize("since", ["nothing", "keyed", "pushed down", "deleted"])
def test_a_bake_in_place_of_an_earlier_version_is_freed(part, scene, swing, target, since):
    """It changed the action in use and kept a copy of it."""
    before, data, compat = keys(part, swing), swing.animation_data, part("blender.compat")
    action, record = data.action, swing.condyle.bake
    name, slot = action.name, compat.slot_of(data)
    record.action = record.previous_action = action
    record.backup = action.copy()
    record.backup.name = f"{name} before Condyle"
    record.previous_slot, record.slot_handle = compat.slot_name(data), compat.slot_handle(slot)
    record.had_animation_data, record.target, record.paths = True, target, '["location", "rotation_euler"]'
    record.blend_type, record.extrapolation = data.action_blend_type, data.action_extrapolation
    swing.condyle.channels.baked = True
    for curve in compat.curves(action, slot):
        curve.keyframe_points.clear()
        curve.keyframe_points.insert(1, 7.0)
    if since == "keyed":
        swing.keyframe_insert("color", frame=2)
    elif since == "pushed down":
        strip = data.nla_tracks.new().strips.new("Pushed", 1, action)
        compat.assign_strip_slot(strip, slot)
        data.action = None
    elif since == "deleted":
        bpy.data.actions.remove(action)
    with part("baked.temporarily").without_bake(scene):
        assert keys(part, swing) == before
    assert part("jobs.bake").free_bake(scene) == 1
    assert keys(part, swing) == before and data.action.name == name
    assert [each.name for each in bpy.data.actions] == [
        name,
        *([f"{name} edited"] if since == "keyed" else []),
    ]


def test_keys_that_the_next_bake_does_not_read_are_told(part, scene, make, swing):
    """An extra channel brings a new action for the joint, in which its slider is then keyed."""
    joint = scene.objects["Hip"]
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint.condyle.joint.prescribed = True
    key_slider(joint, {1: 0.0, 5: 0.4})
    scene.condyle.simulation.output.extras = {"COORDINATES"}

    def told():
        return [
            each for each in said(part("jobs.bake").bake_now(scene).warnings) if each[0] == "keys-in-bake"
        ]

    assert not told() and not told()
    joint["coordinate"] = 0.3
    joint.keyframe_insert('["coordinate"]', frame=3)
    assert told() == [("keys-in-bake", "Hip", "Hip Condyle")]
    part("jobs.bake").free_bake(scene)
    assert not told()


def test_nothing_is_told_as_keyed_since_where_a_bake_did_not_say_what_it_wrote(part, scene, swing):
    """The first bakes did not, and every key of theirs was told as the user's."""
    part("jobs.bake").bake_now(scene)
    for item in scene.objects:
        item.condyle.bake.paths = ""
    assert "keys-in-bake" not in codes(part("jobs.bake").bake_now(scene).warnings)


def test_a_strip_that_is_tweaked_is_neither_freed_nor_baked_again(part, scene, swing, ph):
    scene.condyle.simulation.output.target = "STRIP"
    part("jobs.bake").bake_now(scene)
    data = swing.animation_data
    track = data.nla_tracks[swing.condyle.bake.track]
    data.nla_tracks.active = track
    track.strips[0].select = True
    data.use_tweak_mode = True
    if not data.use_tweak_mode:
        pytest.skip("this Blender tweaks no strip without its editor")
    for work in (part("jobs.bake").free_bake, part("jobs.bake").bake_now):
        with pytest.raises(ph.ModelError, match="leave the NLA's tweak mode first"):
            work(scene)
        assert len(data.nla_tracks) == 2 and swing.condyle.bake.target == "STRIP"
    data.use_tweak_mode = False
    part("jobs.bake").free_bake(scene)
    assert not data.nla_tracks and data.action is not None


def test_a_track_of_the_user_with_the_same_name_stays(part, scene, swing):
    data, other = swing.animation_data, bpy.data.actions.new("Other")
    theirs = data.nla_tracks.new()
    theirs.name = "Condyle Bake"
    theirs.strips.new("Theirs", 200, other).name = "Theirs"
    scene.condyle.simulation.output.target = "STRIP"
    part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    assert [strip.name for track in data.nla_tracks for strip in track.strips] == ["Theirs"]


def motion(scene, item, frames=(1, 2, 5, 7, 9)):
    return over_frames(frames, lambda: item.matrix_world)


@pytest.mark.parametrize("animated", [True, False])
def test_keys_of_other_channels_do_not_hide_a_strip_from_being_freed(part, scene, make, swing, animated):
    """Keying anything over a strip makes an action: it stays in use, over what was in use before the bake."""
    if not animated:
        swing = make.box("Ball", (0, 0, 10))
        part("making.bodies_and_joints").make_body(scene, part("data.references").Body(swing), motion="FREE")
    before = motion(scene, swing)
    scene.condyle.simulation.output.target = "STRIP"
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    baked = motion(scene, swing)
    assert np.abs(baked - before).max() > 1e-3
    swing.color[0] = 0.25
    swing.keyframe_insert("color", frame=2)
    scene.frame_set(4)
    with part("baked.temporarily").without_bake(scene):
        np.testing.assert_allclose(motion(scene, swing), before, atol=1e-7)
    np.testing.assert_allclose(motion(scene, swing), baked, atol=1e-7)
    scene.frame_set(4)
    part("jobs.bake").free_bake(scene)
    np.testing.assert_allclose(motion(scene, swing), before, atol=1e-7)
    assert keys(part, swing)[("color", 0)] == [(2.0, 0.25)]
    assert len(swing.animation_data.nla_tracks) == animated and not part("baking.restoring").is_baked(scene)


def test_channels_that_an_action_put_in_the_bakes_place_does_not_move_come_back(part, scene, swing):
    scene.frame_set(1)
    turned = swing.rotation_euler.y = 0.125
    swing.keyframe_delete("rotation_euler", frame=1)
    compat, data = part("blender.compat"), swing.animation_data
    for curve in [each for each in compat.curves_in_use(swing) if each.data_path == "rotation_euler"]:
        compat.curves(data.action, compat.slot_of(data)).remove(curve)
    part("jobs.bake").bake_now(scene)
    scene.frame_set(5)
    assert abs(swing.rotation_euler.y - turned) > 1e-3
    data.action = None
    swing.location = (1.0, 2.0, 3.0)
    swing.keyframe_insert("location", index=1, frame=5)
    part("jobs.bake").free_bake(scene)
    assert swing.location.y == 2.0 and swing.rotation_euler.y == turned
    assert {path for path, _ in keys(part, swing)} == {"location"}


@pytest.mark.parametrize("kind", ["muted", "empty"])
def test_channels_come_back_that_an_action_put_in_the_bakes_place_has_but_does_not_move(
    part, scene, swing, kind
):
    scene.frame_set(1)
    before = tuple(swing.location)
    scene.condyle.simulation.output.target = "STRIP"
    part("jobs.bake").bake_now(scene)
    scene.frame_set(5)
    swing.animation_data.nla_tracks.remove(swing.animation_data.nla_tracks[0])
    swing.animation_data.action = bpy.data.actions.new("Mine")
    swing.location = (1.0, 2.0, 3.0)
    swing.keyframe_insert("location", frame=5)
    for curve in part("blender.compat").curves_in_use(swing):
        curve.mute = kind == "muted"
        if kind == "empty":
            curve.keyframe_points.clear()
    part("jobs.bake").free_bake(scene)
    assert tuple(swing.location) == before
