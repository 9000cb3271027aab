"""Solid shapes as functions of space: negative inside, positive outside, zero on the surface.

Every shape takes points (n, 3) in metres and returns about the signed distance (n,) in metres. "About" because
ellipsoids and blends only bound it; the meshing needs the zero set and a gradient of length near one, no more.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from physics._typing import FloatArray

Shape = Callable[[FloatArray], FloatArray]


def ellipsoid(center: ArrayLike, radii: ArrayLike, axes: ArrayLike | None = None) -> Shape:
    """Ellipsoid with the semi-axes `radii` (3,) along the columns of the rotation `axes` (3, 3)."""
    middle = np.asarray(center, dtype=np.float64)
    extent = np.asarray(radii, dtype=np.float64)
    frame = np.eye(3) if axes is None else np.asarray(axes, dtype=np.float64)

    def distance(points: FloatArray) -> FloatArray:
        local = (points - middle) @ frame
        scaled = np.linalg.norm(local / extent, axis=1)
        gradient = np.linalg.norm(local / extent**2, axis=1)
        return scaled * (scaled - 1.0) / np.maximum(gradient, 1e-9)

    return distance


def sphere(center: ArrayLike, radius: float) -> Shape:
    """Ball of the given radius."""
    middle = np.asarray(center, dtype=np.float64)
    return lambda points: np.linalg.norm(points - middle, axis=1) - radius


def tube(path: ArrayLike, radii: ArrayLike, samples: int = 24) -> Shape:
    """Round tube whose centre line and radius pass smoothly through `path` (m, 3) and `radii` (m,)."""
    stations = np.column_stack([np.asarray(path, dtype=np.float64), np.asarray(radii, dtype=np.float64)])
    line = smooth_path(stations, samples)

    middle = line[:, :3].mean(axis=0)  # squares about a point nearby lose fewer digits
    starts, along = line[:-1, :3] - middle, np.diff(line[:, :3], axis=0)
    squares, radius, growth = (along**2).sum(axis=1), line[:-1, 3], np.diff(line[:, 3])

    def distance(points: FloatArray) -> FloatArray:
        local = points - middle
        ahead = local @ along.T - (starts * along).sum(axis=1)
        share = np.clip(ahead / squares, 0.0, 1.0)
        away = (local**2).sum(axis=1)[:, None] - 2.0 * (local @ starts.T) + (starts**2).sum(axis=1)
        away += share * (share * squares - 2.0 * ahead)
        return (np.sqrt(np.maximum(away, 0.0)) - (radius + share * growth)).min(axis=1)

    return distance


def loft(rows: ArrayLike) -> Shape:
    """Upright solid with elliptic cross sections: rows (m, 5) of height y, middle x and z, radii along x and z.

    Heights fall or rise strictly; between them the four other numbers vary smoothly. The ends are flat.
    """
    table = np.asarray(rows, dtype=np.float64)
    line = smooth_path(table[np.argsort(table[:, 0])], 8 * len(table))

    def distance(points: FloatArray) -> FloatArray:
        height = np.clip(points[:, 1], line[0, 0], line[-1, 0])
        x, z, radius_x, radius_z = (np.interp(height, line[:, 0], line[:, k]) for k in range(1, 5))
        along_x, along_z = (points[:, 0] - x) / radius_x, (points[:, 2] - z) / radius_z
        scaled = np.hypot(along_x, along_z)
        gradient = np.hypot(along_x / radius_x, along_z / radius_z)
        side = scaled * (scaled - 1.0) / np.maximum(gradient, 1e-9)
        return np.maximum(side, np.maximum(points[:, 1] - line[-1, 0], line[0, 0] - points[:, 1]))

    return distance


def smooth_path(stations: FloatArray, samples: int) -> FloatArray:
    """Points (samples + 1, d) of the Catmull-Rom curve through `stations` (m, d), evenly in its parameter."""
    count = len(stations)
    padded = np.vstack([2 * stations[0] - stations[1], stations, 2 * stations[-1] - stations[-2]])
    parameter = np.linspace(0.0, count - 1.0, samples + 1)
    first = np.minimum(parameter.astype(int), count - 2)
    t = (parameter - first)[:, None]
    before, here, there, after = (padded[first + k] for k in range(4))
    slope_here, slope_there = 0.5 * (there - before), 0.5 * (after - here)
    return (
        (2 * t**3 - 3 * t**2 + 1) * here
        + (t**3 - 2 * t**2 + t) * slope_here
        + (3 * t**2 - 2 * t**3) * there
        + (t**3 - t**2) * slope_there
    )


def smooth_minimum(first: FloatArray, second: FloatArray, blend: float) -> FloatArray:
    """Minimum of two distances, rounded over a width `blend` [m] (cubic: continuous in the second derivative)."""
    if blend <= 0.0:
        return np.minimum(first, second)
    nearness = np.maximum(blend - np.abs(first - second), 0.0) / blend
    return np.minimum(first, second) - nearness**3 * (blend / 6.0)


def smooth_maximum(first: FloatArray, second: FloatArray, blend: float) -> FloatArray:
    """Maximum of two distances, rounded over a width `blend` [m]."""
    return -smooth_minimum(-first, -second, blend)


def union(shapes: Sequence[Shape], blend: float) -> Shape:
    """All the shapes grown together, with fillets of about the width `blend` [m]."""

    def distance(points: FloatArray) -> FloatArray:
        total = shapes[0](points)
        for shape in shapes[1:]:
            total = smooth_minimum(total, shape(points), blend)
        return total

    return distance


def cut(body: Shape, tool: Shape, blend: float) -> Shape:
    """`body` without `tool`, the edge rounded over the width `blend` [m]."""
    return lambda points: smooth_maximum(body(points), -tool(points), blend)


def confined(shape: Shape, center: ArrayLike, radius: float) -> Shape:
    """`shape` inside a ball, a large distance outside it: saves work where a costly tool cannot reach the body."""
    middle = np.asarray(center, dtype=np.float64)

    def distance(points: FloatArray) -> FloatArray:
        total = np.full(len(points), radius)
        near = np.einsum("ij,ij->i", points - middle, points - middle) < radius**2
        total[near] = shape(points[near])
        return total

    return distance
