"""The simple solids of the gallery: vertices and faces of moving and static parts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from physics._typing import FloatArray
from physics.joints.base import rotation_to

from .gallery_joints import REACH

Solid = tuple[FloatArray, list[tuple[int, ...]]]


def extruded(outline: ArrayLike, low: float, high: float) -> Solid:
    """Prism over an outline (n, 2), counter-clockwise, between two heights."""
    flat = np.asarray(outline, dtype=np.float64)
    count = len(flat)
    vertices = np.vstack([np.column_stack([flat, np.full(count, z)]) for z in (low, high)])
    faces: list[tuple[int, ...]] = [tuple(range(count))[::-1], tuple(range(count, 2 * count))]
    faces += [(k, (k + 1) % count, count + (k + 1) % count, count + k) for k in range(count)]
    return vertices, faces


def together(*solids: Solid) -> Solid:
    vertices, faces, first = [], [], 0
    for points, polygons in solids:
        vertices.append(points)
        faces += [tuple(first + index for index in polygon) for polygon in polygons]
        first += len(points)
    return np.vstack(vertices), faces


def turned(solid: Solid, rotation: ArrayLike) -> Solid:
    return solid[0] @ np.asarray(rotation, dtype=np.float64).T, solid[1]


def moved(solid: Solid, shift: Sequence[float]) -> Solid:
    return solid[0] + np.asarray(shift, dtype=np.float64), solid[1]


def disc(radius: float, low: float, high: float, sides: int = 32) -> Solid:
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    return extruded(radius * np.column_stack([np.cos(angle), np.sin(angle)]), low, high)


def box(half: Sequence[float]) -> Solid:
    x, y, z = half
    return extruded([(-x, -y), (x, -y), (x, y), (-x, y)], -z, z)


def ball(radius: float, rings: int = 12, sides: int = 24) -> Solid:
    """Sphere of quadrilaterals and two caps of triangles."""
    polar = np.linspace(0.0, np.pi, rings + 1)[1:-1]
    around = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    grid = np.stack(
        [
            np.sin(polar)[:, None] * np.cos(around),
            np.sin(polar)[:, None] * np.sin(around),
            np.repeat(np.cos(polar)[:, None], sides, axis=1),
        ],
        axis=-1,
    )
    vertices = radius * np.vstack([grid.reshape(-1, 3), [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]])
    top, bottom = len(vertices) - 2, len(vertices) - 1
    last = (rings - 2) * sides
    faces: list[tuple[int, ...]] = []
    for k in range(sides):
        after = (k + 1) % sides
        faces += [
            (r * sides + k, (r + 1) * sides + k, (r + 1) * sides + after, r * sides + after)
            for r in range(rings - 2)
        ]
        faces += [(top, k, after), (bottom, last + after, last + k)]
    return vertices, faces


def cone(start: FloatArray, end: FloatArray, radius: float) -> Solid:
    """The head of an arrow from `start` to its point `end`."""
    base = disc(radius, 0.0, 0.0, 16)[0][:16]
    length = float(np.linalg.norm(end - start))
    turn = rotation_to((end - start) / length)
    vertices = np.vstack([base, [(0.0, 0.0, length)]]) @ turn.T + start
    return vertices, [tuple(range(16))[::-1], *((k, (k + 1) % 16, 16) for k in range(16))]


def dart() -> Solid:
    """An arrow head along x with a fin on top: shows where it points and which way is up."""
    flat = extruded([(0.022, 0.0), (-0.014, 0.013), (-0.008, 0.0), (-0.014, -0.013)], 0.002, 0.006)
    fin = turned(
        extruded([(-0.012, 0.006), (0.0, 0.006), (-0.010, 0.016)], -0.0012, 0.0012),
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    )
    return together(flat, fin)


def arm() -> Solid:
    """A ball in the joint's middle and a bar along x from it to a dart."""
    bar = moved(box((0.5 * (REACH - 0.030), 0.0032, 0.0032)), (0.5 * (REACH - 0.026), 0.0, 0.0))
    head = moved(dart(), (REACH - 0.022, 0.0, -0.004))
    return together(ball(0.0085), bar, head)


def post() -> Solid:
    """A foot with a pillar that ends in a cup under the joint."""
    return together(disc(0.024, -0.062, -0.056), disc(0.005, -0.058, -0.009), disc(0.0085, -0.012, -0.0055))
