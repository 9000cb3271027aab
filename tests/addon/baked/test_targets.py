"""Where a bake goes, that it touches nothing else there, and that Free Bake puts back what was, to the bit."""

import bpy
import numpy as np
import pytest

from ..bake_digests import bags, curve_state, file_digest
from ..frames_shown import over_frames
from ..said import codes

pytestmark = pytest.mark.small


TARGETS = ("NEW", "CURRENT", "STRIP")


def others(digest, target):
    """What no bake may change: all animation but that of Bob's channels."""
    return digest["animation"].get(("OBJECT", "Top")), digest["Top"], digest["counts"]


def shows(scene, item, report):
    """Farthest that an object is from the simulated poses at the frames."""
    found = over_frames(report.frames, lambda: item.matrix_world)
    return np.abs(found - report.poses[item.name]).max()


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_shows_the_motion_and_is_freed_to_the_bit(part, scene, swing, target, tmp_path):
    _, bob, _ = swing
    own = bob.animation_data.action.name
    before = file_digest()
    scene.condyle.simulation.output.target = target
    for _ in range(2):  # a second bake replaces the first
        report = part("jobs.bake").bake_now(scene)
    assert shows(scene, bob, report) < 4e-6
    assert others(file_digest(), target) == others(before, target)
    path = str(tmp_path / "baked.blend")
    scene.frame_set(5)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert part("jobs.bake").free_bake(scene) == 1
    scene.frame_set(5)
    assert file_digest() == before
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    assert shows(scene, bpy.data.objects["Bob"], report) < 4e-6
    part("jobs.bake").free_bake(scene)
    scene.frame_set(5)
    assert file_digest() == before
    assert bpy.data.objects["Bob"].animation_data.action.name == own
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.parametrize("first", TARGETS)
def test_the_target_may_change_from_bake_to_bake(part, scene, swing, first):
    _, bob, _ = swing
    before = file_digest()
    for target in TARGETS:
        for each in (first, target):
            scene.condyle.simulation.output.target = each
            report = part("jobs.bake").bake_now(scene)
        assert shows(scene, bob, report) < 4e-6
    part("jobs.bake").free_bake(scene)
    scene.frame_set(5)
    assert file_digest() == before


@pytest.mark.parametrize("target", TARGETS)
def test_undo_and_redo_of_every_target(part, scene, swing, target):
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        scene.condyle.simulation.output.target = target
        bpy.ops.ed.undo_push(message="before")
        before = file_digest()
        for operator in (bpy.ops.condyle.bake, bpy.ops.condyle.free_bake):
            assert operator() == {"FINISHED"}
            after = file_digest()
            bpy.ops.ed.undo_push(message="after")
            bpy.ops.ed.undo()
            assert file_digest() == before
            bpy.ops.ed.redo()
            assert file_digest() == after
            before = after


@pytest.mark.parametrize("target", ("CURRENT", "OVERWRITE"))
def test_the_action_in_use_keeps_all_that_is_not_ours(part, scene, swing, target):
    """A stored OVERWRITE reads as CURRENT, and says so once."""
    _, bob, _ = swing
    compat, output = part("blender.compat"), scene.condyle.simulation.output

    def kept():
        found = [
            (slot, state)
            for slot, curves, _ in bags(bob.animation_data.action)
            for state in map(curve_state, curves)
        ]
        return [
            each
            for each in found
            if each[1][0] not in {"location", "rotation_euler"} or "Stranger" in each[0]
        ]

    before = kept()
    output.target = target
    found = [codes(part("jobs.bake").bake_now(scene).warnings).count("overwrite-is-current") for _ in "ab"]
    assert found == [target == "OVERWRITE", 0] and output.target == "CURRENT"
    assert kept() == before and len(before) >= 7
    place = next(curve for curve in compat.curves_in_use(bob) if curve.data_path == "location")
    frames = [key.co[0] for key in place.keyframe_points]
    baked = [float(frame) for frame in range(5, 14)]
    assert frames == [1.0, 4.0, *baked, 20.0, 30.0]


def test_curves_before_and_after_the_range_stay(part, scene, swing):
    """Beyond the keys next to the range nothing moves: before frame 4 and after frame 20."""
    _, bob, _ = swing
    outside = [1.0, 2.0, 2.5, 3.0, 4.0, 20.0, 22.0, 25.5, 30.0]

    def values():
        curves = part("blender.compat").curves_in_use(bob)
        return [curve.evaluate(frame) for curve in curves if not curve.modifiers for frame in outside]

    before = values()
    scene.condyle.simulation.output.target = "CURRENT"
    part("jobs.bake").bake_now(scene)
    assert values() == before


def test_a_strip_lies_above_what_was_and_leaves_it_playing(part, scene, swing):
    _, bob, _ = swing
    scene.condyle.simulation.output.target = "STRIP"
    scene.frame_set(9)
    color = tuple(bob.color)
    report = part("jobs.bake").bake_now(scene)
    tracks = bob.animation_data.nla_tracks
    assert bob.animation_data.action is None
    assert [track.name for track in tracks] == ["Condyle, before the bake", "Condyle Bake"]
    (strip,) = tracks[-1].strips
    assert (strip.frame_start, strip.frame_end) == (5.0, 13.0) and strip.action.name in report.actions
    assert {curve.data_path for _, curves, _ in bags(strip.action) for curve in curves} == {
        "location",
        "rotation_euler",
    }
    scene.frame_set(9)
    assert tuple(bob.color) == color
    scene.frame_set(3)
    assert np.isclose(bob.rotation_euler.y, next_value(part, tracks[0].strips[0], 3.0))


def next_value(part, strip, frame):
    for slot, curves, _ in bags(strip.action):
        if "Stranger" not in slot:
            return next(
                curve.evaluate(frame)
                for curve in curves
                if curve.data_path == "rotation_euler" and curve.array_index == 1
            )
    raise AssertionError("no curve")


def layer(item, blend, influence, extrapolation="HOLD"):
    """Lay the action in use over a strip in which the same channels and others stand still."""
    data = item.animation_data
    over, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    item.color = (0.5, 0.5, 0.5, 1.0)
    for frame in (1, 30):
        for path in ("location", "color"):
            item.keyframe_insert(path, frame=frame)
    under = data.action
    data.action = None
    strip = data.nla_tracks.new().strips.new("Under", 1, under)
    strip.extrapolation = "HOLD"
    data.action = over
    if slot is not None:
        data.action_slot = slot
    data.action_blend_type, data.action_influence = blend, influence
    data.action_extrapolation = extrapolation


LAYERED = (
    ("ADD", 1.0, "HOLD", True),
    ("MULTIPLY", 1.0, "HOLD", False),
    ("REPLACE", 0.25, "HOLD", True),
    ("COMBINE", 0.5, "HOLD_FORWARD", False),
    ("REPLACE", 1.0, "NOTHING", False),
    ("REPLACE", 1.0, "NOTHING", True),
    ("ADD", 1.0, "HOLD_FORWARD", True),
    ("REPLACE", 1.0, "HOLD", True),
)
COLOR_FRAMES = (0, 3, 5, 9, 13, 20, 45, 90)


def colors(scene, item):
    """An animated property of an object that no bake touches, far around the frames of the bake."""
    found = over_frames(COLOR_FRAMES, lambda: item.color)
    scene.frame_set(5)
    return found


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize(("blend", "influence", "extrapolation", "cycles"), LAYERED)
def test_an_action_that_is_layered_goes_on_moving_what_is_not_ours(
    part, scene, swing, target, blend, influence, extrapolation, cycles
):
    """As it did: with its blending, influence and extrapolation, between the NLA and the baked channels."""
    _, bob, _ = swing
    compat, data = part("blender.compat"), bob.animation_data
    curves = compat.curves(data.action, compat.slot_of(data))
    for curve in list(curves):
        if curve.data_path == "scale":  # layers of it would change the size
            curves.remove(curve)
    for curve in curves:
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
    for frame, value in ((2, 0.2), (16, 0.8)):
        bob.color = (value, value, value, 1.0)
        bob.keyframe_insert("color", frame=frame)
    if cycles:
        next(each for each in curves if each.data_path == "color").modifiers.new("CYCLES")
    simulation = scene.condyle.simulation
    simulation.use_scene_range, simulation.frame_start, simulation.frame_end = False, 5, 13
    scene.frame_start, scene.frame_end = COLOR_FRAMES[0], COLOR_FRAMES[-1]
    layer(bob, blend, influence, extrapolation)
    scene.frame_set(5)
    before, shown = file_digest(), colors(scene, bob)
    scene.condyle.simulation.output.target = target
    for _ in range(2):
        report = part("jobs.bake").bake_now(scene)
        assert part("handlers.staleness").changes(scene) == []
        np.testing.assert_allclose(colors(scene, bob), shown, atol=1e-6)
        assert shows(scene, bob, report) < 4e-6
    part("jobs.bake").free_bake(scene)
    scene.frame_set(5)
    assert file_digest() == before


@pytest.mark.parametrize("target", TARGETS)
def test_bones_go_to_every_target_and_leave_other_bones_alone(part, scene, make, body, authoring, target):
    scene.frame_start, scene.frame_end = 3, 9
    rig = make.armature(
        "Rig",
        {
            "A": ((0, 0, 1), (0, 0, 0.5), None),
            "B": ((0, 0, 0.5), (0.1, 0, 0), "A"),
            "C": ((1, 0, 0), (1, 0, 1), None),
        },
    )
    for name in "BC":
        for frame in (1, 6, 12):
            rig.pose.bones[name].location = (0, 0.002 * frame, 0)
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    scene.frame_set(3)
    authoring.make_body(scene, body(rig, "B"), mass=1.0, center=(0.1, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    before = file_digest()
    other = [
        state
        for _, curves, _ in bags(rig.animation_data.action)
        for state in map(curve_state, curves)
        if '"C"' in state[0]
    ]
    scene.condyle.simulation.output.target = target
    report = part("jobs.bake").bake_now(scene)
    for frame, pose in zip(report.frames, report.poses["Rig/B"]):
        scene.frame_set(int(frame))
        assert np.abs(np.array(rig.matrix_world @ rig.pose.bones["B"].matrix) - pose).max() < 4e-6
    used = rig.animation_data.action or rig.animation_data.nla_tracks[0].strips[0].action
    assert other == [
        state for _, curves, _ in bags(used) for state in map(curve_state, curves) if '"C"' in state[0]
    ]
    part("jobs.bake").free_bake(scene)
    scene.frame_set(3)
    assert file_digest() == before


def test_targets_that_cannot_be_had_are_refused_with_the_reason(part, scene, swing, ph):
    _, bob, _ = swing
    output = scene.condyle.simulation.output
    before = file_digest()
    bob.animation_data.use_nla = False
    output.target = "STRIP"
    with pytest.raises(ph.ModelError, match="its NLA is switched off"):
        part("jobs.bake").bake_now(scene)
    bob.animation_data.use_nla = True
    bob.animation_data.nla_tracks.new()
    bob.animation_data.action_blend_type = "ADD"
    output.target = "CURRENT"
    with pytest.raises(ph.ModelError, match="is blended with the NLA below it"):
        part("jobs.bake").bake_now(scene)
    bob.animation_data.nla_tracks.remove(bob.animation_data.nla_tracks[0])
    bob.animation_data.action_blend_type = "REPLACE"
    assert file_digest() == before


def modify(curve, kind):
    """Give the curve of a layered action what makes Blender play it elsewhere than where its keys are."""
    if kind == "RANGE":
        action = curve.id_data
        action.use_frame_range, action.frame_start, action.frame_end = True, 4.0, 7.0
    elif kind == "LIMITS":
        limits = curve.modifiers.new(kind)
        limits.use_min_x, limits.min_x = True, 3.0
    elif kind != "NOISE":
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before, cycles.mode_after = kind
    else:
        curve.modifiers.new(kind)


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize("extrapolation", ("HOLD_FORWARD", "NOTHING"))
@pytest.mark.parametrize(
    "kind", ("RANGE", "LIMITS", "NOISE", ("NONE", "REPEAT"), ("REPEAT", "NONE")), ids=str
)
def test_a_layered_action_is_played_below_a_bake_where_blender_played_it(
    part, scene, make, target, extrapolation, kind
):
    """A range by hand means nothing to an action in use, modifiers make it endless on one side or both."""
    compat, targets = part("blender.compat"), part("baked.targets")
    scene.frame_start, scene.frame_end = 1, 30
    item = make.empty("Item")
    for frame, value in ((5, 0.1), (11, 0.3)):
        item.color = (value, value, value, 1.0)
        item.keyframe_insert("color", frame=frame)
    layer(item, "ADD", 1.0, extrapolation)
    modify(next(iter(compat.curves_in_use(item))), kind)

    def shown():
        return over_frames((*range(1, 31), 7.5), lambda: item.color)

    before = shown()
    frames, zeros = np.arange(6.0, 15.0), np.zeros((9, 3))
    targets.put(
        item,
        [
            part("curves.fcurve_arrays").KeyedPath(
                "location", "Item", frames, zeros, part("curves.slopes").Slopes.smooth(zeros)
            )
        ],
        target,
    )
    np.testing.assert_allclose(shown(), before, atol=1e-6)
    targets.free(item)
    np.testing.assert_array_equal(shown(), before)
