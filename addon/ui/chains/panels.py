"""Panel of chains, and their entries in Blender's menus."""

from typing import Any

from bpy.types import Menu, Panel, UILayout

from ...blender.attachments import Entry
from ...data import force_fields, references
from ...data.properties import SELECTED
from ...data.property_options import SidebarPanel
from ...making import chain_presets, chains
from ..layout import fields


def draw_tuning(layout: UILayout, link: references.Body) -> None:
    """Draw sliders for all selected links of chains, which show the values of one of them."""
    settings, column = link.data.body, fields(layout.column())
    by = (
        ("stiffness", "damping")
        if settings.spring.strength == "STIFFNESS"
        else ("frequency", "damping_ratio")
    )
    for group, name in (*((settings.spring, each) for each in by), (settings, "gravity"), (settings, "drag")):
        column.prop(group, name + SELECTED, slider=True)


class ChainPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_chain"
    bl_label = "Secondary Motion"
    bl_order = 1

    def draw(self, context: Any) -> None:
        layout = self.layout
        row = layout.row(align=True)
        row.operator("condyle.add_chain", icon="FORCE_HARMONIC")
        row.operator_menu_enum("condyle.add_chain", "preset", text="", icon="DOWNARROW_HLT")
        row = layout.row(align=True)
        row.operator("condyle.add_ragdoll", icon="ARMATURE_DATA")
        row.operator("condyle.add_wind", icon="FORCE_WIND")
        chosen = references.selected_bodies(context)
        swinging = chains.sprung(chosen)
        if chosen:
            layout.label(
                text=f"Swinging: {len(swinging)} of {len(chosen)} selected", icon="RESTRICT_SELECT_OFF"
            )
        active = references.active_body(context)
        own = chains.sprung([active] if active else [])
        shown = own or swinging  # a drag of the mouse makes no bone active
        if not shown:
            return
        fields(layout.column()).prop(shown[0].data.body.spring, "strength", text="By")
        draw_tuning(layout, shown[0])
        if force_fields.in_use(context.scene):
            fields(layout.column()).prop(shown[0].data.body, "fields" + SELECTED, slider=True)
        if own:
            layout.operator("condyle.copy_to_selected", icon="COPYDOWN")
        row = layout.row(align=True)
        row.operator_menu_enum("condyle.mute", "scope", icon="HIDE_OFF")
        row.operator_menu_enum("condyle.clean_up", "scope", icon="TRASH")


class ChainMenu(Menu):
    bl_idname = "CONDYLE_MT_chain"
    bl_label = "Secondary Motion (Jiggle, Spring)"

    def draw(self, _context: Any) -> None:
        layout = self.layout
        for each in chain_presets.CHAIN_PRESETS:
            layout.operator("condyle.add_chain", text=each.label).preset = each.name
        layout.operator("condyle.add_ragdoll", icon="ARMATURE_DATA")
        layout.operator("condyle.add_wind", icon="FORCE_WIND")
        layout.operator("condyle.convert_jiggle", icon="IMPORT")
        layout.separator()
        layout.operator("condyle.copy_to_selected", icon="COPYDOWN")
        layout.operator_menu_enum("condyle.mute", "scope", icon="HIDE_OFF")
        layout.operator_menu_enum("condyle.clean_up", "scope", icon="TRASH")
        layout.operator("condyle.bake", icon="REC")


def draw_in_menu(self: Any, _context: Any) -> None:
    """Draw the entry in Blender's menus."""
    self.layout.separator()
    self.layout.menu("CONDYLE_MT_chain", icon="FORCE_HARMONIC")


MENUS = (
    "VIEW3D_MT_add",
    "VIEW3D_MT_pose",
    "VIEW3D_MT_object",
    "VIEW3D_MT_pose_context_menu",
    "VIEW3D_MT_object_context_menu",
)
attached = tuple(Entry(menu, draw_in_menu) for menu in MENUS)
