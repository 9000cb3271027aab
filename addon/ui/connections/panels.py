"""Panels of constraints, springs and ground: the list, and the active one."""

from typing import Any

from bpy.types import Context, Panel, UILayout, UIList

from ...data import references
from ...data.connection_kinds import JOINED, KINDS, has_end
from ...data.connections import ConnectionProperties
from ...data.joints import title_of
from ...data.property_options import SidebarPanel, active_connection, shown_if
from ..layout import draw_fields, draw_reference, fields
from ..lists import ObjectList, draw_objects, draw_switch


class ConnectionList(ObjectList, UIList):
    """The scene's connections."""

    bl_idname = "CONDYLE_UL_connections"

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        settings = item.condyle.connection
        row.active = settings.active
        row.label(text=item.name, icon=KINDS[settings.kind].icon if settings.kind in KINDS else "ERROR")
        draw_switch(row, settings)

    def shows(self, item: Any) -> bool:
        return bool(item.type == "EMPTY" and item.condyle.connection.enabled)


class ConnectionPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_connection"
    bl_label = "Constraints, Springs, Ground"
    bl_order = 7
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout = self.layout
        scene = context.scene
        count = len(references.connections_of(scene))
        if count:
            draw_objects(layout, scene, ConnectionList, "active_connection", count)
        else:
            layout.label(text="Select one body, then the other", icon="INFO")
        row = layout.row(align=True)
        row.operator("condyle.add_connection", text="Add", icon="ADD")
        row.operator("condyle.remove_connection", text="Remove", icon="REMOVE")
        layout.operator("condyle.add_joint", text="Close Loop by Joint", icon="LINKED").closes_loop = True


class ChosenConnectionPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_chosen_connection"
    bl_label = "Active"
    bl_parent_id = "CONDYLE_PT_connection"

    poll = shown_if(active_connection)

    def draw(self, context: Any) -> None:
        item = active_connection(context)
        settings = item.condyle.connection
        layout = self.layout
        layout.label(text=item.name, icon=KINDS[settings.kind].icon)
        column = fields(layout.column())
        column.prop(settings, "kind")
        DRAW.get(settings.kind, _draw_plain)(column, settings)
        if settings.kind != "coupling":
            _draw_bodies(column, settings)


def _draw_bodies(layout: UILayout, settings: ConnectionProperties) -> None:
    layout.separator()
    draw_reference(layout, settings.body, "Body")
    if settings.kind in JOINED:
        layout.prop(settings, "own_places")
    if has_end(settings):
        if settings.end is not None:
            layout.prop(settings, "end")
        else:
            layout.operator("condyle.add_end", icon="EMPTY_DATA")
    layout.prop(settings, "to_world")
    if not settings.to_world:
        draw_reference(layout, settings.other, "Other")


def _draw_plain(layout: UILayout, settings: ConnectionProperties) -> None:
    for name in KINDS[settings.kind].settings:
        if name != "length" or not settings.as_placed:
            layout.prop(settings, name)


def _draw_bent_plane(layout: UILayout, settings: ConnectionProperties) -> None:
    draw_fields(layout, settings, "unilateral", "profile")
    if settings.profile is not None:
        return
    for number, row in enumerate(settings.corners, 1):
        line = layout.column(align=True)
        line.prop(row, "place", index=0, text=f"Corner {number} X")
        line.prop(row, "place", index=1, text="Z")
    buttons = layout.row(align=True)
    buttons.operator("condyle.add_corner", text="Corner", icon="ADD")
    buttons.operator("condyle.remove_corner", text="Corner", icon="REMOVE")


def _draw_coupling(layout: UILayout, settings: ConnectionProperties) -> None:
    coupling = settings.coupling
    for joint, coordinate in (("joint", "coordinate"), ("leader", "leader_coordinate")):
        layout.prop(coupling, joint)
        found = getattr(coupling, joint)
        if found is not None and len(found.condyle.joint.coordinates) > 1:
            layout.prop(coupling, coordinate)
            number = getattr(coupling, coordinate)
            rows = found.condyle.joint.coordinates
            if number <= len(rows):
                layout.label(text=title_of(rows[number - 1]), icon="BLANK1")
    layout.prop(coupling, "ratio")
    if coupling.curve:
        layout.prop(coupling, "curve")
    else:
        layout.prop(settings, "as_placed", text="As They Start")


#: settings of each kind of contact with ground
GROUND = {
    "RIGID": ("friction", "restitution"),
    "SOFT": ("stiffness", "exponent", "damping", "friction", "smooth_speed"),
    "BALL": ("stiffness", "friction", "law"),
}


def _draw_ground(layout: UILayout, settings: ConnectionProperties) -> None:
    ground = settings.ground
    draw_fields(layout, ground, "surface", "points")
    if ground.points == "EXTREME":
        layout.prop(ground, "num_points")
    elif ground.points == "GROUP":
        _draw_group(layout, settings)
    layout.prop(ground, "radius")
    layout.separator()
    layout.row().prop(ground, "contact", expand=True)
    draw_fields(layout, ground, *GROUND[ground.contact])


def _draw_group(layout: UILayout, settings: ConnectionProperties) -> None:
    body = references.resolve(settings.body)
    shape = None
    if body is not None:
        shape = body.data.body.shape or (body.object if not body.bone else None)
    if shape is not None and shape.type == "MESH":
        layout.prop_search(settings.ground, "vertex_group", shape, "vertex_groups")
    else:
        layout.prop(settings.ground, "vertex_group")


DRAW = {"segmented_planar_connector": _draw_bent_plane, "coupling": _draw_coupling, "ground": _draw_ground}
