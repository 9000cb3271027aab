"""Joints that follow stepped keys: they stay where the keys say up to the step, and it is told."""

import numpy as np
import pytest

from ..frames_shown import over_frames
from ..keying import key_slider, make_keys
from .test_led_joints import hinged_arm


@pytest.fixture
def arm(part, scene, make):
    """An upper arm that follows its animation and a forearm that hangs on it: (upper, shoulder)."""
    upper, _fore, (shoulder, _elbow) = hinged_arm(part, scene, make)
    shoulder.condyle.joint.prescribed = True
    return upper, shoulder


def bake(part, scene):
    scene.frame_set(1)
    report = part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    return report, [each.values for each in report.warnings if each.code == "keys-jump"]


@pytest.mark.small
@pytest.mark.parametrize("samples", (1, 8))
def test_a_joint_with_stepped_keys_stays_up_to_the_last_sample(part, scene, arm, samples):
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 13: 0.5}, "CONSTANT")
    scene.condyle.start.samples = str(samples)
    report, told = bake(part, scene)
    assert told == [{"joint": "Upper Joint", "size": "28.6°", "frame": 13.0, "count": 1}]
    before, after = report.frames < 13.0 - 1.0 / samples - 1e-9, report.frames >= 13.0
    q, qd = report.result.q, report.result.qd
    assert np.abs(q[before, 0]).max() < 1e-12 and np.abs(q[after, 0] - 0.5).max() < 1e-7
    assert np.abs(qd[before]).max() < 1e-4  # what hangs on it hangs still; sliders are kept in float32
    assert np.abs(q[after, 1]).max() > 0.1


@pytest.mark.small
@pytest.mark.parametrize("samples", (1, 4))
def test_a_cycle_that_drops_back_leaps_at_its_end(part, scene, arm, samples):
    """Blender shows the end of a cycle at its last frame, and what it starts over with just behind it. It was read as
    a motion that is as fast as the way back over one frame, and where samples lie between frames over 1/4096 of one.
    """
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 7: 0.3}, "LINEAR")
    for curve in make_keys(shoulder, "LINEAR"):
        curve.modifiers.new("CYCLES")
    scene.condyle.start.samples = str(samples)
    report, told = bake(part, scene)
    assert len(told) == 1 and told[0]["size"] == f"{17.2 * (1 - (1 / samples) / 6):.3g}°"
    assert told[0]["frame"] == round(7 + 1 / samples, 2) and told[0]["count"] == 3
    # 25 is the end of the fourth cycle; a sample lies between steps of 1 ms, in which the second derivative leaps to
    # that of the way back: 6 times 0.3 rad over a sample squared, h^2 / 100 of that
    wanted = 0.05 * ((report.frames - 1.0) % 6.0)
    wanted[(report.frames - 1.0) % 6.0 == 0.0] = 0.3
    wanted[0] = 0.0
    assert np.abs(report.result.q[:, 0] - wanted).max() < 1e-5 * samples**2
    # within the cycles it goes as fast as its keys say, up to their ends: 0.05 rad a frame, of which a step of 1 ms
    # that meets an end within it knows
    inside = ((report.frames - 1.0) % 6.0 > 1.0) & (report.frames > 2.0)
    assert np.abs(report.result.qd[inside, 0] - 0.05 * 24.0).max() < 1e-3


@pytest.mark.parametrize("length", (2, 3, 4))
def test_a_short_cycle_leaps_as_well(part, scene, arm, length):
    """The way back is no longer than the way there, from frame to frame."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 1 + length: 0.3}, "LINEAR")
    for curve in make_keys(shoulder, "LINEAR"):
        curve.modifiers.new("CYCLES")
    report, told = bake(part, scene)
    wanted = 0.3 * ((report.frames - 1.0) % length) / length
    wanted[(report.frames - 1.0) % length == 0.0] = 0.3
    wanted[0] = 0.0
    assert np.abs(report.result.q[:, 0] - wanted).max() < 3e-5  # see the test of longer ones
    assert [(each["frame"], each["count"]) for each in told] == [(2 + length, 24 // length - 1)]


@pytest.mark.parametrize("samples", (1, 2, 8))
def test_a_step_between_frames_is_taken_where_it_is(part, scene, arm, samples):
    """Where there are samples to show it; else it is there at the next frame."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 6.5: 0.4, 12.25: -0.2}, "CONSTANT")
    scene.condyle.start.samples = str(samples)
    report, told = bake(part, scene)
    at = {1: 13, 2: 12.5, 8: 12.25}[samples]  # a leap takes a sample
    assert [(each["frame"], each["count"]) for each in told] == [(at, 2)]
    frames, q = report.frames, report.result.q[:, 0]
    if samples == 1:
        expected = np.where(frames >= 13.0, -0.2, np.where(frames >= 7.0, 0.4, 0.0))
        # a sample lies between steps of 1 ms, in which the second derivative leaps to that of the way there: 6 times
        # 0.6 rad over a frame squared, h^2 / 100 of that
        assert np.abs(q - expected).max() < 2.1e-5
        return
    expected = np.where(frames >= 12.25, -0.2, np.where(frames >= 6.5, 0.4, 0.0))
    at = frames[:, None]
    # on its way there
    within = ((at < [6.5, 12.25]) & (at > np.array([6.5, 12.25]) - 1.0 / samples)).any(axis=1)
    # the leap is known to 1/4000 frame, of which the way from the sample before it knows
    assert np.abs((q - expected)[~within]).max() < 2e-3


def test_a_child_with_stepped_keys_stays_too(part, scene, arm):
    upper, _ = arm
    upper.rotation_mode = "XYZ"
    for frame, turn in {1: 0.0, 9: 0.3, 17: -0.2}.items():
        upper.location = (-0.2 * np.sin(turn), 0.0, 0.2 - 0.2 * np.cos(turn))
        upper.rotation_euler = (0.0, turn, 0.0)
        for path in ("location", "rotation_euler"):
            upper.keyframe_insert(path, frame=frame)
    make_keys(upper, "CONSTANT")
    scene.condyle.start.samples = "4"
    report, told = bake(part, scene)
    assert told == [{"joint": told[0]["joint"], "size": "28.6°", "frame": 17.0, "count": 2}]
    q = np.abs(report.result.q[:, 0])
    for first, last, wanted in ((1, 8.5, 0.0), (9, 16.5, 0.3), (17, 25, 0.2)):
        there = (report.frames >= first) & (report.frames <= last)
        # a sample lies between two steps, of which the way to the earlier one is part of the leap
        assert np.abs(q[there] - wanted).max() < 5e-4


@pytest.mark.parametrize("keys", ({1: 0.0, 12: 0.0, 13: 0.5, 25: 0.5}, {1: -8.0 * np.pi, 13: 8.0 * np.pi}))
def test_what_is_fast_or_starts_anew_after_a_turn_does_not_leap(part, scene, arm, keys):
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, keys, "LINEAR")
    if len(keys) == 2:
        for curve in make_keys(shoulder, "LINEAR"):
            curve.modifiers.new("CYCLES")
    report, told = bake(part, scene)
    assert not told
    if len(keys) == 2:  # a slider goes over eight turns, and it turns on evenly
        assert report.result.q[-1, 0] == pytest.approx(24.0 * np.pi, abs=1e-4)


def test_what_moves_evenly_and_leaps_at_times_moves_evenly_between(part, scene, arm):
    """Steps of one slider leave the way of it from there on."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 12: 0.11, 13: 0.5, 25: 0.62}, "LINEAR")
    for curve in make_keys(shoulder, "LINEAR"):
        curve.keyframe_points[1].interpolation = "CONSTANT"
    scene.condyle.start.samples = "4"
    report, told = bake(part, scene)
    assert [each["frame"] for each in told] == [13.0]
    there = (report.frames <= 12.0) | (report.frames >= 13.0)
    wanted = np.where(
        report.frames <= 12.0, 0.01 * (report.frames - 1.0), 0.5 + 0.01 * (report.frames - 13.0)
    )
    assert np.abs(report.result.q[there, 0] - wanted[there]).max() < 0.01


def test_a_joint_is_let_go_where_it_leaps_as_where_it_does_not(part, scene, arm):
    """A leap at the frame at which its switch lets go is none of its held motion."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.2, 13: 0.5}, "CONSTANT")
    for frame, on in {1: True, 10: False}.items():
        shoulder.condyle.joint.prescribed = on
        shoulder.keyframe_insert("condyle.joint.prescribed", frame=frame)
    scene.condyle.start.samples = "2"
    report, told = bake(part, scene)
    assert not told
    assert np.abs(report.result.q[report.frames <= 9.5, 0] - 0.2).max() < 1e-6
    assert np.abs(report.result.q[-1, 0] - 0.2) > 0.01


def test_a_sampled_motion_does_not_leap_where_it_turns_back(part, scene, arm):
    """Keys in every frame, as captured ones are: near a turn the way to a frame is many times the one before."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    values = {frame: 0.5 * np.sin(0.55 * (frame - 1)) for frame in range(1, 26)}
    efforts = []
    for interpolation in ("CONSTANT", "LINEAR"):
        key_slider(shoulder, values, interpolation)
        report, told = bake(part, scene)
        assert not told
        efforts.append(report.result.efforts[:, 0])
    assert np.abs(efforts[0] - efforts[1]).max() < 1e-9


@pytest.mark.parametrize(
    ("interpolation", "easing", "first", "length", "fps"),
    [
        ("ELASTIC", "EASE_OUT", 3.25, 24.0, 12),
        ("ELASTIC", "EASE_IN_OUT", 1.0, 2.0, 12),
        ("EXPO", "EASE_IN_OUT", 1.0, 2.0, 12),
    ],
)
def test_what_is_fast_between_two_frames_goes_as_its_curve_says(
    part, scene, arm, interpolation, easing, first, length, fps
):
    """Elastic keys end by a thousandth of their way, which was told as a leap; what goes most of its way within an
    eighth of a frame was taken for one, and was 0.26 off between the frames.
    """
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {first: 0.0, first + length: 1.0}, interpolation)
    (curve,) = make_keys(shoulder, interpolation)
    for point in curve.keyframe_points:
        point.easing = easing
    scene.condyle.start.samples, scene.render.fps, scene.frame_end = "4", fps, 30
    report, told = bake(part, scene)
    wanted = [curve.evaluate(frame) for frame in report.frames]
    # 120 looks a second lie a tenth of a frame apart: that far it cuts the corners at its keys
    assert not told and np.abs(report.result.q[:, 0] - wanted).max() < 0.02


def test_two_steps_at_frames_running_are_leaps_and_no_sampled_motion(part, scene, arm):
    """The joint swung around them, by 0.27 rad where its keys hold it, and that was not told."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 12: 0.5, 13: 1.5}, "CONSTANT")
    scene.condyle.start.samples = "4"
    report, told = bake(part, scene)
    assert told == [{"joint": told[0]["joint"], "size": "57.3°", "frame": 13.0, "count": 2}]
    frames, q = report.frames, report.result.q[:, 0]
    for first, last, value in ((1.0, 11.75, 0.0), (12.0, 12.75, 0.5), (13.0, 25.0, 1.5)):
        # the last sample before a leap lies between two steps
        assert np.abs(q[(frames >= first) & (frames <= last)] - value).max() < 2e-3


@pytest.mark.parametrize("cycle", (False, True))
def test_samples_beside_a_leap_between_them_show_what_blender_does(part, scene, arm, cycle):
    """The one before lay on the way of the leap: half of that was seen there of a step in the middle between two
    samples, and all of it where a cycle ends at the sample.
    """
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 12.5 if cycle else 12.625: 2.0}, "LINEAR" if cycle else "CONSTANT")
    if cycle:
        make_keys(shoulder, "LINEAR")[0].modifiers.new("CYCLES")
    scene.condyle.start.samples = "4"
    report, told = bake(part, scene)
    assert [each["frame"] for each in told] == [12.75]
    shown = over_frames(report.frames.tolist(), lambda: shoulder["coordinate"])
    # samples lie between steps, of which the one that leads over a leap is a part of that
    near = np.abs(report.frames - 12.625) < 0.5
    assert np.abs(report.result.q[near, 0] - shown[near]).max() < 0.02


@pytest.mark.parametrize(
    ("keys", "interpolation", "most"),
    [
        ({1: 0.0, 9: 0.1, 10: 1.1, 25: 0.0}, "BACK", 0.03),
        ({1: 0.0, 9: -1.0, 10: 1.1, 11.5: -1.0, 25: 0.0}, "CUBIC", 0.04),
    ],
)
def test_two_keys_at_frames_running_are_no_sampled_motion(part, scene, arm, keys, interpolation, most):
    """From one to the other the joint went as its neighbours suggest, and not as its curve: 0.6 rad off. And corners at
    keys between frames were cut, by 0.14 rad.
    """
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, keys, interpolation)
    scene.condyle.start.samples = "4"
    report, _ = bake(part, scene)
    shown = over_frames(report.frames.tolist(), lambda: shoulder["coordinate"])
    # splines through five looks a frame, round a corner
    assert np.abs(report.result.q[:, 0] - shown).max() < most
