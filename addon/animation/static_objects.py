"""Whether anything moves objects with time: told by what is set on them, without a look at any frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import ID, Constraint, Driver

from ..baked.parents import BAKED_THROUGH


class Stillness:
    """Tells whether objects stand still, which whatever has keys does not; each is looked at once, so nothing may be
    changed meanwhile.
    """

    def __init__(self) -> None:
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
        drivers = _drivers(item)
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


def _drivers(item: ID) -> list[Driver] | None:
    """Drivers of an object and of its data; None: keys move it too, or a driver that may look at the time."""
    found = []
    for block in (item, item.data):
        data = getattr(block, "animation_data", None)  # an Empty may show an image, which cannot be animated
        if data is None:
            continue
        if data.action is not None or data.nla_tracks:
            return None
        found += [curve.driver for curve in data.drivers]
    for driver in found:
        if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
            return None
        plain = driver.is_simple_expression and "frame" not in driver.expression
        if driver.type == "SCRIPTED" and not plain:
            return None
    return found


def _constraints(item: ID) -> list[Any]:
    """Constraints of an object and its bones, but for those of sliders that are muted, as bakes alone mute them."""
    owners = (item, *(item.pose.bones if item.pose is not None else ()))
    found = [constraint for owner in owners for constraint in owner.constraints]
    return [each for each in found if not (_is_ours(each) and each.mute)]


def _is_ours(constraint: Constraint) -> bool:
    return bool(constraint.name.startswith("Condyle"))


def _is_carried_plainly(item: ID) -> bool:
    return item.parent is None or (item.parent_type in BAKED_THROUGH and item.parent.type != "CURVE")
