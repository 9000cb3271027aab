"""How far a soft body sags under its own weight, to find how stiff it is."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from .embedding import lame, shape_gradients

RESIDUAL = 1e-8  # of the weight
MOST_ROUNDS = 5000  # of conjugate gradients; nodes that nothing holds never come to rest


def sag(
    nodes: FloatArray, tets: IntArray, held: IntArray, poisson: float, density: float, gravity: FloatArray
) -> float:
    """How far the node moves that sags most [m], for a Young's modulus of 1 Pa; the sag is inverse to it.

    Linear elasticity with the lumped masses of `SoftBody`, solved by conjugate gradients with the diagonal blocks of
    the stiffness as preconditioner (Hestenes & Stiefel 1952).

    Args:
        nodes: (n, 3) [m]. tets: (m, 4). held: numbers of the nodes that do not move. density: [kg/m^3].
        gravity: (3,) [m/s^2].

    Raises:
        ModelError: no node is fixed, or a part of the body is not.
    """
    last, volumes = shape_gradients(nodes, tets)
    gradients = np.concatenate([-last.sum(axis=1, keepdims=True), last], axis=1)
    shear, bulk = lame(1.0, poisson)
    free = np.ones(len(nodes), dtype=bool)
    free[held] = False
    if free.all():
        raise ModelError("nothing holds the soft body, so that no stiffness follows from its sag")

    def forces(moved: FloatArray) -> FloatArray:
        """Elastic forces (n, 3) against displacements (n, 3); none on held nodes."""
        strain = np.einsum("mci,mcj->mij", moved[tets], gradients)
        strain = 0.5 * (strain + strain.swapaxes(1, 2))
        trace = np.trace(strain, axis1=1, axis2=2)
        stress = volumes[:, None, None] * (2.0 * shear * strain + bulk * trace[:, None, None] * np.eye(3))
        made = np.zeros_like(moved)
        np.add.at(made, tets, np.einsum("mij,mcj->mci", stress, gradients))
        made[~free] = 0.0
        return made

    weight, blocks = np.zeros_like(nodes), np.zeros((len(nodes), 3, 3))
    np.add.at(weight, tets, (0.25 * density * volumes)[:, None, None] * gravity)
    weight[~free] = 0.0
    outer = np.einsum("mci,mcj->mcij", gradients, gradients)
    own = (shear + bulk) * outer + shear * np.trace(outer, axis1=2, axis2=3)[..., None, None] * np.eye(3)
    np.add.at(blocks, tets, volumes[:, None, None, None] * own)
    inverse = np.linalg.inv(blocks)
    moved, rest = np.zeros_like(nodes), weight
    ahead = better = np.einsum("nij,nj->ni", inverse, rest)
    for _ in range(MOST_ROUNDS):
        if np.linalg.norm(rest) <= RESIDUAL * np.linalg.norm(weight):
            return float(np.linalg.norm(moved, axis=1).max())
        pushed, size = forces(ahead), (rest * better).sum()
        step = size / (ahead * pushed).sum()
        moved, rest = moved + step * ahead, rest - step * pushed
        better = np.einsum("nij,nj->ni", inverse, rest)
        ahead = better + ((rest * better).sum() / size) * ahead
    raise ModelError(
        "a part of the soft body is attached to nothing, so that no stiffness follows from its sag"
    )
