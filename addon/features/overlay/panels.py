"""Panel of the overlay."""

from typing import Any

from bpy.types import Panel

from ..common import SidebarPanel


class OverlayPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_overlay"
    bl_label = "Overlay"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        self.layout.prop(context.scene.condyle.overlay, "show", text="")

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = context.scene.condyle.overlay
        layout.active = settings.show
        layout.prop(settings, "show_curves")
        layout.prop(settings, "show_frames")
        layout.prop(settings, "axis_size")


classes = (OverlayPanel,)
