"""SciPy's methods one step at a time; samples are written at once, so that a run that ends early keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import DivergedError
from .slope import Slope

WITH_JACOBIAN = ("Radau", "BDF")  # implicit: they use exact derivatives, unless muscles have states

# Tolerance of event times, as in `solve_ivp`.
ROOT = 4.0 * np.finfo(float).eps

# A step that evaluates a state without slope is repeated shorter by the factor SHORTER, at most MOST_FAILURES times in
# a row; if the first one fails it becomes the share FIRST of the interval.
SHORTER, MOST_FAILURES, FIRST = 0.1, 12, 1e-6

# After this many consecutive steps near round-off of the time a run fails: LSODA would take them forever.
MOST_STANDING, STANDING = 1000, 16.0 * np.finfo(float).eps
# The reciprocal of a shorter step [s], which implicit methods use, overflows.
LEAST = 1e-300
NO_LENGTH = "its step size fell to zero"
# A run with more evaluations than this has lost its way: some minutes, where steps shrink and shrink.
MOST_EVALUATIONS = 10**7
TOO_MANY = (
    f"more than {MOST_EVALUATIONS:,} evaluations: take larger tolerances, or a method for stiff problems"
)

#: function of (t, y) with `direction`: +1 if its rise through zero ends an interval, -1 if its fall does
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
    """Integrate from (now, y) to a time or to the first event, and write the samples on the way.

    Returns:
        Time, state, and index of the event; None if the time was reached.

    Raises:
        DivergedError: the method finds no further step.
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
        except DivergedError:  # the step was too long
            failures += 1
            if failures > MOST_FAILURES:
                raise
            slope.forget_failure()
            solver = start(solver.t, solver.y, SHORTER * _next_step(solver, until))
            counted = 0
            continue
        failures, failed = 0, solver.status == "failed"  # a failed first step has no previous time
        standing = standing + 1 if not failed and _stands(solver) else 0
        if failed or standing > MOST_STANDING:
            slope.give_up(solver.y, message or NO_LENGTH)
        slope.recording.info["steps"] += 1
        before, values = values, [event(solver.t, solver.y) for event in events]
        struck = [k for k, event in enumerate(events) if _passed(before[k], values[k], event.direction)]
        dense: Any = solver.dense_output() if struck or slope.waits(solver.t) else None
        slope.recording.info["evaluations"] += solver.nfev - counted
        counted = solver.nfev
        if slope.recording.info["evaluations"] > MOST_EVALUATIONS:
            slope.give_up(solver.y, TOO_MANY)
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
    """Whether a method's last step is near round-off of the time."""
    return bool(solver.t - solver.t_old <= STANDING * abs(solver.t))


def _next_step(solver: Any, until: float) -> float:
    """Length of the method's next step, limited by a time."""
    tried = getattr(solver, "h_abs", None) or solver.step_size or until - solver.t
    return float(min(tried, until - solver.t))


def _begun(start: Any, slope: Slope, now: float, y: FloatArray, until: float) -> Any:
    """The initialized method; its constructor may evaluate a first step."""
    try:
        return start(now, y, None)
    except DivergedError:
        slope.forget_failure()
        return start(now, y, FIRST * (until - now))


def _passed(before: float, after: float, direction: float) -> bool:
    return direction * before <= 0.0 <= direction * after


def _root(event: Event, dense: Any, solver: Any) -> float:
    """Time of an event in the last step; its start if the projection onto constraints caused the event."""
    from scipy.optimize import brentq

    if event.direction * event(solver.t_old, dense(solver.t_old)) >= 0.0:
        return float(solver.t_old)
    return float(brentq(lambda t: event(t, dense(t)), solver.t_old, solver.t, xtol=ROOT, rtol=ROOT))
