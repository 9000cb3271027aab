"""Surfaces of triangles as colliders, with a tree of bounds in which the near triangles are found."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..kernels.contact import collider_layout as layout
from ..validation import finite
from .cores import Core
from .obstacles import Obstacle

# triangles in a leaf of the tree
LEAF = 4
# Neighbours whose normals differ by less than this (its sine) are flat.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class TriangleMesh(Obstacle):
    """A surface of triangles, solid below: it is touched from the side of their normals only.

    Attributes:
        vertices: (n, 3) [m].
        triangles: (m, 3) indices of vertices, anticlockwise seen from outside.
    """

    vertices: FloatArray
    triangles: IntArray
    type: ClassVar[str] = "triangle_mesh"

    def __post_init__(self) -> None:
        vertices = finite(self.vertices, "vertices of a triangle mesh")
        if vertices.ndim != 2 or vertices.shape[1] != 3:
            raise ModelError(f"vertices of a triangle mesh must have shape (n, 3), got {vertices.shape}")
        given = finite(self.triangles, "triangles of a triangle mesh")
        triangles = given.astype(np.int64)
        if given.ndim != 2 or given.shape[1] != 3 or not len(given):
            raise ModelError(f"triangles of a triangle mesh must have shape (m, 3), got {given.shape}")
        if (triangles != given).any() or triangles.min() < 0 or triangles.max() >= len(vertices):
            raise ModelError(
                f"triangles of a triangle mesh must be indices below {len(vertices)}, got {given.min():g} to "
                f"{given.max():g}"
            )
        corners = vertices[triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        if (areas <= FLAT * sides**2).any():
            raise ModelError(f"triangle {int(np.argmin(areas))} of a triangle mesh has no area")
        self._set("vertices", vertices)
        self._set("triangles", triangles)
        self.lock()

    def core(self) -> Core:
        return Core(self.vertices, triangles=self.triangles)


def mesh_record(vertices: FloatArray, triangles: IntArray, offset: int) -> FloatArray:
    """The record of a mesh for ``kernels.contact`` that begins at this offset; vertices in the link frame."""
    order, nodes = _tree(vertices[triangles])
    triangles = triangles[order]
    first = offset + layout.CORE_POINTS + vertices.size
    rows = first + 1 + nodes.size
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    beyond, convex = _neighbours(corners, normals, triangles)
    records = np.zeros((len(triangles), layout.TRIANGLE_WIDTH))
    starts = rows + layout.TRIANGLE_WIDTH * np.arange(len(triangles))
    faces = layout.CORE_POINTS + 9
    loop = faces + 4 * layout.FACE_WIDTH
    edges = loop + 3 * layout.LOOP_WIDTH
    records[:, layout.CORE_VERTICES], records[:, layout.CORE_FACES] = 3, 1
    records[:, layout.CORE_EDGES] = convex.sum(axis=1)
    records[:, layout.CORE_FACE_ROWS], records[:, layout.CORE_EDGE_ROWS] = starts + faces, starts + edges
    records[:, layout.CORE_POINTS : faces] = corners.reshape(-1, 9)
    records[:, faces : faces + 3] = normals
    records[:, faces + layout.FACE_OFFSET] = (normals * corners[:, 0]).sum(axis=1)
    records[:, faces + layout.FACE_LOOP], records[:, faces + layout.FACE_COUNT] = starts + loop, 3
    for k in range(3):
        row = faces + (k + 1) * layout.FACE_WIDTH
        records[:, row : row + 3] = beyond[:, k]
        records[:, loop + k * layout.LOOP_WIDTH] = k
        records[:, loop + k * layout.LOOP_WIDTH + 1] = np.where(convex[:, k], k + 1, 0)
    for t, k in zip(*np.nonzero(convex)):
        place = edges + int(convex[t, :k].sum()) * layout.EDGE_WIDTH
        records[t, place : place + layout.EDGE_WIDTH] = [k, (k + 1) % 3, k + 1, 0]
    header = [len(vertices), 0, 0, first, rows]
    return np.concatenate([header, vertices.ravel(), [len(nodes)], nodes.ravel(), records.ravel()])


def _neighbours(
    corners: FloatArray, normals: FloatArray, triangles: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Normals (m, 3, 3) beyond the edges of each triangle, sideways at the mesh's rim, and whether the edges (m, 3) are
    convex.
    """
    beyond, convex = np.zeros((len(triangles), 3, 3)), np.zeros((len(triangles), 3), dtype=bool)
    owners = {
        (int(triangle[k]), int(triangle[(k + 1) % 3])): t
        for t, triangle in enumerate(triangles)
        for k in range(3)
    }
    along = np.roll(corners, -1, axis=1) - corners
    for t, triangle in enumerate(triangles):
        for k in range(3):
            other = owners.get((int(triangle[(k + 1) % 3]), int(triangle[k])))
            side = np.cross(along[t, k], normals[t])
            beyond[t, k] = side / np.linalg.norm(side) if other is None else normals[other]
            bend = np.cross(normals[t], beyond[t, k]) @ along[t, k] / np.linalg.norm(along[t, k])
            convex[t, k] = bend > FLAT
    return beyond, convex


def _tree(corners: FloatArray) -> tuple[IntArray, FloatArray]:
    """An order of the triangles with corners (m, 3, 3), and the nodes of their tree of bounds, depth first."""
    middles = corners.mean(axis=1)
    order, nodes = np.arange(len(corners)), list[list[float]]()

    def split(first: int, last: int) -> None:
        own = corners[order[first:last]].reshape(-1, 3)
        node = [*own.min(axis=0), *own.max(axis=0), 0.0, float(first), float(last - first)]
        nodes.append(node)
        if last - first > LEAF:
            axis = int(np.argmax(np.ptp(middles[order[first:last]], axis=0)))
            order[first:last] = order[first:last][np.argsort(middles[order[first:last], axis], kind="stable")]
            node[layout.NODE_COUNT] = 0.0
            split(first, (first + last) // 2)
            split((first + last) // 2, last)
        node[layout.NODE_SKIP] = float(len(nodes))

    split(0, len(corners))
    return order, np.array(nodes)
