"""Forward dynamics, inverse dynamics and mass matrix against one another on random trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph

from .claim import Measurement, claim
from .generators import random_state, random_tree

TREES = 1000
LARGEST_TREE = 40


def disagreements(model: Any, rng: Generator) -> dict[str, float]:
    """How far ABA, RNEA and the mass matrix are apart in one random state of a model.

    Accelerations are compared in the norm of the mass matrix, sqrt(x^T M x), relative to the norm of the
    acceleration: a plain norm would add metres to radians, and would measure how badly the random inertias
    condition M rather than how well the algorithms agree. Torques are compared with the sum of the
    magnitudes that cancel in them, |M| |qdd| + |bias|.
    """
    state = random_state(model, rng)
    n = model.num_coordinates
    tau = rng.standard_normal(n)
    qdd = ph.forward_dynamics(model, state, tau)
    mass_matrix = ph.mass_matrix(model, state)
    bias = ph.inverse_dynamics(model, state, np.zeros(n))
    factor = np.linalg.cholesky(mass_matrix)
    solved = np.linalg.solve(factor.T, np.linalg.solve(factor, tau - bias))
    torques = np.abs(mass_matrix) @ np.abs(qdd) + np.abs(bias)
    columns = np.array([ph.inverse_dynamics(model, state, unit) - bias for unit in np.eye(n)]).T
    diagonal = np.sqrt(np.diag(mass_matrix))
    return {
        "ABA against M^-1": norm(factor.T @ (qdd - solved)) / norm(factor.T @ qdd),
        "RNEA of ABA against tau": norm(ph.inverse_dynamics(model, state, qdd) - tau) / norm(torques),
        "M against columns of RNEA": float(
            np.max(np.abs(columns - mass_matrix) / np.outer(diagonal, diagonal))
        ),
        "condition number of M": float(np.linalg.cond(mass_matrix / np.outer(diagonal, diagonal))),
    }


def norm(vector: Any) -> float:
    return float(np.linalg.norm(vector))


def worst_of_trees(count: int, seed: int) -> Measurement:
    """The largest disagreement over random trees of 1 to LARGEST_TREE bodies, with joints of every type."""
    rng = np.random.default_rng(seed)
    worst: dict[str, float] = {}
    for index in range(count):
        model = random_tree(rng, 1 + index % LARGEST_TREE)
        if model.num_coordinates == 0:
            continue
        for name, value in disagreements(model, rng).items():
            worst[name] = float(np.maximum(worst.get(name, 0.0), value))
    figure = max(value for name, value in worst.items() if name != "condition number of M")
    return Measurement(figure, worst)


STATEMENT = (
    "ABA against M^-1 and RNEA, and M against RNEA's columns, on {} random trees of 1 to 40 bodies with "
    "joints of every type, springs, dampers and armature: largest relative difference"
)
SOURCE = "Lee & Terzopoulos 2008, App. A"


@claim("dynamics.agreement_quick", STATEMENT.format(40), source=SOURCE, at_most=1e-9)
def agreement_quick() -> Measurement:
    return worst_of_trees(LARGEST_TREE, seed=1)


@claim("dynamics.agreement", STATEMENT.format(TREES), source=SOURCE, at_most=1e-9, cost="slow")
def agreement() -> Measurement:
    return worst_of_trees(TREES, seed=2)
