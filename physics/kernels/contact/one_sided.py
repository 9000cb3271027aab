"""Limits and contacts in a step with constraints; compiled only for models with more than equalities."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import for_one_sided
from ..constraints.response import respond
from . import layout as contact
from .row_impulses import solve_islands
from .rows import add_contacts, find_contacts, note_overlap
from .unilateral import add_limits


@for_one_sided(0)
def find_touching(arrays: Array, contacts: Array, dt: float, work: Array, statistics: Array) -> int:
    """`find_contacts`, with their overlap noted."""
    if len(contacts) <= contact.ONE_SIDED:
        return 0
    touching = find_contacts(arrays, contacts, dt, work)
    note_overlap(touching, contacts[contact.FOUND], statistics)
    return touching


@for_one_sided(0)
def add_violated(
    arrays: Array,
    contacts: Array,
    touching: int,
    known: int,
    dt: float,
    course: tuple[float, float],
    states: tuple[Array, Array, Array],
    system: Array,
    memory: Array,
    spaces: Array,
) -> int:
    """Append the limits and contacts that the step would violate to the known rows; returns how many rows."""
    if len(contacts) <= contact.ONE_SIDED:
        return 0
    count, (q, qd, last_qd) = known, states
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    if data[at.LIMIT_COUNT] > 0.0:
        count = add_limits(body_int, data, count, dt, course, q, qd, last_qd, system, memory)
    if touching > 0:
        count = add_contacts(
            arrays, contacts, touching, count, dt, course, qd, last_qd, system, memory, spaces
        )
    return count - known


@for_one_sided(0.0)
def solve_added(
    arrays: Array, contacts: Array, known: int, own: int, count: int, system: Array, spaces: Array
) -> float:
    """Impulses of the islands with rows that are not equalities; own: the rows of constraints. Returns the residual."""
    if len(contacts) <= contact.ONE_SIDED:
        return 0.0
    work, dof, flags = spaces
    respond(arrays, max(known, own), count, system, spaces)
    residual: float = solve_islands(known, count, arrays[at.BODY_INT], work, dof, system, flags)
    return residual
