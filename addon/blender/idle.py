"""Whether Blender itself reads the scene just now, so that what follows the user's hands has to wait."""

from __future__ import annotations

import bpy

JOBS = ("RENDER", "OBJECT_BAKE")
#: seconds to the next look
WAIT = 0.5


def is_evaluating() -> bool:
    """Whether a render goes on or a window plays the animation: timers leave the data alone then."""
    return any(bpy.app.is_job_running(job) for job in JOBS) or any(
        window.screen.is_animation_playing for window in bpy.context.window_manager.windows
    )


def is_in_hand(prefixes: tuple[str, ...] = ("TRANSFORM_OT_", "OBJECT_OT_", "ARMATURE_OT_")) -> bool:
    """Whether the user drags something in a window."""
    return any(
        operator.bl_idname.startswith(prefixes)
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )
