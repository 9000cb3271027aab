"""Solids as meshes, for the scenes of mechanisms."""

from collections.abc import Sequence

import numpy as np

from physics._typing import FloatArray

from .anatomy.implicit import Shape
from .anatomy.surface import Mesh, mesh_from_shape
from .gallery_parts import Solid


def tube(frames: FloatArray, radius: float, sides: int = 12) -> Mesh:
    """A closed tube through the origins of frames (n, 4, 4) whose x axes point along it."""
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = radius * np.column_stack([np.zeros(sides), np.cos(turn), np.sin(turn)])
    rings = np.einsum("nij,kj->nki", frames[:, :3, :3], circle) + frames[:, None, :3, 3]
    corner = np.arange(len(frames) * sides).reshape(len(frames), sides)
    after, beside = np.roll(corner, -1, axis=0), np.roll(corner, -1, axis=1)
    faces = np.stack([corner, beside, np.roll(after, -1, axis=1), after], axis=-1)
    return outward(Mesh(rings.reshape(-1, 3), faces.reshape(-1, 4)))


def solid(shape: Shape, reach: float, cell: float) -> Mesh:
    """Mesh of a shape that stays within `reach` metres of the origin along every axis."""
    return mesh_from_shape(shape, (-reach,) * 3, (reach,) * 3, cell)


def ring(radius: float, thickness: float) -> Shape:
    """A ring about the x axis: `radius` to the middle of a round section of radius `thickness`."""

    def distance(points: FloatArray) -> FloatArray:
        aside = np.linalg.norm(points[:, 1:], axis=1) - radius
        return np.asarray(np.hypot(aside, points[:, 0]) - thickness)

    return distance


def outward(mesh: Mesh) -> Mesh:
    """The mesh with its faces turned so that it encloses a positive volume."""
    return mesh if mesh.volume() > 0.0 else Mesh(mesh.vertices, mesh.faces[:, ::-1])


def merged(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.vstack([mesh.vertices for mesh in meshes]),
        np.vstack([mesh.faces + start for mesh, start in zip(meshes, starts)]),
    )


def capsule(
    begin: FloatArray,
    end: FloatArray,
    radius: float,
    other: float | None = None,
    sides: int = 16,
    rings: int = 5,
) -> Solid:
    """A round bar between two points (3,) with round ends; with `other`, the radius there, it tapers."""
    way = np.asarray(end, dtype=np.float64) - begin
    length = float(np.linalg.norm(way))
    axis = way / length
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    last = radius if other is None else other
    # where the cone touches both balls, as an angle from the plane across the axis
    lean = np.arcsin(np.clip((radius - last) / length, -1.0, 1.0))
    low = np.linspace(-0.5 * np.pi, lean, rings + 1)[1:]
    high = np.linspace(lean, 0.5 * np.pi, rings + 1)[:-1]
    along = np.concatenate([radius * np.sin(low), length + last * np.sin(high)])
    aside = np.concatenate([radius * np.cos(low), last * np.cos(high)])
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)[:, None]
    circle = np.cos(turn) * first + np.sin(turn) * np.cross(axis, first)
    net = begin + along[:, None, None] * axis + aside[:, None, None] * circle
    vertices = np.vstack([begin - radius * axis, net.reshape(-1, 3), end + last * axis])
    tip, starts = len(vertices) - 1, range(1, 1 + (len(along) - 1) * sides, sides)
    faces: list[tuple[int, ...]] = []
    for k in range(sides):
        after = (k + 1) % sides
        faces.append((0, 1 + after, 1 + k))
        faces += [(r + k, r + after, r + sides + after, r + sides + k) for r in starts]
        faces.append((tip, tip - sides + k, tip - sides + after))
    return vertices, faces


def banded(rings: Sequence[FloatArray] | FloatArray) -> Solid:
    """Quadrilaterals between rings (n, k, 3) of vertices, each of which closes."""
    points = np.asarray(rings)
    corner = np.arange(points[..., 0].size).reshape(points.shape[:2])
    beside = np.roll(corner, -1, axis=1)
    quads = np.stack([corner[:-1], beside[:-1], beside[1:], corner[1:]], axis=-1)
    return points.reshape(-1, 3), quads.reshape(-1, 4).tolist()


def revolved(profile: Sequence[tuple[float, float]], sides: int) -> Solid:
    """A surface of revolution about z through a profile of radii and heights."""
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(sides)])
    return banded([radius * circle + (0.0, 0.0, height) for radius, height in profile])
