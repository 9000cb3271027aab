"""Forward dynamics, inverse dynamics and mass matrix against one another on random trees."""

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph

from .claim import Measurement, claim
from .generators import TREE_JOINTS, random_state, random_tree, with_force_elements

TREES = 400
LARGEST_TREE = 40
WITH_FORCES = 0.5  # share of the trees with force elements, compliant limits and force laws of joints


def disagreements(model: Any, rng: Generator) -> dict[str, float]:
    """Differences between ABA, RNEA and the mass matrix in a random state of a model.

    Accelerations are compared in the norm of the mass matrix, sqrt(x^T M x), relative to that of the acceleration. A
    plain norm would mix metres and radians, and depend on the condition of M. Torques are compared with the sum of the
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
    dense = ph.forward_dynamics(model, state, tau, road="dense")
    return {
        "ABA against M^-1": norm(factor.T @ (qdd - solved)) / norm(factor.T @ qdd),
        "ABA against the dense road": norm(factor.T @ (qdd - dense)) / norm(factor.T @ qdd),
        "RNEA of ABA against tau": norm(ph.inverse_dynamics(model, state, qdd) - tau) / norm(torques),
        "M against columns of RNEA": float(
            np.max(np.abs(columns - mass_matrix) / np.outer(diagonal, diagonal))
        ),
        "condition number of M": float(np.linalg.cond(mass_matrix / np.outer(diagonal, diagonal))),
    }


def norm(vector: Any) -> float:
    return float(np.linalg.norm(vector))


SOURCE = "Lee & Terzopoulos 2008, App. A"


@claim("dynamics.agreement", source=SOURCE, at_most=1e-10, cost="slow", count=TREES, seed=2)
@claim("dynamics.agreement_quick", source=SOURCE, at_most=1e-10, count=LARGEST_TREE, seed=1)
def worst_of_trees(count: int, seed: int) -> Measurement:
    """ABA against M^-1, RNEA and the dense solution in maximal coordinates, and M against RNEA's columns, on {count}
    random trees of 1 to 40 bodies with joints of every type, springs, dampers and armature, half of them with springs
    and ground between bodies, body damping, wrenches, force laws in joints and compliant limits: largest relative
    difference.
    """
    rng = np.random.default_rng(seed)
    worst: dict[str, float] = {}
    forced = 0
    for index in range(count):
        model = random_tree(rng, 1 + index % LARGEST_TREE)
        if model.num_coordinates == 0:
            continue
        if rng.random() < WITH_FORCES:
            model, forced = with_force_elements(model, rng), forced + 1
        for name, value in disagreements(model, rng).items():
            worst[name] = float(np.maximum(worst.get(name, 0.0), value))
    figure = max(value for name, value in worst.items() if name != "condition number of M")
    return Measurement(figure, worst | {"trees with force elements": forced})


# A rotation vector and a hinge at the same place in one joint are redundant: rows cannot represent them.
DEPENDENT = ("composite",)


@claim("dynamics.joint_forces", source="Wang 2022, eq. 3.40", at_most=1e-9, cost="slow", count=300, seed=4)
@claim("dynamics.joint_forces_quick", source="Wang 2022, eq. 3.40", at_most=1e-9, count=24, seed=3)
def joint_forces(count: int, seed: int) -> Measurement:
    """Forces in all joints (recursive Newton-Euler) and accelerations of all bodies against one system of all bodies
    with every joint as rows, on {count} random trees of 1 to 12 bodies: largest relative difference.
    """
    rng = np.random.default_rng(seed)
    kinds = tuple(kind for kind in TREE_JOINTS if kind not in DEPENDENT)
    forces, accelerations = 0.0, 0.0
    for index in range(count):
        model = random_tree(rng, 1 + index % 12, kinds)
        state = random_state(model, rng)
        tau = rng.standard_normal(model.num_coordinates)
        system = ph.constrained_bodies(model, state, tau)
        reactions = ph.joint_reactions(model, state, tau=tau)
        forces = max(forces, norm(reactions - system.joint_wrenches) / norm(reactions))
        maximal = ph.maximal_coordinates(model, state)
        qdd = ph.forward_dynamics(model, state, tau)
        rates = maximal.jacobian_product(qdd) + maximal.jacobian_rate_product
        if model.num_coordinates:
            accelerations = max(accelerations, norm(rates - system.accelerations) / norm(rates))
    return Measurement(max(forces, accelerations), {"joint forces": forces, "accelerations": accelerations})
