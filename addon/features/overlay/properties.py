"""What the overlay shows, on the scene."""

from bpy.props import BoolProperty, FloatProperty
from bpy.types import PropertyGroup

from ..common import OVERRIDE


class OverlayProperties(PropertyGroup):
    """What is drawn over the 3D view."""

    show: BoolProperty(
        name="Overlay", description="Draw joints over the 3D view", default=True, override=OVERRIDE
    )
    show_curves: BoolProperty(
        name="Curves",
        description="Path of the child's origin along its joint",
        default=True,
        override=OVERRIDE,
    )
    show_frames: BoolProperty(
        name="Control Frames",
        description="Axes and numbers of control frames",
        default=True,
        override=OVERRIDE,
    )
    axis_size: FloatProperty(
        name="Axis Size",
        description="Length of the drawn axes. 0: chosen by the size of the curve",
        unit="LENGTH",
        subtype="DISTANCE",
        min=0.0,
        override=OVERRIDE,
    )


classes = (OverlayProperties,)
