"""Accelerations and closing forces of four-bar and Jansen linkages against Pinocchio and MuJoCo."""

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is only in the environment of the peers")
pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from physics.dynamics.constraint_wrenches import constraint_wrenches  # noqa: E402

from .linkages import MADE, described, moving  # noqa: E402
from .mujoco_model import MujocoTree  # noqa: E402
from .pinocchio_model import PinocchioTree  # noqa: E402
from .test_loops import closure_rows, constrained  # noqa: E402

pytestmark = pytest.mark.peers

SEEDS = range(4)


def ours(model: Any, state: Any, tau: Any) -> tuple[np.ndarray, np.ndarray]:
    """q'', and the generalized forces of the closure."""
    found = ph.constrained_dynamics(model, state, tau)
    maximal = ph.maximal_coordinates(model, state)
    return found.qdd, maximal.jacobian_transpose_product(constraint_wrenches(maximal, found.forces))


def apart(values: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(values - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MADE)
def test_pinocchio(name: str, seed: int) -> None:
    model, state, tau = moving(MADE[name], seed)
    bodies, loops = described(model)
    qdd, push = ours(model, state, tau)
    theirs, forces = constrained(PinocchioTree(bodies, model.gravity), loops, state, tau)
    # round-off, and Pinocchio's proximal steps, whose error for rows normal to the plane is 1e-10
    assert apart(qdd, theirs) < 1e-9
    maximal = ph.maximal_coordinates(model, state)
    first = model.num_bodies - len(bodies)  # bodies fixed to the world come first
    shifted = [[(body + first if body >= 0 else -1, point) for body, point in ends] for ends in loops]
    rows = np.concatenate([closure_rows(model, state, ends)[0] for ends in shifted])
    assert apart(push, (rows @ maximal.jacobian).T @ forces) < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MADE)
def test_mujoco(name: str, seed: int) -> None:
    """MuJoCo's mass matrix, bias and Jacobian of `connect`, as a rigid loop."""
    model, state, tau = moving(MADE[name], seed)
    bodies, loops = described(model)
    qdd, push = ours(model, state, tau)
    peer = MujocoTree(bodies, [], model.gravity, loops)
    matrix, bias = peer.place(state.q, state.qd)
    peer.data.qfrc_applied[:] = np.linalg.solve(matrix.T, tau)
    theirs, forces = peer.rigid_accelerations()
    # differences over 1 ms have a relative error of about 1e-10 in J' v
    assert apart(matrix @ qdd + bias, theirs) < 1e-8
    assert apart(push, matrix.T @ peer.constraint_rows().T @ forces) < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MADE)
def test_mujoco_as_it_is(name: str, seed: int) -> None:
    """MuJoCo's own solution, whose connections are soft.

    At the largest impedance, 0.9999, each row yields by 1e-4 of its acceleration without constraint forces, which in a
    Jansen leg is about ten times that with them.
    """
    model, state, tau = moving(MADE[name], seed)
    bodies, loops = described(model)
    peer = MujocoTree(bodies, [], model.gravity, loops)
    matrix, bias = peer.place(state.q, state.qd)
    peer.data.qfrc_applied[:] = np.linalg.solve(matrix.T, tau)
    mujoco.mj_forward(peer.model, peer.data)
    assert apart(matrix @ ours(model, state, tau)[0] + bias, peer.data.qacc) < 1e-2
