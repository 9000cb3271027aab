"""Keys that cycles of a curve show are keys, for all that asks where there are some."""

import bpy
import numpy as np
import pytest

from ..keying import make_keys, set_keys

FIRST, LAST = -30, 40


def cycled(part, make, mode, counts=(0, 0), influence=None, limits=None):
    """A curve of straight lines with its cycles; Blender's own."""
    item = make.empty("Wheel")
    for frame, value in ((2, 0.0), (3, 5.0), (5, 4.0), (6, 1.0)):
        item.location.x = value
        item.keyframe_insert("location", index=0, frame=frame)
    (curve,) = make_keys(item, "LINEAR")
    modifier = curve.modifiers.new("CYCLES")
    modifier.mode_before, modifier.mode_after = mode if isinstance(mode, tuple) else (mode, mode)
    modifier.cycles_before, modifier.cycles_after = counts
    if influence is not None:
        modifier.use_influence, modifier.influence = True, influence
    if limits is not None:
        modifier.use_restricted_range = True
        modifier.frame_start, modifier.frame_end, modifier.blend_in, modifier.blend_out = limits
    return curve


def corners(curve):
    """Whole frames, but for the first and the last, at which a curve bends or ends a leap."""
    at = np.arange(FIRST, LAST + 1)
    left, middle, right = ([curve.evaluate(frame + side) for frame in at] for side in (-0.25, 0.0, 0.25))
    return set(at[np.abs(np.diff([left, middle, right], 2, axis=0)[0]) > 1e-3].tolist())


@pytest.mark.parametrize(
    "mode", ["REPEAT", "REPEAT_OFFSET", "MIRROR", ("NONE", "MIRROR"), ("REPEAT", "NONE")]
)
@pytest.mark.parametrize("counts", [(0, 0), (1, 2), (2, 1)])
@pytest.mark.parametrize("limits", [None, (-7.0, 13.0, 0.0, 0.0)])
def test_a_cycled_curve_has_its_keys_where_it_bends(part, make, mode, counts, limits):
    """Frames were looked for in its first cycle alone, or in cycles that it has not, or that are mirrored."""
    curve = cycled(part, make, mode, counts, limits=limits)
    found = part("curves.fcurve_values").keys_of(curve, FIRST, LAST)
    assert (np.diff(found) > 0.5).all()
    # where a range ends between keys the curve leaps, by the evaluation, without one
    ends = set() if limits is None else {-7, 13}
    assert corners(curve) - ends == {frame for frame in found.tolist() if FIRST <= frame <= LAST} - ends


@pytest.mark.parametrize("muted", [False, True])
def test_where_cycles_are_blended_there_are_no_keys(part, make, muted):
    of = part("curves.fcurve_values").keys_of
    curve = cycled(part, make, "REPEAT", limits=(-10.0, 20.0, 6.0, 4.0))
    found = of(curve, FIRST, LAST)
    assert found.min() == -3.0 and found.max() == 15.0
    for each in (cycled(part, make, "REPEAT", influence=0.5), cycled(part, make, "REPEAT")):
        each.modifiers[0].mute = muted
        own = [2.0, 3.0, 5.0, 6.0]
        assert (of(each, FIRST, LAST).tolist() == own) is (muted or each.modifiers[0].use_influence)


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("mode", ["REPEAT", "REPEAT_OFFSET", "MIRROR"])
def test_captured_cycles_lead_as_if_their_keys_were_written_out(part, make, mode, interpolation):
    """With straight lines between keys what hung on them was 5 to 284 mrad off: there were corners behind the first
    cycle. A strip that plays the action shows them, too.
    """
    frames = np.arange(25)
    cycle = 0.3 * np.sin(2.0 * np.pi * np.arange(13) / (24 if mode == "MIRROR" else 12) - np.pi / 2.0)
    turned = 12 - np.abs(frames - 12) if mode == "MIRROR" else frames % 12
    written = cycle[turned]
    if mode == "REPEAT_OFFSET":
        cycle, written = cycle + 0.02 * np.arange(13), written + 0.02 * frames

    def baked(values, cycles, strip=False):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        joint, slider = make.driven_arm(part, scene)
        scene.render.fps, scene.frame_start, scene.frame_end = 24, 0, 24
        joint.condyle.joint.prescribed = True
        set_keys(joint, f'["{slider}"]', dict(enumerate(values.tolist())))
        (curve,) = make_keys(joint, interpolation)
        if cycles:
            modifier = curve.modifiers.new("CYCLES")
            modifier.mode_before, modifier.mode_after = "NONE", mode
        if strip:
            data = joint.animation_data
            made = data.nla_tracks.new().strips.new("Played", 0, data.action)
            data.action = None
            made.action_frame_end = made.frame_end_raw = 24
        scene.frame_set(0)
        return part("jobs.bake").bake_now(scene).result.q

    wanted = baked(written, cycles=False)
    assert np.ptp(wanted, axis=0).min() > 0.1
    # values come in single precision
    assert np.abs(baked(cycle, cycles=True) - wanted).max() < 5e-6
    assert np.abs(baked(cycle, cycles=True, strip=True) - wanted).max() < 5e-6
