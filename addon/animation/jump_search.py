"""Where between two frames something leaps: what is seen there is gone through more and more narrowly."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

Shown = Callable[[np.ndarray], np.ndarray]  # what is shown at frames (k,), (k, ...)
Apart = Callable[[Any, Any], float]

# Each zoom looks at so many parts of a stretch; the last parts are 2^-12 of it.
PARTS, ZOOMS = 4, 6
# What does more than this share of its way at once leaps.
MOST = 0.5


def narrowed(
    shown: Shown, apart: Apart, ends: tuple[float, float], least: float
) -> tuple[float, Any, Any] | None:
    """The frame in a stretch between two, the second among them, up to which something has leapt, what it shows just
    before, and there; None where it goes bit by bit: in smaller parts by half as much or less.

    Args:
        shown: at any frames. apart: of two values. least: that is a leap.
    """
    for _ in range(ZOOMS):
        at = np.linspace(*ends, PARTS + 1)
        known = shown(at)
        ways = [apart(*pair) for pair in pairwise(known)]
        k = int(np.argmax(ways))
        if ways[k] <= least:
            return None
        ends, least = (float(at[k]), float(at[k + 1])), max(least, MOST * ways[k])
    return ends[1], known[k], known[k + 1]
