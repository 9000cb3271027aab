"""Starts of simulations at which springs and gravity hold bodies, so that nothing drops at the first frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..blender import compute_process, physics_access
from ..blender.compute_process import Steps
from . import inputs
from .scene_model import SceneModel


def settled(
    read: SceneModel, names: list[str], tau: physics_access.Table | None
) -> Steps[physics_access.State]:
    """Steps that find the start of a model with these bodies at rest, everything else held where it starts.

    tau: of the simulation; of it what is there at the start.
    """
    if not names:
        return read.state
    state = read.state
    force = inputs.sampled(read.model, tau, np.array([state.time if tau is None else tau.times[0]]))[0]
    model, held = read.model, {}
    for body in model.bodies:
        where = model.coordinate_slice(body.name)
        if body.name not in names and where.stop > where.start:
            held[body.name] = physics_access.physics().Motion([state.time], state.q[where][None])
    settle = physics_access.part("worker.requests").settle
    answer = yield settle(compute_process.client(), names, model=model, state=state, tau=force, motions=held)
    return replace(state, q=answer.arrays["q"])
