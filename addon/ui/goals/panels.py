"""Panel of the goals of the active body."""

from typing import Any

from bpy.types import Panel, UIList

from ...blender import session
from ...data import references
from ...data.goals import AT_TARGETS, KINDS
from ...data.joints import title_of
from ...data.property_options import SidebarPanel, own_body
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
        frame = row.row()
        frame.ui_units_x = 2.5  # the name has the rest of the row
        frame.prop(item, "frame", text="", emboss=False)
        row.prop(item, "active", text="")


class GoalsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_goals"
    bl_label = "Goals"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        body = own_body(context)
        listed = None if body is None else body.data.goals
        row = layout.row(align=True)
        row.operator_menu_enum("condyle.add_goal", "kind", icon="ADD")
        row.operator("condyle.remove_goal", text="", icon="REMOVE")
        _draw_search(layout, "solve_goals", "CON_TRACKTO", session.missed_goals == context.scene.session_uid)
        if listed is not None and listed.rows:
            draw_rows(layout, GoalRows, listed, "rows", "active_row", 3)
            active = listed.rows[min(listed.active_row, len(listed.rows) - 1)]
            _draw_goal(fields(layout.column()), context, active)


class GoalSearchPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_goal_search"
    bl_label = "Search"
    bl_parent_id = "CONDYLE_PT_goals"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        column = fields(self.layout.column())
        draw_fields(column, context.scene.condyle.goals, "by", "knots", "steps", "effort", "tolerance")


class PhysicalPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_make_physical"
    bl_label = "Make Physical"
    bl_parent_id = "CONDYLE_PT_goals"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        _draw_search(layout, "make_physical", "FORCE_FORCE", session.far_off == context.scene.session_uid)
        draw_fields(fields(layout.column()), context.scene.condyle.goals, "strength", "spacing", "far_off")


def _draw_search(layout: Any, name: str, icon: str, missed: bool) -> None:
    """Draw the button of a search; beside it, after a search that missed, the one that writes what was found."""
    row = layout.row(align=True)
    row.scale_y = 1.4
    row.operator(f"condyle.{name}", icon=icon).accept = False
    if missed and session.job is None:
        row.operator(f"condyle.{name}", text="Write Anyway", icon="REC").accept = True


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
