"""Operators that fit a curve or a surface to keyframes; Adjust Last Operation can change their settings.

In the window the first fit is modal, because the compute process may have to start and compile. Adjust Last Operation
(F9) undoes it and calls `execute` with changed properties, which blocks for a fraction of a second. After
`REDO_SECONDS` without an answer the fit is cancelled and nothing is changed.
"""

import math
from typing import Any

from bpy.types import Context, Event, Object, Operator

from ...blender import units
from ...data import fit_settings, references
from ...data.property_options import Change, figure, own_joint
from ...jobs import fit
from ...jobs.operator import JobOperator
from ..asked import flag
from ..layout import fields

# poses per control frame needed to detect outliers
OUTSTANDING = 1.5
REDO_SECONDS = 10.0
# degrees from gimbal lock below which angles rotate over ten times as fast as the body
NEAR_GIMBAL_LOCK = 5.7


def _joint_at_hand(context: Context) -> Object | None:
    """The joint to fit, whichever of its two bodies is active; None to create one."""
    return own_joint(context) or fit.joint_of_selected(context)


class RedoneJob(Change, JobOperator):
    """Base of jobs that Adjust Last Operation does anew, while it waits."""

    redo_seconds = REDO_SECONDS

    def execute(self, context: Context) -> set[str]:
        context.view_layer.update()  # Adjust Last Operation undoes first, which leaves no matrices
        if self.options.is_repeat or self.options.is_repeat_last:
            self.seconds = self.redo_seconds
        return super().execute(context)


class _FitOperator(RedoneJob):
    title = "Fit"
    kind = "spline_curve"
    groups: tuple[Any, ...] = ()

    @classmethod
    def why_not(cls, context: Context) -> str:
        if own_joint(context) is None and references.active_body(context) is None:
            return "Select the keyed object or bone, or its joint"
        joint = own_joint(context)
        if joint is not None and joint.condyle.joint.type == "composite":
            instead = "fit another joint, and use its frames for a part"
            return f"A fit would replace the parts of a composite joint: {instead}"
        return ""

    def invoke(self, context: Context, event: Event) -> set[str]:
        self._take_settings(context)
        return super().invoke(context, event)

    def execute(self, context: Context) -> set[str]:
        self._take_settings(context)
        return super().execute(context)

    def _take_settings(self, context: Context) -> None:
        """Set properties that the caller did not set from the joint's settings."""
        joint = _joint_at_hand(context) or context.active_object
        settings = joint.condyle.joint.fit
        for name, value in fit_settings.values(settings, self.groups).items():
            if not self.properties.is_property_set(name):
                setattr(self, name, value)
        if self.kind == "spline_curve" and not self.properties.is_property_set("periodic"):
            self.periodic = joint.condyle.joint.periodic

    def steps(self, context: Context) -> Any:
        wished = fit_settings.values(self, self.groups) | self.more()
        return fit.fit_selected(context, _joint_at_hand(context), self.kind, wished)

    def more(self) -> dict[str, Any]:
        """Settings besides the joint's fit settings."""
        return {}

    def told(self, outcome: "fit.FitReport") -> str:
        return (
            f"Fit: {outcome.num_poses} poses, worst {units.told_length(1e-3 * outcome.worst_distance_mm)} and "
            f"{figure(outcome.worst_angle_deg)}°, {outcome.iterations} iterations"
            + (f"; repeated poses that count once: {outcome.held}" if outcome.held else "")
            + (f"; not driven by sliders: {outcome.undriven}" if outcome.undriven else "")
        )

    def draw(self, _context: Context) -> None:
        column = fields(self.layout.column())
        fit_settings.draw(column, self, self.kind == "spline_surface")
        if self.kind == "spline_curve":
            column.prop(self, "periodic")


class FitFromKeyframes(_FitOperator, Operator):
    """Fit the joint's curve to the keyed poses of its child, relative to its parent. Without a joint, one is added:
    select the child, then the parent; with only the child, its Blender parent is used. If only one of the two is keyed,
    that one is the child"""

    bl_idname = "condyle.fit"
    bl_label = "Fit Curve from Keyframes"
    groups = fit_settings.CURVE
    __annotations__ = fit_settings.redoable(*fit_settings.CURVE) | {
        "periodic": flag(
            "Closed",
            "Fit a closed curve to a motion that returns to its start; of several cycles, the first",
            options={"SKIP_SAVE"},
        )
    }

    def more(self) -> dict[str, Any]:
        return {"periodic": self.periodic}

    def told(self, outcome: "fit.FitReport") -> str:
        report = super().told(outcome)
        count = outcome.wished["num_frames"]
        if self.frames_by == "NUMBER" and count != self.num_frames:
            most = count < self.num_frames
            why = "the most that the poses determine" if most else "the least for the curve's order"
            report += f"; {count} control points, {why}"
        if outcome.wished["robust"] != "NONE" and outcome.num_poses < OUTSTANDING * len(outcome.joint.frames):
            report += f"; {len(outcome.joint.frames)} control points also follow outliers: use fewer"
        if self.keys == "ONE_WAY" and not self.periodic and outcome.cyclic != "TO_AND_FRO":
            return f"{report}; the motion does not go back the same way: all keys are fitted"
        offer = {
            "CLOSED": "returns to its start: tick Closed",
            "TO_AND_FRO": "goes to and fro: choose Keys, One Way",
        }
        if self.periodic or self.keys == "ONE_WAY" or outcome.cyclic not in offer:
            return report
        return f"{report}; the motion {offer[outcome.cyclic]}"


class FitSurface(_FitOperator, Operator):
    """Fit a surface to the keyed poses of the joint's child, relative to its parent: for poses spread over a surface,
    in any order. Without a joint, one is added, as by Fit Curve"""

    bl_idname = "condyle.fit_surface"
    bl_label = "Fit Surface from Keyframes"
    kind = "spline_surface"
    groups = fit_settings.SURFACE
    __annotations__ = fit_settings.redoable(*fit_settings.SURFACE)

    def told(self, outcome: "fit.FitReport") -> str:
        margin = math.degrees(math.asin(min(1.0, outcome.joint.gimbal_margin())))
        near = f"; its angles are within {margin:.1f}° of gimbal lock" if margin < NEAR_GIMBAL_LOCK else ""
        rows, columns = (outcome.wished[name] for name in ("rows", "columns"))
        more = (rows, columns) != (self.rows, self.columns)
        least = f"; {rows} rows and {columns} columns, the least for its orders" if more else ""
        return super().told(outcome) + least + near
