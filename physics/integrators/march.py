"""SciPy's methods a step at a time: samples are written as they come, so that a run that ends early keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import DivergedError
from .slope import Slope

WITH_JACOBIAN = ("Radau", "BDF")  # implicit: they are given exact derivatives, where muscles carry no states

# Roots are found to this, as `solve_ivp` does.
ROOT = 4.0 * np.finfo(float).eps

# A step that tries a state where the model has no slope is tried again, so much shorter, and not more often in a row;
# how long the first one is then, of the stretch.
SHORTER, MOST_FAILURES, FIRST = 0.1, 12, 1e-6

# So many steps in a row that are next to round-off of the time lead nowhere: LSODA takes them without end.
MOST_STANDING, STANDING = 1000, 16.0 * np.finfo(float).eps
# Of a step shorter than this [s] the inverse, which implicit methods divide by, is beyond all numbers.
LEAST = 1e-300
NO_LENGTH = "its steps have no length any more"

#: of (t, y), with `direction`: +1 where its rise through zero ends a stretch, -1 its fall
Event = Any


def march(
    slope: Slope,
    name: str,
    now: float,
    y: FloatArray,
    until: float,
    events: Sequence[Event] = (),
    max_step: float = np.inf,
) -> tuple[float, FloatArray, int | None]:
    """Go on from (now, y) to a time or to the first event, and write the samples on the way; DivergedError where the
    method finds no step any more.

    Returns:
        Time, state, and which event it was, None where the time was reached.
    """
    import scipy.integrate

    problem, nv = slope.problem, slope.problem.model.num_coordinates
    options: dict[str, Any] = {"rtol": problem.rtol, "atol": problem.atol, "max_step": max_step}
    if name in WITH_JACOBIAN and len(y) == 2 * nv:
        options["jac"] = slope.jacobian
    y = np.array(y)
    slope.begin(now, until, y)

    def start(t: float, y: FloatArray, first_step: float | None) -> Any:
        return getattr(scipy.integrate, name)(slope, t, np.array(y), until, first_step=first_step, **options)

    solver = _begun(start, slope, now, y, until)
    values, counted, failures, standing = [event(now, y) for event in events], 0, 0, 0
    while solver.status == "running":
        if name in WITH_JACOBIAN and not solver.h_abs >= LEAST:
            slope.give_up(solver.y, NO_LENGTH)
        try:
            message = solver.step()
        except DivergedError:  # where a step was tried that is too long
            failures += 1
            if failures > MOST_FAILURES:
                raise
            slope.forget_failure()
            solver = start(solver.t, solver.y, SHORTER * _next_step(solver, until))
            counted = 0
            continue
        failures, failed = 0, solver.status == "failed"  # where the first one did there is no time before it
        standing = standing + 1 if not failed and _stands(solver) else 0
        if failed or standing > MOST_STANDING:
            slope.give_up(solver.y, message or NO_LENGTH)
        slope.recording.info["steps"] += 1
        before, values = values, [event(solver.t, solver.y) for event in events]
        struck = [k for k, event in enumerate(events) if _passed(before[k], values[k], event.direction)]
        dense: Any = solver.dense_output() if struck or slope.waits(solver.t) else None
        slope.recording.info["evaluations"] += solver.nfev - counted
        counted = solver.nfev
        if struck:
            met, first = min((_root(events[k], dense, solver), k) for k in struck)
            slope.write(dense, met)
            return met, dense(met), first
        if dense is not None:
            slope.write(dense, solver.t)
        nearest = slope.accept(solver.t, solver.y)
        if nearest is not None and solver.status == "running":
            solver, counted = start(solver.t, nearest, _next_step(solver, until)), 0
    return until, solver.y, None


def _stands(solver: Any) -> bool:
    """Whether a method's last step is next to round-off of the time."""
    return bool(solver.t - solver.t_old <= STANDING * abs(solver.t))


def _next_step(solver: Any, until: float) -> float:
    """How long the method would make its next step, at most up to a time."""
    tried = getattr(solver, "h_abs", None) or solver.step_size or until - solver.t
    return float(min(tried, until - solver.t))


def _begun(start: Any, slope: Slope, now: float, y: FloatArray, until: float) -> Any:
    """The method at its beginning, where it tries a first step, too."""
    try:
        return start(now, y, None)
    except DivergedError:
        slope.forget_failure()
        return start(now, y, FIRST * (until - now))


def _passed(before: float, after: float, direction: float) -> bool:
    return direction * before <= 0.0 <= direction * after


def _root(event: Event, dense: Any, solver: Any) -> float:
    """When an event was passed in a method's last step; at once where what led it back onto constraints did."""
    from scipy.optimize import brentq

    if event.direction * event(solver.t_old, dense(solver.t_old)) >= 0.0:
        return float(solver.t_old)
    return float(brentq(lambda t: event(t, dense(t)), solver.t_old, solver.t, xtol=ROOT, rtol=ROOT))
