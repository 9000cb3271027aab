"""Where between two frames something leaps: what is seen there is gone through more and more narrowly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

Shown = Callable[[np.ndarray], np.ndarray]  # what is shown at frames (k,), (k, ...)
Apart = Callable[[Any, Any], float]

# A look before a frame [frames]: what is stepped there has not leapt yet.
LOOK = 2.0**-8
# What does more than this share of its way at once leaps.
MOST = 0.5


def middle(low: float, high: float) -> float:
    """The frame between two, as Blender has it in single precision."""
    return float(np.float32(0.5 * (low + high)))


def narrowed(
    shown: Shown,
    apart: Apart,
    ends: tuple[float, float],
    values: tuple[Any, Any],
    least: float,
    narrow: float,
) -> tuple[float, Any, Any] | None:
    """The frame in a stretch between two, the second among them, up to which something has leapt, what it shows just
    before, and there; None where it goes bit by bit: within half the time by half as much or less.

    Args:
        shown: at any frames. apart: of two values. values: at the ends of the stretch. least: that is a leap.
        narrow: how far apart [frames] the last two looks may be; 0: next to each other in single precision.
    """
    begin, end = ends
    at = np.array([begin, middle(begin, end - LOOK), end - LOOK, end])
    known = [values[0], *shown(at[1:-1]), values[1]]
    ways = [apart(*pair) for pair in pairwise(known)]
    k = int(np.argmax(ways))
    low, high, before, there = float(at[k]), float(at[k + 1]), known[k], known[k + 1]
    least = max(least, MOST * ways[k])
    while apart(before, there) > least:
        between = middle(low, high)
        if high - low <= narrow or between in (low, high):
            return high, before, there
        (found,) = shown(np.array([between]))
        if apart(before, found) > apart(found, there):
            high, there = between, found
        else:
            low, before = between, found
    return None
