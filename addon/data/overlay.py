"""Scene settings of the overlay."""

from bpy.types import PropertyGroup

from .properties import choice, flag, length


class OverlayProperties(PropertyGroup):
    """Settings of the overlay in the 3D view."""

    show: flag("Overlay", "Draw joints over the 3D view", default=True)
    show_curves: flag(
        "Paths and Surfaces",
        "Curves, ellipses and surfaces along which the joint moves the child",
        default=True,
    )
    show_frames: flag("Control Points", "Axes and numbers of control points", default=True)
    axis_size: length(
        "Axis Size",
        "Length of the drawn axes. 0: chosen by the size of the curve, or of the joint's Empty",
        min=0.0,
    )
    show_axes: flag("Axes", "Axes that the joint turns about and slides along", default=True)
    show_limits: flag("Limits", "Limits of the joint: arcs, cones and ranges", default=True)
    show_values: flag(
        "Current Place",
        "Current coordinates of the joint: a hand at an angle, a bead on a curve",
        default=True,
    )
    show_samples: flag(
        "Sample Frames", "Frames along a path or on a surface, which show how the child turns there"
    )
    show_connections: flag("Constraints", "Constraints between bodies, springs and ground", default=True)
    show_colliders: flag("Colliders", "All colliders; those that are selected are drawn in any case")
    show_muscles: flag("Muscles", "Paths of muscles over obstacles, before a bake", default=True)
    show_swept: flag(
        "Swept Axis",
        "Axes of the child's rotation along a joint with one coordinate, and the current one",
        default=True,
    )
    show_poses: flag("Ghost Poses", "The child's outline at places along a joint with one coordinate")
    show_handle: flag(
        "Handle", "A handle that drags the selected joint along its curve or over its surface", default=True
    )
    others: choice(
        "Other Joints",
        "How joints other than the selected one are drawn",
        items=(
            ("SHOWN", "Full", "As the selected joint"),
            ("DIMMED", "Dimmed", "Fainter than the selected joint"),
            ("HIDDEN", "Hidden", "Only the selected joint is drawn"),
        ),
        default="DIMMED",
    )
    behind: choice(
        "Behind Objects",
        "How parts behind a surface are drawn",
        items=(
            ("SHOWN", "Full", "In front of everything"),
            ("DIMMED", "Dimmed", "Faint"),
            ("HIDDEN", "Hidden", "Not at all"),
        ),
        default="SHOWN",
    )
