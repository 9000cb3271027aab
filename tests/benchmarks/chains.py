"""The chains that are raced, as contestants: ours, Pinocchio's loop, MuJoCo's step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import physics as ph
from tests.verification.generators import chain, links, smooth_frames, surface, unit_vector

from .timing import Contestant

FloatArray = NDArray[np.float64]

STEP = 1e-4  # small enough that a chain of 1000 links stays calm under symplectic Euler


@dataclass(frozen=True)
class Peer:
    """Another engine with the chain of hinges: to race against, and its accelerations (q, v) -> (n,) to check."""

    contestant: Contestant
    accelerations: Callable[[FloatArray, FloatArray], FloatArray]


def hinge_axes(num_bodies: int) -> FloatArray:
    """Random axes (n, 3), the same for every engine."""
    rng = np.random.default_rng(num_bodies)
    return np.array([unit_vector(rng) for _ in range(num_bodies)])


def bend(num_bodies: int) -> FloatArray:
    """Start coordinates (n,): a hanging chain, slightly bent."""
    return 0.02 * np.random.default_rng(11).standard_normal(num_bodies)


def revolute(num_bodies: int) -> Any:
    """Our chain of hinges."""
    axes = hinge_axes(num_bodies)
    return chain(num_bodies, lambda index: ph.joints.Hinge(axes[index]))


def spline(num_bodies: int, num_frames: int = 8) -> Any:
    """Our chain of cubic spline curve joints; more frames sample such a motion more finely."""
    rng = np.random.default_rng(12)
    angle, length = 2.1 / (num_frames - 1), 0.56 / (num_frames - 1)
    frames = smooth_frames(rng, num_frames, angle, length)
    return chain(num_bodies, lambda index: ph.joints.SplineCurve(frames))


def surfaces(num_bodies: int) -> Any:
    """Our chain of cubic spline surface joints, two coordinates each."""
    patch = surface(np.random.default_rng(13), shape=(8, 8))
    return chain(num_bodies, lambda index: patch)


def middle(model: Any) -> FloatArray:
    """Coordinates in the middle of every joint's range."""
    return np.concatenate([np.mean(joint.range, axis=1) for joint in model.joints])


def rollout(name: str, model: Any, q: FloatArray) -> Contestant:
    """Our rollout by symplectic Euler, nothing recorded but start and end."""
    state = model.state(q=q)

    def run(steps: int) -> Any:
        return ph.simulate(model, state, duration=steps * STEP, dt=STEP, record_interval=steps * STEP)

    return Contestant(name, run)


def pinocchio_loop(num_bodies: int) -> Peer:
    """Pinocchio's `aba` and `integrate` called in a Python loop on prepared data, symplectic Euler."""
    import pinocchio

    from tests.verification.peers.pinocchio_model import PinocchioTree

    model = PinocchioTree(hinge_bodies(num_bodies), np.array([0.0, 0.0, -9.81])).model
    data, start, tau = model.createData(), bend(num_bodies), np.zeros(num_bodies)

    def run(steps: int) -> Any:
        q, v = start.copy(), np.zeros(num_bodies)
        for _ in range(steps):
            v += STEP * pinocchio.aba(model, data, q, v, tau)
            q = pinocchio.integrate(model, q, STEP * v)
        return q

    def accelerations(q: FloatArray, v: FloatArray) -> FloatArray:
        return np.array(pinocchio.aba(model, data, q, v, tau))

    return Peer(Contestant("Pinocchio loop", run), accelerations)


def hinge_bodies(num_bodies: int) -> list[dict[str, Any]]:
    """The chain of hinges as a list of bodies for `PinocchioTree`."""
    return [
        link
        | {"parent": index - 1 if index else None, "joint": ph.joints.Hinge(axis), "body_in_joint": np.eye(4)}
        for index, (link, axis) in enumerate(zip(links(num_bodies), hinge_axes(num_bodies)))
    ]


def mujoco_step(num_bodies: int) -> Peer:
    """MuJoCo's `mj_step`, its loop over the steps in C."""
    import mujoco

    from tests.verification.peers.mujoco_model import mujoco_chain

    model = mujoco_chain(links(num_bodies), hinge_axes(num_bodies), STEP)
    data = mujoco.MjData(model)

    def run(steps: int) -> Any:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = bend(num_bodies)
        mujoco.mj_step(model, data, nstep=steps)
        return data.qpos

    def accelerations(q: FloatArray, v: FloatArray) -> FloatArray:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        return np.array(data.qacc)

    return Peer(Contestant("MuJoCo mj_step", run), accelerations)


def check_agreement(num_bodies: int, peers: tuple[Peer, ...]) -> None:
    """Make sure that all contestants run the same race.

    Raises:
        RuntimeError: a peer's accelerations differ from ours by more than 1e-9, relative.
    """
    model, rng = revolute(num_bodies), np.random.default_rng(13)
    q, v = 0.5 * rng.standard_normal((2, num_bodies))
    ours = ph.forward_dynamics(model, model.state(q=q, qd=v))
    for peer in peers:
        theirs = peer.accelerations(q, v)
        difference = float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
        if not difference <= 1e-9:
            raise RuntimeError(
                f"accelerations of {num_bodies} hinges: {peer.contestant.name} and ours differ by {difference:g}"
            )
