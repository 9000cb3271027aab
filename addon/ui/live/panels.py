"""Panels of the live mode."""

from typing import Any

from bpy.types import Panel, Scene, UILayout

from ...blender import session
from ...data.live import SHOWN, LiveSettings, scene_of, settings
from ...data.property_options import SidebarPanel
from ..layout import draw_fields, fields
from .operators import speed_text

GROUPS = (
    ("TORQUE", "show_torque"),
    ("MUSCLE", "show_muscle"),
    ("GROUND", "show_ground"),
    ("FIELD", "show_field"),
    ("FEEDBACK", "show_feedback"),
)


def draw_live(layout: UILayout, scene: Scene) -> None:
    """Draw the panel, before and during a run."""
    live, run = settings(), session.live
    row = layout.row(align=True)
    row.scale_y = 1.4
    if run is None:
        row.operator("condyle.live", icon="PLAY")
    else:
        row.operator("condyle.live_stop", icon="SNAP_FACE")
        recording = run.recorded[0] is not None and run.recorded[1] is None
        row.operator(
            "condyle.live_record", text="End" if recording else "Record", icon="REC", depress=recording
        )
        its = scene_of(live)
        if its not in (None, scene):
            layout.label(text=f"Running: scene {its.name}", icon="SCENE_DATA")
    draw_figures(layout, run, live)
    column = fields(layout.column())
    draw_fields(column, live, "factor", "pull", "gravity")
    column.prop(scene.condyle, "play_live")
    left = live.scene == scene.session_uid and len(live.sliders) > 0
    if run is not None or left:
        draw_sliders(layout, live, run is not None)
    if run is None and left:
        layout.operator("condyle.live_keep", icon="IMPORT")
    if session.springs:
        layout.operator("condyle.live_reset", icon="LOOP_BACK")


def draw_figures(layout: UILayout, run: Any, live: Any) -> None:
    """Draw always two lines, so that nothing below moves under the mouse."""
    column = layout.box().column(align=True)
    if run is None or not run.total:  # the panel above shows details
        column.label(text="Starting" if run else "Not running", icon="SORTTIME" if run else "INFO")
        column.label(text="")
        return
    text, slow = speed_text(run.figures, live.factor)
    column.label(text=f"{run.time:.1f} s: {text}", icon="ERROR" if slow else "TIME")
    times, icon = float(f"{run.figures['headroom']:.2g}"), "BLANK1"
    text = f"At most {times:g}× real time"
    first, last = run.recorded
    if run.grown:  # reported in full after the run
        text, icon = "Steps too long: energy grows", "ERROR"
    elif first is not None and (last is None or not slow):
        seconds = (run.time if last is None else last) - first
        text, icon = f"Recorded {seconds:.1f} s", "REC"
    elif slow:  # a model above 1 is fast enough, and other programs use the processor
        text = f"{'Machine busy' if times > 1.0 else 'Too slow'}: {text.lower()}"
    column.label(text=text, icon=icon)


def draw_sliders(layout: UILayout, live: LiveSettings, running: bool) -> None:
    for group, shown in GROUPS:
        sliders = [slider for slider in live.sliders if slider.group == group]
        if not sliders:
            continue
        open_now = getattr(live, shown)
        icon = "TRIA_DOWN" if open_now else "TRIA_RIGHT"
        layout.prop(live, shown, icon=icon, emboss=False)
        if not open_now:
            continue
        column = layout.column(align=True)
        column.active = running
        above = ""
        for slider in sliders:
            owner, text = parts_of(slider)
            if owner and owner != above:  # a label beside each number would be truncated
                column.label(text=owner)
            above = owner
            column.prop(slider, SHOWN[slider.kind], text=text, slider=True)


def parts_of(slider: Any) -> tuple[str, str]:
    """Heading above a slider, and its label."""
    owner, colon, own = slider.label.rpartition(": ")
    if slider.group not in ("GROUND", "FEEDBACK") or not colon:
        owner, own = "", slider.label
    return owner, own + (" ×" if slider.kind == "TIMES" else "")


class LivePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_live"
    bl_label = "Live"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_order = 1
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        draw_live(self.layout, context.scene)
