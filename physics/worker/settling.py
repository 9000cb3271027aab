"""Starts of simulations at which springs and gravity hold bodies, so that nothing drops at first."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..motions.motion import Motion
from ..simulation.simulate import simulate

# Dampers with the time constant TIME [s], and double so in each further round, draw bodies to their rest; a round takes
# LONG of these times. With stiffness k and damping k x time nothing swings that is faster than 2 / time.
TIME, LONG, ROUNDS = 0.25, 8.0, 6
STEP = 1.0 / 240.0  # s
# Coordinates that change by less than this [rad, m] in the second half of a round are at rest.
REST = 1e-4


def settled(
    model: Model,
    state: State,
    names: Collection[str],
    tau: FloatArray,
    motions: Mapping[str, Motion],
    progress: Callable[[float], Any],
) -> FloatArray:
    """Coordinates (nv,) at which springs and gravity hold bodies of these names; motions hold others.

    tau: forces and inputs (nv + inputs,), of which rates of targets count as 0. progress: as of `simulate`.

    Raises:
        ModelError, DivergedError: as `simulate`.
    """
    force, rates = tau.copy(), _target_rates(model)
    force[model.num_coordinates :][[name in rates for name in model.input_names]] = 0.0
    for k in range(ROUNDS):
        time = TIME * 2.0**k
        start = replace(state, qd=np.zeros_like(state.qd))
        options: dict[str, Any] = {
            "record_interval": 0.5 * LONG * time,
            "tau": force,
            "motions": dict(motions),
        }

        def told(share: float, done: int = k) -> Any:
            return progress((done + share) / ROUNDS)

        result = simulate(_damped(model, names, time), start, LONG * time, STEP, progress=told, **options)
        state = replace(state, q=result.q[-1].copy())
        if np.abs(result.q[-1] - result.q[-2]).max() < REST:
            break
    return state.q


def _target_rates(model: Model) -> set[str]:
    """Names of the inputs that say how fast the targets of controllers move."""
    return {
        f"{controller.name}.{name}.rate"
        for controller in model.controllers
        for name in model.bodies[controller.body].joint.coordinate_names
    }


def _damped(model: Model, names: Collection[str], time: float) -> Model:
    """The model, its controllers of these bodies with dampers of a time constant [s], implicit in steps of STEP."""
    description = model.to_dict()
    description.pop("feedback_laws", None)
    bodies = {row["name"]: row for row in description["bodies"]}
    for row in description["controllers"]:
        if row["body"] in names:
            ahead = (time + STEP) * np.array(row["stiffness"])
            row["damping"] = ahead.tolist()
            bodies[row["body"]]["armature"] = (STEP * ahead).tolist()
    return ModelBuilder.from_dict(description).build()
