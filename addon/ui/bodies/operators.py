"""Operators that make and remove bodies, and compute their mass."""

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, Operator

from ...blender import physics_access
from ...data import references
from ...data.property_options import Change, allowed, editable, failed
from ...making import bodies_and_joints


def _any_selected(cls: type[Operator], context: Context) -> bool:
    return editable(cls, context) and allowed(
        cls, "" if references.selected_bodies(context) else "Select objects, or bones in pose mode"
    )


class MakeBody(Change, Operator):
    """Make the selected objects or pose bones rigid bodies: with the mass of a closed mesh, or of a capsule along the
    bone, else 1 kg"""

    bl_idname = "condyle.make_body"
    bl_label = "Make Bodies"
    needs = _any_selected

    motion: EnumProperty(
        name="Without a Joint",
        description="Motion of the body if it has no joint",
        items=(
            ("HELD", "Animated", "Follows its animation; without one it does not move"),
            ("FREE", "Simulated", "Falls and tumbles freely"),
        ),
    )
    density: FloatProperty(
        name="Density [kg/m³]", description="Mass of one cubic metre", default=1000.0, min=0.0
    )

    def execute(self, context: Context) -> set[str]:
        bodies = references.selected_bodies(context)
        for body in bodies:
            bodies_and_joints.check_own(body)
        for body in bodies:
            bodies_and_joints.make_body(context.scene, body, motion=self.motion, density=self.density)
        self.report({"INFO"}, f"{len(bodies)} bodies made")
        return {"FINISHED"}


class RemoveBody(Change, Operator):
    """Make the selected bodies ordinary objects or bones again"""

    bl_idname = "condyle.remove_body"
    bl_label = "Remove Body"
    needs = _any_selected

    def execute(self, context: Context) -> set[str]:
        bodies = [body for body in references.selected_bodies(context) if body.data.body.enabled]
        for body in bodies:
            bodies_and_joints.remove_body(body)
        self.report({"INFO"}, f"{len(bodies)} bodies removed")
        return {"FINISHED"} if bodies else {"CANCELLED"}


class FillInMass(Change, Operator):
    """Compute mass, centre of mass and inertia from the mesh and its density, as values that you can edit"""

    bl_idname = "condyle.fill_in_mass"
    bl_label = "From Mesh"

    @classmethod
    def why_not(cls, context: Context) -> str:
        body = references.active_body(context)
        if body is None or not body.data.body.enabled:
            return "The active object or bone is not a body"
        return ""

    def execute(self, context: Context) -> set[str]:
        body = references.active_body(context)
        source = body.data.body.mass_source
        try:
            body.data.body.mass_source = "MESH"
            bodies_and_joints.fill_in_mass(context.scene, body)
        except physics_access.physics().CondyleError as error:
            body.data.body.mass_source = source
            return failed(self, error)
        body.data.body.mass_source = "MANUAL"
        return {"FINISHED"}


classes = (MakeBody, RemoveBody, FillInMass)
