"""Keys of f-curves as arrays: written at once, removed, restored exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Action, FCurve

from ..blender import compat
from .slopes import Slopes

_KEYFRAME = bpy.types.Keyframe.bl_rna.properties
_BEZIER = _KEYFRAME["interpolation"].enum_items["BEZIER"].value
_LINEAR = _KEYFRAME["interpolation"].enum_items["LINEAR"].value
_FREE = _KEYFRAME["handle_left_type"].enum_items["FREE"].value
#: attributes of a key: name, numbers per key, and Blender's own type: arrays of another type are written key by key,
#: which takes seven times as long
_ATTRIBUTES = (
    ("interpolation", 1, np.uint8),
    ("easing", 1, np.uint8),
    ("type", 1, np.uint8),
    ("handle_left_type", 1, np.uint8),
    ("handle_right_type", 1, np.uint8),
    ("amplitude", 1, np.float32),
    ("back", 1, np.float32),
    ("period", 1, np.float32),
    ("select_control_point", 1, bool),
    ("select_left_handle", 1, bool),
    ("select_right_handle", 1, bool),
    ("co", 2, np.float32),
    ("handle_left", 2, np.float32),
    ("handle_right", 2, np.float32),
)
Keys = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class KeyedPath:
    """Keys of one data path: positions (K,) in frames, values (K, c), and slopes per frame; None: straight lines.

    `group` is the curves' group in the Graph Editor.
    """

    path: str
    group: str
    positions: np.ndarray
    values: np.ndarray
    slopes: Slopes | None


def fill(curves: Sequence[Any], positions: np.ndarray, values: np.ndarray, slopes: Slopes | None) -> None:
    """Give the curves (c) of a path exactly these keys at increasing positions (n,), with values (n, c) and slopes or
    straight lines. The caller must update one curve of the action afterwards, which tags the action. The keys are
    sorted, and free handles keep their places.
    """
    for curve, made in zip(curves, _made(positions, values, slopes), strict=True):
        _give(curve, made)


def _give(curve: FCurve, made: Keys) -> None:
    points, count = curve.keyframe_points, len(made["co"])
    if len(points) > count:
        points.clear()
    fresh = not points  # new keys are Bezier
    points.add(count - len(points))
    for name, numbers in made.items():
        if not (fresh and name == "interpolation" and numbers[0] == _BEZIER):
            points.foreach_set(name, numbers.ravel())


def _made(positions: np.ndarray, values: np.ndarray, slopes: Slopes | None) -> list[Keys]:
    """Keys of each column of the values (n, c)."""
    count = len(positions)
    interpolation = _LINEAR if slopes is None else _BEZIER
    slopes = Slopes.smooth(np.zeros_like(values)) if slopes is None else slopes
    right, left = values.copy(), values.copy()
    after, before = np.zeros(count), np.zeros(count)
    if count > 1:
        steps, sides = positions[1:] - positions[:-1], slopes.sides()
        after[:-1], before[1:] = slopes.handles(steps)
        after[-1], before[0] = steps[-1] / 3.0, steps[0] / 3.0
        right += after[:, None] * np.concatenate([sides[:, 0], slopes.rates[-1:]])
        left -= before[:, None] * np.concatenate([slopes.rates[:1], sides[:, 1]])
    kinds = {
        name: np.full(count, kind, dtype=np.uint8)
        for name, kind in (
            ("interpolation", interpolation),
            ("handle_left_type", _FREE),
            ("handle_right_type", _FREE),
        )
    }
    places = {
        "co": _pairs(positions, values),
        "handle_left": _pairs(positions - before, left),
        "handle_right": _pairs(positions + after, right),
    }
    return [
        kinds | {name: numbers[column] for name, numbers in places.items()}
        for column in range(values.shape[1])
    ]


def _pairs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Positions (n,) with each column of values (n, c): (c, n, 2)."""
    pairs = np.empty((y.shape[1], len(x), 2), dtype=np.float32)
    pairs[..., 0], pairs[..., 1] = x, y.T
    return pairs


def taken(curve: FCurve) -> Keys:
    """All keys of a curve with all their attributes, in arrays with one row for each key."""
    points = curve.keyframe_points
    found = {}
    for name, width, kind in _ATTRIBUTES:
        numbers = np.empty(width * len(points), dtype=kind)
        points.foreach_get(name, numbers)
        found[name] = numbers.reshape(len(points), width) if width > 1 else numbers
    return found


def equal(one: FCurve, other: FCurve) -> bool:
    """Whether two curves have the same keys, apart from selection."""
    if len(one.keyframe_points) != len(other.keyframe_points):
        return False
    ours, theirs = taken(one), taken(other)
    return all(np.array_equal(ours[name], theirs[name]) for name in ours if not name.startswith("select_"))


def put(curve: FCurve, keys: Keys) -> None:
    """Give a curve exactly the keys that `taken` returned."""
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys["co"]))
    for name, _, _ in _ATTRIBUTES:
        points.foreach_set(name, np.ascontiguousarray(keys[name]).ravel())
    curve.update()


def times(keys: Keys) -> np.ndarray:
    """Positions (n,) of keys."""
    return keys["co"][:, 0]


def chosen(keys: Keys, which: np.ndarray) -> Keys:
    """The keys that a mask (n,) selects."""
    return {name: numbers[which] for name, numbers in keys.items()}


def joined(*parts: Keys) -> Keys:
    """Keys of several arrays, sorted by time."""
    together = {name: np.concatenate([part[name] for part in parts]) for name, _, _ in _ATTRIBUTES}
    return chosen(together, np.argsort(times(together), kind="stable"))


def fill_range(
    curves: Sequence[Any], positions: np.ndarray, values: np.ndarray, slopes: Slopes | None
) -> None:
    """Replace the keys of the curves (c) of a path from the first to the last position by keys at increasing positions
    (n,); see `fill`.

    Keys outside are kept. Neighbours of the range keep the shape beyond them: their handles no longer move
    automatically.
    """
    for curve, made in zip(curves, _made(positions, values, slopes), strict=True):
        old = taken(curve)
        before, after = times(old) < np.float32(positions[0]), times(old) > np.float32(positions[-1])
        curve.keyframe_points.clear()
        if not (before.any() or after.any()):
            _give(curve, made)
            continue
        for side in (before, after):
            near = np.flatnonzero(side)[-1:] if side is before else np.flatnonzero(side)[:1]
            old["handle_left_type"][near] = old["handle_right_type"][near] = _FREE
        curve.keyframe_points.add(1)  # a key with Blender's defaults
        new = {name: np.repeat(numbers, len(positions), axis=0) for name, numbers in taken(curve).items()}
        put(curve, joined(chosen(old, before), new | made, chosen(old, after)))


def extent(action: Action) -> tuple[float, float]:
    """First and last frame at which the NLA plays an action in use, without extrapolation.

    It spans the keys of all slots, whatever manual frame range is set. The last modifier of a curve extends it, muted
    or not: cycles on one side or both, other modifiers on both.
    """
    low, high = (float(end) for end in action.curve_frame_range)
    for curve in compat.all_curves(action):
        last = curve.modifiers[-1] if len(curve.modifiers) else None
        if last is None:
            continue
        if last.type == "LIMITS":
            low = min(low, last.min_x) if last.use_min_x else low
            high = max(high, last.max_x) if last.use_max_x else high
        else:
            low = low if last.type == "CYCLES" and last.mode_before == "NONE" else -np.inf
            high = high if last.type == "CYCLES" and last.mode_after == "NONE" else np.inf
    return low, high
