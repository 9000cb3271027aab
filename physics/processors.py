"""Processors available to this process, and work on one in short parts."""

import os
import time
from collections.abc import Iterator

# Ctrl-C waits for a call of a kernel to end. A part of many calls' work lasts about SLICE [s], and has at most GROWTH
# times the items of the last one.
SLICE, FIRST, GROWTH = 0.1, 16, 64


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slices(count: int) -> Iterator[slice]:
    """Parts of `count` items in order, each short enough for an interrupt after it: the caller works on each."""
    first, size = 0, FIRST
    while first < count:
        began = time.perf_counter()
        yield slice(first, min(first + size, count))
        first += size
        spent = max(time.perf_counter() - began, 1e-6)
        size = int(min(max(size * SLICE / spent, 1), GROWTH * size))
