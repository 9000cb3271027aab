"""Distances of points from a surface of triangles, exact and smooth."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray

# triangles that are tried first for the one nearest to a point, and the factor by which more are tried
FIRST_TRIED, MORE = 8, 4
FEW = 5  # tried for a triangle near to a point


class TriangleSurface:
    """A surface of triangles, closed or open, outside where their normals point.

    Args:
        vertices: (n, 3) [m]. triangles: (m, 3) indices of vertices, anticlockwise seen from outside.
    """

    def __init__(self, vertices: FloatArray, triangles: IntArray) -> None:
        from scipy.spatial import cKDTree

        corners = vertices[triangles]
        crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        kept = np.linalg.norm(crossed, axis=1) > 0.0
        self.vertices, self.triangles, self.corners = vertices, triangles[kept], corners[kept]
        self.areas, self.normals = _vertex_areas_and_normals(vertices, self.triangles, crossed[kept])
        middles = self.corners.mean(axis=1)
        self._radius = float(np.linalg.norm(self.corners - middles[:, None], axis=2).max(initial=0.0))
        self._tree: Any = cKDTree(middles)
        sides, normals = self.corners[:, 1:] - self.corners[:, :1], crossed[kept]
        doubled = np.linalg.norm(normals, axis=1)[:, None]
        duals = [np.cross(sides[:, 1], normals) / doubled, np.cross(normals, sides[:, 0]) / doubled, normals]
        self._duals = np.stack(duals, axis=1) / doubled[:, None]
        self._products = (sides[:, [0, 0, 1]] * sides[:, [0, 1, 1]]).sum(axis=2)
        self._rim = _rim(self.triangles, len(vertices))

    def flipped(self) -> TriangleSurface:
        """The same surface with its other side outside."""
        return TriangleSurface(self.vertices, self.triangles[:, ::-1])

    def part(self, inside: BoolArray) -> TriangleSurface:
        """The triangles with a vertex inside (n,), and only the vertices of these."""
        used, numbers = np.unique(self.triangles[inside[self.triangles].any(axis=1)], return_inverse=True)
        return TriangleSurface(self.vertices[used], numbers.reshape(-1, 3))

    def divided(self, longest: float, box: FloatArray) -> TriangleSurface:
        """What reaches into a box (2, 3), with triangles halved at their longest edge until none is longer than
        this; equal vertices become one.
        """
        vertices, triangles = self.vertices, self.triangles
        while True:
            corners = vertices[triangles]
            outside = (corners.max(axis=1) < box[0]) | (corners.min(axis=1) > box[1])
            triangles, corners = triangles[~outside.any(axis=1)], corners[~outside.any(axis=1)]
            edges = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
            halved = edges.max(axis=1, initial=0.0) > longest
            if not halved.any():
                used, numbers = np.unique(vertices[triangles].reshape(-1, 3), axis=0, return_inverse=True)
                return TriangleSurface(used, numbers.reshape(-1, 3))
            first = edges[halved].argmax(axis=1)[:, None]
            a, b, c = (np.take_along_axis(triangles[halved], (first + k) % 3, 1)[:, 0] for k in range(3))
            pairs, middle = np.unique(np.sort(np.column_stack([a, b]), axis=1), axis=0, return_inverse=True)
            middle = middle.ravel() + len(vertices)
            vertices = np.concatenate([vertices, vertices[pairs].mean(axis=1)])
            halves = np.concatenate([np.column_stack([a, middle, c]), np.column_stack([middle, b, c])])
            triangles = np.concatenate([triangles[~halved], halves])

    def within(self, points: FloatArray, reach: float) -> BoolArray:
        """Whether points (n, 3) may be nearer than this [m]; those that are farther by a triangle's radius are not."""
        return self._tree.query(points, distance_upper_bound=reach + self._radius)[0] < np.inf

    def distances(self, points: FloatArray) -> FloatArray:
        """Distances (n,) of points (n, 3) from the triangles, negative inside."""
        triangle, share = self.nearest(points)
        foot = (share[..., None] * self.corners[triangle]).sum(axis=1)
        normal = (share[..., None] * self.normals[self.triangles[triangle]]).sum(axis=1)
        away = points - foot
        return np.copysign(np.linalg.norm(away, axis=1), (away * normal).sum(axis=1))

    def gaps(self, points: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Signed distances (n,) from the smooth surface that the triangles approximate, its normals (n, 3), and whether
        points (n,) are over it, neither beyond nor at its rim.

        That surface is midway between the triangles and the tangent planes at their corners, where a surface of second
        order is. Of a point that is farther away than triangles are large the triangle need not be the nearest one.
        """
        triangle = self._near(points)
        corners, numbers = self.corners[triangle], self.triangles[triangle]
        share = _on_triangles(points, corners)[0]
        normals, foot = self.normals[numbers], (share[..., None] * corners).sum(axis=1)
        normal = (share[..., None] * normals).sum(axis=1)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        below = (share * ((foot[:, None] - corners) * normals).sum(axis=2)).sum(axis=1)
        over = ~self._rim[numbers].any(axis=1)
        return (normal * (points - foot)).sum(axis=1) + 0.5 * below, normal, over

    def _near(self, points: FloatArray) -> IntArray:
        """A triangle (n,) near to each point (n, 3): of those whose middles are nearest the one nearest to the point,
        by barycentric coordinates that are cut off.
        """
        tried = self._tree.query(points, k=range(1, 1 + min(FEW, len(self.triangles))))[1]
        away = points[:, None] - self.corners[tried, 0]
        v, w, height = np.moveaxis((self._duals[tried] @ away[..., None])[..., 0], -1, 0)
        cut_v, cut_w = np.maximum(v, 0.0), np.maximum(w, 0.0)
        much = np.maximum(cut_v + cut_w, 1.0)
        v, w = v - cut_v / much, w - cut_w / much
        bb, bc, cc = np.moveaxis(self._products[tried], -1, 0)
        best = (v * v * bb + 2.0 * v * w * bc + w * w * cc + height * height).argmin(axis=1)
        return tried[np.arange(len(points)), best]

    def nearest(self, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """The triangle (n,) nearest to each point (n, 3), and barycentric coordinates (n, 3) of its nearest point."""
        found, shares = np.zeros(len(points), dtype=np.int64), np.zeros((len(points), 3))
        rest, count = np.arange(len(points)), min(FIRST_TRIED, len(self.triangles))
        while len(rest):
            far, tried = self._tree.query(points[rest], k=count)
            far, tried = far.reshape(len(rest), -1), tried.reshape(len(rest), -1)
            share, square = _on_triangles(points[rest][:, None], self.corners[tried])
            best = square.argmin(axis=1)[:, None]
            found[rest] = np.take_along_axis(tried, best, 1)[:, 0]
            shares[rest] = np.take_along_axis(share, best[..., None], 1)[:, 0]
            # a triangle that was not tried is at least as far as its middle less the largest radius
            least = np.sqrt(np.take_along_axis(square, best, 1)[:, 0]) + self._radius
            rest = rest[least > far[:, -1]] if count < len(self.triangles) else rest[:0]
            count = min(MORE * count, len(self.triangles))
        return found, shares


def _vertex_areas_and_normals(
    vertices: FloatArray, triangles: IntArray, crossed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A third of the area about each vertex (n,), and unit normals (n, 3) weighted by the triangles' angles."""
    areas, normals = np.zeros(len(vertices)), np.zeros_like(vertices)
    size = np.linalg.norm(crossed, axis=1)
    corners = vertices[triangles]
    for k in range(3):
        ahead, behind = corners[:, (k + 1) % 3] - corners[:, k], corners[:, k - 1] - corners[:, k]
        angle = np.arctan2(size, (ahead * behind).sum(axis=1))
        np.add.at(normals, triangles[:, k], (angle / size)[:, None] * crossed)
        np.add.at(areas, triangles[:, k], size / 6.0)
    return areas, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def _rim(triangles: IntArray, count: int) -> BoolArray:
    """Which of so many vertices are on an edge of one triangle only."""
    edges = np.sort(np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
    edges, times = np.unique(edges, axis=0, return_counts=True)
    rim = np.zeros(count, dtype=np.bool_)
    rim[edges[times == 1]] = True
    return rim


def _on_triangles(points: FloatArray, corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Barycentric coordinates (..., 3) of the points of triangles (..., 3, 3) nearest to points (..., 3), and squared
    distances (...): inside by the normal equations, else the nearest of the three edges' points.
    """
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    ab, ac, ap = b - a, c - a, points - a
    bb, bc, cc = (ab * ab).sum(-1), (ab * ac).sum(-1), (ac * ac).sum(-1)
    pb, pc = (ap * ab).sum(-1), (ap * ac).sum(-1)
    volume = np.maximum(bb * cc - bc * bc, 1e-300)
    v, w = (cc * pb - bc * pc) / volume, (bb * pc - bc * pb) / volume
    edge_b, edge_c = np.clip(pb / bb, 0.0, 1.0), np.clip(pc / cc, 0.0, 1.0)
    opposite = np.clip((pc - pb + bb - bc) / np.maximum(bb - 2.0 * bc + cc, 1e-300), 0.0, 1.0)
    inside, zero = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0), np.zeros_like(v)
    # second and third coordinates of the candidates: edges first to second, first to third, second to third
    tried = np.stack(
        [
            np.stack([edge_b, zero], -1),
            np.stack([zero, edge_c], -1),
            np.stack([1.0 - opposite, opposite], -1),
        ],
        -2,
    )
    tried = np.where(inside[..., None, None], np.stack([v, w], -1)[..., None, :], tried)
    away = ap[..., None, :] - tried[..., :1] * ab[..., None, :] - tried[..., 1:] * ac[..., None, :]
    square = (away * away).sum(-1)
    best = square.argmin(-1)
    two = np.take_along_axis(tried, best[..., None, None], -2)[..., 0, :]
    share = np.concatenate([1.0 - two.sum(-1, keepdims=True), two], -1)
    return share, np.take_along_axis(square, best[..., None], -1)[..., 0]
