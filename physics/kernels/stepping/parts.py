"""Steps in parts: what is met within a step is met near its instant, not where the step begins."""

from __future__ import annotations

from ..algebra.spatial import Array
from ..compiler.jit import inline, shared
from ..constraints.layout import KEPT, RESTS, ROW_FORCE, ROW_MEAN, SYSTEM_ROWS, WARM
from ..contact.layout import PAIR_RESTITUTION, PAIR_WIDTH
from ..layout import LIMIT_COUNT, LIMIT_RESTITUTION, LIMIT_ROWS, LIMIT_WIDTH
from .rollout import copy, reaches, record_samples

# A step in which something is met is cut down to one part of so many: that part alone is of first order.
PARTS = 32
# So many bounces in a step have parts of their own: what bounces more often comes to rest.
MOST_BOUNCES = 2


@shared
def bounces(data: Array, pairs: Array) -> bool:
    """Whether a model has limits or contacts with restitution."""
    found = False
    for k in range(int(data[LIMIT_COUNT])):
        found |= data[int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH + LIMIT_RESTITUTION] > 0.0
    for k in range(int(pairs[0])):
        found |= pairs[1 + k * PAIR_WIDTH + PAIR_RESTITUTION] > 0.0
    return found


@shared
def part_before(until: float, span: float, size: int) -> int:
    """How many parts of a step come before a bounce that was found so far into a stretch of `size` parts which takes
    `span`; at least one, which is where it has to be if it is in the first.
    """
    return max(min(int(until / span * size), size - 1), 1)


@inline
def write(
    log: Array,
    t: float,
    dt: float,
    whole: float,
    way: int,
    last_q: Array,
    last_qd: Array,
    q: Array,
    qd: Array,
    dof: Array,
) -> None:
    """Write the samples that fall into a part of a step that takes `whole`, from t on and dt long; log is (counters,
    samples, records of q and qd), way as `record_samples` has it.
    """
    counters, samples, record_q, record_qd = log
    until = reaches(t, dt, whole)
    if counters[1] < samples.shape[0] and samples[counters[1]] <= until:
        record_samples(t, dt, until, samples, counters, last_q, last_qd, q, qd, record_q, record_qd, way, dof)


@shared
def keep(memory: Array, back: bool) -> None:
    """Keep what the last step left of limits and contacts, or put it back."""
    width = KEPT - WARM
    for k in range(memory.shape[0]):
        for j in range(WARM, KEPT):
            if back:
                memory[k, j] = memory[k, j + width]
            else:
                memory[k, j + width] = memory[k, j]


@shared
def met(memory: Array) -> bool:
    """Whether a limit or a contact acts that did not when its state was kept."""
    found = False
    before = KEPT - WARM
    for k in range(memory.shape[0]):
        acted = memory[k, WARM + before] != 0.0 or memory[k, RESTS + before] != 0.0
        found |= not acted and (memory[k, WARM] != 0.0 or memory[k, RESTS] != 0.0)
    return found


@shared
def add_share(share: float, first: bool, effort: Array, mean: Array, system: Array) -> None:
    """Add to the mean forces over a step those of a part of it."""
    rows = system[SYSTEM_ROWS]
    for k in range(rows.shape[0]):
        rows[k, ROW_MEAN] = share * rows[k, ROW_FORCE] + (0.0 if first else rows[k, ROW_MEAN])
    for d in range(effort.shape[0]):
        mean[d] = share * effort[d] + (0.0 if first else mean[d])


@shared
def take_means(effort: Array, mean: Array, system: Array) -> None:
    """Forces of a step that was cut are the means over its parts."""
    copy(mean, effort)
    for k in range(system[SYSTEM_ROWS].shape[0]):
        system[SYSTEM_ROWS][k, ROW_FORCE] = system[SYSTEM_ROWS][k, ROW_MEAN]
