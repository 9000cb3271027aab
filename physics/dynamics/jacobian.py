"""Jacobians from velocities of the coordinates to twists of bodies."""

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..bodies.state import State
from ..model.checks import check_flags, check_state
from ..model.model import Model


def _evaluate(model: Model, state: State, body: str | Body) -> tuple[FloatArray, FloatArray]:
    state = check_state(model, state)
    index = model.index(name_of(body))
    jacobian, bias = np.zeros((6, model.num_coordinates)), np.zeros(6)
    spaces = model.workspace().clear()
    kernels.dynamics.jacobian.body_jacobian(
        model.arrays, np.array(state.q), np.array(state.qd), index, jacobian, bias, *spaces
    )
    check_flags(model, spaces[2])
    return jacobian, bias


def body_jacobian(model: Model, state: State, body: str | Body) -> FloatArray:
    """J (6, nv): the twist [angular, linear] of a body, in its own frame, is J q'.

    Columns of coordinates that do not move the body are 0.

    Raises:
        ModelError: the model has no such body, or the state does not belong to the model.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    return _evaluate(model, state, body)[0]


def body_bias(model: Model, state: State, body: str | Body) -> FloatArray:
    """J' q' (6,): rate of a body's twist, in its own frame, at zero accelerations of the coordinates.

    The twist's rate is J q'' + J' q'; raises as `body_jacobian` does.
    """
    return _evaluate(model, state, body)[1]
