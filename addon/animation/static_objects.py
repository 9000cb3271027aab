"""Whether anything moves objects with time: told by what is set on them, without a look at any frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, AnimData, Constraint, Driver, FCurve, NlaStrip

from ..baked.parents import BAKED_THROUGH
from ..blender import compat

#: of a curve's values, what counts as none: single precision
ROUNDING = 1e-6


class Stillness:
    """Tells whether objects stand still; each is looked at once, so nothing may be changed meanwhile.

    Args:
        span: the frames (first, last) that count; None: all, and then whatever has keys counts as moving.
    """

    def __init__(self, span: tuple[float, float] | None = None) -> None:
        self._span = span
        self._known: dict[int, list[Any] | None] = {}

    def holds(self, items: Iterable[ID]) -> bool:
        """Whether nothing that moves objects with time can be found: on them, on what carries them, and on what their
        constraints and drivers look at.
        """
        seen: set[int] = set()
        left = list(items)
        while left:
            item = left.pop()
            number = item.as_pointer()
            if number in seen:
                continue
            seen.add(number)
            if number not in self._known:
                self._known[number] = self._hangs_on(item)
            further = self._known[number]
            if further is None:
                return False
            left += further
        return True

    def _hangs_on(self, item: ID) -> list[ID] | None:
        """What else may move an object that does not move by itself; None: it does, or something not known here."""
        constraints = _constraints(item)
        drivers = self._drivers(item)
        if drivers is None or item.rigid_body is not None or not _is_carried_plainly(item):
            return None
        if not all(_is_ours(constraint) for constraint in constraints):
            return None
        variables = [variable for driver in drivers for variable in driver.variables]
        looked = [target.id for variable in variables for target in variable.targets]
        if any(not isinstance(each, bpy.types.Object | None) for each in looked):
            return None
        looked += [item.parent, *(getattr(constraint, "target", None) for constraint in constraints)]
        return [each for each in looked if each is not None]

    def _drivers(self, item: ID) -> list[Driver] | None:
        """Drivers of an object and of its data; None: keys move it too, or a driver that may look at the time."""
        found = []
        for block in (item, item.data):
            data = getattr(
                block, "animation_data", None
            )  # an Empty may show an image, which cannot be animated
            if data is None:
                continue
            if not self._is_level(block, data):
                return None
            found += [curve.driver for curve in data.drivers]
        for driver in found:
            if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
                return None
            plain = driver.is_simple_expression and "frame" not in driver.expression
            if driver.type == "SCRIPTED" and not plain:
                return None
        return found

    def _is_level(self, block: ID, data: AnimData) -> bool:
        """Whether the action and the strips of animation data change nothing in the frames that count."""
        if self._span is None:
            return data.action is None and not data.nla_tracks
        low, high = self._span
        tracks = [track for track in data.nla_tracks if data.use_nla and not track.mute]
        strips = [(strip, number == 0) for track in tracks for number, strip in enumerate(track.strips)]
        if not all(_is_level_strip(strip, is_first, low, high) for strip, is_first in strips):
            return False
        return all(is_level(curve, low, high) for curve in compat.curves_in_use(block))


def _is_level_strip(strip: NlaStrip, is_first: bool, low: float, high: float) -> bool:
    """Whether a strip, the first of its track or not, changes nothing from frame `low` to `high`.

    Bakes make such strips: of their own action, and of the one that was in use before. Only of strips that play an
    action as it is, at its own frames, can it be told by the action's curves.
    """
    if strip.mute:
        return True
    if not _plays_as_is(strip):
        return False
    begin, end = strip.frame_start, strip.frame_end
    if high < begin or low > end:  # not there, or held
        return all(is_level(curve, low, high) for curve in strip.fcurves)
    if low < begin and not (is_first and strip.extrapolation == "HOLD"):
        return False
    if high > end and strip.extrapolation == "NOTHING":
        return False
    if not all(is_level(curve, low, high) for curve in strip.fcurves):
        return False
    curves = compat.curves(strip.action, compat.slot_of(strip))
    return all(is_level(curve, max(low, begin), min(high, end)) for curve in curves)


def _plays_as_is(strip: NlaStrip) -> bool:
    """Whether a strip plays an action as it is, at the action's own frames."""
    plain = (
        strip.type == "CLIP" and strip.action is not None and strip.action_frame_start == strip.frame_start
    )
    plain = plain and strip.repeat == strip.scale == 1.0 and not strip.use_reverse
    plain = plain and not strip.use_animated_time and not strip.use_auto_blend
    return bool(plain) and not strip.blend_in and not strip.blend_out


def is_level(curve: FCurve, low: float, high: float) -> bool:
    """Whether a curve has one value from frame `low` to `high`, or moves nothing that is to be seen."""
    points = curve.keyframe_points
    if curve.mute or ".condyle." in f".{curve.data_path}":  # settings of ours
        return True
    if any(not modifier.mute for modifier in curve.modifiers) or not len(points):
        return False
    first, last = points[0].co[0], points[-1].co[0]
    if curve.extrapolation != "CONSTANT" and (low < first or high > last):
        return False
    if high <= first or low >= last:
        return True
    places = {}
    for name in ("co", "handle_left", "handle_right"):
        numbers = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, numbers)
        places[name] = numbers.reshape(-1, 2)
    at = places["co"][:, 0]
    begin = max(int(np.searchsorted(at, low, "right")) - 1, 0)
    end = min(int(np.searchsorted(at, high, "left")), len(at) - 1)
    heights = np.concatenate(
        [
            places["co"][begin : end + 1, 1],
            places["handle_right"][begin:end, 1],
            places["handle_left"][begin + 1 : end + 1, 1],
        ]
    )
    return bool(np.ptp(heights) <= ROUNDING * max(1.0, float(np.abs(heights).max())))


def _constraints(item: ID) -> list[Any]:
    """Constraints of an object and its bones, but for those of sliders that are muted, as bakes alone mute them."""
    owners = (item, *(item.pose.bones if item.pose is not None else ()))
    found = [constraint for owner in owners for constraint in owner.constraints]
    return [each for each in found if not (_is_ours(each) and each.mute)]


def _is_ours(constraint: Constraint) -> bool:
    return bool(constraint.name.startswith("Condyle"))


def _is_carried_plainly(item: ID) -> bool:
    return item.parent is None or (item.parent_type in BAKED_THROUGH and item.parent.type != "CURVE")
