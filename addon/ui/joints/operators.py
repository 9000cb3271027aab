"""Operators that add and remove joints, choose their types, and drive them by sliders."""

from bpy.types import Context, Event, Operator

from ...blender import session
from ...blender.physics_access import model_error
from ...data import references
from ...data.joint_types import WHOLE_ONLY, search_items
from ...data.property_options import (
    Edit,
    active_joint,
    counted,
    needing,
    needs_joint,
    needs_own_joint,
    unless,
)
from ...making import bodies_and_joints, connected_bones, joint_places, scales
from ...posing import keep_sliders, project_poses
from ...sliders import sliders
from ..asked import choice, flag, integer


class _SearchOperator(Edit):
    """Base of operators that ask for the type in a searchable list; each class must define `bl_property` itself."""

    def invoke(self, context: Context, _event: Event) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def draw(self, _context: Context) -> None:
        self.layout.prop(self, "kind", text="")  # a label would truncate the type


class AddJoint(_SearchOperator, Operator):
    """Add a joint of a type that you choose: select the child, then the parent (so that it is active). A Blender child
    of the other body is always the child. Of one body, or of more than two, each gets a joint to its Blender parent (a
    bone without one: to its armature), or to the world"""

    bl_idname = "condyle.add_joint"
    bl_label = "Add Joint"
    bl_property = "kind"

    kind: choice("Type", "How the child moves", items=search_items(), default="spline_curve")
    closes_loop: flag(
        "Closes a Loop",
        "The child already has another joint; this one also connects it to the parent",
        options={"SKIP_SAVE"},
    )
    why_not = unless(
        references.active_body, "Select the child, then the parent: two objects, or two bones in pose mode"
    )

    def change(self, context: Context) -> str:
        scene, pairs = context.scene, references.joint_pairs(context)
        if len(pairs) > 1 and not self.closes_loop:
            pairs = [pair for pair in pairs if references.joint_of(scene, pair[1]) is None]
        if not pairs:
            raise model_error("All that is selected has joints already")
        bodies_and_joints.check_joints(pairs)
        for parent, child in pairs:
            joint = joint_places.add(scene, parent, child, self.kind, self.closes_loop)
            joint_places.begin_as_shown(scene, joint)
            keep_sliders.join_chain(scene, joint)
        if len(pairs) > 1:
            return f"{len(pairs)} joints added"
        # panels find the joint of the active child, but a joint that closes a loop only by its own Empty
        at_hand = references.Body(joint) if self.closes_loop and context.mode == "OBJECT" else child
        references.make_active(context, at_hand)
        return f"Joint {joint.name!r} added"


class ApplyScale(Edit, Operator):
    """Apply the non-uniform and negative scales, which cannot be simulated, of the bodies, what is selected, and their
    parents, as Ctrl+A does"""

    bl_idname = "condyle.apply_scale"
    bl_label = "Apply Scale"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if context.mode not in {"OBJECT", "POSE"}:
            return "Leave the edit mode (Tab): scales cannot be applied there"
        return "" if scales.refused(_to_simulate(context)) else "No scale is non-uniform or negative"

    def change(self, context: Context) -> str:
        items = scales.refused(_to_simulate(context))
        scales.apply(items)
        return f"Scale of {', '.join(item.name for item in items)} applied"


def _to_simulate(context: Context) -> list[references.Body]:
    return [*references.selected_bodies(context), *references.bodies_of(context.scene)]


class ChooseType(_SearchOperator, Operator):
    """Choose the joint's type from a searchable list; coordinates that both types have keep their settings"""

    bl_idname = "condyle.choose_type"
    bl_label = "Choose Type"
    bl_property = "kind"
    needs = needs_joint

    kind: choice("Type", "How the child moves", items=search_items(), default="spline_curve")
    part: integer("Part", "Number of the part of a composite joint, from 1; 0: the joint itself", min=0)

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        settings = joint.condyle.joint
        if self.part == 0:
            settings.type = self.kind
            if not settings.coordinates:  # a joint with coordinates waits for Drive by Sliders
                keep_sliders.join_chain(context.scene, joint)
            return
        if self.part > len(settings.parts):
            raise model_error(f"The joint has no part {self.part}")
        if self.kind in WHOLE_ONLY:
            raise model_error("A composite joint cannot be a part of another: add its parts one by one")
        settings.parts[self.part - 1].type = self.kind


class RemoveJoint(Edit, Operator):
    """Remove the active joint, and those of all that is selected, with their control frames; bodies and their animation
    are kept"""

    bl_idname = "condyle.remove_joint"
    bl_label = "Remove Joint"
    needs = needs_own_joint

    def change(self, context: Context) -> str:
        scene, active = context.scene, active_joint(context)
        chosen = [references.joint_of(scene, body) for body in references.selected_bodies(context)]
        joints = {item.session_uid: item for item in (active, *chosen) if item is not None}
        own = [item for item in joints.values() if item.library is None and item.override_library is None]
        for item in own:
            bodies_and_joints.remove_joint(scene, item)
        return f"{counted(len(own), 'joint')} removed"


class SetRestPose(Edit, Operator):
    """Make the child's present pose the one where all coordinates of the joint are 0"""

    bl_idname = "condyle.set_rest_pose"
    bl_label = "Set Rest Pose"
    needs = needs_joint

    def change(self, context: Context) -> None:
        bodies_and_joints.take_rest_pose(active_joint(context))


class Drive(Edit, Operator):
    """Drive the child by one slider per coordinate, within its limits; again: update them to a changed joint. The
    sliders are custom properties of the joint's Empty: they can be keyed and driven, and work without Condyle"""

    bl_idname = "condyle.drive"
    bl_label = "Drive by Sliders"
    needs = needs_joint

    why_not = unless(
        lambda context: not active_joint(context).condyle.joint.closes_loop,
        "The joint closes a loop: another joint moves its child",
    )

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        project_poses.drive_here(context.scene, joint)
        joint_places.begin_as_shown(context.scene, joint)
        context.view_layer.update()
        warning = connected_bones.told(context.scene, [joint])
        if warning:
            session.tell(warning)


class StopDriving(Edit, Operator):
    """Stop driving the child by sliders, so that it follows its own keys again"""

    bl_idname = "condyle.stop_driving"
    bl_label = "Stop Driving"
    needs = needs_joint

    @classmethod
    def why_not(cls, context: Context) -> str:
        joint = active_joint(context)
        if not joint.condyle.joint.driven:
            return "The sliders do not drive this joint"
        original = None if joint.override_library is None else joint.override_library.reference
        if original is not None and original.condyle.joint.driven:
            return f"{joint.name} is driven in its library, which would drive it again after the file is reopened"
        return ""

    def change(self, context: Context) -> None:
        sliders.set_driven(context.scene, active_joint(context), False)


class StartHere(Edit, Operator):
    """Start the simulation at the present values of the sliders"""

    bl_idname = "condyle.start_here"
    bl_label = "Start Here"
    needs = needs_joint

    why_not = unless(
        lambda context: active_joint(context).condyle.joint.driven, "Drive the joint by its sliders first"
    )

    def change(self, context: Context) -> None:
        sliders.start_here(context.scene, active_joint(context))


_COMPOSITE = needing(
    lambda context: active_joint(context).condyle.joint.type == "composite",
    "Only a composite joint has parts",
    needs_joint,
)


class AddPart(_SearchOperator, Operator):
    """Add a part to a composite joint"""

    bl_idname = "condyle.add_part"
    bl_label = "Add Part"
    bl_property = "kind"
    needs = _COMPOSITE

    kind: choice("Type", "How the part moves", items=search_items(WHOLE_ONLY), default="hinge")

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        joint.condyle.joint.parts.add().type = self.kind
        keep_sliders.shape_changed(context.scene, joint)


class RemovePart(Edit, Operator):
    """Remove a part from a composite joint"""

    bl_idname = "condyle.remove_part"
    bl_label = "Remove Part"
    needs = _COMPOSITE

    part: integer("Part", "Number of the part, from 1; 0: the last", min=0)

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        parts = joint.condyle.joint.parts
        if not parts or self.part > len(parts):
            raise model_error(f"The joint has no part {self.part}" if parts else "The joint has no parts")
        parts.remove((self.part or len(parts)) - 1)
        keep_sliders.shape_changed(context.scene, joint)
