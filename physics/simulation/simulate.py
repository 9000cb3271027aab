"""Simulate a model: fixed-step methods run in the kernel, adaptive ones through SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..analysis.diagnosis import at_start, diagnosis, late_start
from ..analysis.missed_wraps import missed_wraps
from ..bodies.state import State
from ..dynamics.constrained import assemble as assembled
from ..errors import CancelledError, DivergedError, ModelError
from ..integrators import FIXED_STEP, INTEGRATORS
from ..integrators.base import Problem, Steer
from ..integrators.control import Control, widened
from ..integrators.soft import integrate_soft
from ..model.diagnosis import KEY, warn
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import led_on, pack_motions
from ..motions.table import force_table
from ..muscles.states import have_tendons, too_short
from ..validation import number
from .led import led, without_targets
from .start import check_motions, check_start

# More samples than memory holds, even of few coordinates.
MOST_SAMPLES = 1e8
# Samples of a live run that is not recorded: of its last steps, at least half as many.
MOST_LATEST = 20_000

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
    assemble: bool = False,
) -> Result:
    """The motion from an initial state.

    Args:
        model, state: the model and its initial state; both remain unchanged.
        duration, dt: of the motion, and of a step of fixed-step methods [s]. Adaptive methods evaluate functions of
            time at least every 10 dt, and tables and motions at least as often as these have values.
        integrator: with a fixed step ``"symplectic_euler"`` (implicit in the springs of limits, however stiff; forces
            other than dampers' are those at velocities predicted by half a step), ``"textbook_symplectic_euler"``
            (without that prediction), ``"forward_euler"``, ``"rk4"``, and for stiff models the implicit
            ``"linearly_implicit_euler"`` (one linear system a step, order 1; with elastic tendons much less accurate
            than bdf1), ``"spring_implicit_euler"`` (the same with gravity and inertial forces explicit), ``"bdf1"``
            (backward Euler, order 1) and ``"sdirk2"`` (order 2, L-stable), both with Newton's iteration to round-off.
            Muscle fibres are implicit in all of them, in ``"rk4"`` only if too stiff for its step. Adaptive ones
            (SciPy): ``"RK45"``, ``"DOP853"``, ``"LSODA"``, and the implicit ``"Radau"`` and ``"BDF"``.
            ``"event_driven"``: DOP853 up to the instant of each impact, fixed steps dt during lasting contact.
        tau: generalized forces: (nv,) constant, or a `Table`; dual to q' in the current chart. Inputs of the model may
            follow them or be given by name (`Model.with_inputs`). Or a function of (t), or a controller of
            (t, q, qd), which is called once a step and constant over it (adaptive methods: at every evaluation).
        motions: {body or ``body.coordinate``: `Motion`} of prescribed joints, and of targets (`add_target`); the
            forces that they need are the result's `efforts`, those of targets its `constraint_forces`.
        record_interval: time between samples [s], dt if None. Steps do not depend on it, as samples are interpolated:
            the motion is the same at every frame rate.
        progress: called with the completed fraction about twenty times a second; returning False cancels.
        rtol, atol: tolerances of the adaptive methods.
        assemble: whether to start from the nearby state that meets the constraints (`assemble`).

    Returns:
        A `Result` from the state's time to that time + duration. ``info["missed_wraps"]``, if any, lists muscles that
        passed straight through an obstacle or slipped off it, with count and reason. ``info["energy"]``, for fixed
        steps if all sources of energy are known: "gained", the numerical energy gain [J], "most_kinetic", the largest
        kinetic energy [J], and "work" of forces and motions [J]. ``diagnosis`` has findings that make the motion
        doubtful; a `SimulationWarning` says each kind once.

    Raises:
        ModelError: an invalid argument; for motions, tables and functions also a time so late that numbers near it are
            more than dt / 100 apart. Nothing ran.
        DivergedError: a coordinate became infinite or left its joint's range, or a muscle's path was shorter than its
            tendons at a sample. CancelledError: `progress` returned False. Both carry the motion so far.
        MissingDependencyError: an adaptive method without SciPy.
    """
    wishes = {"tau": tau, "motions": motions, "record_interval": record_interval, "progress": progress}
    wishes |= {"rtol": rtol, "atol": atol, "assemble": assemble}
    result = run_problem(*make_problem(model, state, duration, dt, integrator, **wishes))
    warn(result.diagnosis, 2)
    return result


def run_problem(problem: Problem, state: State) -> Result:
    """The result of a checked problem from a state, without warnings; raises as `simulate`."""
    return finish(run_integrator(problem, state))


def run_integrator(problem: Problem, state: State) -> Result:
    """The samples of a checked problem with its diagnosis, without the checks of `finish`."""
    method = INTEGRATORS[problem.integrator]
    try:
        run = integrate_soft if problem.model.soft_bodies else method.run
        result: Result = diagnosed(problem, run(problem, method, state))
    except DivergedError as error:
        so_far = diagnosed(problem, error.result)
        raise DivergedError(error.time + problem.origin, error.body, error.reason, so_far) from error
    except CancelledError as error:
        error.result = diagnosed(problem, error.result)
        raise
    return result


def diagnosed(problem: Problem, result: Any, quiet: bool = False) -> Any:
    """A result with its diagnosis, which a quiet one lacks, and the times of its model; None stays None."""
    if isinstance(result, Result):
        if found := () if quiet else diagnosis(problem, result):
            result.info[KEY] = [each._asdict() for each in found]
        if problem.origin:
            result.t[:] += problem.origin
        if problem.own is not None:
            return without_targets(result, problem.own)
    return result


def finish(result: Result) -> Result:
    """The result with its checks; DivergedError if a muscle's path was shorter than its tendons."""
    result = note_paths(result)
    check_tendons_along(result.model, result)
    return result


def note_paths(result: Result) -> Result:
    """The result, whose `info` lists the muscles that passed straight through obstacles (`analysis.missed_wraps`)."""
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
    dt: float = 1e-3,
    integrator: str = "symplectic_euler",
    *,
    tau: Any = None,
    motions: Any = None,
    record_interval: float | None = None,
    progress: Progress | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    assemble: bool = False,
    steer: Steer | None = None,
) -> tuple[Problem, State]:
    """The checked problem for an integrator, and the initial state; raises as `simulate`.

    steer: called before each batch of steps of a fixed-step method (see `integrators.base`).
    """
    own = model
    model, state = led(model, state, motions, assemble)
    if model is not own and steer is not None:
        raise ModelError(f"a live run leads no targets: leave out the motions of {', '.join(own.targets)}")
    given, state = state, check_start(model, assembled(model, state) if assemble else state)
    model.check_dynamics()
    duration, dt = _checked_times(duration, dt, integrator, progress)
    INTEGRATORS[integrator].check_cusps(model)
    interval, recorded = min(dt, duration), duration
    if record_interval is not None:
        interval = number(record_interval, "record_interval", positive=True)
    elif steer is not None:
        recorded = min(duration, MOST_LATEST * dt)  # such a run may take hours
    channels = pack_motions(model, motions, state)
    check_motions(model, channels)
    channels = led_on(model, channels, float(state.time) + duration, dt)
    more = model.num_coordinates - own.num_coordinates
    control = Control(own, tau, more) if callable(tau) else None
    if control is None:
        times, forces = force_table(own, tau)
        table = times, widened(forces, own.num_coordinates, more)
    else:
        table = control.times, control.values
    time = float(state.time)
    # where nothing depends on time it begins at 0: a late one would round each step
    timed = control is not None or steer is not None or len(table[0]) > 1 or len(channels[0]) > 0
    late = late_start(time + duration, dt)
    if timed and late:
        raise ModelError(
            f"at {time:g} s, numbers are {late[0].values['spacing']:.2g} s apart: too far for steps of {dt:g} s along "
            "motions and tables. Start earlier"
        )
    problem = Problem(
        model=model,
        start=time if timed else 0.0,
        duration=duration,
        dt=dt,
        samples=sample_times(time if timed else 0.0, recorded, interval),
        tau=table,
        motions=channels,
        control=control,
        progress=progress,
        rtol=number(rtol, "rtol", positive=True),
        atol=number(atol, "atol", positive=True),
        integrator=integrator,
        steer=steer,
        findings=(*at_start(model, given, state), *late),
        origin=0.0 if timed else time,
        latest=recorded < duration,
        own=own if own.targets else None,
    )
    return problem, state


def _checked_times(duration: Any, dt: Any, integrator: Any, progress: Any) -> tuple[float, float]:
    """Duration and step, checked against each other and the method."""
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
    """start, start + interval, ... and the end."""
    ratio = duration / interval
    if ratio > MOST_SAMPLES:
        raise ModelError(
            f"a sample every {interval:g} s over {duration:g} s makes {ratio:.3g} samples: use a longer interval"
        )
    count = int(np.floor(ratio * (1.0 + 1e-12) + 1e-9))
    end = start + duration
    times: FloatArray = np.minimum(start + np.arange(count + 1) * interval, end)
    if times[-1] < end - 1e-9 * interval:
        return np.append(times, end)
    times[-1] = end
    return times


def check_tendons_along(model: Model, result: Result) -> None:
    """DivergedError, with the motion, if a muscle's path is shorter than its tendons at any sample."""
    if not have_tendons(model):
        return
    for t, q in zip(result.t, result.q):
        short = too_short(model, q)
        if short is not None:
            on = [point.body for point in short[0].points if point.body is not None]
            raise DivergedError(float(t), on[-1] if on else model.body_names[0], short[1], result)
