"""Ends nearer to an obstacle than the smoothing length: it shrinks there, so that no path dives into the obstacle."""

from typing import Any

import numpy as np
import pytest

from physics.kernels.wrapping import layout as wrap_layout
from physics.kernels.wrapping.smooth import LEAST
from physics.muscles.obstacles import Cylinder, Ellipsoid, Sphere, SphereCappedCylinder, Torus
from physics.muscles.wrapping import Wrap

from .strands import Motion, at_rest, largest_error, polyline

RADIUS = 0.04
WIDTH = 0.2 * RADIUS  # what muscles with mass have
RADII = np.array([0.04, 0.06, 0.05])
SHAPES: dict[str, Any] = {
    "sphere": Sphere(radius=RADIUS),
    "cylinder": Cylinder(radius=RADIUS, side="+y"),
    "capsule": SphereCappedCylinder(radius=RADIUS, length=0.05),
    "ellipsoid": Ellipsoid(radii=RADII),
    "torus": Torus(major_radius=0.1, minor_radius=RADIUS),
}


def depths(name: str, points: Any) -> Any:
    """How deep points (n, 3) lie in an obstacle (of an ellipsoid: at most) [m]."""
    if name == "ellipsoid":
        return RADII.max() * (1.0 - np.linalg.norm(points / RADII, axis=1))
    if name == "torus":
        return RADIUS - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.1, points[:, 2])
    half = {"sphere": 0.0, "capsule": 0.025, "cylinder": np.inf}[name]
    beyond = np.maximum(np.abs(points[:, 2]) - half, 0.0)
    return RADIUS - np.hypot(np.hypot(points[:, 0], points[:, 1]), beyond)


def near(name: str, clearance: float) -> tuple[Any, Any]:
    """Ends on two sides of an obstacle, the first so far from its surface."""
    if name == "torus":
        return np.array([0.1, 0.0, -RADIUS - clearance]), np.array([0.097, 0.03, 0.12])
    x = -RADIUS - clearance
    return np.array([x, 0.002, 0.004]), np.array([0.12, 0.03, 0.01])


@pytest.mark.parametrize("name", SHAPES)
def test_no_path_dives(name: str) -> None:
    deepest = []
    for share in (0.0, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0):
        strand = at_rest(Wrap(SHAPES[name], WIDTH), *near(name, share * WIDTH))
        assert strand.status == wrap_layout.WRAPPED
        deepest.append(float(depths(name, polyline(strand, 400)).max()))
    assert max(deepest) < 2.0 * LEAST * WIDTH + 1e-12
    # the seams of a capsule are rounded, by up to 3.4e-4 of its radius
    assert max(deepest[4:]) < (3.5e-4 * RADIUS if name == "capsule" else 1e-12)


@pytest.mark.parametrize("share", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_hold_where_the_smoothing_shrinks(name: str, share: float) -> None:
    frame = np.eye(4)
    frame[:3, 3] = 0.02, -0.01, 0.03
    ends = [x + frame[:3, 3] for x in near(name, share * WIDTH)]
    motion = Motion(ends, [frame], np.random.default_rng(4), speed=0.05)
    # differences of fourth order; where the smoothing is a tenth, the path changes the faster
    step = 4e-6 if share < 0.5 else 2e-4
    assert largest_error(Wrap(SHAPES[name], WIDTH), motion, (0.03, 0.3, 0.6, 0.95), step) < 1e-7


def slope_steps(count: int) -> float:
    """Largest change, from one clearance to the next of so many, of how the length's gradient changes by it."""
    shares = np.linspace(-0.2, 5.0, count)
    ends = [near("sphere", share * WIDTH) for share in shares]
    found = np.array([at_rest(Wrap(SHAPES["sphere"], WIDTH), *each).gradient for each in ends])
    slopes = np.diff(found, axis=0) / (shares[1] - shares[0])
    return float(np.abs(np.diff(slopes, axis=0)).max())


def test_the_length_is_twice_differentiable_as_an_end_comes_near() -> None:
    """Its second derivative has no jumps: four times as fine, steps of it are a quarter."""
    assert slope_steps(4161) < 0.3 * slope_steps(1041)
