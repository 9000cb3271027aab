"""Operators that drive all joints by sliders, and move bodies to targets."""

from bpy.types import Context, Operator

from ...blender import session, units
from ...data import frame_times, references
from ...data.property_options import Edit, counted, own_body, unless
from ...data.selection import show_only
from ...making import connected_bones, joint_places
from ...posing import ik_targets, inverse_kinematics
from ...sliders import sliders
from ..asked import integer


class DriveAll(Edit, Operator):
    """Drive the children of all joints of the scene by sliders, within their limits"""

    bl_idname = "condyle.drive_all"
    bl_label = "Drive All"

    @classmethod
    def why_not(cls, context: Context) -> str:
        joints = [item.condyle.joint for item in references.joints_of(context.scene)]
        if not any(sliders.can_drive(each) for each in joints):
            return "The scene has no joint with coordinates to drive"
        if not any(sliders.can_drive(each) and not each.driven for each in joints):
            return "All joints are already driven by sliders"
        return ""

    def change(self, context: Context) -> None:
        driven = inverse_kinematics.drive_all(context.scene)
        for joint in driven:
            joint_places.begin_as_shown(context.scene, joint)
        context.view_layer.update()
        warning = connected_bones.told(context.scene, driven)
        done = f"{counted(len(driven), 'joint')} driven by sliders"
        session.tell("; ".join(filter(None, [done, warning])), "INFO" if warning else "CHECKMARK")


class AddTarget(Edit, Operator):
    """Add an Empty as an inverse kinematics target for the origin of the active body, or the tip of a bone"""

    bl_idname = "condyle.add_target"
    bl_label = "Add Target"

    why_not = unless(own_body, "Select the body that should follow the target")

    def change(self, context: Context) -> None:
        body = references.active_body(context)
        place = body.matrix.translation
        if body.bone:
            place = body.object.matrix_world @ body.pose_bone.tail
        item = ik_targets.add_target(context.scene, body, place)
        show_only(context, item)
        follows = context.scene.condyle.reach.live
        then = f", and {body.name} follows" if follows else ", then press Solve IK; or turn on Follow Targets"
        session.tell(f"{item.name}: move it{then}", "CHECKMARK")


class _WithTargets(Edit):
    why_not = unless(
        lambda context: ik_targets.targets_of(context.scene),
        "The scene has no target: select a body and use Add Target",
    )


class ReachTargets(_WithTargets, Operator):
    """Set the sliders so that all bodies are at their targets, or as near as their joints allow. Also searches poses
    far from the present one"""

    bl_idname = "condyle.reach_targets"
    bl_label = "Solve IK"

    def change(self, context: Context) -> None:
        outcome = inverse_kinematics.reach_now(context.scene, ik_targets.wishes_of(context.scene))
        context.scene.condyle.reach.told = outcome.told()
        session.tell(f"Targets: {outcome.told()}", "CHECKMARK" if outcome.met else "INFO")
        if context.scene.tool_settings.use_keyframe_insert_auto:
            search = inverse_kinematics.Reach(context.scene, ik_targets.wishes_of(context.scene))
            inverse_kinematics.key(search.sliders(), context.scene.frame_current)


class KeyReach(_WithTargets, Operator):
    """Key the sliders in every frame of the range, so that the joints follow their animated targets in renders, and
    without Condyle"""

    bl_idname = "condyle.key_joints"
    bl_label = "Key Joints"

    first: integer("First", "First frame", options={"SKIP_SAVE"})
    last: integer("Last", "Last frame. First and Last 0: the range", options={"SKIP_SAVE"})

    def change(self, context: Context) -> None:
        if (self.first, self.last) == (0, 0):
            self.first, self.last = frame_times.frame_ends(context.scene)
        count, worst, at = ik_targets.key_range(context.scene, self.first, self.last)
        far = f"; up to {units.told_length(worst)} from the targets, at frame {at}" if worst > 1e-5 else ""
        session.tell(f"Keyed {counted(count, 'frame')}{far}", "CHECKMARK")
