"""Objects that move the objects that a simulation follows: carriers, and targets of constraints and drivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
from bpy.types import Constraint, Object

from ..data import references
from .animation import Animation, Moved


def of(items: Iterable[Object], animation: Animation) -> list[Object]:
    """Objects, and all that may move them, each once."""
    found: dict[int, Object] = {}
    waiting = list(items)
    while waiting:
        item = waiting.pop()
        if item.session_uid not in found:
            found[item.session_uid] = item
            waiting += _behind(item, animation.moved(item))
    return list(found.values())


def _behind(item: Object, moved: Moved) -> Iterator[Object]:
    """The carriers of an object, and the targets of its constraints, of its bones' and of its drivers."""
    if item.parent is not None:
        yield item.parent
    for owner in (item, *(item.pose.bones if item.pose is not None else ())):
        for constraint in owner.constraints:
            if _may_act(constraint, moved):
                yield from (target.object for target in references.looked_at(constraint))
    drivers = item.animation_data.drivers if item.animation_data is not None else ()
    targets = (target for each in drivers for row in each.driver.variables for target in row.targets)
    yield from (target.id for target in targets if isinstance(target.id, bpy.types.Object))


def _may_act(constraint: Constraint, moved: Moved) -> bool:
    """Whether a constraint does anything, now or, by what is animated, at another frame."""
    off = {"mute", "enabled"} if constraint.mute else {"influence"} if constraint.influence == 0.0 else set()
    return not off or any(f"{constraint.path_from_id()}.{name}" in moved for name in off)
