"""Wrenches of springs and other force elements on the bodies in one state."""

from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..kernels import layout
from ..model.checks import check_flags, check_state, inputs_alone
from ..model.model import Model


class ForceWrench(NamedTuple):
    """Wrenches [moment, force] (6,) in world axes about the world's origin [N m, N].

    Attributes:
        body: on the element's body.
        other: on the other body or the world: the opposite, or 0 if the element acts on one body only.
    """

    body: FloatArray
    other: FloatArray


def force_wrenches(model: Model, state: State, inputs: Any = None) -> dict[str, ForceWrench]:
    """The wrenches of all springs and forces by name, such as ground reactions; springs first.

    Args:
        inputs: of the model, (num_inputs,) or {name: number}; the model's values if None.

    Raises:
        ModelError: the state does not belong to the model, or bad inputs.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    state = check_state(model, state)
    tau = inputs_alone(model, inputs)
    spaces = model.workspace().clear()
    kernels.joints.kinematics.kinematics(model.arrays, np.array(state.q), np.array(state.qd), *spaces)
    check_flags(model, spaces[2])
    body_int, _, _, data, _ = model.arrays
    found = {}
    row = int(data[layout.ELEMENT_ROWS])
    for element in (*model.springs, *model.forces):
        pair = kernels.forces.elements.element_wrench(
            body_int, data, tau, model.num_coordinates, row, spaces[0]
        )
        bodies = int(data[row + layout.ELEMENT_BODY]), int(data[row + layout.ELEMENT_OTHER])
        found[element.name] = ForceWrench(
            *(_about_origin(body_int, spaces[0], *x) for x in zip(bodies, pair))
        )
        row += int(data[row + layout.ELEMENT_SIZE])
    return found


def _about_origin(body_int: Any, work: FloatArray, body: int, wrench: Any) -> FloatArray:
    """Moves a wrench from the reference point of a body's tree to the world's origin."""
    moved = np.array(wrench)
    if body >= 0:
        reference = work[body_int[body, layout.ROOT], layout.REFERENCE : layout.REFERENCE + 3]
        moved[:3] += np.cross(reference, moved[3:])
    return moved
