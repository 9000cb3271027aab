"""Selects objects: those that operators make, and those that the user chooses in lists."""

from collections.abc import Callable
from typing import Any

from bpy.types import Context, Object


def select_only(context: Context, *items: Object) -> None:
    """Select these objects and no others; the last one becomes active."""
    for each in list(context.selected_objects):
        each.select_set(False)
    for item in items:
        item.select_set(True)
        context.view_layer.objects.active = item


def show_only(context: Context, item: Object) -> None:
    """Select only this object, in object mode."""
    if context.mode == "OBJECT":
        select_only(context, item)


def show_chosen(kind: str) -> Callable[[Any, Context], None]:
    """Update function of the index into a list of connections or muscles: a click makes the object the active one."""

    def show(self: Any, context: Context) -> None:
        objects, number = context.scene.objects, getattr(self, f"active_{kind}")
        if 0 <= number < len(objects):
            chosen = objects[number]
            if getattr(chosen.condyle, kind).enabled and chosen.name in context.view_layer.objects:
                show_only(context, chosen)

    return show


def select_marked(joint: Any, context: Context) -> None:
    """Select the control frame that was chosen in the list, if another one of the same curve is active."""
    if joint.type == "spline_surface":
        return
    active, frames = context.active_object, joint.frames
    if context.mode != "OBJECT" or active is None or not any(frame.object == active for frame in frames):
        return
    chosen = frames[joint.active_frame].object if joint.active_frame < len(frames) else None
    if chosen is not None and chosen != active and context.view_layer.objects.get(chosen.name) == chosen:
        active.select_set(False)
        chosen.select_set(True)
        context.view_layer.objects.active = chosen
