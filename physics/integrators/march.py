"""SciPy's methods a step at a time: samples are written as they come, so that a run that ends early keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from .slope import Slope

WITH_JACOBIAN = ("Radau", "BDF")  # implicit: they are given exact derivatives, where muscles carry no states

# Roots are found to this, as `solve_ivp` does.
ROOT = 4.0 * np.finfo(float).eps

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
    slope.begin(now, until)
    solver = getattr(scipy.integrate, name)(slope, now, np.array(y), until, **options)
    values, counted = [event(now, y) for event in events], 0
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed":
            slope.give_up(solver.y, message)
        slope.recording.info["steps"] += 1
        before, values = values, [event(solver.t, solver.y) for event in events]
        struck = [k for k, event in enumerate(events) if _passed(before[k], values[k], event.direction)]
        dense: Any = solver.dense_output() if struck or slope.waits(solver.t) else None
        slope.recording.info["evaluations"] += solver.nfev - counted
        counted = solver.nfev
        if struck:
            roots = [_root(events[k], dense, solver.t_old, solver.t) for k in struck]
            first = int(np.argmin(roots))
            slope.write(dense, roots[first])
            return roots[first], dense(roots[first]), struck[first]
        if dense is not None:
            slope.write(dense, solver.t)
        slope.accept(solver.t, solver.y)
    return until, solver.y, None


def _passed(before: float, after: float, direction: float) -> bool:
    return direction * before <= 0.0 <= direction * after


def _root(event: Callable[[float, FloatArray], float], dense: Any, begin: float, end: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda t: event(t, dense(t)), begin, end, xtol=ROOT, rtol=ROOT))
