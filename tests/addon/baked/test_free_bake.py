"""Free Bake loses nothing that the user did between the bake and it."""

import numpy as np
import pytest

from tests.addon import digests

bpy = pytest.importorskip("bpy")
from ..said import codes, said  # noqa: E402

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


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "STRIP", "OVERWRITE"])
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


def test_curves_that_were_deleted_after_a_bake_in_place_come_back(part, scene, swing):
    before = keys(part, swing)
    scene.condyle.simulation.output.target = "OVERWRITE"
    part("jobs.bake").bake_now(scene)
    compat, data = part("blender.compat"), swing.animation_data
    for curve in list(compat.curves_in_use(swing)):
        compat.remove_curve(data.action, compat.slot_of(data), curve)
    part("jobs.bake").free_bake(scene)
    assert keys(part, swing) == before and len(bpy.data.actions) == 1


@pytest.mark.parametrize("target", ["NEW", "CURRENT"])
def test_a_slot_may_be_renamed_after_a_bake_in_place(part, scene, swing, target):
    before = keys(part, swing)
    if not part("blender.compat").has_slots(swing.animation_data.action):
        pytest.skip("actions have no slots before Blender 4.4")
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    action = swing.condyle.bake.previous_action
    action.slots[0].name_display = "Another Name"
    part("jobs.bake").free_bake(scene)
    assert swing.animation_data.action == action and keys(part, swing) == before


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("target", ["CURRENT", "OVERWRITE"])
def test_the_slot_of_the_copy_may_be_renamed_after_a_bake_in_place(part, scene, swing, target, noted):
    """It alone has the keys. A bake from before handles were noted takes the only slot that there is."""
    before = keys(part, swing)
    if not part("blender.compat").has_slots(swing.animation_data.action):
        pytest.skip("actions have no slots before Blender 4.4")
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    action = swing.animation_data.action
    swing.condyle.bake.backup.slots[0].name_display = "Another Name"
    if not noted:
        swing.condyle.bake.property_unset("slot_handle")
    with part("baked.temporarily").without_bake(scene):
        assert keys(part, swing) == before
    part("jobs.bake").free_bake(scene)
    assert swing.animation_data.action == action and keys(part, swing) == before
    assert list(bpy.data.actions) == [action]


def test_a_copy_of_which_the_slot_cannot_be_told_is_not_deleted(part, scene, swing):
    before = keys(part, swing)
    if not part("blender.compat").has_slots(swing.animation_data.action):
        pytest.skip("actions have no slots before Blender 4.4")
    scene.condyle.simulation.output.target = "CURRENT"
    part("jobs.bake").bake_now(scene)
    record = swing.condyle.bake
    action, backup = record.action, record.backup
    backup.slots[0].name_display = "Another Name"
    backup.slots.new(id_type="OBJECT", name="Second")
    record.property_unset("slot_handle")
    with part("baked.temporarily").without_bake(scene):
        assert swing.animation_data.action == backup
    part("jobs.bake").free_bake(scene)
    assert action.use_fake_user and swing.animation_data.action == backup
    swing.animation_data.action_slot = backup.slots[0]
    assert keys(part, swing) == before


@pytest.mark.parametrize("target", ["NEW", "CURRENT", "OVERWRITE", "STRIP"])
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


def test_a_slot_that_a_bake_in_place_made_goes_whatever_it_is_called(part, scene, swing):
    data = swing.animation_data
    if not part("blender.compat").has_slots(data.action):
        pytest.skip("actions have no slots before Blender 4.4")
    data.action_slot = None
    scene.condyle.simulation.output.target = "CURRENT"
    part("jobs.bake").bake_now(scene)
    data.action_slot.name_display = "Another Name"
    part("jobs.bake").free_bake(scene)
    assert data.action is not None and data.action_slot is None and len(data.action.slots) == 1


def test_keys_of_other_channels_in_the_bakes_action_are_not_deleted_with_it(part, scene, swing):
    part("jobs.bake").bake_now(scene)
    action = swing.animation_data.action
    swing.keyframe_insert("color", frame=2)
    part("jobs.bake").free_bake(scene)
    assert swing.animation_data.action != action and action.use_fake_user
    part("jobs.bake").bake_now(scene)
    made = swing.animation_data.action.name
    part("jobs.bake").free_bake(scene)
    assert made not in bpy.data.actions  # nothing was done to that one


def test_keys_that_the_next_bake_does_not_read_are_told(part, scene, make, swing):
    """An extra channel brings a new action for the joint, in which its slider is then keyed."""
    joint = scene.objects["Hip"]
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint.condyle.joint.prescribed = True
    for frame, value in ((1, 0.0), (5, 0.4)):
        joint["coordinate"] = value
        joint.keyframe_insert('["coordinate"]', frame=frame)
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


def test_a_second_bake_in_place_reads_what_was_keyed_since(part, scene, swing):
    scene.condyle.simulation.output.target = "CURRENT"
    part("jobs.bake").bake_now(scene)
    action = swing.animation_data.action
    swing.color[0] = 0.25
    swing.keyframe_insert("color", frame=1)
    assert part("handlers.staleness").changes(scene) == []  # that moves nothing
    swing.keyframe_insert("delta_location", frame=1)
    assert said(part("handlers.staleness").changes(scene)) == [("changed-since-bake", "Bob", "keys")]
    with part("baked.temporarily").without_bake(scene):
        looked = keys(part, swing)
        assert looked[("color", 0)] == [(1.0, 0.25)] and len(looked[("location", 0)]) == 3
    assert swing.animation_data.action == action and len(keys(part, swing)[("location", 0)]) == 6
    assert len(bpy.data.actions) == 2
    part("jobs.bake").free_bake(scene)
    assert keys(part, swing)[("color", 0)] == [(1.0, 0.25)]


def put_in_meta(item, track):
    """Put the strips of a track into a meta strip, as only the editor can."""
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    kind, area.type = area.type, "NLA_EDITOR"
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    track.select = True
    for strip in track.strips:
        strip.select = True
    region = next(each for each in area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.nla.meta_add()
    area.type = kind
    assert [strip.type for strip in track.strips] == ["META"]


@pytest.mark.parametrize("meta", [False, True])
def test_an_action_that_a_strip_plays_too_is_not_baked_into(part, scene, swing, ph, meta):
    data = swing.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Later", 100, data.action)
    strip.name = "Later"  # Blender 4.2 calls it like its action
    part("blender.compat").assign_strip_slot(strip, part("blender.compat").slot_of(data))
    if meta:
        put_in_meta(swing, track)
    before = keys(part, swing)
    scene.condyle.simulation.output.target = "CURRENT"
    with pytest.raises(ph.ModelError, match=r"also played by the NLA strip 'Later' of 'Bob'"):
        part("jobs.bake").bake_now(scene)
    assert keys(part, swing) == before


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
    found = []
    for frame in frames:
        scene.frame_set(frame)
        found.append(np.array(item.matrix_world))
    return np.array(found)


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
    assert len(swing.animation_data.nla_tracks) == animated and not part("baking.write").is_baked(scene)


def test_channels_that_an_action_put_in_the_bakes_place_does_not_move_come_back(part, scene, swing):
    scene.frame_set(1)
    turned = swing.rotation_euler.y = 0.125
    swing.keyframe_delete("rotation_euler", frame=1)
    compat, data = part("blender.compat"), swing.animation_data
    for curve in [each for each in compat.curves_in_use(swing) if each.data_path == "rotation_euler"]:
        compat.remove_curve(data.action, compat.slot_of(data), curve)
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
