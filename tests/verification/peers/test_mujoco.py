"""Accelerations and forces of chains and trees against MuJoCo (Todorov, Erez & Tassa 2012)."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from ..generators import chain, links, random_state, unit_vector  # noqa: E402
from .mujoco_model import ON_LINK, MujocoTree, mujoco_chain  # noqa: E402
from .sprung_trees import our_tree, sprung_tree  # noqa: E402

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("num_bodies", [1, 2, 7, 30])
def test_chain(num_bodies: int) -> None:
    rng = np.random.default_rng(num_bodies)
    axes = np.array([unit_vector(rng) for _ in range(num_bodies)])
    model = chain(num_bodies, lambda index: ph.joints.Hinge(axes[index]))
    peer = mujoco_chain(links(num_bodies), axes, dt=1e-3)
    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = 0.5 * rng.standard_normal((3, num_bodies))
    mujoco.mj_forward(peer, data)
    state = model.state(q=data.qpos.copy(), qd=data.qvel.copy())
    qdd = ph.forward_dynamics(model, state, data.qfrc_applied.copy())
    # The condition of a chain's mass matrix grows with the fourth power of its length: 1e-9 suffices up to 30.
    assert np.linalg.norm(qdd - data.qacc) <= 1e-9 * np.linalg.norm(data.qacc)


@pytest.mark.parametrize("num_bodies", [2, 3, 7])
def test_armature_of_a_tendon(num_bodies: int) -> None:
    """A J^T J in the mass matrix and A J^T J' q' among the forces, as MuJoCo has them since 3.3."""
    rng = np.random.default_rng(num_bodies)
    axes = np.array([unit_vector(rng) for _ in range(num_bodies)])
    builder = ph.ModelBuilder()
    for k, link in enumerate(links(num_bodies)):
        builder.add_body(str(k), str(k - 1) if k else None, joint=ph.joints.Hinge(axes[k]), **link)
    path = [ph.muscles.PathPoint(str(k), ON_LINK) for k in range(num_bodies)]
    builder.add_muscle("tendon", path, armature=5.0)
    model, peer = builder.build(), mujoco_chain(links(num_bodies), axes, dt=1e-3, armature=5.0)
    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = rng.standard_normal((3, num_bodies))
    mujoco.mj_forward(peer, data)
    state = model.state(data.qpos.copy(), data.qvel.copy())
    bias = ph.inverse_dynamics(model, state, np.zeros(num_bodies))
    assert np.linalg.norm(bias - data.qfrc_bias) <= 1e-12 * np.linalg.norm(bias)
    qdd = ph.forward_dynamics(model, state, data.qfrc_applied.copy())
    # round-off times the condition of the mass matrix
    assert np.linalg.norm(qdd - data.qacc) <= 1e-10 * np.linalg.norm(data.qacc)


KINDS = ("hinge", "slider", "spherical")
TREES = 200


def test_sprung_trees() -> None:
    """q'' and the forces of inverse dynamics on trees with springs and dampers in joints and between points.

    Both engines solve the same equations by different recursions. They differ by round-off times the condition of the
    mass matrix.
    """
    worst = np.zeros(2)
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        bodies, springs, gravity = sprung_tree(rng, 1 + seed % 20, KINDS, (*KINDS, "free"))
        model, peer = our_tree(bodies, springs, gravity), MujocoTree(bodies, springs, gravity)
        state = random_state(model, rng)
        matrix, bias = peer.place(state.q, state.qd)
        force = rng.standard_normal(model.num_coordinates)
        peer.data.qfrc_applied[:] = force
        mujoco.mj_forward(peer.model, peer.data)
        ours = matrix @ ph.forward_dynamics(model, state, matrix.T @ force) + bias
        error = np.linalg.norm(ours - peer.data.qacc) / np.linalg.norm(peer.data.qacc)
        qdd = rng.standard_normal(model.num_coordinates)
        peer.data.qacc[:] = matrix @ qdd + bias
        mujoco.mj_inverse(peer.model, peer.data)
        theirs = matrix.T @ peer.data.qfrc_inverse
        torque = ph.inverse_dynamics(model, state, qdd)
        worst = np.maximum(worst, [error, np.linalg.norm(torque - theirs) / np.linalg.norm(theirs)])
    assert worst.max() < 1e-9, worst
