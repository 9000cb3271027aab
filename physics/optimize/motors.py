"""Motors of joints: moments between a body and its parent that follow inputs, beside generalized forces."""

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import inverse_dynamics
from ..forces import Wrench
from ..model.model import Model


def motors(model: Model) -> dict[str, str]:
    """The inputs that moments between a body and its parent, or the world, follow, each with the body's name."""
    return {
        force.magnitude: model.body_names[force.body]
        for force in model.forces
        if isinstance(force, Wrench)
        and isinstance(force.magnitude, str)
        and not force.force.any()
        and force.other == model.parent[force.body]
    }


def driven(model: Model, names: Sequence[str]) -> set[str]:
    """Names of the coordinates of the joints whose motors are among the names."""
    bodies = {body for name, body in motors(model).items() if name in names}
    return {name for body in bodies for name in model.coordinate_names[model.coordinate_slice(body)]}


def with_motors(model: Model, state: State, tau: FloatArray, names: Sequence[str]) -> FloatArray:
    """Generalized forces tau (nv,) and, by least squares, what the motors among the names give in their place; other
    inputs are 0: (nv + num_inputs,).
    """
    found = np.concatenate([tau, np.zeros(model.num_inputs)])
    used = [name for name in motors(model) if name in names]
    if used:
        still = dict.fromkeys(used, 0.0)
        rest = inverse_dynamics(model, state, inputs=still)
        by_motor = [rest - inverse_dynamics(model, state, inputs=still | {name: 1.0}) for name in used]
        columns = [model.num_coordinates + model.input_names.index(name) for name in used]
        found[columns] = np.linalg.lstsq(np.array(by_motor).T, tau, rcond=None)[0]
    return found


def without(model: Model, row: FloatArray, names: Sequence[str]) -> FloatArray:
    """The inputs (num_inputs,) of a row (nv + num_inputs,), with 0 for the motors among the names."""
    inputs = row[model.num_coordinates :].copy()
    inputs[[model.input_names.index(name) for name in motors(model) if name in names]] = 0.0
    return inputs
