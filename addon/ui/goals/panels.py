"""Panel of the goals of the active body."""

from typing import Any

from bpy.types import Panel, UIList

from ...blender import session
from ...data import references
from ...data.goals import AT_TARGETS, KINDS
from ...data.joints import title_of
from ...data.property_options import SidebarPanel, own_body, shown_if
from ..layout import VIEWS, draw_fields, fields
from ..lists import RowList, draw_rows

ICONS = {name: icon for name, _, _, icon, _ in KINDS}


class GoalRows(RowList, UIList):
    bl_idname = "CONDYLE_UL_goals"

    def draw_row(self, _context: Any, row: Any, _data: Any, item: Any, _index: int) -> None:
        target = item.target.name if item.kind in AT_TARGETS and item.target is not None else ""
        row.label(
            text=target or item.bl_rna.properties["kind"].enum_items[item.kind].name, icon=ICONS[item.kind]
        )
        row.prop(item, "frame", text="", emboss=False)
        row.prop(item, "active", text="")


class GoalsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_goals"
    bl_label = "Goals"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(own_body)

    def draw(self, context: Any) -> None:
        layout = self.layout
        listed = own_body(context).data.goals
        layout.operator_menu_enum("condyle.add_goal", "kind", icon="ADD")
        if listed.rows:
            row = layout.row()
            draw_rows(row, GoalRows, listed, "rows", "active_row", 3)
            row.operator("condyle.remove_goal", text="", icon="REMOVE")
            _draw_goal(
                fields(layout.column()), context, listed.rows[min(listed.active_row, len(listed.rows) - 1)]
            )
        column = fields(layout.column())
        draw_fields(column, context.scene.condyle.goals, "by", "knots", "steps", "effort", "tolerance")
        row = layout.row(align=True)
        row.scale_y = 1.4
        row.operator("condyle.solve_goals", icon="CON_TRACKTO").accept = False
        if session.missed_goals == context.scene.session_uid and session.job is None:
            layout.operator("condyle.solve_goals", text="Write Anyway", icon="REC").accept = True
        _draw_physical(layout, context)


def _draw_physical(layout: Any, context: Any) -> None:
    column = fields(layout.column())
    draw_fields(column, context.scene.condyle.goals, "strength", "spacing", "far_off")
    row = layout.row(align=True)
    row.scale_y = 1.4
    row.operator("condyle.make_physical", icon="FORCE_FORCE").accept = False
    if session.far_off == context.scene.session_uid and session.job is None:
        layout.operator("condyle.make_physical", text="Write Anyway", icon="REC").accept = True


def _draw_goal(layout: Any, context: Any, goal: Any) -> None:
    draw_fields(layout, goal, "kind", "frame")
    if goal.kind == "REACH":
        draw_fields(layout, goal, "target", "use_tip")
        if not goal.use_tip:
            layout.column().prop(goal, "point")
    elif goal.kind == "LOOK":
        draw_fields(layout, goal, "target", "looks_along")
    elif goal.kind == "POSE":
        joint = references.joint_of(context.scene, own_body(context))
        rows = () if joint is None else joint.condyle.joint.coordinates
        unit = rows[goal.coordinate].unit if goal.coordinate < len(rows) else "1"
        layout.prop(goal, "coordinate")
        name = title_of(rows[goal.coordinate]) if unit != "1" else "Value"
        layout.prop(goal, f"value{VIEWS.get(unit, '')}", text=name)
    layout.prop(goal, "weight")
