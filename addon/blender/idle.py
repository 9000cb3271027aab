"""Whether Blender or the user is busy with the scene, so that automatic changes have to wait."""

import bpy

JOBS = ("RENDER", "OBJECT_BAKE")
#: seconds until the next check
WAIT = 0.5


def is_evaluating() -> bool:
    """Whether a render runs or a window plays the animation: timers must not change data then."""
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
