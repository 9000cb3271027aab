"""Operator that mirrors a joint to the bodies of the other side."""

from bpy.types import Context, Operator

from ...data.property_options import Edit, active_joint, needs_joint
from ...data.selection import show_only
from ...making import mirroring
from ..asked import choice


class MirrorJoint(Edit, Operator):
    """Mirror the joint with its control frames and settings to the bodies of the other side, found by their names (.L
    and .R). An existing joint there is updated"""

    bl_idname = "condyle.mirror_joint"
    bl_label = "Mirror Joint"
    needs = needs_joint

    axis: choice(
        "Axis",
        "Axis that points to the other side: of the armature for bones, of the world for objects",
        items=(("X", "X", "Left and right"), ("Y", "Y", "Front and back"), ("Z", "Z", "Top and bottom")),
    )

    def change(self, context: Context) -> str:
        result = mirroring.mirror(context.scene, active_joint(context), self.axis)
        for warning in result.warnings:
            self.report({"WARNING"}, warning)
        show_only(context, result.joint)
        return f"{result.joint.name} was {'updated' if result.renewed else 'added'}"
