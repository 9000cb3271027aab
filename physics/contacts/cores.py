"""Convex cores of shapes: polytopes about which a radius makes spheres, capsules and rounded boxes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..kernels.contact import collider_layout as layout

# Planes of a hull whose unit normals and relative offsets differ by less are one face: ten times what Qhull merges.
ALIKE = 1e-9


class Core(NamedTuple):
    """A point, a segment or a polytope, and the radius about it; a half-space z < 0 has no vertices.

    Attributes:
        vertices: (n, 3) in the shape's frame [m]. radius: [m].
        loops: the vertices of each face, in their order about its outward normal.
        triangles: (m, 3) vertices of a surface, which is not convex; None for a core.
    """

    vertices: FloatArray
    radius: float = 0.0
    loops: tuple[tuple[int, ...], ...] = ()
    triangles: IntArray | None = None

    @property
    def kind(self) -> int:
        """The kernels' number for it."""
        if self.triangles is not None:
            return layout.MESH
        return layout.CORE if len(self.vertices) else layout.HALF_SPACE

    @property
    def most_points(self) -> int:
        """How many contacts it may have with another shape."""
        return min(len(self.vertices), 1) if len(self.vertices) < 2 else layout.MOST_POINTS


BOX_LOOPS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box_core(half_sizes: FloatArray) -> Core:
    """The core of a box about the origin."""
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    return Core(corners * half_sizes, 0.0, BOX_LOOPS)


def hull_core(points: FloatArray) -> Core:
    """The core of the convex hull of points (n, 3), with flat faces of as many corners as they have.

    Raises:
        ModelError: the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ModelError(
            f"points of a convex shape must span a volume, got {len(points)} that do not: {error!s:.60}"
        ) from error
    size = float(np.ptp(points, axis=0).max())
    numbers = {int(k): n for n, k in enumerate(hull.vertices)}
    vertices, faces = points[hull.vertices], list[tuple[FloatArray, set[int]]]()
    for plane, simplex in zip(hull.equations, hull.simplices):
        plane = plane / np.array([1.0, 1.0, 1.0, size])
        known = next((face for face in faces if np.abs(face[0] - plane).max() < ALIKE), None)
        if known is None:
            known = (plane, set())
            faces.append(known)
        known[1].update(numbers[int(k)] for k in simplex)
    return Core(vertices, 0.0, tuple(_about(vertices, plane[:3], corners) for plane, corners in faces))


def _about(vertices: FloatArray, normal: FloatArray, corners: set[int]) -> tuple[int, ...]:
    """Corners of a face in their order about its normal."""
    known = np.array(sorted(corners))
    from_centre = vertices[known] - vertices[known].mean(axis=0)
    first = from_centre[0] / np.linalg.norm(from_centre[0])
    angles = np.arctan2(from_centre @ np.cross(normal, first), from_centre @ first)
    return tuple(int(k) for k in known[np.argsort(angles)])


def record(core: Core, pose: FloatArray, offset: int) -> FloatArray:
    """The record of a core for ``kernels.contact`` that begins at this offset; pose (4, 4) in the link frame."""
    vertices = core.vertices @ pose[:3, :3].T + pose[:3, 3]
    if not len(vertices):
        return np.array([*pose[:3, 2], pose[:3, 2] @ pose[:3, 3]])
    faces, entries, edges = _topology(core, vertices)
    rows = offset + layout.CORE_POINTS + vertices.size
    first = rows + faces.size + edges.size
    faces[:, layout.FACE_LOOP] = (
        first + layout.LOOP_WIDTH * np.cumsum([0, *map(len, core.loops[:-1])])[: len(faces)]
    )
    header = [len(vertices), len(faces), len(edges), rows, rows + faces.size]
    return np.concatenate([header, vertices.ravel(), faces.ravel(), edges.ravel(), entries.ravel()])


def _topology(core: Core, vertices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of the faces, entries of their loops, and rows of the edges."""
    if not core.loops:
        lone = [[0, 1, -1, -1]] if len(vertices) == 2 else []
        return np.zeros((0, layout.FACE_WIDTH)), np.zeros(0), np.array(lone, dtype=np.float64)
    beside = {
        (start, end): f for f, loop in enumerate(core.loops) for start, end in zip(loop, (*loop[1:], loop[0]))
    }
    faces = np.zeros((len(core.loops), layout.FACE_WIDTH))
    for row, loop in zip(faces, core.loops):
        corners = vertices[list(loop)]
        normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
        row[: layout.FACE_OFFSET] = normal / np.linalg.norm(normal)
        row[layout.FACE_OFFSET] = (corners @ row[: layout.FACE_OFFSET]).max()
        row[layout.FACE_COUNT] = len(loop)
    entries = [(start, beside[end, start]) for start, end in beside]
    # along the loop of face a the edge is a x b for the face b beyond it, which makes b the first one of the row
    edges = [(start, end, beside[end, start], f) for (start, end), f in beside.items() if start < end]
    return faces, np.array(entries, dtype=np.float64), np.array(edges, dtype=np.float64)


def welded(parents: IntArray, fixed: Sequence[bool]) -> tuple[IntArray, IntArray]:
    """For each body the first of those that are rigid with it (-1: the world), and the one that carries that by a joint
    (-2: none, or the world). fixed: whether a body's joint has no coordinates.
    """
    welds, carriers = np.arange(len(parents)), np.full(len(parents), -2)
    for i, parent in enumerate(parents):
        above = -1 if parent < 0 else int(welds[parent])
        if fixed[i]:
            welds[i] = above
            carriers[i] = -2 if above < 0 else carriers[above]
        elif above >= 0:
            carriers[i] = above
    return welds, carriers
