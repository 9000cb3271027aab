"""Panel of inverse kinematics: dragging bodies, and targets."""

from typing import Any

from bpy.types import Panel

from ...data.property_options import SidebarPanel
from ...posing import ik_targets
from ..layout import draw_note


class ReachPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_reach"
    bl_label = "Pose by Dragging"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        settings = context.scene.condyle.reach
        layout.operator("condyle.drag", icon="VIEW_PAN")
        layout.operator("condyle.drive_all", icon="DRIVER")
        layout.operator("condyle.add_target", icon="SPHERE")
        found = ik_targets.targets_of(context.scene)
        if not found:
            return
        layout.prop(settings, "live", toggle=True, icon="SNAP_ON" if settings.live else "SNAP_OFF")
        row = layout.row(align=True)
        row.operator("condyle.reach_targets")
        row.operator("condyle.key_joints")
        if settings.told:
            draw_note(layout, context, settings.told)
        column = layout.column(align=True)
        for item in found:
            row = column.row(align=True)
            row.label(text=item.name, icon="SPHERE")
            row.prop(item.condyle.target, "use_rotation", text="Turn", toggle=True)
