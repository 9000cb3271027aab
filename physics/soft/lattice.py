"""A lattice of tetrahedra around a closed mesh, which then follows it by `SoftBody.embed`."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..validation import bounded, finite_array, float_array, is_sequence, listed, number

MOST = 10_000_000  # cubes of the box around the mesh, and points on its surface
SPACING = 0.25  # of points on the surface, in cubes: no way from cube to cube leads past them through it


def soft_lattice(vertices: Any, faces: Any, size: float) -> tuple[FloatArray, IntArray]:
    """Nodes (n, 3) and tetrahedra (m, 4) of the cubes that a closed mesh passes or encloses, six in each.

    They are arguments of `ModelBuilder.add_soft_body`. The cubes are along the world's axes, centred about the mesh.

    Args:
        vertices: (k, 3) [m]. faces: polygons, each a list of three or more numbers of vertices; which way they face
            does not matter if neighbours agree. size: of the cubes [m].

    Raises:
        ModelError: an argument is invalid, an edge has one face or more than two, neighbours face opposite ways, or
            cubes are too many.
    """
    points = float_array(vertices, "vertices of the mesh")
    if points.ndim != 2 or not len(points):
        raise ModelError(f"vertices of the mesh must have shape (k, 3), got {points.shape}")
    points = finite_array(points, (len(points), 3), "vertices of the mesh")
    points = bounded(points, "vertices of the mesh")
    triangles = _closed(faces, len(points))
    edge = number(size, "size of the lattice", positive=True)
    used = points[np.unique(triangles)]
    low, high = used.min(axis=0), used.max(axis=0)
    cells = np.maximum(np.ceil((high - low) / edge), 1.0)
    corner = 0.5 * (low + high - edge * cells)
    corners = (points[triangles] - corner) / edge
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    parts = np.maximum(np.ceil(longest / SPACING), 1.0)
    if not max(cells.prod(), (parts**2).sum()) <= MOST:
        raise ModelError(
            f"size of the lattice {edge:g} m makes too many cubes: {cells.prod():.3g} around the mesh"
        )
    kept = _enclosed(_passed(corners, parts.astype(np.int64), cells.astype(np.int64)), corners)
    return _tetrahedra(kept, corner, edge)


def _closed(faces: Any, count: int) -> IntArray:
    """Triangles (m, 3) of polygons that form a closed surface; ModelError otherwise."""
    triangles: list[tuple[int, int, int]] = []
    edges: list[tuple[int, int]] = []
    for k, face in enumerate(faces if isinstance(faces, np.ndarray) else listed(faces, "faces of the mesh")):
        loop = float_array(face if is_sequence(face) else [], f"face {k} of the mesh")
        if loop.ndim != 1 or len(loop) < 3 or len(set(loop.tolist())) < len(loop):
            raise ModelError(f"face {k} of the mesh must have three vertices or more, got {face!r:.80}")
        if ((loop != np.floor(loop)) | (loop < 0) | (loop >= count)).any():
            raise ModelError(
                f"face {k} of the mesh must have numbers of its {count} vertices, got {face!r:.80}"
            )
        ends = [int(corner) for corner in loop]
        edges += zip(ends, [*ends[1:], ends[0]])
        triangles += [(ends[0], b, c) for b, c in pairwise(ends[1:])]
    directed = set(edges)
    if not edges:
        raise ModelError("the mesh has no faces")
    for a, b in edges:
        if (b, a) not in directed:
            raise ModelError(f"the mesh is open: the edge of vertices {a} and {b} has no face on one side")
    if len(directed) < len(edges):
        a, b = next(edge for edge in edges if edges.count(edge) > 1)
        raise ModelError(
            f"the edge of vertices {a} and {b} of the mesh has more than two faces, or two that face opposite ways"
        )
    return np.array(triangles, dtype=np.int64)


def _passed(corners: FloatArray, parts: IntArray, counts: IntArray) -> Any:
    """Which of the cubes have points of triangles (m, 3, 3), given in cubes from the lattice's corner.

    parts: into how many each triangle's sides are divided (m,). counts: of cubes along each axis.
    """
    passed = np.zeros(counts, dtype=bool)
    for part in np.unique(parts):
        i, j = np.nonzero(np.add.outer(np.arange(part + 1), np.arange(part + 1)) <= part)
        shares = np.stack([part - i - j, i, j], axis=1) / part
        places = np.einsum("pc,mci->mpi", shares, corners[parts == part]).reshape(-1, 3)
        passed[tuple(np.clip(np.floor(places).astype(np.int64), 0, counts - 1).T)] = True
    return passed


def _enclosed(passed: Any, corners: FloatArray) -> Any:
    """The passed cubes and those inside the surface: of each region between them one cube tells."""
    kept, open_cubes = passed.copy(), ~passed
    while open_cubes.any():
        region = np.zeros_like(passed)
        seed = np.argwhere(open_cubes)[0]
        region[tuple(seed)] = True
        before = 0
        while before != (before := int(region.sum())):
            for axis in range(3):
                ahead, behind = np.moveaxis(region, axis, 0), np.moveaxis(open_cubes, axis, 0)
                ahead[1:] |= ahead[:-1] & behind[1:]
                ahead[:-1] |= ahead[1:] & behind[:-1]
        if _winding(seed + 0.5, corners) > 0.5:
            kept |= region
        open_cubes &= ~region
    return kept


def _winding(point: FloatArray, corners: FloatArray) -> float:
    """How often a surface winds around a point that is not on it (Van Oosterom & Strackee 1983)."""
    a, b, c = np.moveaxis(corners - point, 1, 0)
    p, q, r = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=1)
    cosine = p * q * r + (a * b).sum(axis=1) * r + (b * c).sum(axis=1) * p + (c * a).sum(axis=1) * q
    return abs(float(np.arctan2(volume, cosine).sum()) / (2.0 * np.pi))


def _tetrahedra(kept: Any, corner: FloatArray, edge: float) -> tuple[FloatArray, IntArray]:
    """Nodes and tetrahedra along the diagonal of each kept cube, which meet those of its neighbours."""
    cubes = np.argwhere(kept)
    paths = []
    for axes in permutations(range(3)):
        path = np.concatenate(
            [[np.zeros(3, dtype=np.int64)], np.cumsum(np.eye(3, dtype=np.int64)[list(axes)], axis=0)]
        )
        even = np.linalg.det(path[1:] - path[0]) > 0.0
        paths.append(path if even else path[[0, 2, 1, 3]])
    places = (cubes[:, None, None] + np.array(paths)).reshape(-1, 3)
    nodes, numbers = np.unique(places, axis=0, return_inverse=True)
    return corner + edge * nodes, np.ascontiguousarray(numbers.reshape(-1, 4).astype(np.int64))
