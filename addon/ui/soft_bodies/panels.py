"""Panel of soft bodies."""

from typing import Any

from bpy.types import Panel

from ...data.property_options import SidebarPanel, shown_if
from ..layout import draw_fields, draw_note, fields


def shown(context: Any) -> Any:
    """Settings of the active object if it is a soft body, or None."""
    active = context.active_object
    is_soft = active is not None and active.type == "MESH" and active.condyle.soft.enabled
    return active.condyle.soft if is_soft else None


class SoftBodyPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_soft_body"
    bl_label = "Soft Body"
    bl_order = 1

    poll = shown_if(lambda context: context.mode != "POSE")  # bones are no soft bodies

    def draw(self, context: Any) -> None:
        layout, settings = self.layout, shown(context)
        row = layout.row(align=True)
        row.operator("condyle.add_soft_body", icon="MOD_SOFT")
        row.operator_menu_enum("condyle.add_soft_body", "preset", text="", icon="DOWNARROW_HLT")
        row.operator("condyle.remove_soft_body", text="", icon="REMOVE")
        if settings is None:
            return
        column = fields(layout.column())
        draw_fields(column, settings, "active", "lattice_size", "use_young")
        draw_fields(column, settings, "young" if settings.use_young else "sag")
        draw_fields(column, settings, "damping", "density", "poisson", "friction")
        draw_fields(column, settings, "reach")
        column.prop_search(settings, "attached_group", context.active_object, "vertex_groups")
        if settings.cache:
            draw_note(layout, context, f"Baked to {settings.cache}", "FILE_CACHE")


class SoftBodyAdvancedPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_soft_body_advanced"
    bl_parent_id = "CONDYLE_PT_soft_body"
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(shown)

    def draw(self, context: Any) -> None:
        draw_fields(fields(self.layout), shown(context), "law")
