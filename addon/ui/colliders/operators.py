"""Operators that make objects and bones colliders."""

from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Operator

from ...data import colliders as data
from ...data import references
from ...data.property_options import Change, allowed, editable
from ...making import colliders

FITTED = ("AUTO", "Automatic", "What fits: bones capsules, what is flat a plane, boxes, balls, else the hull")


def _any_selected(cls: type[Operator], context: Context) -> bool:
    missing = "Select objects, or bones in Pose Mode"
    return editable(cls, context) and allowed(cls, "" if references.selected_bodies(context) else missing)


class AddCollider(Change, Operator):
    """Make the selected objects or bones colliders: links of chains, and simulated bodies that are colliders, do not
    enter them. They move by their animation; the shape is fitted to the mesh, or to the bone's skin"""

    bl_idname = "condyle.add_collider"
    bl_label = "Add Collider"
    needs = _any_selected

    shape: EnumProperty(
        name="Shape",
        description="What it collides as",
        items=[FITTED, *(each[:3] for each in data.SHAPES)],
    )
    friction: FloatProperty(
        name="Friction", description="0 ice, 0.5 wood, 1 rubber", default=0.5, min=0.0, soft_max=2.0
    )
    margin: FloatProperty(
        name="Thickness",
        description="The surface is so far outside of the shape",
        min=0.0,
        subtype="DISTANCE",
        unit="LENGTH",
    )
    groups: StringProperty(
        name="Groups", description="Names with commas between: colliders touch that have one in common"
    )

    def execute(self, context: Context) -> set[str]:
        context.view_layer.update()  # Adjust Last Operation undoes first, which leaves no matrices
        bodies = references.selected_bodies(context)
        values = {name: getattr(self, name) for name in ("friction", "margin", "groups")}
        given = {name: value for name, value in values.items() if self.properties.is_property_set(name)}
        colliders.add(context.scene, bodies, self.shape, given)
        count = len(bodies)
        self.report({"INFO"}, f"{count} {'collider' if count == 1 else 'colliders'} added")
        return {"FINISHED"}


class RemoveCollider(Change, Operator):
    """Let simulated bodies pass through the selected objects or bones again"""

    bl_idname = "condyle.remove_collider"
    bl_label = "Remove Collider"
    needs = _any_selected

    @classmethod
    def why_not(cls, context: Context) -> str:
        found = data.chosen(references.selected_bodies(context))
        return "" if found else "Nothing that is selected is a collider"

    def execute(self, context: Context) -> set[str]:
        count = colliders.remove(references.selected_bodies(context))
        self.report({"INFO"}, f"{count} {'collider' if count == 1 else 'colliders'} removed")
        return {"FINISHED"}


classes = (AddCollider, RemoveCollider)
