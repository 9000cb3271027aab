"""Operators that make a surface's grid of control frames, add and remove its lines, and select along them."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import Context, Object, Operator

from ...blender import physics_access
from ...data import references
from ...data.joints import has_surface
from ...data.property_options import Change, active_joint, allowed, needs_joint
from ...data.selection import select_only
from ...making import frame_grids
from .operators import renew_sliders

DIRECTIONS = (
    ("ROW", "Rows", "Control points with the same first number"),
    ("COLUMN", "Columns", "Control points with the same second number"),
    ("LAYER", "Layers", "Control points with the same third number"),
)
NUMBER = {"ROW": 0, "COLUMN": 1, "LAYER": 2}


def needs_surface(cls: type[Operator], context: Context) -> bool:
    """Poll: the active joint has a surface with a complete grid."""
    if not needs_joint(cls, context):
        return False
    settings = active_joint(context).condyle.joint
    if not has_surface(settings):
        return allowed(cls, "Only a spline surface has a grid: change the joint's type first")
    complete = frame_grids.complete(settings)
    return allowed(cls, "" if complete else "The grid is incomplete: make it again, or fit the surface")


def at_hand(context: Any) -> tuple[int, int, int]:
    """Row, column and layer of the active Empty, else of the list's active frame."""
    joint = active_joint(context)
    found = frame_grids.place_of(joint, context.active_object)
    return (
        found
        if found is not None
        else frame_grids.place(joint.condyle.joint, joint.condyle.joint.active_frame)
    )


@contextmanager
def kept_at_hand(operator: Any, context: Context, joint: Object) -> Iterator[None]:
    """Context that makes the joint active if its active control frame is removed inside."""
    active = context.view_layer.objects.active
    was_frame = active is not None and frame_grids.place_of(joint, active) is not None
    name = active.name if was_frame else ""
    yield
    if was_frame and context.view_layer.objects.active is None:
        context.view_layer.objects.active = joint
        operator.report({"INFO"}, f"{name} was removed")


class MakeGrid(Change, Operator):
    """Make the joint a spline surface with a grid of control frames around a body, z outward. Existing frames are moved
    to new places"""

    bl_idname = "condyle.make_grid"
    bl_label = "Make Grid around Body"
    needs = needs_joint

    around: EnumProperty(
        name="Around",
        description="Body whose bounding box sets size and place",
        items=(
            ("PARENT", "Parent", "The body that the joint is attached to"),
            ("CHILD", "Child", "The moving body"),
        ),
    )
    rows: IntProperty(
        name="Rows", description="Control points in the first direction", default=5, min=4, max=200
    )
    columns: IntProperty(
        name="Columns", description="Control points in the second direction", default=5, min=4, max=200
    )
    closed: BoolProperty(name="Closed", description="Close the columns around the joint's z axis")
    opening: FloatProperty(
        name="Opening",
        description="Angle that the grid covers to each side, from the body's middle",
        subtype="ANGLE",
        unit="ROTATION",
        default=math.radians(50.0),
        min=math.radians(1.0),
        max=math.radians(80.0),
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        joint = active_joint(context)
        if joint.condyle.joint.type == "composite":
            return "A composite joint uses the frames of another joint: make the grid there"
        return ""

    def execute(self, context: Context) -> set[str]:
        context.view_layer.update()  # Adjust Last Operation undoes first, which leaves no matrices
        joint = active_joint(context)
        settings = joint.condyle.joint
        body = references.resolve(settings.parent) if self.around == "PARENT" else None
        body = body or references.resolve(settings.child)
        if body is None:
            raise physics_access.model_error(f"joint {joint.name!r} has no body to make a grid around")
        frames = frame_grids.around(
            context.scene, joint, body, self.rows, self.columns, self.opening, self.closed
        )
        frame_grids.build(context.scene, joint, frames, periodic=(False, self.closed))
        for warning in frame_grids.warnings_of(context.scene, joint):
            self.report({"WARNING"}, warning)
        renew_sliders(self, context, joint)
        return {"FINISHED"}


class _GridOperator(Change):
    needs = needs_surface

    change: Any
    direction: EnumProperty(name="Direction", description="Rows, columns or layers", items=DIRECTIONS)

    def execute(self, context: Context) -> set[str]:
        context.view_layer.update()  # Adjust Last Operation undoes first, which leaves no matrices
        joint = active_joint(context)
        number = NUMBER[self.direction]
        self.change(context, joint, number, at_hand(context)[number])
        renew_sliders(self, context, joint)
        return {"FINISHED"}


class AddGridLine(_GridOperator, Operator):
    """Add a row or column of control frames after the active one: halfway to the next, or beyond the last"""

    bl_idname = "condyle.add_grid_line"
    bl_label = "Add Row or Column"

    def change(self, context: Context, joint: Object, direction: int, index: int) -> None:
        frame_grids.add_line(context.scene, joint, direction, index)


class RemoveGridLine(_GridOperator, Operator):
    """Remove the active row or column with its Empties"""

    bl_idname = "condyle.remove_grid_line"
    bl_label = "Remove Row or Column"

    def change(self, context: Context, joint: Object, direction: int, index: int) -> None:
        with kept_at_hand(self, context, joint):
            frame_grids.remove_line(context.scene, joint, direction, index)


class _GridSelection(_GridOperator):
    @classmethod
    def why_not(cls, context: Context) -> str:
        return "" if context.mode == "OBJECT" else "Only in object mode"


class SelectGridLine(_GridSelection, Operator):
    """Select all control frames of the active row or column, to move them together"""

    bl_idname = "condyle.select_grid_line"
    bl_label = "Select Row or Column"

    def change(self, context: Context, joint: Object, direction: int, index: int) -> None:
        select_only(context)
        settings = joint.condyle.joint
        here = at_hand(context)
        for number, frame in enumerate(settings.frames):
            if frame.object is None or frame_grids.place(settings, number)[direction] != index:
                continue
            frame.object.select_set(True)
            if frame_grids.place(settings, number) == here:
                context.view_layer.objects.active = frame.object


class SelectGridNeighbour(_GridSelection, Operator):
    """Select the control frame next to the active one"""

    bl_idname = "condyle.select_grid_neighbour"
    bl_label = "Select Neighbour"

    step: IntProperty(name="Step", description="Number of frames forward; negative: back", default=1)

    def change(self, context: Context, joint: Object, direction: int, index: int) -> None:
        settings = joint.condyle.joint
        place, count = list(at_hand(context)), settings.grid[direction]
        target = index + self.step
        place[direction] = (
            target % count if settings.grid_periodic[direction] else max(0, min(target, count - 1))
        )
        row, column, layer = place
        settings.active_frame = (row * settings.grid[1] + column) * settings.grid[2] + layer
        chosen = settings.frames[settings.active_frame].object
        select_only(context, *([] if chosen is None else [chosen]))


classes = (MakeGrid, AddGridLine, RemoveGridLine, SelectGridLine, SelectGridNeighbour)
