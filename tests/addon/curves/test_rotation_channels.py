"""Rotation modes: the same rotation as Blender's own, and continuous from key to key."""

import numpy as np
import pytest


def rotation_of(values, mode):
    from mathutils import Euler, Quaternion

    if mode == "QUATERNION":
        return np.array(Quaternion(values).normalized().to_matrix())
    if mode == "AXIS_ANGLE":
        return np.array(Quaternion(values[1:], values[0]).to_matrix())
    return np.array(Euler(values, mode).to_matrix())


MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@pytest.mark.parametrize("mode", MODES)
def test_channels_give_the_rotation_and_do_not_jump(part, make, mode):
    rotations = make.smooth_poses(400, seed=3, turn=2.5)[:, :3, :3]
    near = np.array((1.0, 0, 0, 0)) if mode == "QUATERNION" else np.zeros(4 if mode == "AXIS_ANGLE" else 3)
    channels = part("curves.rotation_channels").rotation_channels(rotations, mode, near)
    back = np.array([rotation_of(values.tolist(), mode) for values in channels])
    assert np.abs(back - rotations).max() < 1e-6  # mathutils is float32
    steps = np.abs(np.diff(channels, axis=0)).max()
    # turning at most 2.5 * 5 rad over 400 frames; Euler rates grow near a gimbal lock, which this motion comes close to
    assert steps < (0.05 if mode == "QUATERNION" else 1.5)


@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_what_the_channels_mean(part, make, mode):
    rotations = make.smooth_poses(50, seed=5, turn=2.5)[:, :3, :3]
    near = np.array((1.0, 0, 0, 0)) if mode == "QUATERNION" else np.zeros(4 if mode == "AXIS_ANGLE" else 3)
    channels = part("curves.rotation_channels")
    found = channels.matrices(channels.rotation_channels(rotations, mode, near), mode)
    assert np.abs(found - rotations).max() < 1e-12


@pytest.mark.parametrize("turns", [-3, 0, 2])
def test_eulers_begin_at_the_turn_that_is_there(part, make, turns):
    rotations = make.smooth_poses(50, seed=4, turn=1.0)[:, :3, :3]
    channels = part("curves.rotation_channels")
    plain = channels.rotation_channels(rotations, "XYZ", np.zeros(3))
    near = plain[0] + 2.0 * np.pi * turns
    assert np.allclose(channels.rotation_channels(rotations, "XYZ", near), plain + 2.0 * np.pi * turns)


def test_several_turns_about_one_axis_stay_continuous(part):
    from mathutils import Matrix

    angles = np.linspace(0.0, 25.0, 300)
    rotations = np.array([np.array(Matrix.Rotation(angle, 3, "Z")) for angle in angles])
    channels = part("curves.rotation_channels")
    assert np.allclose(channels.rotation_channels(rotations, "XYZ", np.zeros(3))[:, 2], angles, atol=1e-5)
    turned = channels.rotation_channels(rotations, "AXIS_ANGLE", np.array((0.0, 0, 0, 1.0)))
    assert np.allclose(turned[:, 0], angles, atol=1e-5) and np.allclose(turned[:, 1:], (0, 0, 1), atol=1e-5)
