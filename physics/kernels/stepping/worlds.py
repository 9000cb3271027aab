"""Runs of symplectic Euler in four worlds at once."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array, dot3
from ..algebra.worlds import WIDTH, any_less, in_all, load_worlds, sizes, store_worlds
from ..compiler.jit import entry, inline, shared
from ..dynamics.worlds import worlds_accelerations, worlds_energies
from ..joints.worlds import (
    AHEAD_QD,
    DUE,
    KINETIC,
    LAST_Q,
    LAST_QD,
    POTENTIAL,
    POWER,
    QD,
    QDD,
    SPEEDS,
    STATE_WIDTH,
    WHOLE,
    Q,
    note_bad,
)
from .bundles import Spaces
from .rollout import CHART_LIMIT, EDGE, change_charts, has_charts, reaches
from .step_checks import LOST_ROTATION, leaps, watch_energy


@entry
def worlds_rollouts(
    arrays: Array,
    tau: Array,
    dt: float,
    num_steps: int,
    samples: Array,
    records: tuple[Array, Array, Array],
    reports: tuple[Array, Array, Array],
    rooms: tuple[Array, Array, Array, Array],
    scratch: tuple[Array, Array, Array],
    spaces: Spaces,
) -> None:
    """Advance groups of four runs by num_steps steps each, and write the samples in them, as `rollout` does for one.

    records: of q (runs, T, nv) and q' (runs, T, nv), and charts (runs, nb). reports: counters (groups, 2), which worlds
    failed (groups, 1, 4), whose further numbers mean nothing, and energy (runs, width) as in `rollouts`. rooms: states
    (groups, nv * STATE_WIDTH, 4), which persist between calls, and bodies, coordinates and notes of a group (see
    `joints.worlds`). scratch: q, q' and q''. dof of the spaces is as a fresh one.
    """
    counts, failed, energies = reports
    states, bodies, dofs, notes = rooms
    charts = has_charts(arrays)
    for group in range(states.shape[0]):
        own, counters, bad = states[group], counts[group], failed[group]
        for _ in range(num_steps):
            t = samples[0] + counters[at.DONE] * dt
            until = reaches(t, dt, dt)
            sampled = counters[at.WRITTEN] < samples.shape[0] and samples[counters[at.WRITTEN]] <= until
            begin_step(dt, sampled, tau, own)
            worlds_accelerations(arrays, tau, dt, own, bodies, dofs, bad, notes)
            end_step(dt, tau, own, bad, notes)
            watch_energies(arrays, WIDTH * group, dt, tau, tau, energies, own, bodies, dofs, bad, notes)
            if sampled:
                record_worlds(WIDTH * group, t, dt, until, tau.shape[0], counters, samples, records, own)
            if charts and has_long_vectors(arrays, own, bad):
                change_worlds_charts(arrays, WIDTH * group, dt, own, bad, records[2], scratch, spaces)
            counters[at.DONE] += 1


@inline
def begin_step(dt: float, sampled: bool, tau: Array, states: Array) -> None:
    """Velocities ahead by half a step, for inertial forces (see `rollout.prepare_stage`)."""
    for d in range(0, tau.shape[0] * STATE_WIDTH, STATE_WIDTH):
        qd = load_worlds(states, d + QD)
        store_worlds(states, d + AHEAD_QD, qd + 0.5 * dt * load_worlds(states, d + QDD))
        if sampled:
            store_worlds(states, d + LAST_Q, load_worlds(states, d + Q))
            store_worlds(states, d + LAST_QD, qd)


@inline
def end_step(dt: float, tau: Array, states: Array, bad: Array, notes: Array) -> None:
    """Advance states by a step, and note sums for its checks (see `step_checks.sums_of`)."""
    total, squares, power = in_all(0.0), in_all(0.0), in_all(0.0)
    for d in range(tau.shape[0]):
        row = d * STATE_WIDTH
        speed = load_worlds(states, row + QD) + dt * load_worlds(states, row + QDD)
        q = load_worlds(states, row + Q) + dt * speed
        store_worlds(states, row + Q, q)
        store_worlds(states, row + QD, speed)
        total = total + sizes(q) + sizes(speed)
        squares = squares + speed * speed
        power = power + tau[d] * speed
    note_bad(total, in_all(math.inf), bad)
    store_worlds(notes, SPEEDS, squares)
    store_worlds(notes, POWER, power)


@inline
def watch_energies(
    arrays: Array,
    run: int,
    dt: float,
    tau: Array,
    none: Array,
    energies: Array,
    states: Array,
    bodies: Array,
    dofs: Array,
    bad: Array,
    notes: Array,
) -> None:
    """Check the energies of the runs from `run` on; none: some array, as no controllers need coordinates."""
    any_due = False
    for k in range(WIDTH):
        due, whole = watch_energy(
            arrays, dt, tau, none, none, notes[SPEEDS, k], notes[POWER, k], energies, run + k
        )
        notes[DUE, k], notes[WHOLE, k] = 1.0 if due else 0.0, 1.0 if whole else 0.0
        any_due = any_due or due
    if any_due:
        worlds_energies(arrays, states, bodies, dofs, bad, notes)
        for k in range(WIDTH):
            if notes[DUE, k] != 0.0 and leaps(
                energies[run + k], notes[WHOLE, k] != 0.0, notes[KINETIC, k], notes[POTENTIAL, k]
            ):
                bad[0, k] = 1.0


@shared
def record_worlds(
    run: int,
    t: float,
    dt: float,
    until: float,
    nv: int,
    counters: Array,
    samples: Array,
    records: tuple[Array, Array, Array],
    states: Array,
) -> None:
    """`rollout.record_samples` of the runs from `run` on, by parabolas."""
    record_q, record_qd, _ = records
    while counters[at.WRITTEN] < samples.shape[0] and samples[counters[at.WRITTEN]] <= until:
        sample = counters[at.WRITTEN]
        x = (samples[sample] - t) / dt
        if x > 1.0 - EDGE:
            x = 1.0
        for k in range(WIDTH):
            for d in range(nv):
                row = d * STATE_WIDTH
                q, qd = states[row + Q, k], states[row + QD, k]
                if x < 1.0:
                    last_q, last_qd = states[row + LAST_Q, k], states[row + LAST_QD, k]
                    gain = qd - last_qd
                    q = last_q + x * (q - last_q) - 0.5 * dt * x * (1.0 - x) * gain
                    qd = last_qd + x * gain
                record_q[run + k, sample, d], record_qd[run + k, sample, d] = q, qd
        counters[at.WRITTEN] += 1


@shared
def has_long_vectors(arrays: Array, states: Array, bad: Array) -> bool:
    """Whether a rotation vector in any world must change its chart; bad gets 1 where one has no direction left."""
    body_int, _, block_int, _, _ = arrays
    found = False
    for i in range(body_int.shape[0]):
        for b in range(
            body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]
        ):
            if block_int[b, at.KIND] == at.ROTATION_VECTOR:
                d = (body_int[i, at.DOF_START] + block_int[b, at.COORDINATE]) * STATE_WIDTH + Q
                r = (
                    load_worlds(states, d),
                    load_worlds(states, d + STATE_WIDTH),
                    load_worlds(states, d + 2 * STATE_WIDTH),
                )
                square = dot3(r, r)
                note_bad(square, in_all(LOST_ROTATION * LOST_ROTATION), bad)
                found = found or any_less(in_all(CHART_LIMIT * CHART_LIMIT), square)
    return found


@shared
def change_worlds_charts(
    arrays: Array,
    run: int,
    dt: float,
    states: Array,
    bad: Array,
    charts: Array,
    scratch: tuple[Array, Array, Array],
    spaces: Spaces,
) -> None:
    """`rollout.change_charts` of the runs from `run` on."""
    q, qd, qdd = scratch
    for k in range(WIDTH):
        if bad[0, k] == 0.0:
            for d in range(q.shape[0]):
                row = d * STATE_WIDTH
                q[d], qd[d], qdd[d] = states[row + Q, k], states[row + QD, k], states[row + QDD, k]
            change_charts(arrays, spaces[at.DOF], CHART_LIMIT, 0.5 * dt, q, qd, qdd, charts[run + k])
            for d in range(q.shape[0]):
                row = d * STATE_WIDTH
                states[row + Q, k], states[row + QD, k], states[row + QDD, k] = q[d], qd[d], qdd[d]
