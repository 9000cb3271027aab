"""What pushes a simulation from outside, as tables: torques of coordinates, excitations of muscles, targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..blender import physics_access
from ..curves import reduction, slopes
from .scene_model import SceneModel


def table(
    read: SceneModel,
    excited: np.ndarray,
    pushed: np.ndarray,
    times: np.ndarray,
    targets: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
) -> physics_access.Table | None:
    """The table of torques and changes of inputs (F, nv + inputs), of inputs that excite muscles (F, muscles) at times
    (F,) [s], and of targets of controllers by their names, their own times (R,) and coordinates (R, n); None: nothing.
    """
    pulled = [(k, entry) for k, entry in enumerate(read.muscles) if entry.excitation is not None]
    if not pulled and not pushed.any() and not targets:
        return None
    model = read.model
    values = np.tile(model.with_inputs(None), (len(times), 1))
    values += pushed
    for k, entry in pulled:
        column = model.num_coordinates + model.input_names.index(entry.excitation)
        values[:, column] = excited[:, k]
    for name, (own, q) in (targets or {}).items():
        first = model.num_coordinates + next(
            k for k, each in enumerate(model.input_names) if each.startswith(f"{name}.")
        )
        # target and rate, one after the other
        for number, columns in enumerate(zip(*_targets(times, own, q))):
            values[:, first + 2 * number], values[:, first + 2 * number + 1] = columns
    return physics_access.physics().Table(read.state.time + times, values)


def _targets(times: np.ndarray, own: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Targets of a controller and their rates (n, F) at times (F,), of those (R, n) at times of their own (R,), two or
    more: smooth ones of what was sampled, at even times farther apart; else straight lines.
    """
    steps = np.diff(own)
    if len(own) >= 5 and len(times) > len(own) and np.ptp(steps) < 1e-6 * steps[0]:
        rows = np.arange(len(own), dtype=np.float64)
        values = reduction.cubic(rows, q, slopes.of_even(q), (times - own[0]) / steps[0])
        return values.T, np.gradient(values, times, axis=0, edge_order=2).T
    rates = np.gradient(q, own, axis=0)
    found, rising = (np.array([np.interp(times, own, row) for row in each.T]) for each in (q, rates))
    return found, rising


def sampled(model: physics_access.Model, given: physics_access.Table | None, times: np.ndarray) -> np.ndarray:
    """Forces and inputs (T, nv + inputs) of a `Table`, or None, at times (T,) [s]."""
    values = np.tile(model.with_inputs(None), (len(times), 1))
    for column in range(0 if given is None else given.values.shape[1]):
        values[:, column] = np.interp(times, given.times, given.values[:, column])
    return values


def excited(
    read: SceneModel, made: dict[str, Any], result: physics_access.Result, keyed: np.ndarray
) -> np.ndarray:
    """Excitation (F, muscles) of each muscle along a simulation: keyed (F, muscles), or what its controller said."""
    found = keyed.copy()
    for k, entry in enumerate(read.muscles):
        if entry.name in made:
            signal = made[entry.name].signal(read.model)
            found[:, k] = [signal(*row) for row in zip(result.t, result.q, result.qd)]
    return found
