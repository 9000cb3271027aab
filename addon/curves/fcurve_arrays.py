"""Keys of f-curves as arrays, by the names of Blender's attributes; `blender.compat` gives them to curves."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..blender.compat import Keys
from .slopes import Slopes

_KEYFRAME = bpy.types.Keyframe.bl_rna.properties
_BEZIER = _KEYFRAME["interpolation"].enum_items["BEZIER"].value
_LINEAR = _KEYFRAME["interpolation"].enum_items["LINEAR"].value
FREE = _KEYFRAME["handle_left_type"].enum_items["FREE"].value


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


def made(positions: np.ndarray, values: np.ndarray, slopes: Slopes | None) -> list[Keys]:
    """Keys of each column of values (n, c) at increasing positions (n,), with slopes or straight lines."""
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
            ("handle_left_type", FREE),
            ("handle_right_type", FREE),
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


def times(keys: Keys) -> np.ndarray:
    """Positions (n,) of keys."""
    return keys["co"][:, 0]


def chosen(keys: Keys, which: np.ndarray) -> Keys:
    """The keys that a mask (n,) selects."""
    return {name: numbers[which] for name, numbers in keys.items()}


def joined(*parts: Keys) -> Keys:
    """Keys of several arrays, sorted by time."""
    together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return chosen(together, np.argsort(times(together), kind="stable"))
