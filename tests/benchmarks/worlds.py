"""Many runs of one model: short ones against MuJoCo's rollouts, and in lanes; all on one thread."""

from typing import Any

import numpy as np

import physics as ph

from .chains import LONGEST, STEP, revolute
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


def hinges(num_bodies: int, lanes: bool) -> Contestant:
    """Chains of hinges in 16 worlds; a step is one of each."""
    model, rng = revolute(num_bodies), np.random.default_rng(6)
    states = [model.state(q=q) for q in 0.1 * rng.standard_normal((16, num_bodies))]

    def run(steps: int) -> Any:
        for left in range(steps, 0, -LONGEST):
            span = min(left, LONGEST) * STEP
            ph.simulate_many(model, states, span, STEP, record_interval=span, threads=1, lanes=lanes)

    return Contestant(f"{num_bodies} hinges {'in lanes' if lanes else 'one by one'}", run)
