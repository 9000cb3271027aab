"""Panel of colliders."""

from typing import Any

from bpy.types import Panel

from ...data import colliders, references
from ...data.property_options import SidebarPanel, shown_if
from ...making import chains
from ..layout import draw_fields, fields

#: lengths that a shape has
LENGTHS = {"SPHERE": ("radius",), "CAPSULE": ("radius", "length"), "BOX": ("size",)}


def shown(context: Any) -> Any:
    """Settings of what is active if it is a collider or a link of a chain, or None."""
    active = references.active_body(context)
    collides = active is not None and (active.data.collider.enabled or chains.sprung([active]))
    return active.data.collider if collides else None


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
            are = f"Colliders: {len(colliders.chosen(chosen))} of {len(chosen)} selected"
            layout.label(text=are, icon="RESTRICT_SELECT_OFF")
        settings = shown(context)
        if settings is None or not settings.enabled:
            return
        column = fields(layout.column())
        draw_fields(column, settings, "active", "shape", *LENGTHS.get(settings.shape, ()))
        if settings.shape not in {"CONVEX", "MESH"}:
            draw_fields(column, settings, "center")
        draw_fields(column, settings, "margin")
        if not chains.sprung([references.active_body(context)]):  # its panel has the button
            layout.operator("condyle.copy_to_selected", icon="COPYDOWN")


class ColliderContactPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_collider_contact"
    bl_parent_id = "CONDYLE_PT_collider"
    bl_label = "Contact"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(lambda context: shown(context))

    def draw(self, context: Any) -> None:
        column, settings = fields(self.layout.column()), shown(context)
        if not settings.enabled:  # a link of a chain, which is a capsule
            bone = references.active_body(context).bone
            draw_fields(column, settings, "active", *(["radius"] if bone else []), "margin")
        draw_fields(column, settings, "friction", "restitution", "groups", "collection")
