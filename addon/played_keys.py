"""Keys of all that may move something: of it, of what carries it, and of what constraints and drivers look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import compat
from .strip_curves import PlayedCurve


def of(items: Iterable[Any]) -> list[np.ndarray]:
    """Frames (k,) of the keys of each curve that is played on objects, or on anything that moves these."""
    found, seen, left = [], set(), [item for item in items if item is not None]
    while left:
        item = left.pop()
        if item.as_pointer() in seen:
            continue
        seen.add(item.as_pointer())
        found += list(_keys(item))
        left += [each for each in _looked_at(item) if each is not None]
    return found


def _keys(item: Any) -> Iterator[np.ndarray]:
    data = getattr(item, "animation_data", None)
    if data is None:
        return
    for curve in compat.curves_in_use(item):
        places = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", places)
        yield places[::2].astype(np.float64)
    if not data.use_nla:
        return
    for track in data.nla_tracks:
        for strip in compat.flat_strips(() if track.mute else track.strips):
            if not strip.mute and strip.type == "CLIP" and strip.action is not None:
                for curve in compat.curves(strip.action, compat.slot_of(strip)):
                    yield PlayedCurve(((strip, curve),)).keys


def _looked_at(item: Any) -> Iterator[Any]:
    """What else may move an object, or whatever has drivers."""
    for block in (item, getattr(item, "data", None)):
        data = getattr(block, "animation_data", None)
        for driver in data.drivers if data is not None else ():
            for variable in driver.driver.variables:
                yield from (target.id for target in variable.targets)
    yield getattr(item, "parent", None)
    pose = getattr(item, "pose", None)
    for owner in (item, *(pose.bones if pose is not None else ())):
        for constraint in getattr(owner, "constraints", ()):
            yield getattr(constraint, "target", None)
            yield getattr(constraint, "pole_target", None)
            yield from (target.target for target in getattr(constraint, "targets", ()))
