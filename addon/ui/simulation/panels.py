"""Panels of the simulation and the bake, the first in the tab."""

from typing import Any

from bpy.types import Panel, Scene, UILayout

from ...blender import session
from ...data.property_options import SidebarPanel
from ...data.simulation import INTEGRATORS, BakeStatistics
from ...jobs import bake, partial_bake, precompile
from ...jobs.operator import Job
from ...live import run_mode
from ..checks.panels import draw_count
from ..layout import draw_fields, draw_lines, draw_note, draw_status, fields


class BakePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_bake"
    bl_label = "Simulate and Bake"
    bl_order = 0

    def draw(self, context: Any) -> None:
        layout = self.layout
        precompile.note(bake, run_mode)
        job, kept = session.job, partial_bake.of(context.scene)
        row = layout.row(align=True)
        row.scale_y = 1.4
        if job is not None:
            draw_job(row, job)
        else:
            row.operator("condyle.bake", icon="REC")
            row.operator("condyle.free_bake", icon="TRASH")
        row = layout.row(align=True)
        checks = row.row(align=True)
        if job is not None:  # not where Free Bake is next: a click may come too late
            checks.operator("condyle.cancel", icon="CANCEL")
        else:
            checks.operator("condyle.check_scene", icon="CHECKMARK")
        if kept is not None:
            checks.operator("condyle.bake_unfinished", text=f"Up to {kept.frames[-1]:g}", icon="REC")
        draw_count(row, context.scene)
        draw_status(layout, context, *status(context.scene, job))


def status(scene: Scene, job: Job | None) -> tuple[str, str, bool]:
    """Text and icon of the panel's status, and whether it is an alert: the job, or a bake that is out of date, or the
    last message, or what is compiled.
    """
    if job is not None:
        return job.activity, "SORTTIME" if session.live is None else "PLAY", False
    changed = session.stale.get(scene.session_uid, [])
    if changed:
        return f"The bake is out of date: {'; '.join(line.text for line in changed)}", "FILE_REFRESH", True
    message = session.message_in(scene)
    if message:
        return message, session.message_icon, False
    preparing = precompile.line()
    return (preparing, "SORTTIME", False) if preparing else ("Ready", "INFO", False)


def draw_job(row: UILayout, job: Job) -> None:
    """Draw the progress of a running job in the place of other buttons."""
    if job.endless:
        row.label(text=job.title, icon="PLAY")
    else:
        row.progress(factor=job.progress, text=job.heading)


class SettingsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_settings"
    bl_label = "Settings"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = context.scene.condyle.simulation
        layout.prop(settings, "use_scene_range")
        if not settings.use_scene_range:
            draw_fields(layout, settings, "frame_start", "frame_end")
        draw_fields(layout, settings, "gravity", "integrator")
        method = INTEGRATORS.get(settings.integrator)
        draw_note(layout, context, method.description if method else "")
        if not (method and method.adaptive):
            layout.prop(settings, "time_step")
            rate = context.scene.render.fps / context.scene.render.fps_base
            count = 1.0 / (rate * max(settings.time_step, 1e-9))
            layout.label(text=f"{count:.3g} steps a frame", icon="BLANK1")
        layout.prop(settings, "disconnect_bones")


class OutputPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_output"
    bl_label = "Output"
    bl_parent_id = "CONDYLE_PT_settings"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        output = context.scene.condyle.simulation.output
        row = layout.row(align=True)
        for target in ("NEW", "CURRENT", "STRIP"):
            row.prop_enum(output, "target", target)
        layout.prop(output, "every", text="Key Every")
        layout.prop(output, "reduce")
        if output.reduce:
            draw_fields(layout, output, "tolerance_distance", "tolerance_angle")
        layout.column(align=True).prop(output, "extras")
        layout.operator("condyle.save_shot")
        if output.told:
            draw_note(layout, context, output.told)


class StatisticsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_statistics"
    bl_label = "Last Bake"
    bl_parent_id = "CONDYLE_PT_settings"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        kept = context.scene.condyle.simulation.statistics
        column = self.layout.column(align=True)
        if not (kept.integrator or kept.failed_reason):
            column.label(text="Nothing is baked", icon="INFO")
            return
        for label, value, icon in statistics_lines(kept):
            split = column.split(factor=0.45)
            split.label(text=label, icon=icon)
            split.label(text=value)
        if kept.failed_reason:
            draw_lines(column, f"Why: {kept.failed_reason}", "ERROR", context.region.width)


# Redundant constraints contradict each other by less than this [m, rad], as their frames are float32.
FELT = 1e-5


def statistics_lines(kept: BakeStatistics) -> list[tuple[str, str, str]]:
    """Label, value and icon of each line about the last bake."""
    if kept.failed_reason:
        return [("Failed at", f"{kept.failed_time:.4g} s", "NONE"), ("Body", kept.failed_body, "NONE")]
    lines = [
        ("Steps", f"{kept.steps:,} in {kept.seconds:.1f} s", "NONE"),
        ("Energy", f"{kept.energy_change:+.3g} J", "NONE"),
    ]
    if not kept.constrained:
        return lines
    lines += [
        ("Drift", f"{kept.drift:.1e}, left {kept.drift_left:.1e}", "NONE"),
        ("Residual", f"{kept.residual:.1e}", "NONE"),
        ("Most rows", f"{kept.most_rows}", "NONE"),
        ("With contact", f"{kept.steps_with_contact:,} steps", "NONE"),
    ]
    if kept.steps_unmet and kept.drift_left > FELT:
        lines.append(("Not met", f"{kept.steps_unmet:,} steps", "ERROR"))
    if kept.largest:
        lines += [
            ("Largest force", f"{kept.largest_force:.3g} N or N·m", "NONE"),
            ("In", kept.largest, "NONE"),
        ]
    return lines
