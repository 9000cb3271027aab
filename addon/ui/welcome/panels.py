"""Panels of a scene without Condyle data, and of a joint without a curve."""

from typing import Any

from bpy.types import Context, Panel, Scene

from ...blender import session
from ...data.property_options import SidebarPanel, own_joint, shown_if
from ..layout import draw_note


class WelcomePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_welcome"
    bl_label = "Begin"
    bl_order = 1

    poll = shown_if(lambda context: is_empty(context.scene))

    def draw(self, context: Any) -> None:
        column = self.layout.column(align=True)
        column.scale_y = 1.4
        column.operator("condyle.demo_knee", icon="ARMATURE_DATA")
        column.operator_menu_enum(
            "condyle.add_preset", "preset", text="Make a Joint from Two Objects", icon="EMPTY_ARROWS"
        )
        column.operator("condyle.joint_from_meshes", icon="MOD_MESHDEFORM")
        column.operator("condyle.import_opensim", icon="IMPORT")
        text = "Select two objects, the parent last. With nothing selected, simple bodies are created"
        draw_note(self.layout, context, text)


class NextStepPanel(SidebarPanel, Panel):
    """The next step for a spline curve without control frames."""

    bl_idname = "CONDYLE_PT_next_step"
    bl_label = "Next Step"
    bl_order = 1

    @classmethod
    def poll(cls, context: Any) -> bool:
        joint = own_joint(context)
        if joint is None or joint.condyle.joint.type != "spline_curve" or session.job is not None:
            return False
        return len(joint.condyle.joint.frames) == 0 and joint.condyle.joint.frames_of is None

    def draw(self, context: Context) -> None:
        draw_note(self.layout, context, "Key the child in a few poses, then fit the joint to them")
        row = self.layout.row()
        row.scale_y = 1.4
        row.operator("condyle.fit", icon="CURVE_PATH")


def is_empty(scene: Scene) -> bool:
    """Whether a scene has no body, soft body, collider of an object, joint, connection or muscle."""
    for item in scene.objects:
        data = item.condyle
        if item.type == "EMPTY" and (data.joint.enabled or data.connection.enabled):
            return False
        if data.body.enabled or (item.type == "CURVE" and data.muscle.enabled):
            return False
        if data.collider.enabled or (item.type == "MESH" and data.soft.enabled):
            return False
        if item.pose is not None and any(bone.condyle.body.enabled for bone in item.pose.bones):
            return False
    return True
