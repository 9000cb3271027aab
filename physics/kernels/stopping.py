"""Steps that end at a limit or a contact, for methods of higher order."""

from __future__ import annotations

from ._jit import jit
from .constrained import constrain_velocities, project
from .constraint_layout import (
    CONSTRAINT_SENSE,
    EQUALITY,
    ROW_FORCE,
    SYSTEM_IMPULSE,
    SYSTEM_KINDS,
    SYSTEM_ROWS,
)
from .motion import finish_held
from .response import held_efforts
from .spatial import Array


@jit
def unilateral(constraints: Array) -> bool:
    """Whether a constraint is an inequality."""
    found = False
    for k in range(constraints[0].shape[0]):
        found |= constraints[0][k, CONSTRAINT_SENSE] != EQUALITY
    return found


@jit
def stop_within(
    arrays: Array,
    constraints: Array,
    contacts: Array,
    motion: Array,
    found: tuple[int, int],
    t: float,
    dt: float,
    last: tuple[Array, Array],
    trial: Array,
    q: Array,
    qd: Array,
    effort: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> int:
    """Impulses of limits and contacts at the step's beginning, last = (q, qd), just evaluated, that make the velocities
    at its end, trial without impulses, lead nowhere beyond; returns how many rows there are, 0 where none acts.

    Where one acts, the last velocities lead all the way, as with symplectic Euler: what touches rests, and the step is
    of first order.
    """
    last_q, last_qd = last
    count, _ = constrain_velocities(
        arrays, constraints, contacts, dt, 0.0, last_q, trial, last_qd, system, memory, spaces
    )
    acting, kinds, impulse = False, system[SYSTEM_KINDS], system[SYSTEM_IMPULSE]
    for k in range(count):
        acting |= kinds[k] != EQUALITY and impulse[k] != 0.0
    if not acting:
        return 0
    for d in range(q.shape[0]):
        qd[d] = trial[d]
        q[d] = last_q[d] + dt * qd[d]
    finish_held(motion, t, dt, q, qd)
    for k in range(count):  # beside the forces that equalities have in the trial
        system[SYSTEM_ROWS][k, ROW_FORCE] += impulse[k] / dt
    if found[0] > 0:
        project(arrays, constraints, found, 0.0, q, qd, system, spaces)
    held_efforts(count, spaces[1], system, effort)
    return count
