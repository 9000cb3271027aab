"""Joints between a given motion and the free one: drawn to it by springs and dampers whose strength changes in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import FloatArray
from .dynamics import energy
from .errors import MissingDependencyError, ModelError
from .immutable import ReadOnlyArrays
from .inverse_kinematics import rotation_coordinates
from .model import Model, State
from .simulation import force_table
from .validation import all_finite, float_array, number

# Springs are no stiffer than that their frequency times the step is this: a force that is held over a step stays calm.
MOST_PER_STEP = 0.1


@dataclass(frozen=True, eq=False)
class Pull(ReadOnlyArrays):
    """How a joint is drawn to a motion.

    With weight w each coordinate is drawn by the inertia that it has at the start times w_0^2 (target - q) +
    2 w_0 (target rate - q'), critically damped, with the frequency w_0 = w / ((1 - w) time): none with weight 0, and
    ever stiffer towards weight 1. Targets are joined by cubics with continuous accelerations, weights by straight
    lines; both are constant before the first and after the last time.

    Attributes:
        times: (K,), increasing, at least two [s]. values: coordinates (K, n). weights: (K,) from 0 to 1.
        time: in which a deviation falls to 1/e, about, with weight 1/2 [s].
    """

    times: Any
    values: Any
    weights: Any
    time: float = 0.1

    def __post_init__(self) -> None:
        times = all_finite(float_array(self.times, "times of a pull"), "times of a pull")
        if times.ndim != 1 or len(times) < 2 or (np.diff(times) <= 0.0).any():
            raise ModelError(f"times of a pull must be two or more and increase, got {times.tolist()!s:.80}")
        values = all_finite(float_array(self.values, "values of a pull"), "values of a pull")
        if values.ndim != 2 or len(values) != len(times):
            raise ModelError(f"values of a pull must be (K, n) with K = {len(times)}, got {values.shape}")
        weights = all_finite(float_array(self.weights, "weights of a pull"), "weights of a pull")
        if weights.shape != times.shape or (weights < 0.0).any() or (weights > 1.0).any():
            raise ModelError("weights of a pull must be one a time, from 0 to 1")
        for name, value in (("times", times), ("values", values), ("weights", weights)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "time", number(self.time, "time of a pull", positive=True))
        self.lock()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description; ``Pull(**description)`` is the same."""
        arrays = {name: getattr(self, name).tolist() for name in ("times", "values", "weights")}
        return arrays | {"time": self.time}


class Pulls:
    """Generalized forces of pulls {body: `Pull`}, and of tau, as a function of (t, q, q') for `simulate`.

    Args:
        tau: as of `simulate`, but no function. dt: the step of the simulation [s].
    """

    def __init__(self, model: Model, state: State, pulls: Mapping[str, Pull], tau: Any, dt: float) -> None:
        try:
            from scipy.interpolate import CubicSpline
        except ImportError as error:
            raise MissingDependencyError("pulls need SciPy, which is not installed") from error
        self._times, self._table = force_table(model, tau)
        self._most = MOST_PER_STEP / dt
        vectors = set(rotation_coordinates(model).reshape(-1, 3)[:, 0].tolist())
        self._pulls = []
        for name, pull in pulls.items():
            where = model.coordinate_slice(name)
            count = where.stop - where.start
            if pull.values.shape[1] != count:
                raise ModelError(
                    f"the pull of {name!r} needs values for {count} coordinates, got {pull.values.shape[1]}"
                )
            spline = CubicSpline(pull.times, pull.values)
            turns = [first - where.start for first in range(where.start, where.stop) if first in vectors]
            self._pulls.append(
                (where, pull, spline, spline.derivative(), _inertia(model, state, where), turns)
            )

    def __call__(self, t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Forces, and the inputs of the model behind them."""
        tau = np.array([np.interp(t, self._times, column) for column in self._table.T])
        for where, pull, spline, rate, inertia, turns in self._pulls:
            weight = float(np.interp(t, pull.times, pull.weights))
            if weight <= 0.0:
                continue
            frequency = min(weight / (max(1.0 - weight, 1e-9) * pull.time), self._most)
            at = min(max(t, pull.times[0]), pull.times[-1])
            away, drift = spline(at) - q[where], rate(at) * (at == t) - qd[where]
            for first in turns:
                goal = spline(at)[first : first + 3]
                away[first : first + 3] = _nearest_turn(goal, q[where][first : first + 3])
            tau[where] += inertia * frequency * (frequency * away + 2.0 * drift)
        return tau


def _nearest_turn(goal: FloatArray, vector: FloatArray) -> FloatArray:
    """From a rotation vector to another (3,), or to what means the same in the other chart: the shorter way."""
    angle = float(np.linalg.norm(goal))
    if angle > 1e-9:
        other = goal * (1.0 - 2.0 * np.pi / angle)
        if np.linalg.norm(other - vector) < np.linalg.norm(goal - vector):
            return other - vector
    return goal - vector


def _inertia(model: Model, state: State, where: slice) -> FloatArray:
    """What each coordinate moves alone: the diagonal of the mass matrix, twice the energy at unit speed."""
    found = np.zeros(where.stop - where.start)
    for k in range(len(found)):
        speed = np.zeros(model.num_coordinates)
        speed[where.start + k] = 1.0
        found[k] = 2.0 * energy(model, model.state(state.q, speed, state.time)).kinetic
    return found
