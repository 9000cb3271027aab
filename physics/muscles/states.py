"""Initial states of muscles, and checks of their inputs and tendons."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..validation import finite_array, is_sequence, number
from .muscle import Muscle
from .view import ModelView

OVER = 1e-3  # time steps may exceed an activation's range by this


def path_lengths(model: ModelView, q: FloatArray) -> FloatArray:
    """Path lengths (muscles,) of all muscles at coordinates (nv,)."""
    lengths, still = np.zeros((len(model.muscles), 3)), np.zeros(len(q))
    gradients = np.zeros((len(model.muscles), len(q)))
    workspace = model.workspace(moment_arms=True).clear()
    kernels.muscles.readings.muscle_lengths(
        model.arrays, np.array(q), still, still, lengths, gradients, *workspace
    )
    return lengths[:, 0]


def check_pulls(model: ModelView, tau: FloatArray, name: str) -> FloatArray:
    """Forces and inputs (..., nv + num_inputs); ModelError if a tension is negative, or an excitation too large."""
    for muscle in model.muscles:
        if not isinstance(muscle.tension, str):
            continue
        column = model.num_coordinates + model.input_names.index(muscle.tension)
        if muscle.law is not None and muscle.law.most_excitation < np.inf:
            most = float(tau[..., column].max(initial=0.0))
            muscle.law.checked_excitation(most, f"{name}: input {muscle.tension!r} of muscle {muscle.name!r}")
        elif muscle.law is None:
            least = float(tau[..., column].min(initial=0.0))
            if least < 0.0:
                raise ModelError(
                    f"{name}: input {muscle.tension!r}, the tension of muscle {muscle.name!r}, must not be negative, "
                    f"got {least:g}"
                )
    return tau


def check_tendons(model: ModelView, q: FloatArray, only: int | None = None) -> None:
    """ModelError if a muscle's path at coordinates (nv,) is shorter than its tendons; `only`: index of one muscle."""
    fault = too_short(model, q, only)
    if fault is not None:
        raise ModelError(fault[1])


def check_tendons_of_samples(model: ModelView, q: FloatArray) -> None:
    """As `check_tendons`, for samples (T, nv); the message names the sample."""
    for number_, row in enumerate(q if have_tendons(model) else ()):
        fault = too_short(model, row)
        if fault is not None:
            raise ModelError(f"at sample {number_} {fault[1]}")


def have_tendons(model: ModelView) -> bool:
    """Whether a muscle of the model has a part that does not stretch."""
    return any(muscle.masses is not None and muscle.masses.offsets.any() for muscle in model.muscles)


def too_short(model: ModelView, q: FloatArray, only: int | None = None) -> tuple[Muscle, str] | None:
    """A muscle whose path at coordinates (nv,) is shorter than its tendons, with a message; None if there is none.

    only: index of the muscle to check; None: all.
    """
    stiff = [
        0.0 if muscle.masses is None or only not in (None, k) else muscle.masses.stiff_length
        for k, muscle in enumerate(model.muscles)
    ]
    if not any(stiff):
        return None
    for muscle, length, least in zip(model.muscles, path_lengths(model, q), stiff):
        if length < least:
            return muscle, (
                f"the path of muscle {muscle.name!r} is {length:.6g} m long, shorter than its tendons, which do not "
                f"stretch: its mass points need {least:.6g} m"
            )
    return None


def _is_empty(given: Any) -> bool:
    """Whether no states are given."""
    return given is None or ((isinstance(given, Mapping) or is_sequence(given)) and len(given) == 0)


def initial_states(model: ModelView, q: FloatArray, given: Any) -> FloatArray | None:
    """States (n,) as given, in order or by name; missing ones are those of a muscle at rest at q.

    Raises:
        ModelError: a name is unknown, a shape is wrong, a number is not finite, an activation is outside [0, 1], or a
            fibre length is not positive.
    """
    names = model.muscle_state_names
    if not names and _is_empty(given):
        return None
    if given is not None and not isinstance(given, Mapping):
        states = finite_array(given, (len(names),), "muscle_states")
        for name, state in zip(names, states.tolist()):
            _checked(name, state, OVER)
        return states
    for name in given or {}:
        if name not in names:
            raise ModelError(f"no muscle has a state {name!r}; there are {', '.join(names) or 'none'}")
    values: list[float] = []
    for muscle, length in zip(model.muscles, path_lengths(model, q)):
        if muscle.law is None or not muscle.state_names:
            continue
        activation, named = muscle.activation, f"{muscle.name}.activation"
        if given and named in given:
            activation = _checked(named, given[named])
        values += muscle.law.initial_states(float(length), activation).tolist()
    states = np.array(values)
    for k, name in enumerate(names):
        if given and name in given:
            states[k] = _checked(name, given[name])
    return states


def _checked(name: str, value: Any, over: float = 0.0) -> float:
    """A given state: an activation in [0, 1], or beyond it by at most `over`, or a positive fibre length."""
    length = name.endswith(".fibre_length")
    state = number(value, name, positive=length)
    if not length and not -over <= state <= 1.0 + over:
        raise ModelError(f"{name} must lie in [0, 1], got {state:g}")
    return state
