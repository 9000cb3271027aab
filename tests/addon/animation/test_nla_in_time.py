"""What strips of the NLA play is known between frames, as what an action in use says is."""

import numpy as np
import pytest

from ..frames_shown import over_frames
from ..keying import key_slider
from .test_jumps import arm, bake  # noqa: F401

KEYS = {1: 0.0, 6: 0.8, 11: -0.4}


def pushed_down(item, start=1, **settings):
    """The action of an item as a strip in a track of its own."""
    data = item.animation_data
    tracks = data.nla_tracks
    strip = (tracks[0] if tracks else tracks.new()).strips.new("Strip", start, data.action)
    for name, value in settings.items():
        setattr(strip, name, value)
    return strip


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scale": 1.7},
        {"repeat": 2.0},
        {"repeat": 2.5, "scale": 0.75},
        {"use_reverse": True, "repeat": 3.0},
        {"action_frame_start": 3.0, "action_frame_end": 8.0, "repeat": 2.0},
    ],
)
def test_a_strip_plays_what_the_scene_shows(part, scene, make, settings):
    item = make.empty("Empty")
    item["coordinate"] = 0.0
    key_slider(item, KEYS, "BEZIER")
    strip = pushed_down(item, 4, **settings)
    item.animation_data.action = None
    curve = part("curves.fcurve_values").alone(item, '["coordinate"]')
    at = np.arange(1.0, strip.frame_end + 3.0, 0.125)
    shown = over_frames(at.tolist(), lambda: item["coordinate"])
    # both are in single precision
    np.testing.assert_allclose([curve.evaluate(frame) for frame in at.tolist()], shown, atol=1e-5)
    (keys,) = part("curves.fcurve_values").keyed([curve], at)
    inside = keys[(keys > strip.frame_start) & (keys < strip.frame_end)]
    # the key at frame 6
    assert np.abs(np.array([curve.evaluate(frame) for frame in inside]) - 0.8).min() < 1e-5
    assert curve.starts_over == (strip.repeat > 1.0)


def test_a_row_of_strips_plays_one_after_the_other(part, scene, make):
    item = make.empty("Empty")
    item["coordinate"] = 0.0
    key_slider(item, KEYS, "LINEAR")
    pushed_down(item, 1)
    pushed_down(item, 11, use_reverse=True)
    pushed_down(item, 25)  # behind a gap, where it plays from its first frame on
    late = pushed_down(item, 40)
    late.frame_start_raw, late.frame_end_raw = 36.5, 46.5
    item.animation_data.action = None
    curve = part("curves.fcurve_values").alone(item, '["coordinate"]')
    for frame in np.arange(1.0, 48.0, 0.25).tolist():
        scene.frame_set(int(frame), subframe=frame % 1.0)
        assert curve.evaluate(frame) == pytest.approx(item["coordinate"], abs=1e-5)


@pytest.mark.parametrize("why", ["blended", "faded", "two", "driven", "off"])
def test_what_more_has_a_say_is_not_said_by_a_strip(part, make, why):
    item = make.empty("Empty")
    item["coordinate"] = 0.0
    key_slider(item, KEYS, "LINEAR")
    strip = pushed_down(item)
    data = item.animation_data
    if why == "two":
        data.nla_tracks.new().strips.new("Other", 1, data.action)
    if why == "driven":
        item.driver_add('["coordinate"]')
    data.action = None
    strip.blend_type = "ADD" if why == "blended" else "REPLACE"
    strip.blend_in = 2.0 if why == "faded" else 0.0
    data.use_nla = why != "off"
    assert part("curves.fcurve_values").alone(item, '["coordinate"]') is None


@pytest.mark.parametrize("fps", (12, 24))
def test_a_motion_that_is_pushed_down_is_the_same(part, scene, arm, fps):
    """It was seen at whole frames alone: what hangs on it went 3 mrad off with 12 a second, 9 with 24."""
    _, shoulder = arm
    scene.render.fps = fps
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, KEYS, "BEZIER")
    own, _ = bake(part, scene)
    pushed_down(shoulder)
    shoulder.animation_data.action = None
    played, _ = bake(part, scene)
    assert np.abs(played.result.q - own.result.q).max() < 1e-9 and np.ptp(own.result.q[:, 1]) > 0.1
