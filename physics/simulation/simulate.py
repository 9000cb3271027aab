"""Simulate a model: fixed-step methods run in the kernel, adaptive ones through SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..analysis.missed_wraps import missed_wraps
from ..bodies.state import State
from ..errors import DivergedError, ModelError
from ..integrators import FIXED_STEP, INTEGRATORS
from ..integrators.base import Problem, Steer
from ..integrators.control import Control
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import led_on, pack_motions
from ..motions.table import force_table
from ..muscles.states import have_tendons, too_short
from ..validation import number
from .start import check_motions, check_start

# More than fit into memory with a handful of coordinates.
MOST_SAMPLES = 1e8

Progress = Callable[[float], "bool | None"]


def simulate(
    model: Model,
    state: State,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "symplectic_euler",
    *,
    tau: Any = None,
    motions: Any = None,
    record_interval: float | None = None,
    progress: Progress | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> Result:
    """The motion that follows from a state.

    Args:
        model, state: what moves, and where it starts; left as they are.
        duration, dt: of all of it, and of a step of the methods with fixed steps [s]. Adaptive ones look at a function
            of time every 10 dt at least, and at what is given by a table or a motion as often as that has values.
        integrator: with a fixed step ``"symplectic_euler"`` (which takes the springs at limits implicitly,
            however stiff they are), ``"forward_euler"``, ``"rk4"``, and for stiff models the implicit
            ``"linearly_implicit_euler"`` (one linear system a step, order 1; with elastic tendons its error is many
            times that of the next), ``"bdf1"`` (backward Euler, order 1) and ``"sdirk2"`` (order 2, L-stable), both
            with Newton's iteration to round-off. Muscles' fibres are taken implicitly by all of them, by ``"rk4"``
            where they are too stiff for its steps. Adaptive ones, which need
            SciPy: ``"RK45"``, ``"DOP853"``, ``"LSODA"``, and the implicit ``"Radau"`` and ``"BDF"``.
            And ``"event_driven"``: DOP853 up to the instant of each impact, steps of dt while something rests.
        tau: generalized forces: (nv,) constant, or a `Table`; dual to q' in the chart of the moment. Inputs of the
            model may come behind them, or by name (`Model.with_inputs`). Or a function that gives them: of (t), or a
            controller of (t, q, qd), which is asked once a step and holds over it (adaptive methods ask it wherever
            they look).
        motions: {body or ``body.coordinate``: `Motion`} of joints that are held on given motions; the forces that it
            takes are the result's `efforts`.
        record_interval: time between samples [s], dt if None. The steps do not follow it: between them samples are
            interpolated, so the motion is the same at every frame rate.
        progress: called with the done fraction about twenty times a second; returning False cancels.
        rtol, atol: tolerances of the adaptive methods.

    Returns:
        A `Result` whose first sample is the state and whose last lies at its time + duration. Where a muscle ran
        straight through an obstacle or slipped off one ``info["missed_wraps"]`` says which, how often and why.
        ``info["energy"]``, of steps of fixed length where all that may add energy is known: how much was "gained" from
        nowhere [J], the "most_kinetic" energy there was, and the "work" of forces and motions.

    Raises:
        ModelError: an argument is not acceptable; nothing ran.
        DivergedError: a coordinate left the finite numbers or its joint's range, or at a sample a muscle's path was
            shorter than its tendons; CancelledError: progress said so. Both carry what was computed.
        MissingDependencyError: an adaptive method without SciPy.
    """
    wishes = {"tau": tau, "motions": motions, "record_interval": record_interval, "progress": progress}
    problem, state = make_problem(model, state, duration, dt, integrator, rtol=rtol, atol=atol, **wishes)
    return run_problem(problem, integrator, state)


def run_problem(problem: Problem, integrator: str, state: State) -> Result:
    """What comes of a checked problem from a state; as `simulate`, which says what is raised."""
    return finish(run_integrator(problem, integrator, state))


def run_integrator(problem: Problem, integrator: str, state: State) -> Result:
    """The samples of a checked problem alone, nothing looked for in them."""
    return INTEGRATORS[integrator](problem, integrator, state)


def finish(result: Result) -> Result:
    """The result with what is found in its samples; DivergedError where a muscle was shorter than its tendons."""
    result = note_paths(result)
    check_tendons_along(result.model, result)
    return result


def note_paths(result: Result) -> Result:
    """The result; where muscles went straight through obstacles its `info` says which (`muscles.missed`)."""
    result.info.pop("missed_wraps", None)
    if any(muscle.strands for muscle in result.model.muscles):
        missed = missed_wraps(result.model, result.q)
        if missed:
            result.info["missed_wraps"] = [each._asdict() for each in missed]
    return result


def make_problem(
    model: Model,
    state: State,
    duration: float,
    dt: float,
    integrator: str,
    *,
    tau: Any = None,
    motions: Any = None,
    record_interval: float | None = None,
    progress: Progress | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    steer: Steer | None = None,
) -> tuple[Problem, State]:
    """What an integrator is given, all checked, and the state to start from; as `simulate`, which says what is raised.

    steer: asked before each stretch of a fixed-step method (see `integrators.base`).
    """
    state = check_start(model, state)
    model.check_dynamics()
    duration, dt = _checked_times(duration, dt, integrator, progress)
    interval = min(dt, duration)
    if record_interval is not None:
        interval = number(record_interval, "record_interval", positive=True)
    given = pack_motions(model, motions, state)
    check_motions(model, given)
    given = led_on(model, given, float(state.time) + duration, dt)
    control = Control(model, tau) if callable(tau) else None
    problem = Problem(
        model=model,
        start=float(state.time),
        duration=duration,
        dt=dt,
        samples=sample_times(float(state.time), duration, interval),
        tau=force_table(model, tau) if control is None else (control.times, control.values),
        motions=given,
        control=control,
        progress=progress,
        rtol=number(rtol, "rtol", positive=True),
        atol=number(atol, "atol", positive=True),
        steer=steer,
    )
    return problem, state


def _checked_times(duration: Any, dt: Any, integrator: Any, progress: Any) -> tuple[float, float]:
    """Duration and step, fit for each other and the method."""
    duration = number(duration, "duration", positive=True)
    dt = number(dt, "dt", positive=True)
    if not isinstance(integrator, str) or integrator not in INTEGRATORS:
        raise ModelError(f"unknown integrator {integrator!r}; known are {', '.join(INTEGRATORS)}")
    if integrator in FIXED_STEP and dt > duration:
        raise ModelError(f"dt {dt:g} is longer than the duration {duration:g}")
    if progress is not None and not callable(progress):
        raise ModelError(f"progress must be callable, got {progress!r:.80}")
    return duration, dt


def sample_times(start: float, duration: float, interval: float) -> FloatArray:
    """start, start + interval, ... and the end, which is the last of them or comes after it."""
    ratio = duration / interval
    if ratio > MOST_SAMPLES:
        raise ModelError(
            f"a sample every {interval:g} s over {duration:g} s makes {ratio:.3g} samples: record fewer"
        )
    count = int(np.floor(ratio * (1.0 + 1e-12) + 1e-9))
    end = start + duration
    times: FloatArray = np.minimum(start + np.arange(count + 1) * interval, end)
    if times[-1] < end - 1e-9 * interval:
        return np.append(times, end)
    times[-1] = end
    return times


def check_tendons_along(model: Model, result: Result) -> None:
    """DivergedError with the motion where a muscle's path was shorter than its tendons at any of its samples."""
    if not have_tendons(model):
        return
    for t, q in zip(result.t, result.q):
        told = too_short(model, q)
        if told is not None:
            on = [point.body for point in told[0].points if point.body is not None]
            raise DivergedError(float(t), on[-1] if on else model.body_names[0], told[1], result)
