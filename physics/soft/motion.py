"""The motion of one soft body in a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..joints.packing import Arrays
from .body import SoftBody
from .mesh import SoftMesh


@dataclass(frozen=True, eq=False)
class SoftMotion:
    """Sampled places and rates of a soft body's nodes.

    Attributes:
        body: the soft body that moved.
        nodes, rates: places [m] and velocities [m/s] of all its nodes (T, n, 3).
        elastic: energy of its elements (T,) [J].
        depth: of its deepest point inside of what it touches (T,) [m].
    """

    body: SoftBody
    nodes: FloatArray
    rates: FloatArray
    elastic: FloatArray
    depth: FloatArray

    def embed(self, vertices: Any) -> FloatArray:
        """Places (T, k, 3) of the vertices (k, 3) of a finer mesh, given in the world as `SoftBody.nodes` are.

        Raises:
            ModelError: as `SoftBody.embed`.
        """
        return self.body.embed(vertices).places(self.nodes)

    @property
    def momentum(self) -> FloatArray:
        """Angular momentum about the world's origin and linear momentum of all nodes (T, 6) [kg m^2/s, kg m/s]."""
        each = self.body.momenta(self.rates)
        return np.concatenate([np.cross(self.nodes, each).sum(axis=1), each.sum(axis=1)], axis=1)


def motions(
    mesh: SoftMesh, arrays: Arrays, gravity: FloatArray, q: FloatArray, states: FloatArray
) -> dict[str, SoftMotion]:
    """The motion of each soft body by name, from coordinates (T, nv), places and rates of all nodes (T, 2, n, 3)."""
    elastic, depth = mesh.energies(arrays, q, gravity, states)[..., 2], mesh.pressed(arrays, q, states)[1]
    return {
        each.name: SoftMotion(each, states[:, 0, own], states[:, 1, own], elastic[:, k], depth[:, k])
        for k, (each, own) in enumerate(zip(mesh.soft, mesh.slices.values()))
    }
