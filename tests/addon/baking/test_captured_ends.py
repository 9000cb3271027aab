"""A captured motion, with a key at every frame, begins as it goes on: what hangs on it is not thrown."""

import bpy
import numpy as np
import pytest

from ..keying import make_keys, set_keys

# A wave of so many a second, half a second long or longer: at 24 frames a second it has 12 samples a swing.
WAVES, PHASE = 2.0, 1.0


def wave(fps, first, last):
    times = np.arange(round(first * fps), round(last * fps) + 1) / fps
    return times, 0.3 * np.sin(2.0 * np.pi * WAVES * times + PHASE)


@pytest.fixture
def bake(part, make):
    """Bake an arm that hangs, damped, from one that is led by captured keys of its slider, or of its own; readings of
    both at every twelfth of a second (7, 2).
    """

    def baked(fps, times, values, cycles=False, own_keys=False, led="PRESCRIBED"):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        joint, slider = make.driven_arm(part, scene)
        bpy.data.objects["Elbow"].condyle.joint.coordinates[0].damping = 0.05
        settings = joint.condyle.joint
        settings.prescribed, settings.controller.enabled = led == "PRESCRIBED", led == "CONTROLLER"
        scene.render.fps, scene.frame_start, scene.frame_end = fps, 0, fps // 2
        if own_keys:
            part("making.bodies_and_joints").drive(scene, joint, False)
            upper, height = bpy.data.objects["Up"], 0.9
            upper.rotation_mode = "AXIS_ANGLE"
            for frame, value in zip((fps * times).tolist(), values.tolist()):
                upper.rotation_axis_angle = (-value, 0.0, 1.0, 0.0)
                upper.location = (0.2 * np.sin(value), 0.0, height - 0.2 * np.cos(value))
                for path in ("location", "rotation_axis_angle"):
                    upper.keyframe_insert(path, frame=frame)
            moved = upper
        else:
            set_keys(joint, f'["{slider}"]', dict(zip((fps * times).tolist(), values.tolist())))
            moved = joint
        for curve in make_keys(moved, "LINEAR"):
            if cycles:
                curve.modifiers.new("CYCLES")
        scene.frame_set(0)
        return part("jobs.bake").bake_now(scene).result.q[:: fps // 12]

    return baked


@pytest.mark.parametrize("own_keys", [False, True])
def test_what_hangs_on_a_captured_motion_is_as_if_it_had_more_samples(bake, own_keys):
    """It was 49 mrad off in the first half second, be there keys before the first frame, or cycles."""
    fine = bake(240, *wave(240, 0.0, 0.5), own_keys=own_keys)
    assert np.ptp(fine, axis=0).min() > 0.2
    ways = ((*wave(24, 0.0, 0.5), False), (*wave(24, -0.5, 1.0), False), (*wave(24, 0.0, 0.5), True))
    for times, values, cycles in ways:
        # a slope of sixth order by one side, 0.3 % off at twelve samples a swing
        assert np.abs(bake(24, times, values, cycles, own_keys) - fine).max() < 6e-3


def test_a_controller_draws_to_a_captured_motion_as_if_it_had_more_samples(bake):
    """Its targets went in straight lines from frame to frame, with rates of second order: what hung on the joint was
    35 mrad off.
    """
    fine = bake(240, *wave(240, 0.0, 0.5), led="CONTROLLER")
    assert np.ptp(fine, axis=0).min() > 0.2
    found = bake(24, *wave(24, 0.0, 0.5), led="CONTROLLER")
    # cubics with slopes of fourth order, at twelve samples a swing
    assert np.abs(found - fine).max() < 5e-4
