"""Rotation modes: the same rotation as Blender's own, and continuous from key to key."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")


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
    channels = part("channels").rotation_channels(rotations, mode, near)
    back = np.array([rotation_of(values.tolist(), mode) for values in channels])
    assert np.abs(back - rotations).max() < 1e-6  # mathutils is float32
    steps = np.abs(np.diff(channels, axis=0)).max()
    # turning at most 2.5 * 5 rad over 400 frames; Euler rates grow near a gimbal lock, which this motion comes close to
    assert steps < (0.05 if mode == "QUATERNION" else 1.5)


@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_what_the_channels_mean(part, make, mode):
    rotations = make.smooth_poses(50, seed=5, turn=2.5)[:, :3, :3]
    near = np.array((1.0, 0, 0, 0)) if mode == "QUATERNION" else np.zeros(4 if mode == "AXIS_ANGLE" else 3)
    channels = part("channels")
    found = channels.matrices(channels.rotation_channels(rotations, mode, near), mode)
    assert np.abs(found - rotations).max() < 1e-12


@pytest.mark.parametrize("turns", [-3, 0, 2])
def test_eulers_begin_at_the_turn_that_is_there(part, make, turns):
    rotations = make.smooth_poses(50, seed=4, turn=1.0)[:, :3, :3]
    channels = part("channels")
    plain = channels.rotation_channels(rotations, "XYZ", np.zeros(3))
    near = plain[0] + 2.0 * np.pi * turns
    assert np.allclose(channels.rotation_channels(rotations, "XYZ", near), plain + 2.0 * np.pi * turns)


def test_several_turns_about_one_axis_stay_continuous(part):
    from mathutils import Matrix

    angles = np.linspace(0.0, 25.0, 300)
    rotations = np.array([np.array(Matrix.Rotation(angle, 3, "Z")) for angle in angles])
    channels = part("channels")
    assert np.allclose(channels.rotation_channels(rotations, "XYZ", np.zeros(3))[:, 2], angles, atol=1e-5)
    turned = channels.rotation_channels(rotations, "AXIS_ANGLE", np.array((0.0, 0, 0, 1.0)))
    assert np.allclose(turned[:, 0], angles, atol=1e-5) and np.allclose(turned[:, 1:], (0, 0, 1), atol=1e-5)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_slopes_are_exact_on_polynomials(part, count):
    degree = min(count - 1, 4) if count >= 5 else min(count - 1, 2)
    x = np.arange(count, dtype=float)
    values = np.column_stack([x**power for power in range(degree + 1)])
    wanted = np.column_stack([power * x ** max(power - 1, 0) for power in range(degree + 1)])
    assert np.allclose(part("channels").slopes(values)[1:-1], wanted[1:-1])
    if count >= 5:
        assert np.allclose(part("channels").slopes(values), wanted)


def test_slopes_beside_a_hit_are_those_of_their_side(part):
    """A fall that ends between two frames: keys dipped 10 mm into the floor behind it."""
    channels = part("channels")
    frames = np.arange(24.0)[:, None]
    hit, speed, gravity = 10.4, 0.16, 9.81 / 24**2  # frame, metres a frame, metres a frame squared
    before = -speed * (frames - hit) - 0.5 * gravity * (frames - hit) ** 2
    for bounce in (0.0, 0.5):
        after = bounce * speed * (frames - hit) - 0.5 * gravity * (frames - hit) ** 2 * (bounce > 0.0)
        values = np.where(frames < hit, before, after)
        rates = np.where(frames < hit, -speed, bounce * speed) - gravity * (frames - hit) * (
            (frames < hit) | (bounce > 0.0)
        )
        assert list(channels.corners(values)) == [10]
        assert np.abs(channels.slopes(values) - rates).max() < 1e-12  # parabolas are met to round-off


@pytest.mark.parametrize("bounce", [0.0, 0.3, 0.6, 1.0])
def test_keys_beside_a_hit_are_better_than_others_wherever_it_lies_between_frames(part, bounce):
    """At about a frame both stretches beside it looked like the corner's: a stone that drops dead dipped 24 mm, 12 with
    the slopes of what is smooth.
    """
    channels, cubic = part("channels"), part("key_reduction").cubic
    frames, between = np.arange(24.0), np.linspace(0.0, 12.0, 12 * 32 + 1)
    speed, gravity = 0.16, 9.81 / 24**2  # metres a frame, metres a frame squared

    def height(at, hit):
        fall = -speed * (at - hit) - 0.5 * gravity * (at - hit) ** 2
        rise = bounce * speed * (at - hit) - 0.5 * gravity * (at - hit) ** 2 * (bounce > 0.0)
        return np.where(at < hit, fall, rise)[:, None]

    dips, far = [], []
    for hit in 10.0 + np.arange(0.0, 1.0, 0.05):
        values = height(frames, hit)
        smooth = (8.0 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / 12.0
        pair = channels.slopes(values), np.concatenate([np.zeros((2, 1)), smooth, np.zeros((2, 1))])
        shown = [cubic(frames, values, rates, between)[65:] for rates in pair]
        dips.append([-min(each.min(), 0.0) for each in shown])
        far.append([np.abs(each - height(between, hit)[65:]).max() for each in shown])
    for found in (np.array(dips), np.array(far)):
        assert (found.max(axis=0)[0] <= found.max(axis=0)[1]) and found.mean(axis=0)[0] <= found.mean(axis=0)[
            1
        ]
    assert (
        np.array(dips)[:, 0].max() < 0.0125
    )  # 12.2 mm, at a frame: a key has one slope for both of its sides


@pytest.mark.parametrize("period", [4, 5, 6, 7, 8, 10, 12, 24])
def test_what_swings_has_no_corners(part, period):
    turns = np.arange(60)[:, None] / period + np.linspace(0.0, 1.0, 40)
    for wave in np.sin(2.0 * np.pi * turns).T:
        assert not len(part("channels").corners(wave[:, None]))


def test_a_leap_is_no_corner(part):
    values = np.where(np.arange(20)[:, None] < 10, 0.0, 1.0)
    assert not len(part("channels").corners(values))
