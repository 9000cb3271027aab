"""Operators that add, insert, remove, reorder and select control frames."""

from typing import Any

from bpy.types import Context, Object, Operator

from ...blender import physics_access, session, units
from ...blender.physics_access import model_error
from ...data import references
from ...data import stored_joints as joints
from ...data.joints import JointProperties, has_curve
from ...data.property_options import Edit, active_joint, figure, needing, needs_joint, unless
from ...data.selection import show_only
from ...making import bodies_and_joints, curve_tools, insert_frame
from ...sliders import sliders
from ..asked import choice, integer

#: the active joint has a curve
needs_curve = needing(
    lambda context: has_curve(active_joint(context).condyle.joint),
    "Only a spline curve has control points: change the joint's type first",
    needs_joint,
)


def frame_at_hand(context: Context, settings: JointProperties) -> int:
    """Number of the list's active frame if it is missing, else of the active Empty, else of the list's active frame."""
    marked = min(settings.active_frame, max(0, len(settings.frames) - 1))
    if is_missing(context, settings, marked):
        return marked
    for number, frame in enumerate(settings.frames):
        if frame.object is not None and frame.object == context.active_object:
            return number
    return marked


def is_missing(context: Context, settings: JointProperties, number: int) -> bool:
    """Whether the Empty of a control frame was deleted."""
    if not 0 <= number < len(settings.frames):
        return False
    return not references.in_scene(context.scene, settings.frames[number].object)


def is_seen(context: Context, item: Object) -> bool:
    """Whether an object can be selected in the view layer."""
    return item is not None and context.view_layer.objects.get(item.name) == item


def renew_sliders(operator: Any, context: Context, joint: Object) -> None:
    """Update the sliders to changed control frames; warns where these are invalid."""
    try:
        if joint.condyle.joint.driven:
            sliders.refresh(context.scene, joint)
    except physics_access.physics().CondyleError as error:
        operator.report({"WARNING"}, f"The sliders were not updated: {error}")


class FrameOperator(Edit):
    """Base of operators that change the control frames of the active curve."""

    needs = needs_curve

    @classmethod
    def why_not(cls, context: Context) -> str:
        if cls.least_frames > len(active_joint(context).condyle.joint.frames):
            least = f"fewer than {cls.least_frames}" if cls.least_frames > 1 else "no"
            return f"The joint has {least} control points"
        return ""

    change_frames: Any
    least_frames = 0
    share: Any = None  # place of an added frame on the way to the next; None: the motion need not be kept

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        references.check_evaluated(joint, f"joint {joint.name!r}")
        joint.condyle.joint.active_frame = frame_at_hand(context, joint.condyle.joint)
        before = insert_frame.curve_of(context.scene, joint) if self.share else None
        known = {frame.object for frame in joint.condyle.joint.frames}
        self.change_frames(context, joint)
        curve_tools.rename_frames(joint)
        if before is not None:
            self._keep_motion(context, joint, before, known)
        renew_sliders(self, context, joint)

    def _keep_motion(
        self, context: Context, joint: Object, before: "physics_access.SplineCurve", known: set[Object]
    ) -> None:
        """Keep the motion of the child after a frame was added to the known ones, and report the largest change."""
        # not the list's active frame: in a window that follows the selection, which adding a frame changes
        frames = enumerate(joint.condyle.joint.frames)
        index = next(number for number, frame in frames if frame.object not in known)
        moved = insert_frame.grow(context.scene, joint, before, index, self.share)
        if moved is not None:
            far = f"{units.told_length(1e-3 * moved.distance)} and {figure(moved.angle)}°"
            message = f"{self.bl_label}: the curve moved by at most {far}"
            session.tell(message, "CHECKMARK")
            self.report({"INFO"}, message)


def tell_place(operator: Any, settings: JointProperties, made: Object) -> None:
    """Report the number of an added control frame, by its Empty, unless it is the last."""
    number = 1 + next(k for k, frame in enumerate(settings.frames) if frame.object == made)
    count = len(settings.frames)
    if number < count:
        operator.report({"INFO"}, f"Added as frame {number} of {count}")


class AddControlFrame(FrameOperator, Operator):
    """Add a control frame at the child's present pose: at the end of the curve, or between two frames if it clearly
    lies there. Adjust Last Operation offers other places"""

    bl_idname = "condyle.add_control_frame"
    bl_label = "Add Control Point"

    place: choice(
        "Place",
        "Place of the new frame along the curve",
        items=(
            (
                "FITTING",
                "Where It Fits",
                "At the end, between two frames if it clearly lies there, or before the first if it extends the start",
            ),
            ("NEXT", "After This One", "After the active control point"),
            (
                "END",
                "At the End",
                "After all others, for a curve that is added pose by pose and crosses itself",
            ),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Any, properties: Any) -> str:
        if properties.place == "NEXT":
            return "Add a control point at the child's present pose, after the active one"
        if properties.place == "END":
            return "Add a control point at the child's present pose, after all others"
        return " ".join((cls.__doc__ or "").split())

    def change_frames(self, context: Context, joint: Object) -> None:
        settings = joint.condyle.joint
        index, child = None, references.resolve(settings.child)
        if self.place == "FITTING" and child is not None:
            pose = joints.frame_of_child(joint, child)
            index = curve_tools.index_in_order(context.scene, joint, pose)
        elif self.place == "NEXT" and len(settings.frames):
            index = settings.active_frame + 1
        tell_place(self, settings, bodies_and_joints.add_control_frame(context.scene, joint, index=index))


class InsertControlFrame(FrameOperator, Operator):
    """Insert a control frame halfway between the active one and the next. Neighbouring frames move a little, so that
    the motion of the child is kept; reports the largest change"""

    bl_idname = "condyle.insert_control_frame"
    bl_label = "Insert Control Point"
    least_frames = 2
    share = 0.5

    def change_frames(self, context: Context, joint: Object) -> None:
        settings = joint.condyle.joint
        last = len(settings.frames) - (1 if settings.periodic else 2)
        bodies_and_joints.insert_between(context.scene, joint, min(settings.active_frame, last))


class RemoveControlFrame(FrameOperator, Operator):
    """Remove the active control frame and its Empty"""

    bl_idname = "condyle.remove_control_frame"
    bl_label = "Remove Control Point"
    least_frames = 1

    def change_frames(self, context: Context, joint: Object) -> None:
        settings, active = joint.condyle.joint, context.active_object
        was_active = active is not None and active == settings.frames[settings.active_frame].object
        bodies_and_joints.remove_control_frame(joint, settings.active_frame)
        if was_active:  # otherwise nothing would be active, and the panel would not show the joint
            near = settings.frames[settings.active_frame].object if len(settings.frames) else None
            show_only(context, near if is_seen(context, near) else joint)


class MoveControlFrame(FrameOperator, Operator):
    """Move the active control frame up or down in the order of the curve"""

    bl_idname = "condyle.move_control_frame"
    bl_label = "Move Control Point"
    least_frames = 2

    direction: choice(
        "Direction", "Direction in the list", items=(("UP", "Up", "Earlier"), ("DOWN", "Down", "Later"))
    )

    def change_frames(self, context: Context, joint: Object) -> None:
        settings = joint.condyle.joint
        target = settings.active_frame + (-1 if self.direction == "UP" else 1)
        if 0 <= target < len(settings.frames):
            settings.frames.move(settings.active_frame, target)
            settings.active_frame = target
            settings.knots.clear()


class SelectControlFrame(Edit, Operator):
    """Select the Empty of a control frame"""

    bl_idname = "condyle.select_control_frame"
    bl_label = "Select Control Point"
    needs = needs_joint

    index: integer("Number", "Number of the control point, from 0", min=0)
    why_not = unless(lambda context: context.mode == "OBJECT", "Only in object mode")

    def change(self, context: Context) -> None:
        frames = active_joint(context).condyle.joint.frames
        if self.index >= len(frames) or not is_seen(context, frames[self.index].object):
            number = self.index
            raise model_error(f"Control point {number} is missing, or hidden in this view layer")
        show_only(context, frames[self.index].object)
