"""Panel of the fit."""

import math
from typing import Any

from bpy.types import Panel

from ..common import SidebarPanel, figure, own_joint


class FitPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_fit"
    bl_label = "Fit"
    bl_order = 4

    def draw(self, context: Any) -> None:
        layout = self.layout
        joint = own_joint(context)
        if joint is None:
            layout.operator("condyle.fit", icon="CURVE_PATH")
            return
        settings = joint.condyle.joint.fit
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(settings, "num_frames")
        column.prop(settings, "smoothing")
        column.prop(settings, "length_scale")
        column.prop(settings, "requested")
        layout.operator("condyle.fit", icon="CURVE_PATH")
        if settings.num_poses:
            box = layout.box().column(align=True)
            box.label(text=f"{settings.num_poses} poses, {settings.iterations} iterations")
            box.label(text=f"Worst distance: {figure(settings.worst_distance)} mm")
            box.label(text=f"Worst angle: {figure(math.degrees(settings.worst_angle))}°")
            if not settings.converged:
                box.label(text="Not converged: try fewer frames", icon="ERROR")


classes = (FitPanel,)
