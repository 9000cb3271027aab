"""States of the muscles' laws where a model's state begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import finite_array, number

if TYPE_CHECKING:
    from ..model import Model


def path_lengths(model: Model, q: FloatArray) -> FloatArray:
    """Lengths (muscles,) of all muscles at coordinates (nv,)."""
    from ..kernels.muscle_faces import muscle_lengths

    lengths = np.zeros((len(model.muscles), 2))
    gradients = np.zeros((len(model.muscles), len(q)))
    spaces = model.workspace(moment_arms=True).clear()
    muscle_lengths(model.arrays, np.array(q), np.zeros(len(q)), lengths, gradients, *spaces)
    found: FloatArray = lengths[:, 0]
    return found


def initial_states(model: Model, q: FloatArray, given: Any) -> FloatArray | None:
    """States (n,) as they are given, in order or by name; what is not given is that of a muscle at rest at q.

    Raises:
        ModelError: an unknown name, a wrong shape, a number that is not finite; by its name also an activation beyond
            [0, 1] or a length of fibres that is not positive.
    """
    names = model.muscle_state_names
    if not names and (given is None or np.size(given) == 0):
        return None
    if given is not None and not isinstance(given, Mapping):
        return finite_array(given, (len(names),), "muscle_states")
    for name in given or {}:
        if name not in names:
            raise ModelError(f"no muscle has a state {name!r}; there are {', '.join(names) or 'none'}")
    found: list[float] = []
    for muscle, length in zip(model.muscles, path_lengths(model, q)):
        if muscle.law is None or not muscle.state_names:
            continue
        activation, named = muscle.activation, f"{muscle.name}.activation"
        if given and named in given:
            activation = _checked(named, given[named])
        found += muscle.law.initial_states(float(length), activation).tolist()
    states = np.array(found)
    for k, name in enumerate(names):
        if given and name in given:
            states[k] = _checked(name, given[name])
    return states


def _checked(name: str, value: Any) -> float:
    """A state that is given by its name: an activation in [0, 1], or a length of fibres."""
    length = name.endswith(".fibre_length")
    state = number(value, name, positive=length)
    if not length and not 0.0 <= state <= 1.0:
        raise ModelError(f"{name} must lie in [0, 1], got {state:g}")
    return state
