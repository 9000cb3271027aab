"""Sliders that start over by whole turns turn on, as a wheel that is keyed for one turn and goes on in cycles."""

import numpy as np
import pytest

from ..keying import key_slider, make_keys
from .test_jumps import arm, bake  # noqa: F401

TURN = 2.0 * np.pi
LED = ("PRESCRIBED", "FOLLOW", "CONTROLLER")


def jump(values):
    """How far and at which frame a joint jumps, as a bake warns of it."""
    return values["size"], values["frame"]


@pytest.fixture
def wheel(part, scene, arm):
    """An arm that turns on a joint of a kind, with one that hangs on it: bake it with keys of its slider; the result
    and the lines that tell of leaps.
    """
    _, shoulder = arm
    settings = shoulder.condyle.joint

    def baked(keys, modifier=None, kind="hinge", led="PRESCRIBED", samples=1, slider=0):
        shoulder.animation_data_clear()
        if settings.type != kind:
            settings.type = kind
        part("making.bodies_and_joints").drive(scene, shoulder, True)
        settings.prescribed, settings.controller.enabled = led == "PRESCRIBED", led == "CONTROLLER"
        settings.follow = 0.7 if led == "FOLLOW" else 0.0
        scene.condyle.start.samples = str(samples)
        name = part("data.joints").slider_names(settings)[slider]
        for frame, value in keys.items():
            shoulder[name] = value
            shoulder.keyframe_insert(f'["{name}"]', frame=frame)
        (curve,) = make_keys(shoulder, "LINEAR")
        if modifier:
            curve.modifiers.new("CYCLES").mode_after = modifier
        report, told = bake(part, scene)
        return report.result, told

    return baked


@pytest.mark.small
@pytest.mark.parametrize("led", LED)
def test_a_wheel_turns_evenly_on_in_cycles(wheel, led):
    """It was led back by a whole turn in a frame: what hung on it was thrown, by 242 rad here."""
    whole, _ = wheel({1: 0.0, 25: 2.0 * TURN}, led=led)
    found, told = wheel({1: 0.0, 13: TURN}, "REPEAT", led=led)
    assert not told
    # sliders and keys come in single precision: so it goes on otherwise behind the end of a cycle
    assert np.abs(found.q - whole.q).max() < 2e-5 and np.ptp(whole.q[:, 1]) > 0.1


@pytest.mark.parametrize("samples", (1, 4))
@pytest.mark.parametrize(
    ("first", "length", "turns"),
    [(0.3, 12, 1), (0.0, 12, -1), (-1.0, 24, 3), (0.0, 8, -2), (0.0, 4.5, 1), (5.0, 1.7, 1)],
)
def test_cycles_of_any_length_and_direction_turn_on(wheel, first, length, turns, samples):
    """Several turns in a cycle, 212 degrees in a frame, ends between frames."""
    rate = turns * TURN / length
    found, told = wheel({1: first, 1 + length: first + turns * TURN}, "REPEAT", samples=samples)
    assert not told
    wanted = first + rate * np.linspace(0.0, 24.0, len(found.q))
    # a key between frames stands at a place in single precision
    assert np.abs(found.q[:, 0] - wanted).max() < 2e-5


@pytest.mark.parametrize("size", (350.0, 370.0, 540.0))
def test_what_leaps_by_other_than_whole_turns_leaps_still(wheel, size):
    """And it is told by how much in all: the pose alone says half a turn at most."""
    found, told = wheel({1: 0.0, 13: np.radians(size)}, "REPEAT", samples=4)
    assert len(told) == 1 and jump(told[0]) == (f"{size * (1.0 - 1.0 / 48):.3g}°", 13.25)
    assert found.q[-1, 0] == pytest.approx(np.radians(size), abs=1e-5)


def test_a_screw_does_not_come_back_by_turning(part, scene, arm, wheel):
    arm[1].condyle.joint.pitch = 0.024  # [m/rad]
    wheel({1: 0.0, 13: TURN}, "REPEAT", "helical")
    _, told = wheel({1: 0.0, 13: TURN}, "REPEAT", "helical")
    assert len(told) == 1 and jump(told[0]) == ("330° and 138 mm", 14.0)


@pytest.mark.parametrize(("slider", "leaps"), [(0, 0), (1, 1)])
def test_of_two_coordinates_the_one_that_turns_goes_on(wheel, slider, leaps):
    found, told = wheel({1: 0.0, 13: TURN}, "REPEAT", "cylindrical", slider=slider)
    assert len(told) == leaps and all(jump(each) == ("5.76 m", 14.0) for each in told)
    assert found.q[-1, slider] == pytest.approx((2 - leaps) * TURN, abs=2e-5)


def test_a_joint_with_limits_cannot_turn_on(arm, wheel):
    """Nor is a step by more than half of what its limits leave one the other way round: it was held at -1.2 for 0.8."""
    row = arm[1].condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", -1.0, 1.0
    found, told = wheel({1: -0.8, 12: -0.8, 13: 0.8, 25: 0.0})
    assert not told and found.q[12, 0] == pytest.approx(0.8, abs=1e-6) and abs(found.q[-1, 0]) < 1e-6
    row.lower, row.upper = -10.0, 10.0
    _, told = wheel({1: 0.0, 13: TURN}, "REPEAT")
    assert len(told) == 1 and jump(told[0]) == ("330°", 14.0)


def test_a_closed_curve_is_gone_round_on_and_on(part, scene, arm, make, wheel):
    """Where it ends it begins, whatever its coordinate says there."""
    _, joint = arm
    settings = joint.condyle.joint
    settings.type, settings.periodic = "spline_curve", True
    for turn in range(6):
        part("making.bodies_and_joints").add_control_frame(scene, joint, make.on_ball(TURN * turn / 6.0, 0.0))
    first, last = part("reading.scene").read_joint(scene, joint).domain
    found, told = wheel({1: first, 13: last}, "REPEAT", "spline_curve")
    assert not told
    wanted = np.linspace(first, first + 2.0 * (last - first), 25)
    assert np.abs(found.q[:, 0] - wanted).max() < 2e-5
    found, told = wheel({1: first, 13: 0.5 * (first + last)}, "REPEAT", "spline_curve")
    assert len(told) == 1


@pytest.mark.parametrize("reversed_", (False, True))
def test_a_strip_that_repeats_a_turn_turns_on(part, scene, arm, wheel, reversed_):
    _, shoulder = arm
    wheel({1: 0.0, 9: TURN})
    data = shoulder.animation_data
    strip = data.nla_tracks.new().strips.new("Turn", 1, data.action)
    data.action = None
    strip.use_reverse, strip.repeat = reversed_, 3.0
    report, told = bake(part, scene)
    assert not told
    wanted = np.linspace(0.0, -3.0 * TURN if reversed_ else 3.0 * TURN, 25)
    assert np.abs(report.result.q[:, 0] - report.result.q[0, 0] - wanted).max() < 2e-5


@pytest.mark.parametrize("interpolation", ("LINEAR", "BEZIER", "CONSTANT"))
@pytest.mark.parametrize("step", (20.0, -35.0, 170.0))
def test_captured_angles_that_are_kept_within_half_a_turn_turn_on(part, scene, arm, interpolation, step):
    """With a key at each frame, and from 170 degrees to -170 at the next: they were led back within that frame, and
    what hung on them was thrown, by 220 rad at 20 degrees a frame.
    """
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    angles = np.radians(step) * np.arange(25)
    within = (angles + np.pi) % TURN - np.pi
    key_slider(shoulder, dict(enumerate(within.tolist(), 1)), interpolation)
    report, told = bake(part, scene)
    assert not told
    # sliders come in single precision
    assert np.abs(report.result.q[:, 0] - angles - report.result.q[0, 0]).max() < 1e-5


@pytest.mark.parametrize("at", [(1, 12, 13, 25), (5, 5.5, 6.5, 9)])
def test_a_flick_by_almost_a_turn_is_one(part, scene, arm, at):
    """It has keys at both of its ends, and may come back by less at once, but was not captured."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    values = (0.0, 0.0, 6.0, 6.0) if at[1] == 12 else (0.0, -4.9, -1.8, -2.4)
    key_slider(shoulder, dict(zip(at, values)), "LINEAR")
    assert bake(part, scene)[0].result.q[-1, 0] == pytest.approx(values[-1], abs=1e-6)


@pytest.mark.parametrize("rate", (1.7, 5.0, 5.5))
def test_a_driven_wheel_turns_on_where_it_starts_over_at_frames_running(part, scene, arm, rate):
    """No frame stands out from those beside it there; it was led back, by 69 rad in all at 5.5 rad a frame."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    shoulder.driver_add('["coordinate"]').driver.expression = f"((frame - 1) * {rate}) % {TURN!r}"
    report, told = bake(part, scene)
    assert not told
    # sliders come in single precision
    assert np.abs(report.result.q[:, 0] - rate * (report.frames - 1.0)).max() < 1e-5
