"""Other engines as contestants: Pinocchio in C++ and called from Python, MuJoCo's step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import pinocchio_cpp as cpp
from .chains import STEP
from .timing import Contestant
from .trees import Tree

GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Peer:
    """Another engine with a tree of hinges: a contestant, and its accelerations (q, v) -> (n,) for checking."""

    contestant: Contestant
    accelerations: Callable[[FloatArray, FloatArray], FloatArray]


def pinocchio_cpp(tree: Tree) -> Peer:
    """Pinocchio's `aba` and symplectic Euler in a C++ loop, or its Python loop if that cannot be compiled."""
    if cpp.library()[0] is None:
        return pinocchio_loop(tree)
    copy = cpp.CppTree(tree.bodies, tree.parents, tree.axes)
    return Peer(copy.contestant(tree.start, STEP), copy.accelerations)


def pinocchio_loop(tree: Tree) -> Peer:
    """Pinocchio's `aba` and `integrate` called in a Python loop on prepared data, symplectic Euler."""
    import pinocchio

    from tests.verification.peers.pinocchio_model import PinocchioTree

    model = PinocchioTree(tree.described(), GRAVITY).model
    data, start, tau = model.createData(), tree.start, np.zeros(model.nv)

    def run(steps: int) -> Any:
        q, v = start.copy(), np.zeros(model.nv)
        for _ in range(steps):
            v += STEP * pinocchio.aba(model, data, q, v, tau)
            q = pinocchio.integrate(model, q, STEP * v)
        return q

    def accelerations(q: FloatArray, v: FloatArray) -> FloatArray:
        return np.array(pinocchio.aba(model, data, q, v, tau))

    return Peer(Contestant("Pinocchio loop", run), accelerations)


def mujoco_step(tree: Tree) -> Peer:
    """MuJoCo's `mj_step`, its loop over the steps in C."""
    import mujoco

    from tests.verification.peers.mujoco_model import MujocoTree

    copy = MujocoTree(tree.described(), [], GRAVITY)
    model, data = copy.model, copy.data
    model.opt.timestep = STEP

    def run(steps: int) -> Any:
        mujoco.mj_resetData(model, data)
        copy.place(tree.start, np.zeros(model.nv))
        mujoco.mj_step(model, data, nstep=steps)
        return data.qpos

    def accelerations(q: FloatArray, v: FloatArray) -> FloatArray:
        matrix, _ = copy.place(q, v)
        mujoco.mj_forward(model, data)
        return np.linalg.solve(matrix, np.array(data.qacc))

    return Peer(Contestant("MuJoCo mj_step", run), accelerations)


def check_agreement(tree: Tree, peers: tuple[Peer, ...]) -> None:
    """Check that all contestants simulate the same motion.

    Raises:
        RuntimeError: a peer's accelerations differ from ours by more than 1e-9, relative.
    """
    model, rng = tree.model(), np.random.default_rng(13)
    q, v = 0.5 * rng.standard_normal((2, model.num_coordinates))
    ours = ph.forward_dynamics(model, model.state(q=q, qd=v))
    for peer in peers:
        theirs = peer.accelerations(q, v)
        difference = float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
        if not difference <= 1e-9:
            raise RuntimeError(
                f"accelerations of {model.num_coordinates} hinges: {peer.contestant.name} and ours differ by "
                f"{difference:g}"
            )
