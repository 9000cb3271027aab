"""How muscles look: points along their paths, and tubes of constant volume."""

import numpy as np
import pytest

import physics as ph
from physics.analysis.muscle_drawing import TENDON, muscle_curves, tube_radii, tube_volume


def model_with_corner() -> ph.Model:
    builder = ph.ModelBuilder()
    body = builder.add_body("arm", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, inertia=np.eye(3))
    point = ph.muscles.PathPoint
    builder.add_muscle("bent", [point(None, (0, 0, 0)), point(body, (0.3, 0, 0)), point(body, (0.3, 0, 0.4))])
    return builder.build()


def test_curves_keep_corners_and_lengths():
    points, lengths = muscle_curves(model_with_corner(), [[0.0], [0.5]], 16)
    assert points.shape == (2, 1, 16, 3) and np.allclose(lengths, 0.7)
    assert np.abs(points[0, 0] - [0.3, 0.0, 0.0]).sum(axis=1).min() < 1e-15
    steps = np.linalg.norm(np.diff(points[:, 0], axis=1), axis=2)
    assert np.allclose(steps.sum(axis=1), 0.7)  # nothing is cut off
    assert steps.min() > 0.3 * steps.max()  # a corner takes the place of the nearest point


def test_curves_refuse_what_they_cannot_draw():
    with pytest.raises(ph.ModelError, match="at least 2, got 1"):
        muscle_curves(model_with_corner(), [[0.0]], 1)
    with pytest.raises(ph.ModelError, match="q"):
        muscle_curves(model_with_corner(), [[0.0, 1.0]])
    with pytest.raises(ph.CancelledError):
        muscle_curves(model_with_corner(), [[0.0]], progress=lambda fraction: False)


@pytest.mark.parametrize("tendons", [(0.0, 0.0), (0.15, 0.15), (0.1, 0.4)])
def test_tubes_keep_their_volume(tendons):
    rest = 0.4
    lengths = np.array([0.3, 0.4, 0.55])
    u = np.tile(np.linspace(0.0, 1.0, 20001), (3, 1))
    radii = tube_radii(u, lengths, rest, tendons)
    square = radii**2
    volumes = np.pi * lengths * 0.5 * (square[:, 1:] + square[:, :-1]).mean(axis=1)
    assert np.allclose(volumes, tube_volume(rest, tendons), rtol=1e-6)  # trapezoids over kinks at the tendons
    assert np.isclose(radii[1].max(), 1.0) and radii[0].max() > 1.1 and radii[2].max() < 0.95
    assert np.allclose(radii[:, 0], TENDON)


def test_tubes_refuse_tendons_without_a_belly():
    with pytest.raises(ph.ModelError, match=r"room for a belly, got shares \[0.6, 0.4\]"):
        tube_radii(np.zeros((1, 2)), [0.1], 0.1, (0.6, 0.4))


def test_a_belly_that_has_no_room_left_does_not_swell_without_end():
    """A path shorter than its tendons: they give way, and the belly stays thin at its ends."""
    lengths = np.array([0.3, 0.2, 0.05])
    u = np.tile(np.linspace(0.0, 1.0, 201), (3, 1))
    radii = tube_radii(u, lengths, 0.3, (0.5, 0.3))
    assert radii[0].max() == pytest.approx(1.0, abs=1e-3) and 1.5 < radii[1:].max() < 2.5
    np.testing.assert_allclose(radii[:, [0, -1]], TENDON, atol=1e-9)
