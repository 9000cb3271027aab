"""Panel of the joint at hand."""

from typing import Any

from bpy.types import Panel

from ..common import SidebarPanel, active_joint, own_joint

VIEWS = {"rad": "_angle", "m": "_length", "1": ""}
AXIS_TYPES = {"hinge", "slider", "helical", "cylindrical", "universal"}


class JointPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_joint"
    bl_label = "Joint"
    bl_order = 2

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = active_joint(context)
        if own_joint(context) is None:
            layout.label(text="Select the parent, then the child", icon="INFO")
            layout.operator("condyle.add_joint", icon="EMPTY_ARROWS")
        if joint is None:
            return
        settings = joint.condyle.joint
        row = layout.row()
        row.label(text=joint.name, icon="EMPTY_ARROWS")
        row.operator("condyle.remove_joint", text="", icon="X")
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(settings, "type")
        self._draw_shape(column, settings)
        self._draw_slider(layout, joint, settings)

    def _draw_shape(self, layout: Any, settings: Any) -> None:
        if settings.type in AXIS_TYPES:
            draw_axes(layout, settings, settings.type)
        elif settings.type == "composite":
            for number, part in enumerate(settings.parts, 1):
                box = layout.box()
                box.prop(part, "type", text=f"Part {number}")
                if part.type in AXIS_TYPES:
                    draw_axes(box, part, part.type)
            row = layout.row(align=True)
            row.operator("condyle.add_part", icon="ADD")
            row.operator("condyle.remove_part", icon="REMOVE")
        if settings.type not in {"spline_curve", "fixed"}:
            layout.operator("condyle.set_rest_pose")

    def _draw_slider(self, layout: Any, joint: Any, settings: Any) -> None:
        if len(settings.coordinates) != 1:
            if settings.driven:
                layout.operator("condyle.stop_driving", icon="X")
            return
        if not settings.driven:
            layout.operator("condyle.drive", icon="DRIVER")
            return
        slider = layout.row()
        slider.active = not is_baked_over(settings)
        slider.prop(joint, '["coordinate"]', text=slider_name(settings.coordinates[0]), slider=True)
        row = layout.row(align=True)
        row.operator("condyle.start_here", icon="PLAY")
        row.operator("condyle.drive", text="", icon="FILE_REFRESH")
        row.operator("condyle.stop_driving", text="", icon="X")


def is_baked_over(settings: Any) -> bool:
    """Whether the child shows a bake, so that the slider does not move it now."""
    from ... import references

    child = references.resolve(settings.child)
    return child is not None and child.data.channels.baked


def slider_name(row: Any) -> str:
    """What the slider is called in the panel."""
    return "Coordinate" if row.unit == "1" else row.label.capitalize()


def draw_axes(layout: Any, settings: Any, kind: str) -> None:
    """Axes and pitch of a joint or of a part of one."""
    layout.prop(settings, "axis", text="First Axis" if kind == "universal" else "Axis")
    if kind == "universal":
        layout.prop(settings, "axis_2")
    if kind == "helical":
        layout.prop(settings, "pitch")


class BodiesOfJointPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_joint_bodies"
    bl_label = "Parent and Child"
    bl_parent_id = "CONDYLE_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return active_joint(context) is not None

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = active_joint(context).condyle.joint
        layout.prop(settings, "to_world")
        for role in ("parent", "child"):
            reference = getattr(settings, role)
            column = layout.column()
            column.active = role == "child" or not settings.to_world
            column.prop(reference, "object", text=role.capitalize())
            if reference.object is not None and reference.object.pose is not None:
                column.prop_search(reference, "bone_name", reference.object.pose, "bones", icon="BONE_DATA")


class CoordinatesPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_coordinates"
    bl_label = "Limits, Spring, Damping"
    bl_parent_id = "CONDYLE_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        joint = active_joint(context)
        return joint is not None and len(joint.condyle.joint.coordinates) > 0

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        rows = active_joint(context).condyle.joint.coordinates
        for row in rows:
            box = layout.box() if len(rows) > 1 else layout
            if len(rows) > 1:
                box.label(text=row.label)
            self._draw_coordinate(box.column(), row)

    def _draw_coordinate(self, layout: Any, row: Any) -> None:
        view = VIEWS.get(row.unit, "")
        layout.prop(row, "start" + view)
        layout.prop(row, "start_speed" + view)
        layout.separator()
        layout.prop(row, "damping")
        layout.prop(row, "stiffness")
        if row.stiffness > 0.0:
            layout.prop(row, "rest" + view)
        layout.prop(row, "armature")
        layout.separator()
        layout.prop(row, "limits")
        if row.limits == "CUSTOM":
            layout.prop(row, "lower" + view)
            layout.prop(row, "upper" + view)
        if row.limits != "NONE":
            layout.prop(row, "limit_stiffness")
            layout.prop(row, "limit_damping")


classes = (JointPanel, BodiesOfJointPanel, CoordinatesPanel)
