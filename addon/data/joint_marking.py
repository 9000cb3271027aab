"""Selects the control frame that is chosen in the list of a curve."""

from __future__ import annotations

from typing import Any

from bpy.types import Context


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
