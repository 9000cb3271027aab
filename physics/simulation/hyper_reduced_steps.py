"""Motions in hyper-reduced coordinates: RK4 with a fixed step, or SciPy's adaptive methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import DivergedError, MissingDependencyError, ModelError
from ..integrators.base import ADAPTIVE, Problem, Recording
from ..integrators.stops import force_stops, longest_step
from ..model.result import Result
from ..motions.table import interpolated
from .hyper_reduced import HyperReduced

RUNGE_KUTTA = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # place and weight of each stage
BETWEEN_REPORTS = 0.05  # s

Slope = Callable[[float, FloatArray], FloatArray]


def integrate_hyper_reduced(
    hyper: HyperReduced, problem: Problem, name: str, h: FloatArray, hd: FloatArray
) -> Result:
    """Run a problem from h with velocities hd; the result's info has ``"h"`` and ``"hd"`` (T, nh) beside q and qd."""
    if name != "rk4" and name not in ADAPTIVE:
        raise ModelError(
            f"unknown integrator of hyper-reduced coordinates {name!r}; known are rk4, {', '.join(ADAPTIVE)}"
        )
    nh, start = hyper.num_coordinates, hyper.state(h, hd)
    recording = Recording(problem, start.q, start.qd, {"integrator": name, "evaluations": 0})
    told = time.perf_counter()
    motion = np.zeros((len(problem.samples), 2 * nh))
    written = 0

    def slope(t: float, y: FloatArray) -> FloatArray:
        nonlocal told
        recording.info["evaluations"] += 1
        if time.perf_counter() - told > BETWEEN_REPORTS:
            told = time.perf_counter()
            recording.report((t - problem.start) / problem.duration, written)
        try:
            hdd = hyper.forward_dynamics(y[:nh], y[nh:], interpolated(t, *problem.tau), t)
        except ModelError as error:
            body = hyper.model.body_names[0]
            raise DivergedError(t, body, str(error), recording.result(written)) from error
        return np.concatenate([y[nh:], hdd])

    def write(samples: FloatArray) -> None:
        nonlocal written
        for y in samples:
            motion[written] = y
            recording.q[written] = hyper.coordinates(y[:nh])
            recording.qd[written] = hyper.jacobian(y[:nh]) @ y[nh:]
            written += 1
        recording.info["h"], recording.info["hd"] = motion[:written, :nh], motion[:written, nh:]

    write(np.concatenate([h, hd])[None])
    (_runge_kutta if name == "rk4" else _adaptive)(problem, name, slope, motion[0].copy(), write)
    recording.report(1.0, written)
    return recording.result(written)


def _runge_kutta(
    problem: Problem, name: str, slope: Slope, y: FloatArray, write: Callable[[FloatArray], None]
) -> None:
    """The classical method; between its steps samples are cubics."""
    steps, waiting = int(np.ceil(problem.duration / problem.dt - 1e-9)), problem.samples[1:]
    end = problem.start + problem.duration
    first = slope(problem.start, y)
    for step in range(steps):
        t = problem.start + step * problem.dt
        dt = min(problem.dt, end - t)
        change, stage = np.zeros_like(y), first
        for place, weight in RUNGE_KUTTA:
            if place:
                stage = slope(t + place * dt, y + place * dt * stage)
            change += dt / 6.0 * weight * stage
        last = slope(t + dt, y + change)
        inside = waiting if step == steps - 1 else waiting[waiting <= t + dt * (1.0 + 1e-9)]
        x = ((inside - t) / dt)[:, None]
        bend = (1.0 - x) * (dt * first - change) + x * (change - dt * last)
        write(y + x * change + x * (1.0 - x) * bend)
        waiting = waiting[len(inside) :]
        y, first = y + change, last


def _adaptive(
    problem: Problem, name: str, slope: Slope, y: FloatArray, write: Callable[[FloatArray], None]
) -> None:
    try:
        from scipy.integrate import solve_ivp
    except ImportError as error:
        raise MissingDependencyError(
            f"the integrator {name!r} needs SciPy, which is not installed"
        ) from error
    now, end, waiting = problem.start, problem.start + problem.duration, problem.samples[1:]
    options: dict[str, Any] = {"method": name, "rtol": problem.rtol, "atol": problem.atol}
    for until in [*force_stops(problem, now, end), end]:
        inside = waiting if until == end else waiting[waiting <= until]
        waiting = waiting[len(inside) :]
        asked = np.unique(np.append(inside, until))
        solution = solve_ivp(
            slope, (now, until), y, t_eval=asked, max_step=longest_step(problem, now, until), **options
        )
        write(solution.y.T[: len(inside)])
        if solution.status < 0:
            raise ModelError(f"the integrator {name!r} stopped: {solution.message}")
        now, y = until, solution.y[:, -1]
