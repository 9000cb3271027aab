"""The smooth steps behind rounded paths."""

import pytest

from physics.kernels.wrapping.smooth import smooth_ramp, smooth_step

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
