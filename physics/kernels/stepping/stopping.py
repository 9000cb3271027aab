"""Steps that end at a limit or a contact, for methods of higher order."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from ..constraints.response import held_efforts, speed_along
from ..contact.constrained_step import constrain_velocities, project
from ..contact.unilateral import share_until_hit
from .bundles import Parts, State, Workspace
from .motion import finish_held, note_lag
from .resting import AT_REST

TOUCHES = 1e-12  # m or rad


@shared
def unilateral(constraints: Array) -> bool:
    """Whether a constraint is an inequality."""
    found = False
    for k in range(constraints[con.CON_INT].shape[0]):
        found |= constraints[con.CON_INT][k, con.CONSTRAINT_SENSE] != con.EQUALITY
    return found


@shared
def has_struck(count: int, last_qd: Array, system: Array) -> bool:
    """Whether a limit or a contact was hit faster than the step's forces explain: the forces of equalities are then
    those of an impact.
    """
    found = False
    for k in range(count):
        kind = system[con.SYSTEM_KINDS][k]
        if kind in (con.EQUALITY, con.TANGENT) or system[con.SYSTEM_IMPULSE][k] == 0.0:
            continue
        before = speed_along(k, last_qd, system[con.SYSTEM_JACOBIAN])
        found |= -before > abs(system[con.SYSTEM_ROWS][k, con.ROW_FREE] - before)
    return found


@shared
def stays(k: int, dt: float, system: Array, memory: Array) -> bool:
    """Whether row k is a limit with a coordinate at rest on it that would move only by round-off: the limit's force
    then keeps it there.
    """
    row = system[con.SYSTEM_ROWS][k]
    owner = int(row[con.ROW_OWNER])
    rests = owner < 0 and memory[-1 - owner, con.RESTS] != 0.0
    return bool(rests and dt * abs(row[con.ROW_FREE] - row[con.ROW_AIM]) <= AT_REST)


@shared
def until_bounce(count: int, dt: float, last_qd: Array, system: Array) -> float:
    """Time until the first of a step's impacts with restitution; infinity where there is none, or only round-off of
    resting bodies.
    """
    until = math.inf
    for k in range(count):
        kind = system[con.SYSTEM_KINDS][k]
        if kind in (con.EQUALITY, con.TANGENT) or system[con.SYSTEM_IMPULSE][k] == 0.0:
            continue
        value, before = (
            system[con.SYSTEM_ROWS][k, con.ROW_VALUE],
            speed_along(k, last_qd, system[con.SYSTEM_JACOBIAN]),
        )
        if system[con.SYSTEM_RESTITUTION][k] > 0.0 and -before * dt > TOUCHES:
            gain = before - system[con.SYSTEM_ROWS][k, con.ROW_FREE]
            until = min(until, dt * share_until_hit(value, before, gain, dt))
    return until


@shared
def until_impact(count: int, dt: float, last_qd: Array, system: Array) -> float:
    """As `until_bounce`; 0 where there is none, or an impact without restitution."""
    for k in range(count):
        kind = system[con.SYSTEM_KINDS][k]
        if kind in (con.EQUALITY, con.TANGENT) or system[con.SYSTEM_IMPULSE][k] == 0.0:
            continue
        value, before = (
            system[con.SYSTEM_ROWS][k, con.ROW_VALUE],
            speed_along(k, last_qd, system[con.SYSTEM_JACOBIAN]),
        )
        if system[con.SYSTEM_RESTITUTION][k] <= 0.0 and -before * dt > value + TOUCHES:
            return 0.0
    until = until_bounce(count, dt, last_qd, system)
    return until if until < math.inf else 0.0


@shared
def stop_within(
    parts: Parts,
    rank: tuple[int, int],
    t: float,
    dt: float,
    course: tuple[float, float],
    last: State,
    trial: Array,
    q: Array,
    qd: Array,
    workspace: Workspace,
) -> tuple[int, bool]:
    """Impulses of limits and contacts at the step's beginning, last = (q, qd), just evaluated, that keep the velocities
    trial at its end from passing any; returns the number of rows, 0 where none has an impulse, and whether there was an
    impact.

    Where one has, the final velocities apply to the whole step, as in symplectic Euler: bodies in contact rest, and the
    step is of first order. For course see `unilateral.aim_row`: with hit < 0, velocities from before an impact apply up
    to it.
    """
    arrays, constraints, contacts, motion, _ = parts
    _, effort, system, memory, spaces = workspace
    (last_q, last_qd), (hit, _) = last, course
    note_lag(motion, t, dt, spaces[at.DOF])
    count, _ = constrain_velocities(
        arrays, constraints, contacts, dt, course, last_q, trial, last_qd, system, memory, spaces
    )
    acting, kinds, impulse = False, system[con.SYSTEM_KINDS], system[con.SYSTEM_IMPULSE]
    for k in range(count):
        acting |= kinds[k] != con.EQUALITY and impulse[k] != 0.0 and not stays(k, dt, system, memory)
    if not acting:
        return 0, False
    struck = has_struck(count, last_qd, system)
    until = until_impact(count, dt, last_qd, system) if hit < 0.0 else 0.0
    for d in range(q.shape[0]):
        qd[d] = trial[d]
        q[d] = last_q[d] + until * last_qd[d] + (dt - until) * qd[d]
    finish_held(motion, t, dt, q, qd)
    for k in range(count):  # in addition to the trial's forces of equalities
        system[con.SYSTEM_ROWS][k, con.ROW_FORCE] += impulse[k] / dt
    if rank[con.COUNT] > 0:
        project(arrays, constraints, rank, 0.0, q, qd, system, spaces)
    held_efforts(count, system[con.SYSTEM_ROWS], spaces[at.DOF], system[con.SYSTEM_RESPONSE], effort)
    return count, struck
