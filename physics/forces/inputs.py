"""Inputs of a model: numbers that may change over time, followed by forces and controllers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import Value
from ..validation import finite, number


@dataclass(frozen=True)
class Input(Value):
    """A number that may change while the model moves.

    Attributes:
        name: unique among the model's inputs.
        value: the default, in force while nothing drives it.
    """

    name: str
    value: float = 0.0


def with_inputs(tau: Any, coordinates: Sequence[str], inputs: Sequence[Input], name: str) -> FloatArray:
    """Generalized forces and inputs (..., nv + len(inputs)); see `Model.with_inputs`."""
    nv, values = len(coordinates), np.array([each.value for each in inputs])
    if tau is None or isinstance(tau, Mapping):
        known = {key: k for k, key in enumerate((*coordinates, *(each.name for each in inputs)))}
        complete: FloatArray = np.concatenate([np.zeros(nv), values])
        for key, value in (tau or {}).items():
            if key not in known:
                raise ModelError(
                    f"{name} names no coordinate and no input: {key!r}; there are {', '.join(known)}"
                )
            complete[known[key]] = number(value, f"{key} of {name}")
        return complete
    array = finite(tau, name)
    if array.ndim and array.shape[-1] == nv + len(values):
        return array
    if not array.ndim or array.shape[-1] != nv:
        shapes = [f"({nv},)", f"({nv + len(values)},) with the inputs"]
        if array.ndim > 1:
            shapes = [f"(..., {nv})", f"(..., {nv + len(values)}) with the inputs"]
        raise ModelError(
            f"{name} must have shape {' or '.join(shapes if inputs else shapes[:1])}, got {array.shape}"
        )
    rows = np.broadcast_to(values, (*array.shape[:-1], len(values)))
    return np.concatenate([array, rows], axis=-1)
