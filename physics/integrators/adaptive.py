"""Adaptive methods of SciPy, restarted where a rotation vector changes its chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..errors import optional
from ..kernels import layout
from ..model.coordinates import rotation_coordinates
from ..model.model import Model
from ..model.result import Result
from .base import Method, Problem, Recording, refuse_impulses
from .constrained import needs_constraints, statistics
from .march import march
from .slope import ConstrainedSlope, Slope
from .stops import force_stops, longest_step, motion_stops


def integrate_adaptive(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with a method of ``scipy.integrate``; samples come from its dense output."""
    optional("scipy.integrate", f"the integrator {method.name!r}")
    model, nv = problem.model, problem.model.num_coordinates
    method.check(model)
    info = {"integrator": method.name, "steps": 0, "evaluations": 0, "chart_changes": 0}
    recording = Recording(problem, state.q, state.qd, info, state.muscle_states)
    slope = (ConstrainedSlope if needs_constraints(problem) else Slope)(problem, recording)
    now, end = problem.start, problem.start + problem.duration
    y = np.concatenate([state.q, state.qd, () if state.muscle_states is None else state.muscle_states])
    chart = np.array(state.chart)
    put_on_motions(problem, now, y[:nv], y[nv : 2 * nv])
    stops = [*motion_stops(problem, now, end), *force_stops(problem, now, end), end]
    while now < end:
        until = min(stop for stop in stops if stop > now)
        held = held_between(problem, now, until)
        recording.info["chart_changes"] += charted(model, held, y[:nv], y[nv : 2 * nv], chart)
        event = chart_event(model, held)
        longest = longest_step(problem, now, until)
        now, y, _ = march(slope, method.name, now, y, until, () if event is None else (event,), longest)
        if now == until < end:
            slope.pass_corner(now, y[:nv], y[nv : 2 * nv])
    result = recording.result(slope.written)
    if isinstance(slope, ConstrainedSlope):
        recording.info["constraints"] = statistics(problem.model, slope.system)
    return result


def put_on_motions(problem: Problem, t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Set the prescribed coordinates to their values and velocities at time t, with which they continue if released.

    Returns a workspace of coordinates that marks the prescribed ones.
    """
    dof: FloatArray = problem.model.workspace().dof.copy()
    kernels.stepping.motion.hold(problem.motions, t, 0.0, q, qd, dof)
    return dof


def held_between(problem: Problem, begin: float, end: float) -> FloatArray:
    """A workspace of coordinates that marks those prescribed between two stops of the motions."""
    return put_on_motions(problem, 0.5 * (begin + end), *np.zeros((2, problem.model.num_coordinates)))


def charted(model: Model, dof: FloatArray, q: FloatArray, qd: FloatArray, chart: IntArray) -> int:
    """Change free rotation vectors at the limit of their chart to the principal chart; returns their number."""
    # the root of `chart_event` may lie on either side of the limit
    limit, change = kernels.stepping.rollout.CHART_LIMIT - 1e-6, kernels.stepping.rollout.change_charts
    return int(change(model.arrays, dof, limit, 0.0, q, qd, np.empty_like(q), chart))


def chart_event(model: Model, dof: FloatArray) -> Any:
    """Event in which the longest free rotation vector reaches the limit of its chart; None if there is none.

    dof: workspace of coordinates that marks the prescribed ones.
    """
    columns = rotation_coordinates(model).reshape(-1, 3)
    columns = columns[(dof[columns, layout.HELD] == 0.0).all(axis=1)]
    if not len(columns):
        return None

    limit = kernels.stepping.rollout.CHART_LIMIT

    def event(_: float, y: FloatArray) -> float:
        return float(np.linalg.norm(y[columns], axis=1).max()) - limit

    event.direction = 1.0  # type: ignore[attr-defined]
    return event


METHODS = tuple(
    Method(name, order, description, integrate_adaptive, refusals=(refuse_impulses,))
    for name, order, description in (
        ("RK45", 5, "Runge and Kutta's method of Dormand and Prince, which chooses its steps"),
        ("DOP853", 8, "Runge and Kutta's method of order 8, which chooses its steps, for high precision"),
        ("LSODA", None, "Adams' or backward differences, whichever suits, for models that may be stiff"),
        ("Radau", 5, "Implicit Runge-Kutta of Radau's points, for stiff models and high precision"),
        ("BDF", None, "Backward differences, for stiff models"),
    )
)
