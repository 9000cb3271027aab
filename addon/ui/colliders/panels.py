"""Panel of colliders."""

from typing import Any

from bpy.types import Panel

from ...data import colliders, references
from ...data.property_options import SidebarPanel
from ...making import chains
from ..layout import draw_fields, fields

#: lengths that a shape has
LENGTHS = {"SPHERE": ("radius",), "CAPSULE": ("radius", "length"), "BOX": ("size",)}


class ColliderPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_collider"
    bl_label = "Colliders"
    bl_order = 1

    def draw(self, context: Any) -> None:
        layout = self.layout
        row = layout.row(align=True)
        row.operator("condyle.add_collider", icon="MESH_UVSPHERE")
        row.operator_menu_enum("condyle.add_collider", "shape", text="", icon="DOWNARROW_HLT")
        row.operator("condyle.remove_collider", text="", icon="REMOVE")
        chosen = references.selected_bodies(context)
        if chosen:
            are = f"{len(colliders.chosen(chosen))} of {len(chosen)} selected are colliders"
            layout.label(text=are, icon="RESTRICT_SELECT_OFF")
        active = references.active_body(context)
        if active is None:
            return
        settings = active.data.collider
        if not settings.enabled and not chains.sprung([active]):
            return
        column = fields(layout.column())
        draw_fields(column, settings, "active")
        if settings.enabled:
            draw_fields(column, settings, "shape", *LENGTHS.get(settings.shape, ()))
            if settings.shape not in {"CONVEX", "MESH"}:
                draw_fields(column, settings, "center")
        elif active.bone:
            draw_fields(column, settings, "radius")
        draw_fields(column, settings, "margin", "friction", "restitution", "groups", "collection")
        layout.operator("condyle.copy_to_selected", icon="COPYDOWN")
