"""Accelerations, torques and mass matrices of random trees against Pinocchio (Carpentier et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from ..generators import random_body, random_state, unit_vector  # noqa: E402
from .pinocchio_model import PinocchioTree  # noqa: E402

pytestmark = pytest.mark.peers

KINDS = (
    "hinge",
    "slider",
    "helical",
    "universal",
    "planar",
    "translational",
    "spherical",
    "free",
    "ellipsoid_plain",
)
# Both sides solve the same equations by recursions of their own; what differs is round-off, which the
# condition of the mass matrix multiplies.
TOLERANCE = 1e-9


def pair(seed: int, num_bodies: int) -> tuple[Any, PinocchioTree, Any]:
    """One random tree for both engines, and a state of it."""
    rng = np.random.default_rng(seed)
    gravity = 9.81 * unit_vector(rng)
    builder = ph.ModelBuilder(gravity=gravity)
    bodies: list[dict[str, Any]] = []
    for index in range(num_bodies):
        parent = index - 1 if index else None
        while (
            parent is not None and rng.random() < 0.4
        ):  # branch off an ancestor: Pinocchio's CRBA wants depth first
            parent = bodies[parent]["parent"]
        bodies.append(random_body(rng, KINDS) | {"parent": parent})
        named = bodies[-1] | {"parent": None if parent is None else f"body {parent}"}
        builder.add_body(f"body {index}", **named)
    model = builder.build()
    return model, PinocchioTree(bodies, gravity), random_state(model, rng)


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    model, peer, state = pair(seed, 1 + seed % 20)
    rng = np.random.default_rng(seed)
    matrix, bias = peer.velocity_map(state.q, state.qd)
    configuration, velocity = peer.configuration(state.q), matrix @ state.qd
    force = rng.standard_normal(peer.model.nv)
    tau = matrix.T @ force

    theirs = pinocchio.aba(peer.model, peer.data, configuration, velocity, force)
    ours = matrix @ ph.forward_dynamics(model, state, tau) + bias
    assert relative(ours, theirs) < TOLERANCE

    pinocchio.crba(peer.model, peer.data, configuration)
    upper = np.triu(peer.data.M)
    mass_matrix = matrix.T @ (upper + np.triu(upper, 1).T) @ matrix
    assert relative(ph.mass_matrix(model, state), mass_matrix) < TOLERANCE

    qdd = rng.standard_normal(model.num_coordinates)
    torque = matrix.T @ pinocchio.rnea(peer.model, peer.data, configuration, velocity, matrix @ qdd + bias)
    assert relative(ph.inverse_dynamics(model, state, qdd), torque) < TOLERANCE


def test_poses_of_a_tree() -> None:
    model, peer, state = pair(seed=7, num_bodies=20)
    pinocchio.forwardKinematics(peer.model, peer.data, peer.configuration(state.q))
    poses = ph.body_poses(model, state)
    for index, identifier in enumerate(peer.identifiers):
        joint_pose = peer.data.oMi[identifier].homogeneous
        # A product of up to 20 rigid transforms, each right to round-off.
        assert np.allclose(joint_pose @ peer.body_in_joint[index], poses[index], atol=1e-12)
