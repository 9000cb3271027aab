"""Panel of the active body."""

from typing import Any

from bpy.types import Panel

from ..common import SidebarPanel

# kg m^2; below it a field, which has six decimals, shows less than three digits
LEAST_SHOWN = 1e-4


def small_inertia(settings: Any) -> str:
    """The moments of inertia of a body so small that their fields show nothing of them, in full; else nothing."""
    moments = tuple(settings.inertia_diagonal)
    if max(abs(moment) for moment in moments) >= LEAST_SHOWN:
        return ""
    return "xx, yy, zz: " + ", ".join(f"{moment:.3g}" for moment in moments)


class BodyPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_body"
    bl_label = "Body"
    bl_order = 1

    @classmethod
    def poll(cls, context: Any) -> bool:
        active = context.active_object
        return active is None or not (
            active.condyle.joint.enabled
            or active.condyle.connection.enabled
            or active.condyle.frame_of is not None
        )

    def draw(self, context: Any) -> None:
        from ... import references

        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
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
            layout.prop(settings, "shape")
            layout.prop(settings, "density")
            return
        layout.prop(settings, "mass")
        layout.column().prop(settings, "center_of_mass", text="Center")
        column = layout.column(align=True)
        for index, name in enumerate(("Inertia xx", "yy", "zz")):
            column.prop(settings, "inertia_diagonal", index=index, text=name)
        for index, name in enumerate(("xy", "xz", "yz")):
            column.prop(settings, "inertia_products", index=index, text=name)
        small = small_inertia(settings)
        if small:
            layout.label(text=small, icon="INFO")
        layout.operator("condyle.fill_in_mass", icon="MESH_DATA")


class SoftPartsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_soft_parts"
    bl_label = "Soft Parts"
    bl_parent_id = "CONDYLE_PT_body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        from ... import references

        body = references.active_body(context)
        return body is not None and body.data.body.enabled

    def draw_header(self, context: Any) -> None:
        from ... import references

        self.layout.prop(references.active_body(context).data.body.wobbling, "enabled", text="")

    def draw(self, context: Any) -> None:
        from ... import references

        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = references.active_body(context).data.body.wobbling
        layout.active = settings.enabled
        layout.prop(settings, "share", slider=True)
        column = layout.column(align=True)
        column.prop(settings, "sag_along")
        column.prop(settings, "sag_across")
        layout.prop(settings, "damping")
        layout.column().prop(settings, "axis")


classes = (BodyPanel, SoftPartsPanel)
