"""Panels of muscles: the list, the active muscle, the active obstacle."""

from typing import Any

import bpy
from bpy.types import Context, Object, Panel, Scene, UILayout, UIList

from ...blender import physics_access
from ...data import references
from ...data.muscles import MuscleProperties
from ...data.obstacles import SHAPES, ObstacleProperties
from ...data.property_options import SidebarPanel, active_muscle, shown_if
from ...reading import muscle_lengths, muscle_points
from ..layout import draw_fields, draw_note, fields
from ..lists import ObjectList, RowList, draw_objects, draw_rows, draw_switch

SHORT = {"shorter": "Shorter", "counterclockwise": "CCW", "clockwise": "CW"}


class MuscleList(ObjectList, UIList):
    """The scene's muscles."""

    bl_idname = "CONDYLE_UL_muscles"

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        settings = item.condyle.muscle
        row.active = settings.active
        row.label(text=item.name, icon="CURVE_DATA")
        if settings.law.kind != "cord":
            part = row.row()
            part.scale_x = 0.8
            part.prop(settings, "excitation", text="", slider=True)
        draw_switch(row, settings)

    def shows(self, item: Any) -> bool:
        return bool(item.type == "CURVE" and item.condyle.muscle.enabled)


class ObstacleList(RowList, UIList):
    """The obstacles that a muscle wraps over."""

    bl_idname = "CONDYLE_UL_obstacles"

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        row.prop(item, "obstacle", text="", emboss=False, icon="MESH_CYLINDER")
        part = row.row()
        part.scale_x = 0.5
        part.prop(item, "strand", text="")


class MusclePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_muscle"
    bl_label = "Muscles"
    bl_order = 8
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, scene = self.layout, context.scene
        count = len(muscle_points.muscles_of(scene))
        if count:
            draw_objects(layout, scene, MuscleList, "active_muscle", count)
        else:
            draw_note(layout, context, "Select bodies, Empties or a curve, then Add")
        row = layout.row(align=True)
        row.operator("condyle.add_muscle", text="Add", icon="ADD")
        row.operator("condyle.remove_muscle", text="Remove", icon="REMOVE")
        layout.operator_menu_enum("condyle.add_obstacle", "shape", icon="MESH_CYLINDER")
        layout.operator("condyle.import_opensim", text="Import OpenSim Model", icon="IMPORT")


class ChosenMusclePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_chosen_muscle"
    bl_label = "Muscle at Hand"
    bl_parent_id = "CONDYLE_PT_muscle"

    poll = shown_if(active_muscle)

    def draw(self, context: Any) -> None:
        item = active_muscle(context)
        settings = item.condyle.muscle
        layout = self.layout
        layout.label(text=item.name, icon="CURVE_DATA")
        for text, icon in state_lines(context.scene, item):
            draw_note(layout, context, text, icon)
        column = layout.column()
        column.use_property_split = True
        is_excited = settings.law.kind != "cord"
        if is_excited and settings.law.kind != "none":
            column.prop(settings, "excited_by")
        if is_excited and settings.excited_by == "CONTROLLER":
            draw_fields(column, settings.control, "joint", "coordinate", "target", "gain", "damping", "rest")
        elif is_excited:
            column.prop(settings, "excitation", slider=True)
        column.use_property_decorate = False
        column.prop(settings, "mass")
        if settings.mass > 0.0:
            draw_fields(column, settings, "num_points", "mass_lies")
            if settings.mass_lies == "BELLY":
                column.prop(settings, "tendon_mass", text="On Tendons", slider=True)
        draw_fields(column, settings.law, "kind", *LAW_SETTINGS[settings.law.kind])
        column.separator()
        column.prop(settings, "thickness")
        if settings.thickness == "RADIUS" or settings.mass == 0.0:
            column.prop(settings, "radius")
        column.prop(settings, "origin_tendon", text="Tendon: Origin")
        column.prop(settings, "insertion_tendon", text="Insertion")
        layout.operator("condyle.stick_points", icon="SNAP_ON")
        _draw_obstacles(layout, settings)


_HILL = (
    *("max_force", "fibre_length", "tendon_length", "pennation", "max_speed"),
    *("rise_time", "fall_time", "least_activation", "rigid_tendon"),
)
#: settings of each force law
LAW_SETTINGS = {
    "none": (),
    "tension": ("max_force",),
    "thelen": _HILL,
    "cord": ("slack_length", "cord_stiffness"),
    **dict.fromkeys(("millard", "degroote", "schutte"), (*_HILL, "damping")),
}


def state_lines(scene: Scene, item: Object) -> list[tuple[str, str]]:
    """Lines about a muscle: its length and loose points, or its error."""
    try:
        points = muscle_points.points_of(item)
        length = muscle_lengths.length_now(scene, item)
    except physics_access.physics().CondyleError as error:
        return [(str(error), "ERROR")]
    shown = bpy.utils.units.to_string(
        scene.unit_settings.system, "LENGTH", length * scene.unit_settings.scale_length, precision=4
    )
    lines = [(f"Length {shown}", "DRIVER_DISTANCE")]
    loose = [str(number) for number, point in enumerate(points, 1) if point.target is None]
    if loose:
        points_are = f"Points {', '.join(loose)} are" if len(loose) > 1 else f"Point {loose[0]} is"
        lines.append((f"{points_are} on no body: fixed to the world", "UNPINNED"))
    if any(rule.kind == "CONDITION" for rule in item.condyle.muscle.rules):
        lines.append(("The length includes all conditional points", "BLANK1"))
    if item.condyle.muscle.own_curve is not None:
        lines.append(("Baked: points can be moved after Free Bake", "REC"))
    return lines


def _draw_obstacles(layout: UILayout, settings: MuscleProperties) -> None:
    layout.label(text="Wraps over (obstacle, strand)")
    if len(settings.obstacles):
        draw_rows(layout, ObstacleList, settings, "obstacles", "active_obstacle", 2)
        draw_fields(fields(layout.column()), settings, "smoothing", "wraps_once")
    row = layout.row(align=True)
    row.operator("condyle.wrap_over", text="Selected", icon="ADD")
    row.operator("condyle.remove_wrap", icon="REMOVE")


def draw_side(column: UILayout, settings: ObstacleProperties, name: str, label: str) -> None:
    """Draw buttons for the sides of a shape, if it has several."""
    sides = SHAPES[settings.shape].sides
    if len(sides) == 1:
        return
    column.label(text=f"{label}: {settings.bl_rna.properties[name].enum_items[getattr(settings, name)].name}")
    grid = column.grid_flow(row_major=True, columns=4, even_columns=True, align=True)
    grid.use_property_split = False  # otherwise each button would get its own label
    for side in sides:
        grid.prop_enum(settings, name, side, text=SHORT.get(side, side.upper()))


class ObstaclePanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_obstacle"
    bl_label = "Obstacle at Hand"
    bl_parent_id = "CONDYLE_PT_muscle"

    poll = shown_if(
        lambda context: context.active_object is not None and context.active_object.condyle.obstacle.enabled
    )

    def draw(self, context: Any) -> None:
        item = context.active_object
        settings = item.condyle.obstacle
        column = fields(self.layout.column())
        draw_fields(column, settings, "shape", *SHAPES[settings.shape].settings)
        draw_side(column, settings, "side", "Side")
        if settings.shape == "double_cylinder":
            draw_side(column, settings, "second_side", "Second Side")
        if settings.side != "shorter" and len(SHAPES[settings.shape].sides) > 1:
            column.prop(settings, "always_side")
        parent = references.blender_parent(references.Body(item))
        column.label(text=f"On {parent.name}" if parent else "On the world", icon="PINNED")
