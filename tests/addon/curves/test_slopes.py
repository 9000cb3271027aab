"""Slopes of baked keys: exact on polynomials, and on each side of a hit by its own."""

import bpy
import numpy as np
import pytest

GRAVITY = 9.81 / 24**2  # metres a frame squared
FRAMES = np.arange(24.0)


def height(at, hit, speed, bounce):
    """Of a stone that hits the floor at a frame with a speed [m a frame], (n, 1)."""
    fall = -speed * (at - hit) - 0.5 * GRAVITY * (at - hit) ** 2
    rise = bounce * speed * (at - hit) - 0.5 * GRAVITY * (at - hit) ** 2 * (bounce > 0.0)
    return np.where(at < hit, fall, rise)[:, None]


def corners(slopes, values):
    return slopes.corners(values, slopes.bending(values))


def leaps(slopes, values):
    return np.flatnonzero(slopes.leaping(values))


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_slopes_are_exact_on_polynomials(part, count):
    degree = min(count - 1, 4) if count >= 5 else min(count - 1, 2)
    x = np.arange(count, dtype=float)
    values = np.column_stack([x**power for power in range(degree + 1)])
    wanted = np.column_stack([power * x ** max(power - 1, 0) for power in range(degree + 1)])
    assert np.allclose(part("curves.slopes").of_even(values).rates[1:-1], wanted[1:-1])
    if count >= 5:
        assert np.allclose(part("curves.slopes").of_even(values).rates, wanted)


@pytest.mark.parametrize("speed", [0.04, 0.16])
@pytest.mark.parametrize("bounce", [0.0, 0.5])
def test_slopes_beside_a_hit_are_those_of_their_side(part, speed, bounce):
    """A fall that ends between two frames: keys dipped 10 mm into the floor behind it."""
    slopes = part("curves.slopes")
    hit, at = 10.4, FRAMES[:, None]
    values = height(FRAMES, hit, speed, bounce)
    rates = np.where(at < hit, -speed, bounce * speed) - GRAVITY * (at - hit) * ((at < hit) | (bounce > 0.0))
    assert list(corners(slopes, values)) == [10]
    found = slopes.of_even(values)
    assert np.abs(found.rates - rates).max() < 1e-12  # parabolas are met to round-off
    assert found.meet[10] == pytest.approx(0.4, abs=1.0 / slopes.PLACES)
    assert np.isnan(np.delete(found.meet, 10)).all()


@pytest.mark.parametrize("speed", [0.05, 0.16, 0.3])
@pytest.mark.parametrize("bounce", [0.0, 0.3, 0.6, 1.0])
def test_keys_beside_a_hit_do_not_dip_wherever_it_lies(part, bounce, speed):
    """One slope for both sides dipped up to 24 mm, slopes by sides 12 at about a frame, where they were a mean; of slow
    hits nothing was known. Handles that meet at the hit never do, and are half as far off what was simulated.
    """
    slopes, reduction = part("curves.slopes"), part("curves.reduction")
    at = np.linspace(4.0, 16.0, 12 * 64 + 1)
    far = []
    for hit in 10.0 + np.arange(0.0, 1.0, 0.05):
        values, simulated = height(FRAMES, hit, speed, bounce), height(at, hit, speed, bounce)
        by_sides = slopes.of_even(values)
        shown, alike = (
            reduction.cubic(FRAMES, values, found, at)
            for found in (by_sides, slopes.Slopes.smooth(by_sides.rates))
        )
        # where it hits is known to 1/1024 of a frame; what is simulated lies on the floor, or above
        assert (shown - np.minimum(simulated, 0.0)).min() > -1e-6
        far.append([np.abs(each - simulated).max() for each in (shown, alike)])
    most = np.array(far).max(axis=0)
    assert most[0] < 0.6 * most[1]


def test_blender_shows_what_handles_that_meet_are_meant_to(part):
    slopes, reduction = part("curves.slopes"), part("curves.reduction")
    values = height(FRAMES, 10.3, 0.16, 0.5)
    found = slopes.of_even(values)
    for keys in (np.arange(24), np.array([0, 4, 8, 12, 16, 20, 23])):
        action = bpy.data.actions.new("Hit")
        slot = part("blender.compat").new_slot(action, bpy.data.objects.new("Stone", None))
        (curve,) = part("blender.compat").new_curves(action, slot, "location", [2], "Stone")
        (keyed,) = part("curves.fcurve_arrays").made(FRAMES[keys], values[keys], found.chosen(keys))
        part("blender.compat").give(curve, keyed)
        curve.update()
        at = np.linspace(0.0, 23.0, 24 * 8)
        shown = np.array([curve.evaluate(frame) for frame in at])
        meant = reduction.cubic(FRAMES[keys], values[keys], found.chosen(keys), at)[:, 0]
        assert np.abs(shown - meant).max() < 1e-5  # Blender's keys are in single precision, up to 1.5 m here
        bpy.data.actions.remove(action)


def test_what_hits_a_body_turns_all_of_its_channels(part):
    """Where it lies is seen in what is smooth on both sides; what goes on more wildly behind it turns there as well."""
    slopes = part("curves.slopes")
    place = height(FRAMES, 10.4, 0.16, 0.0)
    spin = np.where(FRAMES < 10.4, 0.0, np.sin(1.7 * (FRAMES - 10.4)) * np.exp(-0.3 * (FRAMES - 10.4)))[
        :, None
    ]
    assert not len(corners(slopes, spin))
    ((of_place, of_spin),) = slopes.of_bodies([[place, spin]])
    np.testing.assert_array_equal(of_spin.meet, of_place.meet)
    assert of_spin.rates[10, 0] == 0.0 and of_spin.rates[11, 0] == spin[12, 0] - spin[11, 0]
    alone = slopes.of_even(spin).rates[:, 0]
    assert abs(alone[10]) > 0.1  # it began to turn before it was hit
    found, wanted = np.delete(of_spin.rates[:, 0], [9, 10, 11]), np.delete(alone, [9, 10, 11])
    np.testing.assert_allclose(found, wanted, atol=1e-15)  # round-off: sums of other lengths


def test_a_hit_at_a_frame_is_one_hit_of_all_channels(part):
    """Of one it may lie behind the frame, of another before it."""
    slopes = part("curves.slopes")
    one, other = height(FRAMES, 10.001, 0.16, 0.0), height(FRAMES, 9.999, 0.16, 0.0)
    assert list(corners(slopes, one)) == [10] and list(corners(slopes, other)) == [9]
    ((first, second),) = slopes.of_bodies([[one, other]])
    np.testing.assert_array_equal(first.meet, second.meet)
    assert np.flatnonzero(~np.isnan(first.meet)).tolist() == [10]


def test_fewer_keys_keep_the_corner_between_them(part):
    """Handles of keys farther apart meet at it, too: at every fourth frame they are 50 mm off, and were 74."""
    slopes, reduction = part("curves.slopes"), part("curves.reduction")
    at = np.linspace(4.0, 20.0, 16 * 16 + 1)
    keys = np.array([0, 4, 8, 12, 16, 20, 23])
    values = height(FRAMES, 10.3, 0.16, 0.0)
    found = slopes.of_even(values).chosen(keys)
    assert found.meet[2] == pytest.approx(2.3 / 4.0, abs=1.0 / slopes.PLACES)
    shown, alike = (
        reduction.cubic(FRAMES[keys], values[keys], each, at)
        for each in (found, slopes.Slopes.smooth(found.rates))
    )
    simulated = height(at, 10.3, 0.16, 0.0)
    assert shown.min() > -1e-6 and np.abs(shown - simulated).max() < 0.7 * np.abs(alike - simulated).max()
    two = slopes.Slopes(np.zeros((9, 1)), np.array([np.nan, 0.5, np.nan, 0.5, np.nan, np.nan, 0.25, np.nan]))
    np.testing.assert_array_equal(two.chosen(np.array([0, 4, 8])).meet, [np.nan, 2.25 / 4.0])
    np.testing.assert_array_equal(two.chosen(np.array([1, 2])).meet, [0.5])


@pytest.mark.parametrize("period", [4, 5, 6, 7, 8, 10, 12, 24])
def test_what_swings_has_no_corners(part, period):
    turns = np.arange(60)[:, None] / period + np.linspace(0.0, 1.0, 40)
    for wave in np.sin(2.0 * np.pi * turns).T:
        assert not len(corners(part("curves.slopes"), wave[:, None]))
        assert not len(leaps(part("curves.slopes"), wave[:, None]))


def test_keys_do_not_overshoot_beside_a_leap(part):
    """As stepped keys make it, and cycles that start over: curves ran beyond by 8 % of it half a frame before."""
    slopes, reduction = part("curves.slopes"), part("curves.reduction")
    at = np.linspace(0.0, 23.0, 23 * 16 + 1)
    for step, row in ((np.where(FRAMES < 10, 0.0, 1.0), 9), (-1.0 * (FRAMES > 12), 12)):
        for smooth in (lambda t: 0.0 * t, lambda t: 0.08 * t, lambda t: 0.3 * np.sin(0.3 * t)):
            values = (step + smooth(FRAMES))[:, None]
            assert list(leaps(slopes, values)) == [row] and not len(corners(slopes, values))
            shown = reduction.cubic(FRAMES, values, slopes.of_even(values), at)[:, 0]
            beside = (at <= row) | (at >= row + 1)
            wanted = smooth(at) + np.where(at <= row, step[0], step[-1])
            # one-sided slopes are of third order: 0.3 ** 4 / 4 of the amplitude of the wave, at most
            assert np.abs(shown - wanted)[beside].max() < 1e-3
    assert not len(leaps(slopes, height(FRAMES, 10.4, 0.16, 0.5)))


def test_a_push_is_no_corner(part):
    """Accelerations that leap bend a motion, but nothing has hit it."""
    values = np.where(FRAMES < 10.4, 0.0, 0.01 * (FRAMES - 10.4) ** 2)
    assert not len(corners(part("curves.slopes"), values[:, None]))


def test_a_leap_is_no_corner(part):
    values = np.where(np.arange(20)[:, None] < 10, 0.0, 1.0)
    assert not len(corners(part("curves.slopes"), values))
