"""What holds a joint on its animation, or draws it there, does so from its keys on, be they between frames."""

import numpy as np
import pytest

from ..keying import key_slider, make_keys
from .test_jumps import arm, bake  # noqa: F401


def keyed(item, path, values):
    """Stepped keys of a joint's setting, by frames."""
    for frame, value in values.items():
        setattr(item.condyle.joint, path, value)
        item.keyframe_insert(f"condyle.joint.{path}", frame=frame)
    make_keys(item, "CONSTANT")


@pytest.mark.parametrize(("path", "on", "off"), [("prescribed", True, False), ("follow", 1.0, 0.0)])
@pytest.mark.parametrize("until", (10.7, 10.35))
def test_a_joint_that_is_held_between_two_frames_alone_is_held(part, scene, arm, path, on, off, until):
    """At whole frames nothing was seen of it, and nothing told."""
    _, shoulder = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.5}, "CONSTANT")
    settings = shoulder.condyle.joint
    settings.prescribed, settings.coordinates[0].start = False, 0.5
    keyed(shoulder, path, {1: off, 10.25: on, until: off})
    scene.condyle.start.samples = "8"
    report, _ = bake(part, scene)
    q = report.result.q[:, 0]
    before, at = q[report.frames < 10.2], q[(report.frames >= 10.25) & (report.frames <= until)]
    assert np.ptp(before) > 0.1 and abs(before[-1] - 0.5) > 0.1
    # sliders come in single precision
    assert np.abs(at - 0.5).max() < 1e-6 and 1e-3 < abs(q[report.frames == 11.0][0] - 0.5) < 0.05


def test_a_weight_that_steps_does_so_at_once(part, make):
    """It went evenly from one look to the next, over a fifth of a frame at 24 a second."""
    item, weights = make.empty("Joint"), part("animation.follow_weights")
    keyed(item, "follow", {1.0: 0.2, 3.5: 0.9, 5.0: 0.3})
    seen = weights.Strength(np.arange(7.0), np.array([0.2] * 4 + [0.9, 0.3, 0.3]), np.zeros(7, dtype=bool))
    found = weights.between_frames(part("reading.looks")._strength_curves(item), seen, np.arange(31) / 5.0)
    at = np.array([3.45, 3.499, 3.501, 4.95, 4.999, 5.0])
    # Blender takes what is nearer to a key than a ten-thousandth of a frame for it
    np.testing.assert_allclose(found.weights_at(at), [0.2, 0.2, 0.9, 0.9, 0.9, 0.3], atol=1e-6)


def test_of_what_is_between_frames_the_ends_lead(part):
    weights = part("animation.follow_weights")
    frames, on = np.array([0.0, 1.0, 2.0, 2.3, 2.6, 3.0, 4.0, 5.0]), np.zeros(8, dtype=bool)
    on[3] = True
    held = weights.Strength(frames, np.array([0.0] * 7 + [0.5]), on)
    assert held.held_between(np.arange(6.0)).tolist() == [False, False, True, False, False]
    assert held.led_between(np.arange(6.0)).tolist() == [False, False, True, False, True]
