"""The panel of a scene that has nothing of Condyle yet."""

from typing import Any

from bpy.types import Panel

from ..common import SidebarPanel
from ..simulation.panels import draw_lines


class WelcomePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_welcome"
    bl_label = "Begin"
    bl_order = -1

    @classmethod
    def poll(cls, context: Any) -> bool:
        return is_empty(context.scene)

    def draw(self, context: Any) -> None:
        column = self.layout.column(align=True)
        column.scale_y = 1.4
        column.operator("condyle.demo_knee", icon="ARMATURE_DATA")
        column.operator_menu_enum(
            "condyle.add_preset", "preset", text="Make a Joint from Two Objects", icon="EMPTY_ARROWS"
        )
        column.operator("condyle.import_opensim", icon="IMPORT")
        draw_lines(
            self.layout.column(align=True),
            "Select two objects, the parent last; with nothing selected a joint brings bodies of its own",
            "INFO",
            context.region.width,
        )


def is_empty(scene: Any) -> bool:
    """Whether a scene has no body, joint, connection or muscle."""
    if scene.condyle.schema_version == 0:  # nothing was ever stored
        return True
    for item in scene.objects:
        data = item.condyle
        if item.type == "EMPTY" and (data.joint.enabled or data.connection.enabled):
            return False
        if data.body.enabled or (item.type == "CURVE" and data.muscle.enabled):
            return False
        if item.pose is not None and any(bone.condyle.body.enabled for bone in item.pose.bones):
            return False
    return True


classes = (WelcomePanel,)
