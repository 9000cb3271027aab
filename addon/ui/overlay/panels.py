"""Panel of the overlay."""

from typing import Any

from bpy.types import Panel

from ...blender import redraw
from ...blender.attachments import Drawing, Ending, Timer
from ...data.property_options import SidebarPanel
from ..layout import draw_fields, fields
from . import drawing, shown

TOGGLES = (
    *("show_axes", "show_curves", "show_limits", "show_values", "show_samples", "show_frames"),
    *("show_connections", "show_muscles", "show_colliders", "show_swept", "show_poses", "show_handle"),
)


class OverlayPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_overlay"
    bl_label = "Overlay"
    bl_order = 9
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        self.layout.prop(context.scene.condyle.overlay, "show", text="")

    def draw(self, context: Any) -> None:
        layout = self.layout
        settings = context.scene.condyle.overlay
        layout.active = settings.show
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for name in TOGGLES:
            grid.prop(settings, name, toggle=True)
        column = fields(layout.column())
        draw_fields(column, settings, "others", "behind", "axis_size")


attached = (
    Drawing(lambda: drawing.draw_lines(), "POST_VIEW"),
    Drawing(lambda: drawing.draw_numbers(), "POST_PIXEL"),
    Timer(redraw.views),
    Ending(lambda: drawing.forget(), drawing),
    Ending(lambda: shown.forget(), shown),
)
