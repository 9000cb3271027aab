"""Euler angles over a surface: the sequence farthest from gimbal lock, and unwrapping."""

from itertools import product

import numpy as np

from .._typing import FloatArray, IntArray
from ..joints.euler_angles import AXES
from .surface_graph import levels, neighbour_graph, spanning_tree

# of equally good sequences the first is taken: three different axes before two, x before y before z
SEQUENCES = sorted(
    ("".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]), key=lambda s: (s[0] == s[2], s)
)
# a margin must be better by this for another sequence
WORTHWHILE = 1e-6


def gimbal_margin(sequence: str, rotations: FloatArray) -> float:
    """Distance of the middle angle of rotations (N, 3, 3) from gimbal lock: least |cos| (|sin| if first axis = third).

    Both are read from the matrix entry that contains the middle angle alone.
    """
    alone = rotations[:, AXES[sequence[0]], AXES[sequence[2]]]
    return float(np.sqrt(max(0.0, 1.0 - float((alone**2).max()))))


def best_sequence(rotations: FloatArray) -> str:
    """The sequence with the largest gimbal margin for these rotations."""
    best, most = SEQUENCES[0], -1.0
    for sequence in SEQUENCES:
        margin = gimbal_margin(sequence, rotations)
        if margin > most + WORTHWHILE:
            best, most = sequence, margin
    return best


def unwrapped(
    angles: FloatArray, places: FloatArray, periodic: tuple[bool, ...]
) -> tuple[FloatArray, FloatArray]:
    """Angles (N, 3) plus whole turns so that neighbours agree, and the turns per period (n, 3) [rad].

    Places (N, n), as shares of the range, determine neighbours. The turns of a closed direction are those that most
    pairs across its seam have.
    """
    graph = neighbour_graph(places)
    order, parents = spanning_tree(graph)
    result = angles.copy()
    for members in levels(order, parents):
        rise = angles_between(result[parents[members]], angles[members])
        result[members] = result[parents[members]] + rise
    winding = np.zeros((len(periodic), 3))
    for i, closed in enumerate(periodic):
        if closed:
            winding[i] = _winding(result, places, i)
    return result, winding


def angles_between(first: FloatArray, second: FloatArray) -> FloatArray:
    """second - first plus whole turns, within half a turn of 0."""
    difference = second - first
    return difference - 2.0 * np.pi * np.round(difference / (2.0 * np.pi))


def _winding(angles: FloatArray, places: FloatArray, direction: int) -> FloatArray:
    """Whole turns of unwrapped angles (N, 3) along one period of a direction.

    Each pose near one end of the period is compared with the nearest one near the other end.
    """
    from scipy.spatial import cKDTree

    reach = 0.25
    late = np.nonzero(places[:, direction] > 1.0 - reach)[0]
    early: IntArray = np.nonzero(places[:, direction] < reach)[0]
    if not (len(late) and len(early)):
        return np.zeros(3)
    shifted = places[early].copy()
    shifted[:, direction] += 1.0
    gaps, nearest = cKDTree(shifted).query(places[late])
    turns = np.round((angles[late] - angles[early[nearest]]) / (2.0 * np.pi))
    close = gaps <= np.median(gaps)
    return 2.0 * np.pi * np.round(np.median(turns[close], axis=0))
