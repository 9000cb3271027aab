"""Operators that spread a curve's control frames evenly, reverse the curve, and copy control frames."""

from typing import Any

from bpy.types import Context, Menu, Object, Operator

from ...blender import units
from ...data.property_options import active_joint, figure, unless
from ...data.selection import show_only
from ...making import bodies_and_joints, curve_tools
from ..asked import factor, integer
from ..fitting.operators import RedoneJob
from .operators import FrameOperator, needs_curve, tell_place


class DuplicateControlFrame(FrameOperator, Operator):
    """Copy the active control frame a little further along the curve, and select the copy. Neighbouring frames move a
    little, so that the motion of the child is kept; reports the largest change"""

    bl_idname = "condyle.duplicate_control_frame"
    bl_label = "Duplicate Control Point"
    least_frames = 1

    share: factor(
        "How Far",
        "Place of the copy on the way to the next frame: 0.5 is halfway",
        default=0.25,
        min=0.01,
        max=0.99,
    )

    def change_frames(self, context: Context, joint: Object) -> None:
        item = curve_tools.duplicate(context.scene, joint, joint.condyle.joint.active_frame, self.share)
        show_only(context, item)


class AdoptControlFrame(FrameOperator, Operator):
    """Add this copy of a control frame to the curve, at the place where it lengthens the curve least"""

    bl_idname = "condyle.adopt_control_frame"
    bl_label = "Add to the Curve"

    why_not = unless(
        lambda context: is_stray(active_joint(context), context.active_object),
        "Select a copy (Shift+D) of a control point that is not in the list",
    )

    def change_frames(self, context: Context, joint: Object) -> None:
        copy = context.active_object
        index = curve_tools.index_in_order(context.scene, joint, copy.matrix_world, anywhere=True)
        item = bodies_and_joints.add_control_frame(context.scene, joint, copy.matrix_world, index, empty=copy)
        tell_place(self, joint.condyle.joint, item)
        show_only(context, item)


def is_stray(joint: Object, item: Object) -> bool:
    """Whether an object is a copy of a control frame of a joint, but not in the joint's list."""
    if item is None or item.condyle.frame_of != joint:
        return False
    return all(frame.object != item for frame in joint.condyle.joint.frames)


class _CurveOperator(RedoneJob):
    needs = needs_curve

    @classmethod
    def why_not(cls, context: Context) -> str:
        settings = active_joint(context).condyle.joint
        if settings.type != "spline_curve" or settings.frames_of is not None:
            return "Only for a spline curve with its own control points"
        if len(settings.frames) < settings.order:
            return f"A curve of order {settings.order} needs {settings.order} control points"
        return ""

    def told(self, outcome: "curve_tools.Reshaped") -> str:
        moved = f"{units.told_length(1e-3 * outcome.distance)} and {figure(outcome.angle)}°"
        return "; ".join([f"{self.title}: the curve moved by at most {moved}", *outcome.warnings])


class ReverseCurve(_CurveOperator, Operator):
    """Reverse the curve: its last control frame becomes the first. Limits, rest, start and keys of the coordinate are
    converted, so that the motion of the child is kept"""

    bl_idname = "condyle.reverse_curve"
    bl_label = "Reverse Curve"
    title = "Reverse"

    def steps(self, context: Context) -> Any:
        return curve_tools.reverse(context.scene, active_joint(context))


class EvenOutFrames(_CurveOperator, Operator):
    """Spread the control frames evenly along the curve, closer at its ends; reports the largest change of the curve.
    The coordinate becomes its length; limits, rest, start and keys are converted, so that the motion is kept"""

    bl_idname = "condyle.even_out_frames"
    bl_label = "Space Evenly"
    title = "Even out"

    num_frames: integer(
        "Control Points",
        "New number of control points; 0: as many as now",
        default=0,
        min=0,
        max=1000,
        options={"SKIP_SAVE"},
    )

    def steps(self, context: Context) -> Any:
        joint = active_joint(context)
        count = self.num_frames and max(self.num_frames, joint.condyle.joint.order)
        return curve_tools.even_out(context.scene, joint, count)

    def told(self, outcome: "curve_tools.Reshaped") -> str:
        report = super().told(outcome)
        if self.num_frames and outcome.num_frames > self.num_frames:
            report += f"; it has {outcome.num_frames} control points, the least for its order"
        return report


class FramesMenu(Menu):
    bl_idname = "CONDYLE_MT_frames"
    bl_label = "Control Points"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("condyle.add_control_frame", text="Add After This One", icon="ADD").place = "NEXT"
        layout.operator("condyle.add_control_frame", text="Add at the End", icon="ADD").place = "END"
        layout.operator("condyle.duplicate_control_frame", icon="DUPLICATE")
        layout.separator()
        layout.operator("condyle.even_out_frames", icon="DRIVER_DISTANCE")
        layout.operator("condyle.reverse_curve", icon="ARROW_LEFTRIGHT")
        layout.operator("condyle.mirror_joint", icon="MOD_MIRROR")
