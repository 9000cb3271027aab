"""Operators that add the demo knee, and joints from presets."""

import bpy
from bpy.types import Context, Object, Operator

from ...blender import session
from ...data import references
from ...data.property_options import Edit
from ...data.selection import select_only
from ...making import connected_bones, demo_knee, presets, presets_making
from ..asked import choice, flag


class DemoKnee(Edit, Operator):
    """Add a thigh and a shin with five keyed poses of a real knee, and a joint to fit: then press Fit, drag the slider,
    press Bake"""

    bl_idname = "condyle.demo_knee"
    bl_label = "Demo Knee"

    def change(self, context: Context) -> str:
        show(context, demo_knee.build(context.scene))
        return "Demo knee: five keyed poses. Press Fit, drag the slider, press Bake"


class AddPreset(Edit, Operator):
    """Add a joint between two selected bodies, with limits, damping and sliders. The active one,
    selected last, is the parent, unless it is a Blender child of the other. With fewer selected, adds simple bodies"""

    bl_idname = "condyle.add_preset"
    bl_label = "Joint from Preset"

    preset: choice(
        "Preset",
        "Joint to add",
        items=[(each.name, each.label, each.description) for each in presets.PRESETS],
    )
    swap: flag("Swap", "Swap parent and child", options={"SKIP_SAVE"})

    @classmethod
    def why_not(cls, context: Context) -> str:
        chosen = references.selected_bodies(context)
        if len(chosen) > 2:
            return "More than two are selected: select the child, then the parent, or nothing"
        active = references.active_body(context)
        if len(chosen) == 2 and not any(references.same(body, active) for body in chosen):
            return "The active object is not one of the two selected: select the parent last"
        return ""

    def change(self, context: Context) -> str:
        alone = len(references.selected_bodies(context)) < 2
        if alone:
            joint = presets_making.add_with_bodies(context.scene, self.preset)
        else:
            pair = references.parent_and_child(context)
            parent, child = reversed(pair) if self.swap else pair
            joint = presets_making.add(context.scene, self.preset, parent, child)
        context.view_layer.update()
        warning = connected_bones.told(context.scene, [joint])
        show(context, joint, frame=alone)
        if warning:
            session.tell(warning)
        return f"Joint {joint.name!r} added: drag its sliders"


def show(context: Context, joint: Object, frame: bool = True) -> None:
    """Make a joint's Empty active, or its child if that is a bone, so that panels show the joint; frames its bodies in
    3D views.
    """
    parent, child = (references.resolve(getattr(joint.condyle.joint, role)) for role in ("parent", "child"))
    if child.bone:
        references.make_active(context, child)
        return
    if frame:
        select_only(context, parent.object, child.object)
        look_at_selected(context)
    select_only(context, joint)


def look_at_selected(context: Context) -> None:
    """Frame the selection in every 3D view of the window."""
    if bpy.app.background or context.window is None:
        return
    for area in context.window.screen.areas:
        region = next((each for each in area.regions if each.type == "WINDOW"), None)
        if area.type == "VIEW_3D" and region is not None:
            with context.temp_override(area=area, region=region):
                bpy.ops.view3d.view_selected()
