"""Operators that make objects and bones colliders."""

from bpy.types import Context, Operator

from ...data import colliders as data
from ...data import references
from ...data.property_options import Edit, any_selected, counted, unless
from ...making import colliders
from ..asked import choice, length, number, text

FITTED = ("AUTO", "Automatic", "What fits: bones capsules, what is flat a plane, boxes, balls, else the hull")


_SELECTED = any_selected("Select objects, or bones in Pose Mode")


class AddCollider(Edit, Operator):
    """Make the selected objects or bones colliders: links of chains, and simulated bodies that are colliders, do not
    enter them. They move by their animation; the shape is fitted to the mesh, or to the bone's skin"""

    bl_idname = "condyle.add_collider"
    bl_label = "Add Collider"
    needs = _SELECTED

    shape: choice("Shape", "What it collides as", items=[FITTED, *(each[:3] for each in data.SHAPES)])
    friction: number("Friction", "0 ice, 0.5 wood, 1 rubber", default=0.5, min=0.0, soft_max=2.0)
    margin: length("Thickness", "The surface is so far outside of the shape", min=0.0)
    groups: text("Groups", "Names with commas between: colliders touch that have one in common")

    def change(self, context: Context) -> str:
        bodies = references.selected_bodies(context)
        values = {name: getattr(self, name) for name in ("friction", "margin", "groups")}
        given = {name: value for name, value in values.items() if self.properties.is_property_set(name)}
        colliders.add(context.scene, bodies, self.shape, given)
        return f"{counted(len(bodies), 'collider')} added"


class RemoveCollider(Edit, Operator):
    """Let simulated bodies pass through the selected objects or bones again"""

    bl_idname = "condyle.remove_collider"
    bl_label = "Remove Collider"
    needs = _SELECTED
    why_not = unless(
        lambda context: data.chosen(references.selected_bodies(context)),
        "Nothing that is selected is a collider",
    )

    def change(self, context: Context) -> str:
        return f"{counted(colliders.remove(references.selected_bodies(context)), 'collider')} removed"
