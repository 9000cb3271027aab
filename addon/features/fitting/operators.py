"""Fit from keyframes."""

from typing import Any

from bpy.types import Operator

from ...jobs import JobOperator
from ..common import figure, need_object_mode, own_joint, writable


class FitFromKeyframes(JobOperator, Operator):
    """Fit the joint's curve to the keyed poses of its child, relative to its parent. Without a joint one is made first,
    from the active object or bone to the other selected one, or to its parent in Blender"""

    bl_idname = "condyle.fit"
    bl_label = "Fit from Keyframes"
    bl_options = {"REGISTER", "UNDO"}
    title = "Fit"

    @classmethod
    def poll(cls, context: Any) -> bool:
        from ... import references

        if not (writable(cls) and need_object_mode(cls, context)):
            return False
        if own_joint(context) is None and references.active_body(context) is None:
            cls.poll_message_set("Select the keyed object or bone, or its joint")
            return False
        return True

    def steps(self, context: Any) -> Any:
        from ... import tasks

        return tasks.fit_selected(context, own_joint(context))

    def told(self, outcome: Any) -> str:
        return (
            f"Fit: {outcome.num_poses} poses, worst {figure(outcome.worst_distance_mm)} mm and "
            f"{figure(outcome.worst_angle_deg)}°, {outcome.iterations} iterations"
        )


classes = (FitFromKeyframes,)
