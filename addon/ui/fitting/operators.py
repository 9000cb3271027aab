"""Fit from keyframes: a curve or a surface; what the fit was asked for can be changed live.

In the window the first fit is modal: the compute process may have to start and compile. Adjust Last Operation (F9)
then undoes it and calls `execute` with changed properties, which waits: by now the process is warm and answers in
a fraction of a second. Should it not answer in `REDO_SECONDS`, the fit is given up and nothing is changed.
"""

import math
from typing import Any

from bpy.props import BoolProperty
from bpy.types import Operator

from ...blender import units
from ...data import fit_settings, references
from ...data.property_options import figure, need_object_mode, own_joint, writable
from ...jobs import fit
from ...jobs.operator import JobOperator
from ..layout import fields

# poses for each control frame from which on one that lies off stands out
OUTSTANDING = 1.5
REDO_SECONDS = 10.0
# degrees: nearer, angles have to turn ten times as fast as the body
NEAR_GIMBAL_LOCK = 5.7


def _joint_at_hand(context: Any) -> Any:
    """The joint that a fit is of, whichever of its two bodies is active; None: one is to be made."""
    return own_joint(context) or fit.joint_of_selected(context)


class _FitOperator(JobOperator):
    bl_options = {"REGISTER", "UNDO"}
    title = "Fit"
    kind = "spline_curve"
    groups: tuple[Any, ...] = ()

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not (writable(cls) and need_object_mode(cls, context)):
            return False
        if own_joint(context) is None and references.active_body(context) is None:
            cls.poll_message_set("Select the keyed object or bone, or its joint")
            return False
        joint = own_joint(context)
        if joint is not None and joint.condyle.joint.type == "composite":
            cls.poll_message_set(
                "A fit would replace the parts of a composite joint: fit another joint, and let a part take its frames"
            )
            return False
        return True

    def invoke(self, context: Any, event: Any) -> set[str]:
        self._take_settings(context)
        return super().invoke(context, event)

    def execute(self, context: Any) -> set[str]:
        context.view_layer.update()  # adjusted, it is called straight after an undo, which leaves no matrices
        self._take_settings(context)
        if self.options.is_repeat or self.options.is_repeat_last:
            self.seconds = REDO_SECONDS
        return super().execute(context)

    def _take_settings(self, context: Any) -> None:
        """What the caller did not say is as the joint's settings have it."""
        joint = _joint_at_hand(context) or context.active_object
        settings = joint.condyle.joint.fit
        for name, value in fit_settings.values(settings, self.groups).items():
            if not self.properties.is_property_set(name):
                setattr(self, name, value)
        if self.kind == "spline_curve" and not self.properties.is_property_set("periodic"):
            self.periodic = joint.condyle.joint.periodic

    def steps(self, context: Any) -> Any:
        wished = fit_settings.values(self, self.groups) | self.more()
        return fit.fit_selected(context, _joint_at_hand(context), self.kind, wished)

    def more(self) -> dict[str, Any]:
        """Wishes beside those of the joint's fit settings."""
        return {}

    def told(self, outcome: Any) -> str:
        return (
            f"Fit: {outcome.num_poses} poses, worst {units.told_length(1e-3 * outcome.worst_distance_mm)} and "
            f"{figure(outcome.worst_angle_deg)}°, {outcome.iterations} iterations"
            + (f"; {outcome.held} held, which count once" if outcome.held else "")
            + (f"; not driven by sliders: {outcome.undriven}" if outcome.undriven else "")
        )

    def draw(self, _context: Any) -> None:
        column = fields(self.layout.column())
        fit_settings.draw(column, self, self.kind == "spline_surface")
        if self.kind == "spline_curve":
            column.prop(self, "periodic")


class FitFromKeyframes(_FitOperator, Operator):
    """Fit the joint's curve to the keyed poses of its child, relative to its parent. Without a joint one is made first:
    select the child, then the parent, as for Add Joint; with the child alone, it is its parent in Blender. Where only
    one of two is keyed, that one moves"""

    bl_idname = "condyle.fit"
    bl_label = "Fit Curve from Keyframes"
    groups = fit_settings.CURVE
    __annotations__ = fit_settings.redoable(*fit_settings.CURVE) | {
        "periodic": BoolProperty(
            name="Closed",
            description="The motion comes back to where it began: the curve closes on itself. Of several cycles the "
            "first is fitted",
            options={"SKIP_SAVE"},
        )
    }

    def more(self) -> dict[str, Any]:
        return {"periodic": self.periodic}

    def told(self, outcome: Any) -> str:
        told = super().told(outcome)
        count = outcome.wished["num_frames"]
        if self.frames_by == "NUMBER" and count != self.num_frames:
            why = (
                "as many as they can fix"
                if count < self.num_frames
                else "the least that the curve's order takes"
            )
            told += f"; {count} control frames, {why}"
        if outcome.wished["robust"] != "NONE" and outcome.num_poses < OUTSTANDING * len(outcome.joint.frames):
            told += f"; {len(outcome.joint.frames)} control frames follow outliers, too: take fewer"
        if self.keys == "ONE_WAY" and not self.periodic and outcome.cyclic != "TO_AND_FRO":
            return (
                f"{told}; no one way is found that the rest of the motion goes back on: all keys are fitted"
            )
        offer = {"CLOSED": "comes back: tick Closed", "TO_AND_FRO": "goes to and fro: choose Keys, One Way"}
        if self.periodic or self.keys == "ONE_WAY" or outcome.cyclic not in offer:
            return told
        return f"{told}; the motion {offer[outcome.cyclic]}"


class FitSurface(_FitOperator, Operator):
    """Fit a surface to the keyed poses of the joint's child, relative to its parent: for poses all over a surface, in
    any order. Without a joint one is made first, as by Fit Curve"""

    bl_idname = "condyle.fit_surface"
    bl_label = "Fit Surface from Keyframes"
    kind = "spline_surface"
    groups = fit_settings.SURFACE
    __annotations__ = fit_settings.redoable(*fit_settings.SURFACE)

    def told(self, outcome: Any) -> str:
        margin = math.degrees(math.asin(min(1.0, outcome.joint.gimbal_margin())))
        near = f"; its angles come within {margin:.1f}° of gimbal lock" if margin < NEAR_GIMBAL_LOCK else ""
        rows, columns = (outcome.wished[name] for name in ("rows", "columns"))
        more = (rows, columns) != (self.rows, self.columns)
        least = f"; {rows} rows and {columns} columns, the least that its orders take" if more else ""
        return super().told(outcome) + least + near


classes = (FitFromKeyframes, FitSurface)
