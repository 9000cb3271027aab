"""Operators that add and remove the third direction of a surface's grid: a coordinate or time."""

from typing import Any

from bpy.types import Context, Operator

from ...data.property_options import Edit, active_joint, unless
from ...making import frame_grids, grid_layers
from ..asked import angle, flag, integer, length, seconds
from .grid_operators import kept_at_hand, needs_surface
from .operators import renew_sliders


class AddThirdDirection(Edit, Operator):
    """Let the child also leave the surface: the control frames become the first of several layers. The other layers are
    copies, which you then move"""

    bl_idname = "condyle.add_third_direction"
    bl_label = "Add Third Direction"
    needs = needs_surface

    moving: flag("Moves in Time", "The layers are the surface at successive times")
    layers: integer("Layers", "Number of layers", default=4, min=4, max=100)
    apart: length(
        "Apart",
        "Distance from layer to layer, along each frame's own z. 0 without a turn: half the distance "
        "between frames; no distance if the layers are time",
    )
    turn: angle("Turn", "Angle from layer to layer, about each frame's own z")
    seconds: seconds(
        "Seconds per Layer", "Time from one layer to the next", default=1.0, min=0.001, soft_max=60.0
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        if properties.moving:
            return (
                "Let the surface move in time: the control points become the first of several layers, one for each of "
                "successive times. The other layers are copies, which you then move"
            )
        return " ".join((cls.__doc__ or "").split())

    @classmethod
    def why_not(cls, context: Context) -> str:
        settings = active_joint(context).condyle.joint
        # with layers `execute` refuses: Adjust Last Operation polls before its undo removes them
        return "" if settings.grid[2] > 1 else grid_layers.why_no_layers(settings)

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("layers", "apart", "turn", "moving"):
            layout.prop(self, name)
        if self.moving:
            layout.prop(self, "seconds")

    def change(self, context: Context) -> None:
        scene, joint = context.scene, active_joint(context)
        apart = self.apart
        if not (apart or self.turn or self.moving):
            apart = grid_layers.gap(scene, joint)
        seconds = self.seconds if self.moving else None
        grid_layers.add_layers(scene, joint, self.layers, apart=apart, turn=self.turn, seconds=seconds)
        for warning in frame_grids.warnings_of(scene, joint):
            self.report({"WARNING"}, warning)
        renew_sliders(self, context, joint)


class RemoveThirdDirection(Edit, Operator):
    """Remove all layers except the first, with their Empties, so that the surface has only rows and columns"""

    bl_idname = "condyle.remove_third_direction"
    bl_label = "Remove Third Direction"
    needs = needs_surface

    why_not = unless(
        lambda context: active_joint(context).condyle.joint.grid[2] > 1, "The surface has no third direction"
    )

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        with kept_at_hand(self, context, joint):
            grid_layers.remove_layers(context.scene, joint)
        renew_sliders(self, context, joint)
