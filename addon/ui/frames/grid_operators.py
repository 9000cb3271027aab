"""Operators that make a surface's grid of control frames, add and remove its lines, and select along them."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bpy.types import Context, Object, Operator

from ...blender.physics_access import model_error
from ...data import references
from ...data.joints import has_surface
from ...data.property_options import Edit, active_joint, needing, needs_joint, unless
from ...data.selection import select_only
from ...making import frame_grids
from ..asked import angle, choice, flag, integer
from .operators import renew_sliders

DIRECTIONS = (
    ("ROW", "Rows", "Control points with the same first number"),
    ("COLUMN", "Columns", "Control points with the same second number"),
    ("LAYER", "Layers", "Control points with the same third number"),
)
NUMBER = {"ROW": 0, "COLUMN": 1, "LAYER": 2}


_ON_SURFACE = needing(
    lambda context: has_surface(active_joint(context).condyle.joint),
    "Only a spline surface has a grid: change the joint's type first",
    needs_joint,
)
#: the active joint has a surface with a complete grid
needs_surface = needing(
    lambda context: frame_grids.complete(active_joint(context).condyle.joint),
    "The grid is incomplete: make it again, or fit the surface",
    _ON_SURFACE,
)


def at_hand(context: Any) -> tuple[int, int, int]:
    """Row, column and layer of the active Empty, else of the list's active frame."""
    joint = active_joint(context)
    found = frame_grids.place_of(joint, context.active_object)
    return found or frame_grids.place(joint.condyle.joint, joint.condyle.joint.active_frame)


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


class MakeGrid(Edit, Operator):
    """Make the joint a spline surface with a grid of control frames around a body, z outward. Existing frames are moved
    to new places"""

    bl_idname = "condyle.make_grid"
    bl_label = "Make Grid around Body"
    needs = needs_joint

    around: choice(
        "Around",
        "Body whose bounding box sets size and place",
        items=(
            ("PARENT", "Parent", "The body that the joint is attached to"),
            ("CHILD", "Child", "The moving body"),
        ),
    )
    rows: integer("Rows", "Control points in the first direction", default=5, min=4, max=200)
    columns: integer("Columns", "Control points in the second direction", default=5, min=4, max=200)
    closed: flag("Closed", "Close the columns around the joint's z axis")
    opening: angle(
        "Opening",
        "Angle that the grid covers to each side, from the body's middle",
        default=math.radians(50.0),
        min=math.radians(1.0),
        max=math.radians(80.0),
    )
    why_not = unless(
        lambda context: active_joint(context).condyle.joint.type != "composite",
        "A composite joint uses the frames of another joint: make the grid there",
    )

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        settings = joint.condyle.joint
        body = references.resolve(settings.parent) if self.around == "PARENT" else None
        body = body or references.resolve(settings.child)
        if body is None:
            raise model_error(f"joint {joint.name!r} has no body to make a grid around")
        frames = frame_grids.around(
            context.scene, joint, body, self.rows, self.columns, self.opening, self.closed
        )
        frame_grids.build(context.scene, joint, frames, periodic=(False, self.closed))
        for warning in frame_grids.warnings_of(context.scene, joint):
            self.report({"WARNING"}, warning)
        renew_sliders(self, context, joint)


class _GridOperator(Edit):
    needs = needs_surface

    change_line: Any
    direction: choice("Direction", "Rows, columns or layers", items=DIRECTIONS)

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        number = NUMBER[self.direction]
        self.change_line(context, joint, number, at_hand(context)[number])
        renew_sliders(self, context, joint)


class AddGridLine(_GridOperator, Operator):
    """Add a row or column of control frames after the active one: halfway to the next, or beyond the last"""

    bl_idname = "condyle.add_grid_line"
    bl_label = "Add Row or Column"

    def change_line(self, context: Context, joint: Object, direction: int, index: int) -> None:
        frame_grids.add_line(context.scene, joint, direction, index)


class RemoveGridLine(_GridOperator, Operator):
    """Remove the active row or column with its Empties"""

    bl_idname = "condyle.remove_grid_line"
    bl_label = "Remove Row or Column"

    def change_line(self, context: Context, joint: Object, direction: int, index: int) -> None:
        with kept_at_hand(self, context, joint):
            frame_grids.remove_line(context.scene, joint, direction, index)


class _GridSelection(_GridOperator):
    why_not = unless(lambda context: context.mode == "OBJECT", "Only in object mode")


class SelectGridLine(_GridSelection, Operator):
    """Select all control frames of the active row or column, to move them together"""

    bl_idname = "condyle.select_grid_line"
    bl_label = "Select Row or Column"

    def change_line(self, context: Context, joint: Object, direction: int, index: int) -> None:
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

    step: integer("Step", "Number of frames forward; negative: back", default=1)

    def change_line(self, context: Context, joint: Object, direction: int, index: int) -> None:
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
