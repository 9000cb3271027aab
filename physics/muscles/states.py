"""States of the muscles' laws where a model's state begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..validation import finite_array, number
from .muscle import Muscle
from .view import ModelView

OVER = 1e-3  # by which steps of time may leave an activation beyond its range


def path_lengths(model: ModelView, q: FloatArray) -> FloatArray:
    """Lengths (muscles,) of all muscles at coordinates (nv,)."""
    lengths = np.zeros((len(model.muscles), 2))
    gradients = np.zeros((len(model.muscles), len(q)))
    spaces = model.workspace(moment_arms=True).clear()
    kernels.muscles.readings.muscle_lengths(
        model.arrays, np.array(q), np.zeros(len(q)), lengths, gradients, *spaces
    )
    found: FloatArray = lengths[:, 0]
    return found


def check_pulls(model: ModelView, tau: FloatArray, name: str) -> FloatArray:
    """Forces and inputs (..., nv + num_inputs); ModelError where a tension without a law among them is negative, or an
    excitation is more than the law takes.
    """
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
                    f"{name}: input {muscle.tension!r} is {least:g}, but muscle {muscle.name!r} pulls with it and "
                    "cannot push"
                )
    return tau


def check_tendons(model: ModelView, q: FloatArray, only: int | None = None) -> None:
    """ModelError where the path of a muscle, or of the one of this number, is shorter at coordinates (nv,) than what of
    it does not stretch.
    """
    told = too_short(model, q, only)
    if told is not None:
        raise ModelError(told[1])


def check_tendons_of_samples(model: ModelView, q: FloatArray) -> None:
    """As `check_tendons`, of samples (T, nv); tells which."""
    for number_, row in enumerate(q if have_tendons(model) else ()):
        told = too_short(model, row)
        if told is not None:
            raise ModelError(f"at sample {number_} {told[1]}")


def have_tendons(model: ModelView) -> bool:
    """Whether a part of a muscle does not stretch."""
    return any(muscle.masses is not None and muscle.masses.offsets.any() for muscle in model.muscles)


def too_short(model: ModelView, q: FloatArray, only: int | None = None) -> tuple[Muscle, str] | None:
    """A muscle whose path at coordinates (nv,) is shorter than its tendons, and that in words; None if all are not.

    only: number of the muscle that is looked at; None: all are.
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
                f"the path of muscle {muscle.name!r} is {length:.6g} m long, its mass points need {least:.6g} m: as "
                "much as its tendons, which do not stretch"
            )
    return None


def initial_states(model: ModelView, q: FloatArray, given: Any) -> FloatArray | None:
    """States (n,) as they are given, in order or by name; what is not given is that of a muscle at rest at q.

    Raises:
        ModelError: an unknown name, a wrong shape, a number that is not finite, an activation beyond [0, 1], a length
            of fibres that is not positive.
    """
    names = model.muscle_state_names
    if not names and (given is None or np.size(given) == 0):
        return None
    if given is not None and not isinstance(given, Mapping):
        states = finite_array(given, (len(names),), "muscle_states")
        for name, state in zip(names, states.tolist()):
            _checked(name, state, OVER)
        return states
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


def _checked(name: str, value: Any, over: float = 0.0) -> float:
    """A state that is given: an activation in [0, 1], or beyond it by at most over, or a length of fibres."""
    length = name.endswith(".fibre_length")
    state = number(value, name, positive=length)
    if not length and not -over <= state <= 1.0 + over:
        raise ModelError(f"{name} must lie in [0, 1], got {state:g}")
    return state
