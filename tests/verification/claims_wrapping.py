"""Paths that wrap over obstacles: smooth ones against shortest ones."""

from typing import Any

import numpy as np

from physics.muscles import Cylinder, Ellipsoid, Obstacle, Sphere, SphereCappedCylinder, Torus, Wrap
from tests.physics.muscles import test_wrapping_near as near
from tests.physics.muscles import test_wrapping_rows as rows
from tests.physics.muscles.strands import Motion, at_rest, largest_error, polyline
from tests.physics.muscles.test_wrapping_rows import frame

from .claim import Measurement, Plot, claim

RADIUS = 0.05
SMOOTHING = 1e-3
NEARER = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)  # smoothing lengths
PART = 0.45  # share of the length at which the examined point lies
Ends = tuple[Any, Any]


SHAPES: dict[str, list[Obstacle]] = {
    "sphere": [Sphere(radius=RADIUS)],
    "cylinder": [Cylinder(radius=RADIUS, side="+y")],
    "sphere-capped cylinder": [SphereCappedCylinder(radius=RADIUS, length=0.1)],
    "ellipsoid": [Ellipsoid(radii=(0.07, RADIUS, 0.06))],
    "torus": [Torus(major_radius=0.1, minor_radius=RADIUS)],
    "two in a row": [
        Cylinder(radius=RADIUS, side="+y"),
        Cylinder(radius=0.04, frame=frame((0.15, 0.0, 0.0), (0.2, 0.1, 0.0)), side="+y"),
    ],
}


def ends_at(name: str, depth: float) -> Ends:
    """Ends of a path whose straight line reaches about this depth in the (first) obstacle."""
    height = RADIUS - depth
    if name == "torus":
        return np.array([0.1 - height, 0.0, -0.2]), np.array([0.1 - height, 0.01, 0.15])
    far = 0.35 if name == "two in a row" else 0.2
    return np.array([-0.2, height, -0.01]), np.array([far, height, 0.05 * far])


def jacobian(name: str, smoothing: float, depth: float) -> Any:
    strand = at_rest(Wrap(SHAPES[name], smoothing), *ends_at(name, depth))
    return strand.point(PART * strand.length)[4]


def steepest(name: str, smoothing: float) -> float:
    """Largest change of a point's Jacobian between neighbouring depths, 1 / 50 of the smoothing length apart."""
    depths = np.arange(-2.0, 2.0, 0.02) * SMOOTHING
    found = np.stack([jacobian(name, smoothing, depth) for depth in depths])
    return float(np.abs(np.diff(found, axis=0)).max())


@claim("wrapping.jacobian", source="Wang 2022, Fig. 1.6", at_most=0.05)
def jacobian_jump() -> Measurement:
    """A line sinks into each kind of obstacle in steps of 1/50 of the smoothing length of 1 mm: largest change of a
    point's Jacobian in one step, of the smooth path over that of the shortest path, which jumps.
    """
    raw = {name: steepest(name, 0.0) for name in SHAPES}
    smooth = {name: steepest(name, SMOOTHING) for name in SHAPES}
    depths = np.linspace(-3.0, 3.0, 241) * SMOOTHING
    lines = {}
    for label, smoothing in (("shortest", 0.0), ("smooth, 1 mm", SMOOTHING)):
        columns = np.stack([jacobian("cylinder", smoothing, depth) for depth in depths])
        for k in range(2):
            lines[f"dx/dorigin {'xy'[k]}{'xy'[k]}, {label}"] = (1e3 * depths, columns[:, k, k])
    plot = Plot(
        "wrap_jacobian",
        "Jacobian of a muscle's point where the path meets a cylinder",
        "depth of the straight line [mm]",
        "derivative by an end",
        lines,
    )
    details = {"jumps of the shortest path": raw, "steps of the smooth path": smooth}
    return Measurement(max(smooth[name] / raw[name] for name in SHAPES), details, (plot,))


def deviation(name: str, smoothing: float, depth: float) -> tuple[float, float]:
    """Largest distance of a point of the smooth path from that of the shortest one, and the difference of lengths."""
    raw, smooth = (at_rest(Wrap(SHAPES[name], width), *ends_at(name, depth)) for width in (0.0, smoothing))
    parts = np.linspace(0.0, 1.0, 101)
    away = [smooth.point(p * smooth.length)[0] - raw.point(p * raw.length)[0] for p in parts]
    return float(np.linalg.norm(away, axis=1).max()), smooth.length - raw.length


@claim("wrapping.smooth_deviation", at_most=0.2)
def smooth_deviation() -> Measurement:
    """Distance of points of smooth paths from those of shortest ones, over the smoothing length: largest over all kinds
    of obstacles, lengths of 0.1, 1 and 4 mm, depths from 3 lengths outside to 3 inside, and deep.
    """
    worst: dict[str, float] = {}
    longer: dict[str, float] = {}
    for name in SHAPES:
        for smoothing in (1e-4, 1e-3, 4e-3):
            depths = [*(smoothing * np.linspace(-3.0, 3.0, 13)), 0.02]
            found = np.array([deviation(name, smoothing, depth) for depth in depths])
            worst[name] = max(worst.get(name, 0.0), float(found[:, 0].max() / smoothing))
            longer[name] = max(longer.get(name, 0.0), float(found[:, 1].max() / smoothing**2))
    details = {"by shape": worst, "longer by, over the smoothing length squared [1/m]": longer}
    return Measurement(max(worst.values()), details)


@claim("wrapping.length_away", unit="m", at_most=1e-12)
def length_away() -> float:
    """Difference of length between smooth (1 mm) and shortest paths more than 1 mm away from touching, both free and
    deep: largest over all kinds of obstacles.
    """
    depths = [*np.linspace(-0.02, -2.0 * SMOOTHING, 5), *np.linspace(2.0 * SMOOTHING, 0.03, 5)]
    return max(abs(deviation(name, SMOOTHING, depth)[1]) for name in SHAPES for depth in depths)


# 2 LEAST of `kernels.wrapping.smooth`, and round-off.
@claim("wrapping.dive", at_most=0.2 + 1e-9)
def dive() -> Measurement:
    """Depth of smooth paths in an obstacle with both ends outside, over the smoothing length of a fifth of the radius
    used for muscles with mass: largest, with an end at 0 to 5 lengths from the surface of each kind.
    """
    deepest = {}
    for name, obstacle in near.SHAPES.items():
        strands = (at_rest(Wrap(obstacle, near.WIDTH), *near.near(name, s * near.WIDTH)) for s in NEARER)
        depths = [float(near.depths(name, polyline(strand, 400)).max()) for strand in strands]
        deepest[name] = max(depths) / near.WIDTH
    return Measurement(max(deepest.values()), deepest)


@claim("wrapping.derivatives", at_most=1e-7)
def derivatives() -> Measurement:
    """Relative error of L', L'', velocities and accelerations of points against finite differences along motions of
    ends and obstacles, with sliding points: largest over all kinds of obstacles, shortest and smooth, and over a row
    whose curved ones are barely touched.
    """
    found = {}
    for name, obstacles in SHAPES.items():
        for smoothing, step in ((0.0, 1e-4), (0.01, 2e-5)):
            wrap = Wrap(obstacles, smoothing)
            motion = Motion(ends_at(name, 0.02), [pose for pose, _ in wrap.parts], np.random.default_rng(3))
            label = f"{name}, {'smooth' if smoothing else 'shortest'}"
            found[label] = largest_error(wrap, motion, (0.05, 0.4, 0.55, 0.9), step)
    obstacles, ends, smoothing = rows.TOUCHING
    wrap = Wrap(obstacles, smoothing)
    motion = Motion(ends, [pose for pose, _ in wrap.parts], np.random.default_rng(3), 0.1)
    found["row, just touched"] = largest_error(wrap, motion, np.linspace(0.04, 0.96, 24), 3e-5)
    return Measurement(max(found.values()), found)
