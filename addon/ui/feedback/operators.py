"""Operators that add and remove feedback laws of joints."""

from bpy.types import Context, Operator

from ...data import references
from ...data.feedback import SIGNALS
from ...data.property_options import Edit, active_joint, needs_own_joint, unless
from ...making import feedback
from ..asked import choice
from ..lists import remove_active


class AddFeedbackLaw(Edit, Operator):
    """Add a feedback law: in every step it changes the torque of the joint, or how a muscle is excited, by what it
    measures. An object that is selected with the joint is measured, or its touch is"""

    bl_idname = "condyle.add_feedback_law"
    bl_label = "Add Law"
    needs = needs_own_joint

    signal: choice("Signal", "What the law measures", items=SIGNALS)

    why_not = unless(
        lambda context: len(active_joint(context).condyle.joint.coordinates), "The joint has no coordinate"
    )

    def change(self, context: Context) -> str:
        joint = active_joint(context)
        active = references.active_body(context)
        others = [
            each
            for each in references.selected_bodies(context)
            if not references.same(each, active) and each.object != joint
        ]
        law = feedback.add(joint, self.signal, next(iter(others), None))
        return f"{joint.name}: law {law.title} added"


class RemoveFeedbackLaw(Edit, Operator):
    """Remove the selected feedback law of the joint"""

    bl_idname = "condyle.remove_feedback_law"
    bl_label = "Remove Law"
    needs = needs_own_joint

    why_not = unless(
        lambda context: len(active_joint(context).condyle.joint.feedback_laws),
        "The joint has no feedback law",
    )

    def change(self, context: Context) -> None:
        remove_active(active_joint(context).condyle.joint, "feedback_laws", "active_feedback_law")
