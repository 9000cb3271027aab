"""Many short runs of one model: ours and MuJoCo's rollouts, both on one thread."""

from typing import Any

import numpy as np

import physics as ph

from .chains import STEP
from .peers import GRAVITY
from .timing import Contestant
from .trees import PARENTS, Tree

STEPS = 20


class Worlds:
    """The humanoid from random poses; a step of a contestant is a run of STEPS steps."""

    def __init__(self) -> None:
        self.tree = Tree(PARENTS["humanoid"])
        rng = np.random.default_rng(3)
        self.starts = 0.1 * rng.standard_normal((10_000, len(self.tree.parents)))

    def ours(self) -> Contestant:
        """`simulate_many`."""
        model, span = self.tree.model(), STEPS * STEP
        states = [model.state(q=q) for q in self.starts]

        def run(count: int) -> Any:
            return ph.simulate_many(model, states[:count], span, STEP, record_interval=span, threads=1)

        return Contestant("simulate_many", run)

    def mujoco_rollout(self) -> Contestant:
        """`mujoco.rollout`, which records every step."""
        import mujoco
        from mujoco import rollout

        from tests.verification.peers.mujoco_model import MujocoTree

        model = MujocoTree(self.tree.described(), [], GRAVITY).model
        model.opt.timestep = STEP
        data = mujoco.MjData(model)
        size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        states = np.zeros((len(self.starts), size))
        states[:, 1 : 1 + model.nq] = self.starts

        def run(count: int) -> Any:
            return rollout.rollout(model, data, states[:count], nstep=STEPS)

        return Contestant("MuJoCo rollout", run)
