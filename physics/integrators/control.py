"""Generalized forces from a function: of time, or of time and state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model.model import Model
from ..muscles.states import check_pulls
from ..validation import finite_array, takes_state


class Control:
    """Generalized forces as a function of (t) or of (t, q, q'), tabulated for the kernels.

    A function of time is evaluated at the start, middle and end of a step, where all methods need it. A function of
    the state is called once a step and constant over it, like a digital controller; adaptive methods call it at every
    evaluation. The run's model may have `more` coordinates behind those of the function's.
    """

    def __init__(self, model: Model, function: Callable[..., Any], more: int = 0) -> None:
        self.model = model
        self.more = more
        self.function = function
        self.takes_state = takes_state(function, "tau")
        count = 1 if self.takes_state else 3
        width = model.num_coordinates + more + model.num_inputs
        self.times, self.values = np.zeros(count), np.zeros((count, width))
        self.answer: Any = None  # result of the last call

    def ask(self, t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Forces and inputs at a time and state, as `widened`; ModelError if the function returns none."""
        nv = self.model.num_coordinates
        answer = self.function(t, q[:nv].copy(), qd[:nv].copy()) if self.takes_state else self.function(t)
        self.answer = answer
        size, width = np.size(answer), nv + self.model.num_inputs
        name = f"tau at t = {t:g} s"
        if size == width:
            forces = check_pulls(self.model, finite_array(answer, (width,), name), name)
        else:
            forces = self.model.with_inputs(finite_array(answer, (nv,), name))
        return widened(forces, nv, self.more)

    def prepare(self, t: float, dt: float, q: FloatArray, qd: FloatArray) -> None:
        """Fill the tables for a step, or for the instant if dt is 0."""
        if self.takes_state or dt == 0.0:
            self.values[:] = self.ask(t, q, qd)
            self.times[:] = t + np.arange(len(self.times))
            return
        for k in range(3):
            self.times[k] = t + 0.5 * k * dt
            self.values[k] = self.ask(float(self.times[k]), q, qd)

    def body_at_fault(self) -> str:
        """The body of the first force in the last result that is not finite; the first body if all are finite."""
        try:
            forces = np.ravel(np.asarray(self.answer, dtype=np.float64))[: self.model.num_coordinates]
        except (TypeError, ValueError):
            forces = np.zeros(0)
        bad = np.flatnonzero(~np.isfinite(forces))
        return body_of_coordinate(self.model, int(bad[0])) if len(bad) else self.model.body_names[0]


def widened(forces: FloatArray, nv: int, more: int) -> FloatArray:
    """Forces and inputs (..., nv + num_inputs) with zeros for `more` coordinates behind the nv."""
    return np.insert(forces, [nv] * more, 0.0, axis=-1) if more else forces


def body_of_coordinate(model: Model, d: int) -> str:
    """Name of the body whose joint has coordinate d."""
    return next(b.name for b in model.bodies if d < model.coordinate_slice(b.name).stop)
