"""What the overlay shows, on the scene."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import PropertyGroup

from .property_options import OVERRIDE


class OverlayProperties(PropertyGroup):
    """What is drawn over the 3D view."""

    show: BoolProperty(
        name="Overlay", description="Draw joints over the 3D view", default=True, override=OVERRIDE
    )
    show_curves: BoolProperty(
        name="Paths and Surfaces",
        description="Where the joint takes the child: curves, ellipses, surfaces",
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
        description="Length of the drawn axes. 0: chosen by the size of the curve, or of the joint's Empty",
        unit="LENGTH",
        subtype="DISTANCE",
        min=0.0,
        override=OVERRIDE,
    )
    show_axes: BoolProperty(
        name="Axes",
        description="Axes that the joint turns about and slides along",
        default=True,
        override=OVERRIDE,
    )
    show_limits: BoolProperty(
        name="Limits",
        description="How far the joint may go: arcs, cones and ranges",
        default=True,
        override=OVERRIDE,
    )
    show_values: BoolProperty(
        name="Current Place",
        description="Where the joint is now: a hand at an angle, a bead on a curve",
        default=True,
        override=OVERRIDE,
    )
    show_samples: BoolProperty(
        name="Sample Frames",
        description="Frames along a path or on a surface, to see how the child turns there",
        default=False,
        override=OVERRIDE,
    )
    show_connections: BoolProperty(
        name="Constraints",
        description="Constraints between bodies, springs and ground",
        default=True,
        override=OVERRIDE,
    )
    show_muscles: BoolProperty(
        name="Muscles",
        description="Paths of muscles over obstacles, before a bake",
        default=True,
        override=OVERRIDE,
    )
    show_swept: BoolProperty(
        name="Swept Axis",
        description="Axes that the child turns about, all along a joint with one coordinate, and the one of now",
        default=True,
        override=OVERRIDE,
    )
    show_poses: BoolProperty(
        name="Ghost Poses",
        description="The child's outline at places all along a joint with one coordinate",
        default=False,
        override=OVERRIDE,
    )
    show_handle: BoolProperty(
        name="Handle",
        description="A handle that drags the joint at hand along its curve or over its surface",
        default=True,
        override=OVERRIDE,
    )
    others: EnumProperty(
        name="Other Joints",
        description="How joints are drawn that are not the one at hand",
        items=(
            ("SHOWN", "Full", "As the joint at hand"),
            ("DIMMED", "Dimmed", "Fainter than the joint at hand"),
            ("HIDDEN", "Hidden", "Only the joint at hand is drawn"),
        ),
        default="DIMMED",
        override=OVERRIDE,
    )
    behind: EnumProperty(
        name="Behind Objects",
        description="How parts are drawn that stand behind a surface",
        items=(
            ("SHOWN", "Full", "In front of everything"),
            ("DIMMED", "Dimmed", "Faint"),
            ("HIDDEN", "Hidden", "Not at all"),
        ),
        default="SHOWN",
        override=OVERRIDE,
    )
