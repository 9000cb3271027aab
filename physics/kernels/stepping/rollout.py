"""Fixed-step integration of many steps in one call."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import flat3
from ..algebra.rotation_vector import principal_rotation_vector
from ..algebra.vectors import Array, scale_add3
from ..compiler.jit import inline, shared
from ..dynamics.aba import accelerations
from ..muscles.states import (
    FIRST,
    begin_states,
    finish_states,
    has_states,
    has_stiffened,
    prepare_states,
    record_states,
    set_implicit,
    sum_states,
    watch_states,
)
from .bundles import Log, Spaces, State, Tables
from .feedback import add_constants, hold_feedback
from .step_checks import check_step

# A rotation vector changes its chart beyond this length: half a radian past pi gives hysteresis, far from the
# singularity at 2 pi.
CHART_LIMIT = math.pi + 0.5

# Interpolation of samples within a step; the smallest of a step's parts applies.
JUMP, PARABOLA, CUBIC = 0, 1, 2

# Tolerance of sample times past a step's end: a share of the step, for a run's duration, and of the time, for
# round-off.
EDGE, ROUND_OFF = 1e-9, 1e-15


@inline
def copy(source: Array, target: Array) -> None:
    """Copy as many elements as both have: assigning a slice would allocate."""
    for d in range(min(source.shape[0], target.shape[0])):
        target[d] = source[d]


@inline
def table_force(tables: Tables, t: float, tau: Array) -> None:
    """Linear interpolation in a table of generalized forces, constant beyond its ends; one row is a constant."""
    times, values = tables[at.TIMES], tables[at.VALUES]
    if times.shape[0] == 1:
        copy(values[0], tau)
    else:
        interpolate(times, values, t, tau)
    add_constants(tables, tau)


@shared
def interpolate(times: Array, values: Array, t: float, tau: Array) -> None:
    """`table_force` where there are several rows."""
    last = times.shape[0] - 1
    if t <= times[0]:
        copy(values[0], tau)
        return
    if t >= times[last]:
        copy(values[last], tau)
        return
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle
    share = (t - times[low]) / (times[high] - times[low])
    for d in range(values.shape[1]):
        tau[d] = (1.0 - share) * values[low, d] + share * values[high, d]


@inline
def has_charts(arrays: Array) -> bool:
    """Whether a joint of the model has a rotation vector."""
    found = False
    for b in range(arrays[at.BLOCK_INT].shape[0]):
        found |= arrays[at.BLOCK_INT][b, at.KIND] == at.ROTATION_VECTOR
    return found


@shared
def change_charts(
    arrays: Array, dof: Array, limit: float, lag: float, q: Array, qd: Array, qdd: Array, chart: Array
) -> int:
    """Bring every rotation vector longer than limit back to |r| <= pi; returns how many changed.

    lag is that of velocities, half a step for symplectic Euler: they are advanced by their accelerations to the
    instant of the coordinates, changed there, and taken back. Otherwise each change adds or removes energy at first
    order (7 % at once in a fast chain with steps of 1 ms). Where it is 0, accelerations in the old chart are set to 0.
    A vector with a prescribed coordinate keeps its chart.
    """
    body_int, _, block_int, _, _ = arrays
    changed = 0
    for i in range(body_int.shape[0]):
        for b in range(
            body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]
        ):
            if block_int[b, at.KIND] != at.ROTATION_VECTOR:
                continue
            d = body_int[i, at.DOF_START] + block_int[b, at.COORDINATE]
            if q[d] * q[d] + q[d + 1] * q[d + 1] + q[d + 2] * q[d + 2] <= limit * limit:
                continue
            if dof[d, at.HELD] != 0.0 or dof[d + 1, at.HELD] != 0.0 or dof[d + 2, at.HELD] != 0.0:
                continue
            a = flat3(qdd, d) if lag > 0.0 else (0.0, 0.0, 0.0)
            r, v, a = principal_rotation_vector(flat3(q, d), scale_add3(flat3(qd, d), lag, a), a)
            for j in range(3):
                q[d + j] = r[j]
                qd[d + j] = v[j] - lag * a[j]
                qdd[d + j] = a[j] if lag > 0.0 else 0.0
            chart[i] += 1
            changed += 1
    return changed


@shared
def derivative(
    arrays: Array,
    tables: Tables,
    t: float,
    q: Array,
    qd: Array,
    rate: Array,
    tau: Array,
    qdd: Array,
    spaces: Spaces,
) -> None:
    """Accelerations at (t, q, qd), with dampers at velocities rate."""
    work, dof, flags = spaces
    table_force(tables, t, tau)
    accelerations(arrays, q, qd, rate, tau, qdd, work, dof, flags)


@inline
def stage_of(scheme: Array, k: int) -> tuple[float, float]:
    """Time of stage k of a step as a share of the step, and its weight."""
    return scheme[at.SCHEME_TIMES + 2 * k], scheme[at.SCHEME_TIMES + 2 * k + 1]


@inline
def is_symplectic(integrator: int) -> bool:
    return integrator == at.SYMPLECTIC_EULER or integrator == at.TEXTBOOK_EULER


@inline
def prepare_stage(
    integrator: int, k: int, following: float, dt: float, q: Array, qd: Array, stage: Array
) -> None:
    """State at which stage k of a step is evaluated: STAGE_Q, and STAGE_QD for inertial forces; STAGE_QDD has the
    accelerations of the stage before, which count for the time `following`.

    Symplectic Euler updates velocities first, so they lag half a step. With a mass matrix that depends on q, inertial
    forces at lagging velocities make the energy drift at first order; predicting these by half a step, with the
    accelerations of the step before (0 at the start), bounds it at no cost; TEXTBOOK_EULER does not. Dampers use the
    velocities themselves: predicted, they would halve the largest stable step.
    """
    stage_q, stage_qd, qdd = stage[at.STAGE_Q], stage[at.STAGE_QD], stage[at.STAGE_QDD]
    if k > 0:
        for d in range(q.shape[0]):
            stage_q[d] = q[d] + following * stage_qd[d]
            stage_qd[d] = qd[d] + following * qdd[d]
        return
    ahead = 0.5 * dt if integrator == at.SYMPLECTIC_EULER else 0.0
    for d in range(q.shape[0]):
        stage_q[d] = q[d]
        stage_qd[d] = qd[d] + ahead * qdd[d]


@inline
def look_ahead_at_limits(arrays: Array, integrator: int, dt: float, work: Array) -> None:
    """Make springs at limits implicit (`passive.limit_push`) in the next accelerations of symplectic Euler: their
    stiffness suits a coordinate's load, but not the small inertia in a long chain. Other methods adapt it once for a
    run (`integrators.limit_steps`).
    """
    if is_symplectic(integrator):
        work[arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS, at.AHEAD] = dt


@inline
def finish_step(scheme: Array, dt: float, q: Array, qd: Array, stage: Array) -> None:
    """Advance (q, qd) by a step after its stages."""
    qdd, sum_qd, sum_qdd = stage[at.STAGE_QDD], stage[at.SUM_QD], stage[at.SUM_QDD]
    if scheme[at.SCHEME_NUMBER] == at.RUNGE_KUTTA:
        share = dt / scheme[at.SCHEME_WHOLE]
        for d in range(q.shape[0]):
            q[d] += share * sum_qd[d]
            qd[d] += share * sum_qdd[d]
        return
    symplectic = is_symplectic(int(scheme[at.SCHEME_NUMBER]))
    for d in range(q.shape[0]):
        speed = qd[d] + dt * qdd[d]
        q[d] += dt * (speed if symplectic else qd[d])
        qd[d] = speed


@inline
def reaches(t: float, dt: float, whole: float) -> float:
    """Last time of samples in a step from t on, or in a part of one that takes `whole`."""
    return t + dt + EDGE * whole + ROUND_OFF * abs(t)


@shared
def record_samples(
    t: float, dt: float, until: float, log: Log, last: State, now: State, way: int, dof: Array
) -> None:
    """Write every sample up to `until`, interpolated between the step's ends t and t + dt.

    Samples at any frame rate thus need no steps of their own. Where velocities are the slopes of q at both ends, as
    always for prescribed coordinates, a CUBIC has an error of O(dt^4). Euler's velocities lag half a step: they are
    interpolated linearly, and coordinates by the PARABOLA with their difference as curvature, with an error of O(dt^3)
    (a cubic's velocities would be almost a step ahead). Where an impact lies within the step these would overshoot or
    change the energy: velocities JUMP in the middle, and coordinates are linear.
    """
    counters, samples, record_q, record_qd = log
    (last_q, last_qd), (q, qd) = last, now
    while counters[at.WRITTEN] < samples.shape[0] and samples[counters[at.WRITTEN]] <= until:
        row = counters[at.WRITTEN]
        x = (samples[row] - t) / dt
        if x > 1.0 - EDGE:
            copy(q, record_q[row])
            copy(qd, record_qd[row])
        else:
            for d in range(q.shape[0]):
                rise, gain = q[d] - last_q[d], qd[d] - last_qd[d]
                if way == CUBIC or dof[d, at.HELD] != 0.0:
                    a, b = dt * last_qd[d], dt * qd[d]
                    square, cube = 3.0 * rise - 2.0 * a - b, a + b - 2.0 * rise
                    record_q[row, d] = last_q[d] + x * (a + x * (square + x * cube))
                    record_qd[row, d] = (a + x * (2.0 * square + 3.0 * x * cube)) / dt
                elif way == PARABOLA:
                    record_q[row, d] = last_q[d] + x * rise - 0.5 * dt * x * (1.0 - x) * gain
                    record_qd[row, d] = last_qd[d] + x * gain
                else:
                    record_q[row, d] = last_q[d] + x * rise
                    record_qd[row, d] = last_qd[d] + math.floor(x + 0.5) * gain
        counters[at.WRITTEN] += 1


@inline
def evaluate_stages(
    arrays: Array,
    scheme: Array,
    tables: Tables,
    t: float,
    dt: float,
    states: bool,
    q: Array,
    qd: Array,
    stage: Array,
    spaces: Spaces,
) -> None:
    """The stages of a step, in the workspace of `rollout`; states: whether muscles have states."""
    work, dof, flags = spaces
    nv, first = q.shape[0], tables[at.VALUES].shape[1]
    integrator, stages = int(scheme[at.SCHEME_NUMBER]), int(scheme[at.SCHEME_STAGES])
    rate = stage[at.STAGE_QD, :nv] if integrator == at.RUNGE_KUTTA else qd
    stage_q, stage_qd, qdd, tau = (
        stage[at.STAGE_Q, :nv],
        stage[at.STAGE_QD, :nv],
        stage[at.STAGE_QDD, :nv],
        stage[at.TAU],
    )
    sum_qd, sum_qdd = stage[at.SUM_QD, :nv], stage[at.SUM_QDD, :nv]
    look_ahead_at_limits(arrays, integrator, dt, work)
    if states and stages > 1:
        watch_states(arrays[at.MODEL_DATA], first, dt, stage)
    k = 0
    while k < stages:  # the only call of the dynamics, compiled once
        time, weight = stage_of(scheme, k)
        prepare_stage(integrator, k, time * dt, dt, q, qd, stage)
        table_force(tables, t + time * dt, tau)
        if states and stages > 1:
            prepare_states(arrays[at.MODEL_DATA], first, k, time * dt, stage)
        elif states:
            set_implicit(arrays[at.MODEL_DATA], tau, first, dt)
        accelerations(arrays, stage_q, stage_qd, rate, tau, qdd, work, dof, flags)
        if stages == 1:
            look_ahead_at_limits(arrays, integrator, 0.0, work)
            break
        if states and has_stiffened(arrays[at.MODEL_DATA], first, k, stage):
            k = 0
            continue
        if states:
            sum_states(arrays[at.MODEL_DATA], first, k, weight, stage)
        for d in range(nv):
            sum_qd[d] = weight * stage_qd[d] + (sum_qd[d] if k > 0 else 0.0)
            sum_qdd[d] = weight * qdd[d] + (sum_qdd[d] if k > 0 else 0.0)
        k += 1


@shared
def rollout(
    arrays: Array,
    scheme: Array,
    tables: Tables,
    start: float,
    dt: float,
    num_steps: int,
    log: Log,
    state: tuple[Array, Array, Array],
    stage: Array,
    spaces: Spaces,
) -> None:
    """Advance state = (q, qd, chart) in place by up to num_steps steps and write the samples in them.

    The counters persist between calls: step k begins at start + k dt, so that the result does not depend on how a run
    is divided into calls. Where a step fails, flags have status and culprit, and the state is the last good one. stage
    is a workspace (at.STAGE_ROWS, nv + inputs and muscle states). scheme: of the method, see `layout`.
    """
    integrator = int(scheme[at.SCHEME_NUMBER])
    counters, samples, record_q, _ = log
    q, qd, chart = state
    _, dof, flags = spaces
    nv, first = q.shape[0], tables[at.VALUES].shape[1]
    tau, qdd, last_q, last_qd = (
        stage[at.TAU],
        stage[at.STAGE_QDD, :nv],
        stage[at.LAST_Q, :nv],
        stage[at.LAST_QD, :nv],
    )
    charts, states = has_charts(arrays), has_states(arrays)
    for _ in range(num_steps):
        t = start + counters[at.DONE] * dt
        copy(q, last_q)
        copy(qd, last_qd)
        hold_feedback(tables, arrays, q, qd, spaces)
        if states:
            begin_states(arrays[at.MODEL_DATA], first, tau, stage[FIRST])
        evaluate_stages(arrays, scheme, tables, t, dt, states, q, qd, stage, spaces)
        finish_step(scheme, dt, q, qd, stage)
        if states:
            finish_states(arrays[at.MODEL_DATA], first, scheme, dt, stage)
        if flags[at.STATUS] == at.OK:
            check_step(arrays, charts, first, dt, tau, q, qd, spaces)
        if flags[at.STATUS] != at.OK:
            copy(last_q, q)
            copy(last_qd, qd)
            return
        until = reaches(t, dt, dt)
        if counters[at.WRITTEN] < samples.shape[0] and samples[counters[at.WRITTEN]] <= until:
            before = counters[at.WRITTEN]
            way = CUBIC if integrator == at.RUNGE_KUTTA else PARABOLA
            record_samples(t, dt, until, log, (last_q, last_qd), (q, qd), way, dof)
            if states:
                record_states(
                    arrays[at.MODEL_DATA],
                    first,
                    before,
                    counters[at.WRITTEN],
                    samples,
                    t,
                    dt,
                    stage[FIRST],
                    tau,
                    record_q,
                )
        if charts:
            lag = 0.5 * dt if is_symplectic(integrator) else 0.0
            change_charts(arrays, dof, CHART_LIMIT, lag, q, qd, qdd, chart)
        counters[at.DONE] += 1
