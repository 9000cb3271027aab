"""Smooth wrapped paths against the shortest ones: a length and twenty points per step, with all derivatives; and
lengths over each surface against those over a cylinder.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from physics.kernels.compiler.jit import compiled
from physics.kernels.wrapping.network import lay_nodes
from physics.kernels.wrapping.strand import wrap_length, wrap_point
from physics.muscles import Cylinder, Ellipsoid, Obstacle, Sphere, SphereCappedCylinder, Torus, Wrap
from physics.muscles.network import Network
from tests.physics.muscles.test_wrapping_rows import frame

from .timing import Contestant

POINTS = 20
SMOOTHING = 5e-3
DEPTHS = 16  # places of the ends, from deep in the obstacle to free of it


SHAPES: dict[str, list[Obstacle]] = {
    "sphere": [Sphere(radius=0.05)],
    "cylinder": [Cylinder(radius=0.05, side="+y")],
    "ellipsoid": [Ellipsoid(radii=(0.05, 0.04, 0.07))],
    "two_cylinders": [
        Cylinder(radius=0.05, side="+y"),
        Cylinder(radius=0.04, frame=frame((0.15, 0.0, 0.0), (0.2, 0.1, 0.0)), side="+y"),
    ],
}

ALONG = (0.0, np.pi / 2.0, 0.0)  # z along the path
# compared by lengths alone, as without mass
SURFACES: dict[str, list[Obstacle]] = {
    "sphere": SHAPES["sphere"],
    "capsule": [SphereCappedCylinder(radius=0.05, length=0.1, frame=frame((0.0, 0.0, 0.0), ALONG))],
    "ellipsoid": SHAPES["ellipsoid"],
    "torus": [Torus(major_radius=0.1, minor_radius=0.05, frame=frame((0.0, -0.1, 0.0), ALONG))],
    "two_ellipsoids": [
        Ellipsoid(radii=(0.05, 0.04, 0.07)),
        Ellipsoid(radii=(0.05, 0.04, 0.06), frame=frame((0.15, 0.0, 0.0), (0.2, 0.1, 0.0))),
    ],
}


@compiled
def laps(
    steps: int,
    points: int,
    record: Any,
    ends: Any,
    frames: Any,
    rates: Any,
    own: Any,
    gradient: Any,
    vectors: Any,
    out: Any,
) -> float:  # pragma: no cover
    total = 0.0
    for step in range(steps):
        length, curvature = wrap_length(record, 0, ends[step % len(ends)], frames, rates, own, gradient)
        lay_nodes(record, 0, rates, own, gradient)
        for k in range(points):
            sigma = length * (k + 0.5) / points
            wrap_point(record, 0, sigma, 0.1, rates, own, vectors[0], vectors[1], out, vectors[2])
            total += vectors[0, 0] + vectors[2, 0]
        total += curvature
    return total


def strand(
    name: str,
    smoothing: float,
    obstacles: Sequence[Obstacle],
    points: int = POINTS,
    trained: Network | None = None,
) -> Contestant:
    """One strand whose ends move past its obstacles in small steps."""
    wrap = Wrap(obstacles, smoothing, trained)
    record = wrap.packed({}, [], massive=True)
    frames = np.stack([np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]) for pose, _ in wrap.parts])
    heights = 0.075 - 0.1 * (0.5 + 0.5 * np.cos(2.0 * np.pi * np.arange(DEPTHS) / DEPTHS))
    far = 0.15 * (len(wrap.parts) - 1) + 0.2
    ends = np.stack([[-0.2, y, 0.02, far, y, -0.01] for y in heights])
    n = 6 + 6 * len(frames)
    rates = np.linspace(-1.0, 1.0, n)
    own, gradient = np.zeros(wrap.workspace_size), np.empty(n)
    vectors, out = np.empty((3, 3)), np.empty((3, n))

    def run(steps: int) -> Any:
        return laps(steps, points, record, ends, frames, rates, own, gradient, vectors, out)

    return Contestant(name, run)


def smooth(name: str) -> Contestant:
    return strand("smooth", SMOOTHING, SHAPES[name])


def shortest(name: str) -> Contestant:
    return strand("shortest", 0.0, SHAPES[name])


def length(name: str) -> Contestant:
    """A length with its derivatives, at the smoothing length of muscles without mass."""
    return strand(name, 5e-4, SURFACES.get(name) or SHAPES[name], 0)


def network() -> Contestant:
    """The same number of points from the trained network for a cylinder, with the same derivatives."""
    return strand("network", SMOOTHING, [Cylinder(radius=0.05, side="clockwise")], trained=Network.read())
