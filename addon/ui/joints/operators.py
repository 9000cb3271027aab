"""Operators that add and remove joints, choose their types, and drive them by sliders."""

from bpy.props import BoolProperty, EnumProperty, IntProperty
from bpy.types import Context, Event, Operator

from ...blender import session
from ...data import references
from ...data.joint_types import WHOLE_ONLY, search_items
from ...data.property_options import Change, active_joint, allowed, needs_joint, needs_own_joint
from ...making import bodies_and_joints, connected_bones, joint_places, scales
from ...posing import keep_sliders, project_poses
from ...sliders import sliders


class _SearchOperator(Change):
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

    kind: EnumProperty(
        name="Type", description="How the child moves", items=search_items(), default="spline_curve"
    )
    closes_loop: BoolProperty(
        name="Closes a Loop",
        description="The child already has another joint; this one also connects it to the parent",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if references.active_body(context) is None:
            return "Select the child, then the parent: two objects, or two bones in pose mode"
        return ""

    def execute(self, context: Context) -> set[str]:
        scene, pairs = context.scene, references.joint_pairs(context)
        if len(pairs) > 1 and not self.closes_loop:
            pairs = [pair for pair in pairs if references.joint_of(scene, pair[1]) is None]
        if not pairs:
            self.report({"ERROR"}, "All that is selected has joints already")
            return {"CANCELLED"}
        bodies_and_joints.check_joints(pairs)
        for parent, child in pairs:
            joint = joint_places.add(scene, parent, child, self.kind, self.closes_loop)
            keep_sliders.join_chain(scene, joint)
        if len(pairs) > 1:
            self.report({"INFO"}, f"{len(pairs)} joints added")
            return {"FINISHED"}
        # panels find the joint of the active child, but a joint that closes a loop only by its own Empty
        at_hand = references.Body(joint) if self.closes_loop and context.mode == "OBJECT" else child
        references.make_active(context, at_hand)
        self.report({"INFO"}, f"Joint {joint.name!r} added")
        return {"FINISHED"}


class ApplyScale(Change, Operator):
    """Apply the non-uniform and negative scales, which cannot be simulated, of the bodies, what is selected, and their
    parents, as Ctrl+A does"""

    bl_idname = "condyle.apply_scale"
    bl_label = "Apply Scale"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if context.mode != "OBJECT":
            return "Go to Object Mode: scales cannot be applied elsewhere"
        return "" if scales.refused(_to_simulate(context)) else "No scale is non-uniform or negative"

    def execute(self, context: Context) -> set[str]:
        items = scales.refused(_to_simulate(context))
        scales.apply(items)
        self.report({"INFO"}, f"Scale of {', '.join(item.name for item in items)} applied")
        return {"FINISHED"}


def _to_simulate(context: Context) -> list[references.Body]:
    return [*references.selected_bodies(context), *references.bodies_of(context.scene)]


class ChooseType(_SearchOperator, Operator):
    """Choose the joint's type from a searchable list; coordinates that both types have keep their settings"""

    bl_idname = "condyle.choose_type"
    bl_label = "Choose Type"
    bl_property = "kind"
    needs = needs_joint

    kind: EnumProperty(
        name="Type", description="How the child moves", items=search_items(), default="spline_curve"
    )
    part: IntProperty(
        name="Part", description="Number of the part of a composite joint, from 1; 0: the joint itself", min=0
    )

    def execute(self, context: Context) -> set[str]:
        joint = active_joint(context)
        settings = joint.condyle.joint
        if self.part == 0:
            settings.type = self.kind
            if not settings.coordinates:  # a joint with coordinates waits for Drive by Sliders
                keep_sliders.join_chain(context.scene, joint)
            return {"FINISHED"}
        if self.part > len(settings.parts):
            self.report({"ERROR"}, f"The joint has no part {self.part}")
            return {"CANCELLED"}
        if self.kind in WHOLE_ONLY:
            self.report({"ERROR"}, "A composite joint cannot be a part of another: add its parts one by one")
            return {"CANCELLED"}
        settings.parts[self.part - 1].type = self.kind
        return {"FINISHED"}


class RemoveJoint(Change, Operator):
    """Remove the active joint, and those of all that is selected, with their control frames; bodies and their animation
    are kept"""

    bl_idname = "condyle.remove_joint"
    bl_label = "Remove Joint"
    needs = needs_own_joint

    def execute(self, context: Context) -> set[str]:
        scene, active = context.scene, active_joint(context)
        chosen = [references.joint_of(scene, body) for body in references.selected_bodies(context)]
        joints = {item.session_uid: item for item in (active, *chosen) if item is not None}
        own = [item for item in joints.values() if item.library is None and item.override_library is None]
        for item in own:
            bodies_and_joints.remove_joint(scene, item)
        self.report({"INFO"}, f"{len(own)} {'joint' if len(own) == 1 else 'joints'} removed")
        return {"FINISHED"}


class SetRestPose(Change, Operator):
    """Make the child's present pose the one where all coordinates of the joint are 0"""

    bl_idname = "condyle.set_rest_pose"
    bl_label = "Set Rest Pose"
    needs = needs_joint

    def execute(self, context: Context) -> set[str]:
        bodies_and_joints.take_rest_pose(active_joint(context))
        return {"FINISHED"}


class Drive(Change, Operator):
    """Drive the child by one slider per coordinate, within its limits; again: update them to a changed joint. The
    sliders are custom properties of the joint's Empty: they can be keyed and driven, and work without Condyle"""

    bl_idname = "condyle.drive"
    bl_label = "Drive by Sliders"
    needs = needs_joint

    @classmethod
    def why_not(cls, context: Context) -> str:
        if active_joint(context).condyle.joint.closes_loop:
            return "The joint closes a loop: another joint moves its child"
        return ""

    def execute(self, context: Context) -> set[str]:
        joint = active_joint(context)
        project_poses.drive_here(context.scene, joint)
        context.view_layer.update()
        warning = connected_bones.told(context.scene, [joint])
        if warning:
            session.tell(warning)
        return {"FINISHED"}


class StopDriving(Change, Operator):
    """Stop driving the child by sliders, so that it follows its own keys again"""

    bl_idname = "condyle.stop_driving"
    bl_label = "Stop Driving"
    needs = needs_joint

    @classmethod
    def why_not(cls, context: Context) -> str:
        joint = active_joint(context)
        if not joint.condyle.joint.driven:
            return "The sliders do not drive this joint"
        override = joint.override_library
        if (
            override is not None
            and override.reference is not None
            and override.reference.condyle.joint.driven
        ):
            return f"{joint.name} is driven in its library, which would drive it again after the file is reopened"
        return ""

    def execute(self, context: Context) -> set[str]:
        sliders.set_driven(context.scene, active_joint(context), False)
        return {"FINISHED"}


class StartHere(Change, Operator):
    """Start the simulation at the present values of the sliders"""

    bl_idname = "condyle.start_here"
    bl_label = "Start Here"
    needs = needs_joint

    @classmethod
    def why_not(cls, context: Context) -> str:
        if not active_joint(context).condyle.joint.driven:
            return "Drive the joint by its sliders first"
        return ""

    def execute(self, context: Context) -> set[str]:
        sliders.start_here(context.scene, active_joint(context))
        return {"FINISHED"}


def _needs_composite(cls: type[Operator], context: Context) -> bool:
    return needs_joint(cls, context) and allowed(
        cls,
        "Only a composite joint has parts" if active_joint(context).condyle.joint.type != "composite" else "",
    )


class AddPart(_SearchOperator, Operator):
    """Add a part to a composite joint"""

    bl_idname = "condyle.add_part"
    bl_label = "Add Part"
    bl_property = "kind"
    needs = _needs_composite

    kind: EnumProperty(
        name="Type", description="How the part moves", items=search_items(WHOLE_ONLY), default="hinge"
    )

    def execute(self, context: Context) -> set[str]:
        joint = active_joint(context)
        joint.condyle.joint.parts.add().type = self.kind
        keep_sliders.shape_changed(context.scene, joint)
        return {"FINISHED"}


class RemovePart(Change, Operator):
    """Remove a part from a composite joint"""

    bl_idname = "condyle.remove_part"
    bl_label = "Remove Part"
    needs = _needs_composite

    part: IntProperty(name="Part", description="Number of the part, from 1; 0: the last", min=0)

    def execute(self, context: Context) -> set[str]:
        joint = active_joint(context)
        parts = joint.condyle.joint.parts
        if not parts or self.part > len(parts):
            self.report(
                {"WARNING"}, f"The joint has no part {self.part}" if parts else "The joint has no parts"
            )
            return {"CANCELLED"}
        parts.remove((self.part or len(parts)) - 1)
        keep_sliders.shape_changed(context.scene, joint)
        return {"FINISHED"}


classes = (
    AddJoint,
    ApplyScale,
    ChooseType,
    RemoveJoint,
    SetRestPose,
    Drive,
    StopDriving,
    StartHere,
    AddPart,
    RemovePart,
)
