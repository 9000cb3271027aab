"""Panels of the active joint."""

from typing import Any

from bpy.types import Object, Panel, UILayout

from ...baked import ik_chains
from ...data import references
from ...data.joint_types import TYPES, custom_readings
from ...data.joints import (
    TURNING,
    CoordinateProperties,
    JointPart,
    JointProperties,
    is_baked_over,
    shapes,
    slider_names,
    title_of,
)
from ...data.property_options import SidebarPanel, active_connection, active_joint, own_joint, shown_if
from ...making import scales
from ..layout import VIEWS, draw_fields, draw_note, draw_reference, fields

# short names of settings that a sidebar of the default width would truncate
SHORT_NAMES = {"winging_origin": "Winging at", "winging_direction": "Winging to"}
BAKED_OVER = "The child follows the keys of the bake; after Free Bake it follows the slider again"


class JointPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_joint"
    bl_label = "Joint"
    bl_order = 2

    poll = shown_if(lambda context: active_connection(context) is None)

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = active_joint(context)
        if own_joint(context) is None:
            layout.label(text="Select the child, then the parent", icon="INFO")
            layout.operator("condyle.add_joint", icon="EMPTY_ARROWS")
            layout.operator_menu_enum("condyle.add_preset", "preset", text="Add Preset", icon="PRESET")
            layout.operator("condyle.joint_from_meshes", icon="MOD_MESHDEFORM")
            if scales.refused(references.selected_bodies(context)):
                layout.operator("condyle.apply_scale", icon="ERROR")
        if joint is None:
            return
        settings = joint.condyle.joint
        row = layout.row()
        row.label(text=joint.name, icon="EMPTY_ARROWS")
        row.operator("condyle.mirror_joint", text="", icon="MOD_MIRROR")
        row.operator("condyle.remove_joint", text="", icon="X")
        if not settings.closes_loop:
            self._draw_sliders(layout, joint, settings, context)
        column = fields(layout.column())
        draw_type(column, settings, 0)
        self._draw_shape(column, settings)
        if may_roll(settings):
            column.prop(settings, "no_slip")
        if settings.closes_loop:
            column.label(text="Closes a loop", icon="LINKED")
        elif settings.coordinates:
            row = column.row()
            row.use_property_decorate = True  # it can be keyed
            row.prop(settings, "prescribed")
            row = column.row()
            row.use_property_decorate = True
            row.active = not settings.prescribed
            row.prop(settings, "follow", slider=True)
            if settings.follow > 0.0 and not settings.prescribed:
                column.prop(settings, "follow_time")

    def _draw_shape(self, layout: UILayout, settings: JointProperties) -> None:
        if settings.type == "composite":
            if not settings.parts:
                layout.label(text="Add its parts from parent to child", icon="INFO")
            for number, part in enumerate(settings.parts, 1):
                box = layout.box()
                draw_type(box, part, number).operator(
                    "condyle.remove_part", text="", icon="X", emboss=False
                ).part = number
                draw_settings(box, part)
                if part.type != "fixed":
                    box.prop(part, "inverted")
            layout.operator("condyle.add_part", icon="ADD")
        else:
            draw_settings(layout, settings)
        if settings.type != "fixed":
            layout.prop(settings, "inverted")
        if settings.type not in {"spline_curve", "spline_surface"}:
            layout.operator("condyle.set_rest_pose")

    def _draw_sliders(self, layout: UILayout, joint: Object, settings: JointProperties, context: Any) -> None:
        if not settings.driven:
            layout.operator("condyle.drive", icon="DRIVER")
            return
        names = slider_names(settings)
        if not all(name in joint for name in names):  # its type is incomplete
            names = []
        column = layout.column(align=True)
        baked_over = is_baked_over(settings)
        column.active = not baked_over
        for name, coordinate in zip(names, settings.coordinates):
            column.prop(joint, f'["{name}"]', text=title_of(coordinate), slider=True)
        if baked_over:
            draw_note(layout, context, BAKED_OVER)
        elif late := ik_chains.of_joint(context.scene, joint):
            draw_note(layout, context, late, "ERROR")
        row = layout.row(align=True)
        row.operator("condyle.start_here", icon="PLAY")
        row.operator("condyle.drive", text="", icon="FILE_REFRESH")
        row.operator("condyle.stop_driving", text="", icon="X")


def draw_type(layout: UILayout, shape: JointPart | JointProperties, number: int) -> Any:
    """Draw the type of a joint (number 0) or of one of its parts as a button for a searchable list; returns its row."""
    row = layout.row()
    split = row.split(factor=0.4)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text=f"Part {number}" if number else "Type")
    known = TYPES.get(shape.type)
    # the text in brackets is only for the search
    text = known.label.partition(" (")[0] if known is not None else "Choose"
    split.operator("condyle.choose_type", text=text, icon="VIEWZOOM").part = number
    return row


def draw_settings(layout: UILayout, shape: JointPart | JointProperties) -> None:
    """Draw the settings of a joint's type, some with more specific names."""
    for name in TYPES[shape.type].settings:
        if name == "axis":
            layout.prop(shape, name, text="First Axis" if shape.type == "universal" else "Axis")
        elif name == "semi_axes":
            column = layout.column(align=True)
            for index in range(2 if shape.type == "elliptic" else 3):
                column.prop(shape, name, index=index, text=f"Semi-Axis {'abc'[index]}")
        elif name in SHORT_NAMES:
            layout.prop(shape, name, text=SHORT_NAMES[name])
        elif name == "ball_limit":
            layout.prop(shape, name)
            if shape.ball_limit == "CONE":
                layout.prop(shape, "axis", text="Axis")
                layout.prop(shape, "cone_angle")
            elif shape.ball_limit == "ROTATION":
                layout.prop(shape, "rotation_limit")
        elif name == "custom_text":
            found = custom_readings(shape.custom_text)
            listed = ", ".join(coordinate for coordinate, _ in found)
            layout.label(text=f"Imported; coordinates: {listed}" if found else "Only by import", icon="INFO")
        else:
            layout.prop(shape, name)


def may_roll(settings: JointProperties) -> bool:
    """Whether a joint begins with a surface on which its child can roll."""
    parts = list(settings.parts) if settings.type == "composite" else []
    return len(parts) > 0 and parts[0].type == "spline_surface" and not parts[0].inverted


class BodiesOfJointPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_joint_bodies"
    bl_label = "Parent and Child"
    bl_parent_id = "CONDYLE_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(active_joint)

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = active_joint(context).condyle.joint
        draw_fields(layout, settings, "closes_loop", "to_world")
        for role in ("parent", "child"):
            column = layout.column()
            column.active = role == "child" or not settings.to_world
            draw_reference(column, getattr(settings, role), role.capitalize())


class OfCoordinates(SidebarPanel):
    """Base of panels below that of the joint, for joints with coordinates."""

    bl_parent_id = "CONDYLE_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(lambda context: (joint := active_joint(context)) and joint.condyle.joint.coordinates)


class CoordinatesPanel(OfCoordinates, Panel):
    bl_idname = "CONDYLE_PT_coordinates"
    bl_label = "Limits, Spring, Damping"

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = active_joint(context).condyle.joint
        column = layout.column()
        draw_fields(column, settings, "start_from", "hard_limits")
        if settings.hard_limits:
            column.prop(settings, "restitution")
        if settings.type in TURNING:
            column.prop(settings, "torque_keeps_axes")
        rows = settings.coordinates
        for row in rows:
            box = layout.box() if len(rows) > 1 else layout
            if len(rows) > 1:
                box.label(text=title_of(row))
            self._draw_coordinate(box.column(), row)

    def _draw_coordinate(self, layout: UILayout, row: CoordinateProperties) -> None:
        view = VIEWS.get(row.unit, "")
        from_settings = row.id_data.condyle.joint.start_from in {"SCENE", "SETTINGS"}
        start = layout.column()
        start.active = from_settings
        start.prop(row, "start" + view)
        if row.unit == "s":
            layout.label(text="Time, advances with the simulation", icon="TIME")
            return
        start.prop(row, "start_speed" + view)
        keyed = layout.row()
        keyed.use_property_decorate = True  # it can be keyed
        keyed.prop(row, "torque")
        layout.separator()
        draw_fields(layout, row, "damping", "stiffness")
        if row.stiffness > 0.0:
            layout.prop(row, "rest" + view)
        layout.prop(row, "armature")
        if row.laws:
            layout.prop(row, "laws")
        layout.separator()
        self._draw_limits(layout, row)
        if row.limits == "CUSTOM":
            draw_fields(layout, row, "lower" + view, "upper" + view)
        if row.limits != "NONE" and not row.id_data.condyle.joint.hard_limits:
            draw_fields(layout, row, "limit_stiffness", "limit_damping")

    def _draw_limits(self, layout: UILayout, row: CoordinateProperties) -> None:
        """Draw the choice of limits; only curves and surfaces have ends of their own."""
        if has_ends(row.id_data.condyle.joint) or row.limits == "RANGE":
            layout.prop(row, "limits")
            return
        split = layout.split(factor=0.4, align=True)
        split.use_property_split = False  # otherwise each choice would get its own label
        label = split.row()
        label.alignment = "RIGHT"
        label.label(text="Limits")
        choices = split.row(align=True)
        for name in ("NONE", "CUSTOM"):
            choices.prop_enum(row, "limits", name)


def has_ends(settings: JointProperties) -> bool:
    """Whether a joint is, or contains, a curve or surface."""
    return any(each.type in {"spline_curve", "spline_surface"} for each in shapes(settings))


class ControllerPanel(OfCoordinates, Panel):
    bl_idname = "CONDYLE_PT_controller"
    bl_label = "Controller"

    def draw_header(self, context: Any) -> None:
        self.layout.prop(active_joint(context).condyle.joint.controller, "enabled", text="")

    def draw(self, context: Any) -> None:
        layout = fields(self.layout)
        settings = active_joint(context).condyle.joint
        layout.active = settings.controller.enabled and not settings.prescribed
        draw_fields(layout, settings.controller, "stiffness", "damping", "limit")
