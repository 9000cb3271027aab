"""Accelerations at a state, with the equality constraints."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, shared
from ..constraints import layout as con
from ..constraints.response import held_efforts
from ..contact.constrained_step import constrain_accelerations, project, project_velocities
from .bundles import Loads, Spaces, Tables
from .motion import follow, hold
from .rollout import derivative


@shared
def evaluate(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Tables,
    t: float,
    q: Array,
    qd: Array,
    loads: Loads,
    system: Array,
    spaces: Spaces,
) -> tuple[int, int]:
    """Accelerations at (t, q, qd) with the equality constraints; sets coordinates that are prescribed at t. Leaves the
    rows' forces in rows, those on prescribed coordinates in effort.
    """
    hold(motion, t, 0.0, q, qd, spaces[at.DOF])
    return evaluate_here(arrays, constraints, tables, t, q, qd, loads, system, spaces)


@shared
def evaluate_here(
    arrays: Array,
    constraints: Array,
    tables: Tables,
    t: float,
    q: Array,
    qd: Array,
    loads: Loads,
    system: Array,
    spaces: Spaces,
) -> tuple[int, int]:
    """As `evaluate`, with prescribed coordinates already set."""
    tau, qdd, effort = loads
    derivative(arrays, tables, t, q, qd, qd, tau, qdd, spaces)
    found = constrain_accelerations(arrays, constraints, q, qd, qdd, system, spaces)
    impulse, rows = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ROWS]
    for k in range(impulse.shape[0]):
        rows[k, con.ROW_FORCE] = impulse[k]
    held_efforts(found[con.COUNT], rows, spaces[at.DOF], system[con.SYSTEM_RESPONSE], effort)
    return found


@entry
def slope_on_constraints(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Tables,
    t: float,
    q: Array,
    qd: Array,
    loads: Loads,
    system: Array,
    spaces: Spaces,
) -> None:
    """As `evaluate`, at the nearest state that meets the equalities, written to q and qd.

    For methods whose states drift off the equalities.
    """
    found = evaluate(arrays, constraints, motion, tables, t, q, qd, loads, system, spaces)
    if found[con.COUNT] > 0:
        project(arrays, constraints, found, 0.0, q, qd, system, spaces)
        project_velocities(arrays, constraints, found, q, qd, system, spaces)
        evaluate(arrays, constraints, motion, tables, t, q, qd, loads, system, spaces)


@entry
def settle_samples(
    parts: Array,
    start: float,
    dt: float,
    samples: Array,
    written: tuple[int, int],
    records: Array,
    loads: Loads,
    workspace: Array,
) -> None:
    """Project samples between steps onto the equalities, which interpolation violates.

    parts is (arrays, constraints, motion, tables); written the first sample and one past the last; records (q, qd) of
    all; workspace (system, spaces).
    """
    arrays, constraints, motion, tables = parts
    system, spaces = workspace
    (record_q, record_qd), (tau, qdd, _), (first, end) = records, loads, written
    nv = qdd.shape[0]
    for row in range(first, end):
        steps = (samples[row] - start) / dt
        if abs(steps - round(steps)) < 1e-6:  # a step's end meets them
            continue
        q, qd, t = record_q[row, :nv], record_qd[row], samples[row]
        for k in range(record_q.shape[1] - nv):  # muscle states
            tau[tables[at.VALUES].shape[1] + k] = record_q[row, nv + k]
        spaces[at.FLAGS][at.STATUS] = at.OK
        # prescribed as in the step: a coordinate whose motion begins within it is free to its end
        follow(motion, start + dt * math.floor(steps), dt, t, q, qd, spaces[at.DOF])
        found = evaluate_here(arrays, constraints, tables, t, q, qd, loads, system, spaces)
        if found[con.COUNT] > 0 and spaces[at.FLAGS][at.STATUS] == at.OK:
            project(arrays, constraints, found, 0.0, q, qd, system, spaces)
            project_velocities(arrays, constraints, found, q, qd, system, spaces)
