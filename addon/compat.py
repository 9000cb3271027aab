"""What differs between Blender 4.2 and 5.2: actions with slots and layers (4.4), and their f-curves (5.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def has_slots(action: Any) -> bool:
    """Whether actions of this Blender have slots."""
    return hasattr(action, "slots")


def slot_of(animation_data: Any) -> Any:
    """The slot in use; None without one, and before 4.4."""
    return getattr(animation_data, "action_slot", None)


def find_slot(action: Any, identifier: str) -> Any:
    """The slot of an action by its identifier, e.g. ``"OBTibia"``; None if there is none."""
    if not has_slots(action):
        return None
    return next((slot for slot in action.slots if slot.identifier == identifier), None)


def new_slot(action: Any, datablock: Any) -> Any:
    """A new slot of an action for a datablock; None before 4.4."""
    return action.slots.new(id_type=datablock.id_type, name=datablock.name) if has_slots(action) else None


def assign(animation_data: Any, action: Any, slot: Any) -> None:
    """Make an action, and where there are slots that very slot, the one in use."""
    animation_data.action = action
    if action is not None and has_slots(action):
        animation_data.action_slot = slot


def curves(action: Any, slot: Any, ensure: bool = False) -> Any:
    """The collection of f-curves of an action for a slot; an empty tuple where there is none and `ensure` is false."""
    if action is None:
        return ()
    if not has_slots(action):
        return action.fcurves
    if slot is None:
        return ()
    if ensure:
        layer = action.layers[0] if action.layers else action.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        return strip.channelbag(slot, ensure=True).fcurves
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag.fcurves
    return ()


def curves_in_use(datablock: Any) -> Iterator[Any]:
    """The f-curves of the action that a datablock uses now."""
    animation_data = datablock.animation_data
    if animation_data is not None:
        yield from curves(animation_data.action, slot_of(animation_data))
