"""Accelerations of hinge chains against MuJoCo (Todorov, Erez & Tassa 2012)."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from ..generators import chain, links, unit_vector  # noqa: E402
from .mujoco_model import mujoco_chain  # noqa: E402

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
    # The condition of a chain's mass matrix grows as the fourth power of its length: 1e-9 leaves room at 30.
    assert np.linalg.norm(qdd - data.qacc) <= 1e-9 * np.linalg.norm(data.qacc)
