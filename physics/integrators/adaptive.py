"""Adaptive methods of SciPy: they stop where a rotation vector changes its chart and go on from there."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import DivergedError, MissingDependencyError, ModelError
from ..kernels import layout
from ..model import Model, State
from ..packing import TangentSpace
from ..result import Result
from .base import Problem, Recording

WITH_JACOBIAN = ("Radau", "BDF")  # implicit: they are given exact derivatives


def integrate_adaptive(problem: Problem, name: str, state: State) -> Result:
    """Run a problem with ``scipy.integrate.solve_ivp``; samples are its dense output."""
    try:
        from scipy.integrate import solve_ivp
    except ImportError as error:
        raise MissingDependencyError(
            f"the integrator {name!r} needs SciPy, which is not installed"
        ) from error
    from ..kernels.rollout import CHART_LIMIT, change_charts

    model, nv = problem.model, problem.model.num_coordinates
    if model.has_hard_limits:
        raise ModelError(
            f"the integrator {name!r} cannot give the impulses of hard limits (limit_restitution): "
            "take a fixed-step method"
        )
    if model.constraints or len(problem.motions[0]):
        raise ModelError(
            f"the integrator {name!r} cannot have constraints or given motions: take a fixed-step method"
        )
    recording = Recording(
        problem, state.q, state.qd, {"integrator": name, "evaluations": 0, "chart_changes": 0}
    )
    slope = _Slope(problem, recording)
    end = problem.start + problem.duration
    now, written = problem.start, 1
    y = np.concatenate([state.q, state.qd])
    chart = np.array(state.chart)
    change_charts(model.arrays, CHART_LIMIT, y[:nv], y[nv:], np.empty(nv), chart)
    event = _chart_event(model)
    while now < end:
        slope.written = written
        waiting = problem.samples[written:]
        solution = solve_ivp(
            slope,
            (now, end),
            y,
            method=name,
            t_eval=waiting[waiting >= now],
            events=event,
            **({"jac": slope.jacobian} if name in WITH_JACOBIAN else {}),
            rtol=problem.rtol,
            atol=problem.atol,
        )
        if len(solution.t):  # SciPy gives an empty list where the event came before any sample
            found = solution.y.T
            recording.q[written : written + len(found)] = found[:, :nv]
            recording.qd[written : written + len(found)] = found[:, nv:]
            written += len(found)
        recording.info["evaluations"] += int(solution.nfev)
        if solution.status == 0:
            break
        if solution.status < 0:
            reached = float(problem.samples[written - 1])
            raise DivergedError(reached, model.body_names[0], solution.message, recording.result(written))
        now = float(solution.t_events[0][0])
        y = solution.y_events[0][0].copy()
        # the root lies a hair to either side of the limit
        changed = change_charts(model.arrays, CHART_LIMIT - 1e-6, y[:nv], y[nv:], np.empty(nv), chart)
        recording.info["chart_changes"] += int(changed)
    return recording.result(written)


class _Slope:
    """d(q, q')/dt for SciPy, with progress and failures told on the way."""

    def __init__(self, problem: Problem, recording: Recording) -> None:
        from ..kernels.derivatives import inverse_dynamics_derivatives
        from ..kernels.rollout import derivative

        nv = problem.model.num_coordinates
        self.derivatives = inverse_dynamics_derivatives
        self.slopes = (np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv)))
        self.tangents = TangentSpace(problem.model.arrays[0]).arrays
        self.kernel = derivative
        self.problem = problem
        self.recording = recording
        self.written = 1
        self.spaces = problem.model.workspace().clear()
        self.tau = problem.model.with_inputs(None)
        self.told = time.perf_counter()

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        nv = self.problem.model.num_coordinates
        slope = np.empty(2 * nv)
        slope[:nv] = y[nv:]
        state = np.ascontiguousarray(y)
        self.kernel(
            self.problem.model.arrays,
            *self.problem.tau,
            t,
            state[:nv],
            state[nv:],
            state[nv:],
            self.tau,
            slope[nv:],
            self.spaces,
        )
        flags = self.spaces[2]
        if flags[layout.STATUS] == layout.OK and not np.isfinite(slope).all():
            flags[layout.STATUS] = layout.NOT_FINITE
        self.recording.check(flags, t, self.written)
        if time.perf_counter() - self.told > 0.05:
            self.told = time.perf_counter()
            self.recording.report((t - self.problem.start) / self.problem.duration, self.written)
        return slope

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Derivative (2 nv, 2 nv) of the slope by the state."""
        model, nv = self.problem.model, self.problem.model.num_coordinates
        slope = self(t, y)
        result = np.zeros((2 * nv, 2 * nv))
        result[:nv, nv:] = np.eye(nv)
        slopes, free = self.slopes, ~model.prescribed
        q, qd, qdd = (np.array(part) for part in (y[:nv], y[nv:], slope[nv:]))
        self.derivatives(model.arrays, q, qd, qdd, self.tau, slopes, self.tangents, self.spaces)
        if free.any():
            mass = slopes[2][np.ix_(free, free)]
            result[nv:][free] = -np.linalg.solve(mass, np.hstack([slopes[0][free], slopes[1][free]]))
        return result


def _chart_event(model: Model) -> Any:
    """Terminal event: the longest rotation vector reaches the limit of its chart; None where there is none."""
    from ..kernels.rollout import CHART_LIMIT

    body_int, _, block_int, _, _ = model.arrays
    first = []
    for row in body_int:
        start = row[layout.BLOCK_START]
        for block in block_int[start : start + row[layout.BLOCK_COUNT]]:
            if block[layout.KIND] == layout.ROTATION_VECTOR:
                first.append(row[layout.DOF_START] + block[layout.COORDINATE])
    if not first:
        return None
    columns = np.array(first)[:, None] + np.arange(3)

    def event(_: float, y: FloatArray) -> float:
        return float(np.linalg.norm(y[columns], axis=1).max()) - CHART_LIMIT

    event.terminal = True  # type: ignore[attr-defined]
    event.direction = 1.0  # type: ignore[attr-defined]
    return event
