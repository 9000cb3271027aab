"""Keys of f-curves as arrays, by the names of Blender's attributes; `blender.compat` gives them to curves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import bpy
import numpy as np

from ..blender.compat import Keys
from .slopes import Slopes

_KEYFRAME = bpy.types.Keyframe.bl_rna.properties
_BEZIER = _KEYFRAME["interpolation"].enum_items["BEZIER"].value
_LINEAR = _KEYFRAME["interpolation"].enum_items["LINEAR"].value
#: paths whose keys are made at once
TOGETHER = 64
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
    return _made([KeyedPath("", "", positions, values, slopes)])


def of_paths(paths: Sequence[KeyedPath]) -> Iterator[list[Keys]]:
    """Keys of each column of each path; of many at the same positions together."""
    for begin in range(0, len(paths), TOGETHER):
        some = paths[begin : begin + TOGETHER]
        alike = all(
            np.array_equal(each.positions, some[0].positions)
            and (each.slopes is None) == (some[0].slopes is None)
            for each in some
        )
        for group in [some] if alike else [[each] for each in some]:
            keys = iter(_made(group))
            yield from (list(islice(keys, each.values.shape[1])) for each in group)


def _made(paths: Sequence[KeyedPath]) -> list[Keys]:
    """Keys of each column of all paths, which have the same increasing positions (n,)."""
    positions, values = paths[0].positions, np.concatenate([each.values for each in paths], axis=1)
    count = len(positions)
    interpolation = _LINEAR if paths[0].slopes is None else _BEZIER
    slopes = [each.slopes or Slopes.smooth(np.zeros_like(each.values)) for each in paths]
    right, left = values.copy(), values.copy()
    after, before = np.zeros((2, *values.shape))
    if count > 1:
        steps, widths = positions[1:] - positions[:-1], [each.values.shape[1] for each in paths]
        lengths = np.array([each.handles(steps) for each in slopes]).repeat(widths, axis=0)
        after[:-1], before[1:] = lengths[:, 0].T, lengths[:, 1].T
        after[-1], before[0] = steps[-1] / 3.0, steps[0] / 3.0
        sides = np.concatenate([each.sides() for each in slopes], axis=2)
        rates = np.concatenate([each.rates for each in slopes], axis=1)
        right += after * np.concatenate([sides[:, 0], rates[-1:]])
        left -= before * np.concatenate([rates[:1], sides[:, 1]])
    kinds = {
        name: np.full(count, kind, dtype=np.uint8)
        for name, kind in (
            ("interpolation", interpolation),
            ("handle_left_type", FREE),
            ("handle_right_type", FREE),
        )
    }
    places = {
        "co": _pairs(positions[:, None], values),
        "handle_left": _pairs(positions[:, None] - before, left),
        "handle_right": _pairs(positions[:, None] + after, right),
    }
    return [
        kinds | {name: numbers[column] for name, numbers in places.items()}
        for column in range(values.shape[1])
    ]


def _pairs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Positions (n, c) or (n, 1) with each column of values (n, c): (c, n, 2)."""
    pairs = np.empty((y.shape[1], len(x), 2), dtype=np.float32)
    pairs[..., 0], pairs[..., 1] = x.T, y.T
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
