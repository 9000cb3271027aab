"""Starts of simulations at which springs and gravity hold bodies, so that nothing drops at the first frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..blender import compute_process, physics_access
from ..blender.compute_process import Steps
from ..reading.scene import SceneModel
from . import inputs

# Dampers with the time constant TIME [s], and double so in each further round, draw bodies to their rest; a round takes
# LONG of these times. With stiffness k and damping k x time nothing swings that is faster than 2 / time.
TIME, LONG, ROUNDS = 0.25, 8.0, 6
STEP = 1.0 / 240.0  # s
# What moves by less than this [rad, m] in the second half of a round has come to rest.
REST = 1e-4


def settled(
    read: SceneModel, names: list[str], tau: physics_access.Table | None
) -> Steps[physics_access.State]:
    """Steps that find the start of a model with these bodies at rest, everything else held where it starts.

    tau: of the simulation; of it what is there at the start.
    """
    if not names:
        return read.state
    requests, state = physics_access.part("worker.requests"), read.state
    force = inputs.sampled(read.model, tau, np.array([state.time if tau is None else tau.times[0]]))[0]
    rates = _target_rates(read.model)  # of what targets do later
    force[read.model.num_coordinates :][[name in rates for name in read.model.input_names]] = 0.0
    motions = _held(read, set(names))
    for k in range(ROUNDS):
        time = TIME * 2.0**k
        model = _damped(read.model, set(names), time)
        start = replace(state, qd=np.zeros_like(state.qd))
        answer = yield requests.simulate(
            compute_process.client(),
            model,
            start,
            duration=LONG * time,
            dt=STEP,
            record_interval=0.5 * LONG * time,
            tau=force,
            motions=motions,
        )
        result = requests.simulate_answer(answer, model)
        state = replace(state, q=result.q[-1].copy())
        if np.abs(result.q[-1] - result.q[-2]).max() < REST:
            break
    return state


def _target_rates(model: physics_access.Model) -> set[str]:
    """Names of the inputs that say how fast the targets of controllers move."""
    return {
        f"{controller.name}.{name}.rate"
        for controller in model.controllers
        for name in model.bodies[controller.body].joint.coordinate_names
    }


def _held(read: SceneModel, names: set[str]) -> dict[str, physics_access.Motion]:
    """Motions that hold all other bodies where they start."""
    found, model = {}, read.model
    for body in model.bodies:
        where = model.coordinate_slice(body.name)
        if body.name not in names and where.stop > where.start:
            found[body.name] = physics_access.physics().Motion([read.state.time], read.state.q[where][None])
    return found


def _damped(model: physics_access.Model, names: set[str], time: float) -> physics_access.Model:
    """The model, its controllers of these bodies with dampers of a time constant [s], implicit in steps of STEP
    (`reading.pose_springs`).
    """
    description = model.to_dict()
    bodies = {row["name"]: row for row in description["bodies"]}
    for row in description["controllers"]:
        if row["body"] in names:
            stiffness = np.array(row["stiffness"])
            ahead = (time + STEP) * stiffness
            row["damping"] = ahead.tolist()
            bodies[row["body"]]["armature"] = (STEP * ahead).tolist()
    return physics_access.physics().ModelBuilder.from_dict(description).build()
