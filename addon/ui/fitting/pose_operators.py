"""Operators that set a joint's sliders from the child's pose, or key them from its keys."""

from typing import Any

from bpy.types import Context, Operator

from ...blender import units
from ...data.property_options import Change, active_joint, figure, needs_joint
from ...jobs.operator import JobOperator
from ...posing import project_poses


class _PoseOperator(Change, JobOperator):
    needs = needs_joint

    @classmethod
    def why_not(cls, context: Context) -> str:
        count = len(active_joint(context).condyle.joint.coordinates)
        if not 1 <= count <= 3:
            return f"Only for joints with one to three coordinates; this one has {count or 'none'}"
        return ""

    def told(self, outcome: "project_poses.Nearest") -> str:
        count = len(outcome.distances)
        poses = "The pose is" if count == 1 else f"{count} poses, the farthest is"
        far, turned = float(outcome.distances.max()), float(outcome.angles.max())
        return f"{poses} {units.told_length(1e-3 * far)} and {figure(turned)}° from the joint"


class SetFromPose(_PoseOperator, Operator):
    """Set the sliders so that the joint is nearest to the child's own pose. Without sliders, set the start values of
    the simulation"""

    bl_idname = "condyle.set_from_pose"
    bl_label = "Set from Pose"
    title = "Set from Pose"

    def steps(self, context: Context) -> Any:
        return project_poses.from_pose(context.scene, active_joint(context))


class KeySliders(_PoseOperator, Operator):
    """Key the sliders at every key of the child, each at the place of the joint nearest to the child's pose. The
    child's own keys are kept, and move it again after Stop Driving"""

    bl_idname = "condyle.key_sliders"
    bl_label = "Key Sliders from Keys"
    title = "Key Sliders"

    def steps(self, context: Context) -> Any:
        return project_poses.from_keys(context.scene, active_joint(context))
