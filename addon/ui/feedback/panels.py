"""Panel of the feedback laws of the active joint."""

from typing import Any

from bpy.types import Object, Panel, UILayout, UIList

from ...data.property_options import active_joint
from ..joints.panels import OfCoordinates
from ..layout import VIEWS, draw_fields, draw_reference, fields
from ..lists import RowList, draw_rows, draw_switch


class FeedbackRows(RowList, UIList):
    bl_idname = "CONDYLE_UL_feedback_laws"

    def draw_row(self, _context: Any, row: Any, _data: Any, item: Any, _index: int) -> None:
        row.prop(item, "title", text="", emboss=False)
        gain = row.row()
        gain.ui_units_x = 4.0  # the name has the rest of the row
        gain.prop(item, "gain", text="", emboss=False)
        draw_switch(row, item)


class FeedbackPanel(OfCoordinates, Panel):
    bl_idname = "CONDYLE_PT_feedback"
    bl_label = "Feedback"
    bl_order = 1

    def draw(self, context: Any) -> None:
        layout, joint = self.layout, active_joint(context)
        settings = joint.condyle.joint
        row = layout.row(align=True)
        row.operator_menu_enum("condyle.add_feedback_law", "signal", icon="ADD")
        row.operator("condyle.remove_feedback_law", text="", icon="REMOVE")
        draw_rows(layout, FeedbackRows, settings, "feedback_laws", "active_feedback_law", 3)
        laws = settings.feedback_laws
        if laws:
            law = laws[min(settings.active_feedback_law, len(laws) - 1)]
            column = fields(layout.column())
            column.active = law.active
            _draw_law(column, joint, law)


def _draw_law(layout: UILayout, joint: Object, law: Any) -> None:
    """Draw a law, last the rows of its signal, so that another signal moves nothing above."""
    draw_fields(layout, law, "changes", "coordinate" if law.changes == "TORQUE" else "muscle", "gain")
    layout.separator()
    draw_reference(layout, law.gate, "Gate")
    loaded = layout.column()
    loaded.active = law.gate.object is not None
    loaded.prop(law, "load")
    layout.separator()
    draw_fields(layout, law, "signal", f"level{VIEWS.get(_unit(joint, law), '')}")
    if law.signal == "COORDINATE":
        draw_fields(layout, law, "signal_joint", "signal_coordinate")
    elif law.signal != "TOUCH":
        if law.signal == "POINT":
            draw_reference(layout, law.point, "Point")
        draw_reference(layout, law.origin, "From")
        layout.prop(law, "direction")
    if law.signal != "TOUCH":
        layout.prop(law, "rate")


def _unit(joint: Object, law: Any) -> str:
    """Unit of a law's signal, without its rate."""
    if law.signal != "COORDINATE":
        return "1" if law.signal == "TOUCH" else "m"
    rows = (law.signal_joint or joint).condyle.joint.coordinates
    return str(rows[law.signal_coordinate - 1].unit) if law.signal_coordinate <= len(rows) else "1"
