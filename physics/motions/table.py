"""Tables of forces and inputs over time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..model.model import Model
from ..validation import float_array, rising


@dataclass(frozen=True, eq=False)
class Table:
    """Generalized forces over time, and inputs if wanted: linear between rows, constant outside them.

    Attributes:
        times: (K,), increasing [s].
        values: (K, nv), or (K, nv + num_inputs).
    """

    times: Any
    values: Any

    def checked(self, model: Model) -> tuple[FloatArray, FloatArray]:
        """Times and values with the model's inputs, as contiguous arrays; ModelError names the thing and its value."""
        times = rising(self.times, "times of tau")
        values = model.with_inputs(float_array(self.values, "values of tau"), "values of tau")
        if values.ndim != 2 or len(values) != len(times):
            raise ModelError(f"values of tau must be a row at each of {len(times)} times, got {values.shape}")
        return times, np.ascontiguousarray(values)


def force_table(model: Model, tau: Any) -> tuple[FloatArray, FloatArray]:
    """Times and values of generalized forces and inputs; one row if they are constant."""
    if isinstance(tau, Table):
        return tau.checked(model)
    constant = model.with_inputs(tau)
    if constant.ndim != 1:
        raise ModelError(f"tau must have shape ({model.num_coordinates},), got {constant.shape}")
    return np.zeros(1), constant[None].copy()


def interpolated(t: float, times: FloatArray, rows: FloatArray) -> FloatArray:
    """A row of a table at a time: linear between rows, constant outside them; a copy."""
    k = int(np.searchsorted(times, t, side="right")) - 1
    if k < 0 or k >= len(times) - 1:
        return rows[0 if k < 0 else -1].copy()
    return rows[k] + (rows[k + 1] - rows[k]) * ((t - times[k]) / (times[k + 1] - times[k]))
