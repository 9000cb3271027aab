"""Impacts at a unilateral limit g(q) >= 0, with the mass matrix of the whole tree."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..model.checks import check_state
from ..model.model import Model
from ..validation import finite_array, number
from . import mass_matrix


class Impact(NamedTuple):
    """State after an impact, and the impulse along the limit's gradient (0 if the state already separates)."""

    state: State
    impulse: float


def limit_impact(model: Model, state: State, gradient: Any, restitution: float = 0.0) -> Impact:
    """The state after a frictionless impact at a limit g(q) >= 0 that the state touches.

    The impulse is along the gradient (Kim, Lee & Park 2014, joint limit analysis): M (q'+ - q'-) = lambda dg/dq
    with <dg/dq, q'+> = -e <dg/dq, q'->. The energy changes by -(1 - e^2) <dg/dq, q'->^2 / (2 dg^T M^-1 dg) <= 0.

    Args:
        model, state: the tree, and its state where it touches the limit.
        gradient: dg/dq (nv,).
        restitution: e in [0, 1].

    Raises:
        ModelError: the gradient is zero or has the wrong shape; e lies outside [0, 1].
    """
    state = check_state(model, state)
    direction = finite_array(gradient, (model.num_coordinates,), "gradient of the limit")
    e = number(restitution, "restitution")
    if not 0.0 <= e <= 1.0:
        raise ModelError(f"restitution must lie in [0, 1], got {e:g}")
    if not np.abs(direction).max() > 0.0:
        raise ModelError("gradient of the limit must not be zero")
    approach = float(direction @ state.qd)
    if approach >= 0.0:
        return Impact(state, 0.0)
    response: FloatArray = np.linalg.solve(mass_matrix(model, state), direction)
    impulse = -(1.0 + e) * approach / float(direction @ response)
    qd = state.qd + impulse * response
    qd.flags.writeable = False
    return Impact(State(state.q, qd, state.time, state.chart, state.muscle_states), impulse)
