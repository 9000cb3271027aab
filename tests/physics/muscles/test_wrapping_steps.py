"""The smooth steps behind rounded paths."""

from __future__ import annotations

import numpy as np
import pytest

from physics.kernels.wrap_smooth import corner_share, smooth_ramp, smooth_step

STEP = 1e-5
POINTS = [-1.7, -0.99, -0.4, 0.0, 0.3, 0.8, 1.2]


@pytest.mark.parametrize("function", [smooth_step, smooth_ramp])
@pytest.mark.parametrize("v", POINTS)
def test_derivatives(function: object, v: float) -> None:
    low, here, high = (function(v + k * STEP) for k in (-1, 0, 1))  # type: ignore[operator]
    for order in range(2):
        # central differences: the square of the step times a third derivative of at most 30
        assert (high[order] - low[order]) / (2.0 * STEP) == pytest.approx(here[order + 1], abs=1e-8)


def test_ends() -> None:
    assert smooth_step(-1.0) == (0.0, 0.0, 0.0)
    assert smooth_step(1.0) == (1.0, 0.0, 0.0)
    assert smooth_ramp(1.0 - 1e-12)[0] == pytest.approx(1.0, abs=1e-11)
    assert smooth_ramp(-1.0 + 1e-12)[0] == pytest.approx(0.0, abs=1e-15)


def test_corner() -> None:
    """A right angle rounded off: unit directions x before and y behind, the corner at the origin."""
    reach = 0.3
    turn = np.array([-1.0, 1.0])

    def point(s: float) -> np.ndarray:
        line = np.array([s, 0.0]) if s < 0.0 else np.array([0.0, s])
        return line + corner_share(s, reach)[0] * turn

    assert np.array_equal(point(0.0), [0.0, 0.0])
    for s in (-0.5, -reach, reach, 0.7):
        assert corner_share(s, reach)[0] == 0.0
    for s in (-0.29, -0.1, 0.0, 0.05, 0.2):
        slope = np.array([1.0, 0.0]) if s < 0.0 else np.array([0.0, 1.0])
        _, rate, bend = corner_share(s, reach)
        h = 1e-4
        assert np.abs((point(s + h) - point(s - h)) / (2.0 * h) - slope - rate * turn).max() < 1e-5
        second = (point(s + h) - 2.0 * point(s) + point(s - h)) / h**2
        # through the corner, too: the second derivative is continuous there
        assert np.abs(second - bend * turn).max() < 1e-2
