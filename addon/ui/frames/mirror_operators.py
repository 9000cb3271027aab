"""Mirror a joint onto the other side's bodies."""

from typing import Any

from bpy.props import EnumProperty
from bpy.types import Operator

from ...data.property_options import active_joint, needs_joint
from ...making import mirroring
from .operators import show_only


class MirrorJoint(Operator):
    """Mirror the joint with its control frames and settings onto the other side's bodies, which Blender's names tell
    (.L and .R). A joint that is there already is made like this one"""

    bl_idname = "condyle.mirror_joint"
    bl_label = "Mirror Joint"
    bl_options = {"REGISTER", "UNDO"}

    axis: EnumProperty(
        name="Axis",
        description="Which axis points to the other side: of the armature for bones, of the world for objects",
        items=(("X", "X", "Left and right"), ("Y", "Y", "Front and back"), ("Z", "Z", "Top and bottom")),
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return needs_joint(cls, context)

    def execute(self, context: Any) -> set[str]:
        context.view_layer.update()  # adjusted, it is called straight after an undo, which leaves no matrices
        made = mirroring.mirror(context.scene, active_joint(context), self.axis)
        for warning in made.warnings:
            self.report({"WARNING"}, warning)
        self.report({"INFO"}, f"{made.joint.name} was {'brought up to date' if made.renewed else 'made'}")
        show_only(context, made.joint)
        return {"FINISHED"}


classes = (MirrorJoint,)
