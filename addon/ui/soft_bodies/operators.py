"""Operators that make meshes soft bodies."""

from bpy.types import Context, Operator

from ...data.property_options import Edit, counted, needing, unless
from ...making import soft_bodies, soft_presets
from ..asked import choice


class AddSoftBody(Edit, Operator):
    """Make the selected closed meshes soft bodies: they sag, swing and are carried by what they are parented to or
    skinned on, where they meet it. Then press Bake; the file must be saved"""

    bl_idname = "condyle.add_soft_body"
    bl_label = "Soft Body"
    needs = needing(lambda context: context.selected_objects, "Select a closed mesh")

    preset: choice(
        "Preset",
        "What it moves like",
        items=[(each.name, each.label, each.description) for each in soft_presets.SOFT_PRESETS],
    )

    def change(self, context: Context) -> str:
        items = list(context.selected_objects)
        counts = soft_bodies.add(context.scene, items, soft_presets.BY_NAME[self.preset])
        nodes = counted(sum(counts), "node")
        return f"{counted(len(items), 'soft body', 'soft bodies')} of {nodes} added; press Bake"


class RemoveSoftBody(Edit, Operator):
    """Make the selected soft bodies plain meshes again"""

    bl_idname = "condyle.remove_soft_body"
    bl_label = "Remove Soft Body"
    why_not = unless(
        lambda context: soft_bodies.chosen(context.selected_objects),
        "Nothing that is selected is a soft body",
    )

    def change(self, context: Context) -> str:
        return f"{counted(soft_bodies.remove(context.selected_objects), 'soft body', 'soft bodies')} removed"
