"""Closed meshes of quadrilaterals from implicit solids.

Surface nets (Gibson 1998, *Constrained elastic surface nets*), then Newton steps onto the surface itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .implicit import FloatArray, Shape

IntArray = NDArray[np.int64]

# The twelve edges of a cell as pairs of corners; corner c is at (c & 1, c >> 1 & 1, c >> 2 & 1).
CELL_EDGES = tuple((c, c | bit) for bit in (1, 2, 4) for c in range(8) if not c & bit)
COARSE = 4  # fine cells along a coarse one


@dataclass(frozen=True)
class Mesh:
    """Vertices (n, 3) in metres and quadrilaterals (m, 4), counter-clockwise seen from outside."""

    vertices: FloatArray
    faces: IntArray

    def triangles(self) -> IntArray:
        """The same surface as triangles (2 m, 3)."""
        return np.vstack([self.faces[:, [0, 1, 2]], self.faces[:, [0, 2, 3]]])

    def volume(self) -> float:
        """Enclosed volume [m^3]; positive if the faces look outward (divergence theorem)."""
        a, b, c = (self.vertices[self.triangles()[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def mapped(self, rotation: ArrayLike) -> Mesh:
        """The mesh in other axes: every vertex x becomes rotation @ x."""
        return Mesh(self.vertices @ np.asarray(rotation, dtype=np.float64).T, self.faces)


def mesh_from_shape(shape: Shape, lower: ArrayLike, upper: ArrayLike, cell: float) -> Mesh:
    """Mesh of the surface of `shape` inside the box from `lower` to `upper`, with cells of about `cell` metres.

    Raises ValueError if the surface is absent or reaches the walls of the box: the mesh would not be closed.
    """
    corner, far = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    counts = COARSE * np.ceil((far - corner) / (cell * COARSE)).astype(int) + 1
    values = sampled(shape, corner, counts, cell)
    inside = values < 0.0
    walls = [np.take(inside, k, axis=axis).any() for axis in range(3) for k in (0, -1)]
    if not inside.any() or any(walls):
        raise ValueError(f"the box from {lower} to {upper} m does not hold the whole of the shape")
    vertices, cell_index = net_vertices(values, inside)
    mesh = Mesh(corner + cell * vertices, net_faces(inside, cell_index))
    return relaxed(mesh, shape, cell)


def sampled(shape: Shape, corner: FloatArray, counts: IntArray, cell: float) -> FloatArray:
    """Values of `shape` at the grid's nodes (counts); far from the surface only their sign is right."""
    coarse_counts = (counts - 1) // COARSE + 1
    coarse = shape(corner + cell * COARSE * grid_nodes(coarse_counts)).reshape(coarse_counts)
    nearest = np.minimum(
        np.arange(counts.max()) // COARSE + (np.arange(counts.max()) % COARSE >= COARSE / 2), 10**9
    )
    picks = [np.minimum(nearest[: counts[k]], coarse_counts[k] - 1) for k in range(3)]
    values = coarse[np.ix_(*picks)]
    # A node lies within sqrt(3)/2 coarse cells of its coarse neighbour; blends bend the distance, hence the margin.
    close = np.abs(values) < 2.0 * COARSE * cell
    values[close] = shape(corner + cell * np.argwhere(close).astype(np.float64))
    return values


def grid_nodes(counts: IntArray) -> FloatArray:
    """Integer coordinates (n, 3) of the nodes of a grid, last axis fastest."""
    return (
        np.stack(np.meshgrid(*(np.arange(k) for k in counts), indexing="ij"), axis=-1)
        .reshape(-1, 3)
        .astype(np.float64)
    )


def net_vertices(values: FloatArray, inside: NDArray[np.bool_]) -> tuple[FloatArray, IntArray]:
    """One vertex a crossed cell, the mean of its edges' crossings; and the vertex's index for each cell (-1: none)."""
    corners = [(slice(c & 1, -1 + (c & 1) or None), slice(c >> 1 & 1, -1 + (c >> 1 & 1) or None),
                slice(c >> 2 & 1, -1 + (c >> 2 & 1) or None)) for c in range(8)]  # fmt: skip
    count_inside = sum(inside[c].astype(np.int8) for c in corners)
    crossed = (count_inside > 0) & (count_inside < 8)
    corner_values = np.stack([values[c][crossed] for c in corners], axis=1)
    total = np.zeros((len(corner_values), 3))
    hits = np.zeros(len(corner_values))
    for a, b in CELL_EDGES:
        change = (corner_values[:, a] < 0.0) != (corner_values[:, b] < 0.0)
        share = np.where(
            change,
            corner_values[:, a] / np.where(change, corner_values[:, a] - corner_values[:, b], 1.0),
            0.0,
        )
        start, end = (np.array([c & 1, c >> 1 & 1, c >> 2 & 1], dtype=np.float64) for c in (a, b))
        total += change[:, None] * (start + share[:, None] * (end - start))
        hits += change
    index = np.full(crossed.shape, -1, dtype=np.int64)
    index[crossed] = np.arange(len(corner_values))
    return np.argwhere(crossed) + total / hits[:, None], index


def net_faces(inside: NDArray[np.bool_], cell_index: IntArray) -> IntArray:
    """One quadrilateral across every grid edge whose ends lie on different sides, turned outward."""
    faces = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        here = np.moveaxis(inside, (axis, one, two), (0, 1, 2))
        cells = np.moveaxis(cell_index, (axis, one, two), (0, 1, 2))
        start, end = here[:-1, 1:-1, 1:-1], here[1:, 1:-1, 1:-1]
        around = (cells[:, :-1, :-1], cells[:, 1:, :-1], cells[:, 1:, 1:], cells[:, :-1, 1:])
        for crossing, order in ((start & ~end, (0, 1, 2, 3)), (~start & end, (3, 2, 1, 0))):
            faces.append(np.stack([around[k][crossing] for k in order], axis=1))
    return np.vstack(faces)


def relaxed(mesh: Mesh, shape: Shape, cell: float, rounds: int = 3) -> Mesh:
    """Even out the vertices and put them onto the surface: neighbours' mean, then a Newton step along the gradient."""
    vertices = mesh.vertices
    edges = np.vstack([mesh.faces[:, [k, (k + 1) % 4]] for k in range(4)])
    degree = np.bincount(edges[:, 0], minlength=len(vertices))
    for _ in range(rounds):
        mean = np.stack(
            [np.bincount(edges[:, 0], vertices[edges[:, 1], k], minlength=len(vertices)) for k in range(3)],
            axis=1,
        )
        vertices = 0.5 * vertices + 0.5 * mean / degree[:, None]
        vertices = onto_surface(vertices, shape, cell)
    return Mesh(vertices, mesh.faces)


def onto_surface(points: FloatArray, shape: Shape, cell: float) -> FloatArray:
    """Points moved along the gradient of `shape` towards its zero set, by at most half a cell."""
    step = 0.05 * cell
    value = shape(points)
    gradient = np.stack([(shape(points + step * axis) - value) / step for axis in np.eye(3)], axis=1)
    move = -value / np.maximum(np.einsum("ij,ij->i", gradient, gradient), 0.1)
    length = np.abs(move) * np.linalg.norm(gradient, axis=1)
    return points + (move * np.minimum(1.0, 0.5 * cell / np.maximum(length, 1e-12)))[:, None] * gradient
