"""Operators that make and remove bodies, and compute their mass."""

from bpy.types import Context, Operator

from ...data import references
from ...data.property_options import Edit, any_selected, own_body, unless
from ...making import bodies_and_joints
from ..asked import choice, number

_SELECTED = any_selected("Select objects, or bones in pose mode")


class MakeBody(Edit, Operator):
    """Make the selected objects or pose bones rigid bodies: with the mass of a closed mesh, or of a capsule along the
    bone, else 1 kg"""

    bl_idname = "condyle.make_body"
    bl_label = "Make Bodies"
    needs = _SELECTED

    motion: choice(
        "Without a Joint",
        "Motion of the body if it has no joint",
        items=(
            ("HELD", "Animated", "Follows its animation; without one it does not move"),
            ("FREE", "Simulated", "Falls and tumbles freely"),
        ),
    )
    density: number("Density [kg/m³]", "Mass of one cubic metre", default=1000.0, min=0.0)

    def change(self, context: Context) -> str:
        bodies = references.selected_bodies(context)
        for body in bodies:
            bodies_and_joints.check_own(body)
        for body in bodies:
            bodies_and_joints.make_body(context.scene, body, motion=self.motion, density=self.density)
        return f"{len(bodies)} bodies made"


class RemoveBody(Edit, Operator):
    """Make the selected bodies ordinary objects or bones again"""

    bl_idname = "condyle.remove_body"
    bl_label = "Remove Body"
    needs = _SELECTED

    def execute(self, context: Context) -> set[str]:
        bodies = [body for body in references.selected_bodies(context) if body.data.body.enabled]
        for body in bodies:
            bodies_and_joints.remove_body(body)
        self.report({"INFO"}, f"{len(bodies)} bodies removed")
        return {"FINISHED"} if bodies else {"CANCELLED"}


class FillInMass(Edit, Operator):
    """Compute mass, centre of mass and inertia from the mesh and its density, as values that you can edit"""

    bl_idname = "condyle.fill_in_mass"
    bl_label = "From Mesh"

    why_not = unless(own_body, "The active object or bone is not a body")

    def change(self, context: Context) -> None:
        body = references.active_body(context)
        source = body.data.body.mass_source
        try:
            body.data.body.mass_source = "MESH"
            bodies_and_joints.fill_in_mass(context.scene, body)
            source = "MANUAL"
        finally:
            body.data.body.mass_source = source
