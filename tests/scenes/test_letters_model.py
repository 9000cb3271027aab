"""The letters' outlines and the chains that they make. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import letters_model
from blender_scenes.letters_model import KINDS, WORD
from blender_scenes.letters_shapes import LEFT, RIGHT, STROKE, frames_on, hull, skeleton, stretch

SIDES = [(letter, RIGHT) for letter in "SIGRAP"] + [(letter, LEFT) for letter in "IGRAPH"]


def test_hull_of_a_square():
    points = np.array([[0, 0], [1, 0], [0.5, 0.5], [1, 1], [0, 1], [0.5, 0.0]], dtype=float)
    assert hull(points).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize(("letter", "side"), SIDES)
def test_stretch_lies_on_the_letter(letter, side):
    points = stretch(letter, side, 200)[:, :2]
    nearest = np.linalg.norm(points[:, None] - skeleton(letter), axis=2).min(axis=1)
    # points of a skeleton are 1.5 mm apart; between two of them the nearest is farther by the arrow of the arc
    np.testing.assert_allclose(nearest, STROKE, atol=2e-5)


@pytest.mark.parametrize(("letter", "side"), SIDES)
def test_curve_lies_on_the_letter(letter, side):
    curve = letters_model.outline(letter, side)
    poses = curve.transform(np.linspace(*curve.range[0], 300)[:, None])
    nearest = np.linalg.norm(poses[:, None, [0, 2], 3] - skeleton(letter), axis=2).min(axis=1)
    np.testing.assert_allclose(nearest, STROKE, atol=1e-4)
    normal = poses[:, [0, 2], 2] * (-1.0 if side == LEFT else 1.0)
    assert (normal @ [np.cos(side), np.sin(side)]).min() > np.cos(np.radians(105.0))


def test_frames_are_rotations_in_the_plane():
    frames = frames_on(stretch("G", LEFT), inward=True)
    np.testing.assert_allclose(np.linalg.det(frames[:, :3, :3]), 1.0, atol=1e-12)
    np.testing.assert_allclose(
        frames[:, :3, 1], np.broadcast_to([0.0, -1.0, 0.0], (len(frames), 3)), atol=1e-12
    )


@pytest.mark.parametrize("double", KINDS)
def test_word_begins_level_and_touching(double):
    model = letters_model.build_model((double,))
    assert model.num_coordinates == (15 if double else 8)
    poses = ph.body_poses(model, letters_model.start(model, (double,)))
    np.testing.assert_allclose(poses[:, :3, :3], np.broadcast_to(np.eye(3), (8, 3, 3)), atol=1e-2)
    assert np.ptp(poses[:, 2, 3]) < 1e-2  # sides that bend where the other would meet them stand a little off
    gaps = letters_model.gaps(dict(enumerate(poses)))
    beside = np.diagonal(gaps, 1)
    assert np.abs(beside).max() < 1e-4
    gaps[np.arange(7), np.arange(1, 8)] = gaps[np.arange(1, 8), np.arange(7)] = np.inf
    assert gaps.min() > 5e-3


def test_chain_falls_without_tearing_or_overlapping():
    model = letters_model.build_model()
    state = letters_model.start(model)
    result = ph.simulate(model, state, duration=1.0, dt=1e-3, integrator="rk4", record_interval=0.05)
    for first in (0, len(WORD)):
        for poses in result.poses[:, first : first + len(WORD)]:
            gaps = letters_model.gaps(dict(enumerate(poses)))
            assert np.abs(np.diagonal(gaps, 1)).max() < 1e-4
            assert gaps.min() > -1e-4


def test_letter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no letter 'Q' here"):
        skeleton("Q")


@pytest.mark.filterwarnings("ignore:steps-divided")
@pytest.mark.parametrize(
    ("integrator", "dt"),
    [("bdf1", 1e-3), ("bdf1", 2e-3), ("sdirk2", 5e-3), ("linearly_implicit_euler", 1e-3)],
)
def test_implicit_methods_run_the_chains_at_long_steps(integrator, dt):
    """Coordinates at limits turn by 0.1 rad and more in a step, in which inertias change: impulses by the masses at its
    beginning added energy until the runs diverged, at 0.13 to 0.23 s.
    """
    model = letters_model.build_model()
    result = ph.simulate(model, letters_model.start(model), 5.0, dt, integrator, record_interval=1e-2)
    energy = result.energy[:, 2]
    assert result.t[-1] == pytest.approx(5.0)
    # at such steps some tenths of a joule come and go, of 9 in the motion; none stay, and friction takes most of the
    # 6.7 J that it takes with exact steps: where the letters come to rest is a matter of chance
    assert energy.max() < energy[0] + 0.2 and energy[-1] < energy[0] - 6.0
    assert 0 < result.info["divided"] < 100
    assert "energy-gained" not in [each.code for each in result.diagnosis]


def test_energy_that_comes_and_goes_within_a_few_steps_is_told():
    """Steps of 5 ms are too long for symplectic Euler: checks every 16 to 22 steps saw 0.27 of 5 J."""
    model = letters_model.build_model((False,))
    with pytest.warns(ph.SimulationWarning, match="energy-gained"):
        result = ph.simulate(model, letters_model.start(model, (False,)), 5.0, 5e-3)
    books = result.info["energy"]
    assert books["gained"] > 4.0
    # the same sums over the same poses, up to the last digits
    assert books["most_kinetic"] == pytest.approx(result.energy[:, 0].max(), rel=1e-9)
