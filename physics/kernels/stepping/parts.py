"""Steps in parts, so that an impact is near its instant instead of the step's beginning."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import for_one_sided, inline, shared
from ..constraints import layout as con
from ..contact import layout as contact
from .bundles import Log, State
from .rollout import copy, reaches, record_samples

# A step with an impact is cut down to one part of so many: only that part is of first order.
PARTS = 32
# So many bounces in a step get parts of their own; further ones come to rest.
MOST_BOUNCES = 2


@for_one_sided(False)
def bounces(arrays: Array, contacts: Array) -> bool:
    """Whether a model has limits, contacts or colliders with restitution."""
    if len(contacts) <= contact.ONE_SIDED:
        return False
    data, pairs, size = arrays[at.MODEL_DATA], contacts[contact.PAIRS], contacts[contact.SIZE]
    found = bool(size[contact.BOUNCE] > 0.0)
    for k in range(int(data[at.LIMIT_COUNT])):
        found |= data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_RESTITUTION] > 0.0
    for k in range(int(pairs[contact.PAIR_COUNT])):
        found |= pairs[1 + k * contact.PAIR_WIDTH + contact.PAIR_RESTITUTION] > 0.0
    return found


@shared
def part_before(until: float, span: float, size: int) -> int:
    """How many parts of a step precede a bounce at `until` in a stretch of `size` parts that takes `span`; at least
    one.
    """
    return max(min(int(until / span * size), size - 1), 1)


@inline
def write(log: Log, t: float, dt: float, whole: float, way: int, last: State, now: State, dof: Array) -> None:
    """Write the samples in a part of a step that takes `whole`, from t on and dt long; way as in `record_samples`."""
    counters, samples, _, _ = log
    until = reaches(t, dt, whole)
    if counters[at.WRITTEN] < samples.shape[0] and samples[counters[at.WRITTEN]] <= until:
        record_samples(t, dt, until, log, last, now, way, dof)


@shared
def keep(memory: Array, back: bool) -> None:
    """Save the memory of limits and contacts from the last step, or restore it."""
    width = con.KEPT - con.WARM
    for k in range(memory.shape[0]):
        for j in range(con.WARM, con.KEPT):
            if back:
                memory[k, j] = memory[k, j + width]
            else:
                memory[k, j + width] = memory[k, j]


@shared
def met(memory: Array) -> bool:
    """Whether a limit or a contact is active that was not when its memory was saved."""
    found = False
    before = con.KEPT - con.WARM
    for k in range(memory.shape[0]):
        acted = memory[k, con.WARM + before] != 0.0 or memory[k, con.RESTS + before] != 0.0
        found |= not acted and (memory[k, con.WARM] != 0.0 or memory[k, con.RESTS] != 0.0)
    return found


@shared
def add_share(share: float, first: bool, effort: Array, mean: Array, system: Array) -> None:
    """Add the forces of a part of a step to the means over it."""
    rows = system[con.SYSTEM_ROWS]
    for k in range(rows.shape[0]):
        rows[k, con.ROW_MEAN] = share * rows[k, con.ROW_FORCE] + (0.0 if first else rows[k, con.ROW_MEAN])
    for d in range(effort.shape[0]):
        mean[d] = share * effort[d] + (0.0 if first else mean[d])


@shared
def take_means(effort: Array, mean: Array, system: Array) -> None:
    """Replace the forces of a split step by the means over its parts."""
    copy(mean, effort)
    for k in range(system[con.SYSTEM_ROWS].shape[0]):
        system[con.SYSTEM_ROWS][k, con.ROW_FORCE] = system[con.SYSTEM_ROWS][k, con.ROW_MEAN]
