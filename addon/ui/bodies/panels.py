"""Panel of the active body."""

from typing import Any

from bpy.types import Panel

from ...data import references
from ...data.bodies import BodyProperties
from ...data.property_options import SidebarPanel, own_body, shown_if
from ..layout import draw_fields, fields

# kg m²: fields have six decimals, so that smaller moments would show fewer than three digits
LEAST_SHOWN = 1e-4


def is_small(settings: BodyProperties) -> bool:
    """Whether a body's moments of inertia are shown and edited in g·cm² instead of kg·m²."""
    return max(abs(moment) for moment in settings.inertia_diagonal) < LEAST_SHOWN


class BodyPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_body"
    bl_label = "Body"
    bl_order = 2

    @classmethod
    def poll(cls, context: Any) -> bool:
        active = context.active_object
        if active is None:
            return True
        data = active.condyle
        return not (data.joint.enabled or data.connection.enabled or data.frame_of is not None)

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        body = references.active_body(context)
        if body is None:
            layout.label(text="Select an object or a pose bone", icon="INFO")
            return
        settings = body.data.body
        if not settings.enabled:
            layout.operator("condyle.make_body", icon="PHYSICS")
            return
        row = layout.row()
        row.label(text=body.name, icon="BONE_DATA" if body.bone else "OBJECT_DATA")
        row.operator("condyle.remove_body", text="", icon="X")
        if references.joint_of(context.scene, body) is None:
            layout.prop(settings, "motion")
            if settings.motion == "FREE":
                layout.prop(settings, "start_from")
        layout.prop(settings, "mass_source")
        if settings.mass_source == "MESH":
            draw_fields(layout, settings, "shape", "density")
        else:
            layout.prop(settings, "mass")


class MassDistributionPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_mass_distribution"
    bl_label = "Center, Inertia"
    bl_parent_id = "CONDYLE_PT_body"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(lambda context: (body := own_body(context)) and body.data.body.mass_source != "MESH")

    def draw(self, context: Any) -> None:
        layout, settings = fields(self.layout), references.active_body(context).data.body
        layout.column().prop(settings, "center_of_mass", text="Center")
        column = layout.column(align=True)
        ending, unit = ("_small", "g·cm²") if is_small(settings) else ("", "kg·m²")
        column.label(text=f"Inertia [{unit}]")
        for index, name in enumerate(("xx", "yy", "zz")):
            column.prop(settings, f"inertia_diagonal{ending}", index=index, text=name)
        for index, name in enumerate(("xy", "xz", "yz")):
            column.prop(settings, f"inertia_products{ending}", index=index, text=name)
        layout.operator("condyle.fill_in_mass", icon="MESH_DATA")


class SoftPartsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_soft_parts"
    bl_label = "Soft Parts"
    bl_parent_id = "CONDYLE_PT_body"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(own_body)

    def draw_header(self, context: Any) -> None:
        self.layout.prop(references.active_body(context).data.body.wobbling, "enabled", text="")

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = references.active_body(context).data.body.wobbling
        layout.active = settings.enabled
        layout.prop(settings, "share", slider=True)
        column = layout.column(align=True)
        draw_fields(column, settings, "sag_along", "sag_across")
        layout.prop(settings, "damping")
        layout.column().prop(settings, "axis")
