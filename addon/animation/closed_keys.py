"""Whether a row of keyed poses comes back to where it began: round a closed path, or to and fro on an open one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..blender import physics_access

#: poses nearer to each other than this share of how far the motion goes count as the same, and a way back so near to
#: the way there as the same path
SAME, SAME_PATH = 0.02, 0.1
#: a cycle has at least so many poses
LEAST = 4
#: where the first pose is not keyed again at the end, the step from the last to the first is at most so many times the
#: median step, and goes on in this direction (cosine)
STEP, DIRECTION = 1.5, 0.5
#: poses between two neighbours that a way back is compared with
BETWEEN = 4


Apart = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Cycle:
    """How poses repeat.

    Attributes:
        kind: "NONE", "CLOSED" (once round a closed path), "TO_AND_FRO" (back on the same path, if not all of it).
        count: how many of the first poses make one cycle, none of them twice; all where there is no cycle.
        one_way: which poses (m,) of a motion to and fro lie from one end of its path to the other; else all (n,).
    """

    kind: str
    count: int
    one_way: np.ndarray


def find(poses: np.ndarray) -> Cycle:
    """The cycle that poses (n, 4, 4) go through."""
    count = len(poses)
    none = Cycle("NONE", count, np.arange(count))
    if count <= LEAST:
        return none
    arguments = physics_access.part("fitting.arguments")
    metric = physics_access.part("geometry.twist_metric").TwistMetric.of_length(
        arguments.check_length_scale(None, poses)
    )
    lie = physics_access.physics().lie

    def apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return metric.norm(lie.log(lie.inverse(first) @ second))

    away = apart(poses[0], poses)
    reach = float(away.max())
    if not reach > 0.0:
        return none
    period, least = count, SAME * reach
    for trial in range(LEAST, count):
        # neighbours of keys in every frame are near to each other, too: a cycle goes all the way
        gap = apart(poses[:-trial], poses[trial:]).max()
        if gap < least and away[:trial].max() > (1.0 - SAME) * reach:
            period, least = trial, gap
        elif period < count:
            break
    if period == count and not _goes_on(poses, metric):
        way = _partly_retraced(poses, apart)
        return none if way is None else Cycle("TO_AND_FRO", count, way)
    cycle = poses[:period]
    way = _retraced(cycle, apart, reach)
    return Cycle("CLOSED", period, none.one_way) if way is None else Cycle("TO_AND_FRO", period, way)


def _goes_on(poses: np.ndarray, metric: physics_access.TwistMetric) -> bool:
    """Whether the step from the last pose to the first is one like its neighbours."""
    lie = physics_access.physics().lie
    twists = lie.log(lie.inverse(poses) @ np.roll(poses, -1, axis=0))
    steps = metric.norm(twists)
    if steps[-1] > STEP * np.median(steps[:-1]) or not (steps > 0.0).all():
        return False
    before, closing, after = (metric.scaled(twists[k]) / steps[k] for k in (-2, -1, 0))
    return bool(before @ closing > DIRECTION and closing @ after > DIRECTION)


def _retraced(cycle: np.ndarray, apart: Apart, reach: float) -> np.ndarray | None:
    """Which poses of a cycle are one way, if it goes back on the path that it came on; None where it does not."""
    # it may begin anywhere: what is farthest from there is an end of an open path
    turn = int(np.argmax(apart(cycle[0], cycle)))
    numbers = np.roll(np.arange(len(cycle)), -turn)
    cycle = cycle[numbers]
    farthest = int(np.argmax(apart(cycle[0], cycle)))
    there, back = cycle[: farthest + 1], cycle[farthest + 1 :]
    ways = numbers[: farthest + 1], np.append(numbers[farthest:], turn)
    # the one that does not go on from the last pose to the first, so that the curve begins where the keys do
    way = ways[0] if not len(back) or (np.diff(ways[0]) > 0).all() else ways[1]
    if not len(back) or len(there) < 2:
        return way
    return way if _farthest_off(there, back, apart) < SAME_PATH * reach else None


def _partly_retraced(poses: np.ndarray, apart: Apart) -> np.ndarray | None:
    """Which poses of a motion that does not come back to its beginning lie between the ends of its path, if all others
    go back on it; None where they do not, or there are none.
    """
    turn = int(np.argmax(apart(poses[0], poses)))
    from_turn = apart(poses[turn], poses)
    end = int(np.argmax(from_turn))
    first, last = sorted((turn, end))
    before, after = poses[:first], poses[last + 1 :]
    # what overshoots a little goes nowhere else
    least = SAME_PATH * float(from_turn[end])
    ways = [apart(poses[near], rest).max() for near, rest in ((first, before), (last, after)) if len(rest)]
    if not ways or max(ways) < least:
        return None
    along = from_turn[first : last + 1] if turn == first else from_turn[first : last + 1][::-1]
    if (np.maximum.accumulate(along) - along).max() > least:  # to and fro within: no way from end to end
        return None
    off = _farthest_off(poses[first : last + 1], np.concatenate([before, after]), apart)
    return np.arange(first, last + 1) if off < least else None


def _farthest_off(there: np.ndarray, back: np.ndarray, apart: Apart) -> float:
    """How far the farthest of the poses of a way back is off the path through those of the way there."""
    lie = physics_access.physics().lie
    twists = lie.log(lie.inverse(there[:-1]) @ there[1:])
    shares = np.linspace(0.0, 1.0, BETWEEN + 1)[:, None, None]
    path = (there[:-1] @ lie.exp(shares * twists)).reshape(-1, 4, 4)
    return max(float(apart(path, pose).min()) for pose in back)
