"""Panel of the simulation and the bake: the first in the tab."""

from typing import Any

from bpy.types import Panel

from ... import session
from ..common import SidebarPanel


class BakePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_bake"
    bl_label = "Simulate and Bake"
    bl_order = 0

    def draw(self, context: Any) -> None:
        layout = self.layout
        job = session.job
        if job is not None:
            draw_job(layout, job, context.region.width)
        else:
            row = layout.row(align=True)
            row.scale_y = 1.4
            row.operator("condyle.bake", icon="REC")
            row.operator("condyle.free_bake", icon="TRASH")
        if session.message:
            draw_lines(
                layout.box().column(align=True), session.message, session.message_icon, context.region.width
            )


def draw_job(layout: Any, job: Any, width: int) -> None:
    """Progress of the work under way, and the button that ends it."""
    column = layout.column(align=True)
    row = column.row(align=True)
    row.scale_y = 1.4
    row.progress(factor=job.progress, text=f"{job.title} {job.progress:.0%}")
    row.operator("condyle.cancel", text="", icon="CANCEL")
    draw_lines(layout.box().column(align=True), job.activity, "SORTTIME", width)


def draw_lines(layout: Any, text: str, icon: str, width: int) -> None:
    """A text of several lines, broken to the width of the region."""
    import textwrap

    import bpy

    # the interface's font is about 6.6 pixels a character wide; margins and icon take the room of 12
    scale = bpy.context.preferences.system.ui_scale or 1.0  # 0 without a window
    characters = max(16, int(width / (6.6 * scale)) - 12)
    for number, line in enumerate(textwrap.wrap(text, characters)):
        layout.label(text=line, icon=icon if number == 0 else "BLANK1")


class SettingsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_settings"
    bl_label = "Settings"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = context.scene.condyle.simulation
        layout.prop(settings, "use_scene_range")
        if not settings.use_scene_range:
            layout.prop(settings, "frame_start")
            layout.prop(settings, "frame_end")
        layout.prop(settings, "gravity")
        layout.prop(settings, "integrator")
        layout.prop(settings, "time_step")
        layout.prop(settings, "disconnect_bones")


classes = (BakePanel, SettingsPanel)
