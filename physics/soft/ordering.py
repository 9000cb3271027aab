"""Order in which free nodes are eliminated, and which blocks of the factors this fills."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np

from .._typing import IntArray


def eliminated(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[IntArray, list[list[int]]]:
    """Nodes in order of least degree (Tinney & Walker 1967), and for each place in it the later places that it fills.

    pairs: neighbours. A node's neighbours become each other's; sets of them are the bits of whole numbers.
    """
    beside = [0] * count
    for i, j in pairs:
        beside[i] |= 1 << j
        beside[j] |= 1 << i
    heap = [(beside[i].bit_count(), i) for i in range(count)]
    heapq.heapify(heap)
    place = np.full(count, -1, dtype=np.int64)
    order, filled = np.empty(count, dtype=np.int64), []
    for k in range(count):
        degree, node = heapq.heappop(heap)
        while place[node] >= 0 or degree != beside[node].bit_count():
            degree, node = heapq.heappop(heap)
        place[node], order[k] = k, node
        rest, gone = beside[node], ~(1 << node)
        filled.append(list(bits(rest)))
        for other in filled[-1]:
            beside[other] = (beside[other] | rest) & gone & ~(1 << other)
            heapq.heappush(heap, (beside[other].bit_count(), other))
    return order, [sorted(int(place[other]) for other in others) for others in filled]


def bits(number: int) -> Iterator[int]:
    """Places of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
