"""Reduces the keys of a motion to every n-th sample, and of those to the ones that a tolerance requires. numpy only,
float64.

Curves are cubics between keys with the values and slopes of the full motion there (Bezier form), or straight lines.
Errors are measured at every sample and between samples: half-way, and at more places if a curve has separate handles.
"""

from collections.abc import Callable, Sequence

import numpy as np

from . import slopes as key_slopes
from .slopes import Slopes

#: Newton steps for the parameter of a Bezier curve at a time: these reach round-off
BISECTIONS, NEWTON = 8, 5
#: parts between samples at which errors are measured, and with impacts
PARTS, MORE_PARTS = 2, 8
Error = Callable[[np.ndarray], np.ndarray]


def thinned(positions: np.ndarray, every: int) -> np.ndarray:
    """Indices of the positions (F,), in frames, at every n-th frame; the last is always included.

    With n = 1 all are included, also those between whole frames.
    """
    count = len(positions)
    if every <= 1:
        return np.arange(count)
    far = (positions - positions[0]) / every
    chosen = np.flatnonzero(np.abs(far - np.round(far)) < 1e-6)
    return chosen if chosen[-1] == count - 1 else np.append(chosen, count - 1)


def slopes_of(positions: np.ndarray, bodies: Sequence[Sequence[np.ndarray]]) -> list[list[Slopes]]:
    """Slopes of the paths of bodies with values (F, c) at increasing positions (F,), with corners; if even, of fourth
    order.
    """
    if len(positions) < 2:
        return [[Slopes.smooth(np.zeros_like(values)) for values in paths] for paths in bodies]
    steps = np.diff(positions)
    if np.ptp(steps) > 1e-9 * steps[0]:
        return [
            [Slopes.smooth(np.gradient(values, positions, axis=0)) for values in paths] for paths in bodies
        ]
    made = key_slopes.of_bodies(bodies)
    return [[Slopes(each.rates / steps[0], each.meet) for each in paths] for paths in made]


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
    # written as products: NumPy takes ten times as long for a third power
    leave, come = 3.0 * x * rest * rest, 3.0 * x * x * rest
    return (
        (rest * rest * rest + leave)[:, None] * values[left]
        + (x * x * x + come)[:, None] * values[left + 1]
        + (leave * out * step)[:, None] * sides[left, 0]
        - (come * into * step)[:, None] * sides[left, 1]
    )


def parameter(meet: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Parameters (S,) at shares (S,) of the way of Bezier curves whose handles meet at the shares `meet` (S,)."""
    low, high = np.zeros_like(share), np.ones_like(share)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        beyond = _share(meet, middle) > share
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    found = 0.5 * (low + high)
    for _ in range(NEWTON):  # it increases, except at ends where handles meet
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
    """The key before each wanted position, the step to the next (S,), and the share of the way there (S,)."""
    left = np.clip(np.searchsorted(positions, wanted, side="right") - 1, 0, len(positions) - 2)
    step = positions[left + 1] - positions[left]
    return left, step, (wanted - positions[left]) / step


def places_of(slopes: Slopes) -> int:
    """Number of parts between samples at which errors are measured."""
    return MORE_PARTS if (~np.isnan(slopes.meets())).any() or slopes.fits is not None else PARTS


def samples(positions: np.ndarray, parts: int = PARTS) -> np.ndarray:
    """Positions at which errors are measured: (F,), and those between them (parts (F - 1) + 1,)."""
    inside = positions[:-1, None] + np.diff(positions)[:, None] * (np.arange(parts) / parts)
    return np.append(inside, positions[-1])


def reduced(candidates: np.ndarray, error: Error, tolerance: float) -> np.ndarray:
    """The fewest candidates (K,), found by bisection, that keep all errors within the tolerance.

    Args:
        candidates: indices of samples, including the first and the last.
        error: errors (parts (F - 1) + 1,) at `samples` of the curve with the keys of given indices.

    Between neighbouring candidates the error cannot be reduced.
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
    """Angles [rad] (S,) between rotations given as channels (S, 3 or 4) of a rotation mode.

    For Euler angles the sum of the angles' errors, which bounds the angle between the rotations.
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
