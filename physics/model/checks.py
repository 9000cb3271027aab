"""Checks of states and accelerations, and errors from the kernels' flags."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import JointRangeError, ModelError
from ..kernels import layout
from ..muscles.states import initial_states
from ..muscles.view import ModelView
from ..validation import all_finite, finite_array, float_array, number
from .naming import coordinate_values


def check_flags(model: ModelView, flags: Any) -> None:
    """Raise the error that the kernels reported, if any."""
    status, culprit = int(flags[layout.STATUS]), int(flags[layout.CULPRIT])
    if status == layout.OK:
        return
    name = model.body_names[culprit]
    if status == layout.NOT_FINITE:
        raise ModelError(f"body {name!r} moves too fast: its inertia or its forces are not finite")
    if status == layout.OUT_OF_RANGE:
        raise JointRangeError(
            f"joint of body {name!r} left its range {model.bodies[culprit].joint.range.tolist()}"
        )
    raise ModelError(f"joint of body {name!r} has a coordinate that moves no inertia in this configuration")


def check_state(model: ModelView, state: State) -> State:
    """The state with arrays of the right types; ModelError if it does not belong to the model."""
    if not hasattr(model, "arrays"):
        raise ModelError(f"a model is needed, got {model!r:.80}: make one with ModelBuilder")
    if not isinstance(state, State):
        raise ModelError(f"a state is needed, got {state!r:.80}: make one with model.state(...)")
    nv = model.num_coordinates
    chart = float_array(state.chart, "chart of the state")
    q, qd = float_array(state.q, "q of the state"), float_array(state.qd, "qd of the state")
    if q.shape != (nv,) or qd.shape != (nv,) or chart.shape != (model.num_bodies,):
        raise ModelError(f"the state does not belong to {model!r}: make it with model.state(...)")
    q, qd, chart = all_finite(q, "q"), all_finite(qd, "qd"), all_finite(chart, "chart of the state")
    states = initial_states(model, q, state.muscle_states)
    soft = state.soft_states
    if soft is not None:
        soft = all_finite(float_array(soft, "soft_states"), "soft_states")
    count = sum(len(each.nodes) for each in getattr(model, "soft_bodies", ()))
    if (soft is None) != (count == 0) or (soft is not None and soft.shape != (2, count, 3)):
        raise ModelError(f"the state does not belong to {model!r}: make it with model.state(...)")
    return State(q, qd, number(state.time, "time of the state"), chart.astype(np.int64), states, soft)


def refuse_soft(model: ModelView) -> None:
    """ModelError if a model has soft bodies, whose forces the dynamics of one state do not have."""
    for soft in getattr(model, "soft_bodies", ())[:1]:
        raise ModelError(f"dynamics of one state leave out soft body {soft.name!r}: use simulate")


def check_accelerations(model: ModelView, qdd: FloatArray) -> FloatArray:
    """Return the accelerations; ModelError if velocities or forces are too large for them."""
    if not np.isfinite(qdd).all():
        d = int(np.argmin(np.isfinite(qdd)))
        raise ModelError(f"acceleration of {model.coordinate_names[d]} is not finite: velocities too large")
    return qdd


def vector(model: ModelView, value: Any, name: str) -> FloatArray:
    """The values (nv,), given as they are or by name; zeros for None."""
    return coordinate_values(model, value, name, np.zeros(model.num_coordinates))


def with_inputs(model: ModelView, tau: Any, name: str) -> FloatArray:
    """Generalized forces, followed by inputs (nv + num_inputs,), as the kernels take them."""
    complete = model.with_inputs(tau, name)
    if complete.ndim != 1:
        raise ModelError(f"{name} must have shape ({model.num_coordinates},), got {complete.shape}")
    return complete


def inputs_alone(model: ModelView, inputs: Any) -> FloatArray:
    """Zero forces, followed by inputs: (num_inputs,), {name: number}, or None for their default values."""
    if inputs is not None and not isinstance(inputs, Mapping):
        inputs = dict(zip(model.input_names, finite_array(inputs, (model.num_inputs,), "inputs").tolist()))
    return model.with_inputs(inputs, "inputs")
