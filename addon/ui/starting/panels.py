"""Panel of the start, the samples and the loop of a simulation."""

import math
from typing import Any

from bpy.types import Panel, UILayout

from ...blender import units
from ...data.property_options import SidebarPanel
from ..layout import draw_fields, draw_lines, draw_note, fields


class StartPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_start"
    bl_label = "Start and Time"
    bl_parent_id = "CONDYLE_PT_settings"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = context.scene.condyle.start
        layout.prop(settings, "begin")
        target = context.scene.condyle.simulation.output.target
        if settings.begin == "PLAYHEAD" and target == "NEW":
            text = "To keep earlier keys, set Output, Bake To: Current Action"
            draw_note(layout, context, text)
        layout.prop(settings, "source")
        row = layout.row()
        row.active = not settings.loop
        row.prop(settings, "preroll")
        if settings.loop and settings.preroll:
            draw_note(layout, context, "A loop needs no Pre-Roll: set it to 0", "ERROR")
        draw_fields(layout, settings, "samples", "loop")
        if settings.loop:
            column = layout.column()
            column.prop(settings, "loop_cycles")
            column.prop(settings, "loop_tolerance", text="Tolerance [mm]")
            column.prop(settings, "loop_blend")
        kept = context.scene.condyle.loop
        if kept.cycles:
            draw_loop(layout, kept, context.region.width)


def draw_loop(layout: UILayout, kept: Any, width: int) -> None:
    """Draw how well the loop of the last bake closes."""
    column = layout.column(align=True)
    icon = "CHECKMARK" if kept.settled else "INFO"
    count = f"{kept.cycles} cycle{'s' if kept.cycles > 1 else ''}"
    text = f"Repeats itself after {count}" if kept.settled else f"Not settled after {count}"
    draw_lines(column, text, icon, width)
    for label, value in loop_lines(kept):
        draw_lines(column, f"{label}: {value}", "BLANK1", width)


def loop_lines(kept: Any) -> list[tuple[str, str]]:
    """Labels and values of the remaining jump from the last frame to the first."""
    return [
        ("Jump", f"{units.told_length(kept.position_jump)}, {math.degrees(kept.angle_jump):.2g}°"),
        (
            "Jump in Speed",
            f"{units.told_length(kept.speed_jump)}/s, {math.degrees(kept.turn_speed_jump):.2g}°/s",
        ),
    ]
