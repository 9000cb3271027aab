"""Panel of a curve with the list of its control frames."""

from typing import Any

from bpy.types import Context, Object, Panel, UIList

from ...data import references
from ...data.joints import has_curve
from ...data.property_options import SidebarPanel, active_joint, shown_if
from ..layout import draw_fields, fields
from ..lists import RowList, draw_rows
from .curve_operators import is_stray


class ControlFrameList(RowList, UIList):
    bl_idname = "CONDYLE_UL_frames"

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        chosen = item.object is not None and item.object == context.active_object
        if not references.in_scene(context.scene, item.object):
            row.label(text=f"{index}  missing: remove it", icon="ERROR")
            return
        row.label(text=item.object.name.removeprefix(f"{data.id_data.name} "), icon="EMPTY_AXIS")
        row.operator(
            "condyle.select_control_frame",
            text="",
            icon="LAYER_ACTIVE" if chosen else "RESTRICT_SELECT_OFF",
            emboss=False,
        ).index = index


class FramesPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_frames"
    bl_label = "Curve"
    bl_order = 3

    poll = shown_if(lambda context: (joint := active_joint(context)) and has_curve(joint.condyle.joint))

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = active_joint(context)
        settings = joint.condyle.joint
        text = which_frame(joint, context.active_object)
        if text:
            layout.label(text=text, icon="EMPTY_AXIS")
        elif is_stray(joint, context.active_object):
            layout.label(text="A copy, not in the curve yet", icon="INFO")
            layout.operator("condyle.adopt_control_frame", icon="ADD")
        row = layout.row()
        draw_rows(row, ControlFrameList, settings, "frames", "active_frame", 5 if len(settings.frames) else 3)
        side = row.column(align=True)
        side.operator("condyle.add_control_frame", text="", icon="ADD")
        side.operator("condyle.remove_control_frame", text="", icon="REMOVE")
        side.operator("condyle.insert_control_frame", text="", icon="SNAP_MIDPOINT")
        side.operator("condyle.move_control_frame", text="", icon="TRIA_UP").direction = "UP"
        side.operator("condyle.move_control_frame", text="", icon="TRIA_DOWN").direction = "DOWN"
        side.menu("CONDYLE_MT_frames", text="", icon="DOWNARROW_HLT")
        if len(settings.frames) < settings.order:
            layout.label(text=f"A curve needs {settings.order} control points", icon="INFO")
        column = fields(layout.column())
        draw_fields(column, settings, "order", "periodic", "outside")


def which_frame(joint: Object, item: Object) -> str:
    """Number of an Empty among the control frames of a curve, for example "Point 3, of 0 to 7"; else empty."""
    frames = joint.condyle.joint.frames
    for number, frame in enumerate(frames):
        if frame.object is not None and frame.object == item:
            return f"Point {number}, of 0 to {len(frames) - 1}"
    return ""
