"""What a bake leaves of the user's layers in the NLA, and that it finds its own again."""

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from .test_targets import layer

pytestmark = pytest.mark.small


def keyed(make, frames, values):
    """An Empty with keys of its colour, which no bake touches."""
    item = make.empty("Item")
    for frame, value in zip(frames, values, strict=True):
        item.color = (value, value, value, 1.0)
        item.keyframe_insert("color", frame=frame)
    return item


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


def put(part, item, target):
    """A bake of nine frames in which the item stands still."""
    frames, zeros = np.arange(6.0, 15.0), np.zeros((9, 3))
    part("baked.targets").put(
        item,
        [
            part("curves.fcurve_arrays").KeyedPath(
                "location", "Item", frames, zeros, part("curves.slopes").Slopes.smooth(zeros)
            )
        ],
        target,
    )


def shown(scene, item, frames):
    return over_frames(frames, lambda: item.color[0])


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize("kind", ("muted", "empty", "muted strip"))
@pytest.mark.parametrize(
    ("blend", "influence", "extrapolation"),
    (("ADD", 1.0, "HOLD"), ("REPLACE", 0.25, "HOLD"), ("REPLACE", 1.0, "NOTHING")),
)
def test_an_action_blended_with_nothing_goes_on_as_it_did(
    part, scene, make, target, kind, blend, influence, extrapolation
):
    """Where no track plays a strip, Blender takes no notice of how the action in use is to be blended."""
    item = keyed(make, (5, 11), (0.1, 0.3))
    layer(item, blend, influence, extrapolation)
    (track,) = item.animation_data.nla_tracks
    if kind == "muted":
        track.mute = True
    elif kind == "empty":
        track.strips.remove(track.strips[0])
    else:
        track.strips[0].mute = True
    frames = range(1, 41)
    before = shown(scene, item, frames)
    put(part, item, target)
    np.testing.assert_allclose(shown(scene, item, frames), before, atol=1e-6)
    part("baked.targets").free(item)
    np.testing.assert_array_equal(shown(scene, item, frames), before)


@pytest.mark.parametrize("which", (0, 1))
def test_a_bakes_tracks_are_known_by_what_they_play(part, scene, make, which):
    """Whatever the user calls them."""
    item = keyed(make, (5, 11), (0.1, 0.3))
    before = item.animation_data.action
    put(part, item, "STRIP")
    data = item.animation_data
    data.nla_tracks[which].name = "Walk"
    bring_back = part("baked.targets").hold_off(item)
    assert data.action == before and all(track.mute for track in data.nla_tracks)
    bring_back()
    assert data.action is None and not any(track.mute for track in data.nla_tracks)
    part("baked.targets").free(item)
    assert data.action == before and not data.nla_tracks and list(bpy.data.actions) == [before]


@pytest.mark.parametrize("animated", (False, True))
def test_a_bake_that_was_pushed_down_is_freed(part, scene, make, animated):
    item = keyed(make, (5, 11), (0.1, 0.3)) if animated else make.empty("Item")
    before = item.animation_data.action if animated else None
    put(part, item, "NEW")
    data = item.animation_data
    action, slot = data.action, part("blender.compat").slot_of(data)
    data.action = None
    track = data.nla_tracks.new()
    part("blender.compat").assign_strip_slot(track.strips.new("Pushed", 6, action), slot)
    bring_back = part("baked.targets").hold_off(item)
    assert data.action == before and track.mute
    bring_back()
    assert data.action is None and not track.mute
    part("baked.targets").free(item)
    assert (item.animation_data is not None) == animated
    assert list(bpy.data.actions) == ([before] if animated else [])


def test_the_track_below_a_bake_is_told_from_one_of_the_user_with_the_same_action(part, scene, make):
    """By its name; renamed, by its place on top."""
    for renamed in (False, True):
        item = keyed(make, (5, 11), (0.1, 0.3))
        layer(item, "ADD", 1.0)
        data, targets = item.animation_data, part("baked.targets")
        theirs = data.nla_tracks.new()
        theirs.name = "Theirs"
        theirs.strips.new("Theirs", 100, data.action)
        put(part, item, "NEW")
        if renamed:
            data.nla_tracks[-1].name = "Walk"
        targets.free(item)
        assert [track.name for track in data.nla_tracks][1:] == ["Theirs"]
        assert data.action_blend_type == "ADD"


def test_a_bakes_strip_goes_from_a_track_that_has_others(part, scene, make):
    item = keyed(make, (5, 11), (0.1, 0.3))
    before = item.animation_data.action
    put(part, item, "STRIP")
    data = item.animation_data
    track = data.nla_tracks[-1]
    track.strips.new("More", 50, bpy.data.actions.new("More"))
    bring_back = part("baked.targets").hold_off(item)
    assert [strip.mute for strip in track.strips] == [True, False] and not track.mute
    bring_back()
    assert [strip.mute for strip in track.strips] == [False, False]
    part("baked.targets").free(item)
    assert [strip.name for each in data.nla_tracks for strip in each.strips] == ["More"]
    assert data.action == before and len(bpy.data.actions) == 2


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
def test_an_action_in_use_without_a_slot_plays_nothing_below_a_bake_either(part, scene, make, target):
    compat = part("blender.compat")
    item = keyed(make, (5, 11), (0.1, 0.3))
    data = item.animation_data
    if not compat.has_slots(data.action):
        pytest.skip("actions have no slots before Blender 4.4")
    layer(item, "ADD", 1.0)
    data.action_slot = None
    before = shown(scene, item, (1, 8, 20))
    put(part, item, target)
    np.testing.assert_allclose(shown(scene, item, (1, 8, 20)), before, atol=1e-6)
    part("baked.targets").free(item)
    assert data.action is not None and data.action_slot is None
    np.testing.assert_allclose(shown(scene, item, (1, 8, 20)), before, atol=1e-6)


@pytest.mark.parametrize("ends", ((1, 5), (50, 60)))
def test_a_range_set_by_hand_does_not_move_an_action_below_a_bake(part, scene, make, ends):
    """On whichever side of its keys; Blender makes a new strip as long as that range."""
    item = keyed(make, (10, 30), (0.1, 0.9))
    action = item.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, *ends
    layer(item, "ADD", 1.0, "NOTHING")
    frames = range(1, 61)
    before = shown(scene, item, frames)
    put(part, item, "STRIP")
    np.testing.assert_allclose(shown(scene, item, frames), before, atol=1e-6)


@pytest.mark.parametrize("kind", ("CYCLES", "LINEAR", "PREVIEW"))
def test_cycles_and_slopes_go_on_below_a_bake_when_the_scene_is_made_longer(part, scene, make, kind):
    item = keyed(make, (1, 10), (0.1, 0.9))
    scene.frame_start, scene.frame_end = 1, 30
    for curve in part("blender.compat").curves_in_use(item):
        if kind == "LINEAR":
            curve.extrapolation = "LINEAR"
        else:
            curve.modifiers.new("CYCLES")
    if kind == "PREVIEW":
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 3001, 3021
    frames = (-20, 0, 5, 33, 36, 90, 250, 1000, *((3001, 3013) if kind == "PREVIEW" else ()))
    before = shown(scene, item, frames)
    put(part, item, "STRIP")
    scene.frame_end = 1000
    np.testing.assert_allclose(shown(scene, item, frames), before, rtol=1e-6, atol=1e-5)


def with_theirs(part, make, blend="REPLACE"):
    """An item whose action in use a track of the user plays too, from frame 100; and that track's name."""
    item = keyed(make, (5, 11), (0.1, 0.3))
    layer(item, blend, 1.0)
    data = item.animation_data
    theirs = data.nla_tracks.new()
    theirs.name = "Theirs"
    strip = theirs.strips.new("Theirs", 100, data.action)
    strip.name = "Theirs"
    part("blender.compat").assign_strip_slot(strip, part("blender.compat").slot_of(data))
    return item


@pytest.mark.parametrize("blend", ("REPLACE", "ADD"))
@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize("kind", ("deleted", "shared", "named"))
def test_a_track_of_the_user_stays_whatever_became_of_the_one_below_the_bake(
    part, scene, make, target, kind, blend
):
    """The bake's strip is known by its name, not by the action that it plays."""
    item = with_theirs(part, make, blend)
    data, before, frames = item.animation_data, item.animation_data.action, (1, 8, 20, 103, 120)
    was = shown(scene, item, frames)
    put(part, item, target)
    below = data.nla_tracks.get("Condyle, before the bake")
    if below is None:
        pytest.skip("a bake that replaces the action needs no track for it")
    more = []
    if kind == "deleted":
        data.nla_tracks.remove(below)
    elif kind == "shared":
        strip = below.strips.new("More", 9000, bpy.data.actions.new("More"))
        strip.name, more = "More", ["More"]
    else:
        below.name = "Walk"
    if kind != "deleted":
        bring_back = part("baked.targets").hold_off(item)
        np.testing.assert_allclose(shown(scene, item, frames), was, atol=1e-6)
        bring_back()
    part("baked.targets").free(item)
    assert [strip.name for track in data.nla_tracks for strip in track.strips][1:] == ["Theirs", *more]
    assert data.action == before
    np.testing.assert_array_equal(shown(scene, item, frames), was)


def test_a_bake_from_before_strips_had_names_is_freed(part, scene, make):
    item = keyed(make, (5, 11), (0.1, 0.3))
    before = item.animation_data.action
    put(part, item, "STRIP")
    data = item.animation_data
    data.nla_tracks[0].strips[0].name = data.nla_tracks[0].name = "Walk"
    item.condyle.bake.property_unset("pushed_strip")
    part("baked.targets").free(item)
    assert data.action == before and not data.nla_tracks


@pytest.mark.parametrize("which", (-2, -1))
def test_what_was_plays_again_after_a_bakes_track_played_solo(part, scene, make, which):
    """Blender would play nothing at all once the track that plays solo is gone, or muted."""
    item = keyed(make, (5, 11), (0.1, 0.3))
    layer(item, "ADD", 1.0)
    data, frames = item.animation_data, (1, 8, 20)
    was = shown(scene, item, frames)
    put(part, item, "STRIP")
    track = data.nla_tracks[which]
    track.is_solo = True
    solo = shown(scene, item, frames)
    bring_back = part("baked.targets").hold_off(item)
    np.testing.assert_array_equal(shown(scene, item, frames), was)
    bring_back()
    assert track.is_solo
    np.testing.assert_array_equal(shown(scene, item, frames), solo)
    part("baked.targets").free(item)
    item.color[0] = 0.7
    np.testing.assert_array_equal(shown(scene, item, frames), was)


@pytest.mark.parametrize("which", (0, 1))
def test_a_strip_of_a_bake_within_a_meta_strip_of_the_user_plays_no_more(part, scene, make, which):
    item = keyed(make, (5, 11), (0.1, 0.3))
    data, before = item.animation_data, item.animation_data.action
    put(part, item, "STRIP")
    track = data.nla_tracks[which]
    more = bpy.data.actions.new("More")
    track.strips.new("More", 9000, more).name = "More"
    put_in_meta(item, track)
    data.nla_tracks[0].name = data.nla_tracks[1].name = "Walk"

    def muted():
        return [strip.mute for strip in track.strips[0].strips]

    bring_back = part("baked.targets").hold_off(item)
    assert muted() == [True, False] and not track.strips[0].mute
    bring_back()
    assert muted() == [False, False]
    part("baked.targets").free(item)
    assert data.action == before and len(data.nla_tracks) == 1 and muted() == [True, False]
