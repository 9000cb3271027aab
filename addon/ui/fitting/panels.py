"""Panels of the fit and of its residuals."""

import math
from typing import Any

from bpy.types import Context, Object, Panel, UILayout, UIList

from ...blender import units
from ...data import fit_settings
from ...data.joints import JointProperties
from ...data.property_options import SidebarPanel, active_connection, figure, own_joint, shown_if
from ..joints.panels import OfCoordinates
from ..layout import fields
from ..lists import RowList, draw_rows
from ..overlay import ghosts, shown

FITTED = ("spline_curve", "spline_surface")
#: coverage below which physics bridges gaps in the data smoothly
LEAST_COVERAGE = 0.01


class FitPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_fit"
    bl_label = "Fit"
    bl_order = 6
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(lambda context: active_connection(context) is None)

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = own_joint(context)
        # the buttons say why a composite joint cannot be fitted
        if joint is None or joint.condyle.joint.type == "composite":
            _draw_buttons(layout)
            return
        settings = joint.condyle.joint.fit
        column = fields(layout.column())
        fit_settings.draw(column, settings, joint.condyle.joint.type == "spline_surface")
        if joint.condyle.joint.type in FITTED:  # a bake would turn another joint into a curve
            column.prop(settings, "requested")
        _draw_buttons(layout)
        if settings.num_poses:
            box = layout.box().column(align=True)
            box.label(text=f"{settings.num_poses} poses, {settings.iterations} iterations")
            box.label(text=f"Worst distance: {units.told_length(1e-3 * settings.worst_distance)}")
            box.label(text=f"Worst angle: {figure(math.degrees(settings.worst_angle))}°")
            _draw_changed(box, context, joint)
            if not settings.converged:
                box.label(text="Not converged: try fewer frames", icon="ERROR")
            if settings.coverage < LEAST_COVERAGE:
                box.label(text="No keys in parts of the surface", icon="INFO")
                box.label(text="They are bridged smoothly", icon="BLANK1")
            _draw_cycle(layout, joint.condyle.joint)


def _draw_changed(layout: UILayout, context: Any, joint: Object) -> None:
    """Show the present residuals of a joint that was changed since its fit."""
    if not len(joint.condyle.joint.fit.residuals):
        return
    now = ghosts.passing(joint, shown.shown(context.scene, joint))
    if now.changed:
        far = units.told_length(1e-3 * float(now.distances.max()))
        turned = figure(math.degrees(float(now.angles.max())))
        layout.label(text="Changed since that fit:", icon="INFO")
        layout.label(text=f"now up to {far}, {turned}°", icon="BLANK1")


def _draw_cycle(layout: UILayout, settings: JointProperties) -> None:
    """Offer the fits for cyclic keys."""
    kind = settings.fit.cyclic
    told = settings.type != "spline_curve" or settings.periodic or settings.fit.keys == "ONE_WAY"
    if told or kind == "NONE":
        return
    column = layout.box().column(align=True)
    if kind == "CLOSED":
        column.label(text="The motion comes back", icon="FILE_REFRESH")
        column.operator("condyle.fit", text="Fit a Closed Curve", icon="CURVE_BEZCIRCLE").periodic = True
    else:
        column.label(text="The motion goes to and fro", icon="ARROW_LEFTRIGHT")
        column.operator("condyle.fit", text="Fit One Way", icon="CURVE_PATH").keys = "ONE_WAY"


def _draw_buttons(layout: UILayout) -> None:
    column = layout.column(align=True)
    column.operator("condyle.fit", icon="CURVE_PATH")
    column.operator("condyle.fit_surface", icon="SURFACE_DATA")


class ResidualList(RowList, UIList):
    """Keys of the last fit; a click sets the frame."""

    bl_idname = "CONDYLE_UL_residuals"

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        row.label(text=f"{item.frame:g}", icon="ERROR" if item.trust < 0.5 else "KEYTYPE_KEYFRAME_VEC")
        row.label(text=short(units.told_length(1e-3 * item.distance)))
        row.label(text=short(f"{figure(math.degrees(item.angle))}°"))
        if data.id_data.condyle.joint.type != "spline_surface":  # only a curve can interpolate keys exactly
            row.prop(item, "pinned", text="", icon="PINNED" if item.pinned else "UNPINNED", emboss=False)

    def filter_items(self, context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Filter flags, and the new place of each item, as Blender expects."""
        rows = getattr(data, name)
        return [], worst_first(rows) if data.worst_first else []


def short(text: str) -> str:
    """A figure shortened for a narrow column."""
    return text.replace("under ", "< ")


def worst_first(rows: Any) -> list[int]:
    """Place of each residual in the order from worst to best, relative to the largest distance and angle."""
    most_distance = max((row.distance for row in rows), default=0.0) or 1.0
    most_angle = max((row.angle for row in rows), default=0.0) or 1.0
    badness = [max(row.distance / most_distance, row.angle / most_angle) for row in rows]
    order = sorted(range(len(rows)), key=lambda k: -badness[k])
    places = [0] * len(order)
    for place, k in enumerate(order):
        places[k] = place
    return places


class ResidualsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_residuals"
    bl_label = "Keys and Residuals"
    bl_parent_id = "CONDYLE_PT_fit"

    @classmethod
    def poll(cls, context: Any) -> bool:
        joint = own_joint(context)
        return joint is not None and len(joint.condyle.joint.fit.residuals) > 0

    def draw(self, context: Any) -> None:
        layout = self.layout
        settings = own_joint(context).condyle.joint.fit
        row = layout.row(align=True)
        row.prop(settings, "worst_first", toggle=True)
        row.prop(settings, "show_ghosts", toggle=True)
        draw_rows(layout, ResidualList, settings, "residuals", "active_residual", 5)
        if 0 <= settings.active_residual < len(settings.residuals):
            column = fields(layout.column())
            chosen = settings.residuals[settings.active_residual]
            column.prop(chosen, "weight")
            if own_joint(context).condyle.joint.type != "spline_surface":
                column.prop(chosen, "pinned")


class FromPosePanel(OfCoordinates, Panel):
    bl_idname = "CONDYLE_PT_from_pose"
    bl_label = "From Poses"
    bl_order = 1

    def draw(self, _context: Any) -> None:
        column = self.layout.column(align=True)
        column.operator("condyle.set_from_pose", icon="SNAP_ON")
        column.operator("condyle.key_sliders", icon="KEY_HLT")
