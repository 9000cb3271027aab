"""A fine mesh in a coarse one: each vertex follows the four nodes of a tetrahedron (barycentric weights)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..validation import finite_array, float_array

NEAREST = 8  # tetrahedra, by their centres, of which a vertex takes the one that has it most inside


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vertices that follow nodes.

    Attributes:
        nodes: of each vertex (k, 4). weights: barycentric (k, 4), of sum 1; negative ones are of a vertex outside.
    """

    nodes: IntArray
    weights: FloatArray

    def places(self, nodes: FloatArray) -> FloatArray:
        """Places (..., k, 3) of the vertices, from those of all nodes (..., n, 3)."""
        moved: FloatArray = np.einsum("kc,...kci->...ki", self.weights, nodes[..., self.nodes, :])
        return moved


def shape_gradients(nodes: FloatArray, tets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Gradients (m, 3, 3) of the last three shape functions of tetrahedra, and their volumes (m,), negative for
    inverted ones.
    """
    a, b, c = np.moveaxis(nodes[tets[:, 1:]] - nodes[tets[:, :1]], 1, 0)
    faces = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    whole = (a * faces[:, 0]).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # of flat ones only volumes are asked
        return faces / whole[:, None, None], whole / 6.0


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Lame's mu and lambda [Pa] by Young's modulus [Pa] and Poisson's ratio."""
    return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


def embedded(nodes: FloatArray, tets: IntArray, vertices: Any, what: str) -> Embedding:
    """The embedding of vertices (k, 3); one outside follows the tetrahedron that it is least outside of."""
    if not len(tets):
        raise ModelError(f"{what} has no tetrahedra: nothing to embed vertices in")
    points = float_array(vertices, "vertices")
    if points.ndim != 2:
        raise ModelError(f"vertices must have shape (k, 3), got {points.shape}")
    points = finite_array(points, (len(points), 3), "vertices")
    gradients = shape_gradients(nodes, tets)[0]
    centres = nodes[tets].mean(axis=1)
    chosen, weights = np.empty(len(points), dtype=np.int64), np.empty((len(points), 4))
    for k, point in enumerate(points):
        away = ((centres - point) ** 2).sum(axis=1)
        near = np.sort(np.argpartition(away, min(NEAREST, len(away)) - 1)[:NEAREST])
        while True:
            shares = np.einsum("mi,mji->mj", point - nodes[tets[near, 0]], gradients[near])
            shares = np.concatenate([1.0 - shares.sum(axis=1, keepdims=True), shares], axis=1)
            best = int(np.argmax(shares.min(axis=1)))
            if shares[best].min() >= 0.0 or len(near) == len(tets):
                break
            near = np.arange(len(tets))  # it is outside, or in a large one whose centre is far
        chosen[k], weights[k] = near[best], shares[best]
    return Embedding(tets[chosen], weights)
