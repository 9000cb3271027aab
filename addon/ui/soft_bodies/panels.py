"""Panel of soft bodies."""

from typing import Any

from bpy.types import Panel

from ...data.property_options import SidebarPanel
from ..layout import draw_fields, draw_note, fields


class SoftBodyPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_soft_body"
    bl_label = "Soft Body"
    bl_order = 1

    def draw(self, context: Any) -> None:
        layout, active = self.layout, context.active_object
        row = layout.row(align=True)
        row.operator("condyle.add_soft_body", icon="MOD_SOFT")
        row.operator_menu_enum("condyle.add_soft_body", "preset", text="", icon="DOWNARROW_HLT")
        row.operator("condyle.remove_soft_body", text="", icon="REMOVE")
        if active is None or active.type != "MESH" or not active.condyle.soft.enabled:
            return
        settings, column = active.condyle.soft, fields(layout.column())
        draw_fields(column, settings, "active", "lattice_size", "use_young")
        draw_fields(column, settings, "young" if settings.use_young else "sag")
        draw_fields(column, settings, "damping", "density", "poisson", "friction")
        draw_fields(column, settings, "reach")
        column.prop_search(settings, "attached_group", active, "vertex_groups")
        if settings.cache:
            draw_note(layout, context, f"Baked to {settings.cache}", "FILE_CACHE")
