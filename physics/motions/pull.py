"""Joints pulled towards a motion by springs and dampers whose strength changes over time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..geometry.spline_ends import cubic_spline
from ..model.checks import check_flags
from ..model.coordinates import rotation_coordinates
from ..model.model import Model
from ..registry import described
from ..validation import finite, number, rising
from .table import force_table, interpolated

# Largest frequency of springs times the step: a force that is constant over a step is stable below about 0.8.
MOST_PER_STEP = 0.25


@dataclass(frozen=True, eq=False)
class Pull(ReadOnlyArrays):
    """How a joint is pulled towards a motion.

    With weight w each coordinate gets the acceleration w_0^2 (target - q) + 2 w_0 (target rate - q') in addition to
    that of all other forces, whatever mass it carries: a critically damped spring with the frequency w_0 = w / ((1 - w)
    time), none at weight 0 and ever stiffer towards weight 1. Targets are interpolated by cubics with continuous
    accelerations, weights linearly; both are constant before the first and after the last time.

    Attributes:
        times: (K,), increasing, at least two [s]. values: coordinates (K, n).
        weights: (W,) from 0 to 1. weight_times: of these (W,), as `times`; None: the same.
        time: a deviation falls to about 1/e in it at weight 1/2 [s].
    """

    times: Any
    values: Any
    weights: Any
    time: float = 0.1
    weight_times: Any = None

    def __post_init__(self) -> None:
        times = weight_times = rising(self.times, "times of a pull", 2)
        if self.weight_times is not None:
            weight_times = rising(self.weight_times, "weight times of a pull", 2)
        values = finite(self.values, "values of a pull")
        if values.ndim != 2 or len(values) != len(times):
            raise ModelError(f"values of a pull must be (K, n) with K = {len(times)}, got {values.shape}")
        weights = finite(self.weights, "weights of a pull")
        if weights.shape != weight_times.shape or (weights < 0.0).any() or (weights > 1.0).any():
            raise ModelError("weights of a pull must be one a time, from 0 to 1")
        time = number(self.time, "time of a pull", positive=True)
        vars(self).update(times=times, values=values, weights=weights, weight_times=weight_times, time=time)
        self.lock()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description; ``Pull(**description)`` is the same pull."""
        return described(self)


class Pulls:
    """Generalized forces of pulls {body: `Pull`}, and of tau, as a function of (t, q, q') for `simulate`.

    With the mass matrix M and desired accelerations a of the pulled coordinates p their forces are ((M^-1)_pp)^-1 a;
    the other coordinates remain free.

    Args:
        tau: as for `simulate`, or a function of (t, q, q'). dt: the step of the simulation [s].
    """

    def __init__(self, model: Model, pulls: Mapping[str, Pull], tau: Any, dt: float) -> None:
        self._model, self._workspace = model, model.workspace()
        self._forces: Callable[..., FloatArray] = tau if callable(tau) else _looked_up(model, tau)
        self._most = MOST_PER_STEP / dt
        self._turns = rotation_coordinates(model).reshape(-1, 3)
        groups: dict[tuple[bytes, bytes], list[tuple[Pull, Any]]] = {}
        for name, pull in pulls.items():
            where = model.coordinate_slice(name)
            count = where.stop - where.start
            if pull.values.shape[1] != count:
                raise ModelError(f"pull of {name!r} needs {count} coordinates, got {pull.values.shape[1]}")
            same = pull.times.tobytes(), pull.weight_times.tobytes()
            groups.setdefault(same, []).append((pull, np.arange(where.start, where.stop)))
        self._groups = []
        for group in groups.values():  # pulls with the same times are evaluated together
            columns = np.concatenate([each for _, each in group])
            spline = cubic_spline(group[0][0].times, np.hstack([pull.values for pull, _ in group]))
            weights = np.hstack([np.tile(pull.weights[:, None], len(each)) for pull, each in group])
            seconds = np.concatenate([np.full(len(each), pull.time) for pull, each in group])
            first = group[0][0]
            self._groups.append((columns, first.times, spline.c, first.weight_times, weights, seconds))

    def __call__(self, t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Forces, followed by the model's inputs."""
        tau = self._forces(t, q, qd)
        goal = q.copy()
        rate, frequency = np.zeros(len(q)), np.zeros(len(q))
        for columns, times, coefficients, weight_times, weights, seconds in self._groups:
            at = min(max(t, times[0]), times[-1])
            k = min(int(np.searchsorted(times, at, side="right")) - 1, len(times) - 2)
            h, (cubic, square, slope, value) = at - times[k], coefficients[:, k]
            goal[columns] = ((cubic * h + square) * h + slope) * h + value
            rate[columns] = (3.0 * cubic * h + 2.0 * square) * h + slope if at == t else 0.0
            weight = interpolated(t, weight_times, weights)
            frequency[columns] = np.minimum(weight / (np.maximum(1.0 - weight, 1e-9) * seconds), self._most)
        pulled = frequency > 0.0
        if not pulled.any():
            return tau
        away = goal - q
        for turn in self._turns:
            if pulled[turn[0]]:
                away[turn] = lie.continuous_rotation_vectors([q[turn], goal[turn]])[1] - q[turn]
        wanted = frequency * (frequency * away + 2.0 * (rate - qd))
        matrix = self._mass_matrix(q)
        if pulled.all():
            tau[: len(q)] += matrix @ wanted
        else:
            inverse = np.linalg.inv(matrix)[np.ix_(pulled, pulled)]
            tau[: len(q)][pulled] += np.linalg.solve(inverse, wanted[pulled])
        return tau

    def _mass_matrix(self, q: FloatArray) -> FloatArray:
        matrix = np.zeros((len(q), len(q)))
        workspace = self._workspace.clear()
        kernels.dynamics.crba.mass_matrix(self._model.arrays, q, np.zeros(len(q)), matrix, *workspace)
        check_flags(self._model, workspace[2])
        return matrix


def _looked_up(model: Model, tau: Any) -> Callable[..., FloatArray]:
    """Forces and inputs that do not depend on the state, as a function of (t, q, q')."""
    times, rows = force_table(model, tau)
    return lambda t, q, qd: interpolated(t, times, rows)
