"""Accelerations at a state, with the constraints that are equalities."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.spatial import Array
from ..compiler.jit import entry, shared
from ..constraints import layout as con
from ..constraints.response import held_efforts
from ..contact.constrained_step import constrain_accelerations, project, project_velocities
from .motion import follow, hold
from .rollout import derivative


@shared
def evaluate(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Array,
    t: float,
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
    effort: Array,
    system: Array,
    spaces: Array,
) -> tuple[int, int]:
    """Accelerations at (t, q, qd) with the constraints that are equalities; coordinates that are held at t are put
    where they are. The rows' forces are left in rows, those that held coordinates take in effort.
    """
    hold(motion, t, 0.0, q, qd, spaces[1])
    return evaluate_here(arrays, constraints, tables, t, q, qd, tau, qdd, effort, system, spaces)


@shared
def evaluate_here(
    arrays: Array,
    constraints: Array,
    tables: Array,
    t: float,
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
    effort: Array,
    system: Array,
    spaces: Array,
) -> tuple[int, int]:
    """As `evaluate`, where held coordinates are where they shall be."""
    dof = spaces[1]
    derivative(arrays, tables[0], tables[1], t, q, qd, qd, tau, qdd, spaces)
    found = constrain_accelerations(arrays, constraints, q, qd, qdd, system, spaces)
    impulse, rows = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ROWS]
    for k in range(impulse.shape[0]):
        rows[k, con.ROW_FORCE] = impulse[k]
    held_efforts(found[0], dof, system, effort)
    return found


@entry
def slope_on_constraints(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Array,
    t: float,
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
    effort: Array,
    system: Array,
    spaces: Array,
) -> None:
    """As `evaluate`, at the nearest state that meets the equalities, which q and qd become.

    It is for methods whose own states leave the equalities with their errors.
    """
    found = evaluate(arrays, constraints, motion, tables, t, q, qd, tau, qdd, effort, system, spaces)
    if found[0] > 0:
        project(arrays, constraints, found, 0.0, q, qd, system, spaces)
        project_velocities(arrays, constraints, found, q, qd, system, spaces)
        evaluate(arrays, constraints, motion, tables, t, q, qd, tau, qdd, effort, system, spaces)


@entry
def settle_samples(
    parts: Array,
    start: float,
    dt: float,
    samples: Array,
    written: tuple[int, int],
    records: Array,
    vectors: Array,
    room: Array,
) -> None:
    """Bring samples that fall between steps onto the equalities, from which the curves between the steps' ends lead.

    parts is (arrays, constraints, motion, tables) as of `evaluate`; written the first sample and the one behind the
    last; records (q, qd) of all; vectors (tau, qdd, effort), room (system, spaces).
    """
    arrays, constraints, motion, tables = parts
    tau, qdd, effort = vectors
    system, spaces = room
    nv = qdd.shape[0]
    for row in range(written[0], written[1]):
        steps = (samples[row] - start) / dt
        if abs(steps - round(steps)) < 1e-6:  # a step's end is on them
            continue
        q, qd, t = records[0][row, :nv], records[1][row], samples[row]
        for k in range(records[0].shape[1] - nv):  # states of muscles
            tau[tables[1].shape[1] + k] = records[0][row, nv + k]
        spaces[2][at.STATUS] = at.OK
        # what is held is what the step holds: a coordinate that a motion catches within it is free to its end
        follow(motion, start + dt * math.floor(steps), dt, t, q, qd, spaces[1])
        found = evaluate_here(arrays, constraints, tables, t, q, qd, tau, qdd, effort, system, spaces)
        if found[0] > 0 and spaces[2][at.STATUS] == at.OK:
            project(arrays, constraints, found, 0.0, q, qd, system, spaces)
            project_velocities(arrays, constraints, found, q, qd, system, spaces)
