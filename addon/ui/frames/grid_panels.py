"""Panel of a surface's grid of control frames."""

from typing import Any

from bpy.types import Object, Panel, UILayout

from ...data.joints import JointProperties, has_surface
from ...data.property_options import SidebarPanel, active_joint, shown_if
from ...making import frame_grids
from ..layout import fields
from .grid_operators import NUMBER, at_hand


class GridPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_grid"
    bl_label = "Surface"
    bl_order = 4

    poll = shown_if(lambda context: (joint := active_joint(context)) and has_surface(joint.condyle.joint))

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = active_joint(context)
        settings = joint.condyle.joint
        if not frame_grids.complete(settings):
            if settings.frames:
                layout.label(
                    text=f"{len(settings.frames)} frames, not {shape(settings)}: make a grid", icon="ERROR"
                )
            else:
                layout.label(text="No frames yet: make a grid, or fit", icon="INFO")
        layout.operator("condyle.make_grid", icon="MESH_GRID")
        if frame_grids.complete(settings):
            self._draw_lines(layout, context, joint)
        if settings.grid[2] > 1:
            layout.operator("condyle.remove_third_direction", icon="REMOVE")
        else:
            column = layout.column(align=True)
            column.operator("condyle.add_third_direction", icon="ADD").moving = False
            column.operator("condyle.add_third_direction", text="Add Time", icon="TIME").moving = True
        column = fields(layout.column())
        for index, name in enumerate(frame_grids.DIRECTIONS[: frame_grids.directions(settings)]):
            row = column.row(align=True)
            row.prop(settings, "grid_orders", index=index, text=f"{name} Order")
            row.prop(settings, "grid_periodic", index=index, text="Closed", toggle=True)
        if frame_grids.directions(settings) > 1:
            column.prop(settings, "moving")
            if settings.moving:
                name = frame_grids.DIRECTIONS[frame_grids.directions(settings) - 1]
                column.prop(settings, "line_seconds", text=f"Per {name}")
                if settings.line_seconds == 0.0:
                    column.label(text="0: as fitted, or 1 s in all", icon="INFO")
        column.prop(settings, "outside")

    def _draw_lines(self, layout: UILayout, context: Any, joint: Object) -> None:
        settings = joint.condyle.joint
        here = at_hand(context)
        chosen = frame_grids.place_of(joint, context.active_object) is not None
        box = layout.box().column(align=True)
        for direction, number in NUMBER.items():
            if number >= frame_grids.directions(settings):
                continue
            name = frame_grids.DIRECTIONS[number]
            row = box.row(align=True)
            count = settings.grid[number]
            row.label(text=f"{name} {here[number]} (0 to {count - 1})" if chosen else f"{count} {name}s")
            for icon, step in (("TRIA_LEFT", -1), ("TRIA_RIGHT", 1)):
                button = row.operator("condyle.select_grid_neighbour", text="", icon=icon)
                button.direction, button.step = direction, step
            for operator, icon in (
                ("condyle.select_grid_line", "RESTRICT_SELECT_OFF"),
                ("condyle.add_grid_line", "ADD"),
                ("condyle.remove_grid_line", "REMOVE"),
            ):
                row.operator(operator, text="", icon=icon).direction = direction


def shape(settings: JointProperties) -> str:
    """Size of a grid as text, for example "4 x 5"."""
    return " x ".join(map(str, settings.grid[: frame_grids.directions(settings)]))
