"""Runs from many states of one model in one call."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, inline
from .bundles import Spaces, Tables
from .rollout import rollout


@entry
def rollouts(
    arrays: Array,
    scheme: Array,
    tables: Tables,
    dt: float,
    num_steps: int,
    samples: Array,
    records: tuple[Array, Array, Array],
    reports: tuple[Array, Array],
    scratch: tuple[Array, Array, Array],
    spaces: Spaces,
) -> None:
    """`rollout` from the first sample on of each run, each as from a fresh workspace.

    records: of q (runs, T, nv) and q' (runs, T, nv), whose first samples are given, and charts (runs, nb). reports:
    counters (runs, 4: done, written, status, culprit), and energy (runs, width), whose rows come in as the checks of
    steps begin with (see `step_checks`). scratch: stages, q and q'.
    """
    (record_q, record_qd, charts), (ends, energies) = records, reports
    stage, q, qd = scratch
    work, dof, flags = spaces
    checks = arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS
    for run in range(record_q.shape[0]):
        clear(dof, work, stage)
        for k in range(energies.shape[1]):
            work[checks, k] = energies[run, k]
        for d in range(q.shape[0]):
            q[d], qd[d] = record_q[run, 0, d], record_qd[run, 0, d]
        flags[at.STATUS], flags[at.CULPRIT] = 0, 0
        log = (ends[run], samples, record_q[run], record_qd[run])
        rollout(arrays, scheme, tables, samples[0], dt, num_steps, log, (q, qd, charts[run]), stage, spaces)
        ends[run, 2], ends[run, 3] = flags[at.STATUS], flags[at.CULPRIT]
        for k in range(energies.shape[1]):
            energies[run, k] = work[checks, k]


@inline
def clear(dof: Array, work: Array, stage: Array) -> None:
    """A workspace as it was made: `HELD` stays."""
    for d in range(dof.shape[0]):
        held = dof[d, at.HELD]
        for k in range(dof.shape[1]):
            dof[d, k] = 0.0
        dof[d, at.HELD] = held
    for i in range(work.shape[0]):
        for k in range(work.shape[1]):
            work[i, k] = 0.0
    for i in range(stage.shape[0]):
        for k in range(stage.shape[1]):
            stage[i, k] = 0.0
