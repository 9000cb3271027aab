"""Random shapes of curved obstacles and random ends about them, some of them extreme."""

from typing import Any

import numpy as np

from physics.muscles.obstacles import Ellipsoid, SphereCappedCylinder, Torus

SIDES = {
    "ellipsoid": ("shorter", "+x", "-y", "+z"),
    "capsule": ("shorter", "clockwise", "counterclockwise", "+x", "-y"),
    "torus": ("shorter",),
}


def shape(name: str, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """An obstacle, a function of a place that tells about how far outside of it that is, and its largest extent.

    Semi-axes of ellipsoids are 2 to 14 cm; a cylinder between caps is 0.3 to 8 radii long; the tube of a torus has 0.1
    to 0.9 of its radius.
    """
    side = SIDES[name][rng.integers(len(SIDES[name]))]
    if name == "ellipsoid":
        radii = 0.02 * np.exp(rng.uniform(0.0, np.log(7.0), 3))
        made: Any = Ellipsoid(radii=radii, side=side)
        return made, lambda x: (np.linalg.norm(x / radii, axis=-1) - 1.0) * radii.min(), radii.max()
    if name == "capsule":
        half = 0.015 * np.exp(rng.uniform(np.log(0.3), np.log(8.0)))
        made = SphereCappedCylinder(radius=0.03, length=2.0 * half, side=side)

        def outside(x: Any) -> Any:
            beyond = np.maximum(np.abs(x[..., 2]) - half, 0.0)
            return np.hypot(np.hypot(x[..., 0], x[..., 1]), beyond) - 0.03

        return made, outside, half + 0.03
    minor = 0.1 * rng.uniform(0.1, 0.9)
    made = Torus(major_radius=0.1, minor_radius=minor)
    return made, lambda x: np.hypot(np.hypot(x[..., 0], x[..., 1]) - 0.1, x[..., 2]) - minor, 0.1 + minor


def pose(name: str, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """An obstacle, how far outside of it a place is (see `shape`), and two ends, each 2 % to 200 % of the least radius
    outside of it, anywhere about it.
    """
    obstacle, outside, size = shape(name, rng)
    ends: list[Any] = []
    while len(ends) < 2:
        wanted = obstacle.least_radius() * np.exp(rng.uniform(np.log(0.02), np.log(2.0)))
        along = rng.normal(size=3)
        begin = rng.uniform(-1.0, 1.0, 3) * size
        ray = begin + np.linspace(4.0 * size, 0.0, 4001)[:, None] * along / np.linalg.norm(along)
        inside = np.flatnonzero(outside(ray) < wanted)
        if len(inside) and inside[0] > 0:
            ends.append(ray[inside[0] - 1])
    return obstacle, outside, ends[0], ends[1]
