"""Fewer keys for a motion: every n-th sample, and of those only what a tolerance asks for. numpy only, float64.

Curves are cubics between keys that keep the values and slopes of the full motion there (Bezier form), or straight
lines. Errors are measured at every sample and at places between them: half-way, and where a curve does more than two
slopes say, at more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import slopes as key_slopes
from .slopes import Slopes

#: steps that find where a Bezier curve is at a time: after these Newton's are to round-off
BISECTIONS, NEWTON = 8, 5
#: parts from one sample to the next between which errors are measured, and where hits are among these
PARTS, MORE_PARTS = 2, 8
Error = Callable[[np.ndarray], np.ndarray]


def thinned(positions: np.ndarray, every: int) -> np.ndarray:
    """Indices of the positions (F,), in frames, at every n-th frame; the last is always among them.

    With n = 1 it is all of them, those between whole frames, too.
    """
    count = len(positions)
    if every <= 1:
        return np.arange(count)
    far = (positions - positions[0]) / every
    chosen = np.flatnonzero(np.abs(far - np.round(far)) < 1e-6)
    return chosen if chosen[-1] == count - 1 else np.append(chosen, count - 1)


def slopes_of(positions: np.ndarray, paths: list[np.ndarray]) -> list[Slopes]:
    """Slopes of the values (F, c) of paths by which one body moves, at rising positions (F,): of fourth order where
    these are even, with corners.
    """
    if len(positions) < 2:
        return [Slopes.smooth(np.zeros_like(values)) for values in paths]
    steps = np.diff(positions)
    if np.ptp(steps) > 1e-9 * steps[0]:
        return [Slopes.smooth(np.gradient(values, positions, axis=0)) for values in paths]
    return [Slopes(each.rates / steps[0], each.meet) for each in key_slopes.of_body(paths)]


def cubic(positions: np.ndarray, values: np.ndarray, slopes: Slopes, wanted: np.ndarray) -> np.ndarray:
    """Values (S, c) at wanted positions (S,) of the curves through values (K, c) with slopes at positions (K,)."""
    left, step, x = _places(positions, wanted)
    meets, sides = slopes.meets()[left], slopes.sides()
    corner = ~np.isnan(meets)
    out, into = np.full((2, len(left)), 1.0 / 3.0)
    if corner.any():
        out[corner], into[corner] = meets[corner], 1.0 - meets[corner]
        x[corner] = parameter(meets[corner], x[corner])
    rest = 1.0 - x
    # products, for NumPy takes ten times as long for a third power
    leave, come = 3.0 * x * rest * rest, 3.0 * x * x * rest
    return (
        (rest * rest * rest + leave)[:, None] * values[left]
        + (x * x * x + come)[:, None] * values[left + 1]
        + (leave * out * step)[:, None] * sides[left, 0]
        - (come * into * step)[:, None] * sides[left, 1]
    )


def parameter(meet: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Parameters (S,) of Bezier curves whose handles meet at a share (S,) of their way, at shares (S,) of it."""
    low, high = np.zeros_like(share), np.ones_like(share)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        beyond = _share(meet, middle) > share
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    found = 0.5 * (low + high)
    for _ in range(NEWTON):  # it rises everywhere, but for the ends of those that meet there
        slope = 3.0 * (meet * (1.0 - 2.0 * found) + found * found)
        found = np.clip(found - (_share(meet, found) - share) / np.maximum(slope, 1e-12), low, high)
    return found


def _share(meet: np.ndarray, at: np.ndarray) -> np.ndarray:
    return at * (3.0 * (1.0 - at) * meet + at * at)


def straight(positions: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Values (S, c) at wanted positions (S,) on straight lines between values (K, c) at positions (K,)."""
    left, _, x = _places(positions, wanted)
    return (1.0 - x)[:, None] * values[left] + x[:, None] * values[left + 1]


def _places(positions: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The key before each wanted position, the step to the next (S,), and how far along it in 0 to 1 (S,)."""
    left = np.clip(np.searchsorted(positions, wanted, side="right") - 1, 0, len(positions) - 2)
    step = positions[left + 1] - positions[left]
    return left, step, (wanted - positions[left]) / step


def places_of(slopes: Slopes) -> int:
    """In how many parts errors cut the way from each sample to the next."""
    return MORE_PARTS if (~np.isnan(slopes.meets())).any() or slopes.fits is not None else PARTS


def samples(positions: np.ndarray, parts: int = PARTS) -> np.ndarray:
    """Where errors are measured: the positions (F,) and, in so many parts, those between them (parts (F - 1) + 1,)."""
    inside = positions[:-1, None] + np.diff(positions)[:, None] * (np.arange(parts) / parts)
    return np.append(inside, positions[-1])


def reduced(candidates: np.ndarray, error: Error, tolerance: float) -> np.ndarray:
    """The fewest of the candidates (K,) that halving finds enough: no sample farther off than the tolerance.

    Args:
        candidates: indices of samples, the first and the last among them.
        error: errors (parts (F - 1) + 1,) at `samples` of the curve with the keys of given indices.

    Where a stretch has no candidate left inside, its error stays what it is.
    """
    last_row = int(candidates[-1])
    free = np.zeros(last_row + 1, dtype=bool)
    free[candidates[1:-1]] = True
    keys = candidates[[0, -1]]
    while True:
        found = error(keys)
        parts = (len(found) - 1) // last_row
        worst = np.maximum.reduceat(found[:-1], parts * keys[:-1])
        added = []
        for k in np.flatnonzero(worst > tolerance):
            first, last = keys[k], keys[k + 1]
            inside = np.flatnonzero(free[first + 1 : last]) + first + 1
            if len(inside):
                far = first + int(np.argmax(found[parts * first : parts * last])) / parts
                added.append(inside[np.argmin(np.abs(inside - far))])
        if not added:
            return keys
        keys = np.union1d(keys, added)


def rotation_errors(mode: str, exact: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Angles [rad] (S,) between rotations that are given as channels (S, 3 or 4) of a rotation mode.

    For Euler angles it is the sum of the angles' errors, which the angle between the rotations never exceeds.
    """
    if mode not in {"QUATERNION", "AXIS_ANGLE"}:
        return np.abs(found - exact).sum(axis=1)
    if mode == "AXIS_ANGLE":
        exact, found = _of_axis_angles(exact), _of_axis_angles(found)
    exact = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    chord = np.minimum(np.linalg.norm(found - exact, axis=1), np.linalg.norm(found + exact, axis=1))
    return 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))


def _of_axis_angles(channels: np.ndarray) -> np.ndarray:
    half = 0.5 * channels[:, :1]
    axes = channels[:, 1:] / np.maximum(np.linalg.norm(channels[:, 1:], axis=1, keepdims=True), 1e-12)
    return np.concatenate([np.cos(half), np.sin(half) * axes], axis=1)
