"""Excitations of muscles: numbers, keyframes, functions of time, controllers of the state."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..model.model import Model
from ..muscles.signals import Keyframes, Proportional, Signal
from ..validation import instance, number, takes_state
from .table import Table


def excite(model: Model, signals: Mapping[str, Any], tau: Any = None) -> Any:
    """The tau of `simulate` that excites muscles.

    Args:
        model: the model of the muscles.
        signals: {name of a muscle or an input: signal}. A signal is a number, `Keyframes`, a function of (t), a
            controller (t, q, q') -> excitation, or a `Proportional`.
        tau: other generalized forces (nv,) and inputs, as for `Model.with_inputs`, a `Table`, or a function of (t, q,
            q') that gives both.

    Returns:
        Forces and inputs, a `Table` of them, or a function of (t) or of (t, q, q'): the simplest that suffices.
        Fixed-step methods evaluate a controller of the state once a step.

    Raises:
        ModelError: there is no such muscle or input, or a signal is none of these.
    """
    if not isinstance(signals, Mapping):
        raise ModelError(f"signals must be {{muscle: signal}}, got {signals!r:.80}")
    base, constant = _base(instance(model, Model, "model"), tau)
    columns = {_column(model, name): signal for name, signal in signals.items()}
    if constant is not None and all(
        isinstance(signal, Keyframes) or not _called(signal) for signal in columns.values()
    ):
        return _table(constant, columns)
    names = (*model.coordinate_names, *model.input_names)
    entries = {column: _signal(model, signal, names[column]) for column, signal in columns.items()}
    if callable(tau) or any(takes_state for _, takes_state in entries.values()):
        return _controller(base, {column: function for column, (function, _) in entries.items()})
    nothing = np.zeros(0)

    def over_time(t: float) -> FloatArray:
        values = base(t, nothing, nothing)
        for column, (function, _) in entries.items():
            values[column] = function(t, nothing, nothing)
        return values

    return over_time


def _base(model: Model, tau: Any) -> tuple[Callable[..., FloatArray], FloatArray | None]:
    """Other forces and inputs as a function of (t, q, q') that returns new arrays, and their constant value or None."""
    if isinstance(tau, Table):
        times, rows = tau.checked(model)
        return (lambda t, q, qd: np.array([np.interp(t, times, column) for column in rows.T])), None
    if callable(tau):
        return (lambda t, q, qd: np.array(tau(t, q, qd))), None
    base = model.with_inputs(tau)
    if base.ndim != 1:
        raise ModelError(f"tau must have shape ({model.num_coordinates},), got {base.shape}")
    return (lambda t, q, qd: base.copy()), base


def _called(signal: Any) -> bool:
    return callable(signal) or isinstance(signal, Proportional)


def _table(base: FloatArray, columns: Mapping[int, Any]) -> Any:
    """Constant forces, or a table of them, which keeps the lines between keyframes."""
    base = base.copy()
    moving = {}
    for column, signal in columns.items():
        if isinstance(signal, Keyframes):
            moving[column] = signal
        else:
            base[column] = number(signal, "excitation")
    if not moving:
        return base
    times = np.unique(np.concatenate([keys.times for keys in moving.values()]))
    values = np.tile(base, (len(times), 1))
    for column, keys in moving.items():
        values[:, column] = np.interp(times, keys.times, keys.values)
    return Table(times, values)


def _controller(
    base: Callable[..., FloatArray], functions: Mapping[int, Signal]
) -> Callable[..., FloatArray]:
    def control(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        values = base(t, q, qd)
        for column, function in functions.items():
            values[column] = function(t, q, qd)
        return values

    return control


def _signal(model: Model, signal: Any, name: str) -> tuple[Signal, bool]:
    """The signal of an input as a function of (t, q, q'), and whether it depends on the state."""
    if isinstance(signal, Proportional):
        return signal.signal(model), True
    if not callable(signal):
        constant = number(signal, "excitation")
        return (lambda t, q, qd: constant), False
    if isinstance(signal, Keyframes):
        return (lambda t, q, qd: signal(t)), False
    if takes_state(signal, "an excitation"):
        return (lambda t, q, qd: number(signal(t, q, qd), f"{name} at t = {t:g} s")), True
    return (lambda t, q, qd: number(signal(t), f"{name} at t = {t:g} s")), False


def _column(model: Model, name: Any) -> int:
    """Column of a muscle's excitation, or of an input, among forces and inputs."""
    names = model.input_names
    pulled = {muscle.name: muscle.tension for muscle in model.muscles}
    for wanted in (pulled.get(name), f"{name}.excitation", name):
        if wanted in names:
            return model.num_coordinates + names.index(wanted)
    if name in pulled:
        raise ModelError(f"muscle {name!r} follows no input: its tension is always {pulled[name]:g}")
    raise ModelError(f"no muscle and no input is named {name!r}; inputs are {', '.join(names) or 'none'}")
